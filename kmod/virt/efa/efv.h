/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual EFA adapter: the model of the device behind a PCI function emulated by core/vdev.h. It is
 * independent of the driver; the interface is PCI.
 *
 * Accesses cannot be trapped, so registers and doorbells are polled. Most are levels or counters;
 * three are neither, and need care:
 *   MMIO_REG_READ	is read, then DEV_CTL is checked, then the response is written.
 *			This also happens in a hard interrupt, because the driver waits
 *			without letting any other task run, and during a reset request.
 *			So a reset that is requested or in progress is detected before
 *			any object is destroyed (regs.c)
 *   EQ_DB		is shared by all event queues, and the last write wins, so all
 *			event queues always count as armed
 *   doorbell of a CQ	a request for an event may be overwritten by a plain index: an
 *			event is due when the sequence number equals the number of
 *			events sent and there are entries beyond the index
 *
 * A send queue is in BAR 2 and is copied when its doorbell is rung. Each work request has its own
 * state: a request that waits for a receive or a peer does not block other requests.
 *
 * Lock order, outermost first, nested in that of core/vdev.h:
 *   vdev.lock, vdev.turn	registers, admin queues
 *   efv_fabric			objects of all adapters, and the list of reachable
 *				adapters: changed by commands with write access, used by
 *				the data path with read access
 *   efv_qp.sq_lock		a send queue: held while executing its work requests
 *   efv_qp.rq_lock		a receive queue, of the same QP as the send queue or of a
 *				different QP; two of these locks are never held at once
 *   vdev_sched.lock		lists of the QPs to poll
 *   efv_cq.lock		one CQ's indices
 *   efv_eq.lock		one event queue's index
 *   vdev_msi.lock, vdev_fault.lock
 */
#ifndef EFV_H
#define EFV_H

#include <linux/bitfield.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "../core/vdev.h"
#include "efa_hw.h"
#include "family.h"
#include "fault.h"

#define EFV_DB_BAR		4

#define EFV_REGS_SIZE		SZ_64K
#define EFV_MSIX_TABLE		0x8000
#define EFV_MSIX_PBA		0xc000
#define EFV_MEM_SIZE		SZ_2M
#define EFV_DB_SIZE		SZ_1M

/* There is one page per UAR, regardless of the CPU's page size, so two UARs never share a page. */
#define EFV_DB_PAGE		SZ_4K
#define EFV_DB_SLOT		8
#define EFV_DB_SLOTS		(EFV_DB_PAGE / EFV_DB_SLOT)
#define EFV_MAX_UAR		(EFV_DB_SIZE / EFV_DB_PAGE)
#define EFV_LLQ_PAGES		(EFV_MEM_SIZE / SZ_4K)

#define EFV_MAX_VECTORS		33
#define EFV_MAX_EQ		(EFV_MAX_VECTORS - 1)
#define EFV_MAX_SUBS		4
#define EFV_NO_SPACE		(~0u)
#define EFV_NOT_DEAF		(~0u)

struct efv_adapter;

/* ---- Adapter parameters, set through configfs before plugging ----------- */

struct efv_params {
	u8 gid[16];
	u32 generation;			/* number of the PCI device: 1d0f:efa0 to efa3 */
	u32 version;			/* register value */
	u32 fw_version;
	u32 caps;			/* EFA_DEV_CAP_* */
	u32 features;			/* bit n: feature n */
	u32 mtu;
	u32 max_rdma;
	u32 max_qp;
	u32 max_cq;
	u32 max_mr;
	u32 max_pd;
	u32 max_ah;
	u32 ah_per_pd;			/* 1: AH numbers are unique inside a PD only */
	u32 max_eq;			/* 0: as many as the vectors allow */
	u32 max_mr_pages;
	u32 max_sq_depth;
	u32 min_sq_depth;
	u32 any_sq_bytes;		/* 1: also fewer than work requests need */
	u32 max_rq_depth;
	u32 max_cq_depth;
	u32 max_tx_batch;
	u32 max_inline_ext;
	u32 sub_cqs;
	u32 speed;			/* Gbit/s */
	u32 keep_alive;			/* ms, 0: never */
	u32 cmd_timeout;		/* register value, in 100 ms */
	u32 hint_mmio_timeout;		/* ms, as all hints; 0: none */
	u32 hint_watchdog;
	u32 hint_cmd_timeout;
	u32 hint_poll_interval;
};

/* ---- Admin queues ------------------------------------------------------- */

/**
 * struct efv_aq - command ring and completion ring
 * @pi: doorbell value, @ci: next command; both free-running
 * @deaf: value of a lost doorbell; more than 16 bits: none
 * @cq_pi: next completion to write
 * @holding: @held, whose opcode is @held_opcode, is not written before @held_until
 */
struct efv_aq {
	u32 depth;
	u16 pi;
	u16 ci;
	u32 deaf;
	u32 cq_pi;
	struct vdev_buf sq;
	struct vdev_buf cq;
	bool holding;
	u8 held_opcode;
	ktime_t held_until;
	struct efa_acqe held;
};

/**
 * struct efv_aenq - ring of asynchronous events
 * @groups: event groups that the driver has enabled
 * @next_alive: time of the next keep-alive
 */
struct efv_aenq {
	u32 depth;
	u32 pi;
	u32 groups;
	ktime_t next_alive;
	struct vdev_buf ring;
};

/* ---- Objects, all protected by efv_fabric unless stated otherwise ------ */

/**
 * struct efv_uar - page of doorbells
 * @used: slots in use
 */
struct efv_uar {
	u16 number;
	DECLARE_BITMAP(used, EFV_DB_SLOTS);
};

struct efv_pd {
	u32 users;
};

/**
 * struct efv_ah - address handle
 * @refs: number of times it was created
 * @answered: the peer has responded at least once; set by any thread
 */
struct efv_ah {
	u16 pd;
	u8 gid[16];
	u32 refs;
	bool answered;
};

/**
 * struct efv_mr - memory region
 * @page: addresses of its pages; NULL: all DMA addresses
 */
struct efv_mr {
	u16 pd;
	u8 shift;
	u8 rights;			/* EFA_MR_* */
	u32 key;
	u64 iova;
	u64 length;
	u64 *page;
};

/**
 * struct efv_eq - event queue
 * @lock: protects the members below
 */
struct efv_eq {
	spinlock_t lock;		/* see above */
	bool exists;
	u8 vector;
	u32 depth;
	u32 pi;
	struct vdev_buf ring;
};

/**
 * struct efv_cq - completion queue
 * @depth: number of entries in one part
 * @size: size of an entry in bytes
 * @users: number of QPs
 * @next_sub: part to assign to the next QP
 * @link: entry in efv_adapter.event_cqs if the CQ has events
 * @lock: protects the members below
 * @pi: producer index of each part, free-running
 * @written: number of entries written in all parts
 * @sent: number of events sent
 */
struct efv_cq {
	struct efv_adapter *ad;
	u16 cqn;
	u16 uar;
	u16 eqn;
	u16 subs;
	u32 depth;
	u32 size;
	u32 db;
	bool events;
	bool src_addr;
	u32 users;
	u16 next_sub;
	struct vdev_buf ring;
	struct list_head link;
	spinlock_t lock;		/* protects the members below and the entries */
	u32 pi[EFV_MAX_SUBS];
	u16 written;
	u16 sent;
};

/**
 * struct efv_wqe - a copied work request that has not completed
 * @link: entry in efv_qp.todo; empty if the slot is free
 * @not_before: earliest time of the next step
 * @done: bytes moved so far
 * @lost: number of consecutive transmissions without a response
 * @rnr: number of attempts without a posted receive
 * @begun: the request has been counted
 * @raw: copy of the request
 */
struct efv_wqe {
	struct list_head link;
	ktime_t not_before;
	u32 done;
	u16 lost;
	u16 rnr;
	bool begun;
	u8 raw[EFA_WQE_LONG_SIZE] __aligned(8);
};

/**
 * struct efv_qp - queue pair
 * @state: read without lock by the data path
 * @queue: polled in RTS and ERR
 * @sq_lock: protects @wqe, @todo, @sq_pi, @sq_deaf
 * @rq_lock: protects @rq_ci, @rq_pi, @rq_deaf
 * @sq_deaf: value of a lost doorbell; more than 16 bits: none. @rq_deaf likewise
 * @sq_pi: WQEs copied, @rq_pi: descriptors posted, @rq_ci: taken
 */
struct efv_qp {
	struct efv_adapter *ad;
	u16 qpn;
	u16 pd;
	u16 uar;
	u8 type;
	u8 state;
	u8 rnr_retry;
	bool unsolicited;
	u32 qkey;
	u32 psn;
	u32 sq_db;
	u32 rq_db;
	u32 llq;
	u32 llq_pages;
	u32 sq_depth;
	u32 wqe_size;
	u32 rq_depth;			/* number of descriptors */
	u16 send_sub;
	u16 recv_sub;
	struct efv_cq *send_cq;
	struct efv_cq *recv_cq;
	struct vdev_queue queue;
	ktime_t stall_until;
	struct mutex sq_lock;		/* see above */
	struct mutex rq_lock;		/* see above */
	u16 sq_pi;
	u16 rq_pi;
	u16 rq_ci;
	u32 sq_deaf;
	u32 rq_deaf;
	struct vdev_buf rq;
	struct efv_wqe *wqe;
	struct list_head todo;
};

/* A posted receive; consumed by efv_rq_take(). */
struct efv_recv {
	u16 req_id;
	u16 count;			/* descriptors */
	u32 length;
	bool bad;			/* the memory does not belong to the receiver */
	struct vdev_sgl sgl;
};

/* Index of a counter: type * EFA_STATS_VALUES + place. */
enum efv_stat {
	EFV_TX_BYTES			= EFA_STATS_BASIC * EFA_STATS_VALUES,
	EFV_TX_PACKETS,
	EFV_RX_BYTES,
	EFV_RX_PACKETS,
	EFV_RX_DROPS,
	EFV_QKEY_VIOLATIONS,
	EFV_SEND_BYTES			= EFA_STATS_MESSAGES * EFA_STATS_VALUES,
	EFV_SEND_WRS,
	EFV_RECV_BYTES,
	EFV_RECV_WRS,
	EFV_READ_WRS			= EFA_STATS_READ * EFA_STATS_VALUES,
	EFV_READ_BYTES,
	EFV_READ_ERRORS,
	EFV_READ_RESP_BYTES,
	EFV_WRITE_WRS			= EFA_STATS_WRITE * EFA_STATS_VALUES,
	EFV_WRITE_BYTES,
	EFV_WRITE_ERRORS,
	EFV_WRITE_RECV_BYTES,
	EFV_RETRANS_BYTES		= EFA_STATS_NETWORK * EFA_STATS_VALUES,
	EFV_RETRANS_PACKETS,
	EFV_RETRANS_TIMEOUTS,
	EFV_UNRESPONSIVE,
	EFV_IMPAIRED,
	EFV_STATS			= EFA_STATS_TYPES * EFA_STATS_VALUES
};

/* ---- The adapter -------------------------------------------------------- */

/**
 * struct efv_adapter - one virtual adapter
 * @vdev: common part of all families, first; its @lock protects the members below unless stated
 *	otherwise
 * @params: protected by @vdev.plug_lock
 * @attached: the driver's DMA addresses can be translated
 * @reset_at: time at which a reset delayed by a knob is performed, 0: none; read without the lock
 *	held
 * @reset_pending: a reset was requested and has not been performed yet
 * @in_reset: the reset has been performed, and the request is still present
 * @reset_reason: reason of the last request; read without the lock held, for display
 * @mgmt_pending: an interrupt of vector 0 is held back by INTR_MASK
 * @host: host information from the driver, or zeroes
 * @link: entry in the list of reachable adapters
 * @stats: updated by threads of any adapter
 */
struct efv_adapter {
	struct vdev vdev;
	struct efv_params params;
	bool attached;
	ktime_t reset_at;
	bool reset_pending;
	bool in_reset;
	u32 reset_reason;
	bool mgmt_pending;
	ktime_t booted;
	struct efv_aq aq;
	struct efv_aenq aenq;
	struct efa_host_info host;
	atomic64_t stats[EFV_STATS];
	struct list_head link;		/* this and all below: efv_fabric */
	struct xarray uars;
	struct xarray pds;
	struct xarray ahs;
	struct xarray mrs;
	struct xarray cqs;
	struct xarray qps;
	u32 next_pd;
	u32 next_ah;
	u32 next_mr;
	u32 next_cq;
	u32 next_qp;
	u8 mr_tag;
	struct efv_eq eq[EFV_MAX_EQ];
	struct list_head event_cqs;
	DECLARE_BITMAP(llq_used, EFV_LLQ_PAGES);
};

static_assert(offsetof(struct efv_adapter, vdev) == 0);

static inline struct efv_adapter *efv_adapter_of(struct vdev *vdev)
{
	return container_of(vdev, struct efv_adapter, vdev);
}

#define efv_log(ad, level, fmt, ...) \
	vdev_log(&(ad)->vdev, VDEV_LOG_##level, fmt, ##__VA_ARGS__)

static inline u32 efv_reg_read(const struct efv_adapter *ad, u32 reg)
{
	return vdev_read32(&ad->vdev, EFA_REGS_BAR, reg);
}

static inline void efv_reg_write(const struct efv_adapter *ad, u32 reg, u32 val)
{
	vdev_write32(&ad->vdev, EFA_REGS_BAR, reg, val);
}

static inline u32 efv_db_read(const struct efv_adapter *ad, u32 db)
{
	return vdev_read32(&ad->vdev, EFV_DB_BAR, db);
}

static inline void efv_db_clear(const struct efv_adapter *ad, u32 db)
{
	vdev_write32(&ad->vdev, EFV_DB_BAR, db, 0);
}

static_assert(EFA_AQ_FLAGS_PHASE == 1 && EFA_CQE_PHASE == 1 && EFA_EQE_PHASE == 1);

/* Returns the phase bit of a new entry: 1 in the first lap. It is the lowest bit in all formats. */
static inline u8 efv_phase(u32 pi, u32 depth)
{
	return pi & depth ? 0 : 1;
}

static inline void efv_count(struct efv_adapter *ad, enum efv_stat stat, u64 n)
{
	atomic64_add(n, &ad->stats[stat]);
}

/* Returns true if a fault occurs at this point, see vdev_fault_hit(). */
static inline bool efv_fault_hit(struct efv_adapter *ad, enum efv_fault_id id,
				 s64 target, u64 *arg)
{
	return vdev_fault_hit(&ad->vdev, id, target, arg);
}

/* fabric.c */
extern struct rw_semaphore efv_fabric;
struct efv_adapter *efv_adapter_find(const u8 *gid);
void efv_adapter_join(struct efv_adapter *ad);
void efv_adapter_leave(struct efv_adapter *ad);

/* params.c */
extern struct configfs_attribute *const efv_attrs[];
void efv_params_setup(struct efv_adapter *ad);
u32 efv_max_eq(const struct efv_adapter *ad);

/* regs.c */
bool efv_regs_is_reset_asked(const struct efv_adapter *ad);
bool efv_regs_answer(struct efv_adapter *ad);
bool efv_regs_reset_due(struct efv_adapter *ad);
void efv_regs_reset_done(struct efv_adapter *ad);
void efv_regs_clear(struct efv_adapter *ad);

/* aq.c */
int efv_aq_init(struct efv_adapter *ad);
void efv_aq_exit(struct efv_adapter *ad);
bool efv_aq_poll(struct efv_adapter *ad);

/* mgmt.c */
void efv_mgmt_raise(struct efv_adapter *ad);
bool efv_mgmt_poll(struct efv_adapter *ad);

/* aenq.c */
int efv_aenq_init(struct efv_adapter *ad);
void efv_aenq_exit(struct efv_adapter *ad);
bool efv_aenq_post(struct efv_adapter *ad, u16 group, u16 syndrome);
bool efv_aenq_poll(struct efv_adapter *ad);

/*
 * cmd_*.c: one function per command; the model's turn, efv_fabric held for writing. @req and @resp
 * are one whole entry each, @resp is zeroed.
 */
typedef enum efa_status efv_cmd_fn(struct efv_adapter *ad, const void *req, void *resp);

efv_cmd_fn efv_cmd_get_feature;
efv_cmd_fn efv_cmd_set_feature;
efv_cmd_fn efv_cmd_get_stats;
efv_cmd_fn efv_cmd_alloc_pd;
efv_cmd_fn efv_cmd_dealloc_pd;
efv_cmd_fn efv_cmd_alloc_uar;
efv_cmd_fn efv_cmd_dealloc_uar;
efv_cmd_fn efv_cmd_create_ah;
efv_cmd_fn efv_cmd_destroy_ah;
efv_cmd_fn efv_cmd_create_eq;
efv_cmd_fn efv_cmd_destroy_eq;
efv_cmd_fn efv_cmd_create_cq;
efv_cmd_fn efv_cmd_destroy_cq;
efv_cmd_fn efv_cmd_create_qp;
efv_cmd_fn efv_cmd_modify_qp;
efv_cmd_fn efv_cmd_query_qp;
efv_cmd_fn efv_cmd_destroy_qp;
efv_cmd_fn efv_cmd_reg_mr;
efv_cmd_fn efv_cmd_dereg_mr;

static inline u64 efv_addr(__le32 lo, __le32 hi)
{
	return (u64)le32_to_cpu(hi) << 32 | le32_to_cpu(lo);
}

/* Status of a command that failed inside the model. */
static inline enum efa_status efv_status_of(int err)
{
	return err == 0 ? EFA_ST_SUCCESS : err == -ENOMEM ? EFA_ST_NO_RESOURCE :
	       EFA_ST_ILLEGAL;
}

/* place.c */
u32 efv_db_alloc(struct efv_adapter *ad, u16 uar);
void efv_db_free(struct efv_adapter *ad, u16 uar, u32 db);
u32 efv_llq_alloc(struct efv_adapter *ad, u32 pages);
void efv_llq_free(struct efv_adapter *ad, u32 llq, u32 pages);

/* ah.c */
struct efv_ah *efv_ah_find(struct efv_adapter *ad, u16 pd, u16 number);
u16 efv_ah_number(struct efv_adapter *ad, u16 pd, const u8 *gid);

/* eq.c */
void efv_eq_setup(struct efv_eq *eq);
int efv_eq_init(struct efv_adapter *ad, struct efv_eq *eq, u64 addr, u32 depth, u8 vector);
void efv_eq_exit(struct efv_eq *eq);
void efv_eq_post(struct efv_adapter *ad, u16 eqn, u16 cqn);

/* cq.c */
void efv_cq_free(struct efv_cq *cq);
void efv_cq_post(struct efv_cq *cq, u16 sub, const struct efa_cqe *cqe);
bool efv_cq_poll(struct efv_adapter *ad);

/* mr.c */
void efv_mr_free(struct efv_mr *mr);
struct efv_mr *efv_mr_find(struct efv_adapter *ad, u32 key);
bool efv_sgl_add(struct vdev_sgl *sgl, struct efv_adapter *ad, u16 pd, u32 key, u64 addr,
		 u32 len, u8 right);

/* qp.c */
struct efv_qp *efv_qp_find(struct efv_adapter *ad, u16 qpn);
void efv_qp_free(struct efv_qp *qp);
void efv_qp_clear(struct efv_qp *qp);

/* serve.c */
void efv_qp_flush(struct efv_qp *qp);
bool efv_qp_poll(struct vdev *vdev);

/* rq.c */
bool efv_rq_peek(struct efv_qp *qp, struct efv_recv *recv);
void efv_rq_take(struct efv_qp *qp, const struct efv_recv *recv);
bool efv_rq_flush(struct efv_qp *qp);

/* sq.c */
bool efv_sq_update(struct efv_qp *qp);
bool efv_sq_run(struct efv_qp *qp);
bool efv_sq_flush(struct efv_qp *qp);

/* xfer.c: results of steps of a work request, in addition to enum efa_comp_status. */
#define EFV_WAIT		(-1)	/* a condition is not met yet, poll again */
#define EFV_MORE		(-2)	/* not done yet, yield to other requests */

int efv_xfer(struct efv_qp *qp, struct efv_wqe *w, u32 *budget);

#endif /* EFV_H */
