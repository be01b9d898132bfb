// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues and their interrupts, independent of the family.
 *
 * Lost interrupts: entries without an interrupt are only a hint that an interrupt was lost. A CPU
 * that is descheduled by the hypervisor, or that has interrupts disabled, takes the interrupt
 * later. A work item on that CPU runs after the CPU's pending interrupts, so it can distinguish the
 * two cases.
 */

#include <linux/irq.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

#include "compat_kernel.h"
#include "interrupt.h"

static void check_work(struct work_struct *work)
{
	struct eadm_eq *eq = container_of(work, struct eadm_eq, check);

	if (READ_ONCE(eq->interrupts) == eq->then) {
		WRITE_ONCE(eq->last_missed, local_clock());
		WRITE_ONCE(eq->missed, eq->missed + 1);
	}
	atomic_set_release(&eq->suspected, 0);
}

/**
 * eadm_eq_suspect() - check for a lost interrupt after finding entries without an interrupt
 * @eq: the event queue; a check that is pending already covers this call
 *
 * Context: any.
 */
void eadm_eq_suspect(struct eadm_eq *eq)
{
	struct irq_data *data = eq->irq ? irq_get_irq_data(eq->irq) : NULL;
	unsigned int cpu;

	if (!data || atomic_cmpxchg_acquire(&eq->suspected, 0, 1))
		return;
	eq->then = READ_ONCE(eq->interrupts);
	/* The mask may be empty. If the CPU has gone offline, a different CPU runs the work. */
	cpu = cpumask_first(irq_data_get_effective_affinity_mask(data));
	queue_work_on(cpu < nr_cpu_ids ? cpu : WORK_CPU_UNBOUND, system_highpri_wq, &eq->check);
}

/**
 * eadm_eq_init() - allocate an event queue
 * @eq: the queue, zeroed
 * @ad: the adapter
 * @index: EADM number, which must be the next free one
 * @role: EADM_EQ_ROLE_*
 * @depth: number of entries
 * @size: size of the ring in bytes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int eadm_eq_init(struct eadm_eq *eq, struct eadm_adapter *ad, u8 index, u8 role, u32 depth,
		 size_t size)
{
	int ret;

	spin_lock_init(&eq->lock);
	eq->ad = ad;
	eq->index = index;
	eq->role = role;
	eq->depth = depth;
	eq->created = local_clock();
	INIT_WORK(&eq->check, check_work);
	ret = eadm_ring_alloc(ad, &eq->ring, size);
	if (!ret)
		list_add_tail(&eq->node, &ad->eqs);
	return ret;
}

/**
 * eadm_eq_find() - find an event queue by its number
 * @ad: the adapter, in service
 * @index: EADM number; any value
 *
 * Context: any.
 * Return: the queue or NULL.
 */
struct eadm_eq *eadm_eq_find(struct eadm_adapter *ad, u64 index)
{
	struct eadm_eq *eq;

	list_for_each_entry(eq, &ad->eqs, node)
		if (eq->index == index)
			return eq;
	return NULL;
}

/**
 * eadm_eq_request() - request the interrupt of an event queue
 * @eq: the queue, after which the interrupt is named
 * @handler: its handler
 * @data: argument of the handler
 * @cpu: CPU that should take the interrupt
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_eq_request(struct eadm_eq *eq, irq_handler_t handler, void *data, u32 cpu)
{
	struct pci_dev *pdev = eq->ad->fn.pdev;
	int irq = pci_irq_vector(pdev, eq->vector);
	int ret;

	ret = request_irq(irq, handler, 0, eq->irq_name, data);
	if (ret) {
		dev_err(&pdev->dev, "cannot request the interrupt of vector %u: %d\n",
			eq->vector, ret);
		return ret;
	}
	eq->irq = irq;
	cpumask_set_cpu(cpu, &eq->affinity);
	irq_set_affinity_and_hint(irq, &eq->affinity);
	return 0;
}

/**
 * eadm_eq_release() - free the interrupt of an event queue
 * @eq: the queue
 * @data: as passed to eadm_eq_request()
 *
 * Context: process.
 */
void eadm_eq_release(struct eadm_eq *eq, void *data)
{
	if (!eq->irq)
		return;
	irq_update_affinity_hint(eq->irq, NULL);
	free_irq(eq->irq, data);
	eq->irq = 0;
	cancel_work_sync(&eq->check);
	atomic_set(&eq->suspected, 0);
}

/**
 * eadm_eq_set_live() - record whether the adapter uses an event queue
 * @eq: the queue
 * @live: whether the adapter uses it
 *
 * Context: process.
 */
void eadm_eq_set_live(struct eadm_eq *eq, bool live)
{
	spin_lock_irq(&eq->lock);
	eq->live = live;
	spin_unlock_irq(&eq->lock);
}

/**
 * eadm_eq_unknown() - count an entry that refers to an unknown object
 * @eq: the queue
 *
 * Context: any.
 */
void eadm_eq_unknown(struct eadm_eq *eq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	eq->unknown++;
	eq->last_unknown = local_clock();
	spin_unlock_irqrestore(&eq->lock, flags);
}

static u32 count_pending(const struct eadm_eq *eq)
{
	u32 n = 0;

	while (eq->live && n < eq->depth && eq->is_new(eq, eq->ci + n))
		n++;
	return n;
}

/**
 * eadm_eq_row_fill() - fill in the fields of an event queue that all families have, except the
 * number of its interrupt
 * @eq: the queue
 * @s: its row
 *
 * Context: process, with @eq->lock held.
 */
void eadm_eq_row_fill(struct eadm_eq *eq, struct eadm_snap_eq *s)
{
	lockdep_assert_held(&eq->lock);
	SNAP_SET(s, index, eq->index);
	SNAP_SET(s, role, eq->role);
	if (eq->role != EADM_EQ_ROLE_ASYNC)
		SNAP_SET(s, eqn, eq->eqn);
	if (eq->role == EADM_EQ_ROLE_COMPLETION)
		SNAP_SET(s, cqs, atomic_read(&eq->cqs));
	SNAP_SET(s, ci, eq->ci);
	SNAP_SET(s, pending, count_pending(eq));
	SNAP_SET(s, vector, eq->vector);
	SNAP_STR(s, irq_name, eq->irq_name);
	SNAP_SET(s, depth, eq->depth);
	SNAP_SET(s, age, eadm_age(eq->created));
	SNAP_SET(s, interrupts, READ_ONCE(eq->interrupts));
	SNAP_SET(s, events, eq->events);
	SNAP_SET(s, unknown, eq->unknown);
	SNAP_SET(s, missed, READ_ONCE(eq->missed));
	if (READ_ONCE(eq->last_missed))
		SNAP_SET(s, last_missed_age, eadm_age(eq->last_missed));
	if (eq->last_unknown)
		SNAP_SET(s, last_unknown_age, eadm_age(eq->last_unknown));
	if (eq->last_event)
		SNAP_SET(s, last_event_age, eadm_age(eq->last_event));
}
