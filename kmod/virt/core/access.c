// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks whether config space, registers and knobs currently allow the device to work, independent
 * of the parts of the model.
 */
#include "vdev.h"

/**
 * vdev_config_word() - read two bytes of config space
 * @vdev: adapter
 * @where: offset
 *
 * Context: any.
 */
u16 vdev_config_word(const struct vdev *vdev, int where)
{
	return READ_ONCE(vdev->config[where]) |
	       READ_ONCE(vdev->config[where + 1]) << 8;
}

/**
 * vdev_is_master() - check whether the function may access memory and send interrupts
 * @vdev: adapter
 *
 * Context: any.
 */
bool vdev_is_master(const struct vdev *vdev)
{
	return vdev_config_word(vdev, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

/**
 * vdev_may_access() - check whether driver memory may be accessed
 * @vdev: adapter
 *
 * The driver may reset the device and free its memory at any time without waiting for a response;
 * it writes the request to a register first. As long as the request is present (a fault may remove
 * it), no access is allowed.
 *
 * Context: any; the result is only guaranteed to stay valid within vdev_dma_begin().
 */
bool vdev_may_access(const struct vdev *vdev)
{
	return !vdev->family->is_reset_asked(vdev) && vdev_is_master(vdev);
}

/**
 * vdev_is_stalled() - check whether a fault temporarily keeps the device from working
 * @vdev: adapter
 *
 * Context: any.
 */
bool vdev_is_stalled(const struct vdev *vdev)
{
	ktime_t until = READ_ONCE(vdev->stall_until);

	return until && ktime_before(ktime_get(), until);
}

/**
 * vdev_is_served() - check whether the device is able to move data
 * @vdev: adapter
 *
 * Context: any.
 */
bool vdev_is_served(const struct vdev *vdev)
{
	return vdev_may_access(vdev) && !READ_ONCE(vdev->hung) &&
	       !vdev_is_stalled(vdev);
}
