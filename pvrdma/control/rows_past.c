// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of past commands and failures. */
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pvrdma_classes.h"

uint64_t rows_wall(uint64_t at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec -
	       (journal_now() - at);
}

static uint32_t state_of(const struct journal_command *command)
{
	static const uint32_t states[] = {
		[JOURNAL_PENDING] = EADM_CMD_STATE_PENDING, [JOURNAL_DONE] = EADM_CMD_STATE_DONE,
		[JOURNAL_ERROR] = EADM_CMD_STATE_ERROR, [JOURNAL_TIMEOUT] = EADM_CMD_STATE_TIMEOUT,
		[JOURNAL_ABORTED] = EADM_CMD_STATE_ABORTED,
	};

	return states[command->state];
}

static bool is_wanted(const struct journal_command *command, const struct row_request *req)
{
	if (req->among && !(req->among >> state_of(command) & 1))
		return false;
	return !req->least || (command->state != JOURNAL_PENDING && command->latency >= req->least);
}

/* Returns the oldest record from @pos on that is still in a ring of @room records. */
static uint64_t oldest(uint64_t pos, uint64_t last, uint64_t room)
{
	uint64_t first = last > room ? last - room + 1 : 1;

	return pos > first ? pos : first;
}

bool row_cmd(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	     void *own)
{
	const struct journal *j = dev->m->journal;
	const struct journal_command *command;
	struct eadm_snap_cmd *snap = to;
	uint64_t seq;

	(void)own;
	for (seq = oldest(*pos, j->last_command, JOURNAL_COMMANDS); seq <= j->last_command; seq++) {
		command = &j->commands[seq % JOURNAL_COMMANDS];
		if (is_wanted(command, req))
			break;
	}
	if (seq > j->last_command)
		return false;
	if (*pos && seq > *pos && *pos + JOURNAL_COMMANDS <= j->last_command)
		SNAP_SET(snap, lost, oldest(0, j->last_command, JOURNAL_COMMANDS) - *pos);
	*pos = seq;
	SNAP_SET(snap, seq, seq);
	SNAP_SET(snap, time, rows_wall(command->began));
	SNAP_SET(snap, op, pvrdma_op_class(command->code));
	SNAP_SET(snap, op_raw, command->code);
	SNAP_SET(snap, state, state_of(command));
	SNAP_SET(snap, status, -(int32_t)command->error);
	if (command->state == JOURNAL_DONE || command->state == JOURNAL_ERROR) {
		SNAP_SET(snap, syndrome_raw, command->error);
		SNAP_SET(snap, cause, pvrdma_cmd_cause_class(command->error));
	} else if (command->state == JOURNAL_TIMEOUT) {
		SNAP_SET(snap, cause, EADM_CAUSE_TIMEOUT);
	}
	if (command->state != JOURNAL_PENDING)
		SNAP_SET(snap, latency, command->latency);
	SNAP_SET(snap, outstanding, 1);
	SNAP_BIN(snap, request, command->request, sizeof(command->request));
	if (command->response_size)
		SNAP_BIN(snap, response, command->response, command->response_size);
	return true;
}

static uint32_t kind_of(const struct journal_failure *failure)
{
	static const uint32_t kinds[] = {
		[JOURNAL_QP] = EADM_FAILURE_KIND_QP, [JOURNAL_CQ] = EADM_FAILURE_KIND_CQ,
		[JOURNAL_COMMAND] = EADM_FAILURE_KIND_COMMAND,
		[JOURNAL_DEVICE] = EADM_FAILURE_KIND_DEVICE,
	};

	return kinds[failure->kind];
}

static uint32_t cause_of(const struct journal_failure *failure)
{
	switch (failure->kind) {
	case JOURNAL_QP:
		return failure->status ? pvrdma_cause_class(failure->status) : EADM_CAUSE_QP_ERROR;
	case JOURNAL_CQ:
		return EADM_CAUSE_OVERRUN;
	case JOURNAL_COMMAND:
		return failure->status == ETIMEDOUT ? EADM_CAUSE_TIMEOUT : EADM_CAUSE_REFUSED;
	default:
		return EADM_CAUSE_ADAPTER_DEAD;
	}
}

bool row_failure(const struct device *dev, const struct row_request *req, uint64_t *pos,
		 void *to, void *own)
{
	const struct journal *j = dev->m->journal;
	uint64_t seq = oldest(*pos, j->last_failure, JOURNAL_FAILURES);
	const struct journal_failure *failure;
	struct eadm_snap_failure *snap = to;

	(void)req;
	(void)own;
	if (seq > j->last_failure)
		return false;
	*pos = seq;
	failure = &j->failures[seq % JOURNAL_FAILURES];
	SNAP_SET(snap, seq, seq);
	SNAP_SET(snap, time, rows_wall(failure->at));
	SNAP_AGE(snap, age, failure->at);
	SNAP_SET(snap, kind, kind_of(failure));
	SNAP_SET(snap, id, failure->id);
	SNAP_SET(snap, cause, cause_of(failure));
	if (failure->kind == JOURNAL_COMMAND) {
		SNAP_SET(snap, op, pvrdma_op_class(failure->code));
		SNAP_SET(snap, op_raw, failure->code);
		SNAP_SET(snap, error, -(int32_t)failure->status);
	} else if (failure->status) {
		SNAP_SET(snap, syndrome_raw, failure->status);
	}
	if (failure->event >= 0) {
		SNAP_SET(snap, async, pvrdma_event_class((uint32_t)failure->event));
		SNAP_SET(snap, async_raw, (uint32_t)failure->event);
	}
	return true;
}

static uint64_t class_of(const struct journal_total *total)
{
	const struct journal_failure failure = { .kind = total->kind, .status = total->status };

	return kind_of(&failure) << 8 | cause_of(&failure);
}

/* A class is kind * 256 + cause; several status numbers of the adapter may map to one cause. */
bool row_failure_total(const struct device *dev, const struct row_request *req, uint64_t *pos,
		       void *to, void *own)
{
	const struct journal *j = dev->m->journal;
	struct eadm_snap_failure_total *snap = to;
	uint64_t class, best = UINT64_MAX, count = 0, last = 0;
	unsigned int i;

	(void)req;
	(void)own;
	for (i = 0; i < j->n_totals; i++) {
		class = class_of(&j->totals[i]);
		if (class < *pos || class > best)
			continue;
		if (class < best)
			count = last = 0;
		best = class;
		count += j->totals[i].count.n;
		if (j->totals[i].count.at > last)
			last = j->totals[i].count.at;
	}
	if (best == UINT64_MAX)
		return false;
	*pos = best;
	SNAP_SET(snap, class, (uint32_t)best);
	SNAP_SET(snap, kind, (uint32_t)(best >> 8));
	SNAP_SET(snap, cause, (uint32_t)(best & 0xff));
	SNAP_SET(snap, count, count);
	SNAP_SET(snap, last_time, rows_wall(last));
	SNAP_AGE(snap, last_age, last);
	return true;
}
