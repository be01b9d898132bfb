/* SPDX-License-Identifier: GPL-2.0-only */
/* ABI between the userspace provider and the driver, version 1 (hw 9.2). */
#ifndef ERDMA_ABI_H
#define ERDMA_ABI_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define ERDMA_ABI_VERSION	1

struct erdma_uresp_alloc_ctx {
	__u32 dev_id;
	__u32 pad;
	__u32 sdb_type;
	__u32 sdb_entry;
	__aligned_u64 sdb;	/* mmap offsets of the doorbell pages */
	__aligned_u64 rdb;
	__aligned_u64 cdb;
};

enum erdma_sdb_type {
	ERDMA_SDB_PAGE		= 0,
	ERDMA_SDB_ENTRY		= 1,
	ERDMA_SDB_SHARED	= 2,
};

/* Used by both CREATE_CQ and CREATE_QP. */
struct erdma_ureq_create_queue {
	__aligned_u64 dbrec_va;	/* QP: SQ record, followed by the RQ record */
	__aligned_u64 buf_va;
	__u32 buf_len;
	__u32 rsvd;
};

struct erdma_uresp_create_cq {
	__u32 cqn;
	__u32 depth;
};

struct erdma_uresp_create_qp {
	__u32 qpn;
	__u32 sq_depth;		/* 32-byte building blocks */
	__u32 rq_depth;
	__u32 rq_offset;	/* offset in the buffer, in bytes */
};

static_assert(sizeof(struct erdma_uresp_alloc_ctx) == 40);
static_assert(sizeof(struct erdma_ureq_create_queue) == 24);
static_assert(sizeof(struct erdma_uresp_create_cq) == 8);
static_assert(sizeof(struct erdma_uresp_create_qp) == 16);

#endif /* ERDMA_ABI_H */
