// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery after a lost command or a function reset.
 *
 * First a probe command checks whether the queue responds at all. If it does, nothing else is
 * affected. If not, the adapter is reset and restarted without objects. The adapter has then lost
 * all objects: they are marked dead by raising the epoch, their consumers are notified, and
 * destroying them needs no command. New objects can be created at once.
 *
 * An adapter that does not confirm the reset is not started again: it is halted, and the memory
 * that it may still access is kept (orphan.c). The watch retries the reset.
 *
 * When the PCI core resets the function (sysfs), the same steps are done in two halves, before and
 * after the reset.
 */

#include "context.h"
#include "orphan.h"
#include "queue.h"
#include "recovery.h"
#include "report.h"
#include "trace.h"

/* There are no objects to invalidate if the adapter received no memory address in the epoch. */
static void end_epoch(struct eadm_adapter *ad)
{
	lockdep_assert_held(&ad->lock);
	if ((s32)(ad->epoch - READ_ONCE(ad->memory.exposed)) < 0)
		WRITE_ONCE(ad->epoch, ad->epoch + 1);
}

/**
 * eadm_adapter_forget() - end all commands and objects
 * @ad: the adapter, which cannot reach any memory
 * @confirmed: the adapter has lost all objects
 *
 * Context: process.
 */
void eadm_adapter_forget(struct eadm_adapter *ad, bool confirmed)
{
	/* End the epoch before any issuer sees that its command was aborted. */
	spin_lock_irq(&ad->lock);
	end_epoch(ad);
	spin_unlock_irq(&ad->lock);
	if (confirmed)
		eadm_memory_confirm(ad);
	eadm_queue_reset(ad, -ECANCELED);
	ad->ops->forget(ad, confirmed);
	eadm_ctxs_zap(ad);
}

static bool halt_adapter(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	bool confirmed = ad->ops->halt(ad, reason);

	if (!confirmed && !ad->unconfirmed)
		ibdev_err(&ad->ibdev,
			  "the adapter did not confirm a reset: it is halted, and its memory is kept\n");
	eadm_adapter_forget(ad, confirmed);
	WRITE_ONCE(ad->unconfirmed, !confirmed);
	return confirmed;
}

static int reset_adapter(struct eadm_adapter *ad)
{
	int ret = -EIO;

	if (halt_adapter(ad, ad->reason)) {
		ret = ad->ops->start(ad);
		if (ret)
			halt_adapter(ad, EADM_RESET_START_FAILED);
	}
	WRITE_ONCE(ad->halted, ret);
	ad->restarted = false;
	trace_recovery(&ad->ibdev, EADM_RECOVERY_RESET, ret);
	eadm_adapter_debug(ad, dev, "recovery: reset: %d\n", ret);
	return ret;
}

/**
 * eadm_adapter_hand_over() - record that the creation of a QP is about to succeed
 * @ad: the adapter
 * @qp: the QP, published
 *
 * After this call, recovery notifies the owner if the adapter loses the QP. Before this call, the
 * RDMA core might not be able to deliver the event.
 *
 * Context: process.
 * Return: false if the adapter has already lost the QP, so the creation has to fail.
 */
bool eadm_adapter_hand_over(struct eadm_adapter *ad, struct eadm_object *qp)
{
	bool alive;

	spin_lock_irq(&ad->lock);
	alive = !eadm_object_is_dead(ad, qp);
	qp->handed_over = alive;
	spin_unlock_irq(&ad->lock);
	return alive;
}

static bool is_handed_over(struct eadm_adapter *ad, const struct eadm_object *qp)
{
	bool handed_over;

	spin_lock_irq(&ad->lock);
	handed_over = qp->handed_over;
	spin_unlock_irq(&ad->lock);
	return handed_over;
}

/* Notifies consumers of objects that the adapter has lost, once per QP. */
static void tell_consumers(struct eadm_adapter *ad)
{
	struct eadm_object *obj;
	u64 id;

	ad->told = ad->epoch;
	eadm_adapter_event(ad, IB_EVENT_DEVICE_FATAL);
	for (id = 0; (obj = eadm_table_next(&ad->qps, &id)); id++) {
		if (eadm_object_is_dead(ad, obj) && is_handed_over(ad, obj) && !obj->told) {
			obj->told = true;
			ad->ops->died(ad, obj);
		}
		eadm_object_put(obj);
	}
}

static void count_recovery(struct eadm_adapter *ad, bool ok)
{
	spin_lock_irq(&ad->lock);
	if (ok)
		ad->recoveries++;
	else
		ad->failed_recoveries++;
	spin_unlock_irq(&ad->lock);
	ad->last_recovery = jiffies;
}

/**
 * eadm_adapter_give_up() - make all commands fail at once, and mark objects dead
 * @ad: the adapter
 * @tell: set to whether consumers have to be notified
 *
 * Bus mastering is turned off before the objects become visible as dead: if the adapter still
 * exists, it must not write to memory that the owners free.
 *
 * Context: process.
 * Return: false if the adapter had already been abandoned.
 */
bool eadm_adapter_give_up(struct eadm_adapter *ad, bool *tell)
{
	spin_lock_irq(&ad->lock);
	if (ad->gone) {
		spin_unlock_irq(&ad->lock);
		return false;
	}
	pci_clear_master(ad->fn.pdev);
	end_epoch(ad);
	WRITE_ONCE(ad->gone, true);
	WRITE_ONCE(ad->state, EADM_QUEUE_DEAD);
	*tell = ad->recoverable;
	spin_unlock_irq(&ad->lock);
	return true;
}

/* Records a failure of the whole adapter. @error: reason why it could not be recovered, or 0. */
static void note_failure(struct eadm_adapter *ad, u8 cause, int error)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_DEVICE,
		.cause = cause,
		.has = error ? EADM_FAILURE_ERROR : 0,
		.error = error,
	};

	eadm_failures_note(&ad->failures, &what);
}

static void notify_companion(struct eadm_adapter *ad, unsigned long type)
{
	const struct eadm_diag_event ev = { .obj = EADM_OBJ_DEV };

	eadm_diag_notify(&ad->diag, type, &ev);
}

/* After this call, commands fail at once, and objects are destroyed without commands. */
static void set_gone(struct eadm_adapter *ad, bool absent)
{
	bool tell;

	if (!eadm_adapter_give_up(ad, &tell))
		return;
	/* An adapter that is merely silent may still write to memory. */
	if (absent)
		eadm_memory_confirm(ad);
	trace_recovery(&ad->ibdev, EADM_RECOVERY_GONE, 0);
	dev_err(&ad->fn.pdev->dev, "the adapter is gone\n");
	eadm_queue_reset(ad, -ENODEV);
	note_failure(ad, EADM_CAUSE_ADAPTER_GONE, 0);
	notify_companion(ad, EADM_DIAG_DEAD);
	if (tell)
		queue_work(ad->recovery_wq, &ad->recovery);
}

/**
 * eadm_adapter_is_gone() - determine whether the adapter is gone
 * @ad: the adapter
 *
 * If this call is the first to detect that, it also marks the adapter as gone.
 *
 * Context: process; takes a second if the adapter does not respond.
 */
bool eadm_adapter_is_gone(struct eadm_adapter *ad)
{
	enum eadm_presence found;

	if (READ_ONCE(ad->gone))
		return true;
	found = eadm_function_find(&ad->fn);
	if (found != EADM_PRESENT)
		set_gone(ad, found == EADM_ABSENT);
	return READ_ONCE(ad->gone);
}

/* Checks whether the queue responds, and resets the adapter if not. */
static int bring_back(struct eadm_adapter *ad)
{
	int ret;

	eadm_queue_set_state(ad, EADM_QUEUE_RECOVERING);
	ret = ad->halted || ad->restarted ? -ENODEV : ad->ops->probe(ad);
	trace_recovery(&ad->ibdev, EADM_RECOVERY_PROBE, ret);
	eadm_adapter_debug(ad, dev, "recovery: probe command: %d\n", ret);
	if (!ret)
		return 0;
	if (eadm_adapter_is_gone(ad))
		return -ENODEV;
	return reset_adapter(ad);
}

/* An adapter that stays halted is recorded only once. */
static void record_failure(struct eadm_adapter *ad, int ret, bool was_reset, bool was_halted)
{
	if (was_halted)
		return;
	if (ret)
		note_failure(ad, EADM_CAUSE_ADAPTER_DEAD, ret);
	else if (was_reset)
		note_failure(ad, EADM_CAUSE_ADAPTER_RESET, 0);
}

static void report_end(struct eadm_adapter *ad, int ret, bool was_reset, bool was_halted)
{
	if (ret && !was_halted)
		ibdev_err(&ad->ibdev, "%s recovery failed: %d\n",
			  ad->ops->queue->name, ret);
	else if (!ret)
		ibdev_warn(&ad->ibdev, "%s recovered%s\n", ad->ops->queue->name,
			   was_reset || was_halted ? " after a reset" : "");
	if (!ret || !was_halted)
		notify_companion(ad, ret ? EADM_DIAG_DEAD : EADM_DIAG_RECOVERED);
}

static void recover(struct eadm_adapter *ad)
{
	bool was_halted = ad->halted, was_reset, gone;
	int ret;

	trace_recovery(&ad->ibdev, EADM_RECOVERY_BEGIN, 0);
	ret = bring_back(ad);
	was_reset = ad->told != ad->epoch;
	count_recovery(ad, !ret);
	/* An event handler must not wait for an adapter that does not respond. */
	if (ret)
		eadm_queue_set_state(ad, EADM_QUEUE_DEAD);
	gone = READ_ONCE(ad->gone) || (ret && eadm_adapter_is_gone(ad));
	/* Report this before the failures of QPs, which follow from it. */
	if (!gone)
		record_failure(ad, ret, was_reset, was_halted);
	/* New objects may get the numbers of dead objects as soon as the adapter is in service. */
	if (was_reset && !gone)
		tell_consumers(ad);
	if (!ret)
		eadm_queue_set_state(ad, EADM_QUEUE_EVENT);
	trace_recovery(&ad->ibdev, EADM_RECOVERY_END, ret);
	if (gone || READ_ONCE(ad->gone))
		return;
	report_end(ad, ret, was_reset, was_halted);
	ad->ops->recovered(ad, was_reset, was_halted);
}

/**
 * eadm_recovery_work() - bring the command queue back
 * @work: recovery of an adapter
 *
 * Recovery also detects that the adapter is gone, and reports this to consumers.
 *
 * Context: process.
 */
void eadm_recovery_work(struct work_struct *work)
{
	struct eadm_adapter *ad = container_of(work, struct eadm_adapter, recovery);

	if (!eadm_adapter_is_gone(ad))
		recover(ad);
	/* Code that finds the adapter gone queues this work again, even while it runs. */
	if (READ_ONCE(ad->gone) && !ad->told_gone) {
		ad->told_gone = true;
		tell_consumers(ad);
	}
}
