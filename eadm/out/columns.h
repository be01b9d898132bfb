/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of a table, and the values of a row. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "../cli.h"
#include "value.h"

/* JSON representation of a column's value. */
enum json_as {
	JSON_NUMBER,
	JSON_NAME,	/* name of a value */
	JSON_NAMES,	/* names of flags */
	JSON_HEX,	/* number as "0x..." */
	JSON_TEXT,	/* text of eadm_record_text() */
};

struct column {
	const struct eadm_field *field;	/* NULL: the command computes the values */
	enum eadm_field_type type;
	enum eadm_field_kind kind;
	enum json_as json;
	const char *name;
	const char *key;	/* key in JSON */
	const char *head;
	const char *unit;
	const char *help;
	bool cut;		/* can be shortened on a narrow terminal */
	bool bars;		/* a histogram that is drawn below the rows */
	bool rate;		/* per second, in the object "rates" */
	bool growth;		/* rate: also show the difference, in "growth" */
	bool asked;		/* requested by name: shown even if empty */
	bool nonzero;		/* not asked: shown only if a value is not zero */
	/* Not asked: shown only if a row with a value lacks this field. */
	const struct eadm_field *stands_in_for;
	bool json_only;
	bool heading;		/* part of the heading of a row or of bars */
};

enum layout {
	LAYOUT_ROWS,
	LAYOUT_FIELDS,	/* one line per field, one column per row */
	LAYOUT_BLOCKS,	/* one paragraph per row */
};

struct table {
	const char *object;	/* object name for JSON, or NULL */
	const char *title;	/* used in "no ..."; NULL: no message */
	enum layout layout;
	bool all;		/* JSON: write all fields that are present */
	bool lines;		/* JSON: write a separate line at each flush */
	bool passes;		/* JSON lines: begin() opens a line even without rows */
	unsigned int screen;	/* not JSON: height of a screen to clear, or 0 */
	bool about;		/* LAYOUT_FIELDS: show the fields' help */
	bool rates_only;	/* not JSON: show rates instead of counters */
	bool growth;		/* rates_only: show growth instead of rates */
	bool incomplete;	/* rates_only: some counters were not compared */
	bool unknown;		/* not JSON: print no message if there are no rows */
	bool notes_once;	/* not JSON: do not repeat the previous pass's notes */
	const char *caption;	/* not JSON: line above the table, or NULL */
	const char *absent;	/* not JSON: why there are no rows, or NULL */
	uint64_t interval;	/* interval of the rates in ns; 0: no rates */
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
