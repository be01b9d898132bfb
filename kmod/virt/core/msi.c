// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: an MSI-X domain without a parent, whose vectors are raised by
 * the model instead of a memory write.
 *
 * A handler has to run in interrupt context on the CPU that the vector is bound
 * to, so delivery is by a cross-call, or by irq_work on the CPU itself.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>

#include "../erdma/ev.h"

#define ENTRY_SIZE		16
#define ENTRY_VECTOR_CTRL	12

static void irq_ack(struct irq_data *data)
{
	/* handle_edge_irq() calls this without asking. */
}

static void irq_compose(struct irq_data *data, struct msi_msg *msg)
{
	/* Goes to the MSI-X table, as lspci and others expect; never used. */
	msg->address_hi = 0;
	msg->address_lo = 0xfee00000;
	msg->data = data->hwirq;
}

static int irq_affinity(struct irq_data *data, const struct cpumask *mask,
			bool force)
{
	unsigned int cpu = cpumask_any_and(mask, cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	irq_data_update_effective_affinity(data, cpumask_of(cpu));
	return IRQ_SET_MASK_OK;
}

static struct irq_chip chip = {
	.name			= "EV-MSIX",
	.irq_ack		= irq_ack,
	.irq_compose_msi_msg	= irq_compose,
	.irq_set_affinity	= irq_affinity,
};

static void map(struct compat_msi *domain, unsigned int vec, unsigned int virq)
{
	struct ev_msi *msi = container_of(domain, struct ev_msi, domain);

	WRITE_ONCE(msi->vector[vec].virq, virq);
}

static void unmap(struct compat_msi *domain, unsigned int vec)
{
	struct ev_msi *msi = container_of(domain, struct ev_msi, domain);

	WRITE_ONCE(msi->vector[vec].virq, 0);
}

static const struct compat_msi_ops domain_ops = {
	.chip	= &chip,
	.size	= ERDMA_MAX_VECTORS,
	.map	= map,
	.unmap	= unmap,
};

static void vector_fire(struct ev_vector *vector)
{
	unsigned int virq = READ_ONCE(vector->virq);

	if (virq)
		generic_handle_irq_safe(virq);
}

static void vector_ipi(void *data)
{
	vector_fire(data);
}

static void vector_irq_work(struct irq_work *work)
{
	vector_fire(container_of(work, struct ev_vector, work));
}

static void vector_deliver(struct ev_vector *vector)
{
	unsigned int virq = READ_ONCE(vector->virq);
	unsigned int cpu, target;
	struct irq_data *data;
	int ret = -ENXIO;

	if (!virq)
		return;
	cpu = get_cpu();
	/* Freed by RCU, which preemption off holds up. */
	data = irq_get_irq_data(virq);
	target = data ? cpumask_first_and(irq_data_get_effective_affinity_mask(data),
					  cpu_online_mask) : nr_cpu_ids;
	if (target < nr_cpu_ids && target != cpu)
		ret = smp_call_function_single_async(target, &vector->csd);
	/* Busy: the call is on its way and will see what is there now. */
	if (ret && ret != -EBUSY)
		irq_work_queue(&vector->work);
	put_cpu();
}

static bool vector_is_masked(const struct ev_adapter *ad, unsigned int vec)
{
	u16 control = ev_bus_msix_control(ad);
	__le32 *ctrl = ad->bar2 + EV_MSIX_TABLE + vec * ENTRY_SIZE +
		       ENTRY_VECTOR_CTRL;

	return !(control & PCI_MSIX_FLAGS_ENABLE) ||
	       control & PCI_MSIX_FLAGS_MASKALL ||
	       le32_to_cpu(READ_ONCE(*ctrl)) & PCI_MSIX_ENTRY_CTRL_MASKBIT;
}

static void pba_update(struct ev_adapter *ad)
{
	__le64 *pba = ad->bar2 + EV_MSIX_PBA;

	WRITE_ONCE(*pba, cpu_to_le64(READ_ONCE(ad->msi.pending)));
}

/**
 * ev_msi_poll() - deliver pending interrupts whose vector is not masked
 * @ad: adapter
 *
 * Context: any, from the model.
 * Return: whether one was delivered.
 */
bool ev_msi_poll(struct ev_adapter *ad)
{
	unsigned long pending = READ_ONCE(ad->msi.pending);
	bool delivered = false;
	unsigned long flags;
	unsigned int vec;

	/* To PCI, a message is a write to memory. */
	if (!pending || !ev_bus_is_master(ad))
		return false;
	spin_lock_irqsave(&ad->msi.lock, flags);
	for_each_set_bit(vec, &pending, ERDMA_MAX_VECTORS) {
		if (vector_is_masked(ad, vec))
			continue;
		if (!test_and_clear_bit(vec, &ad->msi.pending))
			continue;
		vector_deliver(&ad->msi.vector[vec]);
		delivered = true;
	}
	pba_update(ad);
	spin_unlock_irqrestore(&ad->msi.lock, flags);
	return delivered;
}

/**
 * ev_msi_raise() - raise an interrupt
 * @ad: adapter
 * @vec: MSI-X vector
 *
 * A masked vector, or one of a function that may not access memory, stays
 * pending until the model finds that changed.
 *
 * Context: any, from the model.
 */
void ev_msi_raise(struct ev_adapter *ad, unsigned int vec)
{
	if (vec >= ad->params.vectors)
		return;
	if (ev_fault_hit(ad, EV_FAULT_IRQ_LOST, vec, NULL))
		return;
	atomic64_inc(&ad->counters.interrupts);
	set_bit(vec, &ad->msi.pending);
	ev_msi_poll(ad);
}

/**
 * ev_msi_poll_faults() - raise interrupts that nothing has caused
 * @ad: adapter
 *
 * Context: any, from the model.
 */
void ev_msi_poll_faults(struct ev_adapter *ad)
{
	unsigned int vec;

	for (vec = 0; vec < ad->params.vectors; vec++)
		if (ev_fault_hit(ad, EV_FAULT_IRQ_SPURIOUS, vec, NULL))
			ev_msi_raise(ad, vec);
}

/**
 * ev_msi_reset() - forget pending interrupts
 * @ad: adapter
 */
void ev_msi_reset(struct ev_adapter *ad)
{
	WRITE_ONCE(ad->msi.pending, 0);
	pba_update(ad);
}

/**
 * ev_msi_init() - create the interrupt domain
 * @ad: adapter, not yet on a bus
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ev_msi_init(struct ev_adapter *ad)
{
	struct ev_msi *msi = &ad->msi;
	unsigned int i;
	int ret;

	for (i = 0; i < ERDMA_MAX_VECTORS; i++) {
		struct ev_vector *vector = &msi->vector[i];

		vector->virq = 0;
		INIT_CSD(&vector->csd, vector_ipi, vector);
		vector->work = IRQ_WORK_INIT_HARD(vector_irq_work);
	}
	spin_lock_init(&msi->lock);
	msi->pending = 0;
	msi->fwnode = irq_domain_alloc_named_id_fwnode("EV-MSIX", ad->domain);
	if (!msi->fwnode)
		return -ENOMEM;
	ret = compat_msi_create(&msi->domain, &domain_ops, msi->fwnode);
	if (ret) {
		irq_domain_free_fwnode(msi->fwnode);
		return ret;
	}
	return 0;
}

static void nothing(void *unused)
{
}

/**
 * ev_msi_exit() - remove the interrupt domain
 * @ad: adapter, off its bus, model stopped
 *
 * Context: may sleep.
 */
void ev_msi_exit(struct ev_adapter *ad)
{
	unsigned int i;

	irq_domain_remove(ad->msi.domain.domain);
	irq_domain_free_fwnode(ad->msi.fwnode);
	/* Calls under way still use the vectors. */
	for (i = 0; i < ERDMA_MAX_VECTORS; i++)
		irq_work_sync(&ad->msi.vector[i].work);
	on_each_cpu(nothing, NULL, 1);
	synchronize_rcu();
}
