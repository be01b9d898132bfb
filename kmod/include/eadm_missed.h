/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lost interrupts. Finding entries that no interrupt has announced is only a hint that an
 * interrupt was lost: a CPU that is descheduled by the hypervisor, or that has interrupts
 * off, takes it later. A work item on that CPU runs after its pending interrupts, so it
 * can distinguish the two.
 */
#ifndef EADM_MISSED_H
#define EADM_MISSED_H

#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

/**
 * struct eadm_missed - lost interrupts of a vector
 * @work: compares the counters, on the vector's CPU
 * @interrupts: number of interrupts taken, counted by the handler
 * @suspected: @work has to check; its setter owns @then until @work has run
 * @then: @interrupts when the unannounced entries were found
 * @count: lost interrupts; written by @work only
 * @last: local_clock() when @count last grew, 0 = never
 */
struct eadm_missed {
	struct work_struct work;
	const u64 *interrupts;
	atomic_t suspected;
	u64 then;
	u64 count;
	u64 last;
};

static inline void eadm_missed_work(struct work_struct *work)
{
	struct eadm_missed *missed = container_of(work, struct eadm_missed, work);

	if (READ_ONCE(*missed->interrupts) == missed->then) {
		WRITE_ONCE(missed->last, local_clock());
		WRITE_ONCE(missed->count, missed->count + 1);
	}
	atomic_set_release(&missed->suspected, 0);
}

/**
 * eadm_missed_init() - initialise, once per event queue
 * @missed: the lost interrupts
 * @interrupts: interrupt counter of the vector's handler
 */
static inline void eadm_missed_init(struct eadm_missed *missed, const u64 *interrupts)
{
	INIT_WORK(&missed->work, eadm_missed_work);
	missed->interrupts = interrupts;
}

/**
 * eadm_missed_suspect() - entries were found that no interrupt has announced
 * @missed: the lost interrupts; one suspicion at a time
 * @irq: the vector's interrupt; 0: not requested, nothing is suspected
 *
 * Context: any.
 */
static inline void eadm_missed_suspect(struct eadm_missed *missed, int irq)
{
	struct irq_data *data = irq ? irq_get_irq_data(irq) : NULL;
	unsigned int cpu;

	if (!data || atomic_cmpxchg_acquire(&missed->suspected, 0, 1))
		return;
	missed->then = READ_ONCE(*missed->interrupts);
	/* The mask may be empty; if that CPU has gone offline, another one runs the work. */
	cpu = cpumask_first(irq_data_get_effective_affinity_mask(data));
	queue_work_on(cpu < nr_cpu_ids ? cpu : WORK_CPU_UNBOUND, system_highpri_wq,
		      &missed->work);
}

/**
 * eadm_missed_stop() - cancel a pending check
 * @missed: no new check may be started
 *
 * Context: process.
 */
static inline void eadm_missed_stop(struct eadm_missed *missed)
{
	cancel_work_sync(&missed->work);
	atomic_set(&missed->suspected, 0);
}

#endif
