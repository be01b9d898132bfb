// SPDX-License-Identifier: GPL-2.0-only
/* State of the command queue, independent of the family, and admission of commands. */

#include <linux/delay.h>

#include "queue.h"

/**
 * eadm_queue_recover_locked() - start recovery
 * @ad: the adapter
 * @reason: reason of a reset that may follow; if the queue is dead already, the first reason is
 *	kept
 *
 * Context: any, with @ad->lock held.
 * Return: true if recovery will end the commands that have not completed, also if the adapter is
 * gone; false if recovery must not run.
 */
bool eadm_queue_recover_locked(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	lockdep_assert_held(&ad->lock);
	if (READ_ONCE(ad->gone) || ad->state == EADM_QUEUE_RECOVERING)
		return true;
	if (!ad->recoverable || ad->state == EADM_QUEUE_POLLING)
		return false;
	if (ad->state != EADM_QUEUE_DEAD)
		ad->reason = reason;
	WRITE_ONCE(ad->state, EADM_QUEUE_RECOVERING);
	queue_work(ad->recovery_wq, &ad->recovery);
	return true;
}

/**
 * eadm_queue_recover() - start recovery before a command is lost
 * @ad: the adapter, whose state is in doubt
 * @reason: reason of a reset that may follow
 *
 * Context: any.
 */
void eadm_queue_recover(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	unsigned long flags;

	spin_lock_irqsave(&ad->lock, flags);
	eadm_queue_recover_locked(ad, reason);
	spin_unlock_irqrestore(&ad->lock, flags);
}

/**
 * eadm_queue_is_hopeless() - check whether waiting for a completion is pointless
 * @ad: the adapter
 *
 * Normally recovery determines on behalf of all waiters whether an adapter that does not respond is
 * gone. A waiter must determine this itself if recovery does not run, or if the waiter is recovery.
 *
 * Context: process.
 */
bool eadm_queue_is_hopeless(struct eadm_adapter *ad)
{
	bool alone;

	if (eadm_function_answers(&ad->fn))
		return false;
	spin_lock_irq(&ad->lock);
	alone = ad->recoverer == current ||
		!eadm_queue_recover_locked(ad, EADM_RESET_COMMAND_LOST);
	spin_unlock_irq(&ad->lock);
	return alone && eadm_function_find(&ad->fn) != EADM_PRESENT;
}

/*
 * Returns true if a command must not be issued because a reset has ended the objects it refers to.
 */
static bool is_over(const struct eadm_adapter *ad, const struct eadm_issue *issue)
{
	return issue->bound && issue->epoch != ad->epoch;
}

/*
 * Returns true if an issuer can continue: there is room for a command, or waiting is pointless. A
 * dead queue is retried periodically because the adapter may be back.
 */
static bool may_go_on(struct eadm_adapter *ad, const struct eadm_issue *issue)
{
	lockdep_assert_held(&ad->lock);
	/* The next recovery may begin immediately after this one. */
	if (is_over(ad, issue))
		return true;
	switch (ad->state) {
	case EADM_QUEUE_RECOVERING:
		return false;
	case EADM_QUEUE_DEAD:
		if (time_after(jiffies, ad->last_recovery + HZ))
			eadm_queue_recover_locked(ad, EADM_RESET_COMMAND_LOST);
		return ad->state == EADM_QUEUE_DEAD;
	default:
		return ad->ops->queue->has_room(ad);
	}
}

/*
 * Recovery waits only briefly for other commands: earlier ones may also be lost. A completion that
 * makes no room still shows that the adapter responds, which is all that recovery has to establish.
 */
static int make_room(struct eadm_adapter *ad)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(ad->ops->queue->room_ms);
	u64 last;

	lockdep_assert_held(&ad->lock);
	ad->ops->queue->process(ad);
	last = ad->cmds.last_comp;
	for (;;) {
		if (READ_ONCE(ad->gone))
			return -ENODEV;
		if (ad->ops->queue->has_room(ad))
			return 0;
		if (ad->cmds.last_comp != last)
			return -EIO;
		if (time_after_eq(jiffies, deadline))
			return -EBUSY;
		spin_unlock_irq(&ad->lock);
		usleep_range(500, 1000);
		spin_lock_irq(&ad->lock);
		ad->ops->queue->process(ad);
	}
}

static int wait_for_room(struct eadm_adapter *ad, const struct eadm_issue *issue)
{
	lockdep_assert_held(&ad->lock);
	/* Recovery must not wait for its own end. */
	if (ad->recoverer == current)
		return make_room(ad);
	/*
	 * A handler called by recovery must not wait for the next recovery, which cannot start
	 * before this one has ended.
	 */
	if (current_work() == &ad->recovery && ad->state != EADM_QUEUE_EVENT)
		return -ENODEV;
	if (!may_go_on(ad, issue) &&
	    !wait_event_lock_irq_timeout(ad->wait, may_go_on(ad, issue), ad->lock,
					 msecs_to_jiffies(READ_ONCE(ad->cmd_timeout)))) {
		eadm_queue_recover_locked(ad, EADM_RESET_COMMAND_LOST);
		return -ETIMEDOUT;
	}
	return ad->state == EADM_QUEUE_DEAD ? -ENODEV : 0;
}

/**
 * eadm_queue_admit() - wait until a command may be issued
 * @ad: the adapter
 * @issue: the command; set to the epoch in which it is issued
 *
 * Context: process, with @ad->lock held, which is dropped temporarily.
 * Return: 0 if there is room, valid until the lock is released; -ETIMEDOUT if no room became free
 * in time; -ECANCELED after a reset; -ENODEV if the adapter is not in service; for recovery also
 * -EBUSY if there is no room, and -EIO if a completion arrived without making room.
 */
int eadm_queue_admit(struct eadm_adapter *ad, struct eadm_issue *issue)
{
	int ret = wait_for_room(ad, issue);

	/* A reset may have occurred during the wait. */
	if (!ret && is_over(ad, issue))
		ret = -ECANCELED;
	if (!issue->bound)
		issue->epoch = ad->epoch;
	return ret;
}

/**
 * eadm_queue_set_state() - change how completions of commands are received
 * @ad: the adapter
 * @state: new state
 *
 * A queue whose adapter is gone stays dead.
 *
 * Context: process.
 */
void eadm_queue_set_state(struct eadm_adapter *ad, enum eadm_queue_state state)
{
	spin_lock_irq(&ad->lock);
	WRITE_ONCE(ad->state, READ_ONCE(ad->gone) ? EADM_QUEUE_DEAD : state);
	ad->recoverer = state == EADM_QUEUE_RECOVERING ? current : NULL;
	if (ad->state == EADM_QUEUE_EVENT && ad->ops->queue->serves)
		ad->ops->queue->serves(ad);
	spin_unlock_irq(&ad->lock);
	wake_up_all(&ad->wait);
}

/**
 * eadm_queue_set_recoverable() - set whether a lost command starts recovery
 * @ad: the adapter
 * @recoverable: start recovery; if false, only the command fails
 *
 * Context: process.
 */
void eadm_queue_set_recoverable(struct eadm_adapter *ad, bool recoverable)
{
	spin_lock_irq(&ad->lock);
	ad->recoverable = recoverable;
	spin_unlock_irq(&ad->lock);
}

/**
 * eadm_queue_reset() - abort all commands, and empty the queue
 * @ad: the adapter, halted
 * @status: result for the issuers
 *
 * The memory that commands referred to is parked: see &eadm_adapter_ops.forget.
 *
 * Context: process.
 */
void eadm_queue_reset(struct eadm_adapter *ad, int status)
{
	spin_lock_irq(&ad->lock);
	ad->ops->queue->reset(ad, status);
	ad->cmds.outstanding = 0;
	ad->cmds.quarantined = 0;
	spin_unlock_irq(&ad->lock);
	wake_up_all(&ad->wait);
}

/**
 * eadm_queue_seize() - reserve the queue for the caller
 * @ad: the adapter
 * @reason: reason of the reset that follows
 *
 * Waits for recovery in progress. Until the next call of eadm_queue_set_state(), no recovery runs,
 * and commands wait as they do during recovery.
 *
 * Context: process.
 * Return: false if the adapter is gone.
 */
bool eadm_queue_seize(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	bool seized = false, gone;

	do {
		flush_work(&ad->recovery);
		spin_lock_irq(&ad->lock);
		gone = READ_ONCE(ad->gone);
		if (!gone && ad->state != EADM_QUEUE_RECOVERING) {
			WRITE_ONCE(ad->state, EADM_QUEUE_RECOVERING);
			ad->reason = reason;
			seized = true;
		}
		spin_unlock_irq(&ad->lock);
	} while (!seized && !gone);
	/* Recovery makes the queue available before its work ends. */
	flush_work(&ad->recovery);
	return seized;
}
