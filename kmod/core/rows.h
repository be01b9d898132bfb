/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows for the companion, with the fields that all families have. */
#ifndef EADM_ROWS_H
#define EADM_ROWS_H

#include "provider.h"

/* Rows of numbered objects; arguments: EADM_OBJ_ type, &eadm_diag_obj.next and .fill. */
#define EADM_OBJECT_ROWS(kind, next_row, fill_row) {	\
	.type = EADM_OBJ_##kind,			\
	.next = next_row,				\
	.put = eadm_put_object,				\
	.res = eadm_object_res,				\
	.fill = fill_row,				\
}

extern const struct eadm_diag_obj eadm_diag_pd;

/*
 * Return the object with the lowest number from @id on, or NULL; used as &eadm_diag_obj.next.
 * Objects are of type struct eadm_object; event queues exist as long as the device is registered.
 * The object of the command queue's row is the device.
 */
void *eadm_qp_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_cq_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_mr_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_pd_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_ctx_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_eq_row_next(struct eadm_diag_dev *dd, u64 *id);
void *eadm_cmdq_row_next(struct eadm_diag_dev *dd, u64 *id);

void *eadm_dev_row_next(struct eadm_diag_dev *dd, u64 *id);
void eadm_dev_row_fill(struct eadm_adapter *ad, struct eadm_snap_dev *s);
void *eadm_port_row_next(struct eadm_diag_dev *dd, u64 *id);
void eadm_ctx_row_fill(const struct eadm_ctx *ctx, struct eadm_snap_ctx *s);
void eadm_port_row_fill(struct eadm_adapter *ad, struct eadm_snap_counters *s);

#endif /* EADM_ROWS_H */
