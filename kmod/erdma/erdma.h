/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Core driver of the Elastic RDMA Adapter: structures shared by all files.
 *
 * Lock order, outermost first; locks on one line are never held together:
 *
 *   rtnl_lock
 *   erdma_conf.lock
 *   erdma_cep.lock (a child's before its listener's)
 *   erdma_qp.state_lock
 *   erdma_ctx.dbpage_lock, eadm_memory.lock, mmap_lock of a process
 *   eadm_maps.lock (core/maps.c)
 *   erdma_eq.kick_lock
 *   erdma_cq.lock (two CQs are never locked at once)
 *   erdma_sq.lock, erdma_rq.lock
 *   eadm_table.xa (xa_lock), eadm_eq.lock, eadm_adapter.lock
 *   eadm_adapter.failures
 *
 * Commands sleep: none of the spinlocks may be held when a command is issued. The locks of the last
 * two lines are taken with interrupts disabled; the adapter's lock protects the command queue and
 * its flight recorder.
 *
 * Destruction of an object: the driver's destroy callback removes it from its table (eadm_table),
 * waits until the last reference taken through the table is dropped, and only then returns to the
 * RDMA core, which frees the object. References are held by event delivery, by the diagnostic
 * provider and, for QPs, by the connection manager. Posting and polling look up regions under RCU
 * instead, so a region's structure is freed a grace period later.
 *
 * Memory that the adapter may write to is freed only when the adapter is known to be done with it
 * (core/orphan.c): the command that destroys the object has succeeded, or the command that creates
 * it has failed (the @done of erdma_hostmem_retire()), or erdma_hw_halt() found that the adapter
 * confirmed the reset, that INIT_DONE was cleared, that a function level reset succeeded, or that
 * the function is gone. An epoch begins with INIT. An orphan keeps the object's number, too;
 * response buffers are parked with the command queue. Bus mastering is turned off before an object
 * is declared dead, and turned on only in erdma_hw_start().
 */
#ifndef ERDMA_H
#define ERDMA_H

#include <linux/dmapool.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/netdevice.h>
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
#include "cmdq.h"
#include "cm.h"
#include "compat_kernel.h"
#include "compat_net.h"
#include "eq.h"
#include "erdma_hw_ops.h"
#include "mem.h"
#include "verbs.h"

#define ERDMA_DRV_NAME		"erdma"
#define ERDMA_PORT		1

/* Timeout of a reset during service, and at probe and removal. */
#define ERDMA_HALT_MS		1000u
#define ERDMA_STOP_MS		3000u

struct erdma_dev;

/* ---- Counters (stats.c) --------------------------------------------------- */

struct rdma_hw_stats *erdma_alloc_port_stats(struct ib_device *ibdev, compat_port_t port);

/**
 * struct erdma_sdbs - SQ doorbell space of adapters that do not allocate doorbell pages
 * @pages: pages used by one context each
 * @entries: entries used by one context each, over all pages of entries
 * @nr_pages: number of such pages
 * @nr_entries: number of such entries
 */
struct erdma_sdbs {
	struct ida pages;
	struct ida entries;
	u16 nr_pages;
	u16 nr_entries;
};

void erdma_sdbs_init(struct erdma_dev *dev);

/* ---- Settings (conf.c) ------------------------------------------------------ */

/**
 * struct erdma_conf - settings; each is read with READ_ONCE()
 * @lock: serialises changes; held while a command is in flight
 * @cc: congestion control of new connections
 * @retrans_num: value set in the adapter, 0 = never set
 * @delayed_ack: value set in the adapter, -1 = never set
 */
struct erdma_conf {
	struct mutex lock;	/* serialises changes */
	u8 cc;
	u8 retrans_num;
	int delayed_ack;
};

/**
 * struct erdma_recent - cached responses of the adapter
 * @stats: counters of the port
 * @last_stats: the last response
 * @ext_attr: extended attributes
 * @last_ext_attr: the last response
 */
struct erdma_recent {
	struct eadm_recent stats;
	u64 last_stats[ERDMA_STATS_COUNT];
	struct eadm_recent ext_attr;
	struct erdma_ext_attr last_ext_attr;
};

void erdma_conf_init(struct erdma_dev *dev);
int erdma_conf_restore(struct erdma_dev *dev);

/* ---- The device ------------------------------------------------------------ */

/**
 * struct erdma_caps - capabilities that the adapter reports
 * @flags: ERDMA_FLAG_*
 * @cc: default congestion control
 * @max_qp: limit of QP numbers, which begin at 0
 * @max_cq: limit of CQ numbers, which begin at 0
 * @max_mr: limit of MPT indices, which begin at 0
 * @max_mw: number of memory windows; the driver creates none
 * @max_send_wr: maximum send requests per QP
 * @max_recv_wr: maximum receive requests per QP
 * @max_cqe: maximum entries per CQ
 * @max_mr_size: maximum size of an MR in bytes
 * @local_dma_key: key that covers all DMA addresses
 * @fw: firmware version
 * @stats: the adapter supports GET_STATS
 */
struct erdma_caps {
	u8 flags;
	u8 cc;
	u32 max_qp;
	u32 max_cq;
	u32 max_mr;
	u32 max_mw;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_cqe;
	u64 max_mr_size;
	u32 local_dma_key;
	u32 fw;
	bool stats;
};

/**
 * struct erdma_dev - one adapter
 * @adapter: common part of all families
 * @pdev: the PCI function
 * @bar_addr: bus address of BAR 0
 * @bar_len: length of BAR 0
 * @caps: capabilities
 * @conf: settings
 * @mac: MAC address that identifies the network interface
 * @nr_ceqs: number of CEQs, one interrupt vector each
 * @dbrec_pool: 8-byte doorbell records
 * @resp_pool: response buffers
 * @cmdq: command queue
 * @cmdq_eq: event queue of the command queue
 * @aeq: asynchronous event queue
 * @ceqs: completion event queues
 * @removing: changes of the interface are ignored
 * @was_up: the adapter was initialised at the last check
 * @came_up: the adapter reported INIT_DONE in this epoch
 * @netdev: the network interface, set from before registration until after unregistration
 * @netdev_tracker: tracker of the reference to @netdev
 * @netdev_nb, @inetaddr_nb: notifiers
 * @port_state: last state reported to consumers; under the RTNL
 * @speed_stale: the link speed has to be queried again
 * @speed: link speed in verbs terms
 * @width: link width in verbs terms
 * @mtu_changed: an MTU was set and has to be restored after a reset
 * @mtu_work: sets a new MTU in the adapter
 * @sdbs: SQ doorbell space
 * @cm: connection manager
 */
struct erdma_dev {
	struct eadm_adapter adapter;
	struct pci_dev *pdev;
	resource_size_t bar_addr;
	resource_size_t bar_len;
	struct erdma_caps caps;
	struct erdma_conf conf;
	struct erdma_recent recent;
	u8 mac[ETH_ALEN];
	u32 nr_ceqs;
	struct dma_pool *dbrec_pool;
	struct dma_pool *resp_pool;
	struct erdma_cmdq cmdq;
	struct erdma_eq cmdq_eq;
	struct erdma_eq aeq;
	struct erdma_eq ceqs[ERDMA_MAX_VECTORS - 1];
	bool removing;
	bool was_up;
	bool came_up;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	struct notifier_block netdev_nb;
	struct notifier_block inetaddr_nb;
	enum ib_port_state port_state;
	bool speed_stale;
	u16 speed;
	u8 width;
	bool mtu_changed;
	struct work_struct mtu_work;
	struct erdma_sdbs sdbs;
	struct erdma_cm cm;
};

static inline struct erdma_dev *to_erdma_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct erdma_dev, adapter.ibdev);
}

static inline struct erdma_dev *adapter_to_erdma(struct eadm_adapter *ad)
{
	return container_of(ad, struct erdma_dev, adapter);
}

static inline int erdma_cmdq_exec(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	return eadm_cmd_exec(&dev->adapter, &cmd->base);
}

/* A debug message of a device; topics as in eadm_debug.h. */
#define erdma_debug(d, topic, fmt, ...) \
	eadm_adapter_debug(&(d)->adapter, topic, fmt, ##__VA_ARGS__)

static inline struct erdma_ctx *to_erdma_ctx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct erdma_ctx, base.ibctx);
}

static inline struct erdma_mr *to_erdma_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct erdma_mr, ibmr);
}

static inline struct erdma_cq *to_erdma_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct erdma_cq, ibcq);
}

static inline struct erdma_qp *to_erdma_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct erdma_qp, ibqp);
}

/* ---- Adapter as a whole (lifecycle.c, hw.c, netdev.c, verbs.c, diag.c) ------ */

extern const struct eadm_adapter_ops erdma_adapter_ops;
extern const struct eadm_diag_ops erdma_diag_ops;
int erdma_describe_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			struct eadm_ring_bytes *bytes);
int erdma_ask_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
		   const struct eadm_object *obj);
extern const struct eadm_settings erdma_settings;

bool erdma_hw_answers(const struct eadm_function *fn);
bool erdma_hw_is_up(struct erdma_dev *dev);
int erdma_hw_start(struct erdma_dev *dev, unsigned int timeout_ms);
bool erdma_hw_halt(struct erdma_dev *dev, unsigned int timeout_ms);
int erdma_hw_end_former_life(struct erdma_dev *dev);
void erdma_hw_read_mac(struct erdma_dev *dev);

int erdma_netdev_bind(struct eadm_adapter *ad);
void erdma_netdev_unbind(struct eadm_adapter *ad);
int erdma_netdev_register(struct eadm_adapter *ad);
void erdma_netdev_unregister(struct eadm_adapter *ad);
int erdma_netdev_init(void);
void erdma_netdev_exit(void);
enum ib_port_state erdma_port_state(const struct erdma_dev *dev);
void erdma_mtu_work(struct work_struct *work);

void erdma_verbs_init(struct erdma_dev *dev);

void erdma_failed_qp(struct erdma_qp *qp, u8 type, u8 syndrome);
void erdma_failed_with_device(struct erdma_qp *qp);
void erdma_failed_cq(struct erdma_cq *cq);
void erdma_failed_connection(struct erdma_cep *cep, int status);

#endif /* ERDMA_H */
