/* SPDX-License-Identifier: GPL-2.0-only */
/* ABI between the userspace provider and the driver, version 1 (hw 12). */
#ifndef EFA_ABI_H
#define EFA_ABI_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define EFA_ABI_VERSION		1

/* Capabilities of the provider, in struct efa_ureq_alloc_ctx. */
#define EFA_UREQ_TX_BATCH	BIT(0)
#define EFA_UREQ_MIN_SQ		BIT(1)

struct efa_ureq_alloc_ctx {
	__u32 mask;
	__u32 rsvd;
};

/* Commands that take provider data. */
#define EFA_UCMD_QUERY_DEVICE	BIT(0)
#define EFA_UCMD_CREATE_AH	BIT(1)

struct efa_uresp_alloc_ctx {
	__u32 mask;
	__u32 cmds;		/* EFA_UCMD_* */
	__u16 sub_cqs;
	__u16 max_inline;
	__u32 max_llq;
	__u16 max_tx_batch;
	__u16 min_sq_depth;
	__u16 max_inline_ext;
	__u16 rsvd;
};

#define EFA_UDEV_RDMA_READ	BIT(0)
#define EFA_UDEV_RNR_RETRY	BIT(1)
#define EFA_UDEV_CQ_EVENTS	BIT(2)
#define EFA_UDEV_CQ_SRC_ADDR	BIT(3)
#define EFA_UDEV_POLLING_128	BIT(4)
#define EFA_UDEV_RDMA_WRITE	BIT(5)
#define EFA_UDEV_UNSOLICITED	BIT(6)

struct efa_uresp_query_device {
	__u32 mask;
	__u32 max_sq_wr;
	__u32 max_rq_wr;
	__u16 max_sq_sge;
	__u16 max_rq_sge;
	__u32 max_rdma;
	__u32 caps;		/* EFA_UDEV_* */
};

struct efa_uresp_alloc_pd {
	__u32 mask;
	__u16 pdn;
	__u16 rsvd;
};

struct efa_uresp_create_ah {
	__u32 mask;
	__u16 ahn;
	__u16 rsvd;
};

#define EFA_UCQ_CHANNEL		BIT(0)
#define EFA_UCQ_SRC_ADDR	BIT(1)

struct efa_ureq_create_cq {
	__u32 mask;
	__u32 entry_size;
	__u16 sub_cqs;
	__u8 flags;		/* EFA_UCQ_* */
	__u8 rsvd[5];
};

#define EFA_UREQ_CREATE_CQ_MIN	10	/* size without the flags */
#define EFA_UCQ_DB		BIT(0)	/* the fields of the doorbell are valid */

struct efa_uresp_create_cq {
	__u32 mask;
	__u32 rsvd0;
	__aligned_u64 ring_key;
	__aligned_u64 ring_size;
	__u16 cqn;
	__u16 rsvd1;
	__u32 db_offset;	/* offset in its page */
	__aligned_u64 db_key;
};

#define EFA_UQP_UNSOLICITED	BIT(0)
#define EFA_UQP_SRD		0

struct efa_ureq_create_qp {
	__u32 mask;
	__u32 rq_bytes;
	__u32 sq_bytes;
	__u32 type;
	__u16 flags;		/* EFA_UQP_*; older providers omit the field */
	__u8 sl;
	__u8 rsvd[5];
};

#define EFA_UREQ_CREATE_QP_MIN	16

struct efa_uresp_create_qp {
	__u32 mask;
	__u32 rq_db_offset;	/* this and the next two: offset in the page */
	__u32 sq_db_offset;
	__u32 llq_offset;
	__aligned_u64 rq_key;
	__aligned_u64 rq_size;
	__aligned_u64 rq_db_key;
	__aligned_u64 sq_db_key;
	__aligned_u64 llq_key;
	__u16 send_sub_cq;
	__u16 recv_sub_cq;
	__u32 rsvd;
};

static_assert(sizeof(struct efa_ureq_alloc_ctx) == 8);
static_assert(sizeof(struct efa_uresp_alloc_ctx) == 24);
static_assert(sizeof(struct efa_uresp_query_device) == 24);
static_assert(sizeof(struct efa_uresp_alloc_pd) == 8);
static_assert(sizeof(struct efa_uresp_create_ah) == 8);
static_assert(sizeof(struct efa_ureq_create_cq) == 16);
static_assert(sizeof(struct efa_uresp_create_cq) == 40);
static_assert(sizeof(struct efa_ureq_create_qp) == 24);
static_assert(sizeof(struct efa_uresp_create_qp) == 64);

#endif /* EFA_ABI_H */
