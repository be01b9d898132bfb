/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared receive queues of queue pairs. */
#ifndef EADM_SRQS_H
#define EADM_SRQS_H

#include "model/record.h"
#include "source/devlist.h"

struct eadm_srq_qps;

/* Maps each QP of a device to the SRQ that it receives from. */
struct eadm_srqs {
	struct eadm_srq_qps *qps;	/* sorted by QP number */
	size_t n, max;
};

int eadm_srqs_load(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_srqs *srqs, struct eadm_record *rec)
	EADM_MUST_CHECK;
void eadm_srqs_put(const struct eadm_srqs *srqs, struct eadm_record *qp);
void eadm_srqs_free(struct eadm_srqs *srqs);

#endif /* EADM_SRQS_H */
