// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: the auxiliary device that the companion module binds to.
 *
 * Owner fields (pid, comm, cgroup-id, netns, res-id) and the device's name and
 * index are the companion's; each other file fills the rest of one object.
 */

#include "eadm_provider.h"
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
 * efa_diag_init() - prepare the provider for events
 * @dev: the device
 */
void efa_diag_init(struct efa_dev *dev)
{
	dev->adapter.diag.failures = &dev->adapter.failures;
	eadm_provider_init(&dev->adapter.diag, &dev->ibdev, &ops);
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
	return eadm_provider_add(&dev->adapter.diag, &dev->pdev->dev);
}

/**
 * efa_diag_del() - remove the device from the companion
 * @dev: the device
 *
 * Context: process; waits until the last reader has left.
 */
void efa_diag_del(struct efa_dev *dev)
{
	eadm_provider_del(&dev->adapter.diag);
}
