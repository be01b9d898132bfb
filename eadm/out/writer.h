/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers show the rows of a table. */
#ifndef WRITER_H
#define WRITER_H

#include "columns.h"

struct row {
	/* One value per column; NULL: those of the record. */
	const struct eadm_value *values;
	const struct eadm_record *record;	/* NULL: not a row of the library */
};

struct writer_ops {
	void (*begin)(struct writer *w, const struct table *table);
	void (*row)(struct writer *w, const struct row *row);
	/*
	 * Before the first begin(), no document is open: a note is then printed only as
	 * text.
	 */
	void (*note)(struct writer *w, const struct eadm_note *note);
	void (*inconsistent)(struct writer *w);
	/* Show the data so far, or close the document, even after an error. */
	void (*flush)(struct writer *w);
	void (*error)(struct writer *w, int status, const char *what,
		      const char *why);
	int (*end)(struct writer *w);	/* 0, or as stdout_error() */
	void (*free)(struct writer *w);
};

struct writer {
	const struct writer_ops *ops;
	struct cli *cli;
	const char *target;	/* file being written; NULL: standard output */
	bool open;
	struct eadm_value *values;	/* for rows that are only a record */
	unsigned int max_values;
};

/* The values of a row, for writers; NULL if out of memory. */
const struct eadm_value *row_values(struct writer *w, const struct table *table,
				    const struct row *row);

/* A row of values made by a command, or only of a record. */
void write_values(struct writer *w, const struct eadm_value *values);
void write_record(struct writer *w, const struct eadm_record *record);
int write_end(struct cli *cli, int status);
int stdout_error(void);
const char *stdout_why(int err);
int stdout_status(int err, int status);
struct writer *json_writer_new(struct cli *cli);
struct writer *table_writer_new(struct cli *cli);
/* Origin of flight records; "" if unknown. */
struct origin {
	char host[80];
	char kernel[80];
};
/* Flight records for other viewers; the caller keeps @fd. */
struct writer *chrome_writer_new(struct cli *cli, int fd,
				 const struct origin *origin);
bool block_print(const struct table *table, const struct eadm_value *values,
		 bool colors);

#endif /* WRITER_H */
