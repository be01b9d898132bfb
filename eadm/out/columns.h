/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of a table, and the values of a row. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "../cli.h"
#include "value.h"

/* How the value of a column is written in JSON. */
enum json_as {
	JSON_NUMBER,
	JSON_NAME,	/* name of a value */
	JSON_NAMES,	/* names of flags */
	JSON_HEX,	/* number as "0x..." */
	JSON_TEXT,	/* as eadm_record_text() */
};

struct column {
	const struct eadm_field *field;	/* NULL: made by the command */
	enum eadm_field_type type;
	enum eadm_field_kind kind;
	enum json_as json;
	const char *name;
	const char *key;	/* in JSON */
	const char *head;
	const char *unit;
	const char *help;
	bool cut;		/* a narrow terminal may shorten it */
	bool bars;		/* a histogram, drawn below the rows */
	bool rate;		/* per second, in the object "rates" */
	bool growth;		/* of a rate: by how much, in "growth" */
	bool asked;		/* by name: shown even if nowhere present */
	/* Shown only where the values of this field are all absent. */
	const struct eadm_field *stands_in_for;
	bool json_only;
	bool heading;		/* not LAYOUT_ROWS: part of what heads a row */
};

enum layout {
	LAYOUT_ROWS,
	LAYOUT_FIELDS,	/* a line for each field, a column for each row */
	LAYOUT_BLOCKS,	/* a paragraph for each row */
};

struct table {
	const char *object;	/* name for JSON, NULL without one */
	const char *title;	/* what there is none of, NULL: say nothing */
	enum layout layout;
	bool all;		/* JSON: every field that is present */
	bool lines;		/* JSON: each flush is a line of its own */
	bool passes;		/* JSON lines: one for each begin() as well */
	unsigned int screen;	/* not JSON: rows of a screen to clear, or 0 */
	bool about;		/* LAYOUT_FIELDS: tell what fields mean */
	bool rates_only;	/* not JSON: rates, no counters */
	bool growth;		/* of these: what was added, no rates */
	bool notes_once;	/* not JSON: not those that the pass before had */
	const char *caption;	/* not JSON: line above, or NULL */
	uint64_t interval;	/* ns that rates are about, 0: no rates */
	unsigned int n_cols, max_cols;
	struct column *cols;
};

const struct eadm_field *find_column(const struct eadm_object *object,
				     const char *name);
int unknown_column(struct cli *cli, const struct eadm_object *object,
		   const char *name);
int columns_choose(struct cli *cli, const struct eadm_object *object,
		   bool hw, struct table *table);
void column_of_field(struct column *col, const struct eadm_field *field);
struct column *column_add(struct table *table);
int table_of(struct cli *cli, struct table *table, const struct column *cols,
	     unsigned int n);
void columns_free(struct table *table);
void values_of_record(const struct table *table,
		      const struct eadm_record *record,
		      struct eadm_value *values);
void list_columns(const struct eadm_object *object);

#endif /* COLUMNS_H */
