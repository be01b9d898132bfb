// SPDX-License-Identifier: GPL-2.0-only
/* What happens after a lost command, and when the function is reset; see efa.h. */

#include "efa.h"
#include "trace.h"

/* An epoch that the adapter was never exposed to has no objects to forget. */
static void end_epoch(struct efa_dev *dev)
{
	lockdep_assert_held(&dev->aq.lock);
	if ((s32)(dev->epoch - READ_ONCE(dev->exposed)) < 0)
		WRITE_ONCE(dev->epoch, dev->epoch + 1);
}

/*
 * With @confirmed the adapter has forgotten all objects; in either case it cannot reach
 * any memory.
 */
static void forget_all(struct efa_dev *dev, bool confirmed)
{
	/* Before any issuer learns that its command was given up. */
	spin_lock_irq(&dev->aq.lock);
	end_epoch(dev);
	spin_unlock_irq(&dev->aq.lock);
	if (confirmed)
		efa_mem_confirm(dev);
	efa_aq_reset(dev, -ECANCELED);
	if (confirmed)
		efa_aq_lists_free(dev);
	efa_eqs_reset(dev);
	efa_ctx_zap(dev);
}

static bool halt_adapter(struct efa_dev *dev, enum efa_reset_reason reason)
{
	bool confirmed = efa_halt(dev, reason);

	if (!confirmed && !dev->unconfirmed)
		ibdev_err(&dev->ibdev,
			  "the adapter did not confirm a reset: it is halted, and its memory is kept\n");
	forget_all(dev, confirmed);
	WRITE_ONCE(dev->unconfirmed, !confirmed);
	return confirmed;
}

static int reset(struct efa_dev *dev)
{
	int ret = -EIO;

	/* Written before this work was queued, and not while the queue is recovering. */
	if (halt_adapter(dev, dev->recovery_reason)) {
		ret = efa_start_again(dev);
		if (ret)
			halt_adapter(dev, EFA_RESET_INIT_ERROR);
	}
	WRITE_ONCE(dev->halted, ret);
	dev->restarted = false;
	trace_recovery(&dev->ibdev, EADM_RECOVERY_RESET, ret);
	efa_debug(dev, dev, "recovery: reset: %d\n", ret);
	return ret;
}

static void dispatch(struct efa_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = EFA_PORT,
		.event = type,
	};

	ib_dispatch_event(&event);
}

/* Notifies consumers of objects that the adapter has forgotten. */
static void tell_consumers(struct efa_dev *dev)
{
	struct efa_obj *obj;
	struct efa_qp *qp;
	u64 id;

	dispatch(dev, IB_EVENT_DEVICE_FATAL);
	for (id = 0; (obj = efa_table_next(&dev->qps, &id)); id++) {
		qp = container_of(obj, struct efa_qp, obj);
		if (efa_obj_is_dead(dev, obj)) {
			efa_failed_qp(qp);
			efa_qp_died(qp);
		}
		efa_obj_put(obj);
	}
}

static void count_recovery(struct efa_dev *dev, bool ok)
{
	spin_lock_irq(&dev->aq.lock);
	if (ok)
		dev->recoveries++;
	else
		dev->failed_recoveries++;
	dev->last_recovery = jiffies;
	spin_unlock_irq(&dev->aq.lock);
}

/*
 * Returns false if it was already withdrawn. Bus mastering goes off before the objects
 * can be seen to be dead: if the adapter still exists after all, it must not write to
 * memory that their owners free.
 */
static bool withdraw(struct efa_dev *dev, bool *tell)
{
	struct efa_aq *q = &dev->aq;

	spin_lock_irq(&q->lock);
	if (dev->gone) {
		spin_unlock_irq(&q->lock);
		return false;
	}
	pci_clear_master(dev->pdev);
	end_epoch(dev);
	WRITE_ONCE(dev->gone, true);
	q->state = EFA_AQ_DEAD;
	*tell = q->recoverable;
	spin_unlock_irq(&q->lock);
	return true;
}

/* From now on commands fail at once, and objects are destroyed without commands. */
static void set_gone(struct efa_dev *dev, bool absent)
{
	bool tell;

	if (!withdraw(dev, &tell))
		return;
	/* One that is merely silent may still write to memory. */
	if (absent)
		efa_mem_confirm(dev);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_GONE, 0);
	dev_err(&dev->pdev->dev, "the adapter is gone\n");
	efa_aq_reset(dev, -ENODEV);
	efa_failed_device(dev, EADM_CAUSE_ADAPTER_GONE, 0);
	efa_diag_device(dev, EADM_DIAG_DEAD);
	if (tell)
		queue_work(dev->recovery_wq, &dev->recovery);
}

/**
 * efa_dev_is_gone() - find out whether the adapter is gone
 * @dev: the device
 *
 * May be the first to notice, and does then what has to be done.
 *
 * Context: process; takes a second if the adapter does not answer.
 */
bool efa_dev_is_gone(struct efa_dev *dev)
{
	enum eadm_presence found;

	if (READ_ONCE(dev->gone))
		return true;
	found = eadm_function_find(&dev->fn);
	if (found != EADM_PRESENT)
		set_gone(dev, found == EADM_ABSENT);
	return READ_ONCE(dev->gone);
}

/* Checks whether the queue answers, and resets the adapter if not. */
static int bring_back(struct efa_dev *dev)
{
	int ret;

	efa_aq_set_state(dev, EFA_AQ_RECOVERING);
	ret = dev->halted || dev->restarted ? -ENODEV : efa_cmd_probe(dev);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_PROBE, ret);
	efa_debug(dev, dev, "recovery: probe command: %d\n", ret);
	if (!ret)
		return 0;
	if (efa_dev_is_gone(dev))
		return -ENODEV;
	return reset(dev);
}

static void report(struct efa_dev *dev, int ret, bool was_halted, bool was_reset)
{
	if (ret && !was_halted)
		ibdev_err(&dev->ibdev, "the admin queue could not be brought back: %d\n", ret);
	else if (!ret)
		ibdev_warn(&dev->ibdev, "the admin queue is back%s\n",
			   was_reset || was_halted ? " after a reset" : "");
	if (ret && !was_halted)
		efa_failed_device(dev, EADM_CAUSE_ADAPTER_DEAD, ret);
	else if (was_reset && !was_halted)
		efa_failed_device(dev, EADM_CAUSE_ADAPTER_RESET, 0);
	if (!ret || !was_halted)
		efa_diag_device(dev, ret ? EADM_DIAG_DEAD : EADM_DIAG_RECOVERED);
}

static void recover(struct efa_dev *dev)
{
	bool was_halted = dev->halted, was_reset;
	int ret;

	trace_recovery(&dev->ibdev, EADM_RECOVERY_BEGIN, 0);
	ret = bring_back(dev);
	was_reset = dev->told != dev->epoch;
	dev->told = dev->epoch;
	count_recovery(dev, !ret);
	/* New objects may get the numbers of dead ones as soon as there is service. */
	if (was_reset && !READ_ONCE(dev->gone))
		tell_consumers(dev);
	efa_aq_set_state(dev, ret ? EFA_AQ_DEAD : EFA_AQ_EVENT);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_END, ret);
	if (ret && efa_dev_is_gone(dev))
		return;
	report(dev, ret, was_halted, was_reset);
	/* The port is up as long as there is service. */
	if (!!ret != was_halted)
		dispatch(dev, ret ? IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE);
}

/**
 * efa_recovery_work() - bring the admin queue back
 * @work: dev->recovery
 *
 * Also detects that the adapter is gone, and reports that to consumers.
 *
 * Context: process.
 */
void efa_recovery_work(struct work_struct *work)
{
	struct efa_dev *dev = container_of(work, struct efa_dev, recovery);

	if (!efa_dev_is_gone(dev))
		recover(dev);
	/* Finding the adapter gone queues this work again, even while it runs. */
	if (READ_ONCE(dev->gone) && !dev->told_gone) {
		dev->told_gone = true;
		tell_consumers(dev);
	}
}

/**
 * efa_dev_quiesce() - the PCI core is about to reset the function
 * @dev: the device
 *
 * No process reaches it any more, and it no longer reaches memory: whether it has forgotten
 * that is seen afterwards.
 *
 * Context: process, with the device lock held up to efa_dev_restart().
 */
void efa_dev_quiesce(struct efa_dev *dev)
{
	if (!efa_aq_seize(dev, EFA_RESET_OS_TRIGGER))
		return;
	eadm_function_reset_begins(&dev->fn);
	forget_all(dev, false);
}

/**
 * efa_dev_restart() - the PCI core has reset the function, or failed to
 * @dev: the device, quiesced or gone
 *
 * On return there is service again, if the adapter can be started.
 *
 * Context: process.
 */
void efa_dev_restart(struct efa_dev *dev)
{
	if (!eadm_function_reset_ended(&dev->fn))
		return;
	dev->restarted = true;
	queue_work(dev->recovery_wq, &dev->recovery);
	flush_work(&dev->recovery);
}

/**
 * efa_dev_withdraw() - the machine is about to shut down, or to start another kernel
 * @dev: the device
 *
 * The adapter would write to memory that it has not forgotten while the next kernel runs.
 *
 * Context: process.
 */
void efa_dev_withdraw(struct efa_dev *dev)
{
	bool confirmed, tell;

	efa_aq_set_state(dev, EFA_AQ_DEAD);
	confirmed = efa_halt(dev, EFA_RESET_SHUTDOWN);
	if (!confirmed)
		dev_warn(&dev->pdev->dev, "does not confirm a reset; bus mastering is off\n");
	if (!withdraw(dev, &tell))
		return;
	efa_aq_reset(dev, -ENODEV);
	if (confirmed) {
		efa_mem_confirm(dev);
		efa_aq_lists_free(dev);
	}
}

/**
 * efa_is_serving() - whether the adapter executes commands
 * @dev: the device
 *
 * Context: any.
 */
bool efa_is_serving(const struct efa_dev *dev)
{
	return !READ_ONCE(dev->gone) && READ_ONCE(dev->aq.state) != EFA_AQ_DEAD;
}
