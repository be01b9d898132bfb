/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between an RDMA driver and the companion module (eadm.ko).
 *
 * A driver registers one auxiliary device "<driver>.diag" per RDMA device,
 * embedded in a struct eadm_diag_dev, before or after ib_register_device() and
 * takes it away before anything the ops touch is freed. The companion binds to
 * it; neither needs the other to be loaded.
 *
 * Rules for the ops (all may sleep, none is called after the auxiliary
 * device was deleted):
 *  - next() finds and references in one step and never returns an object
 *    that is on its way out; put() drops that reference. A reference keeps
 *    the memory and queues of the object, not the device's service: fill()
 *    must do without the adapter unless req->hw says otherwise.
 *  - fill() sets only what it knows (SNAP_*): a field that was not set stays
 *    absent all the way to the user. It returns 0, or a negative errno when
 *    the row shall be left out. Failure to read the adapter's own context is
 *    not an error of the row: set hw_error instead.
 *  - a PID that fill() sets itself is one of the reader's PID namespace (that
 *    of current), or is not set.
 *  - no field carries a kernel address.
 */
#ifndef EADM_DIAG_H
#define EADM_DIAG_H

#include <linux/atomic.h>
#include <linux/auxiliary_bus.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/restrack.h>

#include "eadm_snap.h"

struct eadm_diag_dev;
struct ib_device;
struct pid;

#define EADM_DIAG_NAME		"diag"

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
 */
struct eadm_diag_req {
	bool hw;
};

/**
 * struct eadm_diag_obj - one kind of object a driver can show
 * @type: EADM_OBJ_* (generated from the specification)
 * @next: first object with an id of at least *@id, referenced, its id in *@id;
 *	NULL at the end
 * @put: drop the reference next() took
 * @res: resource tracking entry, for the owner fields, or NULL for
 *	objects of the device as a whole (@res itself may be NULL as well).
 *	The companion fills pid, comm, cgroup-id, netns and res-id from it.
 * @owner: process that made an object for which @res has no entry, or NULL when
 *	the kernel did; may itself be NULL. Valid as long as the object is
 *	referenced
 * @fill: set the fields of the snapshot struct of @type (zeroed by the caller)
 */
struct eadm_diag_obj {
	u8 type;
	void *(*next)(struct eadm_diag_dev *dd, u64 *id);
	void (*put)(struct eadm_diag_dev *dd, void *obj);
	struct rdma_restrack_entry *(*res)(void *obj);
	struct pid *(*owner)(void *obj);
	int (*fill)(struct eadm_diag_dev *dd, void *obj, void *snap,
		    const struct eadm_diag_req *req);
};

enum eadm_diag_event_type {
	EADM_DIAG_CMD_DONE,	/* a command ended in any way; id = seq */
	EADM_DIAG_CMD_TIMEOUT,	/* a command was lost; id = seq */
	EADM_DIAG_RECOVERED,	/* the command queue serves again */
	EADM_DIAG_DEAD,		/* the command queue will not serve again */
	EADM_DIAG_ASYNC,	/* AEQ event; id = QPN or CQN, code = event type */
};

struct eadm_diag_event {
	u64 id;
	u32 code;
};

/**
 * struct eadm_diag_ops - what a driver offers
 * @objs: table of pointers, NULL terminated
 */
struct eadm_diag_ops {
	const struct eadm_diag_obj *const *objs;
};

/**
 * struct eadm_diag_dev - one RDMA device as the companion sees it
 * @adev: the auxiliary device; the companion holds no other reference
 * @ibdev: the RDMA device; valid as long as @adev is bound
 * @ops: the driver's ops
 * @gen: bumped by the driver whenever an object of a type comes or goes, so
 *	that a torn dump is told
 * @events: atomic notifier chain; calls carry enum eadm_diag_event_type and a
 *	struct eadm_diag_event, in any context
 */
struct eadm_diag_dev {
	struct auxiliary_device adev;
	struct ib_device *ibdev;
	const struct eadm_diag_ops *ops;
	atomic_t gen[EADM_OBJ_COUNT];
	struct atomic_notifier_head events;
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
 * eadm_diag_notify() - tell a bound companion of an event
 * @dd: the device
 * @type: enum eadm_diag_event_type
 * @id: object the event is about
 * @code: detail
 *
 * Context: any; costs one load when nobody listens.
 */
static inline void eadm_diag_notify(struct eadm_diag_dev *dd, unsigned long type,
				    u64 id, u32 code)
{
	struct eadm_diag_event ev = { .id = id, .code = code };

	if (rcu_access_pointer(dd->events.head))
		atomic_notifier_call_chain(&dd->events, type, &ev);
}

#endif /* EADM_DIAG_H */
