// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens after a lost command, and when the function is reset.
 *
 * First a probe command checks whether the queue answers at all. If so, nothing
 * else is affected. If not, the adapter is reset and restarted with empty
 * rings. It has then forgotten all objects: they are marked dead by raising the
 * epoch, their consumers are notified, and destroying them needs no command.
 * New objects work at once.
 *
 * An adapter that does not confirm the reset is not restarted: it is halted,
 * and the memory it knows of is kept (see erdma.h). The watch retries the
 * reset.
 *
 * When the PCI core resets the function (sysfs), the same is done in two halves, before and
 * after.
 */

#include "erdma.h"
#include "trace.h"

/* An epoch that the adapter was never exposed to has no objects to forget. */
static void end_epoch(struct erdma_dev *dev)
{
	lockdep_assert_held(&dev->cmdq.lock);
	if ((s32)(dev->epoch - READ_ONCE(dev->exposed)) < 0)
		WRITE_ONCE(dev->epoch, dev->epoch + 1);
}

/*
 * With @confirmed the adapter has forgotten all objects; in either case it cannot reach
 * any memory.
 */
static void forget_all(struct erdma_dev *dev, bool confirmed)
{
	/* Before any issuer learns that its command was given up. */
	spin_lock_irq(&dev->cmdq.lock);
	end_epoch(dev);
	spin_unlock_irq(&dev->cmdq.lock);
	if (confirmed)
		erdma_mem_confirm(dev);
	erdma_cmdq_reset(dev, -ECANCELED);
	if (confirmed)
		erdma_cmdq_bufs_free(dev);
	erdma_eqs_reset(dev);
	erdma_ctx_zap(dev);
}

static bool halt_adapter(struct erdma_dev *dev)
{
	bool confirmed = erdma_hw_halt(dev, ERDMA_HALT_MS);

	if (!confirmed && !dev->unconfirmed)
		ibdev_err(&dev->ibdev,
			  "the adapter did not confirm a reset: it is halted, and its memory is kept\n");
	forget_all(dev, confirmed);
	WRITE_ONCE(dev->unconfirmed, !confirmed);
	return confirmed;
}

static int start_again(struct erdma_dev *dev)
{
	int ret;

	ret = erdma_hw_start(dev, 500);
	if (ret)
		return ret;
	erdma_eqs_set_live(dev);
	ret = erdma_ceqs_create(dev);
	if (ret)
		return ret;
	if (dev->caps.flags & ERDMA_FLAG_EXTEND_DB)
		ret = erdma_cmd_conf_device(dev);
	return ret ? ret : erdma_conf_restore(dev);
}

static int reset(struct erdma_dev *dev)
{
	int ret = -EIO;

	if (halt_adapter(dev)) {
		ret = start_again(dev);
		if (ret)
			halt_adapter(dev);
	}
	WRITE_ONCE(dev->halted, ret);
	dev->restarted = false;
	trace_recovery(&dev->ibdev, EADM_RECOVERY_RESET, ret);
	erdma_debug(dev, dev, "recovery: reset: %d\n", ret);
	return ret;
}

/* Once per QP, even if it still exists at a later reset. */
static void tell_owner(struct erdma_qp *qp)
{
	if (qp->forgotten)
		return;
	qp->forgotten = true;
	erdma_failed_with_device(qp);
	erdma_qp_died(qp);
}

/* Notifies consumers of objects that the adapter has forgotten. */
static void tell_consumers(struct erdma_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = ERDMA_PORT,
		.event = IB_EVENT_DEVICE_FATAL,
	};
	struct erdma_obj *obj;
	u64 id;

	ib_dispatch_event(&event);
	for (id = 0; (obj = erdma_table_next(&dev->qps, &id)); id++) {
		if (erdma_obj_is_dead(dev, obj))
			tell_owner(container_of(obj, struct erdma_qp, obj));
		erdma_obj_put(obj);
	}
}

static void count_recovery(struct erdma_dev *dev, bool ok)
{
	spin_lock_irq(&dev->cmdq.lock);
	if (ok)
		dev->recoveries++;
	else
		dev->failed_recoveries++;
	spin_unlock_irq(&dev->cmdq.lock);
	dev->last_recovery = jiffies;
}

/*
 * Returns false if it was already withdrawn. Bus mastering goes off before the objects
 * can be seen to be dead: if the adapter still exists after all, it must not write to
 * memory that their owners free.
 */
static bool withdraw(struct erdma_dev *dev, bool *tell)
{
	struct erdma_cmdq *q = &dev->cmdq;

	spin_lock_irq(&q->lock);
	if (dev->gone) {
		spin_unlock_irq(&q->lock);
		return false;
	}
	pci_clear_master(dev->pdev);
	end_epoch(dev);
	WRITE_ONCE(dev->gone, true);
	q->state = ERDMA_CMDQ_DEAD;
	*tell = q->recoverable;
	spin_unlock_irq(&q->lock);
	return true;
}

/* From now on commands fail at once, and objects are destroyed without commands. */
static void set_gone(struct erdma_dev *dev, bool absent)
{
	bool tell;

	if (!withdraw(dev, &tell))
		return;
	/* One that is merely silent may still write to memory. */
	if (absent)
		erdma_mem_confirm(dev);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_GONE, 0);
	dev_err(&dev->pdev->dev, "the adapter is gone\n");
	erdma_cmdq_reset(dev, -ENODEV);
	erdma_failed_device(dev, EADM_CAUSE_ADAPTER_GONE, 0);
	erdma_diag_device(dev, EADM_DIAG_DEAD);
	if (tell)
		queue_work(dev->recovery_wq, &dev->recovery);
}

/**
 * erdma_dev_is_gone() - find out whether the adapter is gone
 * @dev: the device
 *
 * May be the first to notice, and does then what has to be done.
 *
 * Context: process; takes a second if the adapter does not answer.
 */
bool erdma_dev_is_gone(struct erdma_dev *dev)
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
static int bring_back(struct erdma_dev *dev)
{
	u64 version;
	int ret;

	erdma_cmdq_set_state(dev, ERDMA_CMDQ_RECOVERING);
	ret = dev->halted || dev->restarted ? -ENODEV : erdma_cmd_query_fw(dev, &version);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_PROBE, ret);
	erdma_debug(dev, dev, "recovery: probe command: %d\n", ret);
	/* A refusal is an answer, too. */
	if (!ret || ret == -EIO)
		return 0;
	if (erdma_dev_is_gone(dev))
		return -ENODEV;
	return reset(dev);
}

static void recover(struct erdma_dev *dev)
{
	bool was_halted = dev->halted, was_reset;
	int ret;

	trace_recovery(&dev->ibdev, EADM_RECOVERY_BEGIN, 0);
	ret = bring_back(dev);
	was_reset = dev->told != dev->epoch;
	count_recovery(dev, !ret);
	erdma_cmdq_set_state(dev, ret ? ERDMA_CMDQ_DEAD : ERDMA_CMDQ_EVENT);
	trace_recovery(&dev->ibdev, EADM_RECOVERY_END, ret);
	if (ret && erdma_dev_is_gone(dev))
		return;
	if (ret && !was_halted)
		ibdev_err(&dev->ibdev, "the command queue could not be brought back: %d\n", ret);
	else if (!ret)
		ibdev_warn(&dev->ibdev, "the command queue is back%s\n",
			   was_reset || was_halted ? " after a reset" : "");
	if (ret && !was_halted)
		erdma_failed_device(dev, EADM_CAUSE_ADAPTER_DEAD, ret);
	else if (was_reset && !was_halted)
		erdma_failed_device(dev, EADM_CAUSE_ADAPTER_RESET, 0);
	if (!ret || !was_halted)
		erdma_diag_device(dev, ret ? EADM_DIAG_DEAD : EADM_DIAG_RECOVERED);
}

/**
 * erdma_recovery_work() - bring the command queue back
 * @work: dev->recovery
 *
 * Also detects that the adapter is gone, and reports that to consumers.
 *
 * Context: process.
 */
void erdma_recovery_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(work, struct erdma_dev, recovery);
	bool was_halted = dev->halted, was_reset;

	if (!erdma_dev_is_gone(dev))
		recover(dev);
	was_reset = dev->told != dev->epoch;
	/* An adapter that was reset knows nothing of the MTU. */
	if ((was_reset || was_halted) && READ_ONCE(dev->mtu_changed))
		queue_work(dev->wq, &dev->mtu_work);
	/* Finding the adapter gone queues this work again, even while it runs. */
	if (READ_ONCE(dev->gone) ? !dev->told_gone : was_reset) {
		dev->told = dev->epoch;
		dev->told_gone = READ_ONCE(dev->gone);
		tell_consumers(dev);
	}
}

/**
 * erdma_dev_quiesce() - the PCI core is about to reset the function
 * @dev: the device
 *
 * No process reaches it any more, and it no longer reaches memory: whether it has forgotten
 * that is seen afterwards.
 *
 * Context: process, with the device lock held up to erdma_dev_restart().
 */
void erdma_dev_quiesce(struct erdma_dev *dev)
{
	if (!erdma_cmdq_seize(dev))
		return;
	eadm_function_reset_begins(&dev->fn);
	forget_all(dev, false);
}

/**
 * erdma_dev_restart() - the PCI core has reset the function, or failed to
 * @dev: the device, quiesced or gone
 *
 * On return there is service again, if the adapter can be started.
 *
 * Context: process.
 */
void erdma_dev_restart(struct erdma_dev *dev)
{
	if (!eadm_function_reset_ended(&dev->fn))
		return;
	dev->restarted = true;
	queue_work(dev->recovery_wq, &dev->recovery);
	flush_work(&dev->recovery);
}

/**
 * erdma_dev_withdraw() - the machine is about to shut down, or to start another kernel
 * @dev: the device
 *
 * The adapter would write to memory that it has not forgotten while the next kernel runs.
 *
 * Context: process.
 */
void erdma_dev_withdraw(struct erdma_dev *dev)
{
	bool tell;

	if (!erdma_hw_halt(dev, ERDMA_HALT_MS))
		dev_warn(&dev->pdev->dev, "does not confirm a reset; bus mastering is off\n");
	if (withdraw(dev, &tell))
		erdma_cmdq_reset(dev, -ENODEV);
}
