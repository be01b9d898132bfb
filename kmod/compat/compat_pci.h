/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI host bridges without a parent device: architecture data of a bus, and selection of its
 * domain.
 */
#ifndef COMPAT_PCI_H
#define COMPAT_PCI_H

#include <linux/pci.h>
#include <linux/pci-ecam.h>

/*
 * struct compat_sysdata - what @sysdata of a bus must point to
 *
 * Generic code reads it on machines with ACPI; if there is no parent, it does not look for an ACPI
 * entry of the bridge.
 */
#ifdef CONFIG_X86
#define compat_sysdata pci_sysdata

static inline void compat_sysdata_init(struct compat_sysdata *data, int domain)
{
	*data = (struct compat_sysdata) { .domain = domain, .node = NUMA_NO_NODE };
}
#else
#define compat_sysdata pci_config_window

static inline void compat_sysdata_init(struct compat_sysdata *data, int domain)
{
	*data = (struct compat_sysdata) { };
}
#endif

/**
 * compat_root_bus_create() - create a host bridge without a device, and its root bus
 * @domain: domain number
 * @ops: config space
 * @sysdata: initialised sysdata
 * @resources: resources of the bus, owned by it on success
 * @msi: interrupt domain of its functions
 *
 * On return, functions may have been found, but no driver is bound to them.
 *
 * Context: may sleep, pci_lock_rescan_remove() held.
 * Return: the bus or NULL.
 */
static inline struct pci_bus *compat_root_bus_create(int domain, struct pci_ops *ops,
						     struct compat_sysdata *sysdata,
						     struct list_head *resources,
						     struct irq_domain *msi)
{
#ifdef CONFIG_PCI_DOMAINS_GENERIC
	struct pci_host_bridge *bridge = pci_alloc_host_bridge(0);

	if (!bridge)
		return NULL;
	bridge->ops = ops;
	bridge->sysdata = sysdata;
	bridge->domain_nr = domain;
	dev_set_msi_domain(&bridge->dev, msi);
	list_splice_init(resources, &bridge->windows);
	if (pci_scan_root_bus_bridge(bridge)) {
		list_splice_init(&bridge->windows, resources);
		pci_free_host_bridge(bridge);
		return NULL;
	}
	return bridge->bus;
#else
	struct pci_bus *bus = pci_create_root_bus(NULL, 0, ops, sysdata, resources);

	if (bus)
		dev_set_msi_domain(&bus->dev, msi);
	return bus;
#endif
}

#endif /* COMPAT_PCI_H */
