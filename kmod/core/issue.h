/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands: issuing one, and what becomes of it. */
#ifndef EADM_ISSUE_H
#define EADM_ISSUE_H

#include <linux/completion.h>

#include "queue.h"

/**
 * struct eadm_slot - where the answer to a command is expected; under the adapter's lock
 * @cmd: the command with a waiting issuer, or NULL
 * @seq: number in the flight recorder of the last command submitted here
 * @submit: local_clock() of its submission
 * @lost: a command was given up here and its answer may still come
 */
struct eadm_slot {
	struct eadm_cmd *cmd;
	u64 seq;
	u64 submit;
	bool lost;
};

/**
 * struct eadm_cmd - what a command of any family has; part of it, on its issuer's stack
 * @op: the adapter's number of the operation
 * @request: the request, as the flight recorder keeps it
 * @len: significant bytes of it
 * @issue: whether it may be issued
 * @waits: it has an issuer, which waits
 * @slot: where its answer is expected
 * @seq: number in the flight recorder, 0: it was not issued
 * @answered: an answer came in time
 * @syndrome: of this answer
 * @status: result: 0 or what a refusal means as an errno; or why there is no answer
 * @begin: jiffies when its issuer began to wait
 * @over: answered, given up, or ended by a reset; under the adapter's lock
 * @look: its issuer was woken to check the queue and the adapter; written under the lock
 * @wake: it is over, or @look
 */
struct eadm_cmd {
	u32 op;
	const void *request;
	u8 len;
	struct eadm_issue issue;
	bool waits;
	struct eadm_slot *slot;
	u64 seq;
	bool answered;
	u8 syndrome;
	int status;
	unsigned long begin;
	bool over;
	bool look;
	struct completion wake;
};

void eadm_cmds_init(struct eadm_commands *c);
int eadm_cmd_exec(struct eadm_adapter *ad, struct eadm_cmd *cmd);
void eadm_cmd_submitted(struct eadm_adapter *ad, struct eadm_cmd *cmd, struct eadm_slot *slot,
			u16 tag, bool polled);
void eadm_cmd_answered(struct eadm_adapter *ad, struct eadm_slot *slot, u64 now, int status,
		       u8 syndrome, const void *resp, size_t size);
void eadm_cmd_late(struct eadm_adapter *ad, u64 seq, u64 now, u8 syndrome, const void *resp,
		   size_t size);
void eadm_cmd_abort(struct eadm_adapter *ad, struct eadm_slot *slot, u64 now, int status);

#endif /* EADM_ISSUE_H */
