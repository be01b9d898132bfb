// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an adapter with a command queue. Its watch checks periodically for what no
 * command would reveal: an adapter that is gone or has restarted by itself while no command is
 * issued, interrupts that were lost, and an adapter that may confirm a reset by now, or start.
 */

#include "life.h"
#include "queue.h"
#include "recovery.h"

#define WATCH_MS	500
/* How often to retry an adapter that did not confirm a reset, or did not start. */
#define RETRY_MS	5000

static bool wants_retry(const struct eadm_adapter *ad)
{
	return READ_ONCE(ad->halted) &&
	       time_after(jiffies, ad->last_recovery + msecs_to_jiffies(RETRY_MS));
}

/* While it recovers, or after that has failed, it need not be asked. */
static bool has_restarted(struct eadm_adapter *ad)
{
	return READ_ONCE(ad->state) == EADM_QUEUE_EVENT && ad->ops->has_restarted(ad);
}

static void watch_work(struct work_struct *work)
{
	struct eadm_adapter *ad = container_of(to_delayed_work(work), struct eadm_adapter, watch);

	if (eadm_adapter_is_gone(ad))
		return;
	if (has_restarted(ad) || wants_retry(ad))
		eadm_queue_recover(ad, EADM_RESET_COMMAND_LOST);
	ad->ops->watch(ad);
	queue_delayed_work(ad->wq, &ad->watch, msecs_to_jiffies(WATCH_MS));
}

/**
 * eadm_adapter_watch_start() - start watching
 * @ad: the adapter, started
 *
 * Context: process.
 */
void eadm_adapter_watch_start(struct eadm_adapter *ad)
{
	queue_delayed_work(ad->wq, &ad->watch, msecs_to_jiffies(WATCH_MS));
}

/**
 * eadm_adapter_watch_stop() - stop watching
 * @ad: the adapter; may not have been watched
 *
 * Context: process.
 */
void eadm_adapter_watch_stop(struct eadm_adapter *ad)
{
	cancel_delayed_work_sync(&ad->watch);
}

/**
 * eadm_adapter_init() - once in an adapter's life
 * @ad: zeroed
 * @ops: its family
 * @diag: what it offers to the companion
 * @ibdev: the RDMA device, not registered yet
 * @pdev: its function; the adapter becomes its driver's data
 *
 * The family sets @ad->port and @ad->fn.answers, and initialises the tables of objects.
 */
void eadm_adapter_init(struct eadm_adapter *ad, const struct eadm_adapter_ops *ops,
		       const struct eadm_diag_ops *diag, struct ib_device *ibdev,
		       struct pci_dev *pdev)
{
	ad->probed = local_clock();
	ad->ops = ops;
	ad->ibdev = ibdev;
	ad->fn.pdev = pdev;
	ad->diag.ibdev = ibdev;
	ad->diag.ops = diag;
	ad->diag.failures = &ad->failures;
	ATOMIC_INIT_NOTIFIER_HEAD(&ad->diag.events);
	ad->state = EADM_QUEUE_POLLING;
	spin_lock_init(&ad->lock);
	init_waitqueue_head(&ad->wait);
	INIT_DELAYED_WORK(&ad->watch, watch_work);
	INIT_WORK(&ad->recovery, eadm_recovery_work);
	eadm_memory_init(&ad->memory);
	pci_set_drvdata(pdev, ad);
}

/**
 * eadm_adapter_alloc() - allocate records of failures, and counters
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -ENOMEM; eadm_adapter_free() has to follow in any case.
 */
int eadm_adapter_alloc(struct eadm_adapter *ad)
{
	ad->counters = alloc_percpu(struct eadm_counters);
	return ad->counters ? eadm_failures_init(&ad->failures) : -ENOMEM;
}

/**
 * eadm_adapter_free() - undo eadm_adapter_alloc(), and free the tables
 * @ad: the adapter, without objects
 *
 * Context: process.
 */
void eadm_adapter_free(struct eadm_adapter *ad)
{
	eadm_table_destroy(&ad->ctxs);
	eadm_table_destroy(&ad->pds);
	eadm_table_destroy(&ad->mrs);
	eadm_table_destroy(&ad->cqs);
	eadm_table_destroy(&ad->qps);
	eadm_failures_free(&ad->failures);
	free_percpu(ad->counters);
}

/**
 * eadm_counter_read() - read one of the driver's own counters
 * @ad: the adapter
 * @counter: which
 *
 * Context: any.
 */
u64 eadm_counter_read(const struct eadm_adapter *ad, enum eadm_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(ad->counters, cpu)->value[counter]);
	return sum;
}

/**
 * eadm_adapter_start_work() - get ready to watch it and to recover it
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int eadm_adapter_start_work(struct eadm_adapter *ad)
{
	const char *driver = ad->diag.ops->family, *name = pci_name(ad->fn.pdev);

	ad->wq = alloc_workqueue("%s-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, driver, name);
	if (!ad->wq)
		return -ENOMEM;
	/* Work on the other queue waits for commands, and thus for recovery. */
	ad->recovery_wq = alloc_ordered_workqueue("%s-rec-%s", WQ_MEM_RECLAIM, driver, name);
	if (ad->recovery_wq)
		return 0;
	destroy_workqueue(ad->wq);
	return -ENOMEM;
}

/**
 * eadm_adapter_end_work() - undo eadm_adapter_start_work()
 * @ad: the adapter, neither watched nor recoverable
 *
 * Context: process.
 */
void eadm_adapter_end_work(struct eadm_adapter *ad)
{
	destroy_workqueue(ad->recovery_wq);
	destroy_workqueue(ad->wq);
}

/**
 * eadm_adapter_set_master() - turn bus mastering on, unless the adapter is gone
 * @ad: the adapter
 *
 * Once the adapter is gone, bus mastering stays off for good.
 *
 * Context: process.
 * Return: 0 or -ENODEV.
 */
int eadm_adapter_set_master(struct eadm_adapter *ad)
{
	int ret = 0;

	spin_lock_irq(&ad->lock);
	if (ad->gone)
		ret = -ENODEV;
	else
		pci_set_master(ad->fn.pdev);
	spin_unlock_irq(&ad->lock);
	return ret;
}

/**
 * eadm_recovery_stop() - there is no recovery, and no watch, from now on
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_recovery_stop(struct eadm_adapter *ad)
{
	/* The watch queues recovery once more when it finds the adapter gone. */
	eadm_adapter_watch_stop(ad);
	eadm_queue_set_recoverable(ad, false);
	flush_work(&ad->recovery);
}

/*
 * The PCI core is about to reset the function. No process reaches it any more, and it no longer
 * reaches memory: whether it has forgotten that is seen afterwards. The device lock is held up
 * to restart().
 */
static void quiesce(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);

	eadm_adapter_watch_stop(ad);
	if (!eadm_queue_seize(ad, EADM_RESET_FUNCTION))
		return;
	eadm_function_reset_begins(&ad->fn);
	eadm_adapter_forget(ad, false);
}

/*
 * The PCI core has reset the function, or failed to. On return there is service again, if the
 * adapter can be started.
 */
static void restart(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);

	if (eadm_function_reset_ended(&ad->fn)) {
		ad->restarted = true;
		queue_work(ad->recovery_wq, &ad->recovery);
		flush_work(&ad->recovery);
	}
	eadm_adapter_watch_start(ad);
}

/* Errors on the bus are not handled. */
const struct pci_error_handlers eadm_adapter_resets = {
	.reset_prepare = quiesce,
	.reset_done = restart,
};

/**
 * eadm_adapter_shutdown() - the machine is about to shut down, or to start another kernel
 * @pdev: the function, with the adapter as its driver's data
 *
 * It would write to memory that it has not forgotten while the next kernel runs.
 *
 * Context: process.
 */
void eadm_adapter_shutdown(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);
	bool confirmed, tell;

	eadm_recovery_stop(ad);
	eadm_queue_set_state(ad, EADM_QUEUE_DEAD);
	confirmed = ad->ops->halt(ad, EADM_RESET_SHUTDOWN);
	if (!confirmed)
		dev_warn(&pdev->dev, "does not confirm a reset; bus mastering is off\n");
	if (!eadm_adapter_give_up(ad, &tell))
		return;
	if (confirmed)
		eadm_memory_confirm(ad);
	ad->ops->queue->reset(ad, -ENODEV);
}
