/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A driver's side of the interface: adding and removing its auxiliary device, and what it
 * reports by itself. Included by one file of a driver, the one with its table of objects.
 */
#ifndef EADM_PROVIDER_H
#define EADM_PROVIDER_H

#include <rdma/ib_verbs.h>

#include "eadm_diag.h"

/**
 * eadm_provider_init() - prepare a provider for events
 * @dd: the device; @dd->failures is set by the driver
 * @ibdev: the RDMA device
 * @ops: what the driver offers
 */
static inline void eadm_provider_init(struct eadm_diag_dev *dd, struct ib_device *ibdev,
				      const struct eadm_diag_ops *ops)
{
	ATOMIC_INIT_NOTIFIER_HEAD(&dd->events);
	dd->ibdev = ibdev;
	dd->ops = ops;
}

/* The memory is that of the driver's device, which outlives the auxiliary device. */
static inline void eadm_provider_release(struct device *device)
{
	complete(&to_eadm_diag_dev(to_auxiliary_dev(device))->released);
}

/**
 * eadm_provider_add() - make the device visible to the companion
 * @dd: the device; its RDMA device is registered
 * @parent: the adapter
 *
 * Context: process.
 * Return: 0 or -errno.
 */
static inline int eadm_provider_add(struct eadm_diag_dev *dd, struct device *parent)
{
	struct auxiliary_device *adev = &dd->adev;
	int ret;

	init_completion(&dd->released);
	adev->name = EADM_DIAG_NAME;
	adev->id = dd->ibdev->index;
	adev->dev.parent = parent;
	adev->dev.release = eadm_provider_release;
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
 * @dd: the device
 *
 * Context: process; waits until the last reader has left.
 */
static inline void eadm_provider_del(struct eadm_diag_dev *dd)
{
	auxiliary_device_delete(&dd->adev);
	auxiliary_device_uninit(&dd->adev);
	wait_for_completion(&dd->released);
}

#endif /* EADM_PROVIDER_H */
