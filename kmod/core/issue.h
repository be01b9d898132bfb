/* SPDX-License-Identifier: GPL-2.0-only */
/* Issuing commands and waiting for their completion. */
#ifndef EADM_ISSUE_H
#define EADM_ISSUE_H

#include <linux/completion.h>

#include "queue.h"

/**
 * struct eadm_slot - slot in which a completion is expected; under the adapter's lock
 * @cmd: the command with a waiting issuer, or NULL
 * @seq: number in the flight recorder of the last command submitted in this slot
 * @submit: local_clock() of its submission
 * @lost: a command in this slot timed out, and its completion may still arrive
 */
struct eadm_slot {
	struct eadm_cmd *cmd;
	u64 seq;
	u64 submit;
	bool lost;
};

/**
 * struct eadm_cmd - common part of all families' commands, on the issuer's stack
 * @op: the adapter's operation code
 * @request: the request in the form kept by the flight recorder
 * @len: number of significant bytes of @request
 * @issue: decides whether the command may be issued
 * @waits: an issuer waits for the command
 * @slot: slot of the expected completion
 * @seq: sequence number in the flight recorder, 0 if the command was not issued
 * @answered: the command completed in time
 * @syndrome: syndrome of the completion
 * @status: result: 0, the errno for the syndrome, or the reason why there is no completion
 * @begin: jiffies when its issuer began to wait
 * @over: completed, abandoned, or ended by a reset; under the adapter's lock
 * @look: the issuer was woken to check the queue and the adapter; written under the lock
 * @wake: completed when @over or @look is set
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
