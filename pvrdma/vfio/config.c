// SPDX-License-Identifier: GPL-2.0-or-later
#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "config.h"

#define PBA_SIZE 8
#define TABLE_ENTRY 16

/* Offsets of our capabilities. */
#define MSIX_AT 0x40
#define PCIE_AT 0x60
#define LINK_2_5_GT_X1 0x11

static void put16(unsigned char *space, uint32_t at, uint16_t value)
{
	value = htole16(value);
	memcpy(space + at, &value, sizeof(value));
}

static void put32(unsigned char *space, uint32_t at, uint32_t value)
{
	value = htole32(value);
	memcpy(space + at, &value, sizeof(value));
}

static bool bar_fits(const struct vfio_function *function, unsigned int number)
{
	const struct vfio_bar *bar = &function->bars[number];

	if (bar->kind == VFIO_BAR_NONE)
		return !bar->size;
	if (!bar->size || bar->size & (bar->size - 1))
		return false;
	switch (bar->kind) {
	case VFIO_BAR_IO:
		return bar->size >= 4 && bar->size <= 256 && !bar->prefetchable;
	case VFIO_BAR_MEM32:
		return bar->size >= 16 && bar->size <= UINT32_C(1) << 31;
	case VFIO_BAR_MEM64:
		return bar->size >= 16 && bar->size <= UINT64_C(1) << 40 &&
		       number + 1 < VFIO_BARS &&
		       function->bars[number + 1].kind == VFIO_BAR_NONE;
	default:
		return false;
	}
}

static bool within(const struct vfio_function *function, unsigned int bar,
		   uint32_t offset, uint32_t size)
{
	return bar < VFIO_BARS && !(offset & 7) &&
	       function->bars[bar].kind >= VFIO_BAR_MEM32 &&
	       (uint64_t)offset + size <= function->bars[bar].size;
}

static bool msix_fits(const struct vfio_function *function)
{
	uint32_t table = function->vectors * TABLE_ENTRY;

	if (!function->vectors)
		return true;
	if (function->vectors > VFIO_MAX_VECTORS ||
	    !within(function, function->table_bar, function->table_offset, table) ||
	    !within(function, function->pba_bar, function->pba_offset, PBA_SIZE))
		return false;
	return function->table_bar != function->pba_bar ||
	       function->table_offset + table <= function->pba_offset ||
	       function->pba_offset + PBA_SIZE <= function->table_offset;
}

static void describe_bar(struct config *config, unsigned int number,
			 const struct vfio_bar *bar)
{
	uint32_t at = PCI_BASE_ADDRESS_0 + 4 * number;
	uint64_t mask = ~(bar->size - 1);

	switch (bar->kind) {
	case VFIO_BAR_NONE:
		return;
	case VFIO_BAR_IO:
		put32(config->power_on, at, PCI_BASE_ADDRESS_SPACE_IO);
		break;
	case VFIO_BAR_MEM64:
		put32(config->writable, at + 4, mask >> 32);
		/* fall through */
	case VFIO_BAR_MEM32:
		put32(config->power_on, at,
		      (bar->kind == VFIO_BAR_MEM64 ? PCI_BASE_ADDRESS_MEM_TYPE_64 : 0) |
			      (bar->prefetchable ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0));
		break;
	}
	put32(config->writable, at, mask);
}

/*
 * Adds a capability to the list. @link: offset of the "next" pointer that will refer to
 * it. Returns the offset of the "next" pointer in it.
 */
static uint32_t link_capability(struct config *config, uint32_t link, uint32_t at,
				uint8_t id)
{
	config->power_on[link] = at;
	config->power_on[at] = id;
	put16(config->power_on, PCI_STATUS, PCI_STATUS_CAP_LIST);
	return at + PCI_CAP_LIST_NEXT;
}

static void describe_capabilities(struct config *config,
				  const struct vfio_function *function)
{
	uint32_t link = PCI_CAPABILITY_LIST;

	if (function->vectors) {
		link = link_capability(config, link, MSIX_AT, PCI_CAP_ID_MSIX);
		put16(config->power_on, MSIX_AT + PCI_MSIX_FLAGS, function->vectors - 1);
		put16(config->writable, MSIX_AT + PCI_MSIX_FLAGS,
		      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
		put32(config->power_on, MSIX_AT + PCI_MSIX_TABLE,
		      function->table_offset | function->table_bar);
		put32(config->power_on, MSIX_AT + PCI_MSIX_PBA,
		      function->pba_offset | function->pba_bar);
	}
	if (function->pcie) {
		link_capability(config, link, PCIE_AT, PCI_CAP_ID_EXP);
		put16(config->power_on, PCIE_AT + PCI_EXP_FLAGS, PCI_EXP_TYPE_ENDPOINT << 4 | 2);
		put32(config->power_on, PCIE_AT + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER);
		put16(config->writable, PCIE_AT + PCI_EXP_DEVCTL,
		      PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE |
			      PCI_EXP_DEVCTL_URRE | PCI_EXP_DEVCTL_RELAX_EN |
			      PCI_EXP_DEVCTL_PAYLOAD | PCI_EXP_DEVCTL_READRQ);
		put32(config->power_on, PCIE_AT + PCI_EXP_LNKCAP, LINK_2_5_GT_X1);
		put16(config->power_on, PCIE_AT + PCI_EXP_LNKSTA, LINK_2_5_GT_X1);
	}
}

int config_init(struct config *config, const struct vfio_function *function)
{
	unsigned int i;

	for (i = 0; i < VFIO_BARS; i++) {
		if (!bar_fits(function, i))
			return -EINVAL;
	}
	if (!msix_fits(function))
		return -EINVAL;
	memset(config, 0, sizeof(*config));
	config->size = function->pcie ? CONFIG_MAX : 256;
	put16(config->power_on, PCI_VENDOR_ID, function->vendor);
	put16(config->power_on, PCI_DEVICE_ID, function->device);
	put16(config->power_on, PCI_SUBSYSTEM_VENDOR_ID, function->subsystem_vendor);
	put16(config->power_on, PCI_SUBSYSTEM_ID, function->subsystem);
	put32(config->power_on, PCI_CLASS_REVISION,
	      function->class_code << 8 | function->revision);
	put16(config->writable, PCI_COMMAND,
	      PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
		      PCI_COMMAND_PARITY | PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	config->writable[PCI_CACHE_LINE_SIZE] = 0xff;
	config->writable[PCI_INTERRUPT_LINE] = 0xff;
	for (i = 0; i < VFIO_BARS; i++)
		describe_bar(config, i, &function->bars[i]);
	describe_capabilities(config, function);
	config_reset(config);
	return 0;
}

void config_reset(struct config *config)
{
	memcpy(config->bytes, config->power_on, sizeof(config->bytes));
}

void config_read(const struct config *config, uint32_t offset, void *data,
		 uint32_t size)
{
	memcpy(data, config->bytes + offset, size);
}

void config_write(struct config *config, uint32_t offset, const void *data,
		  uint32_t size)
{
	const unsigned char *from = data;
	uint32_t i;

	for (i = 0; i < size; i++) {
		unsigned char mask = config->writable[offset + i];
		unsigned char *byte = &config->bytes[offset + i];

		*byte = (*byte & ~mask) | (from[i] & mask);
	}
}

uint16_t config_command(const struct config *config)
{
	return config->bytes[PCI_COMMAND] | config->bytes[PCI_COMMAND + 1] << 8;
}
