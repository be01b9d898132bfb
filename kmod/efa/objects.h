/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs objects: contexts, PDs, AHs, MRs, CQs, QPs; all belong to processes. */
#ifndef EFA_OBJECTS_H
#define EFA_OBJECTS_H

#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <rdma/ib_verbs.h>

#include "../core/context.h"
#include "compat_rdma.h"
#include "efa_hw.h"
#include "mem.h"

/**
 * struct efa_ctx - a user context
 * @base: common part of all families
 * @uar_obj: entry in dev->uars, by @uar
 * @uar: tag of the doorbells
 * @db_lock: protects @db and its users
 * @db: a page of doorbells; usually one page contains all doorbells of a context
 */
struct efa_ctx {
	struct eadm_ctx base;
	struct eadm_object uar_obj;
	u16 uar;
	struct mutex db_lock;	/* protects db */
	struct eadm_map *db;
};

/**
 * struct efa_pd - a protection domain
 * @base: common part of all families
 * @ah_lock: protects @ahs; held while a command for one of the AHs is in flight
 * @ahs: struct efa_ah_entry, sorted by address
 */
struct efa_pd {
	struct eadm_pd base;
	struct mutex ah_lock;	/* protects ahs */
	struct rb_root ahs;
};

/**
 * struct efa_ah_entry - an AH in the adapter, one per address and PD
 * @obj: entry in dev->ahs
 * @node: in @pd->ahs
 * @pd: its PD
 * @gid: the address
 * @ahn: number in the PD
 * @id: number in dev->ahs
 * @refs: number of address handles of the process; under the PD's ah_lock
 * @owner: the process that created the first address handle
 *
 * Adapters differ in how they treat a second AH for the same address, so each AH is created and
 * destroyed only once.
 */
struct efa_ah_entry {
	struct eadm_object obj;
	struct rb_node node;
	struct efa_pd *pd;
	u8 gid[16];
	u16 ahn;
	u32 id;
	u32 refs;
	struct pid *owner;
};

struct efa_ah {
	struct ib_ah ibah;
	struct efa_ah_entry *entry;
};

/**
 * struct efa_mr - a memory region
 * @ibmr: the core's part
 * @obj: entry in dev->adapter.mrs
 * @ctx: owner
 * @mrn: number of the MR, which reveals nothing about the keys
 * @dmabuf: the memory belongs to a different device
 * @access: verbs access flags
 * @iova: start address
 * @length: bytes
 * @page_shift: log2 of the adapter's page size
 * @pages: number of pages
 * @ic_valid: EFA_MR_IC_*: which of the following interconnects are known
 * @recv_ic: interconnect that receives use
 * @read_ic: interconnect that RDMA reads use
 * @rdma_recv_ic: interconnect that received RDMA uses
 * @mem: memory
 */
struct efa_mr {
	struct ib_mr ibmr;
	struct eadm_object obj;
	struct efa_ctx *ctx;
	u32 mrn;
	bool dmabuf;
	int access;
	u64 iova;
	u64 length;
	u8 page_shift;
	u32 pages;
	u8 ic_valid;
	u8 recv_ic;
	u8 read_ic;
	u8 rdma_recv_ic;
	struct efa_mem mem;
};

/**
 * struct efa_cq - a completion queue
 * @ibcq: the core's part
 * @obj: entry in dev->adapter.cqs
 * @ctx: owner
 * @cqn: number of the CQ
 * @depth: number of entries in a sub-CQ
 * @entry_size: bytes
 * @eq: event queue of the CQ, NULL if it has none
 * @src_addr: entries contain addresses of senders without an AH
 * @db: offset of the doorbell in the doorbell BAR
 * @has_db: the CQ has a doorbell
 * @mem: memory
 * @ring_entry: mapping entry for the process
 * @db_entry: likewise
 * @events: number of completion events delivered
 * @last_event: local_clock() of the last event, 0 = none yet
 */
struct efa_cq {
	struct ib_cq ibcq;
	struct eadm_object obj;
	struct efa_ctx *ctx;
	u16 cqn;
	u32 depth;
	u32 entry_size;
	struct efa_eq *eq;
	bool src_addr;
	u32 db;
	bool has_db;
	struct efa_mem mem;
	struct eadm_map *ring_entry;
	struct eadm_map *db_entry;
	atomic64_t events;
	u64 last_event;
};

/**
 * struct efa_qp - a queue pair
 * @ibqp: the core's part
 * @obj: entry in dev->adapter.qps
 * @ctx: owner
 * @qpn: number of the QP
 * @handle: number of the QP in commands
 * @type: enum efa_qp_type
 * @flags: EFA_CREATE_QP_*
 * @sl: service level
 * @cap: capabilities as requested
 * @signal_all: sq_sig_type as requested, returned by queries; the adapter generates a completion
 *	for every request anyway
 * @sq_bytes: size of the send queue in device memory
 * @rq_bytes: size of the receive queue, 0 = none
 * @send_sub_cq: sub-CQ of send completions
 * @recv_sub_cq: sub-CQ of receive completions
 * @sq_db: offset of the send doorbell in the doorbell BAR
 * @rq_db: offset of the receive doorbell in the doorbell BAR
 * @llq: offset of the send queue in BAR 2
 * @state_lock: serialises state changes; protects the members from @state to @rnr_retry
 * @state: state in the adapter; read with READ_ONCE() elsewhere, as are the members below
 * @state_since: local_clock() of the last change
 * @qkey: as last set
 * @psn: likewise
 * @rnr_retry: likewise
 * @events: number of asynchronous events; written by recovery only
 * @mem: memory
 * @sq_db_entry: mapping entry for the process, as are the following members
 */
struct efa_qp {
	struct ib_qp ibqp;
	struct eadm_object obj;
	struct efa_ctx *ctx;
	u16 qpn;
	u32 handle;
	u8 type;
	u8 flags;
	u8 sl;
	struct ib_qp_cap cap;
	bool signal_all;
	u32 sq_bytes;
	u32 rq_bytes;
	u16 send_sub_cq;
	u16 recv_sub_cq;
	u32 sq_db;
	u32 rq_db;
	u32 llq;
	struct mutex state_lock;	/* serialises state changes */
	enum ib_qp_state state;
	u64 state_since;
	u32 qkey;
	u32 psn;
	u8 rnr_retry;
	u64 events;
	struct efa_mem mem;
	struct eadm_map *sq_db_entry;
	struct eadm_map *rq_db_entry;
	struct eadm_map *llq_entry;
	struct eadm_map *rq_entry;
};

/* ctx.c, mmap.c */
int efa_ctx_begin(struct eadm_adapter *ad, struct eadm_ctx *base, struct ib_udata *udata);
void efa_ctx_end(struct eadm_adapter *ad, struct eadm_ctx *base);
struct eadm_map *efa_mmap_db(struct efa_ctx *ctx, u32 offset);
void efa_mmap_put_db(struct efa_ctx *ctx, struct eadm_map *entry);
struct eadm_map *efa_mmap_llq(struct efa_ctx *ctx, u32 offset, u32 bytes);
struct eadm_map *efa_mmap_ring(struct efa_ctx *ctx, const struct efa_mem *mem);

/* pd.c */
int efa_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata);

/* cq.c */
int efa_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata);
void efa_cq_event(struct efa_cq *cq, u64 now);

/* qp.c */
int efa_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int efa_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* mr.c */
int efa_check_mr(struct eadm_adapter *ad, u64 length, u64 virt, int access,
		 struct ib_udata *udata);
struct ib_mr *efa_reg_mr(struct ib_pd *ibpd, struct ib_umem *umem, bool dmabuf, u64 length,
			 u64 virt, int access, struct ib_udata *udata);

#endif /* EFA_OBJECTS_H */
