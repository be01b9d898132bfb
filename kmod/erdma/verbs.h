/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs objects: contexts, PDs, MRs, CQs, QPs. */
#ifndef ERDMA_VERBS_H
#define ERDMA_VERBS_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../core/context.h"
#include "compat_rdma.h"
#include "erdma_hw.h"
#include "mem.h"

/**
 * struct erdma_ctx - a user context
 * @base: common part of all families
 * @db_pages: response to ALLOC_DB, valid if @db_allocated
 * @db_allocated: the adapter allocated the doorbell pages
 * @sdb_type: kind of SQ doorbell space, enum erdma_sdb_type
 * @sdb_index: number of the page, or of the entry across all pages of entries
 * @sdb: SQ doorbell page
 * @rdb: RQ doorbell page
 * @cdb: CQ doorbell page
 * @dbpage_lock: protects @dbpages and the pages in it
 * @dbpages: struct erdma_dbpage by user address in pages
 */
struct erdma_ctx {
	struct eadm_ctx base;
	u64 db_pages;
	bool db_allocated;
	u8 sdb_type;
	u16 sdb_index;
	struct eadm_map *sdb;
	struct eadm_map *rdb;
	struct eadm_map *cdb;
	struct mutex dbpage_lock;	/* protects dbpages */
	struct xarray dbpages;
};

/**
 * struct erdma_mr - a memory region
 * @ibmr: the core's part
 * @obj: entry in dev->adapter.mrs
 * @ctx: owner, NULL for the kernel
 * @mpt: number of the MR: bits 31:8 of the keys
 * @type: enum erdma_mr_type
 * @valid: accesses are allowed, as far as the driver knows
 * @access: verbs access flags
 * @iova: start address
 * @length: bytes
 * @filled: number of entries set by map_mr_sg
 * @mem: memory; its first area contains the translation
 * @rcu: used to free the MR after lookups by erdma_mr_invalidated()
 */
struct erdma_mr {
	struct ib_mr ibmr;
	struct eadm_object obj;
	struct erdma_ctx *ctx;
	u32 mpt;
	enum erdma_mr_type type;
	bool valid;
	int access;
	u64 iova;
	u64 length;
	u32 filled;
	struct erdma_hostmem *mem;
	struct rcu_head rcu;
};

/**
 * struct erdma_cq - a completion queue
 * @ibcq: the core's part
 * @obj: entry in dev->adapter.cqs
 * @ctx: owner, NULL for the kernel
 * @cqn: number of the CQ
 * @depth: number of entries
 * @vector: completion vector
 * @mem: memory
 * @db: doorbell record of a user CQ
 * @events: completion events delivered
 * @errors: asynchronous error events
 * @last_event: local_clock() of the last event, 0 = none yet
 * @event_db: doorbell record of a user CQ at the last event, which served that request
 * @requests: notification requests of a user CQ up to @event_db, see erdma_cq_requests()
 * @extra: largest excess of events over requests so far
 * @last_extra: local_clock() when @extra last increased, 0 = never
 * @revival: serialises erdma_cq_revive(); taken before @lock
 * @lock: protects the following members (kernel CQs only) and the CI of their queues
 * @ci: consumer index
 * @notify_count: requests for notification
 * @cmdsn: completion events seen, modulo 4
 * @armed: a notification was requested and has not arrived yet
 * @solicited: the request is for solicited completions only
 * @kqps: struct erdma_kqp by number: kernel QPs that complete through this CQ
 *
 * @events to @last_extra are written by event delivery of one EQ only and read with READ_ONCE().
 */
struct erdma_cq {
	struct ib_cq ibcq;
	struct eadm_object obj;
	struct erdma_ctx *ctx;
	u32 cqn;
	u32 depth;
	u32 vector;
	struct erdma_hostmem *mem;
	struct erdma_dbref db;
	u64 events;
	u64 errors;
	u64 last_event;
	u64 event_db;
	u32 requests;
	s32 extra;
	u64 last_extra;
	struct mutex revival;	/* serialises re-creation */
	spinlock_t lock;	/* protects the following members */
	u32 ci;
	u32 notify_count;
	u32 cmdsn;
	bool armed;
	bool solicited;
	struct xarray kqps;
};

/* A posted send request; its index is that of its first building block. */
struct erdma_swr {
	u64 wr_id;
	u8 opcode;		/* enum erdma_opcode */
	u8 blocks;		/* 0: not the first block of a request */
};

struct erdma_sq {
	spinlock_t lock;	/* posting: pi, doorbell */
	struct erdma_swr *wrs;
	u16 pi;			/* store-release after writing the entry; the poller acquires it */
	u16 ci;			/* under the send CQ's lock; store-release once an entry is read */
};

struct erdma_rq {
	spinlock_t lock;	/* posting: pi, doorbell */
	u64 *wr_ids;
	u16 pi;
	u16 ci;
};

/**
 * struct erdma_kqp - the part of a QP used only by kernel consumers
 * @qp: the QP
 * @sq: send queue
 * @rq: receive queue
 * @last_post: get_jiffies_64() of the last post, 0 = never; this clock is cheap to read
 * @last_comp: get_jiffies_64() of the last completion, 0 = never
 * @reflush: makes the adapter flush requests that were posted after it began to flush
 */
struct erdma_kqp {
	struct erdma_qp *qp;
	struct erdma_sq sq;
	struct erdma_rq rq;
	u64 last_post;
	u64 last_comp;
	struct delayed_work reflush;
};

/**
 * struct erdma_rts - parameters of a connection that the adapter needs
 * @remote_cookie: cookie of the peer's QP
 * @cc: congestion control
 * @sip: local address
 * @dip: peer's address
 * @sport: local TCP port
 * @dport: peer's TCP port
 * @send_nxt: next TCP sequence number to send
 * @recv_nxt: next TCP sequence number expected
 */
struct erdma_rts {
	u32 remote_cookie;
	u8 cc;
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	u32 send_nxt;
	u32 recv_nxt;
};

/**
 * struct erdma_qp - a queue pair
 * @ibqp: the core's part
 * @obj: entry in dev->adapter.qps
 * @ctx: owner, NULL for the kernel
 * @owner: process that created a user QP
 * @owner_uid: its effective user ID at that time
 * @qpn: number of the QP
 * @sq_depth: send queue size in building blocks
 * @rq_depth: receive queue size
 * @signal_all: every send request generates a completion; for user QPs, the provider handles this
 * @cookie: returned by the adapter at creation, passed to the peer
 * @mem: memory
 * @db: doorbell records of a user QP
 * @state_lock: serialises state changes, which may take as long as a command; protects @state,
 *	@cm_closed and @cm_data
 * @state: enum erdma_qp_state; read with READ_ONCE() elsewhere
 * @state_since: local_clock() of the last change
 * @conn_lock: protects the connection, innermost; @state_lock must also be held to write it
 * @connected: @conn is valid
 * @conn: the connection
 * @cm_closed: called once when the QP leaves RTS or is stopped before it reaches RTS, with
 *	@state_lock held; must not sleep on anything that waits for the QP
 * @cm_data: argument of @cm_closed
 * @events: number of asynchronous events
 * @first_event: ERDMA_AE_* of the first event that the adapter raised; stable, like
 *	@first_syndrome, once @first_event_time is set
 * @first_syndrome: enum erdma_syndrome
 * @first_event_time: local_clock() of that event, 0 = none yet; written with release, read with
 *	acquire
 * @kqp: NULL for user QPs
 */
struct erdma_qp {
	struct ib_qp ibqp;
	struct eadm_object obj;
	struct erdma_ctx *ctx;
	struct pid *owner;
	kuid_t owner_uid;
	u32 qpn;
	u32 sq_depth;
	u32 rq_depth;
	bool signal_all;
	u32 cookie;
	struct erdma_hostmem *mem;
	struct erdma_dbref db;
	struct mutex state_lock;	/* serialises state changes */
	enum erdma_qp_state state;
	u64 state_since;
	spinlock_t conn_lock;		/* protects connected, conn */
	bool connected;
	struct erdma_rts conn;
	void (*cm_closed)(struct erdma_qp *qp, void *cm_data);
	void *cm_data;
	atomic64_t events;
	u8 first_event;
	u8 first_syndrome;
	u64 first_event_time;
	struct erdma_kqp *kqp;
};

int erdma_ctx_begin(struct eadm_adapter *ad, struct eadm_ctx *base, struct ib_udata *udata);
void erdma_ctx_end(struct eadm_adapter *ad, struct eadm_ctx *base);

int erdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
void erdma_cq_purge(struct erdma_cq *cq, u32 qpn);
void erdma_cq_event(struct erdma_cq *cq, u64 now);
u32 erdma_cq_requests(const struct erdma_cq *cq, u64 db);
void erdma_cq_kick(struct erdma_cq *cq);
int erdma_cq_revive(struct erdma_cq *cq);

int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int erdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
enum ib_qp_state erdma_qp_ib_state(const struct erdma_qp *qp);
int erdma_qp_modify_to_rts(struct erdma_qp *qp, const struct erdma_rts *rts);
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state state);
int erdma_qp_attach_cm(struct erdma_qp *qp,
		       void (*closed)(struct erdma_qp *qp, void *cm_data), void *cm_data);
void erdma_qp_detach_cm(struct erdma_qp *qp);
struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn);
void erdma_qp_died(struct erdma_qp *qp);
void erdma_qp_event(struct erdma_qp *qp, enum ib_event_type type);

int erdma_kqp_init(struct erdma_qp *qp, const struct ib_qp_init_attr *attr);
void erdma_kqp_free(struct erdma_qp *qp);
void erdma_kqp_reflush(struct erdma_qp *qp);

void erdma_mr_invalidated(struct erdma_dev *dev, u32 stag);
int erdma_check_mr(struct eadm_adapter *ad, u64 length, u64 virt, int access,
		   struct ib_udata *udata);
struct ib_mr *erdma_reg_mr(struct ib_pd *ibpd, struct ib_umem *umem, bool dmabuf, u64 length,
			   u64 virt, int access, struct ib_udata *udata);

bool erdma_qp_end(struct erdma_dev *dev, const struct erdma_qp *qp);
bool erdma_cq_end(struct erdma_dev *dev, const struct erdma_cq *cq, u32 epoch);
bool erdma_mr_end(struct erdma_dev *dev, const struct erdma_mr *mr);

/* Verbs of objects, and those used by the RDMA core's connection manager. */
extern const struct ib_device_ops erdma_pd_ops;
extern const struct ib_device_ops erdma_cq_ops;
extern const struct ib_device_ops erdma_qp_ops;
extern const struct ib_device_ops erdma_wr_ops;
extern const struct ib_device_ops erdma_mr_ops;
extern const struct ib_device_ops erdma_mmap_ops;
extern const struct ib_device_ops erdma_stats_ops;
extern const struct ib_device_ops erdma_iw_ops;

#endif /* ERDMA_VERBS_H */
