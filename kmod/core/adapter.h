/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An adapter with a command queue: what becomes of it when a command is lost, when its
 * function is reset, and when it is gone. The same for all families.
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

/* How commands are answered. */
enum eadm_queue_state {
	EADM_QUEUE_POLLING,	/* there are no interrupts yet */
	EADM_QUEUE_EVENT,
	EADM_QUEUE_RECOVERING,
	EADM_QUEUE_DEAD,
};

/* Why an adapter is reset. */
enum eadm_reset_reason {
	EADM_RESET_COMMAND_LOST,
	EADM_RESET_FATAL,	/* it reported something fatal */
	EADM_RESET_START_FAILED,
	EADM_RESET_FUNCTION,	/* the PCI core resets the function */
	EADM_RESET_SHUTDOWN,
};

/* The driver's own counters, apart from those of commands. */
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

/* Drivers run on 64-bit CPUs only: a u64 is read and written atomically. */
#define eadm_count(ad, counter) this_cpu_inc((ad)->counters->value[counter])

/**
 * struct eadm_queue_ops - the command queue of a family
 * @name: what the family calls it
 * @spin_ns: how long an issuer polls for the answer before it sleeps
 * @look_ms: how long it sleeps at most between two checks of the queue and the adapter
 * @recovery_ms: timeout of recovery's own commands, if not that of all commands is shorter
 * @room_ms: how long recovery waits for room in the queue
 * @op_class: EADM_CMD_OP_* by the adapter's number of an operation
 * @cause_class: EADM_CAUSE_* by the syndrome of an answer
 * @answered: whether there may be something for @process; without the lock. May be NULL without
 *	@spin_ns
 * @has_room: whether a command can be submitted
 * @submit: put a command into the queue, which has room. Calls eadm_cmd_submitted()
 * @process: consume what the adapter has completed. Calls eadm_cmd_answered() and
 *	eadm_cmd_late()
 * @lose: a command was given up, its slot is marked as lost: take over what the adapter may
 *	still use
 * @events: consume events of the queue, whose interrupt may be lost; without the lock. May be
 *	NULL
 * @missed: an answer was found that no interrupt had announced
 * @serves: the queue is about to work with interrupts. May be NULL
 * @sleeps: an issuer is about to sleep. May be NULL
 * @slot: the slot with this number, NULL if there are not so many
 * @reset: give up all commands with this status, and empty the queue: the adapter was halted
 *
 * Called with the adapter's lock held, unless it says otherwise.
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
 * struct eadm_step - a step of probe, and its opposite in removal
 * @begin: return 0, or -errno after undoing what @end would undo. Tables of objects that it has
 *	initialised may stay: they are destroyed after all steps
 * @end: may be NULL
 *
 * Called in process context.
 */
struct eadm_step {
	int (*begin)(struct eadm_adapter *ad);
	void (*end)(struct eadm_adapter *ad);
};

/**
 * struct eadm_adapter_ops - what a family does
 * @queue: its command queue
 * @settings: its settings
 * @probe: issue a command that changes nothing. Return 0 if it was answered, even by a
 *	refusal
 * @halt: make the adapter stop and forget everything, and turn bus mastering off. Return
 *	whether it is known to have forgotten
 * @start: start it again, empty, with bus mastering; the queue is polled
 * @forget: reset what the driver knows of the adapter's state, and, if its end is confirmed,
 *	free what commands referred to
 * @has_restarted: called periodically, in service: whether the adapter seems to have lost its
 *	state without a reset by the driver. This may be wrong: recovery tries a command first
 * @watch: called periodically: do what a lost interrupt should have led to
 * @died: notify the owner of a QP, which is referenced, that the adapter has forgotten it.
 *	Recovery calls this: if there is service again, commands that the owner's handler issues
 *	are executed before those of others
 * @recovered: recovery is over: a reset may have ended all that was told to the adapter
 *	(@was_reset), and it was out of service before (@was_halted)
 * @free_orphan: free memory, and the record of it
 * @ctx_begin: make a context in the adapter, initialise it as an object, and answer to @udata;
 *	its maps exist, and it is not visible yet. Return 0 or -errno
 * @ctx_end: undo that; it is no longer visible
 * @check_mr: whether a process may register this much memory. Return 0 or -errno
 * @reg_mr: register it; takes ownership of the pinned memory, also on failure, which it counts
 * @find_ring: find the queue that is named, and fill in all that is known of it without asking
 *	the adapter. Return 0; -ENOENT for an unknown queue, -EOPNOTSUPP for an unknown kind
 * @ask_ring: ask the adapter for its indices; @obj: what has the queue, or NULL. Return 0 or
 *	-errno. May be NULL
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
	int (*find_ring)(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			 struct eadm_ring_bytes *bytes);
	int (*ask_ring)(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			const struct eadm_object *obj);
};

/**
 * struct eadm_adapter - one adapter
 * @ibdev: the RDMA device; first, as the RDMA core allocates all of it
 * @ops: its family
 * @port: its port
 * @fn: its function, and whether it is there
 * @bars: claimed memory BARs, bit by bit
 * @bar: the BAR of registers
 * @vectors: interrupt vectors granted
 * @steps: of probe; removal undoes them in reverse order. The last one is empty
 * @complete: all of them are done
 * @diag: seen by the companion module
 * @failures: the last failures, kept across recovery
 * @probed: local_clock() when the driver found it
 * @counters: the driver's own
 * @qps: the QPs, whose owners are notified when the adapter has forgotten them
 * @cqs: the CQs
 * @mrs: the MRs
 * @pds: the PDs
 * @ctxs: the contexts of processes
 * @eqs: struct eadm_eq, by number; complete before the device is registered
 * @leaving: the driver is about to be unbound; set once
 * @wq: the watch, and deferred interrupt work
 * @recovery_wq: recovery, for which all others wait
 * @lock: guards the command queue, its flight recorder, the epoch and bus mastering; taken
 *	in interrupts
 * @wait: issuers waiting for room in the queue, or for the end of recovery
 * @state: how commands are answered; under @lock, read with READ_ONCE() elsewhere
 * @recoverable: a lost command starts recovery (not during probe and removal); under @lock
 * @recoverer: the task that brings the queue back; under @lock
 * @cmds: commands issued; under @lock
 * @cmd_timeout: how long a command may take, ms; read with READ_ONCE()
 * @reason: why recovery runs; written under @lock, and not while the queue is recovering
 * @epoch: counts resets; raised under @lock, see eadm_object_is_dead()
 * @gone: it no longer answers on the bus; set once
 * @watch: notices what no command would reveal
 * @recovery: brings the queue back
 * @halted: the last attempt failed: the adapter cannot be asked; written by recovery only
 * @restarted: it need not be asked: it is known to have forgotten everything; used by
 *	recovery and those who start it
 * @told: consumers know that epochs before this one are over; used by recovery only
 * @told_gone: consumers know that it is gone; used by recovery only
 * @unconfirmed: it has not confirmed the last reset
 * @last_recovery: jiffies of the last attempt
 * @recoveries: number of times that the queue was brought back; under @lock
 * @failed_recoveries: number of failed attempts; under @lock
 * @memory: what it may still know of
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
 * eadm_object_is_dead() - whether the adapter no longer serves an object
 * @ad: the adapter
 * @obj: the object
 *
 * It cannot reach the object's memory, and has forgotten the object, or will do so before it
 * can reach memory again. That does not mean that the memory may be freed.
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

/* How long ago it was local_clock() == @since. */
static inline u64 eadm_age(u64 since)
{
	return eadm_elapsed(since, local_clock());
}

#endif /* EADM_ADAPTER_H */
