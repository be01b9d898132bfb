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
	&erdma_diag_dev,
	&erdma_diag_qp,
	&erdma_diag_cq,
	&erdma_diag_eq,
	&erdma_diag_cmdq,
	&erdma_diag_mr,
	&erdma_diag_pd,
	&erdma_diag_ctx,
	&erdma_diag_counters,
	&erdma_diag_cmd,
	&erdma_diag_cep,
	&erdma_diag_conf,
	NULL
};

static const struct eadm_diag_ops ops = {
	.family = "erdma",
	.objs = objs,
	.ring = erdma_diag_ring,
	.context = erdma_diag_context,
	.context_max = ERDMA_CONTEXT_MAX,
	.regs = erdma_diag_regs,
	.conf_set = erdma_diag_conf_set,
};

/**
 * erdma_diag_init() - prepare the provider for events
 * @dev: the device
 */
void erdma_diag_init(struct erdma_dev *dev)
{
	dev->adapter.diag.failures = &dev->adapter.failures;
	eadm_provider_init(&dev->adapter.diag, &dev->ibdev, &ops);
}

/**
 * erdma_diag_add() - let the companion see the device
 * @dev: the device, registered
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_diag_add(struct erdma_dev *dev)
{
	return eadm_provider_add(&dev->adapter.diag, &dev->pdev->dev);
}

/**
 * erdma_diag_del() - remove the device from the companion
 * @dev: the device
 *
 * Context: process; waits until the last reader has left.
 */
void erdma_diag_del(struct erdma_dev *dev)
{
	eadm_provider_del(&dev->adapter.diag);
}
