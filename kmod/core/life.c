// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life cycle of an adapter with a command queue: probe performs the steps of the family's table,
 * and removal undoes them in reverse order. The watch checks periodically for conditions that no
 * command would reveal: an adapter that is gone or has restarted by itself while no command is
 * issued, lost interrupts, and an adapter that can now confirm a reset or start.
 */

#include <linux/dma-mapping.h>
#include <linux/io.h>

#include "compat_kernel.h"
#include "context.h"
#include "issue.h"
#include "life.h"
#include "queue.h"
#include "recovery.h"

#define WATCH_MS	500
/* Retry interval for an adapter that did not confirm a reset, or did not start. */
#define RETRY_MS	5000

static bool wants_retry(const struct eadm_adapter *ad)
{
	return READ_ONCE(ad->halted) &&
	       time_after(jiffies, ad->last_recovery + msecs_to_jiffies(RETRY_MS));
}

/* While the queue recovers, or after recovery has failed, there is no need to check. */
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

static void watch_start(struct eadm_adapter *ad)
{
	queue_delayed_work(ad->wq, &ad->watch, msecs_to_jiffies(WATCH_MS));
}

/* Called even if the watch was never started. */
static void watch_stop(struct eadm_adapter *ad)
{
	cancel_delayed_work_sync(&ad->watch);
}

/**
 * eadm_adapter_init() - initialise an adapter, once
 * @ad: the adapter, zeroed except for the RDMA device
 * @ops: operations of its family
 * @diag: interface to the companion module
 * @pdev: its PCI function, whose driver data is set to the adapter
 *
 * The family sets @ad->port and @ad->fn.answers. An adapter may raise events for objects as soon as
 * it starts, even though no objects exist yet.
 */
void eadm_adapter_init(struct eadm_adapter *ad, const struct eadm_adapter_ops *ops,
		       const struct eadm_diag_ops *diag, struct pci_dev *pdev)
{
	ad->probed = local_clock();
	ad->ops = ops;
	ad->fn.pdev = pdev;
	ad->ibdev.phys_port_cnt = 1;
	ad->ibdev.dev.parent = &pdev->dev;
	ad->diag.ibdev = &ad->ibdev;
	ad->diag.ops = diag;
	ad->diag.failures = &ad->failures;
	ATOMIC_INIT_NOTIFIER_HEAD(&ad->diag.events);
	ad->state = EADM_QUEUE_POLLING;
	spin_lock_init(&ad->lock);
	eadm_cmds_init(&ad->cmds);
	init_waitqueue_head(&ad->wait);
	INIT_DELAYED_WORK(&ad->watch, watch_work);
	INIT_WORK(&ad->recovery, eadm_recovery_work);
	INIT_LIST_HEAD(&ad->eqs);
	spin_lock_init(&ad->memory.lock);
	INIT_LIST_HEAD(&ad->memory.orphans);
	eadm_table_init(&ad->qps, ad, EADM_OBJ_QP);
	eadm_table_init(&ad->cqs, ad, EADM_OBJ_CQ);
	eadm_table_init(&ad->mrs, ad, EADM_OBJ_MR);
	eadm_table_init(&ad->pds, ad, EADM_OBJ_PD);
	eadm_table_init(&ad->ctxs, ad, EADM_OBJ_CTX);
	pci_set_drvdata(pdev, ad);
}

static int alloc(struct eadm_adapter *ad)
{
	int ret;

	ad->counters = alloc_percpu(struct eadm_counters);
	if (!ad->counters)
		return -ENOMEM;
	ret = eadm_failures_init(&ad->failures);
	return ret ? ret : eadm_recorder_init(&ad->cmds.rec);
}

/* Undoes all steps before @step, and frees the device with the adapter. */
static void undo(struct eadm_adapter *ad, const struct eadm_step *step)
{
	while (step-- != ad->steps)
		if (step->end)
			step->end(ad);
	timer_delete_sync(&ad->cmds.look);
	eadm_table_destroy(&ad->ctxs);
	eadm_table_destroy(&ad->pds);
	eadm_table_destroy(&ad->mrs);
	eadm_table_destroy(&ad->cqs);
	eadm_table_destroy(&ad->qps);
	eadm_recorder_free(&ad->cmds.rec);
	eadm_failures_free(&ad->failures);
	free_percpu(ad->counters);
	ib_dealloc_device(&ad->ibdev);
}

/**
 * eadm_adapter_probe() - bring an adapter into service, step by step
 * @ad: the adapter, initialised
 * @step: first of the steps
 *
 * Context: process.
 * Return: 0 or -errno; on error the device is freed.
 */
int eadm_adapter_probe(struct eadm_adapter *ad, const struct eadm_step *step)
{
	int ret = alloc(ad);

	ad->steps = step;
	while (!ret && step->begin) {
		ret = step->begin(ad);
		if (!ret)
			step++;
	}
	if (ret) {
		undo(ad, step);
		return ret;
	}
	ad->complete = true;
	watch_start(ad);
	return 0;
}

/**
 * eadm_adapter_remove() - undo all steps of probe
 * @pdev: the PCI function, whose driver data is the adapter
 *
 * Context: process.
 */
void eadm_adapter_remove(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);
	const struct eadm_step *step = ad->steps;

	/* Detect an absent adapter now, to avoid waiting for completions that cannot arrive. */
	eadm_adapter_is_gone(ad);
	while (step->begin)
		step++;
	undo(ad, step);
}

/**
 * eadm_pci_start() - claim memory BARs, and map the register BAR
 * @ad: the adapter
 * @bars: bitmap of the BARs
 * @bar: number of the register BAR
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_pci_start(struct eadm_adapter *ad, int bars, u8 bar)
{
	struct pci_dev *pdev = ad->fn.pdev;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_selected_regions(pdev, bars, ad->diag.ops->family);
	if (ret)
		goto err_disable;
	ad->bars = bars;
	ad->bar = ioremap(pci_resource_start(pdev, bar), pci_resource_len(pdev, bar));
	if (!ad->bar) {
		ret = -ENOMEM;
		goto err_regions;
	}
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;

err_regions:
	pci_release_selected_regions(pdev, bars);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

/**
 * eadm_pci_stop() - undo eadm_pci_start()
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_pci_stop(struct eadm_adapter *ad)
{
	iounmap(ad->bar);
	pci_release_selected_regions(ad->fn.pdev, ad->bars);
	pci_disable_device(ad->fn.pdev);
}

/**
 * eadm_vectors_alloc() - allocate interrupt vectors
 * @ad: the adapter
 * @least: minimum number of vectors
 * @most: maximum number of vectors
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_vectors_alloc(struct eadm_adapter *ad, u32 least, u32 most)
{
	int ret = pci_alloc_irq_vectors(ad->fn.pdev, least, most, PCI_IRQ_MSIX);

	if (ret < 0) {
		dev_err(&ad->fn.pdev->dev, "cannot allocate interrupt vectors: %d\n", ret);
		return ret;
	}
	ad->vectors = ret;
	return 0;
}

/**
 * eadm_vectors_free() - free the interrupt vectors
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_vectors_free(struct eadm_adapter *ad)
{
	pci_free_irq_vectors(ad->fn.pdev);
}

/**
 * eadm_counter_read() - read one of the driver's own counters
 * @ad: the adapter
 * @counter: the counter
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
 * eadm_adapter_start_work() - create the workqueues for the watch and recovery
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
 * @ad: the adapter, which is neither watched nor recoverable
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
 * Once the adapter is gone, bus mastering stays off permanently.
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

/* Stops recovery and the watch. */
static void recovery_stop(struct eadm_adapter *ad)
{
	/* The watch queues recovery once more when it finds the adapter gone. */
	watch_stop(ad);
	eadm_queue_set_recoverable(ad, false);
	flush_work(&ad->recovery);
}

/* Stop recovery's reports to consumers; the device is no longer registered. */
static void consumers_end(struct eadm_adapter *ad)
{
	recovery_stop(ad);
	/* An event for consumers may still be pending, with a pointer to the device. */
	flush_workqueue(ib_wq);
}

/**
 * eadm_device_register() - make the device available to consumers
 * @ad: the adapter, in service, with its verbs set
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_device_register(struct eadm_adapter *ad)
{
	char name[IB_DEVICE_NAME_MAX];
	int ret;

	eadm_queue_set_recoverable(ad, true);
	snprintf(name, sizeof(name), "%s_%%d", ad->diag.ops->family);
	ret = ib_register_device(&ad->ibdev, name, &ad->fn.pdev->dev);
	if (ret)
		consumers_end(ad);
	return ret;
}

/**
 * eadm_device_unregister() - detach all consumers, and destroy all objects by commands
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_device_unregister(struct eadm_adapter *ad)
{
	eadm_ctxs_leave(ad);
	ib_unregister_device(&ad->ibdev);
	consumers_end(ad);
}

/*
 * The PCI core is about to reset the function. On return, no process can access the function, and
 * it cannot access memory; whether it has lost its state is checked after the reset. The device
 * lock is held until restart() returns.
 */
static void quiesce(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);

	watch_stop(ad);
	if (!eadm_queue_seize(ad, EADM_RESET_FUNCTION))
		return;
	eadm_function_reset_begins(&ad->fn);
	eadm_adapter_forget(ad, false);
}

/*
 * The PCI core has reset the function, or has failed to. On return, the adapter is in service again
 * if it could be started.
 */
static void restart(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);

	if (eadm_function_reset_ended(&ad->fn)) {
		ad->restarted = true;
		queue_work(ad->recovery_wq, &ad->recovery);
		flush_work(&ad->recovery);
	}
	watch_start(ad);
}

/* PCI errors are not handled. */
const struct pci_error_handlers eadm_adapter_resets = {
	.reset_prepare = quiesce,
	.reset_done = restart,
};

/**
 * eadm_adapter_shutdown() - stop the adapter before shutdown or kexec
 * @pdev: the PCI function, whose driver data is the adapter
 *
 * A running adapter could write to its old memory while the next kernel runs.
 *
 * Context: process.
 */
void eadm_adapter_shutdown(struct pci_dev *pdev)
{
	struct eadm_adapter *ad = pci_get_drvdata(pdev);
	bool confirmed, tell;

	recovery_stop(ad);
	eadm_queue_set_state(ad, EADM_QUEUE_DEAD);
	confirmed = ad->ops->halt(ad, EADM_RESET_SHUTDOWN);
	if (!confirmed)
		dev_warn(&pdev->dev, "reset not confirmed; bus mastering is off\n");
	if (!eadm_adapter_give_up(ad, &tell))
		return;
	if (confirmed)
		eadm_memory_confirm(ad);
	eadm_queue_reset(ad, -ENODEV);
}
