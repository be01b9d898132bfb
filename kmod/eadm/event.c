// SPDX-License-Identifier: GPL-2.0-only
/*
 * The multicast group "events". Drivers report events in any context; the events are kept in a
 * short queue per device and sent by a work item, only to network namespaces that can see the
 * device and have a listener.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"

static atomic64_t last_seq = ATOMIC64_INIT(0);

/* Sets the object of an asynchronous event. */
static void set_object(const struct eadm_diag_event *ev, struct eadm_snap_event *s)
{
	switch (ev->obj) {
	case EADM_OBJ_QP:
		SNAP_SET(s, qpn, ev->id);
		break;
	case EADM_OBJ_CQ:
		SNAP_SET(s, cqn, ev->id);
		break;
	case EADM_OBJ_SRQ:
		SNAP_SET(s, srqn, ev->id);
		break;
	case EADM_OBJ_DEV:
		if (ev->id)
			SNAP_SET(s, port, ev->id);
		break;
	}
}

/* Translates a notification of the driver into an event of the netlink family. */
static bool translate(unsigned long type, const struct eadm_diag_event *ev,
		      struct eadm_snap_event *s)
{
	switch (type) {
	case EADM_DIAG_CMD_TIMEOUT:
		SNAP_SET(s, type, EADM_EVENT_TYPE_CMD_TIMEOUT);
		SNAP_SET(s, cmd_seq, ev->id);
		SNAP_SET(s, op, ev->code);
		SNAP_SET(s, op_raw, ev->raw);
		return true;
	case EADM_DIAG_RECOVERED:
		SNAP_SET(s, type, EADM_EVENT_TYPE_RECOVERED);
		return true;
	case EADM_DIAG_DEAD:
		SNAP_SET(s, type, EADM_EVENT_TYPE_DEAD);
		return true;
	case EADM_DIAG_ASYNC:
		SNAP_SET(s, type, EADM_EVENT_TYPE_ASYNC);
		SNAP_SET(s, async, ev->code);
		SNAP_SET(s, async_raw, ev->raw);
		set_object(ev, s);
		return true;
	case EADM_DIAG_CONF:
		SNAP_SET(s, type, EADM_EVENT_TYPE_CONF_CHANGED);
		SNAP_SET(s, param, ev->id);
		SNAP_SET(s, value, ev->code);
		return true;
	default:
		return false;
	}
}

static void push(struct eadm_dev *edev, struct eadm_snap_event *s)
{
	struct eadm_events *q = &edev->queue;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	/*
	 * Assign the number under the lock, so that events are sent in the order of their numbers.
	 */
	SNAP_SET(s, seq, atomic64_inc_return(&last_seq));
	SNAP_SET(s, time, ktime_get_real_ns());
	if (q->n == EADM_EVENTS_MAX) {
		q->lost++;
	} else {
		if (q->lost)
			SNAP_SET(s, lost, q->lost);
		q->lost = 0;
		q->event[(q->first + q->n++) % EADM_EVENTS_MAX] = *s;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	schedule_work(&q->work);
}

static bool pop(struct eadm_events *q, struct eadm_snap_event *s)
{
	bool some;

	spin_lock_irq(&q->lock);
	some = q->n;
	if (some) {
		*s = q->event[q->first];
		q->first = (q->first + 1) % EADM_EVENTS_MAX;
		q->n--;
	}
	spin_unlock_irq(&q->lock);
	return some;
}

static void tell(struct eadm_dev *edev, struct eadm_snap_event *s)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		if (rdma_dev_access_netns(edev->dd->ibdev, net))
			eadm_nl_tell(net, edev, s);
	}
	up_read(&net_rwsem);
}

static void event_work(struct work_struct *work)
{
	struct eadm_dev *edev = container_of(work, struct eadm_dev, queue.work);
	struct eadm_snap_event s;

	while (pop(&edev->queue, &s))
		tell(edev, &s);
}

/**
 * eadm_event_note() - queue a notification of the driver
 * @edev: the device, bound
 * @type: enum eadm_diag_event_type
 * @ev: the event
 *
 * Context: any.
 */
void eadm_event_note(struct eadm_dev *edev, unsigned long type,
		     const struct eadm_diag_event *ev)
{
	struct eadm_snap_event s = {};

	if (translate(type, ev, &s))
		push(edev, &s);
}

/**
 * eadm_event_device() - queue an event that reports an added or removed device
 * @edev: the device; its driver is still bound
 * @type: EADM_EVENT_TYPE_DEVICE_ADDED or _REMOVED
 *
 * Context: process.
 */
void eadm_event_device(struct eadm_dev *edev, u32 type)
{
	struct eadm_snap_event s = {};

	SNAP_SET(&s, type, type);
	push(edev, &s);
}

/**
 * eadm_event_init() - initialise the queue of a device
 * @edev: the device
 */
void eadm_event_init(struct eadm_dev *edev)
{
	spin_lock_init(&edev->queue.lock);
	INIT_WORK(&edev->queue.work, event_work);
}

/**
 * eadm_event_flush() - wait until all events were sent
 * @edev: the device, whose driver no longer reports events
 *
 * Context: process.
 */
void eadm_event_flush(struct eadm_dev *edev)
{
	flush_work(&edev->queue.work);
}
