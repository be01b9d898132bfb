/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts of processes, and PDs. */
#ifndef EADM_CONTEXT_H
#define EADM_CONTEXT_H

#include <rdma/ib_verbs.h>

#include "eadm_diag.h"
#include "maps.h"
#include "object.h"

/**
 * struct eadm_ctx - common part of all families' contexts
 * @ibctx: the RDMA core's part
 * @obj: entry in the adapter's table of contexts
 * @ctxn: number of the context
 * @maps: device memory that processes map
 * @qps: number of QPs
 * @cqs: number of CQs
 * @mrs: number of MRs
 * @pds: number of PDs
 */
struct eadm_ctx {
	struct ib_ucontext ibctx;
	struct eadm_object obj;
	u32 ctxn;
	struct eadm_maps *maps;
	atomic_t qps;
	atomic_t cqs;
	atomic_t mrs;
	atomic_t pds;
};

/**
 * struct eadm_pd - common part of all families' PDs
 * @ibpd: the RDMA core's part
 * @obj: entry in the adapter's table of PDs
 * @ctx: context of the owner, NULL for the kernel
 * @pdn: number of the PD
 */
struct eadm_pd {
	struct ib_pd ibpd;
	struct eadm_object obj;
	struct eadm_ctx *ctx;
	u32 pdn;
};

int eadm_udata_read(struct ib_udata *udata, void *req, size_t min, size_t max);
int eadm_udata_write(struct ib_udata *udata, const void *resp, size_t size);
int eadm_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void eadm_dealloc_ucontext(struct ib_ucontext *ibctx);
void eadm_ctxs_zap(struct eadm_adapter *ad);
void eadm_ctxs_leave(struct eadm_adapter *ad);
void eadm_ctx_disassociate(struct ib_ucontext *ibctx);

static inline struct eadm_ctx *to_eadm_ctx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct eadm_ctx, ibctx);
}

static inline struct eadm_pd *to_eadm_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct eadm_pd, ibpd);
}

#endif /* EADM_CONTEXT_H */
