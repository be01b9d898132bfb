/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers show the rows of a table. */
#ifndef WRITER_H
#define WRITER_H

#include "columns.h"

struct row {
	/* One value per column; NULL: use the values of the record. */
	const struct eadm_value *values;
	const struct eadm_record *record;	/* NULL: not from the library */
};

struct writer_ops {
	void (*begin)(struct writer *w, const struct table *table);
	void (*row)(struct writer *w, const struct row *row);
	/*
	 * Before the first begin(), no document is open, and a note is only printed as
	 * text.
	 */
	void (*note)(struct writer *w, const struct eadm_note *note);
	void (*inconsistent)(struct writer *w);
	/*
	 * Shows the data received so far, or closes the document, even after an error.
	 */
	void (*flush)(struct writer *w);
	void (*error)(struct writer *w, int status, const char *what,
		      const char *why);
	int (*end)(struct writer *w);	/* returns 0 or a value like stdout_error() */
	void (*free)(struct writer *w);
};

struct writer {
	const struct writer_ops *ops;
	struct cli *cli;
	const char *target;	/* file being written; NULL: standard output */
	bool open;
	struct eadm_value *values;	/* for rows that consist only of a record */
	unsigned int max_values;
};

/* Returns the values of a row, for writers; NULL if out of memory. */
const struct eadm_value *row_values(struct writer *w, const struct table *table,
				    const struct row *row);

/* Write a row of values computed by a command, or a row that is a record. */
void write_values(struct writer *w, const struct eadm_value *values);
void write_record(struct writer *w, const struct eadm_record *record);
int write_end(struct cli *cli, int status);
void flush_save(struct cli *cli);
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
/* Writes flight records for other viewers; the caller keeps @fd. */
struct writer *chrome_writer_new(struct cli *cli, int fd,
				 const struct origin *origin);
bool block_print(const struct table *table, const struct eadm_value *values,
		 bool colors);

#endif /* WRITER_H */
