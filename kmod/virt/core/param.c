// SPDX-License-Identifier: GPL-2.0-only
/* Helpers for the parameter files of adapters, common ones and those of families. */
#include "vdev.h"

/**
 * vdev_of() - the adapter of a folder in configfs
 * @item: the folder
 */
struct vdev *vdev_of(struct config_item *item)
{
	return container_of(to_config_group(item), struct vdev, group);
}

/**
 * vdev_param_set() - set a parameter of an adapter
 * @vdev: adapter
 * @param: where it goes, guarded by @vdev->plug_lock
 * @value: its new value
 * @size: bytes of both
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
 * @page: what was written
 * @min: lowest value
 * @max: highest value
 * @param: where it goes, guarded by @vdev->plug_lock
 *
 * Context: may sleep.
 * Return: 0, -EBUSY if the adapter is plugged in, or the error for an invalid
 * value.
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
