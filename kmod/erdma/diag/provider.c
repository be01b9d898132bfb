// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: the table of objects. Each kind of object is filled in by its own file or by
 * the core; the companion adds owners (pid, comm, cgroup-id, netns, res-id), and the device's name
 * and index.
 */

#include "diag.h"

static const struct eadm_diag_obj *const objs[] = {
	&erdma_diag_dev,
	&erdma_diag_qp,
	&erdma_diag_cq,
	&erdma_diag_eq,
	&erdma_diag_cmdq,
	&erdma_diag_mr,
	&eadm_diag_pd,
	&erdma_diag_ctx,
	&erdma_diag_counters,
	&eadm_diag_cmd,
	&erdma_diag_cep,
	&eadm_diag_conf,
	NULL
};

const struct eadm_diag_ops erdma_diag_ops = {
	.interface = EADM_DIAG_INTERFACE,
	.family = "erdma",
	.objs = objs,
	.ring = eadm_ring_read,
	.context = erdma_diag_context,
	.context_max = ERDMA_CONTEXT_MAX,
	.regs = erdma_diag_regs,
	.conf_set = eadm_setting_change,
};
