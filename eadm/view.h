/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes a dump of the library to a writer, as most commands do. */
#ifndef VIEW_H
#define VIEW_H

#include <time.h>

#include "out/blind.h"
#include "out/columns.h"
#include "out/filter.h"
#include "out/rows.h"
#include "out/text.h"
#include "out/writer.h"

/* Display of one kind of object by a command. */
struct view {
	const struct eadm_object *object;
	struct eadm_dump_opts opts;
	struct eadm_entry_opts entries;
	struct eadm_command_opts commands;
	struct filter filter;
	struct sort sort;
	struct table table;
	/* Shows all rows at once, instead of one at a time. */
	int (*show)(struct cli *cli, struct view *view, struct rows *rows);
	const char *setting;	/* setting whose rows are shown, or NULL */
	bool waits;		/* no device means no rows, not an error */
	bool found;		/* a pass has found a device */
};

#define WATCH_OPTIONS \
	{ OPT_WATCH, 'w', "watch", "[TIME]", WORDS_ANY, \
	  "refresh every TIME (default: 1s)" }, \
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY, \
	  "with --watch: stop after N refreshes" }

#define SORT_OPTION \
	{ OPT_SORT, 0, "sort", "COLS", WORDS_SORT, \
	  "order by columns: A,B:desc,..." }

#define OWNER_OPTIONS \
	{ OPT_PID, 0, "pid", "PID", WORDS_ANY, \
	  "only objects of this process" }, \
	{ OPT_COMM, 0, "comm", "NAME", WORDS_ANY, \
	  "only objects of processes with this name ('*' and '?' are wildcards)" }, \
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
bool view_absent(struct view *view, int error);
int view_end(struct cli *cli, const struct view *view, int status);
bool wait_until(uint64_t *when, uint64_t more);
uint64_t time_shown(struct cli *cli);
bool next_snapshot(struct cli *cli);

int dump_notes(struct cli *cli, struct eadm_dump *dump);
int blind_notes(struct cli *cli, struct view *view, struct blind *blind);

#endif /* VIEW_H */
