/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An interrupt domain for PCI functions that a module models: it has no parent, and supports only
 * MSI-X. It is the function's own domain or, on kernels with per-device domains, the parent of that
 * domain.
 */
#ifndef COMPAT_MSI_H
#define COMPAT_MSI_H

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>

/* Keeps interrupt remapping from replacing the function's domain. */
#define COMPAT_MSI_TOKEN	DOMAIN_BUS_VMD_MSI

struct compat_msi;

/**
 * struct compat_msi_ops - parameters of the domain
 * @chip: has irq_ack, irq_compose_msi_msg and irq_set_affinity
 * @size: vectors
 * @map: an interrupt was allocated for a vector
 * @unmap: the vector's interrupt was freed
 */
struct compat_msi_ops {
	struct irq_chip *chip;
	unsigned int size;
	void (*map)(struct compat_msi *msi, unsigned int vector, unsigned int virq);
	void (*unmap)(struct compat_msi *msi, unsigned int vector);
};

struct compat_msi {
	const struct compat_msi_ops *ops;
	struct irq_domain *domain;
	struct msi_domain_info info;
};

static inline unsigned int compat_msi_vector(const struct msi_desc *desc)
{
#ifdef COMPAT_HAVE_MSI_INDEX
	return desc->msi_index;
#else
	return desc->msi_attrib.entry_nr;
#endif
}

static inline int compat_msi_map(struct compat_msi *msi, struct irq_domain *domain,
				 unsigned int virq, unsigned int vector)
{
	if (vector >= msi->ops->size)
		return -EINVAL;
	irq_domain_set_info(domain, virq, vector, msi->ops->chip, NULL, handle_edge_irq, NULL,
			    "edge");
#ifdef COMPAT_HAVE_IRQ_MOVE_PCNTXT
	/* Without this flag, the affinity is changed only from the handler. */
	irq_set_status_flags(virq, IRQ_MOVE_PCNTXT);
#endif
	msi->ops->map(msi, vector, virq);
	return 0;
}

static inline void compat_msi_unmap(struct compat_msi *msi, struct irq_data *data)
{
	if (data && data->hwirq < msi->ops->size)
		msi->ops->unmap(msi, data->hwirq);
}

#ifdef COMPAT_HAVE_MSI_PARENT_DOMAIN
#include <linux/irqchip/irq-msi-lib.h>

static int compat_msi_alloc(struct irq_domain *domain, unsigned int virq, unsigned int count,
			    void *arg)
{
	unsigned int i, vector = compat_msi_vector(((msi_alloc_info_t *)arg)->desc);
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = compat_msi_map(domain->host_data, domain, virq + i, vector + i);
	return ret;
}

static void compat_msi_free(struct irq_domain *domain, unsigned int virq, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		compat_msi_unmap(domain->host_data, irq_domain_get_irq_data(domain, virq + i));
}

static const struct irq_domain_ops compat_msi_domain_ops = {
	.alloc	= compat_msi_alloc,
	.free	= compat_msi_free,
};

static const struct msi_parent_ops compat_msi_parent_ops = {
	.supported_flags	= MSI_GENERIC_FLAGS_MASK | MSI_FLAG_PCI_MSIX,
	.required_flags		= MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS,
	.chip_flags		= MSI_CHIP_FLAG_SET_ACK,
	.bus_select_token	= COMPAT_MSI_TOKEN,
	.init_dev_msi_info	= msi_lib_init_dev_msi_info,
};

static inline struct irq_domain *compat_msi_domain(struct compat_msi *msi,
						   struct fwnode_handle *fwnode)
{
	struct irq_domain_info info = {
		.fwnode		= fwnode,
		.ops		= &compat_msi_domain_ops,
		.size		= msi->ops->size,
		.hwirq_max	= msi->ops->size,
		.host_data	= msi,
	};

	return msi_create_parent_irq_domain(&info, &compat_msi_parent_ops);
}
#else
static irq_hw_number_t compat_msi_hwirq(struct msi_domain_info *info, msi_alloc_info_t *arg)
{
	return compat_msi_vector(arg->desc);
}

static int compat_msi_setup(struct irq_domain *domain, struct msi_domain_info *info,
			    unsigned int virq, irq_hw_number_t hwirq, msi_alloc_info_t *arg)
{
	return compat_msi_map(container_of(info, struct compat_msi, info), domain, virq, hwirq);
}

static void compat_msi_teardown(struct irq_domain *domain, struct msi_domain_info *info,
				unsigned int virq)
{
	compat_msi_unmap(container_of(info, struct compat_msi, info), irq_get_irq_data(virq));
}

static int compat_msi_prepare(struct irq_domain *domain, struct device *dev, int nvec,
			      msi_alloc_info_t *arg)
{
	memset(arg, 0, sizeof(*arg));
	return 0;
}

static void compat_msi_set_desc(msi_alloc_info_t *arg, struct msi_desc *desc)
{
	arg->desc = desc;
}

static struct msi_domain_ops compat_msi_domain_ops = {
	.get_hwirq	= compat_msi_hwirq,
	.msi_init	= compat_msi_setup,
	.msi_free	= compat_msi_teardown,
	.msi_prepare	= compat_msi_prepare,
	.set_desc	= compat_msi_set_desc,
};

static inline struct irq_domain *compat_msi_domain(struct compat_msi *msi,
						   struct fwnode_handle *fwnode)
{
	msi->info = (struct msi_domain_info) {
		.flags	= MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS | MSI_FLAG_PCI_MSIX,
		.ops	= &compat_msi_domain_ops,
		.chip	= msi->ops->chip,
	};
	return pci_msi_create_irq_domain(fwnode, &msi->info, NULL);
}
#endif

/**
 * compat_msi_create() - create the domain
 * @msi: the caller's state of the domain
 * @ops: parameters of the domain
 * @fwnode: its name
 *
 * Context: may sleep. Ends with irq_domain_remove() of @msi->domain.
 * Return: 0 or -ENOMEM.
 */
static inline int compat_msi_create(struct compat_msi *msi, const struct compat_msi_ops *ops,
				    struct fwnode_handle *fwnode)
{
	msi->ops = ops;
	msi->domain = compat_msi_domain(msi, fwnode);
	if (!msi->domain)
		return -ENOMEM;
	irq_domain_update_bus_token(msi->domain, COMPAT_MSI_TOKEN);
	return 0;
}

#endif /* COMPAT_MSI_H */
