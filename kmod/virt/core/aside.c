// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory behind an adapter's BARs, for kernels that cannot map RAM for devices (arm64): a range
 * that is excluded from the kernel's memory by "mem=" or a reserved no-map node in the device tree,
 * and passed as a module parameter. It is divided into slots.
 *
 * Models map this memory as normal memory, which allows any alignment, and drivers map it as device
 * memory: both mappings are uncached.
 */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "vdev.h"

/* Space for all BARs of an adapter. */
#define SLOT_SIZE	SZ_4M
#define MAX_SLOTS	(VDEV_DOMAIN_LAST - VDEV_DOMAIN_FIRST + 1)

static unsigned long window;
module_param(window, ulong, 0444);
MODULE_PARM_DESC(window, "physical address of memory reserved from the kernel, a multiple of 4 MiB");

static unsigned int windows;
module_param(windows, uint, 0444);
MODULE_PARM_DESC(windows, "number of adapters that fit into the window, 4 MiB each (default: 0, hot-plug disabled)");

/* Protects the map of slots. */
static DEFINE_MUTEX(slot_lock);
static DECLARE_BITMAP(slots, MAX_SLOTS);

/**
 * vdev_memory_get() - get the memory for a window
 * @vdev: adapter with arranged BARs; on return @window and @window_virt refer to zeroed memory
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int vdev_memory_get(struct vdev *vdev)
{
	unsigned int n = min_t(unsigned int, windows, MAX_SLOTS);
	unsigned int slot;

	if (!window || !n || window % SLOT_SIZE) {
		pr_err(VDEV_MODULE ": no memory for adapters: invalid parameter window or windows\n");
		return -ENXIO;
	}
	if (region_intersects(window, (size_t)n * SLOT_SIZE, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		pr_err(VDEV_MODULE ": the kernel uses memory at %#lx\n", window);
		return -EBUSY;
	}
	mutex_lock(&slot_lock);
	slot = find_first_zero_bit(slots, n);
	if (slot < n)
		set_bit(slot, slots);
	mutex_unlock(&slot_lock);
	if (slot >= n)
		return -ENOSPC;
	vdev->window = window + (phys_addr_t)slot * SLOT_SIZE;
	vdev->window_virt = memremap(vdev->window, SLOT_SIZE, MEMREMAP_WC);
	if (!vdev->window_virt) {
		mutex_lock(&slot_lock);
		clear_bit(slot, slots);
		mutex_unlock(&slot_lock);
		return -ENXIO;
	}
	memset(vdev->window_virt, 0, SLOT_SIZE);
	return 0;
}

/**
 * vdev_memory_put() - return the memory of a window
 * @vdev: adapter whose memory is no longer mapped elsewhere
 *
 * Context: may sleep.
 */
void vdev_memory_put(struct vdev *vdev)
{
	memunmap(vdev->window_virt);
	mutex_lock(&slot_lock);
	clear_bit((vdev->window - window) / SLOT_SIZE, slots);
	mutex_unlock(&slot_lock);
}
