/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers: what shows the rows of a table. */
#ifndef WRITER_H
#define WRITER_H

#include "columns.h"

struct row {
	/* One for each column, NULL: those that the record has. */
	const struct eadm_value *values;
	const struct eadm_record *record;	/* NULL: no library row */
};

struct writer_ops {
	void (*begin)(struct writer *w, const struct table *table);
	void (*row)(struct writer *w, const struct row *row);
	/* Before the first begin() it is for people only: no document is open. */
	void (*note)(struct writer *w, const struct eadm_note *note);
	void (*inconsistent)(struct writer *w);
	/* Show what is there, or close the document after an error as well. */
	void (*flush)(struct writer *w);
	void (*error)(struct writer *w, int status, const char *what,
		      const char *why);
	int (*end)(struct writer *w);	/* 0, or errno of writing */
	void (*free)(struct writer *w);
};

struct writer {
	const struct writer_ops *ops;
	struct cli *cli;
	const char *target;	/* file that is written, NULL: standard output */
	bool open;
	struct eadm_value *values;	/* of a row that is a record alone */
	unsigned int max_values;
};

/* The values of a row, by those who write them; NULL without memory. */
const struct eadm_value *row_values(struct writer *w, const struct table *table,
				    const struct row *row);

/* A row of values that a command made, or of a record alone. */
void write_values(struct writer *w, const struct eadm_value *values);
void write_record(struct writer *w, const struct eadm_record *record);
int write_end(struct cli *cli, int status);
struct writer *json_writer_new(struct cli *cli);
struct writer *table_writer_new(struct cli *cli);
/* Where flight records come from, "" where it is not known. */
struct origin {
	char host[80];
	char kernel[80];
};
/* Flight records for the viewers of others; @fd stays the caller's. */
struct writer *chrome_writer_new(struct cli *cli, int fd,
				 const struct origin *origin);
bool block_print(const struct table *table, const struct eadm_value *values,
		 bool colors);

#endif /* WRITER_H */
