// SPDX-License-Identifier: GPL-2.0-only
/* State of an adapter, and reports to consumers, to the companion and to the failure log. */

#include <rdma/rdma_netlink.h>

#include "report.h"

/**
 * eadm_adapter_serves() - check whether the adapter executes commands
 * @ad: the adapter
 *
 * Context: any.
 */
bool eadm_adapter_serves(const struct eadm_adapter *ad)
{
	return !READ_ONCE(ad->gone) && READ_ONCE(ad->state) != EADM_QUEUE_DEAD;
}

/**
 * eadm_adapter_cause() - return the reason why objects of an adapter are dead
 * @ad: the adapter
 *
 * Context: any.
 * Return: EADM_CAUSE_ADAPTER_*.
 */
u8 eadm_adapter_cause(const struct eadm_adapter *ad)
{
	return READ_ONCE(ad->gone) ? EADM_CAUSE_ADAPTER_GONE : EADM_CAUSE_ADAPTER_RESET;
}

/**
 * eadm_adapter_event() - notify all consumers of the device of an event of its port
 * @ad: the adapter
 * @type: the event
 *
 * Context: any.
 */
void eadm_adapter_event(struct eadm_adapter *ad, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &ad->ibdev,
		.element.port_num = ad->port,
		.event = type,
	};

	ib_dispatch_event(&event);
}

/**
 * eadm_adapter_async() - report an asynchronous event of the adapter to the companion
 * @ad: the adapter
 * @obj: EADM_OBJ_* of the object concerned
 * @id: number of that object
 * @code: EADM_ASYNC_EVENT_*
 * @raw: the adapter's own code
 *
 * Context: any.
 */
void eadm_adapter_async(struct eadm_adapter *ad, u8 obj, u64 id, u32 code, u32 raw)
{
	const struct eadm_diag_event ev = { .obj = obj, .id = id, .code = code, .raw = raw };

	eadm_diag_notify(&ad->diag, EADM_DIAG_ASYNC, &ev);
}

/**
 * eadm_object_ended() - report whether the adapter has destroyed an object
 * @ad: the adapter
 * @obj: the object
 * @ret: result of the command, which is not issued if the object is dead (&eadm_issue.bound)
 * @what: the command and the kind of the object
 * @id: number of the object
 *
 * Context: process.
 * Return: whether the adapter is known to be done with the object.
 */
bool eadm_object_ended(const struct eadm_adapter *ad, const struct eadm_object *obj, int ret,
		       const char *what, u32 id)
{
	if (ret && !eadm_object_is_dead(ad, obj))
		ibdev_warn_ratelimited(&ad->ibdev, "failed to %s %u: %d\n", what, id, ret);
	return !ret;
}

/**
 * eadm_res_end() - complete an object's values in a message of resource tracking
 * @msg: the message
 * @values: attribute with the values, or NULL
 * @full: the message has no room for all of them
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int eadm_res_end(struct sk_buff *msg, struct nlattr *values, bool full)
{
	if (full) {
		nla_nest_cancel(msg, values);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, values);
	return 0;
}
