/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and columns, and the writers that show them. */
#ifndef TABLE_H
#define TABLE_H

#include <time.h>

#include "../cli.h"

enum cell_type {
	CELL_NONE,	/* absent: nobody knows */
	CELL_U64,
	CELL_S64,
	CELL_F64,
	CELL_STRING,
	CELL_BYTES,
	CELL_HIST,
	CELL_EVIDENCE,	/* of a verdict */
	CELL_AFFECTED,	/* what else its cause affects */
};

struct hist;

struct cell {
	enum cell_type type;
	size_t len;		/* CELL_BYTES, CELL_EVIDENCE, CELL_AFFECTED: how many */
	union {
		uint64_t u;
		int64_t s;
		double f;
		const char *str;
		const void *bytes;
		const struct hist *hist;
		const struct eadm_evidence *evidence;
		const struct eadm_consequence *affected;
	};
};

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
	enum eadm_type type;
	enum eadm_kind kind;
	enum json_as json;
	const char *name;
	const char *key;	/* in JSON */
	const char *head;
	const char *unit;
	const char *help;
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
	const char *caption;	/* not JSON: line above, or NULL */
	uint64_t interval;	/* ns that rates are about, 0: no rates */
	unsigned int n_cols, max_cols;
	struct column *cols;
};

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

struct writer *json_writer_new(struct cli *cli);
struct writer *table_writer_new(struct cli *cli);
bool block_print(const struct table *table, const struct row *row, bool colors);

/* ---- columns ------------------------------------------------------------------ */

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
void cells_of_record(const struct table *table,
		     const struct eadm_record *record, struct cell *cells);
bool cell_of_field(const struct eadm_record *record,
		   const struct column *col, struct cell *cell);

/* ---- text ----------------------------------------------------------------------- */

int text_of_cell(const struct column *col, const struct cell *cell, char *buf,
		 size_t size);

/* ---- filters -------------------------------------------------------------------- */

struct filter {
	bool has_pid, has_netns, has_cgroup, has_peer;
	uint64_t pid, netns, cgroup;
	unsigned char peer[16];
	unsigned int peer_len;		/* bytes of the address: 4 or 16 */
	unsigned int peer_bits;		/* of it that count */
	uint64_t peer_port;		/* 0: any */
	const char *comm;
	const char *state;
	bool has_state;
	uint64_t states;		/* mask of 1 << value */
	uint64_t min_latency;
	bool has_op;
	uint64_t op;
	const struct eadm_field *pid_field, *comm_field, *state_field,
		*latency_field, *op_field, *netns_field, *cgroup_field,
		*peer_field, *peer_port_field;
};

int filter_init(struct cli *cli, const struct eadm_object *object,
		struct filter *filter);
bool filter_passes(const struct filter *filter,
		   const struct eadm_record *record);

bool filter_is_blind(const struct filter *filter,
		     const struct eadm_record *record, const char **option);

/* ---- rows that are kept ------------------------------------------------------ */

#define MAX_SORT 8

struct sort {
	unsigned int n;
	struct {
		const struct eadm_field *field;
		bool down;
	} key[MAX_SORT + 2];
};

struct rows {
	struct eadm_record **row;
	size_t n, max;
};

int sort_init(struct cli *cli, const struct eadm_object *object,
	      struct sort *sort);
bool counter_growth(const struct eadm_field *field, uint64_t before,
		    uint64_t now, uint64_t *growth);
bool rows_add(struct rows *rows, const struct eadm_record *record);
void rows_sort(struct rows *rows, const struct sort *sort);
void rows_free(struct rows *rows);

/* ---- dumps ---------------------------------------------------------------------- */

/* What a command shows of one kind of objects. */
struct view {
	const struct eadm_object *object;
	struct eadm_dump_opts opts;
	struct filter filter;
	struct sort sort;
	struct table table;
	/* Shows all rows at once, instead of a row for each. */
	int (*show)(struct cli *cli, struct view *view, struct rows *rows);
};

#define WATCH_OPTIONS \
	{ OPT_WATCH, 'w', "watch", "[TIME]", WORDS_ANY, \
	  "refresh each second, or at this interval" }, \
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY, \
	  "with --watch: end after N times" }

#define SORT_OPTION \
	{ OPT_SORT, 0, "sort", "COLS", WORDS_SORT, \
	  "order by columns: A,B:desc,..." }

#define OWNER_OPTIONS \
	{ OPT_PID, 0, "pid", "PID", WORDS_ANY, \
	  "only objects of this process" }, \
	{ OPT_COMM, 0, "comm", "NAME", WORDS_ANY, \
	  "only objects of processes of this name ('*' and '?' match)" }, \
	{ OPT_NETNS, 0, "netns", "NS", WORDS_FILE, \
	  "only objects of this network namespace: name, path or inode" }, \
	{ OPT_CGROUP, 0, "cgroup", "GROUP", WORDS_FILE, \
	  "only objects of this control group: path or id" }

#define STATE_OPTIONS \
	{ OPT_STATE, 0, "state", "STATES", WORDS_STATE, \
	  "only objects in one of these states, separated by commas" }, \
	{ OPT_PEER, 0, "peer", "ADDR", WORDS_ANY, \
	  "only objects with this peer: ADDR, ADDR:PORT or ADDR/BITS" }

int view_init(struct cli *cli, const struct eadm_object *object, bool hw,
	      struct view *view);
int view_check(struct cli *cli);
int view_show(struct cli *cli, struct view *view);
int view_run(struct cli *cli, struct view *view);
void view_free(struct view *view);
bool wait_until(struct timespec *when, uint64_t more);
uint64_t time_shown(struct cli *cli);
bool next_moment(struct cli *cli);

int dump_notes(struct cli *cli, struct eadm_dump *dump);
int write_end(struct cli *cli, int status);

#endif /* TABLE_H */
