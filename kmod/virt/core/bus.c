// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI: each adapter is the only function behind a host bridge in a separate domain, so that
 * adapters can be added and removed independently.
 */
#include <linux/pci.h>

#include "vdev.h"

#define CAP_EXP			0x50

static void set8(struct vdev *vdev, int where, u8 value, u8 wmask)
{
	vdev->config[where] = value;
	vdev->config_wmask[where] = wmask;
}

static void set16(struct vdev *vdev, int where, u16 value, u16 wmask)
{
	set8(vdev, where, value, wmask);
	set8(vdev, where + 1, value >> 8, wmask >> 8);
}

static void set32(struct vdev *vdev, int where, u32 value, u32 wmask)
{
	set16(vdev, where, value, wmask);
	set16(vdev, where + 2, value >> 16, wmask >> 16);
}

/* The BARs contain their addresses from the start, as if firmware had set them. */
static void set_bars(struct vdev *vdev)
{
	const struct vdev_bar *bar = vdev->family->function->bar;
	phys_addr_t addr;
	u32 flags;
	int i, where;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (!bar[i].size)
			continue;
		addr = vdev_window_phys(vdev, i);
		where = PCI_BASE_ADDRESS_0 + 4 * i;
		flags = PCI_BASE_ADDRESS_MEM_TYPE_64;
		if (bar[i].kind == VDEV_BAR_MEMORY)
			flags |= PCI_BASE_ADDRESS_MEM_PREFETCH;
		set32(vdev, where, lower_32_bits(addr) | flags, ~(bar[i].size - 1));
		set32(vdev, where + 4, upper_32_bits(addr), ~0);
	}
}

static void set_capabilities(struct vdev *vdev)
{
	const struct vdev_function *fn = vdev->family->function;

	set8(vdev, PCI_CAPABILITY_LIST, VDEV_CAP_MSIX, 0);
	set8(vdev, VDEV_CAP_MSIX, PCI_CAP_ID_MSIX, 0);
	set8(vdev, VDEV_CAP_MSIX + PCI_CAP_LIST_NEXT, CAP_EXP, 0);
	set16(vdev, VDEV_CAP_MSIX + PCI_MSIX_FLAGS, vdev->vectors - 1,
	      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	set32(vdev, VDEV_CAP_MSIX + PCI_MSIX_TABLE, fn->msix_table | fn->msix_bar, 0);
	set32(vdev, VDEV_CAP_MSIX + PCI_MSIX_PBA, fn->msix_pba | fn->msix_bar, 0);

	set8(vdev, CAP_EXP, PCI_CAP_ID_EXP, 0);
	set16(vdev, CAP_EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_RC_END << 4, 0);
	set32(vdev, CAP_EXP + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER |
	      (vdev->flr ? PCI_EXP_DEVCAP_FLR : 0), 0);
	set16(vdev, CAP_EXP + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_READRQ_512B,
	      PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE |
	      PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE |
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD |
	      PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ);
}

static void config_init(struct vdev *vdev)
{
	const struct vdev_function *fn = vdev->family->function;

	memset(vdev->config, 0, sizeof(vdev->config));
	memset(vdev->config_wmask, 0, sizeof(vdev->config_wmask));

	set16(vdev, PCI_VENDOR_ID, fn->vendor, 0);
	set16(vdev, PCI_DEVICE_ID, vdev->device, 0);
	set16(vdev, PCI_COMMAND, PCI_COMMAND_MEMORY,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
	      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	set16(vdev, PCI_STATUS, PCI_STATUS_CAP_LIST, 0);
	set8(vdev, PCI_REVISION_ID, fn->revision, 0);
	set8(vdev, PCI_CLASS_PROG, fn->class & 0xff, 0);
	set16(vdev, PCI_CLASS_DEVICE, fn->class >> 8, 0);
	set8(vdev, PCI_CACHE_LINE_SIZE, 0, 0xff);
	set_bars(vdev);
	set16(vdev, PCI_SUBSYSTEM_VENDOR_ID, fn->subsystem_vendor ?: fn->vendor, 0);
	set16(vdev, PCI_SUBSYSTEM_ID, fn->subsystem_device ?: vdev->device, 0);
	set8(vdev, PCI_INTERRUPT_LINE, 0, 0xff);
	set_capabilities(vdev);
	WRITE_ONCE(vdev->config_dead, false);
	vdev->in_reset = false;
}

static void function_reset(struct vdev *vdev)
{
	int msix = VDEV_CAP_MSIX + PCI_MSIX_FLAGS + 1;

	WRITE_ONCE(vdev->config[PCI_COMMAND], 0);
	WRITE_ONCE(vdev->config[PCI_COMMAND + 1], 0);
	WRITE_ONCE(vdev->config[msix], vdev->config[msix] &
		   ~((PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) >> 8));
	WRITE_ONCE(vdev->in_reset, true);
}

/* Reads and writes of config space run under the PCI core's raw spinlock. */
static int config_read(struct pci_bus *bus, unsigned int devfn, int where,
		       int size, u32 *val)
{
	struct vdev *vdev = container_of(bus->sysdata, struct vdev, sysdata);
	int i;

	if (devfn || READ_ONCE(vdev->config_dead) ||
	    where + size > PCI_CFG_SPACE_EXP_SIZE) {
		*val = ~0u;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	*val = ~0u;
	/* Not ready yet: the PCI core retries. */
	/* Pairs with the release at the end of the pass that does the reset. */
	if (smp_load_acquire(&vdev->in_reset))
		return PCIBIOS_SUCCESSFUL;
	*val = 0;
	for (i = 0; i < size; i++)
		*val |= (u32)READ_ONCE(vdev->config[where + i]) << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where,
			int size, u32 val)
{
	struct vdev *vdev = container_of(bus->sysdata, struct vdev, sysdata);
	int flr = CAP_EXP + PCI_EXP_DEVCTL + 1;
	bool master = vdev_is_master(vdev);
	int i;

	if (devfn || READ_ONCE(vdev->config_dead) ||
	    where + size > PCI_CFG_SPACE_EXP_SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (i = where; i < where + size; i++, val >>= 8) {
		u8 mask = vdev->config_wmask[i];

		WRITE_ONCE(vdev->config[i],
			   (vdev->config[i] & ~mask) | (val & mask));
		if (i == flr && val & (PCI_EXP_DEVCTL_BCR_FLR >> 8) &&
		    vdev->flr)
			function_reset(vdev);
	}
	if (master && !vdev_is_master(vdev)) {
		vdev_dma_wait(vdev);
		if (vdev->family->master_off)
			vdev->family->master_off(vdev);
	}
	vdev_worker_wake(vdev);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = {
	.read	= config_read,
	.write	= config_write,
};

/*
 * On a rescan, the PCI core would assign new addresses to the function, but its
 * memory cannot move.
 */
static int bus_notify(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	struct vdev *vdev;
	int i;

	if (action != BUS_NOTIFY_ADD_DEVICE || pdev->bus->ops != &config_ops)
		return NOTIFY_DONE;
	vdev = container_of(pdev->bus->sysdata, struct vdev, sysdata);
	for (i = 0; i < PCI_STD_NUM_BARS; i++)
		if (vdev->family->function->bar[i].size && pci_claim_resource(pdev, i))
			pci_err(pdev, "BAR %d not claimed\n", i);
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call	= bus_notify,
};

/**
 * vdev_bus_init() - register the bus notifier
 *
 * Return: 0 or a negative error.
 */
int vdev_bus_init(void)
{
	return bus_register_notifier(&pci_bus_type, &notifier);
}

/**
 * vdev_bus_exit() - undo vdev_bus_init()
 */
void vdev_bus_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &notifier);
}

/**
 * vdev_bus_add() - create the host bridge
 * @vdev: adapter with window and interrupt domain
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int vdev_bus_add(struct vdev *vdev)
{
	LIST_HEAD(resources);

	config_init(vdev);
	compat_sysdata_init(&vdev->sysdata, vdev->domain);
	vdev->busn = (struct resource) {
		.name = VDEV_MODULE " bus",
		.flags = IORESOURCE_BUS | IORESOURCE_PCI_FIXED,
	};
	vdev->mem = (struct resource) {
		.name = VDEV_MODULE " window",
		.start = vdev->window,
		.end = vdev->window + (PAGE_SIZE << vdev->window_order) - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64,
	};
	pci_add_resource(&resources, &vdev->busn);
	pci_add_resource(&resources, &vdev->mem);

	pci_lock_rescan_remove();
	vdev->bus = compat_root_bus_create(vdev->domain, &config_ops, &vdev->sysdata, &resources,
					   vdev->msi.domain.domain);
	pci_unlock_rescan_remove();
	if (!vdev->bus) {
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	return 0;
}

/**
 * vdev_bus_scan() - let the PCI core find the function and bind a driver
 * @vdev: adapter with a bus and a running model, which has to respond during probing
 *
 * Context: may sleep.
 */
void vdev_bus_scan(struct vdev *vdev)
{
	pci_lock_rescan_remove();
	pci_scan_child_bus(vdev->bus);
	pci_bus_add_devices(vdev->bus);
	pci_unlock_rescan_remove();
}

/**
 * vdev_bus_remove() - remove the function and the host bridge
 * @vdev: adapter; its model keeps running or is dead, depending on the state that the driver should
 *	find
 *
 * Context: may sleep.
 */
void vdev_bus_remove(struct vdev *vdev)
{
	struct pci_bus *bus = vdev->bus;
	struct device *bridge = bus->bridge;

	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	/* The model uses @bus to find its function. */
	mutex_lock(&vdev->lock);
	vdev->bus = NULL;
	mutex_unlock(&vdev->lock);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	/*
	 * Drops the reference taken by pci_create_root_bus(): removing the bus removes the bridge,
	 * but does not drop this reference.
	 */
	put_device(bridge);
}
