// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands: an issuer submits a command and waits for its completion.
 *
 * The issuer sleeps until the interrupt handler calls eadm_cmd_answered(), and also polls
 * periodically because interrupts may be lost. One timer wakes all issuers, because most commands
 * complete before it expires, and a separate timer would have to be started and deleted for each
 * command. Before interrupts are enabled, and during recovery, an issuer polls.
 *
 * A command that does not complete in time is abandoned. Its slot is then marked lost: the family
 * does not reuse it for a command with a waiter until the late completion has arrived, so that this
 * completion is never mistaken for that of a different command.
 *
 * A command is on its issuer's stack. The code that completes it, the timer, and an issuer that
 * abandons it hold the adapter's lock. An issuer that was woken by end() may return at once,
 * because complete() no longer uses the command by then; an issuer that was woken by the timer
 * takes the lock first.
 */

#include <linux/delay.h>

#include "eadm_diag.h"
#include "issue.h"
#include "trace.h"

/* Time for which an issuer sleeps or polls before it first checks the queue and the adapter. */
#define FIRST_LOOK_MS	100

/**
 * eadm_cmd_submitted() - record a command that is about to be announced to the adapter
 * @ad: the adapter
 * @cmd: the command, with a complete request
 * @slot: slot of the expected completion
 * @tag: identifies the completion
 * @polled: whether the issuer polls for the completion
 *
 * Context: any, with @ad->lock held.
 */
void eadm_cmd_submitted(struct eadm_adapter *ad, struct eadm_cmd *cmd, struct eadm_slot *slot,
			u16 tag, bool polled)
{
	struct eadm_commands *c = &ad->cmds;
	u64 now = local_clock();

	lockdep_assert_held(&ad->lock);
	slot->submit = now;
	c->submitted++;
	c->last_submit = now;
	if (cmd->waits) {
		slot->cmd = cmd;
		c->outstanding++;
		c->max_outstanding = max(c->max_outstanding, c->outstanding);
	}
	cmd->slot = slot;
	cmd->seq = eadm_recorder_submit(&c->rec, now, cmd->op, tag, c->outstanding, polled,
					cmd->request, cmd->len);
	slot->seq = cmd->seq;
	trace_cmd_submit(&ad->ibdev, cmd->seq, cmd->op, tag, c->outstanding);
}

static void trace_done(struct eadm_adapter *ad, const struct eadm_slot *slot,
		       const struct eadm_cmd *cmd, u64 now)
{
	trace_cmd_done(&ad->ibdev, cmd->seq, cmd->op, cmd->status, cmd->syndrome,
		       eadm_elapsed(slot->submit, now));
}

/* The command no longer exists after this call. */
static void end(struct eadm_cmd *cmd)
{
	cmd->over = true;
	complete(&cmd->wake);
}

/**
 * eadm_cmd_answered() - record that a command completed in time
 * @ad: the adapter
 * @slot: slot of the command
 * @now: local_clock()
 * @status: result for the issuer
 * @syndrome: syndrome of the completion
 * @resp: the response; the family has already copied the fields that the issuer needs
 * @size: size of the response
 *
 * Context: any, with @ad->lock held.
 */
void eadm_cmd_answered(struct eadm_adapter *ad, struct eadm_slot *slot, u64 now, int status,
		       u8 syndrome, const void *resp, size_t size)
{
	struct eadm_commands *c = &ad->cmds;
	struct eadm_cmd *cmd = slot->cmd;

	lockdep_assert_held(&ad->lock);
	slot->cmd = NULL;
	c->outstanding--;
	c->completed++;
	if (syndrome)
		c->errors++;
	cmd->answered = true;
	cmd->syndrome = syndrome;
	cmd->status = status;
	eadm_recorder_done(&c->rec, slot->seq, now, status, syndrome, resp, size);
	trace_done(ad, slot, cmd, now);
	end(cmd);
}

/**
 * eadm_cmd_late() - record a completion that arrived after the timeout
 * @ad: the adapter
 * @seq: sequence number of the command
 * @now: local_clock()
 * @syndrome: syndrome of the completion
 * @resp: the response
 * @size: size of the response
 *
 * Context: any, with @ad->lock held.
 */
void eadm_cmd_late(struct eadm_adapter *ad, u64 seq, u64 now, u8 syndrome, const void *resp,
		   size_t size)
{
	lockdep_assert_held(&ad->lock);
	ad->cmds.late++;
	ad->cmds.quarantined--;
	eadm_recorder_late(&ad->cmds.rec, seq, now, syndrome, resp, size);
}

/**
 * eadm_cmd_abort() - end a waiting command because the queue is emptied
 * @ad: the adapter
 * @slot: the command's slot
 * @now: local_clock()
 * @status: result for the issuer
 *
 * Context: any, with @ad->lock held.
 */
void eadm_cmd_abort(struct eadm_adapter *ad, struct eadm_slot *slot, u64 now, int status)
{
	struct eadm_cmd *cmd = slot->cmd;

	lockdep_assert_held(&ad->lock);
	slot->cmd = NULL;
	cmd->status = status;
	eadm_recorder_abort(&ad->cmds.rec, slot->seq, now, status);
	trace_done(ad, slot, cmd, now);
	end(cmd);
}

static void notify(struct eadm_adapter *ad, unsigned long type, const struct eadm_cmd *cmd)
{
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_CMD,
		.id = cmd->seq,
		.code = ad->ops->queue->op_class(cmd->op),
		.raw = cmd->op,
	};

	eadm_diag_notify(&ad->diag, type, &ev);
}

/* Failed queries are not recorded, because queries also probe for supported features. */
static bool is_question(u32 op)
{
	switch (op) {
	case EADM_CMD_OP_QUERY_DEVICE:
	case EADM_CMD_OP_QUERY_FW_INFO:
	case EADM_CMD_OP_QUERY_QP:
	case EADM_CMD_OP_QUERY_QPC:
	case EADM_CMD_OP_QUERY_CQC:
	case EADM_CMD_OP_QUERY_EQC:
	case EADM_CMD_OP_GET_STATS:
	case EADM_CMD_OP_GET_FEATURE:
	case EADM_CMD_OP_GET_EXT_ATTR:
		return true;
	default:
		return false;
	}
}

/* Records that a command was lost or failed; commands ended by a reset are not recorded. */
static void note_failure(struct eadm_adapter *ad, const struct eadm_cmd *cmd)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_COMMAND,
		.cause = EADM_CAUSE_TIMEOUT,
		.has = EADM_FAILURE_OP | EADM_FAILURE_ERROR,
		.id = cmd->seq,
		.op = ad->ops->queue->op_class(cmd->op),
		.op_raw = cmd->op,
		.error = cmd->status,
	};

	if (cmd->answered) {
		if (is_question(what.op))
			return;
		what.cause = EADM_CAUSE_REFUSED;
		what.syndrome = cmd->syndrome;
		what.has |= EADM_FAILURE_SYNDROME;
	} else if (cmd->status != -ETIMEDOUT) {
		return;
	}
	eadm_failure_set_caller(&what);
	eadm_failures_note(&ad->failures, &what);
}

/* Consumes completions. Returns whether the command is done. */
static bool process(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	bool done;

	spin_lock_irq(&ad->lock);
	ad->ops->queue->process(ad);
	done = cmd->over;
	spin_unlock_irq(&ad->lock);
	return done;
}

/* Polls for a completion whose interrupt may have been lost. */
static bool look(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	bool done;

	if (ad->ops->queue->events)
		ad->ops->queue->events(ad);
	spin_lock_irq(&ad->lock);
	cmd->look = false;
	done = cmd->over;
	if (!done) {
		ad->ops->queue->process(ad);
		done = cmd->over;
		if (done && ad->state == EADM_QUEUE_EVENT)
			ad->ops->queue->missed(ad);
	}
	spin_unlock_irq(&ad->lock);
	return done;
}

/*
 * Gives up a command, unless it has completed by now. @status: -ETIMEDOUT, or -ENODEV when the
 * adapter is gone.
 */
static void give_up(struct eadm_adapter *ad, struct eadm_cmd *cmd, int status)
{
	struct eadm_commands *c = &ad->cmds;
	struct eadm_slot *slot = cmd->slot;
	u64 now = local_clock();

	spin_lock_irq(&ad->lock);
	ad->ops->queue->process(ad);
	if (cmd->over) {
		spin_unlock_irq(&ad->lock);
		return;
	}
	cmd->status = status;
	cmd->over = true;
	slot->cmd = NULL;
	slot->lost = true;
	c->outstanding--;
	c->quarantined++;
	ad->ops->queue->lose(ad, cmd);
	if (status == -ETIMEDOUT) {
		c->timeouts++;
		eadm_recorder_timeout(&c->rec, slot->seq, now, status);
		eadm_queue_recover_locked(ad, EADM_RESET_COMMAND_LOST);
	} else {
		eadm_recorder_abort(&c->rec, slot->seq, now, status);
	}
	trace_done(ad, slot, cmd, now);
	spin_unlock_irq(&ad->lock);
	if (status != -ETIMEDOUT)
		return;
	ibdev_err(&ad->ibdev, "command %#x (number %llu) timed out\n", cmd->op, cmd->seq);
	notify(ad, EADM_DIAG_CMD_TIMEOUT, cmd);
}

/* Abandons a command that has timed out or whose adapter is gone. Returns true if so. */
static bool is_over(struct eadm_adapter *ad, struct eadm_cmd *cmd, unsigned long deadline)
{
	if (eadm_queue_is_hopeless(ad))
		give_up(ad, cmd, -ENODEV);
	else if (time_after_eq(jiffies, deadline))
		give_up(ad, cmd, -ETIMEDOUT);
	else
		return false;
	return true;
}

/*
 * Most commands complete faster than an interrupt and two context switches take. Returns true if
 * this command completed; otherwise the issuer waits for an interrupt and polls periodically.
 */
static bool spin(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	u64 end = local_clock() + ad->ops->queue->spin_ns;

	do {
		cpu_relax();
		if (completion_done(&cmd->wake))
			return !READ_ONCE(cmd->look);
		if (ad->ops->queue->answered(ad) && process(ad, cmd))
			return true;
	} while (!need_resched() && local_clock() < end);
	return false;
}

/*
 * Returns the time at which a command times out. A change of the timeout also applies to commands
 * that are waiting.
 */
static unsigned long deadline_of(const struct eadm_adapter *ad, const struct eadm_cmd *cmd)
{
	return cmd->begin + msecs_to_jiffies(READ_ONCE(ad->cmd_timeout));
}

static void look_within(struct eadm_adapter *ad, unsigned long delay)
{
	struct eadm_commands *c = &ad->cmds;
	unsigned long expires = jiffies + delay;

	lockdep_assert_held(&ad->lock);
	if (!timer_pending(&c->look) || time_after(READ_ONCE(c->look.expires), expires))
		mod_timer(&c->look, expires);
}

/* Wakes an issuer that has waited long enough. Returns the time of its next poll. */
static unsigned long let_look(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	long early = cmd->begin + msecs_to_jiffies(FIRST_LOOK_MS) - jiffies;
	long delay = msecs_to_jiffies(ad->ops->queue->look_ms);

	if (early > 0) {
		delay = early;
	} else if (!cmd->look) {
		/* No need to wake an issuer that has not polled since it was last woken. */
		WRITE_ONCE(cmd->look, true);
		complete(&cmd->wake);
	}
	return clamp_t(long, deadline_of(ad, cmd) - jiffies, 1, delay);
}

static void wake_issuers(struct timer_list *timer)
{
	struct eadm_commands *c = container_of(timer, struct eadm_commands, look);
	struct eadm_adapter *ad = container_of(c, struct eadm_adapter, cmds);
	const struct eadm_slot *slot;
	unsigned long flags;
	u32 i = 0;

	spin_lock_irqsave(&ad->lock, flags);
	while ((slot = ad->ops->queue->slot(ad, i++)))
		if (slot->cmd)
			look_within(ad, let_look(ad, slot->cmd));
	spin_unlock_irqrestore(&ad->lock, flags);
}

/**
 * eadm_cmds_init() - initialise the structures that issuers wait on
 * @c: command counters of an adapter
 *
 * Context: any.
 */
void eadm_cmds_init(struct eadm_commands *c)
{
	timer_setup(&c->look, wake_issuers, 0);
}

static void begin_sleep(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	if (!ad->ops->queue->sleeps)
		return;
	spin_lock_irq(&ad->lock);
	if (!cmd->over && ad->state == EADM_QUEUE_EVENT)
		ad->ops->queue->sleeps(ad);
	spin_unlock_irq(&ad->lock);
}

static void wait_event_mode(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	if (ad->ops->queue->spin_ns && spin(ad, cmd))
		return;
	begin_sleep(ad, cmd);
	for (;;) {
		wait_for_completion(&cmd->wake);
		if (!READ_ONCE(cmd->look))
			return;
		if (look(ad, cmd) || is_over(ad, cmd, deadline_of(ad, cmd)))
			return;
	}
}

static void wait_polled(struct eadm_adapter *ad, struct eadm_cmd *cmd, unsigned int timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	unsigned long next_look = jiffies + msecs_to_jiffies(FIRST_LOOK_MS);
	unsigned int us = 10;

	while (!process(ad, cmd)) {
		if (time_after_eq(jiffies, next_look) || time_after_eq(jiffies, deadline)) {
			next_look = jiffies + msecs_to_jiffies(FIRST_LOOK_MS);
			if (is_over(ad, cmd, deadline))
				return;
		}
		usleep_range(us, 2 * us);
		us = min(2 * us, 1000u);
	}
}

/**
 * eadm_cmd_exec() - issue a command and wait for its completion
 * @ad: the adapter
 * @cmd: the command
 *
 * During recovery, commands wait until it ends, except commands issued by recovery, which are
 * polled for with a short timeout.
 *
 * Context: process.
 * Return: 0; @cmd->status as set by the family if the command failed; -ETIMEDOUT if it timed out,
 * in which case its effect is unknown; -ECANCELED after a reset; -ENODEV if the adapter is not in
 * service.
 */
int eadm_cmd_exec(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	bool polled, recovery;
	u32 timeout_ms;
	int ret;

	might_sleep();
	init_completion(&cmd->wake);
	cmd->begin = jiffies;
	cmd->over = false;
	cmd->look = false;
	cmd->waits = true;
	cmd->answered = false;
	cmd->syndrome = 0;
	spin_lock_irq(&ad->lock);
	ret = eadm_queue_admit(ad, &cmd->issue);
	recovery = ad->recoverer == current;
	polled = recovery || ad->state == EADM_QUEUE_POLLING;
	if (!ret) {
		ad->ops->queue->submit(ad, cmd, polled);
		look_within(ad, msecs_to_jiffies(FIRST_LOOK_MS));
	}
	spin_unlock_irq(&ad->lock);
	if (ret)
		return ret;
	timeout_ms = READ_ONCE(ad->cmd_timeout);
	if (recovery)
		timeout_ms = min(timeout_ms, ad->ops->queue->recovery_ms);
	if (polled)
		wait_polled(ad, cmd, timeout_ms);
	else
		wait_event_mode(ad, cmd);
	eadm_adapter_debug(ad, cmd, "%#x (number %llu): %d, syndrome %#x\n", cmd->op, cmd->seq,
			   cmd->status, cmd->syndrome);
	/* Lost commands have @over set as well. */
	if (cmd->status)
		note_failure(ad, cmd);
	if (eadm_diag_is_followed(&ad->diag))
		notify(ad, EADM_DIAG_CMD_DONE, cmd);
	return cmd->status;
}
