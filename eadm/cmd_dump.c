// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static const struct option_def options[] = {
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "also query the adapter's own context for each object" },
	OWNER_OPTIONS,
	STATE_OPTIONS,
	{ OPT_RANGE, 0, "range", "A..B", WORDS_ANY,
	  "entries: show only these ring positions" },
	{ OPT_AROUND, 0, "around", "PTR", WORDS_POINTER,
	  "entries: show only those around the pointer pi or ci" },
	{ OPT_SUB, 0, "sub", "N", WORDS_ANY,
	  "entries: show part N of a multi-part queue" },
	{ OPT_RAW, 0, "raw", NULL, WORDS_NONE,
	  "entries: show raw bytes instead of decoded fields" },
	{ OPT_PAYLOAD, 0, "payload", NULL, WORDS_NONE,
	  "entries: include inline payload" },
	SORT_OPTION,
	WATCH_OPTIONS,
	{ 0 },
};

/* Options that are only valid for entries of a queue. */
static const enum opt_id of_entries[] = {
	OPT_RANGE, OPT_AROUND, OPT_SUB, OPT_RAW, OPT_PAYLOAD,
};

static bool is_named(const struct eadm_object *object, const char *name)
{
	return !strcmp(eadm_object_name(object), name);
}

static const char *option_name(enum opt_id id)
{
	switch (id) {
	case OPT_RANGE:
		return "--range";
	case OPT_AROUND:
		return "--around";
	case OPT_SUB:
		return "--sub";
	case OPT_RAW:
		return "--raw";
	default:
		return "--payload";
	}
}

/* Parses "A..B" or "A". */
static int parse_range(struct cli *cli, struct eadm_entry_opts *opts)
{
	const char *text = cli->args.opt[OPT_RANGE], *dots;
	uint64_t first, last;
	char from[24];

	dots = strstr(text, "..");
	snprintf(from, sizeof(from), "%.*s",
		 (int)(dots ? (size_t)(dots - text) : strlen(text)), text);
	if (!parse_u64(from, &first) ||
	    !parse_u64(dots ? dots + 2 : from, &last) || last > UINT32_MAX)
		return fail(cli, STATUS_USAGE, "--range",
			    "'%s' is not a range such as 8..15", text);
	if (first > last)
		return fail(cli, STATUS_USAGE, "--range",
			    "'%s' ends before it starts", text);
	opts->has_range = true;
	opts->first = first;
	opts->last = last;
	return 0;
}

static bool parse_sub(const struct cli *cli, uint32_t *sub)
{
	uint64_t number;

	if (!parse_u64(cli->args.opt[OPT_SUB], &number) || number > UINT32_MAX)
		return false;
	*sub = number;
	return true;
}

static int check_options(struct cli *cli, const struct eadm_object *object)
{
	bool entries = eadm_object_class(object) == EADM_CLASS_ENTRIES &&
		       !is_named(object, "regs") && !is_named(object, "hwctx");
	unsigned int i;

	for (i = 0; !entries && i < ARRAY_SIZE(of_entries); i++) {
		if (cli->args.opt[of_entries[i]])
			return fail(cli, STATUS_USAGE,
				    option_name(of_entries[i]),
				    "applies to sqe, rqe, cqe, eqe and cmde only");
	}
	if (cli->args.opt[OPT_RANGE] && cli->args.opt[OPT_AROUND])
		return fail(cli, STATUS_USAGE, "--around", "cannot be used with --range");
	return 0;
}

static enum eadm_hwctx hwctx_of(const char *name)
{
	static const char *const names[] = {
		[EADM_HWCTX_QP] = "qp", [EADM_HWCTX_CQ] = "cq",
		[EADM_HWCTX_EQ] = "eq",
	};
	unsigned int i;

	for (i = EADM_HWCTX_QP; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return EADM_HWCTX_NONE;
}

static int fill_entry_options(struct cli *cli, struct eadm_entry_opts *opts)
{
	const char *around = cli->args.opt[OPT_AROUND];

	if (around && strcmp(around, "pi") && strcmp(around, "ci"))
		return fail(cli, STATUS_USAGE, "--around",
			    "must be pi or ci, not '%s'", around);
	if (around)
		opts->around = *around == 'p' ? EADM_AROUND_PI : EADM_AROUND_CI;
	opts->payload = cli->args.opt[OPT_PAYLOAD] != NULL;
	if (cli->args.opt[OPT_SUB] && !parse_sub(cli, &opts->sub))
		return fail(cli, STATUS_USAGE, "--sub",
			    "'%s' is not a number", cli->args.opt[OPT_SUB]);
	return cli->args.opt[OPT_RANGE] ? parse_range(cli, opts) : 0;
}

/* Evaluates all arguments and options except the kind of object. */
static int fill_options(struct cli *cli, struct view *view)
{
	const struct eadm_object *object = view->object;
	struct eadm_dump_opts *opts = &view->opts;
	unsigned int id = is_named(object, "hwctx") ? 2 : 1;

	if (cli->args.n > 2 && id == 1)
		return fail(cli, STATUS_USAGE, cli->args.arg[2],
			    "unexpected argument (see 'eadm help dump')");
	if (id == 2 && cli->args.n < 3)
		return fail(cli, STATUS_USAGE, "hwctx",
			    "missing queue type ('eadm dump hwctx qp|cq|eq N')");
	if (cli->args.n > id) {
		if (!parse_u64(cli->args.arg[id], &opts->id))
			return fail(cli, STATUS_USAGE, cli->args.arg[id],
				    "not a number");
		opts->has_id = true;
	}
	if (eadm_object_class(object) != EADM_CLASS_ENTRIES)
		return 0;
	view->entries = (struct eadm_entry_opts){
		.size = sizeof(view->entries),
		.hwctx = id == 2 ? hwctx_of(cli->args.arg[1]) : EADM_HWCTX_NONE,
	};
	if (id == 2 && !view->entries.hwctx)
		return fail(cli, STATUS_USAGE, cli->args.arg[1],
			    "only qp, cq and eq have contexts");
	if (!opts->has_id && !is_named(object, "regs") &&
	    !is_named(object, "cmde") && !is_named(object, "cqe"))
		return fail(cli, STATUS_USAGE, eadm_object_name(object),
			    "missing queue number");
	opts->entries = &view->entries;
	return fill_entry_options(cli, &view->entries);
}

static int run(struct cli *cli)
{
	const struct eadm_object *object;
	bool hw = cli->args.opt[OPT_HW] != NULL;
	struct view view;
	int status;

	if (!cli->args.n)
		return fail(cli, STATUS_USAGE, "OBJECT",
			    "missing (see 'eadm help dump')");
	object = need_object(cli, cli->args.arg[0]);
	if (!object)
		return STATUS_USAGE;
	status = check_options(cli, object);
	if (status)
		return status;
	if (cli->args.opt[OPT_RAW] && !cli->args.opt[OPT_OUTPUT])
		cli->args.opt[OPT_OUTPUT] = "index,mark,state,bytes";
	status = view_init(cli, object, hw, &view);
	if (!status)
		status = fill_options(cli, &view);
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
	return status;
}

const struct command cmd_dump = {
	.name = "dump",
	.usage = "OBJECT [ID] | hwctx qp|cq|eq ID",
	.help = "show the state of objects: queues, regions, contexts",
	.more = "A plain dump does not query the adapter; with --hw, each row costs one\n"
		"adapter command. --hw, queue entries, registers and contexts require\n"
		"CAP_SYS_RAWIO. ID is the number of the queue; without an ID, cqe shows\n"
		"the CQ of the command queue.",
	.examples = "  eadm dump qp\n"
		    "  eadm dump qp 17 --hw\n"
		    "  eadm dump cq -d cloud_0 --comm 'ib_*'\n"
		    "  eadm dump qp --state err,sqe -o +peer-addr,state-age\n"
		    "  eadm dump qp --peer 10.77.1.0/24 --sort state-age:desc\n"
		    "  eadm dump qp --netns blue --watch 2s\n"
		    "  eadm dump cep --state connected\n"
		    "  eadm dump sqe 17 --around ci --hw\n"
		    "  eadm dump cqe 5 --range 0..15 --raw\n"
		    "  eadm dump hwctx qp 17\n"
		    "  eadm dump mr --json | jq '[.rows[].length] | add'\n",
	.max_args = 3,
	.args = { WORDS_OBJECT, WORDS_ANY, WORDS_ANY },
	.options = options,
	.run = run,
};
