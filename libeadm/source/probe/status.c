// SPDX-License-Identifier: LGPL-2.1-or-later
/* The row of "probe": whether the probe is recording, its records and its losses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "model/fields.h"
#include "row.h"
#include "source/local.h"
#include "source/message.h"

/*
 * Gaps of the probe at every level; functions that a kernel lacks are listed as
 * missing.
 */
static const char blind[] =
	"data path of processes and its completion errors, QPs that the "
	"adapter itself moves to the error state, objects that a provider "
	"creates with its own commands (DEVX of mlx5), calls that began before "
	"the probe";

static uint32_t state_of(int error)
{
	switch (error) {
	case 0:
		return EADM_PROBE_STATE_RUNNING;
	case -EACCES:
	case -EPERM:
		return EADM_PROBE_STATE_UNREADABLE;
	case -ENOENT:
		return EADM_PROBE_STATE_STOPPED;
	default:
		return EADM_PROBE_STATE_BROKEN;
	}
}

/*
 * Puts the functions that the kernel or a driver should have but does not, and drivers
 * that were loaded later.
 */
static void put_missing(struct eadm_answer *answer,
			const struct eadm_probe_info *info)
{
	char drivers[256] = "";
	const struct eadm_probe_command *command;
	char names[1024] = "";
	unsigned int i;

	for (i = 0; i < EADM_PROBE_N_FUNCTIONS; i++) {
		if (info->attached >> i & 1)
			continue;
		command = eadm_probe_function_command(i);
		if (info->expected >> i & 1)
			eadm_local_add_word(names, sizeof(names),
					    eadm_probe_function_name(i),
					    strlen(eadm_probe_function_name(i)));
		else if (command &&
			 !eadm_root_access(answer->ctx, F_OK, "/sys/module/%s",
					   command->module))
			eadm_local_add_word(drivers, sizeof(drivers),
					    command->module,
					    strlen(command->module));
	}
	if (drivers[0])
		eadm_message_put_string(&answer->out, EADM_A_PROBE_LATE_DRIVERS,
					drivers);
	eadm_message_put_string(&answer->out, EADM_A_PROBE_MISSING, names);
}

static void put_counts(struct eadm_answer *answer,
		       struct eadm_probe_view *view)
{
	const struct eadm_probe_info *info = &view->maps.info;
	struct eadm_probe_cpu *cpus = calloc(info->cpus, sizeof(*cpus));
	uint64_t recorded = 0, lost = 0, over = 0, skipped;
	unsigned int cpu;

	if (!cpus || eadm_probe_copy_cpus(&view->maps, cpus)) {
		free(cpus);
		return;
	}
	for (cpu = 0; cpu < info->cpus; cpu++) {
		recorded += cpus[cpu].head;
		lost += cpus[cpu].lost;
		if (cpus[cpu].head > info->slots)
			over += cpus[cpu].head - info->slots;
	}
	free(cpus);
	if (!eadm_probe_skipped(answer->ctx, &skipped)) {
		lost += skipped;
		eadm_probe_put_u64(answer, EADM_A_PROBE_MADE, recorded + lost);
		eadm_probe_put_u64(answer, EADM_A_PROBE_LOST, lost);
	}
	eadm_probe_put_u64(answer, EADM_A_PROBE_RECORDED, recorded);
	eadm_probe_put_u64(answer, EADM_A_PROBE_OVERWRITTEN, over);
	if (!eadm_probe_copy_in_flight(&view->maps, &view->list))
		eadm_message_put_u32(&answer->out, EADM_A_PROBE_PENDING,
				     view->list.n);
}

static void put_running(struct eadm_answer *answer, struct eadm_probe_view *view)
{
	const struct eadm_probe_info *info = &view->maps.info;

	eadm_message_put_u32(&answer->out, EADM_A_PROBE_LEVEL, info->level);
	eadm_probe_put_u64(answer, EADM_A_PROBE_AGE,
			   eadm_now(answer->ctx) - view->boot - info->start);
	put_counts(answer, view);
	eadm_message_put_u32(&answer->out, EADM_A_PROBE_CAPACITY, info->slots);
	eadm_probe_put_u64(answer, EADM_A_PROBE_MEMORY,
			   (uint64_t)info->cpus *
				   (info->slots * sizeof(struct eadm_probe_rec) +
				    sizeof(struct eadm_probe_cpu)) +
			   EADM_PROBE_DEVS * sizeof(struct eadm_probe_dev) +
			   EADM_PROBE_IN_FLIGHT * sizeof(struct eadm_probe_rec));
	eadm_message_put_u32(&answer->out, EADM_A_PROBE_FUNCTIONS,
			     info->functions);
	put_missing(answer, info);
	eadm_message_put_string(&answer->out, EADM_A_PROBE_BLIND, blind);
}

void eadm_local_probe(struct eadm_answer *answer, const struct eadm_query *query)
{
	size_t at = eadm_answer_row(answer, NULL);
	struct eadm_probe_view view;
	int ret = eadm_probe_view_open(answer->ctx, &view);

	(void)query;
	eadm_message_put_u32(&answer->out, EADM_A_PROBE_INDEX, 0);
	eadm_message_put_u32(&answer->out, EADM_A_PROBE_STATE, state_of(ret));
	if (!ret)
		put_running(answer, &view);
	eadm_probe_view_close(&view);
	eadm_message_end(&answer->out, at);
}
