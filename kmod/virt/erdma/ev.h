/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual ERDMA adapter: the model of the device behind a PCI function emulated by core/vdev.h. It
 * is independent of the driver; the interface is PCI.
 *
 * Registers with a single writer (control, CMDQ and EQ doorbells) are read from BAR0 and, when
 * consumed, set to a value that is not a doorbell, so that two equal writes are both detected.
 *
 * Lock order, outermost first, nested in that of core/vdev.h:
 *   vdev.lock, vdev.turn	registers, CMDQ
 *   ev_fabric			all adapters' QPs, CQs, MRs and connections of
 *				QPs: changed by commands with write access,
 *				used by the data path with read access
 *   ev_qp.link			two connected QPs and their queues
 *   ev_mr.lock			members of an MR that work requests change
 *   vdev_sched.lock		lists of the QPs to poll
 *   ev_cq.lock			one CQ's indices
 *   ev_adapter.watch_lock	list of CQs
 *   ev_eq.lock			one EQ's indices
 *   vdev_msi.lock, vdev_fault.lock
 * ev_eq.lock and the locks below it are also taken in hard interrupts; the locks above it are not.
 */
#ifndef EV_H
#define EV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "../core/vdev.h"
#include "erdma_hw_ops.h"
#include "family.h"
#include "fault.h"

/* BAR2 contains only the MSI-X table and the pending bits. */
#define EV_BAR2_SIZE		0x1000
#define EV_MSIX_TABLE		0x000
#define EV_MSIX_PBA		0x800

#define EV_EXT_ATTRS		(ERDMA_EXT_ATTR_DELAYED_ACK | ERDMA_EXT_ATTR_LEGACY)

struct ev_adapter;

/*
 * Syndromes of failed commands. The hardware interface does not define the numbers; these follow
 * errno, because one driver generation passes them on unchanged.
 */
enum ev_syndrome {
	EV_OK			= 0,
	EV_NO_OBJECT		= 2,	/* ENOENT: no such QP, CQ, EQ, MR */
	EV_NO_MEMORY		= 12,	/* ENOMEM: the model has no memory */
	EV_BAD_ADDRESS		= 14,	/* EFAULT: DMA address is not in memory */
	EV_BUSY			= 16,	/* EBUSY: other objects use this one */
	EV_EXISTS		= 17,	/* EEXIST: the number is in use */
	EV_INVALID		= 22,	/* EINVAL: a field's value */
	EV_NO_SPACE		= 28,	/* ENOSPC: no doorbell page left */
	EV_RANGE		= 34,	/* ERANGE: number out of range */
	EV_UNKNOWN		= 38,	/* ENOSYS: opcode */
	EV_BAD_INDEX		= 71,	/* EPROTO: WQEBB index is not the PI */
	EV_SHORT		= 90,	/* EMSGSIZE: slot too small */
};

/* ---- Adapter parameters, set through configfs before plugging ----------- */

struct ev_params {
	u8 mac[6];
	bool mac_set;
	u32 qblock;
	u32 max_mr_size;		/* log2 */
	u32 max_recv_wr;		/* log2 */
	u32 max_cqe;			/* log2 */
	u32 flags;			/* ERDMA_FLAG_* */
	u32 grp_num;
	u32 version;			/* register value */
	u32 fw_version;
	u32 cc;
	u32 reset_done;			/* RESET_DONE is reported */
	u32 proto;			/* register value */
};

/* ---- Model objects ------------------------------------------------------ */

/**
 * struct ev_eq - event queue: AEQ, command EQ or CEQ
 * @lock:     protects @pi, @ci, @armed, @overflow and the entries
 * @exists:   set up by INIT or CREATE_EQ
 * @reg:      BAR0 offset of the doorbell
 * @pi:       next entry to write, free running
 * @ci:       the driver's consumer index at its last doorbell, 16 bits
 * @armed:    the next entry raises the vector
 * @db:       last doorbell
 * @overflow: the ring was full; an entry for a CQ waits for room
 */
struct ev_eq {
	spinlock_t lock;		/* indices and entries */
	bool exists;
	bool armed;
	bool overflow;
	u16 vector;
	u16 ci;
	u32 reg;
	u32 pi;
	u32 depth;
	u64 db;
	u64 ring_addr;
	u64 dbrec_addr;
	struct vdev_buf ring;
};

/**
 * struct ev_cmd - a command being executed
 * @index:    first WQEBB of the command
 * @len:      number of bytes in @req
 * @syndrome: result
 * @resp:     response qwords
 * @req:      copy of the slot, so that the driver cannot change it concurrently
 */
struct ev_cmd {
	u8 sub_mod;
	u8 opcode;
	u16 index;
	u32 len;
	enum ev_syndrome syndrome;
	u64 resp[2];
	union {
		__le64 hdr;
		u8 req[128];
	};
};

/**
 * struct ev_cmdq - command queue
 * @ci:      next WQEBB to fetch, 16 bits, free-running
 * @sq_pi:   last SQ doorbell
 * @last:    index of the last completed command
 * @cq_pi:   next CQE to write
 * @armed:   the driver waits for an event
 * @arm_ci:  the driver's consumer index when it armed
 * @arm_db:  last CQ doorbell
 * @held:    executed command whose completion waits until @held_until
 */
struct ev_cmdq {
	u32 depth;
	u16 ci;
	u16 sq_pi;
	u16 last;
	u32 cq_pi;
	u32 arm_ci;
	u64 arm_db;
	bool armed;
	u64 sq_addr;
	u64 cq_addr;
	u64 sq_dbrec_addr;
	u64 cq_dbrec_addr;
	__le64 *sq_dbrec;
	__le64 *cq_dbrec;
	struct vdev_buf sq;
	struct vdev_buf cq;
	bool holding;
	ktime_t held_until;
	struct ev_cmd held;
};

/**
 * struct ev_cq - completion queue
 * @lock:      protects the members below; those above are constant
 * @users:     number of work queues that use the CQ; protected by ev_fabric
 * @watch:     link in ev_adapter.cq_watch while its doorbell is polled
 * @pi:        next entry to write, free running
 * @sol_pi:    @pi after the last entry that counts for a solicited-only arm
 * @arm_ci:    consumer index at the last arm
 * @armed:     the next qualifying entry causes an event
 * @solicited: only solicited and failed entries qualify
 * @db:        last doorbell record seen
 * @dead:      in the error state: no more entries are written
 */
struct ev_cq {
	struct ev_adapter *ad;
	u32 cqn;
	u32 depth;
	u16 eqn;
	u16 db_page;
	u32 users;
	u64 addr;
	u64 dbrec_addr;
	__le64 *dbrec;
	struct vdev_buf ring;
	struct list_head watch;
	spinlock_t lock;		/* protects the members below and the entries */
	u32 pi;
	u32 sol_pi;
	u32 arm_ci;
	bool armed;
	bool solicited;
	bool dead;
	bool out_of_order_last;
	u8 out_of_order;
	u8 duplicate;
	u32 bad_db_ci;
	u64 db;
};

/* Contents of a completion. */
struct ev_wc {
	u32 qpn;
	u32 bytes;
	u32 data;			/* immediate data or invalidated stag */
	u16 index;
	u8 opcode;
	u8 qtype;
	u8 syndrome;
	bool solicited;
};

/**
 * struct ev_wq - send or receive queue
 * @depth:  in units of 32 bytes, which all indices count
 * @pi:     the driver's index at the last doorbell or REFLUSH, 16 bits
 * @ci:     next entry to execute
 * @last:   index of the last completed entry
 * @cqes:   number of completions written
 * @flushed_pi: @pi up to which entries were flushed
 * @deaf: a doorbell was lost: its index, @deaf_pi, is ignored
 */
struct ev_wq {
	struct vdev_buf ring;
	struct ev_cq *cq;
	u64 addr;
	u64 dbrec_addr;
	__le64 *dbrec;
	u32 depth;
	u32 page_offset;
	u8 page_shift;
	u16 db_page;
	u16 pi;
	u16 ci;
	u16 last;
	u16 cqes;
	u16 flushed_pi;
	u16 deaf_pi;
	bool deaf;
};

/**
 * struct ev_wqe - the current work request of a send queue
 * @hdr:    first word of the request
 * @not_before: earliest time of the next step
 * @length: bytes to move
 * @done:   bytes moved so far
 * @lost:   number of consecutive transmissions without a response
 * @count:  building blocks
 * @sges:   scatter/gather elements
 * @loaded: the members below are valid
 * @placed: all data has been placed, but the request is not finished
 * @receive_failed: the partner's receive caused the error
 * @begun: the knobs that strike once per request have been checked
 * @raw:    copy of the request
 */
struct ev_wqe {
	u64 hdr;
	ktime_t not_before;
	ktime_t knock_at;	/* time to request a receive, while waiting */
	u32 length;
	u32 done;
	u16 lost;
	u16 count;
	u8 opcode;
	u8 sges;
	bool loaded;
	bool placed;
	bool receive_failed;
	bool begun;
	union {
		u8 raw[ERDMA_MAX_SQEBB_PER_WQE * ERDMA_WQEBB_SIZE] __aligned(8);
		struct erdma_send_sqe send;
		struct erdma_write_sqe write;
		struct erdma_read_sqe read;
		struct erdma_atomic_sqe atomic;
		struct erdma_reg_mr_sqe reg_mr;
	};
};

/**
 * struct ev_qp - queue pair
 * @lock:  see @link
 * @link: the lock of the pair, @lock of one of the two QPs. With ev_fabric held for reading it
 *	   protects @state and both queues of both QPs; the other members, including @link, are
 *	   changed with ev_fabric held for writing
 * @peer:  partner, set while both are in RTS, until a command stops one of them
 * @waiting: entry in the list of QPs that never had a partner
 * @user:  a process posts requests to the QP
 * @lost:  the QP had a partner
 * @stall_until: time until which nothing is executed
 * @queue: polled in RTS and when stopped
 * @wqe: protected by @link; last because of its flexible arrays
 */
struct ev_qp {
	struct ev_adapter *ad;
	u32 qpn;
	u32 pd;
	bool user;
	enum erdma_qp_state state;
	struct mutex lock;		/* see @link */
	struct mutex *link;
	struct ev_qp *peer;
	struct list_head waiting;
	bool lost;
	ktime_t stall_until;
	struct ev_wq sq;
	struct ev_wq rq;
	struct vdev_queue queue;
	u32 remote_cookie;
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	u8 cc;
	u16 tx_packets;
	u16 rx_packets;
	u32 retransmits;
	struct ev_wqe wqe;
};

/**
 * struct ev_mr - memory region
 * @lock: protects the members that work requests may change, in fast-register MRs only: @pins,
 *	   @valid, @key, @rights, @start, @length, @page_shift, @count, @use_table, @inline_mtt
 * @pins:  number of transfers in progress that use the MR
 * @table: registered table of page addresses, with one level regardless of the driver's table
 * @max_count: entries in @table
 * @default_shift: log2 page size if a work request does not give one
 */
struct ev_mr {
	u32 index;
	u32 pd;
	enum erdma_mr_type type;
	u32 max_count;
	u8 default_shift;
	struct vdev_buf table;
	spinlock_t lock;		/* see above */
	u32 pins;
	bool valid;
	bool use_table;
	u8 key;
	u8 rights;			/* ERDMA_MR_* */
	u8 page_shift;
	u64 start;
	u64 length;
	u32 count;
	u64 inline_mtt[ERDMA_MR_INLINE_MTT];
};

#define EV_MIN_PAGE_SHIFT	12
#define EV_MAX_PAGE_SHIFT	30

/* The index of this key is beyond all MPT entries, so it can never equal an MR's key. */
#define EV_DMA_LOCAL_KEY	0xffffff00

/* ---- Data path ---------------------------------------------------------- */

/* Results of steps of a work request, in addition to 0 and enum erdma_syndrome. */
#define EV_WAIT			(-1)	/* a condition is not met yet, poll again */
#define EV_MORE			(-2)	/* not done yet, yield to other QPs */

/* Reasons for refusing a memory access, in the order of their syndromes (hw 7.2). */
enum ev_violation {
	EV_VIOLATES_NOTHING,
	EV_VIOLATES_STAG,
	EV_VIOLATES_BOUNDS,
	EV_VIOLATES_RIGHTS,
	EV_VIOLATES_PD,
	EV_VIOLATES_WRAP,
};

/* Local accesses need one of these rights; remote accesses need none of them. */
#define EV_LOCAL_RIGHTS		(ERDMA_MR_LR | ERDMA_MR_LW)

static_assert(ERDMA_MAX_SEND_SGE <= VDEV_MAX_SPANS);

/* State of one turn of a send queue; the lists belong to the current request. */
struct ev_xfer {
	struct vdev_sgl dst;
	struct vdev_sgl src;
	u32 budget;			/* bytes */
};

/* Index of a counter in ev_adapter.stats (hw 11). */
enum ev_stat {
	EV_STAT_TX_REQS,
	EV_STAT_TX_PACKETS,
	EV_STAT_TX_BYTES,
	EV_STAT_TX_DISABLE_DROPS,
	EV_STAT_TX_BPS_DROPS,
	EV_STAT_TX_PPS_DROPS,
	EV_STAT_RX_PACKETS,
	EV_STAT_RX_BYTES,
	EV_STAT_RX_DISABLE_DROPS,
	EV_STAT_RX_BPS_DROPS,
	EV_STAT_RX_PPS_DROPS,
};

static_assert(EV_STAT_RX_PPS_DROPS + 1 == ERDMA_STATS_COUNT);

/* MTU before the first CONF_MTU. */
#define EV_DEFAULT_MTU		1500

/* ---- The adapter -------------------------------------------------------- */

/**
 * struct ev_adapter - one virtual adapter
 * @vdev: common part of all families, first; its @lock protects the members below unless stated
 *	       otherwise
 * @params:    protected by @vdev.plug_lock
 * @stale: commands that end objects are completed, but not executed, until the driver ends bus
 *	       mastering; the objects and INIT_DONE then still exist
 * @left: the driver has ended bus mastering; set by config space, cleared in a pass
 * @reset_at:  time at which a requested reset will be performed
 * @false_until: time until which the version register reads as all ones
 */
struct ev_adapter {
	struct vdev vdev;
	struct ev_params params;
	bool stale;
	bool left;
	ktime_t reset_at;
	ktime_t false_until;
	u32 mtu;
	u32 page_shift;
	u32 retrans_num;
	u32 ext_attrs;
	u8 delayed_ack;
	u8 legacy;
	struct ev_cmdq cmdq;
	struct ev_eq aeq;
	struct ev_eq eq[ERDMA_MAX_VECTORS];	/* by EQN; EQ 0 belongs to the CMDQ */
	u16 db_users[ERDMA_BAR0_SIZE / ERDMA_HW_PAGE_SIZE];
	atomic64_t stats[ERDMA_STATS_COUNT];	/* threads of any adapter */
	struct xarray cqs;			/* this and the following: protected by ev_fabric */
	struct xarray qps;
	struct xarray mrs;
	spinlock_t watch_lock;			/* cq_watch */
	struct list_head cq_watch;
	bool cq_died;				/* threads of any adapter */
};

static_assert(offsetof(struct ev_adapter, vdev) == 0);

static inline struct ev_adapter *ev_adapter_of(struct vdev *vdev)
{
	return container_of(vdev, struct ev_adapter, vdev);
}

#define ev_log(ad, level, fmt, ...) \
	vdev_log(&(ad)->vdev, VDEV_LOG_##level, fmt, ##__VA_ARGS__)

static inline u32 ev_max_qp(const struct ev_adapter *ad)
{
	return ad->params.qblock * ERDMA_QP_PER_QBLOCK;
}

/* The limit is the same for CQs and MRs (hw 4.1). */
static inline u32 ev_max_cq(const struct ev_adapter *ad)
{
	return 2 * ev_max_qp(ad);
}

static inline u32 ev_reg_read(const struct ev_adapter *ad, u32 reg)
{
	return vdev_read32(&ad->vdev, ERDMA_FUNC_BAR, reg);
}

static inline u64 ev_reg_read64(const struct ev_adapter *ad, u32 reg)
{
	return vdev_read64(&ad->vdev, ERDMA_FUNC_BAR, reg);
}

static inline void ev_reg_write(const struct ev_adapter *ad, u32 reg, u32 val)
{
	vdev_write32(&ad->vdev, ERDMA_FUNC_BAR, reg, val);
}

static inline void ev_reg_write64(const struct ev_adapter *ad, u32 reg, u64 val)
{
	vdev_write64(&ad->vdev, ERDMA_FUNC_BAR, reg, val);
}

static inline void ev_reg_cmpxchg64(const struct ev_adapter *ad, u32 reg,
				    u64 old, u64 val)
{
	vdev_cmpxchg64(&ad->vdev, ERDMA_FUNC_BAR, reg, old, val);
}

/* Takes a doorbell. */
static inline u64 ev_reg_take64(const struct ev_adapter *ad, u32 reg)
{
	return vdev_take64(&ad->vdev, ERDMA_FUNC_BAR, reg);
}

/* model.c */
extern struct rw_semaphore ev_fabric;

/* params.c */
extern struct configfs_attribute *const ev_attrs[];
void ev_params_setup(struct ev_adapter *ad);

/* cmdq.c */
int ev_cmdq_init(struct ev_adapter *ad);
void ev_cmdq_reset(struct ev_adapter *ad);
void ev_cmdq_exit(struct ev_adapter *ad);
bool ev_cmdq_poll(struct ev_adapter *ad, bool atomic);

/* cmd_*.c: one function per command; the model's turn, and unless it is atomic, ev_fabric held. */
typedef enum ev_syndrome ev_cmd_fn(struct ev_adapter *ad, struct ev_cmd *cmd);

ev_cmd_fn ev_cmd_query_device;
ev_cmd_fn ev_cmd_query_fw_info;
ev_cmd_fn ev_cmd_conf_device;
ev_cmd_fn ev_cmd_conf_mtu;
ev_cmd_fn ev_cmd_set_retrans_num;
ev_cmd_fn ev_cmd_set_ext_attr;
ev_cmd_fn ev_cmd_get_stats;
ev_cmd_fn ev_cmd_get_ext_attr;
ev_cmd_fn ev_cmd_query_qpc;
ev_cmd_fn ev_cmd_query_cqc;
ev_cmd_fn ev_cmd_query_eqc;
ev_cmd_fn ev_cmd_alloc_db;
ev_cmd_fn ev_cmd_free_db;
ev_cmd_fn ev_cmd_create_eq;
ev_cmd_fn ev_cmd_destroy_eq;
ev_cmd_fn ev_cmd_create_cq;
ev_cmd_fn ev_cmd_destroy_cq;
ev_cmd_fn ev_cmd_create_qp;
ev_cmd_fn ev_cmd_destroy_qp;
ev_cmd_fn ev_cmd_modify_qp;
ev_cmd_fn ev_cmd_reflush;
ev_cmd_fn ev_cmd_reg_mr;
ev_cmd_fn ev_cmd_dereg_mr;

/**
 * ev_syndrome_of() - return the syndrome of a command that failed inside the model
 * @err: 0 or a negative error
 */
static inline enum ev_syndrome ev_syndrome_of(int err)
{
	switch (err) {
	case 0:
		return EV_OK;
	case -ENOMEM:
		return EV_NO_MEMORY;
	case -EFAULT:
		return EV_BAD_ADDRESS;
	case -EBUSY:
		return EV_EXISTS;
	default:
		return EV_INVALID;
	}
}

/* cq.c */
struct ev_cq *ev_cq_find(struct ev_adapter *ad, u32 cqn);
void ev_cq_free(struct ev_cq *cq);
void ev_cq_post(struct ev_cq *cq, const struct ev_wc *wc);
bool ev_cq_poll(struct ev_adapter *ad);
void ev_cq_poll_faults(struct ev_adapter *ad);

/* wq.c */
u64 ev_wq_record(const struct ev_wq *wq);
bool ev_wq_read(const struct ev_wq *wq, u16 index, void *to, u32 size);
bool ev_wq_advance(struct ev_wq *wq, u16 pi);
bool ev_wq_update(struct ev_qp *qp, struct ev_wq *wq);

/* flush.c */
bool ev_qp_flush(struct ev_qp *qp);
void ev_qp_drain(struct ev_qp *qp);
void ev_qp_halt(struct ev_qp *qp, enum erdma_qp_state state,
		enum erdma_aeqe_type type, u8 syndrome);
void ev_qp_reflush(struct ev_qp *qp, u16 sq_pi, u16 rq_pi);

/* sq.c */
bool ev_sq_serve(struct ev_qp *qp, u32 budget);

/* qp.c */
struct ev_qp *ev_qp_find(struct ev_adapter *ad, u32 qpn);
void ev_qp_free(struct ev_qp *qp);
void ev_qp_stop(struct ev_qp *qp, enum erdma_qp_state state);

/* May be called without the lock held: a missed change is detected by the next call. */
static inline bool ev_qp_is_stopped(const struct ev_qp *qp)
{
	return READ_ONCE(qp->state) >= ERDMA_QPS_CLOSING;
}

/* serve.c */
bool ev_qp_poll(struct vdev *vdev);
void ev_qp_poll_faults(struct ev_adapter *ad);

/* rq.c */
int ev_rq_peek(struct ev_qp *qp, struct erdma_rqe *rqe);
void ev_rq_complete(struct ev_qp *qp, struct ev_wc *wc);

/* access.c */
enum ev_violation ev_sgl_add(struct vdev_sgl *sgl, struct ev_qp *qp, u32 key,
			     u64 addr, u32 len, u8 rights);
void ev_sgl_put(struct vdev_sgl *sgl);

/* frmr.c */
int ev_frmr_register(struct ev_qp *qp, const struct erdma_reg_mr_sqe *sqe,
		     u32 inline_room);
int ev_frmr_invalidate(struct ev_qp *qp, u32 stag);

/* conn.c */
void ev_conn_open(struct ev_qp *qp);
void ev_conn_close(struct ev_qp *qp);

/* mr.c */
struct ev_mr *ev_mr_find(struct ev_adapter *ad, u32 index);
void ev_mr_free(struct ev_mr *mr);

/* mtt.c */
int ev_mtt_map_ring(struct ev_adapter *ad, struct vdev_buf *ring,
		    const __le64 *entry, u32 count, u8 page_shift, u32 off,
		    u64 len);
int ev_mtt_map_ring_table(struct ev_adapter *ad, struct vdev_buf *ring, u64 table,
			  u32 count, u8 page_shift, u32 off, u64 len);
int ev_mtt_map_tree(struct ev_adapter *ad, struct vdev_buf *out, u64 table,
		    u64 count, u32 level, u8 mtt_page_shift);

/* eq.c */
void ev_eq_setup(struct ev_eq *eq);
int ev_eq_init(struct ev_adapter *ad, struct ev_eq *eq, u64 ring_addr,
	       u32 depth, u64 dbrec_addr, u16 vector, u32 reg);
void ev_eq_exit(struct ev_eq *eq);
bool ev_eq_post(struct ev_adapter *ad, struct ev_eq *eq, u64 lo, u64 hi);
bool ev_eq_poll(struct ev_adapter *ad, struct ev_eq *eq);
void ev_eq_post_async(struct ev_adapter *ad, u32 id, u8 type, u8 sub_type);

/* Returns true if a fault might occur for any target. */
static inline bool ev_fault_is_on(const struct ev_adapter *ad, enum ev_fault_id id)
{
	return vdev_fault_is_on(&ad->vdev, id);
}

/* Returns true if a fault occurs at this point, see vdev_fault_hit(). */
static inline bool ev_fault_hit(struct ev_adapter *ad, enum ev_fault_id id,
				s64 target, u64 *arg)
{
	return vdev_fault_hit(&ad->vdev, id, target, arg);
}

#endif /* EV_H */
