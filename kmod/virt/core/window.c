// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window of an adapter: the memory behind its BARs, which carve.c or
 * aside.c provides.
 */
#include <linux/mm.h>
#include <linux/sizes.h>

#include "vdev.h"

/* Each BAR is aligned to its size because the larger BARs come first. */
static void arrange(struct vdev *vdev)
{
	const struct vdev_bar *bar = vdev->family->function->bar;
	u32 size, end = 0;
	int i;

	for (size = SZ_1G; size >= SZ_4K; size /= 2) {
		for (i = 0; i < PCI_STD_NUM_BARS; i++) {
			if (bar[i].size != size)
				continue;
			vdev->bar_offset[i] = end;
			end += size;
		}
	}
	vdev->window_order = get_order(end);
}

/**
 * vdev_window_phys() - return the physical address of a BAR
 * @vdev: adapter with window
 * @bar: number of the BAR
 */
phys_addr_t vdev_window_phys(const struct vdev *vdev, u8 bar)
{
	return vdev->window + vdev->bar_offset[bar];
}

/* Returns the size of a BAR without the MSI-X table, which the PCI core handles. */
static u32 plain_size(const struct vdev_function *fn, int bar)
{
	return bar == fn->msix_bar ? fn->msix_table : fn->bar[bar].size;
}

/**
 * vdev_window_idle() - set the BARs to their values at power-on
 * @vdev: adapter with window
 *
 * Context: the model's turn.
 */
void vdev_window_idle(struct vdev *vdev)
{
	const struct vdev_function *fn = vdev->family->function;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++)
		if (fn->bar[i].size)
			memset(vdev->bar[i], fn->bar[i].idle, plain_size(fn, i));
}

/**
 * vdev_window_ones() - make the BARs read like those of a removed function
 * @vdev: adapter with window
 * @all: include the part that drivers do not read
 *
 * Context: the model's turn.
 */
void vdev_window_ones(struct vdev *vdev, bool all)
{
	const struct vdev_function *fn = vdev->family->function;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++)
		if (fn->bar[i].size)
			memset(vdev->bar[i], 0xff, all ? plain_size(fn, i) : fn->bar[i].regs);
}

/**
 * vdev_window_alloc() - get the memory behind the BARs
 * @vdev: adapter; on return its @bar points to zeroed memory
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int vdev_window_alloc(struct vdev *vdev)
{
	const struct vdev_bar *bar = vdev->family->function->bar;
	int i, ret;

	arrange(vdev);
	ret = vdev_memory_get(vdev);
	if (ret)
		return ret;
	for (i = 0; i < PCI_STD_NUM_BARS; i++)
		if (bar[i].size)
			vdev->bar[i] = vdev->window_virt + vdev->bar_offset[i];
	return 0;
}

/**
 * vdev_window_free() - return the memory behind the BARs
 * @vdev: adapter, removed from its bus, so that the BARs are no longer mapped
 *
 * Context: may sleep.
 */
void vdev_window_free(struct vdev *vdev)
{
	vdev_memory_put(vdev);
	memset(vdev->bar, 0, sizeof(vdev->bar));
}
