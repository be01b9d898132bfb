// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: the table of objects. Each object is filled by a file of its own; the
 * companion adds owners (pid, comm, cgroup-id, netns, res-id), and the device's name and index.
 */

#include "diag.h"

static const struct eadm_diag_obj *const objs[] = {
	&efa_diag_dev,
	&efa_diag_qp,
	&efa_diag_cq,
	&efa_diag_eq,
	&efa_diag_cmdq,
	&efa_diag_mr,
	&eadm_diag_pd,
	&efa_diag_ah,
	&efa_diag_ctx,
	&efa_diag_uar,
	&efa_diag_counters,
	&eadm_diag_cmd,
	&efa_diag_conf,
	NULL
};

const struct eadm_diag_ops efa_diag_ops = {
	.family = "efa",
	.objs = objs,
	.ring = efa_diag_ring,
	.regs = efa_diag_regs,
	.conf_set = efa_diag_conf_set,
};
