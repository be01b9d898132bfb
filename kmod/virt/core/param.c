// SPDX-License-Identifier: GPL-2.0-only
/* Helpers for the parameter files of adapters, both common and family-specific. */
#include "vdev.h"

/**
 * vdev_of() - return the adapter of a configfs folder
 * @item: the folder
 */
struct vdev *vdev_of(struct config_item *item)
{
	return container_of(to_config_group(item), struct vdev, group);
}

/**
 * vdev_param_set() - set a parameter of an adapter
 * @vdev: adapter
 * @param: the parameter, protected by @vdev->plug_lock
 * @value: its new value
 * @size: size of the parameter in bytes
 *
 * Context: may sleep.
 * Return: 0, or -EBUSY if the adapter is plugged in.
 */
int vdev_param_set(struct vdev *vdev, void *param, const void *value, size_t size)
{
	int ret = 0;

	mutex_lock(&vdev->plug_lock);
	if (vdev->live)
		ret = -EBUSY;
	else
		memcpy(param, value, size);
	mutex_unlock(&vdev->plug_lock);
	return ret;
}

/**
 * vdev_param_store() - set a numeric parameter of an adapter
 * @vdev: adapter
 * @page: text that was written
 * @min: lowest value
 * @max: highest value
 * @param: the parameter, protected by @vdev->plug_lock
 *
 * Context: may sleep.
 * Return: 0, -EBUSY if the adapter is plugged in, or an error if the value is invalid.
 */
int vdev_param_store(struct vdev *vdev, const char *page, u32 min, u32 max, u32 *param)
{
	u32 value;
	int ret;

	ret = kstrtou32(page, 0, &value);
	if (ret)
		return ret;
	if (value < min || value > max)
		return -EINVAL;
	return vdev_param_set(vdev, param, &value, sizeof(value));
}
