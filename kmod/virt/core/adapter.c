// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plugging and unplugging of adapters.
 */
#include <linux/idr.h>

#include "vdev.h"

static DEFINE_IDA(domains);

static int domain_alloc(void)
{
	int first = VDEV_DOMAIN_FIRST;
	int domain;

	for (;;) {
		domain = ida_alloc_range(&domains, first, VDEV_DOMAIN_LAST,
					 GFP_KERNEL);
		if (domain < 0 || !pci_find_bus(domain, 0))
			return domain;
		ida_free(&domains, domain);
		first = domain + 1;
	}
}

/**
 * vdev_plug() - add the adapter to a bus, where a driver may bind to it
 * @vdev: unplugged adapter
 *
 * Context: may sleep as long as a driver's probe; @vdev->plug_lock held.
 * Return: 0 or a negative error.
 */
int vdev_plug(struct vdev *vdev)
{
	int ret;

	lockdep_assert_held(&vdev->plug_lock);
	vdev->domain = domain_alloc();
	if (vdev->domain < 0)
		return vdev->domain;
	ret = vdev_window_alloc(vdev);
	if (ret)
		goto free_domain;
	ret = vdev_msi_init(vdev);
	if (ret)
		goto free_window;
	ret = vdev_bus_add(vdev);
	if (ret)
		goto exit_msi;
	vdev_power_on(vdev);
	ret = vdev_worker_start(vdev);
	if (ret)
		goto remove_bus;
	vdev_bus_scan(vdev);
	vdev->live = true;
	return 0;

remove_bus:
	vdev_bus_remove(vdev);
	vdev_power_off(vdev);
exit_msi:
	vdev_msi_exit(vdev);
free_window:
	vdev_window_free(vdev);
free_domain:
	ida_free(&domains, vdev->domain);
	return ret;
}

/**
 * vdev_unplug() - remove the adapter from its bus
 * @vdev: plugged adapter
 * @surprise: kill the device first; otherwise the driver can still communicate with it
 *
 * Context: may sleep as long as a driver's removal; @vdev->plug_lock held.
 */
void vdev_unplug(struct vdev *vdev, bool surprise)
{
	lockdep_assert_held(&vdev->plug_lock);
	if (surprise)
		vdev_kill(vdev);
	vdev_bus_remove(vdev);
	vdev_worker_stop(vdev);
	vdev_power_off(vdev);
	vdev_msi_exit(vdev);
	vdev_window_free(vdev);
	ida_free(&domains, vdev->domain);
	vdev->live = false;
}
