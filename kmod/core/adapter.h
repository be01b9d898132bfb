/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An adapter with a command queue, independent of its family: lost commands, function resets and
 * removal.
 */
#ifndef EADM_ADAPTER_H
#define EADM_ADAPTER_H

#include <linux/pci.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "commands.h"
#include "eadm_debug.h"
#include "eadm_diag.h"
#include "eadm_failures.h"
#include "object.h"
#include "orphan.h"
#include "presence.h"

struct eadm_adapter;
struct eadm_cmd;
struct eadm_slot;
struct eadm_ctx;
struct eadm_ring_bytes;
struct eadm_settings;
struct ib_umem;

/* State of the command queue. */
enum eadm_queue_state {
	EADM_QUEUE_POLLING,	/* no interrupts yet */
	EADM_QUEUE_EVENT,
	EADM_QUEUE_RECOVERING,
	EADM_QUEUE_DEAD,
};

/* Reason for a reset of an adapter. */
enum eadm_reset_reason {
	EADM_RESET_COMMAND_LOST,
	EADM_RESET_FATAL,	/* the adapter reported a fatal error */
	EADM_RESET_START_FAILED,
	EADM_RESET_FUNCTION,	/* the PCI core resets the function */
	EADM_RESET_SHUTDOWN,
};

/* Counters kept by the driver, except those of commands. */
enum eadm_counter {
	EADM_CNT_PD_ALLOC_FAILURES,
	EADM_CNT_QP_CREATE_FAILURES,
	EADM_CNT_CQ_CREATE_FAILURES,
	EADM_CNT_MR_REGISTER_FAILURES,
	EADM_CNT_CTX_ALLOC_FAILURES,
	EADM_CNT_AH_CREATE_FAILURES,
	EADM_CNT_MMAP_FAILURES,
	EADM_CNT_QP_CREATES,
	EADM_CNT_QP_DESTROYS,
	EADM_CNT_CQ_CREATES,
	EADM_CNT_CQ_DESTROYS,
	EADM_CNT_MR_REGISTERS,
	EADM_CNT_MR_DEREGISTERS,
	EADM_CNT_PD_ALLOCS,
	EADM_CNT_PD_DEALLOCS,
	EADM_CNT_CTX_ALLOCS,
	EADM_CNT_CTX_DEALLOCS,
	EADM_CNT_COUNT
};

struct eadm_counters {
	u64 value[EADM_CNT_COUNT];
};

/* Drivers run only on 64-bit CPUs, so a u64 is read and written atomically. */
#define eadm_count(ad, counter) this_cpu_inc((ad)->counters->value[counter])

/**
 * struct eadm_queue_ops - the command queue of a family
 * @name: name of the queue in this family
 * @spin_ns: how long an issuer polls for completion before it sleeps
 * @look_ms: maximum time that an issuer sleeps between two checks of the queue and the adapter
 * @recovery_ms: timeout of commands issued by recovery, unless the general timeout is shorter
 * @room_ms: how long recovery waits for room in the queue
 * @op_class: map the adapter's operation code to EADM_CMD_OP_*
 * @cause_class: map the syndrome of a completion to EADM_CAUSE_*
 * @answered: return whether @process may find a completion; called without the lock held. May be
 *	NULL if @spin_ns is 0
 * @has_room: return whether a command can be submitted
 * @submit: put a command into the queue, which has room for it. Calls eadm_cmd_submitted()
 * @process: consume completions. Calls eadm_cmd_answered() and
 *	eadm_cmd_late()
 * @lose: a command timed out and its slot is marked lost: take over the memory that the adapter may
 *	still use
 * @events: consume events of the queue if their interrupt may be lost; called without the lock
 *	held. May be NULL
 * @missed: a completion was found that no interrupt had announced
 * @serves: the queue is about to use interrupts. May be NULL
 * @sleeps: an issuer is about to sleep. May be NULL
 * @slot: return the slot with this number, NULL if the number is out of range
 * @reset: abort all commands with this status and empty the queue; the adapter is halted
 *
 * Called with the adapter's lock held, except where noted.
 */
struct eadm_queue_ops {
	const char *name;
	u32 spin_ns;
	u32 look_ms;
	u32 recovery_ms;
	u32 room_ms;
	u32 (*op_class)(u32 op);
	u32 (*cause_class)(u32 syndrome);
	bool (*answered)(struct eadm_adapter *ad);
	bool (*has_room)(struct eadm_adapter *ad);
	void (*submit)(struct eadm_adapter *ad, struct eadm_cmd *cmd, bool polled);
	void (*process)(struct eadm_adapter *ad);
	void (*lose)(struct eadm_adapter *ad, struct eadm_cmd *cmd);
	void (*events)(struct eadm_adapter *ad);
	void (*missed)(struct eadm_adapter *ad);
	void (*serves)(struct eadm_adapter *ad);
	void (*sleeps)(struct eadm_adapter *ad);
	struct eadm_slot *(*slot)(struct eadm_adapter *ad, u32 i);
	void (*reset)(struct eadm_adapter *ad, int status);
};

/**
 * struct eadm_step - a step of probe, and its counterpart in removal
 * @begin: return 0, or -errno after undoing everything that @end would undo. Object tables that it
 *	has initialised may stay: they are destroyed after all steps
 * @end: may be NULL
 *
 * Called in process context.
 */
struct eadm_step {
	int (*begin)(struct eadm_adapter *ad);
	void (*end)(struct eadm_adapter *ad);
};

/**
 * struct eadm_adapter_ops - operations of a family
 * @queue: its command queue
 * @settings: its settings
 * @probe: issue a command without side effects. Return 0 if it completed, even with an error
 * @halt: stop the adapter, make it discard all state, and turn bus mastering off. Return whether
 *	the adapter has confirmed this
 * @start: start the adapter again, without objects, with bus mastering on and the queue polled
 * @forget: reset the driver's copy of the adapter's state and, if the adapter has confirmed the
 *	reset, free the memory that commands referred to
 * @has_restarted: called periodically while in service: return true if the adapter seems to have
 *	lost its state without a reset by the driver. False positives are allowed, because recovery
 *	tries a command first
 * @watch: called periodically: handle conditions whose interrupt may have been lost
 * @died: notify the owner of a QP that the adapter no longer has it; the QP is referenced. Called
 *	by recovery: if the adapter is in service again, commands issued by the owner's handler are
 *	executed before all other commands
 * @recovered: recovery has ended. @was_reset: a reset may have discarded the adapter's state;
 *	@was_halted: the adapter was out of service before
 * @free_orphan: free an orphan and its memory
 * @ctx_begin: create a context in the adapter, initialise its object, and respond to @udata; its
 *	maps exist, and it is not visible yet. Return 0 or -errno
 * @ctx_end: undo @ctx_begin; the context is no longer visible
 * @check_mr: check whether a process may register this much memory. Return 0 or -errno
 * @reg_mr: register an MR; takes ownership of the pinned memory, also on failure, and counts
 *	failures
 * @describe_ring: fill in everything known about a queue without querying the adapter; for an event
 *	queue, fill in only how its indices count. @bytes->obj: owner of the queue, or NULL. Return
 *	0, or -ENOENT if the queue has no such part
 * @ask_ring: query the adapter for the queue's indices; @obj: owner of the queue, or NULL. Return 0
 *	or -errno. May be NULL
 *
 * Called in process context.
 */
struct eadm_adapter_ops {
	const struct eadm_queue_ops *queue;
	const struct eadm_settings *settings;
	int (*probe)(struct eadm_adapter *ad);
	bool (*halt)(struct eadm_adapter *ad, enum eadm_reset_reason reason);
	int (*start)(struct eadm_adapter *ad);
	void (*forget)(struct eadm_adapter *ad, bool confirmed);
	bool (*has_restarted)(struct eadm_adapter *ad);
	void (*watch)(struct eadm_adapter *ad);
	void (*died)(struct eadm_adapter *ad, struct eadm_object *qp);
	void (*recovered)(struct eadm_adapter *ad, bool was_reset, bool was_halted);
	void (*free_orphan)(struct eadm_adapter *ad, struct eadm_orphan *orphan);
	int (*ctx_begin)(struct eadm_adapter *ad, struct eadm_ctx *ctx, struct ib_udata *udata);
	void (*ctx_end)(struct eadm_adapter *ad, struct eadm_ctx *ctx);
	int (*check_mr)(struct eadm_adapter *ad, u64 length, u64 virt, int access,
			struct ib_udata *udata);
	struct ib_mr *(*reg_mr)(struct ib_pd *ibpd, struct ib_umem *umem, bool dmabuf, u64 length,
				u64 virt, int access, struct ib_udata *udata);
	int (*describe_ring)(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			     struct eadm_ring_bytes *bytes);
	int (*ask_ring)(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			const struct eadm_object *obj);
};

/**
 * struct eadm_adapter - one adapter
 * @ibdev: the RDMA device; first, because the RDMA core allocates the whole structure
 * @ops: operations of its family
 * @port: its port
 * @fn: PCI function and its presence
 * @bars: bitmap of claimed memory BARs
 * @bar: the BAR of registers
 * @vectors: interrupt vectors granted
 * @steps: steps of probe, undone in reverse order by removal. The last one is empty
 * @complete: all steps have succeeded
 * @diag: interface to the companion module
 * @failures: the last failures, kept across recovery
 * @probed: local_clock() at probe
 * @counters: the driver's own counters
 * @qps: QPs; recovery notifies their owners when the adapter no longer has them
 * @cqs: CQs
 * @mrs: MRs
 * @pds: PDs
 * @ctxs: contexts of processes
 * @eqs: struct eadm_eq, by number; complete before the device is registered
 * @leaving: the driver is about to be unbound; set once
 * @wq: runs the watch and deferred interrupt work
 * @recovery_wq: runs recovery, on which all other work may wait
 * @lock: protects the command queue, its flight recorder, the epoch and bus mastering; taken in
 *	interrupt context
 * @wait: issuers that wait for room in the queue or for the end of recovery
 * @state: how completions are received; under @lock, read with READ_ONCE() elsewhere
 * @recoverable: a lost command starts recovery (not during probe and removal); under @lock
 * @recoverer: the task that brings the queue back; under @lock
 * @cmds: counts of commands, and their flight recorder; under @lock
 * @cmd_timeout: command timeout in ms; read with READ_ONCE()
 * @reason: reason for the recovery; written under @lock, and not while the queue is recovering
 * @epoch: number of the current epoch, raised by each reset under @lock; see eadm_object_is_dead()
 * @gone: the adapter no longer responds on the bus; set once
 * @watch: detects conditions that no command would reveal
 * @recovery: brings the queue back
 * @halted: the last recovery attempt failed and the adapter cannot be queried; written by recovery
 *	only
 * @restarted: the adapter is known to have lost all state, so recovery need not probe it; used by
 *	recovery and its callers
 * @told: first epoch whose end has not been reported to consumers; used by recovery only
 * @told_gone: consumers were notified that the adapter is gone; used by recovery only
 * @unconfirmed: the adapter has not confirmed the last reset
 * @last_recovery: jiffies of the last recovery attempt
 * @recoveries: number of successful recoveries; under @lock
 * @failed_recoveries: number of failed attempts; under @lock
 * @memory: memory that the adapter may still access
 */
struct eadm_adapter {
	struct ib_device ibdev;
	const struct eadm_adapter_ops *ops;
	u32 port;
	struct eadm_function fn;
	int bars;
	u8 __iomem *bar;
	u32 vectors;
	const struct eadm_step *steps;
	bool complete;
	struct eadm_diag_dev diag;
	struct eadm_failures failures;
	u64 probed;
	struct eadm_counters __percpu *counters;
	struct eadm_table qps;
	struct eadm_table cqs;
	struct eadm_table mrs;
	struct eadm_table pds;
	struct eadm_table ctxs;
	struct list_head eqs;
	bool leaving;
	struct workqueue_struct *wq;
	struct workqueue_struct *recovery_wq;
	spinlock_t lock;		/* see above */
	wait_queue_head_t wait;
	enum eadm_queue_state state;
	bool recoverable;
	struct task_struct *recoverer;
	struct eadm_commands cmds;
	u32 cmd_timeout;
	enum eadm_reset_reason reason;
	u32 epoch;
	bool gone;
	struct delayed_work watch;
	struct work_struct recovery;
	bool halted;
	bool restarted;
	u32 told;
	bool told_gone;
	bool unconfirmed;
	unsigned long last_recovery;
	u64 recoveries;
	u64 failed_recoveries;
	struct eadm_memory memory;
};

/* A debug message of an adapter; topics as in eadm_debug.h. */
#define eadm_adapter_debug(ad, topic, fmt, ...) \
	eadm_debug(&(ad)->diag, &(ad)->fn.pdev->dev, topic, fmt, ##__VA_ARGS__)

/**
 * eadm_object_is_dead() - check whether the adapter no longer serves an object
 * @ad: the adapter
 * @obj: the object
 *
 * If true, the adapter cannot access the object's memory, and has discarded the object or will
 * discard it before it can access memory again. The memory must not be freed on this condition
 * alone.
 *
 * Context: any.
 */
static inline bool eadm_object_is_dead(const struct eadm_adapter *ad, const struct eadm_object *obj)
{
	return READ_ONCE(ad->gone) || READ_ONCE(obj->epoch) != READ_ONCE(ad->epoch);
}

static inline struct eadm_adapter *to_eadm_adapter(struct ib_device *ibdev)
{
	return container_of(ibdev, struct eadm_adapter, ibdev);
}

static inline struct eadm_adapter *diag_to_adapter(struct eadm_diag_dev *dd)
{
	return container_of(dd, struct eadm_adapter, diag);
}

/* Time since @since, a value of local_clock(). */
static inline u64 eadm_age(u64 since)
{
	return eadm_elapsed(since, local_clock());
}

#endif /* EADM_ADAPTER_H */
