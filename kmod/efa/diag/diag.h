/* SPDX-License-Identifier: GPL-2.0-only */
/* Diagnostic provider: declarations shared by its files. */
#ifndef EFA_DIAG_H
#define EFA_DIAG_H

#include "../efa.h"
#include "efa_snap.h"

extern const struct eadm_diag_obj efa_diag_dev;
extern const struct eadm_diag_obj efa_diag_qp;
extern const struct eadm_diag_obj efa_diag_cq;
extern const struct eadm_diag_obj efa_diag_eq;
extern const struct eadm_diag_obj efa_diag_cmdq;
extern const struct eadm_diag_obj efa_diag_mr;
extern const struct eadm_diag_obj efa_diag_ah;
extern const struct eadm_diag_obj efa_diag_ctx;
extern const struct eadm_diag_obj efa_diag_uar;
extern const struct eadm_diag_obj efa_diag_counters;

int efa_diag_regs(struct eadm_diag_dev *dd, struct eadm_diag_reg *regs, u32 max);

static inline struct efa_dev *diag_to_dev(struct eadm_diag_dev *dd)
{
	return container_of(dd, struct efa_dev, adapter.diag);
}

#endif /* EFA_DIAG_H */
