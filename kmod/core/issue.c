// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands: an issuer submits one, and waits for its answer.
 *
 * It sleeps until an interrupt has led to the answer (eadm_cmd_answered()), and looks for itself
 * from time to time: interrupts get lost. One timer wakes all issuers: most commands are answered
 * before it expires, and a timer for each would be set and deleted every time.
 * Before there are interrupts, and during recovery, an issuer polls.
 *
 * A command that is not answered in time is given up. Its slot is lost then: the family does not
 * use it for another waiting command before the late answer has arrived, so that this is never
 * mistaken for the answer to that command.
 *
 * A command is on its issuer's stack. The code that ends it, and the timer, hold the adapter's
 * lock, as does the issuer that gives it up. An issuer that end() has woken may return at once, as
 * complete() no longer uses the command by then; one that the timer has woken takes the lock first.
 */

#include <linux/delay.h>

#include "eadm_diag.h"
#include "issue.h"
#include "trace.h"

/* How long an issuer sleeps, or polls, before it first checks the queue and the adapter. */
#define FIRST_LOOK_MS	100

/**
 * eadm_cmd_submitted() - note a command that is about to be announced to the adapter
 * @ad: the adapter
 * @cmd: the command, its request complete
 * @slot: where its answer is expected
 * @tag: how the answer will identify it
 * @polled: the issuer will poll for the answer
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

/* After this the command no longer exists. */
static void end(struct eadm_cmd *cmd)
{
	cmd->over = true;
	complete(&cmd->wake);
}

/**
 * eadm_cmd_answered() - a command was answered in time
 * @ad: the adapter
 * @slot: its slot
 * @now: local_clock()
 * @status: result for the issuer
 * @syndrome: of the answer
 * @resp: the answer, of which the family has given the issuer what it needs
 * @size: its size
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
 * eadm_cmd_late() - a command that was given up was answered after all
 * @ad: the adapter
 * @seq: its number
 * @now: local_clock()
 * @syndrome: of the answer
 * @resp: the answer
 * @size: its size
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
 * eadm_cmd_abort() - end a waiting command, as the queue is emptied
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

/* Queries may be refused by design: they are used to find out what exists. */
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

/* Records that a command was lost, or refused; not one that was ended by a reset. */
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

/* Polls for an answer that no interrupt announced. */
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
 * Gives up a command, unless it has been answered by now. @status: -ETIMEDOUT, or -ENODEV
 * when the adapter is gone.
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
	ibdev_err(&ad->ibdev, "command %#x (number %llu) was not answered\n", cmd->op, cmd->seq);
	notify(ad, EADM_DIAG_CMD_TIMEOUT, cmd);
}

/* Gives up a command whose adapter is gone, or whose time is over. Returns whether it did. */
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
 * Most commands are answered faster than an interrupt and two context switches take. Returns
 * whether this one was; if not, an interrupt will announce the answer, or the issuer has to look.
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

/* When a command has to be given up. The setting also applies to commands that are waiting. */
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

/* Wakes an issuer that has waited long enough. Returns when it has to look again. */
static unsigned long let_look(struct eadm_adapter *ad, struct eadm_cmd *cmd)
{
	long early = cmd->begin + msecs_to_jiffies(FIRST_LOOK_MS) - jiffies;
	long delay = msecs_to_jiffies(ad->ops->queue->look_ms);

	if (early > 0) {
		delay = early;
	} else if (!cmd->look) {
		/* One that was woken before, and has not looked since, need not be woken. */
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
 * eadm_cmds_init() - initialise what issuers wait with
 * @c: numbers of commands of an adapter
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
 * eadm_cmd_exec() - issue a command and wait for its answer
 * @ad: the adapter
 * @cmd: the command
 *
 * During recovery, commands wait for its end, except recovery's own: these are polled for,
 * with a short timeout.
 *
 * Context: process.
 * Return: 0; what a refusal means (@cmd->answered); -ETIMEDOUT when it was not answered, so
 * that its effect is unknown; -ECANCELED when a reset came in between; -ENODEV when there is
 * no service.
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
	/* A command that was lost is done, too. */
	if (cmd->status)
		note_failure(ad, cmd);
	if (eadm_diag_is_followed(&ad->diag))
		notify(ad, EADM_DIAG_CMD_DONE, cmd);
	return cmd->status;
}
