/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers: what shows the rows of a table. */
#ifndef WRITER_H
#define WRITER_H

#include "columns.h"

struct row {
	const struct cell *cells;		/* one for each column */
	const struct eadm_record *record;	/* NULL: no library row */
};

struct writer_ops {
	void (*begin)(struct writer *w, const struct table *table);
	void (*row)(struct writer *w, const struct row *row);
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
};

int write_end(struct cli *cli, int status);
struct writer *json_writer_new(struct cli *cli);
struct writer *table_writer_new(struct cli *cli);
/* Flight records for the viewers of others; @fd stays the caller's. */
struct writer *chrome_writer_new(struct cli *cli, int fd);
bool block_print(const struct table *table, const struct row *row, bool colors);

#endif /* WRITER_H */
