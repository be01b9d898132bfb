/* SPDX-License-Identifier: GPL-2.0-only */
/* Diagnostic provider: declarations shared by its files. */
#ifndef ERDMA_DIAG_H
#define ERDMA_DIAG_H

#include "../erdma.h"
#include "erdma_snap.h"

extern const struct eadm_diag_obj erdma_diag_dev;
extern const struct eadm_diag_obj erdma_diag_qp;
extern const struct eadm_diag_obj erdma_diag_cq;
extern const struct eadm_diag_obj erdma_diag_eq;
extern const struct eadm_diag_obj erdma_diag_cmdq;
extern const struct eadm_diag_obj erdma_diag_mr;
extern const struct eadm_diag_obj erdma_diag_ctx;
extern const struct eadm_diag_obj erdma_diag_counters;
extern const struct eadm_diag_obj erdma_diag_cep;

#define ERDMA_CONTEXT_MAX	256	/* bytes of QPC, CQC or EQC (hw 4.13) */

int erdma_diag_may_query(struct erdma_dev *dev, const struct eadm_object *obj);
int erdma_diag_context(struct eadm_diag_dev *dd, u8 kind, u32 id, void *buf);
int erdma_diag_regs(struct eadm_diag_dev *dd, struct eadm_diag_reg *regs, u32 max);
void erdma_diag_count_ceps(struct erdma_dev *dev, struct eadm_snap_dev *s);
void erdma_diag_count_connections(struct erdma_dev *dev, struct eadm_snap_counters *s);

static inline struct erdma_dev *diag_to_dev(struct eadm_diag_dev *dd)
{
	return container_of(dd, struct erdma_dev, adapter.diag);
}

/*
 * Returns an age with a resolution of one tick, because requests are timestamped by
 * get_jiffies_64().
 */
static inline u64 diag_age_coarse(u64 since)
{
	return jiffies64_to_nsecs(get_jiffies_64() - since);
}

#endif /* ERDMA_DIAG_H */
