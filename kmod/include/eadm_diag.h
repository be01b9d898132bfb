/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between an RDMA driver and the companion module (eadm.ko).
 *
 * A driver registers one auxiliary device "<driver>.diag2" per RDMA device, embedded in a struct
 * eadm_diag_dev, before or after ib_register_device(), and removes it before anything that the ops
 * use is freed. The companion binds to the auxiliary device; neither module needs the other to be
 * loaded. They may come from different builds, whose structs differ: the companion refuses a driver
 * whose ops have a different EADM_DIAG_INTERFACE, and reads nothing else from such a driver.
 *
 * Rules for the ops (all may sleep, and none is called after the auxiliary device was deleted):
 *  - next() finds and references an object in one step and never returns one
 *    that is being destroyed; put() drops that reference. A reference keeps the
 *    memory and queues of the object, but does not keep the device in service:
 *    fill() must not use the adapter unless req->hw is set.
 *  - fill() sets only the fields whose values are available (SNAP_*): an unset field is also
 *    absent in the reply to the user. It returns 0, or a negative errno if the row must be left
 *    out. A failure to read the adapter's own context is not an error of the row: set hw_error
 *    instead.
 *  - a PID that fill() sets itself must be the PID in the reader's PID namespace (that of current);
 *    fill() leaves it unset if there is none.
 *  - no field contains a kernel address.
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

/* Set a field of a snapshot together with its presence mark. */
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

/* The length of a binary field is stored in <field>_len. */
#define SNAP_BIN(snap, field, ptr, n)					\
	do {								\
		u16 __n = min_t(size_t, (n), sizeof((snap)->field));	\
		memcpy((snap)->field, (ptr), __n);			\
		(snap)->field##_len = __n;				\
		(snap)->has.field = 1;					\
	} while (0)

/**
 * struct eadm_diag_req - a reader's request
 * @hw: also read the adapter's own context of the object; may issue commands
 * @admin: the reader administers the device: records kept for it count as read, and it may issue
 *	any number of commands; other readers receive a recent, cached response
 * @among: for commands: only those in one of these states, BIT(EADM_CMD_STATE_*); 0 = any
 * @least: for commands: only those with a latency of at least this many ns
 * @net: network namespace of the reader, in which interface names are resolved
 */
struct eadm_diag_req {
	bool hw;
	bool admin;
	u32 among;
	u64 least;
	const struct net *net;
};

/**
 * eadm_diag_sees() - check whether a reader may see the name and index of a network interface
 * @req: the request
 * @netdev: network interface of the device
 *
 * If devices are shared between namespaces, the reader's namespace may have a different interface
 * of the same name.
 *
 * Context: any.
 * Return: true if the interface is in the reader's network namespace.
 */
static inline bool eadm_diag_sees(const struct eadm_diag_req *req, const struct net_device *netdev)
{
	return req->net && net_eq(dev_net(netdev), req->net);
}

/**
 * struct eadm_diag_obj - one kind of object that a driver can show
 * @type: EADM_OBJ_* (generated from the specification)
 * @next: return the first object with an ID of at least *@id, referenced, and store its ID in *@id;
 *	return NULL at the end, ERR_PTR on failure, which makes the dump incomplete
 * @seek: skip objects that the request filters out, without calling next() for each: return the
 *	lowest ID from @id on that may match. May be NULL: the companion always applies the filter
 *	as well
 * @put: drop the reference taken by next(); NULL for objects that live as long as the device
 * @res: return the resource tracking entry for the owner fields, or NULL for objects of the device
 *	as a whole (@res itself may be NULL as well). The companion fills in pid, comm, cgroup-id,
 *	netns and res-id from it.
 * @owner: return the process that created an object for which @res has no entry, or NULL if the
 *	kernel created it; may itself be NULL. Valid as long as the object is referenced
 * @fill: set the fields of the snapshot struct of @type, and in @own those specific to the driver's
 *	family: struct eadm_snap_<object>_<family>, NULL if there are none. The caller has zeroed
 *	both
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
	EADM_DIAG_CMD_DONE,	/* a command ended; code: EADM_CMD_OP_* */
	EADM_DIAG_CMD_TIMEOUT,	/* a command was lost; code: EADM_CMD_OP_* */
	EADM_DIAG_RECOVERED,	/* the command queue is back in service */
	EADM_DIAG_DEAD,		/* the command queue is permanently out of service */
	EADM_DIAG_ASYNC,	/* event of the adapter; code: EADM_ASYNC_EVENT_* */
	EADM_DIAG_CONF,		/* a setting changed; code: its value */
};

/**
 * struct eadm_diag_event - an event and the object concerned
 * @obj: EADM_OBJ_* of the object; EADM_OBJ_DEV for the device as a whole, or a port of it
 * @id: number of the object; for EADM_OBJ_DEV the number of the port, 0 for the device
 * @code: detail in the specification's terms, depending on the type of the event
 * @raw: the adapter's own code, for EADM_DIAG_CMD_* and EADM_DIAG_ASYNC
 */
struct eadm_diag_event {
	u8 obj;
	u64 id;
	u64 code;
	u32 raw;
};

/* Flags for the members of struct eadm_diag_ring that are set. */
#define EADM_DIAG_RING_SW_PI	BIT(0)
#define EADM_DIAG_RING_SW_CI	BIT(1)
#define EADM_DIAG_RING_HW_PI	BIT(2)
#define EADM_DIAG_RING_HW_CI	BIT(3)

/**
 * struct eadm_diag_ring - entries of a queue
 * @kind: in: EADM_RAW_KIND_*
 * @hw: in: query the adapter for its indices
 * @user: out: a process uses the queue directly
 * @id: in: number of the queue, as in its object
 * @sub: in: number of the part of the queue, for adapters that divide queues into parts
 * @index: out: EADM_RING_INDEX_*, from the family's <family>_ring_index()
 * @index_bits: out: width of EADM_RING_INDEX_FREE indices, from <family>_ring_index_bits();
 *	otherwise 0
 * @memory: out: EADM_RING_MEMORY_*
 * @first: in: position of the first entry
 * @count: in: number of entries; out: number of entries in the buffer
 * @entry_size: out: distance between entries in bytes
 * @depth: out: number of entries in the ring, not always a power of two
 * @valid: out: EADM_DIAG_RING_*
 * @sw_pi: out: producer index of the software, as counted by the software
 * @sw_ci: out: consumer index of the software
 * @hw_pi: out: producer index of the adapter
 * @hw_ci: out: consumer index of the adapter
 * @hw_error: out: 0, or the reason why the adapter could not be read
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
 * struct eadm_diag_ops - operations of a driver
 * @interface: EADM_DIAG_INTERFACE; must remain the first member
 * @family: name of the adapter's family, as in spec/families
 * @objs: table of pointers, NULL terminated
 * @ring: copy entries of a queue into a buffer of the given size; -ENOENT: no such queue, -ERANGE:
 *	no such entries, -EOPNOTSUPP: unsupported kind
 * @context: read the adapter's context (EADM_RAW_KIND_*) into a buffer of @context_max bytes;
 *	return its length, an error as above, or -ENODEV if the adapter is gone or no longer has the
 *	object
 * @context_max: length of the longest context
 * @regs: read registers; return their number, or an error: -ENODEV if the adapter is gone, -EAGAIN
 *	while its function is being reset
 * @conf_set: change a setting, EADM_CONF_PARAM_*; -EOPNOTSUPP: not supported by the adapter,
 *	-ERANGE: value out of range
 *
 * All members except @interface, @family and @objs may be NULL.
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
 * struct eadm_diag_dev - an RDMA device, as presented to the companion
 *
 * The first three members keep their places, so that a companion of any build finds
 * the interface.
 *
 * @adev: the auxiliary device; the companion holds no other reference
 * @ibdev: the RDMA device; valid as long as @adev is bound
 * @ops: the driver's ops
 * @failures: failures that the driver records for the companion; NULL if it records none. Set
 *	before @adev is added
 * @debug: topics of the driver's debug messages, EADM_DEBUG_TOPIC_*; see eadm_debug.h
 * @followers: number of readers that wait for each command; if 0, EADM_DIAG_CMD_DONE is not sent.
 *	Set by the companion: a newly counted reader finds commands that ended earlier in the
 *	recorder, under the driver's lock
 * @gen: incremented by the driver whenever an object of the type is added or removed, so that a
 *	torn dump is detected
 * @events: atomic notifier chain, called in any context with enum eadm_diag_event_type and a struct
 *	eadm_diag_event
 * @released: completed when @adev has no references; used by the driver, see kmod/core/provider.c
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
 * eadm_diag_changed() - record that an object of @type was added or removed
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
 * eadm_diag_is_followed() - check whether EADM_DIAG_CMD_DONE has to be sent
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
 * @ev: the event
 *
 * Context: any; costs one load if there is no listener.
 */
static inline void eadm_diag_notify(struct eadm_diag_dev *dd, unsigned long type,
				    const struct eadm_diag_event *ev)
{
	if (rcu_access_pointer(dd->events.head))
		atomic_notifier_call_chain(&dd->events, type, (void *)ev);
}

#endif /* EADM_DIAG_H */
