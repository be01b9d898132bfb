// SPDX-License-Identifier: GPL-2.0-or-later
/* Filters on rows. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

static int no_such(struct cli *cli, const char *option,
		   const struct eadm_object *object)
{
	return fail(cli, STATUS_USAGE, option, "%s have nothing like it",
		    eadm_object_title(object));
}

static int unknown_value(struct cli *cli, const struct eadm_field *field,
			 const char *name)
{
	struct word_list words = { 0 };
	const char *near, *value;
	unsigned int i;

	for (i = 0; (value = eadm_field_value_at(field, i, NULL)); i++)
		word_add(&words, value);
	near = suggest(name, words.words);
	word_free(&words);
	if (near)
		return fail(cli, STATUS_USAGE, name,
			    "unknown %s (did you mean '%s'?)",
			    eadm_field_name(field), near);
	return fail(cli, STATUS_USAGE, name, "unknown %s",
		    eadm_field_name(field));
}

/* A list of states by name. */
static int parse_states(struct cli *cli, struct filter *filter,
			const char *list)
{
	uint64_t value;
	char name[32];
	size_t len;

	for (;;) {
		len = strcspn(list, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (eadm_field_value_find(filter->state_field, name, &value))
			return unknown_value(cli, filter->state_field, name);
		filter->states |= 1ULL << (value & 63);
		list += len;
		if (!*list)
			break;
		list++;
	}
	filter->has_state = true;
	return 0;
}

int filter_init(struct cli *cli, const struct eadm_object *object,
		struct filter *filter)
{
	const char *state = cli->args.opt[OPT_STATE];
	const char *op = cli->args.opt[OPT_OPCODE];

	*filter = (struct filter){
		.comm = cli->args.opt[OPT_COMM],
		.has_pid = cli->args.opt[OPT_PID] != NULL,
		.has_op = op != NULL,
		.pid_field = eadm_object_find_field(object, "pid"),
		.comm_field = eadm_object_find_field(object, "comm"),
		.state_field = eadm_object_find_field(object, "state"),
		.latency_field = eadm_object_find_field(object, "latency"),
		.op_field = eadm_object_find_field(object, "op"),
	};
	if (filter->has_pid && !filter->pid_field)
		return no_such(cli, "--pid", object);
	if (filter->comm && !filter->comm_field)
		return no_such(cli, "--comm", object);
	if (state && !filter->state_field)
		return no_such(cli, "--state", object);
	if (!opt_u64(cli, OPT_PID, &filter->pid) ||
	    !opt_duration(cli, OPT_SLOWER_THAN, 1000000,
			  &filter->min_latency))
		return STATUS_USAGE;
	if (op && eadm_field_value_find(filter->op_field, op, &filter->op) &&
	    !parse_u64(op, &filter->op))
		return unknown_value(cli, filter->op_field, op);
	return state ? parse_states(cli, filter, state) : 0;
}

static bool is_value(const struct eadm_record *record,
		     const struct eadm_field *field, uint64_t wanted)
{
	uint64_t value;

	return !eadm_record_u64(record, field, &value) && value == wanted;
}

bool filter_passes(const struct filter *filter,
		   const struct eadm_record *record)
{
	const char *comm;
	uint64_t value;

	if (filter->has_pid &&
	    !is_value(record, filter->pid_field, filter->pid))
		return false;
	if (filter->has_op && !is_value(record, filter->op_field, filter->op))
		return false;
	if (filter->min_latency &&
	    (eadm_record_u64(record, filter->latency_field, &value) ||
	     value < filter->min_latency))
		return false;
	if (filter->has_state &&
	    (eadm_record_u64(record, filter->state_field, &value) ||
	     value > 63 || !(filter->states >> value & 1)))
		return false;
	if (filter->comm) {
		comm = eadm_record_string(record, filter->comm_field);
		if (!comm || fnmatch(filter->comm, comm, 0))
			return false;
	}
	return true;
}
