// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: the tables of objects and of settings. Each kind of object is filled in by
 * its own file or by the core; the companion adds owners (pid, comm, cgroup-id, netns, res-id), and
 * the device's name and index.
 */

#include "diag.h"

#define TIMEOUT_MIN_MS	100
#define TIMEOUT_MAX_MS	120000
/* All topics except connections, which EFA does not support. */
#define DEBUG_TOPICS	(EADM_DEBUG_TOPIC_DEV | EADM_DEBUG_TOPIC_CMD | EADM_DEBUG_TOPIC_EVENT | \
			 EADM_DEBUG_TOPIC_QP | EADM_DEBUG_TOPIC_MR)

static const struct eadm_setting settings[] = {
	EADM_SETTING_TIMEOUT(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
	EADM_SETTING_DEBUG(DEBUG_TOPICS),
};

const struct eadm_settings efa_settings = {
	.table = settings,
	.count = ARRAY_SIZE(settings),
};

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
	&eadm_diag_conf,
	NULL
};

const struct eadm_diag_ops efa_diag_ops = {
	.interface = EADM_DIAG_INTERFACE,
	.family = "efa",
	.objs = objs,
	.ring = eadm_ring_read,
	.regs = efa_diag_regs,
	.conf_set = eadm_setting_change,
};
