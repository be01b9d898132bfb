/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts that did not come. Who finds what no interrupt has announced only suspects
 * that one was lost: a CPU that the hypervisor keeps from running, or that has interrupts
 * off, takes it later. Work on that CPU runs after what was pending there, and tells the
 * two apart.
 */
#ifndef EADM_MISSED_H
#define EADM_MISSED_H

#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

/**
 * struct eadm_missed - lost interrupts of a vector
 * @work: compares, on the vector's CPU
 * @interrupts: those taken, of the handler
 * @suspected: @work is to look; whoever sets it owns @then until @work has
 * @then: @interrupts when what was not announced was found
 * @count: lost ones; written by @work only
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
 * eadm_missed_init() - once in the life of an event queue
 * @missed: what is counted
 * @interrupts: counter of the vector's handler
 */
static inline void eadm_missed_init(struct eadm_missed *missed, const u64 *interrupts)
{
	INIT_WORK(&missed->work, eadm_missed_work);
	missed->interrupts = interrupts;
}

/**
 * eadm_missed_suspect() - something was found that no interrupt has announced
 * @missed: what is counted; one suspicion at a time
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
	/* An interrupt chip may name none; should that CPU have gone offline, another does. */
	cpu = cpumask_first(irq_data_get_effective_affinity_mask(data));
	queue_work_on(cpu < nr_cpu_ids ? cpu : WORK_CPU_UNBOUND, system_highpri_wq,
		      &missed->work);
}

/**
 * eadm_missed_stop() - let go of it
 * @missed: of which nothing is suspected any more
 *
 * Context: process.
 */
static inline void eadm_missed_stop(struct eadm_missed *missed)
{
	cancel_work_sync(&missed->work);
	atomic_set(&missed->suspected, 0);
}

#endif
