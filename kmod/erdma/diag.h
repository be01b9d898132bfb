/* SPDX-License-Identifier: GPL-2.0-only */
/* Diagnostic provider: what its files share. */
#ifndef ERDMA_DIAG_H
#define ERDMA_DIAG_H

#include "erdma.h"

extern const struct eadm_diag_obj erdma_diag_dev;
extern const struct eadm_diag_obj erdma_diag_qp;
extern const struct eadm_diag_obj erdma_diag_cq;
extern const struct eadm_diag_obj erdma_diag_eq;
extern const struct eadm_diag_obj erdma_diag_cmdq;
extern const struct eadm_diag_obj erdma_diag_mr;
extern const struct eadm_diag_obj erdma_diag_pd;
extern const struct eadm_diag_obj erdma_diag_ctx;
extern const struct eadm_diag_obj erdma_diag_counters;
extern const struct eadm_diag_obj erdma_diag_cmd;
extern const struct eadm_diag_obj erdma_diag_cep;

void erdma_diag_put_obj(struct eadm_diag_dev *dd, void *obj);
void erdma_diag_put_none(struct eadm_diag_dev *dd, void *obj);
int erdma_diag_may_query(struct erdma_dev *dev, const struct erdma_obj *obj);
void erdma_diag_count_ceps(struct erdma_dev *dev, struct eadm_snap_dev *s);
void erdma_diag_count_connections(struct erdma_dev *dev, struct eadm_snap_counters *s);

static inline struct erdma_dev *diag_to_dev(struct eadm_diag_dev *dd)
{
	return container_of(dd, struct erdma_dev, diag);
}

/* Clocks of two CPUs may differ a little. */
static inline u64 diag_age(u64 since)
{
	u64 now = local_clock();

	return now > since ? now - since : 0;
}

#endif /* ERDMA_DIAG_H */
