// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: an MSI-X domain without a parent, whose vectors are raised by the model instead of by
 * a memory write.
 *
 * A handler has to run in interrupt context on the CPU that the vector is bound to, so interrupts
 * are delivered by a cross-call, or by irq_work on the CPU itself.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/slab.h>

#include "vdev.h"

#define ENTRY_SIZE		16
#define ENTRY_VECTOR_CTRL	12

static void irq_ack(struct irq_data *data)
{
	/* This function is empty, but handle_edge_irq() calls it unconditionally. */
}

static void irq_compose(struct irq_data *data, struct msi_msg *msg)
{
	/* Written to the MSI-X table because lspci and other tools expect it; never used. */
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
	.name			= "VDEV-MSIX",
	.irq_ack		= irq_ack,
	.irq_compose_msi_msg	= irq_compose,
	.irq_set_affinity	= irq_affinity,
};

static void map(struct compat_msi *domain, unsigned int vec, unsigned int virq)
{
	struct vdev_msi *msi = container_of(domain, struct vdev_msi, domain);

	WRITE_ONCE(msi->vector[vec].virq, virq);
}

static void unmap(struct compat_msi *domain, unsigned int vec)
{
	struct vdev_msi *msi = container_of(domain, struct vdev_msi, domain);

	WRITE_ONCE(msi->vector[vec].virq, 0);
}

static void vector_fire(struct vdev_vector *vector)
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
	vector_fire(container_of(work, struct vdev_vector, work));
}

static void vector_deliver(struct vdev_vector *vector)
{
	unsigned int virq = READ_ONCE(vector->virq);
	unsigned int cpu, target;
	struct irq_data *data;
	int ret = -ENXIO;

	if (!virq)
		return;
	cpu = get_cpu();
	/* The data is freed by RCU, so it stays valid while preemption is disabled. */
	data = irq_get_irq_data(virq);
	target = data ? cpumask_first_and(irq_data_get_effective_affinity_mask(data),
					  cpu_online_mask) : nr_cpu_ids;
	if (target < nr_cpu_ids && target != cpu)
		ret = smp_call_function_single_async(target, &vector->csd);
	/* If busy, a call is already pending and will see the new state. */
	if (ret && ret != -EBUSY)
		irq_work_queue(&vector->work);
	put_cpu();
}

static bool vector_is_masked(const struct vdev *vdev, unsigned int vec)
{
	u16 control = vdev_config_word(vdev, VDEV_CAP_MSIX + PCI_MSIX_FLAGS);
	const struct vdev_function *fn = vdev->family->function;
	__le32 *ctrl = vdev->bar[fn->msix_bar] + fn->msix_table + vec * ENTRY_SIZE +
		       ENTRY_VECTOR_CTRL;

	return !(control & PCI_MSIX_FLAGS_ENABLE) ||
	       control & PCI_MSIX_FLAGS_MASKALL ||
	       le32_to_cpu(READ_ONCE(*ctrl)) & PCI_MSIX_ENTRY_CTRL_MASKBIT;
}

static void pba_update(struct vdev *vdev)
{
	const struct vdev_function *fn = vdev->family->function;
	__le64 *pba = vdev->bar[fn->msix_bar] + fn->msix_pba;

	WRITE_ONCE(*pba, cpu_to_le64(READ_ONCE(vdev->msi.pending)));
}

/**
 * vdev_msi_poll() - deliver pending interrupts whose vector is not masked
 * @vdev: adapter
 *
 * Context: any, from the model.
 * Return: true if an interrupt was delivered.
 */
bool vdev_msi_poll(struct vdev *vdev)
{
	unsigned long pending = READ_ONCE(vdev->msi.pending);
	bool delivered = false;
	unsigned long flags;
	unsigned int vec;

	/* On PCI, an interrupt is a memory write, for which the function needs bus mastering. */
	if (!pending || !vdev_is_master(vdev))
		return false;
	spin_lock_irqsave(&vdev->msi.lock, flags);
	for_each_set_bit(vec, &pending, vdev->vectors) {
		if (vector_is_masked(vdev, vec))
			continue;
		if (!test_and_clear_bit(vec, &vdev->msi.pending))
			continue;
		vector_deliver(&vdev->msi.vector[vec]);
		delivered = true;
	}
	pba_update(vdev);
	spin_unlock_irqrestore(&vdev->msi.lock, flags);
	return delivered;
}

/**
 * vdev_msi_raise() - raise an interrupt
 * @vdev: adapter
 * @vec: MSI-X vector
 *
 * If the vector is masked, or the function must not access memory, the interrupt stays pending
 * until the model detects that this has changed.
 *
 * Context: any, from the model.
 */
void vdev_msi_raise(struct vdev *vdev, unsigned int vec)
{
	if (vec >= vdev->vectors)
		return;
	if (vdev_fault_hit(vdev, VDEV_FAULT_IRQ_LOST, vec, NULL))
		return;
	atomic64_inc(&vdev->counters.interrupts);
	set_bit(vec, &vdev->msi.pending);
	vdev_msi_poll(vdev);
}

/**
 * vdev_msi_poll_faults() - raise spurious interrupts
 * @vdev: adapter
 *
 * Context: any, from the model.
 */
void vdev_msi_poll_faults(struct vdev *vdev)
{
	unsigned int vec;

	for (vec = 0; vec < vdev->vectors; vec++)
		if (vdev_fault_hit(vdev, VDEV_FAULT_IRQ_SPURIOUS, vec, NULL))
			vdev_msi_raise(vdev, vec);
}

/**
 * vdev_msi_reset() - discard pending interrupts
 * @vdev: adapter
 */
void vdev_msi_reset(struct vdev *vdev)
{
	WRITE_ONCE(vdev->msi.pending, 0);
	pba_update(vdev);
}

/**
 * vdev_msi_init() - create the interrupt domain
 * @vdev: adapter, not yet on a bus
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vdev_msi_init(struct vdev *vdev)
{
	struct vdev_msi *msi = &vdev->msi;
	unsigned int i;
	int ret = -ENOMEM;

	msi->vector = kcalloc(vdev->vectors, sizeof(*msi->vector), GFP_KERNEL);
	if (!msi->vector)
		return ret;
	for (i = 0; i < vdev->vectors; i++) {
		struct vdev_vector *vector = &msi->vector[i];

		INIT_CSD(&vector->csd, vector_ipi, vector);
		vector->work = IRQ_WORK_INIT_HARD(vector_irq_work);
	}
	spin_lock_init(&msi->lock);
	msi->pending = 0;
	msi->fwnode = irq_domain_alloc_named_id_fwnode("VDEV-MSIX", vdev->domain);
	if (!msi->fwnode)
		goto free_vectors;
	msi->ops = (struct compat_msi_ops) {
		.chip = &chip,
		.size = vdev->vectors,
		.map = map,
		.unmap = unmap,
	};
	ret = compat_msi_create(&msi->domain, &msi->ops, msi->fwnode);
	if (ret)
		goto free_fwnode;
	return 0;

free_fwnode:
	irq_domain_free_fwnode(msi->fwnode);
free_vectors:
	kfree(msi->vector);
	return ret;
}

static void nothing(void *unused)
{
}

/**
 * vdev_msi_exit() - remove the interrupt domain
 * @vdev: adapter, off its bus, model stopped
 *
 * Context: may sleep.
 */
void vdev_msi_exit(struct vdev *vdev)
{
	unsigned int i;

	irq_domain_remove(vdev->msi.domain.domain);
	irq_domain_free_fwnode(vdev->msi.fwnode);
	/* Pending calls still use the vectors. */
	for (i = 0; i < vdev->vectors; i++)
		irq_work_sync(&vdev->msi.vector[i].work);
	on_each_cpu(nothing, NULL, 1);
	synchronize_rcu();
	kfree(vdev->msi.vector);
}
