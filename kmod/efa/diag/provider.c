// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: the auxiliary device that the companion module binds to.
 *
 * Owner fields (pid, comm, cgroup-id, netns, res-id) and the device's name and
 * index are the companion's; each other file fills the rest of one object.
 */

#include "diag.h"

static const struct eadm_diag_obj *const objs[] = {
	&efa_diag_dev,
	&efa_diag_qp,
	&efa_diag_cq,
	&efa_diag_eq,
	&efa_diag_cmdq,
	&efa_diag_mr,
	&efa_diag_pd,
	&efa_diag_ah,
	&efa_diag_ctx,
	&efa_diag_uar,
	&efa_diag_counters,
	&efa_diag_cmd,
	&efa_diag_conf,
	NULL
};

static const struct eadm_diag_ops ops = {
	.family = "efa",
	.objs = objs,
	.ring = efa_diag_ring,
	.regs = efa_diag_regs,
	.conf_set = efa_diag_conf_set,
};

/**
 * efa_diag_init() - make the provider ready for events
 * @dev: the device
 */
void efa_diag_init(struct efa_dev *dev)
{
	ATOMIC_INIT_NOTIFIER_HEAD(&dev->diag.events);
	dev->diag.ibdev = &dev->ibdev;
	dev->diag.ops = &ops;
	dev->diag.failures = &dev->failures;
}

/* The memory is that of the device, which outlives the auxiliary device. */
static void release(struct device *device)
{
	struct eadm_diag_dev *dd = to_eadm_diag_dev(to_auxiliary_dev(device));

	complete(&diag_to_dev(dd)->diag_released);
}

/**
 * efa_diag_add() - let the companion see the device
 * @dev: the device, registered
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_diag_add(struct efa_dev *dev)
{
	struct auxiliary_device *adev = &dev->diag.adev;
	int ret;

	init_completion(&dev->diag_released);
	adev->name = EADM_DIAG_NAME;
	adev->id = dev->ibdev.index;
	adev->dev.parent = &dev->pdev->dev;
	adev->dev.release = release;
	ret = auxiliary_device_init(adev);
	if (ret)
		return ret;
	ret = auxiliary_device_add(adev);
	if (ret) {
		auxiliary_device_uninit(adev);
		wait_for_completion(&dev->diag_released);
	}
	return ret;
}

/**
 * efa_diag_del() - take the device from the companion
 * @dev: the device
 *
 * Context: process; waits until nobody reads any more.
 */
void efa_diag_del(struct efa_dev *dev)
{
	auxiliary_device_delete(&dev->diag.adev);
	auxiliary_device_uninit(&dev->diag.adev);
	wait_for_completion(&dev->diag_released);
}
