/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The companion module: declarations shared by its files.
 *
 * A device is added to the table when the companion binds to it and removed at unbind. All users of
 * a device bracket their work with eadm_dev_enter() or eadm_dev_next() and eadm_dev_exit(); unbind
 * waits only for these users. Dumps and open files do not count as users between two calls.
 */
#ifndef EADM_H
#define EADM_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/notifier.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "compat_netlink.h"
#include "eadm_diag.h"
#include "eadm_nl.h"
#include "eadm_table.h"

extern const struct genl_ops eadm_genl_ops[];
extern const unsigned int eadm_n_genl_ops;

#define EADM_EVENTS_MAX	32

/**
 * struct eadm_events - queue of events of a device
 * @lock: protects the members below; taken in interrupt context
 * @first: index of the oldest event
 * @n: number of events
 * @lost: number of events dropped since the last event that was queued
 * @work: sends the events
 * @event: the queued events
 */
struct eadm_events {
	spinlock_t lock;	/* protects the members below */
	unsigned int first;
	unsigned int n;
	u32 lost;
	struct work_struct work;
	struct eadm_snap_event event[EADM_EVENTS_MAX];
};

/**
 * struct eadm_dev - a bound device
 * @node: the char device; its reference count is this struct's
 * @cdev: file operations of the char device
 * @dd: the driver's side; valid only between eadm_dev_enter() and eadm_dev_exit()
 * @objs: the driver's objects by type, or NULL
 * @sets: additional fields of its family by type, or NULL
 * @users: work in flight, plus one while bound
 * @idle: completed when the last user has exited
 * @gone: unbind has begun
 * @index: slot in the table and number of the char device
 * @events: number of notifications from the driver
 * @wait: readers of the node waiting for @events or @gone
 * @nb: entry in the driver's notifier chain
 * @rcu: used to free the struct after lookups in the table; must be in the first page
 * @queue: events for the multicast group
 */
struct eadm_dev {
	struct device node;
	struct cdev cdev;
	struct eadm_diag_dev *dd;
	const struct eadm_diag_obj *objs[EADM_OBJ_COUNT];
	const struct eadm_set *sets[EADM_OBJ_COUNT];
	refcount_t users;
	struct completion idle;
	bool gone;
	u32 index;
	atomic_t events;
	wait_queue_head_t wait;
	struct notifier_block nb;
	struct rcu_head rcu;
	struct eadm_events queue;
};

/* Returns true if the device is being unbound, so that work on it should stop. */
static inline bool eadm_dev_gone(const struct eadm_dev *edev)
{
	return READ_ONCE(edev->gone);
}

/* failure.c */
extern const struct eadm_diag_obj eadm_failure_obj;
extern const struct eadm_diag_obj eadm_failure_total_obj;

/* device.c */
int eadm_dev_reserve(struct eadm_dev *edev);
void eadm_dev_release(struct eadm_dev *edev);
void eadm_dev_publish(struct eadm_dev *edev);
void eadm_dev_begin_removal(struct eadm_dev *edev);
void eadm_dev_unpublish(struct eadm_dev *edev);
void eadm_dev_table_exit(void);
bool eadm_dev_enter(struct eadm_dev *edev, const struct net *net);
void eadm_dev_unfollow(struct eadm_dev *edev);
void eadm_dev_exit(struct eadm_dev *edev);
struct eadm_dev *eadm_dev_next(unsigned long *index, unsigned long last, const struct net *net);
u32 eadm_dev_generation(u8 type, unsigned long first, unsigned long last);

/* node.c */
int eadm_node_add(struct eadm_dev *edev, struct device *parent);
void eadm_node_del(struct eadm_dev *edev);
void eadm_node_changed(struct eadm_dev *edev);
int eadm_node_init(void);
void eadm_node_exit(void);

/* trace.c */
struct eadm_trace;
struct eadm_ioc_trace;
struct eadm_trace *eadm_trace_new(struct eadm_dev *edev);
void eadm_trace_free(struct eadm_trace *trace);
int eadm_trace_start(struct eadm_trace *trace, const struct eadm_ioc_trace *arg, bool raw);
ssize_t eadm_trace_read(struct eadm_trace *trace, char __user *buf, size_t count, bool block);
__poll_t eadm_trace_poll(struct eadm_trace *trace, struct file *file, poll_table *wait);

/* nl.c */
int eadm_nl_doit(struct sk_buff *skb, struct genl_info *info);
int eadm_nl_dump_start(struct netlink_callback *cb);
int eadm_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int eadm_nl_dump_done(struct netlink_callback *cb);
int eadm_nl_conf_set(struct sk_buff *skb, struct genl_info *info);
int eadm_nl_put_row(struct sk_buff *skb, struct eadm_dev *edev, u8 type, void *snap,
		    unsigned int rights);
void eadm_nl_tell(struct net *net, struct eadm_dev *edev, struct eadm_snap_event *event);
int eadm_nl_init(const struct genl_ops *ops, unsigned int n);
void eadm_nl_exit(void);

/* owner.c */
void eadm_owner_fill(const struct eadm_object *obj, const struct eadm_diag_obj *ops,
		     void *row, void *snap, unsigned int rights);

/* event.c */
void eadm_event_init(struct eadm_dev *edev);
void eadm_event_note(struct eadm_dev *edev, unsigned long type,
		     const struct eadm_diag_event *ev);
void eadm_event_device(struct eadm_dev *edev, u32 type);
void eadm_event_flush(struct eadm_dev *edev);

/* raw.c */
struct eadm_ioc_hwctx;
struct eadm_ioc_regs;
struct eadm_ioc_ring;
int eadm_raw_ring(struct eadm_dev *edev, struct eadm_ioc_ring *arg, void **data);
int eadm_raw_hwctx(struct eadm_dev *edev, struct eadm_ioc_hwctx *arg, void **data);
int eadm_raw_regs(struct eadm_dev *edev, struct eadm_ioc_regs *arg, void **data);

/* put.c */
size_t eadm_snap_room(u8 type);
int eadm_snap_fill(struct eadm_dev *edev, u8 type, void *row, void *snap,
		   const struct eadm_diag_req *req);
int eadm_put_snap(struct sk_buff *skb, const struct eadm_dev *edev, u8 type, void *snap,
		  unsigned int rights, u64 only);

#endif /* EADM_H */
