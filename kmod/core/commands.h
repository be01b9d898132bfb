/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of commands, and their flight recorder. */
#ifndef EADM_COMMANDS_H
#define EADM_COMMANDS_H

#include <linux/timer.h>

#include "eadm_diag.h"
#include "eadm_recorder.h"

struct eadm_adapter;
struct eadm_snap_cmdq;

/**
 * struct eadm_commands - counts of commands; all under the adapter's lock
 * @outstanding: commands with a waiter
 * @max_outstanding: highest value of @outstanding so far
 * @quarantined: slots with a lost command, whose completion may still arrive
 * @submitted: commands submitted
 * @completed: commands completed in time
 * @errors: completed commands that failed
 * @timeouts: commands that timed out
 * @late: completions after the timeout
 * @spurious: completions that matched no command or were damaged
 * @last_spurious: local_clock() when @spurious last increased, 0 = never
 * @last_submit: local_clock() of the last submission
 * @last_comp: local_clock() of the last completion
 * @rec: flight recorder, kept across recovery
 * @look: timer that wakes issuers periodically; runs only while there are issuers
 */
struct eadm_commands {
	u32 outstanding;
	u32 max_outstanding;
	u32 quarantined;
	u64 submitted;
	u64 completed;
	u64 errors;
	u64 timeouts;
	u64 late;
	u64 spurious;
	u64 last_spurious;
	u64 last_submit;
	u64 last_comp;
	struct eadm_recorder rec;
	struct timer_list look;
};

extern const struct eadm_diag_obj eadm_diag_cmd;

void eadm_commands_fill(const struct eadm_adapter *ad, struct eadm_snap_cmdq *s, u32 slots,
			u64 oldest);

#endif /* EADM_COMMANDS_H */
