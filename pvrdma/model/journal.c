// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <time.h>

#include "hw_user.h"
#include "journal.h"

uint64_t journal_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void journal_count(struct journal_count *count)
{
	count->n++;
	count->at = journal_now();
}

static struct journal_command *command_at(struct journal *j, uint64_t seq)
{
	return &j->commands[seq % JOURNAL_COMMANDS];
}

struct journal_command *journal_pending(struct journal *j)
{
	return j->pending ? command_at(j, j->pending) : NULL;
}

void journal_report(struct journal *j, const struct journal_event *event)
{
	if (j->report)
		j->report(j->ctx, event);
}

/* A driver that submits another command no longer waits for the previous one. */
void journal_begin(struct journal *j, const void *request, uint32_t code)
{
	struct journal_command *command;

	if (j->pending)
		journal_give_up(j, JOURNAL_TIMEOUT);
	command = command_at(j, ++j->last_command);
	*command = (struct journal_command){
		.seq = j->last_command, .began = journal_now(), .code = code,
	};
	memcpy(command->request, request, sizeof(command->request));
	j->pending = command->seq;
	j->submitted++;
}

static void count_answer(struct journal *j, const struct journal_command *command)
{
	bool known = command->code < JOURNAL_CODES;

	j->answered++;
	j->last_answer = command->began + command->latency;
	if (command->error) {
		j->errors++;
		if (known)
			j->refused[command->code]++;
		if (command->error == ENOSPC || command->error == EDQUOT)
			journal_count(&j->quota);
		journal_fail(j, &(struct journal_failure){
			.kind = JOURNAL_COMMAND, .id = command->seq, .event = -1,
			.status = command->error, .code = command->code,
		});
		return;
	}
	if (known)
		j->done[command->code]++;
	if (command->code != PVRDMA_CMD_CREATE_MR)
		return;
	if (command->latency > j->slowest_reg)
		j->slowest_reg = command->latency;
	if (command->latency > JOURNAL_SLOW_REG_NS)
		journal_count(&j->slow_regs);
}

void journal_end(struct journal *j, uint32_t error, const void *response, size_t size)
{
	struct journal_command *command = journal_pending(j);

	if (!command)
		return;
	j->pending = 0;
	command->latency = journal_now() - command->began;
	command->error = error;
	command->state = error ? JOURNAL_ERROR : JOURNAL_DONE;
	if (size > sizeof(command->response))
		size = sizeof(command->response);
	if (size)
		memcpy(command->response, response, size);
	command->response_size = (uint8_t)size;
	count_answer(j, command);
}

void journal_give_up(struct journal *j, enum journal_state state)
{
	struct journal_command *command = journal_pending(j);

	if (!command)
		return;
	j->pending = 0;
	command->latency = journal_now() - command->began;
	command->state = state;
	if (state != JOURNAL_TIMEOUT)
		return;
	j->timeouts++;
	command->error = ETIMEDOUT;
	journal_fail(j, &(struct journal_failure){
		.kind = JOURNAL_COMMAND, .id = command->seq, .event = -1,
		.status = ETIMEDOUT, .code = command->code,
	});
	journal_report(j, &(struct journal_event){
		.type = JOURNAL_EVENT_TIMEOUT, .command = command->seq, .code = command->code,
	});
}

static void count_failure(struct journal *j, const struct journal_failure *failure)
{
	struct journal_total *total;

	for (total = j->totals; total < j->totals + j->n_totals; total++)
		if (total->kind == failure->kind && total->status == failure->status)
			break;
	if (total == j->totals + JOURNAL_TOTALS)
		return;
	if (total == j->totals + j->n_totals) {
		j->n_totals++;
		total->kind = failure->kind;
		total->status = failure->status;
	}
	journal_count(&total->count);
}

void journal_fail(struct journal *j, const struct journal_failure *failure)
{
	struct journal_failure *to;

	to = &j->failures[++j->last_failure % JOURNAL_FAILURES];
	*to = *failure;
	to->seq = j->last_failure;
	to->at = journal_now();
	count_failure(j, to);
}
