// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI: each adapter is the only function of a host bridge with a domain of its
 * own, so adapters come and go independently.
 */
#include <linux/pci.h>

#include "../erdma/ev.h"

#define CAP_MSIX		0x40
#define CAP_EXP			0x50

#define CLASS_CODE		0x020700	/* InfiniBand network controller */
#define REVISION		0x01

static void set8(struct ev_adapter *ad, int where, u8 value, u8 wmask)
{
	ad->config[where] = value;
	ad->config_wmask[where] = wmask;
}

static void set16(struct ev_adapter *ad, int where, u16 value, u16 wmask)
{
	set8(ad, where, value, wmask);
	set8(ad, where + 1, value >> 8, wmask >> 8);
}

static void set32(struct ev_adapter *ad, int where, u32 value, u32 wmask)
{
	set16(ad, where, value, wmask);
	set16(ad, where + 2, value >> 16, wmask >> 16);
}

static void set_bar(struct ev_adapter *ad, int bar, phys_addr_t addr, u64 size)
{
	int where = PCI_BASE_ADDRESS_0 + 4 * bar;

	set32(ad, where, lower_32_bits(addr) | PCI_BASE_ADDRESS_MEM_TYPE_64,
	      ~(size - 1));
	set32(ad, where + 4, upper_32_bits(addr), ~0);
}

/* The BARs hold their addresses from the start, as if firmware had set them. */
static void config_init(struct ev_adapter *ad)
{
	phys_addr_t window = page_to_phys(ad->window);

	memset(ad->config, 0, sizeof(ad->config));
	memset(ad->config_wmask, 0, sizeof(ad->config_wmask));

	set16(ad, PCI_VENDOR_ID, ERDMA_PCI_VENDOR, 0);
	set16(ad, PCI_DEVICE_ID, ERDMA_PCI_DEVICE, 0);
	set16(ad, PCI_COMMAND, PCI_COMMAND_MEMORY,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
	      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	set16(ad, PCI_STATUS, PCI_STATUS_CAP_LIST, 0);
	set8(ad, PCI_REVISION_ID, REVISION, 0);
	set8(ad, PCI_CLASS_PROG, CLASS_CODE & 0xff, 0);
	set16(ad, PCI_CLASS_DEVICE, CLASS_CODE >> 8, 0);
	set8(ad, PCI_CACHE_LINE_SIZE, 0, 0xff);
	set_bar(ad, ERDMA_FUNC_BAR, window + EV_BAR0_OFFSET, ERDMA_BAR0_SIZE);
	set_bar(ad, ERDMA_MSIX_BAR, window + EV_BAR2_OFFSET, EV_BAR2_SIZE);
	set16(ad, PCI_SUBSYSTEM_VENDOR_ID, ERDMA_PCI_VENDOR, 0);
	set16(ad, PCI_SUBSYSTEM_ID, ERDMA_PCI_DEVICE, 0);
	set8(ad, PCI_CAPABILITY_LIST, CAP_MSIX, 0);
	set8(ad, PCI_INTERRUPT_LINE, 0, 0xff);

	set8(ad, CAP_MSIX, PCI_CAP_ID_MSIX, 0);
	set8(ad, CAP_MSIX + PCI_CAP_LIST_NEXT, CAP_EXP, 0);
	set16(ad, CAP_MSIX + PCI_MSIX_FLAGS, ad->params.vectors - 1,
	      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	set32(ad, CAP_MSIX + PCI_MSIX_TABLE,
	      EV_MSIX_TABLE | ERDMA_MSIX_BAR, 0);
	set32(ad, CAP_MSIX + PCI_MSIX_PBA, EV_MSIX_PBA | ERDMA_MSIX_BAR, 0);

	set8(ad, CAP_EXP, PCI_CAP_ID_EXP, 0);
	set16(ad, CAP_EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_RC_END << 4, 0);
	set32(ad, CAP_EXP + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER |
	      (ad->params.flr ? PCI_EXP_DEVCAP_FLR : 0), 0);
	set16(ad, CAP_EXP + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_READRQ_512B,
	      PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE |
	      PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE |
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD |
	      PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ);
	WRITE_ONCE(ad->config_dead, false);
	ad->config_events = 0;
}

static u16 config_word(const struct ev_adapter *ad, int where)
{
	return READ_ONCE(ad->config[where]) |
	       READ_ONCE(ad->config[where + 1]) << 8;
}

/**
 * ev_bus_msix_control() - MSI-X message control word
 * @ad: adapter
 */
u16 ev_bus_msix_control(const struct ev_adapter *ad)
{
	return config_word(ad, CAP_MSIX + PCI_MSIX_FLAGS);
}

/**
 * ev_bus_is_master() - may the function access memory?
 * @ad: adapter
 */
bool ev_bus_is_master(const struct ev_adapter *ad)
{
	return config_word(ad, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

static void function_reset(struct ev_adapter *ad)
{
	int msix = CAP_MSIX + PCI_MSIX_FLAGS + 1;

	WRITE_ONCE(ad->config[PCI_COMMAND], 0);
	WRITE_ONCE(ad->config[PCI_COMMAND + 1], 0);
	WRITE_ONCE(ad->config[msix], ad->config[msix] &
		   ~((PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) >> 8));
	set_bit(EV_CONFIG_FLR, &ad->config_events);
}

/* Reads and writes of config space run under the PCI core's raw spinlock. */
static int config_read(struct pci_bus *bus, unsigned int devfn, int where,
		       int size, u32 *val)
{
	struct ev_adapter *ad = container_of(to_pci_sysdata(bus),
					     struct ev_adapter, sysdata);
	int i;

	if (devfn || READ_ONCE(ad->config_dead) ||
	    where + size > PCI_CFG_SPACE_EXP_SIZE) {
		*val = ~0u;
		return PCIBIOS_DEVICE_NOT_FOUND;
	}
	*val = ~0u;
	/* Not ready yet, the PCI core asks again. */
	if (test_bit(EV_CONFIG_FLR, &ad->config_events))
		return PCIBIOS_SUCCESSFUL;
	*val = 0;
	for (i = 0; i < size; i++)
		*val |= (u32)READ_ONCE(ad->config[where + i]) << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where,
			int size, u32 val)
{
	struct ev_adapter *ad = container_of(to_pci_sysdata(bus),
					     struct ev_adapter, sysdata);
	int flr = CAP_EXP + PCI_EXP_DEVCTL + 1;
	bool master = ev_bus_is_master(ad);
	int i;

	if (devfn || READ_ONCE(ad->config_dead) ||
	    where + size > PCI_CFG_SPACE_EXP_SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (i = where; i < where + size; i++, val >>= 8) {
		u8 mask = ad->config_wmask[i];

		WRITE_ONCE(ad->config[i],
			   (ad->config[i] & ~mask) | (val & mask));
		if (i == flr && val & (PCI_EXP_DEVCTL_BCR_FLR >> 8) &&
		    ad->params.flr)
			function_reset(ad);
	}
	if (master && !ev_bus_is_master(ad)) {
		ev_dma_wait(ad);
		if (READ_ONCE(ad->stale)) {
			/* The request that was not carried out came before. */
			ev_reg_write(ad, ERDMA_REG_DEV_CTRL, 0);
			set_bit(EV_CONFIG_LEFT, &ad->config_events);
		}
	}
	ev_worker_wake(ad);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = {
	.read	= config_read,
	.write	= config_write,
};

/*
 * The PCI core would give a function that it finds in a rescan new addresses,
 * but the memory is where it is.
 */
static int bus_notify(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (action != BUS_NOTIFY_ADD_DEVICE || pdev->bus->ops != &config_ops)
		return NOTIFY_DONE;
	if (pci_claim_resource(pdev, ERDMA_FUNC_BAR) ||
	    pci_claim_resource(pdev, ERDMA_MSIX_BAR))
		pci_err(pdev, "BARs not claimed\n");
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call	= bus_notify,
};

/**
 * ev_bus_init() - prepare for adapters
 *
 * Return: 0 or a negative error.
 */
int ev_bus_init(void)
{
	return bus_register_notifier(&pci_bus_type, &notifier);
}

/**
 * ev_bus_exit() - undo ev_bus_init()
 */
void ev_bus_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &notifier);
}

/**
 * ev_bus_add() - create the host bridge
 * @ad: adapter with window and interrupt domain
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ev_bus_add(struct ev_adapter *ad)
{
	phys_addr_t window = page_to_phys(ad->window);
	LIST_HEAD(resources);

	config_init(ad);
	memset(&ad->sysdata, 0, sizeof(ad->sysdata));
	ad->sysdata.domain = ad->domain;
	ad->sysdata.node = NUMA_NO_NODE;
	ad->busn = (struct resource) {
		.name = EV_NAME " bus",
		.flags = IORESOURCE_BUS | IORESOURCE_PCI_FIXED,
	};
	ad->mem = (struct resource) {
		.name = EV_NAME " window",
		.start = window,
		.end = window + EV_WINDOW_SIZE - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64,
	};
	pci_add_resource(&resources, &ad->busn);
	pci_add_resource(&resources, &ad->mem);

	pci_lock_rescan_remove();
	ad->bus = pci_create_root_bus(NULL, 0, &config_ops, &ad->sysdata,
				      &resources);
	if (ad->bus)
		dev_set_msi_domain(&ad->bus->dev, ad->msi.domain.domain);
	pci_unlock_rescan_remove();
	if (!ad->bus) {
		pci_free_resource_list(&resources);
		return -ENODEV;
	}
	return 0;
}

/**
 * ev_bus_scan() - let the PCI core find the function, and a driver bind to it
 * @ad: adapter with a bus and a running model: probing needs its answers
 *
 * Context: may sleep.
 */
void ev_bus_scan(struct ev_adapter *ad)
{
	pci_lock_rescan_remove();
	pci_scan_child_bus(ad->bus);
	pci_bus_add_devices(ad->bus);
	pci_unlock_rescan_remove();
}

/**
 * ev_bus_remove() - remove the function and the host bridge
 * @ad: adapter; its model serves on or is dead, as the driver shall find it
 *
 * Context: may sleep.
 */
void ev_bus_remove(struct ev_adapter *ad)
{
	struct pci_bus *bus = ad->bus;
	struct device *bridge = bus->bridge;

	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	/* The model looks for its function here. */
	mutex_lock(&ad->lock);
	ad->bus = NULL;
	mutex_unlock(&ad->lock);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	/* As pci_create_root_bus() left it: removal takes the bridge away, but not this. */
	put_device(bridge);
}
