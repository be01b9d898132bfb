/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between an RDMA driver and the companion module (eadm.ko).
 *
 * A driver registers one auxiliary device "<driver>.diag2" per RDMA device,
 * embedded in a struct eadm_diag_dev, before or after ib_register_device(), and
 * removes it before anything that the ops use is freed. The companion binds to
 * it; neither needs the other to be loaded. They may come from different builds,
 * whose structs differ: the companion refuses a driver whose ops have another
 * EADM_DIAG_INTERFACE, and reads nothing else of it.
 *
 * Rules for the ops (all may sleep, none is called after the auxiliary
 * device was deleted):
 *  - next() finds and references an object in one step and never returns one
 *    that is being destroyed; put() drops that reference. A reference keeps the
 *    memory and queues of the object, but not the device in service: fill()
 *    must not use the adapter unless req->hw is set.
 *  - fill() sets only what it knows (SNAP_*): a field that was not set stays
 *    absent all the way to the user. It returns 0, or a negative errno when
 *    the row is to be left out. Failure to read the adapter's own context is
 *    not an error of the row: set hw_error instead.
 *  - a PID that fill() sets itself is in the reader's PID namespace (that of
 *    current), or is not set.
 *  - no field carries a kernel address.
 */
#ifndef EADM_DIAG_H
#define EADM_DIAG_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/restrack.h>

#include "compat_auxbus.h"
#include "eadm_interface.h"
#include "eadm_snap.h"

struct eadm_diag_dev;
struct eadm_failures;
struct ib_device;
struct pid;

/* Companions that do not compare interfaces bind to "diag". */
#define EADM_DIAG_NAME		"diag2"

/* Set one field of a snapshot together with its presence mark. */
#define SNAP_SET(snap, field, val)					\
	do {								\
		(snap)->field = (val);					\
		(snap)->has.field = 1;					\
	} while (0)

#define SNAP_STR(snap, field, str)					\
	do {								\
		strscpy((snap)->field, (str), sizeof((snap)->field));	\
		(snap)->has.field = 1;					\
	} while (0)

/* Binary fields carry their length in <field>_len. */
#define SNAP_BIN(snap, field, ptr, n)					\
	do {								\
		u16 __n = min_t(size_t, (n), sizeof((snap)->field));	\
		memcpy((snap)->field, (ptr), __n);			\
		(snap)->field##_len = __n;				\
		(snap)->has.field = 1;					\
	} while (0)

/**
 * struct eadm_diag_req - what a reader wants beyond software state
 * @hw: read the adapter's own context of the object too; may issue commands
 * @admin: the reader administers the device: records kept for it count as read, and it
 *	may cause any number of commands; other readers get a recent, cached answer
 * @among: of commands: those in one of these states, BIT(EADM_CMD_STATE_*); 0: any
 * @least: of commands: those that took at least this many ns
 * @net: network namespace of the reader, in which names of interfaces are understood
 */
struct eadm_diag_req {
	bool hw;
	bool admin;
	u32 among;
	u64 least;
	const struct net *net;
};

/**
 * eadm_diag_sees() - whether a reader is shown the name and index of an interface
 * @req: the request
 * @netdev: network interface of the device
 *
 * Where devices are shared, the reader's namespace may have another interface of that name.
 *
 * Context: any.
 * Return: true if the interface is in the reader's network namespace.
 */
static inline bool eadm_diag_sees(const struct eadm_diag_req *req, const struct net_device *netdev)
{
	return req->net && net_eq(dev_net(netdev), req->net);
}

/**
 * struct eadm_diag_obj - one kind of object a driver can show
 * @type: EADM_OBJ_* (generated from the specification)
 * @next: first object with an id of at least *@id, referenced, its id in *@id;
 *	NULL at the end; ERR_PTR on failure, which makes the dump incomplete
 * @seek: skips objects that the request filters out, without calling next() for each:
 *	returns the lowest id from @id on that may match. May be NULL: the companion
 *	filters by itself in any case
 * @put: drop the reference next() took; NULL for what lives as long as the device
 * @res: resource tracking entry, for the owner fields, or NULL for
 *	objects of the device as a whole (@res itself may be NULL as well).
 *	The companion fills pid, comm, cgroup-id, netns and res-id from it.
 * @owner: process that created an object for which @res has no entry, or NULL if the
 *	kernel did; may itself be NULL. Valid as long as the object is referenced
 * @fill: set the fields of the snapshot struct of @type, and in @own those specific to
 *	the driver's family: struct eadm_snap_<object>_<family>, NULL if there are none.
 *	The caller has zeroed both
 */
struct eadm_diag_obj {
	u8 type;
	void *(*next)(struct eadm_diag_dev *dd, u64 *id);
	u64 (*seek)(struct eadm_diag_dev *dd, u64 id, const struct eadm_diag_req *req);
	void (*put)(struct eadm_diag_dev *dd, void *obj);
	struct rdma_restrack_entry *(*res)(void *obj);
	struct pid *(*owner)(void *obj);
	int (*fill)(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req);
};

enum eadm_diag_event_type {
	EADM_DIAG_CMD_DONE,	/* a command ended in any way; code: EADM_CMD_OP_* */
	EADM_DIAG_CMD_TIMEOUT,	/* a command was lost; code: EADM_CMD_OP_* */
	EADM_DIAG_RECOVERED,	/* the command queue is back in service */
	EADM_DIAG_DEAD,		/* the command queue will not come back */
	EADM_DIAG_ASYNC,	/* event of the adapter; code: EADM_ASYNC_EVENT_* */
	EADM_DIAG_CONF,		/* a setting changed; code: its value */
};

/**
 * struct eadm_diag_event - what happened to what
 * @obj: EADM_OBJ_* of the object; EADM_OBJ_DEV for the device as a whole, or a port of it
 * @id: its number; of EADM_OBJ_DEV that of the port, 0 for the device
 * @code: detail in the specification's terms, by the type of the event
 * @raw: the adapter's own code, for EADM_DIAG_CMD_* and EADM_DIAG_ASYNC
 */
struct eadm_diag_event {
	u8 obj;
	u64 id;
	u64 code;
	u32 raw;
};

/* Members of struct eadm_diag_ring that are set. */
#define EADM_DIAG_RING_SW_PI	BIT(0)
#define EADM_DIAG_RING_SW_CI	BIT(1)
#define EADM_DIAG_RING_HW_PI	BIT(2)
#define EADM_DIAG_RING_HW_CI	BIT(3)

/**
 * struct eadm_diag_ring - entries of a queue
 * @kind: in: EADM_RAW_KIND_*
 * @hw: in: ask the adapter for its indices
 * @user: out: a process uses it directly
 * @id: in: number of the queue as in its object
 * @sub: in: number of the part of the queue, for adapters whose queues have
 *	parts
 * @index: out: EADM_RING_INDEX_*, of the family's <family>_ring_index()
 * @index_bits: out: width of the indices of EADM_RING_INDEX_FREE, else 0; of
 *	<family>_ring_index_bits()
 * @memory: out: EADM_RING_MEMORY_*
 * @first: in: position of the first entry
 * @count: in: number of entries; out: number of entries in the buffer
 * @entry_size: out: bytes from one entry to the next
 * @depth: out: entries of the ring, not always a power of two
 * @valid: out: EADM_DIAG_RING_*
 * @sw_pi: out: producer index of the software, in its own counting
 * @sw_ci: out: its consumer index
 * @hw_pi: out: producer index of the adapter
 * @hw_ci: out: its consumer index
 * @hw_error: out: 0, or why the adapter could not be read
 */
struct eadm_diag_ring {
	u8 kind;
	bool hw;
	bool user;
	u32 id;
	u32 sub;
	u8 index;
	u8 index_bits;
	u8 memory;
	u32 first;
	u32 count;
	u32 entry_size;
	u32 depth;
	u32 valid;
	u32 sw_pi;
	u32 sw_ci;
	u32 hw_pi;
	u32 hw_ci;
	int hw_error;
};

/* A register that can be read without side effects. */
struct eadm_diag_reg {
	u32 offset;
	u32 bits;
	u64 value;
};

/**
 * struct eadm_diag_ops - what a driver offers
 * @interface: EADM_DIAG_INTERFACE; must remain the first member
 * @family: name of the adapter's family, as in spec/families
 * @objs: table of pointers, NULL terminated
 * @ring: copies entries of a queue into a buffer of the given size; -ENOENT: no
 *	such queue, -ERANGE: it has no such entries, -EOPNOTSUPP: no such kind
 * @context: reads the adapter's context (EADM_RAW_KIND_*) into a buffer of
 *	@context_max bytes; its length, an error as above, or -ENODEV when the adapter
 *	is gone or no longer has the object
 * @context_max: length of the longest context
 * @regs: reads registers; returns how many there are, or an error: -ENODEV when the
 *	adapter is gone, -EAGAIN while its function is being reset
 * @conf_set: changes a setting, EADM_CONF_PARAM_*; -EOPNOTSUPP: the adapter
 *	does not have it, -ERANGE: value out of range
 *
 * All but @interface, @family and @objs may be NULL.
 */
struct eadm_diag_ops {
	u32 interface;
	const char *family;
	const struct eadm_diag_obj *const *objs;
	int (*ring)(struct eadm_diag_dev *dd, struct eadm_diag_ring *ring, void *buf,
		    size_t room);
	int (*context)(struct eadm_diag_dev *dd, u8 kind, u32 id, void *buf);
	u32 context_max;
	int (*regs)(struct eadm_diag_dev *dd, struct eadm_diag_reg *regs, u32 max);
	int (*conf_set)(struct eadm_diag_dev *dd, u32 param, u64 value);
};

/**
 * struct eadm_diag_dev - one RDMA device as the companion sees it
 *
 * The first three members keep their places, so that a companion of any build finds
 * the interface.
 *
 * @adev: the auxiliary device; the companion holds no other reference
 * @ibdev: the RDMA device; valid as long as @adev is bound
 * @ops: the driver's ops
 * @failures: failures that the driver records, for the companion to show; NULL when
 *	it keeps none. Set before @adev is added
 * @debug: topics of which the driver logs messages, EADM_DEBUG_TOPIC_*; see eadm_debug.h
 * @followers: number of readers that wait for each command: if 0, EADM_DIAG_CMD_DONE is
 *	not sent. Set by the companion: a newly counted reader finds commands that ended
 *	earlier in the recorder, under the driver's lock
 * @gen: bumped by the driver whenever an object of a type comes or goes, so that a torn
 *	dump is detected
 * @events: atomic notifier chain; calls carry enum eadm_diag_event_type and a
 *	struct eadm_diag_event, in any context
 * @released: completed when @adev has no references; used by the driver, see
 *	kmod/core/provider.c
 */
struct eadm_diag_dev {
	struct auxiliary_device adev;
	struct ib_device *ibdev;
	const struct eadm_diag_ops *ops;
	struct eadm_failures *failures;
	u32 debug;
	atomic_t followers;
	atomic_t gen[EADM_OBJ_COUNT];
	struct atomic_notifier_head events;
	struct completion released;
};

static inline struct eadm_diag_dev *to_eadm_diag_dev(struct auxiliary_device *adev)
{
	return container_of(adev, struct eadm_diag_dev, adev);
}

/**
 * eadm_diag_changed() - an object of @type came or went
 * @dd: the device
 * @type: EADM_OBJ_*
 *
 * Context: any.
 */
static inline void eadm_diag_changed(struct eadm_diag_dev *dd, u8 type)
{
	atomic_inc(&dd->gen[type]);
}

/**
 * eadm_diag_is_followed() - whether EADM_DIAG_CMD_DONE has to be sent
 * @dd: the device
 *
 * Context: any.
 */
static inline bool eadm_diag_is_followed(struct eadm_diag_dev *dd)
{
	return atomic_read(&dd->followers);
}

/**
 * eadm_diag_notify() - notify a bound companion of an event
 * @dd: the device
 * @type: enum eadm_diag_event_type
 * @ev: what happened
 *
 * Context: any; costs one load when there is no listener.
 */
static inline void eadm_diag_notify(struct eadm_diag_dev *dd, unsigned long type,
				    const struct eadm_diag_event *ev)
{
	if (rcu_access_pointer(dd->events.head))
		atomic_notifier_call_chain(&dd->events, type, (void *)ev);
}

#endif /* EADM_DIAG_H */
