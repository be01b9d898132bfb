/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Core driver of the Elastic Fabric Adapter: structures shared by all files.
 *
 * Objects. The adapter numbers PDs, AHs, CQs, QPs and UARs; the driver numbers contexts and MRs,
 * because the key of an MR is a secret. All objects are in a table (eadm_table), through which
 * events and the diagnostic provider find and reference them. Destruction: the driver's destroy
 * callback removes the object from its table, waits until the last reference taken through the
 * table is dropped, and only then returns to the RDMA core, which frees the object. Queues and
 * doorbells belong to processes: the driver never polls their CQs, posts their requests or rings
 * their doorbells.
 *
 * Life cycle of the device:
 *
 *   probe	 a reset (normal), then versions, rings, features and event queues; a failure
 *		 after the rings were announced leads to a reset (init error)
 *   serving	 commands complete by interrupt
 *   recovery	 a command timed out: its slot is quarantined, and one more
 *		 command shows whether the queue responds at all. If so, nothing else is
 *		 affected; if not, the adapter is reset (command timeout) and restarted,
 *		 consumers of lost objects are notified, and destroying those objects needs
 *		 no command. A function that restarts by itself or reports a fatal error
 *		 (generic) is handled in the same way. A restart that fails ends with a
 *		 further reset (init error)
 *   reset	 the PCI core resets the function (sysfs): like a reset by recovery, in
 *		 two halves, before and after
 *   halted	 the adapter did not confirm a reset: bus mastering is off. The watch retries
 *		 the reset periodically, and also retries a start that failed
 *   gone	 the function has not responded to config cycles for a second, and is not being
 *		 reset (core/presence.c): commands fail at once
 *   removal	 consumers are removed, even if contexts are open; then event queues are
 *		 destroyed, and the adapter is reset (normal)
 *   shutdown	 the adapter is reset (shutdown), regardless of open contexts
 *
 * The age of the adapter's last keep-alive is shown, but no conclusion is drawn from it: the
 * expected interval of keep-alives is unknown.
 *
 * Lock order, outermost first; locks on one line are never held together:
 *
 *   efa_pd.ah_lock, eadm_recent.lock, efa_qp.state_lock (commands are issued below them),
 *   efa_ctx.db_lock, mmap_lock of a process
 *   eadm_maps.lock (core/maps.c)
 *   efa_hw.lock (one register read at a time; may sleep)
 *   eadm_memory.lock
 *   eadm_table.xa (xa_lock), eadm_eq.lock, eadm_adapter.lock
 *   eadm_adapter.failures
 *
 * The locks of the last two lines are taken with interrupts disabled; the adapter's lock protects
 * the admin queue and its flight recorder, the epoch and bus mastering. Commands sleep.
 *
 * Memory that the adapter may access is freed only when the adapter is known to be done with it
 * (core/orphan.c): the command that destroys the object has succeeded, or the command that creates
 * it has failed (the @done of efa_mem_retire()); for memory that a command itself refers to, that
 * command has completed. Either completion may be late (eadm_orphans_sweep()). An epoch begins when
 * the rings are announced. Lists are parked with the admin queue until its end is confirmed. A
 * reset request needs bus mastering, because the adapter responds in memory: bus mastering is on
 * during such an attempt and off after a failed one.
 */
#ifndef EFA_H
#define EFA_H

#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../core/life.h"
#include "../core/provider.h"
#include "../core/queue.h"
#include "../core/raw.h"
#include "../core/recent.h"
#include "../core/recovery.h"
#include "../core/region.h"
#include "../core/report.h"
#include "../core/rows.h"
#include "../core/settings.h"
#include "aq.h"
#include "compat_kernel.h"
#include "compat_rdma.h"
#include "efa_hw.h"
#include "eq.h"
#include "hw.h"
#include "mem.h"
#include "stats.h"
#include "objects.h"

#define EFA_DRV_NAME		"efa"
#define EFA_PORT		1
/* Limit of the numbers of MRs, contexts and some AHs, which the driver assigns. */
#define EFA_MAX_OWN_NUMBER	(BIT(20) - 1)

/**
 * struct efa_caps - capabilities that the adapter reports
 * @version: of the register interface
 * @device: DEVICE_ATTR
 * @queue: QUEUE_ATTR
 * @queue2: QUEUE_ATTR_2, or zeroes
 * @network: NETWORK_ATTR
 * @events: EVENT_QUEUE_ATTR, or zeroes
 * @hints: HW_HINTS
 * @features: bit n: feature n
 * @flags: EFA_DEV_CAP_*
 *
 * Written once, before the device is registered.
 */
struct efa_caps {
	u32 version;
	struct efa_device_attr device;
	struct efa_queue_attr queue;
	struct efa_queue_attr_2 queue2;
	struct efa_network_attr network;
	struct efa_event_queue_attr events;
	struct efa_hw_hints hints;
	u32 features;
	u32 flags;
};

/**
 * struct efa_dev - one adapter
 * @adapter: common part of all families
 * @pdev: the PCI function
 * @db_bar: BAR of doorbells
 * @hw: registers
 * @caps: capabilities
 * @aq: admin queue
 * @aenq: asynchronous events
 * @eqs: completion event queues
 * @nr_eqs: number of completion event queues
 * @watched: number of runs of the watch; used by the watch only
 * @last_reason: EFA_RESET_* of the last reset
 * @recent: cached responses of the adapter
 * @ahs: AHs
 * @uars: UARs
 */
struct efa_dev {
	struct eadm_adapter adapter;
	struct pci_dev *pdev;
	u8 db_bar;
	struct efa_hw hw;
	struct efa_caps caps;
	struct efa_aq aq;
	struct efa_eq aenq;
	struct efa_eq *eqs;
	u32 nr_eqs;
	unsigned int watched;
	u32 last_reason;
	struct efa_recent recent;
	struct eadm_table ahs;
	struct eadm_table uars;
};

static inline struct efa_dev *to_efa_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct efa_dev, adapter.ibdev);
}

static inline struct efa_dev *adapter_to_efa(struct eadm_adapter *ad)
{
	return container_of(ad, struct efa_dev, adapter);
}

static inline struct efa_ctx *to_efa_ctx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct efa_ctx, base.ibctx);
}

static inline struct efa_pd *to_efa_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct efa_pd, base.ibpd);
}

static inline struct efa_ah *to_efa_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct efa_ah, ibah);
}

static inline struct efa_mr *to_efa_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct efa_mr, ibmr);
}

static inline struct efa_cq *to_efa_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct efa_cq, ibcq);
}

static inline struct efa_qp *to_efa_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct efa_qp, ibqp);
}

/* A debug message of a device; topics as in eadm_debug.h. */
#define efa_debug(d, topic, fmt, ...) \
	eadm_adapter_debug(&(d)->adapter, topic, fmt, ##__VA_ARGS__)

/* lifecycle.c */
extern const struct eadm_adapter_ops efa_adapter_ops;
int efa_start(struct efa_dev *dev);
void efa_stop(struct eadm_adapter *ad);

/* diag/ */
extern const struct eadm_diag_ops efa_diag_ops;
extern const struct eadm_settings efa_settings;
int efa_describe_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
		      struct eadm_ring_bytes *bytes);

/* Verbs of objects. */
extern const struct ib_device_ops efa_pd_ops;
extern const struct ib_device_ops efa_cq_ops;
extern const struct ib_device_ops efa_qp_ops;
extern const struct ib_device_ops efa_mr_ops;
extern const struct ib_device_ops efa_mmap_ops;
extern const struct ib_device_ops efa_stats_ops;
void efa_verbs_init(struct efa_dev *dev);

#endif /* EFA_H */
