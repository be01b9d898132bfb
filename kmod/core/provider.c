// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's side of the interface to the companion: adds and removes the auxiliary device that
 * the companion binds to, and releases objects returned by the tables.
 */

#include "provider.h"

/* The memory belongs to the driver's device, which outlives the auxiliary device. */
static void release(struct device *device)
{
	complete(&to_eadm_diag_dev(to_auxiliary_dev(device))->released);
}

/*
 * The interface number can be read even without the companion, which may have refused the driver
 * because of it.
 */
static ssize_t interface_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%08x\n", EADM_DIAG_INTERFACE);
}
static DEVICE_ATTR_RO(interface);

static struct attribute *provider_attrs[] = { &dev_attr_interface.attr, NULL };
ATTRIBUTE_GROUPS(provider);

/**
 * eadm_provider_add() - make the device visible to the companion
 * @ad: the adapter; its RDMA device is registered
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_provider_add(struct eadm_adapter *ad)
{
	struct eadm_diag_dev *dd = &ad->diag;
	struct auxiliary_device *adev = &dd->adev;
	int ret;

	init_completion(&dd->released);
	adev->name = EADM_DIAG_NAME;
	adev->id = ad->ibdev.index;
	adev->dev.parent = &ad->fn.pdev->dev;
	adev->dev.release = release;
	adev->dev.groups = provider_groups;
	ret = auxiliary_device_init(adev);
	if (ret)
		return ret;
	ret = auxiliary_device_add(adev);
	if (ret) {
		auxiliary_device_uninit(adev);
		wait_for_completion(&dd->released);
	}
	return ret;
}

/**
 * eadm_provider_del() - remove the device from the companion
 * @ad: the adapter
 *
 * Context: process; waits until the last reader has left.
 */
void eadm_provider_del(struct eadm_adapter *ad)
{
	auxiliary_device_delete(&ad->diag.adev);
	auxiliary_device_uninit(&ad->diag.adev);
	wait_for_completion(&ad->diag.released);
}

/**
 * eadm_put_object() - &eadm_diag_obj.put for numbered objects
 * @dd: the device
 * @obj: struct eadm_object
 */
void eadm_put_object(struct eadm_diag_dev *dd, void *obj)
{
	eadm_object_put(obj);
}

/**
 * eadm_object_res() - &eadm_diag_obj.res for numbered objects
 * @obj: struct eadm_object
 */
struct rdma_restrack_entry *eadm_object_res(void *obj)
{
	return ((struct eadm_object *)obj)->res;
}
