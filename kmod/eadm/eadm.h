/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The companion module: what its files share.
 *
 * A device enters the table when the companion binds to it and leaves it at
 * unbind. Whoever works with it brackets the work with eadm_dev_enter() or
 * eadm_dev_next() and eadm_dev_exit(); unbind waits for those only. Dumps and
 * open files keep no user between two calls.
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

/* Types of attributes. */
enum eadm_type {
	EADM_TYPE_U32,
	EADM_TYPE_S32,
	EADM_TYPE_U64,
	EADM_TYPE_UINT,
	EADM_TYPE_STRING,
	EADM_TYPE_BINARY,
};

/* Rights; a set of them has BIT(right). */
enum eadm_perm {
	EADM_PERM_NONE,
	EADM_PERM_ADMIN,
	EADM_PERM_RAWIO,
};

/* Fields the companion sets itself from the resource tracking entry. */
enum eadm_owner {
	EADM_OWNER_PID,
	EADM_OWNER_COMM,
	EADM_OWNER_CGROUP_ID,
	EADM_OWNER_NETNS,
	EADM_OWNER_RES_ID,
	EADM_OWNER_COUNT
};

/**
 * struct eadm_field - one field of a snapshot
 * @attr: attribute number
 * @off: offset of the value in the snapshot
 * @has: offset of the presence mark
 * @len_off: offset of the length of a binary field
 * @len: room for a string or binary field
 * @type: EADM_TYPE_*
 * @perm: EADM_PERM_* needed to see it
 * @hw: comes from the adapter
 */
struct eadm_field {
	u16 attr;
	u16 off;
	u16 has;
	u16 len_off;
	u16 len;
	u8 type;
	u8 perm;
	bool hw;
};

/**
 * struct eadm_set - what one family of adapters has of an object besides
 * @family: its name
 * @fields: its fields
 * @nest: attribute that carries them
 * @n_fields: number of @fields
 * @snap_size: size of their snapshot struct
 */
struct eadm_set {
	const char *family;
	const struct eadm_field *fields;
	u16 nest;
	u16 n_fields;
	u16 snap_size;
};

/**
 * struct eadm_object - one kind of object of the family
 * @name: its name in the specification
 * @fields: what a driver can tell of it
 * @sets: what families have besides, up to one without a name; or NULL
 * @owner: those of @fields that the companion sets, or NULL
 * @n_fields: number of @fields
 * @snap_size: size of the snapshot struct
 * @key_attr: attribute that names a row
 * @key_type: its type, EADM_TYPE_U32 or EADM_TYPE_UINT
 * @from_attr: attribute of a dump with the key to begin at, or 0
 * @among_attr: attribute with a bit for each value of @among in the rows wanted, or 0
 * @least_attr: attribute with the least value of @least in the rows wanted, or 0
 * @only_attr: attribute with a bit for the number of each attribute wanted, or 0
 * @among: the field
 * @least: the field
 * @cmd: command that reads it
 * @hw_perm: EADM_PERM_* needed to ask the adapter
 * @hw: there is something to ask the adapter for
 * @by_device: one row per device, no key beside the device
 * @soft_rawio: has fields with EADM_PERM_RAWIO in plain dumps
 */
struct eadm_object {
	const char *name;
	const struct eadm_field *fields;
	const struct eadm_set *sets;
	const struct eadm_field *owner[EADM_OWNER_COUNT];
	const struct eadm_field *among;
	const struct eadm_field *least;
	u16 n_fields;
	u16 snap_size;
	u16 key_attr;
	u16 from_attr;
	u16 among_attr;
	u16 least_attr;
	u16 only_attr;
	u8 key_type;
	u8 cmd;
	u8 hw_perm;
	bool hw;
	bool by_device;
	bool soft_rawio;
};

extern const struct eadm_object eadm_objects[EADM_OBJ_COUNT];
extern const u8 eadm_cmd_obj[EADM_CMD_MAX + 1];
extern const struct genl_ops eadm_genl_ops[];
extern const unsigned int eadm_n_genl_ops;

#define EADM_EVENTS_MAX	32

/**
 * struct eadm_events - events of a device that are to be told
 * @lock: guards the rest; taken in interrupts
 * @first: place of the oldest
 * @n: how many
 * @lost: those that found no place since the last one that did
 * @work: tells them
 * @event: the events
 */
struct eadm_events {
	spinlock_t lock;	/* what follows */
	unsigned int first;
	unsigned int n;
	u32 lost;
	struct work_struct work;
	struct eadm_snap_event event[EADM_EVENTS_MAX];
};

/**
 * struct eadm_dev - a bound device
 * @node: the char device; its reference count is this struct's
 * @cdev: its file operations
 * @dd: the driver's side; for users only
 * @objs: the driver's objects by type, or NULL
 * @sets: what its family has besides of each, or NULL
 * @users: work in flight, plus one while bound
 * @idle: the last user left
 * @gone: unbind has begun
 * @index: place in the table and number of the node
 * @events: counts the driver's notifications
 * @wait: readers of the node waiting for @events or @gone
 * @nb: entry in the driver's notifier chain
 * @rcu: frees it after lookups in the table; must lie in the first page
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

/* Work on a device that is being unbound shall come to an end. */
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
