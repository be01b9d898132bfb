// SPDX-License-Identifier: GPL-2.0-only
/*
 * Endpoints: lifetime, numbers, states, and the events recorded for their worker. The connection
 * logic is in cm.c.
 */
#include <linux/slab.h>

#include "cm.h"
#include "erdma.h"

static void cep_release(struct kref *ref)
{
	struct erdma_cep *cep = container_of(ref, struct erdma_cep, ref);
	struct erdma_cm *cm = &cep->dev->cm;

	xa_erase(&cm->ceps, cep->id);
	atomic_dec(&cm->count[cep->state]);
	eadm_diag_changed(&cep->dev->adapter.diag, EADM_OBJ_CEP);
	put_pid(cep->owner);
	mutex_destroy(&cep->lock);
	kfree(cep);
}

/**
 * erdma_cep_get() - take another reference to an endpoint
 * @cep: the endpoint
 *
 * Context: any.
 */
void erdma_cep_get(struct erdma_cep *cep)
{
	kref_get(&cep->ref);
}

/**
 * erdma_cep_put() - drop a reference to an endpoint
 * @cep: the endpoint
 *
 * Context: any except hard interrupt.
 */
void erdma_cep_put(struct erdma_cep *cep)
{
	kref_put(&cep->ref, cep_release);
}

/**
 * erdma_cep_find() - find the endpoint with the lowest number from @id on
 * @cm: the connection manager
 * @id: lowest number; on return the number of the endpoint found
 *
 * Context: any except hard interrupt.
 * Return: the endpoint, referenced, or NULL if there are no more.
 */
struct erdma_cep *erdma_cep_find(struct erdma_cm *cm, u64 *id)
{
	unsigned long index = *id;
	struct erdma_cep *cep;

	xa_lock(&cm->ceps);
	/*
	 * An endpoint whose last reference was dropped waits for this lock before it is freed.
	 */
	cep = xa_find(&cm->ceps, &index, ULONG_MAX, XA_PRESENT);
	while (cep && !kref_get_unless_zero(&cep->ref))
		cep = xa_find_after(&cm->ceps, &index, ULONG_MAX, XA_PRESENT);
	xa_unlock(&cm->ceps);
	*id = index;
	return cep;
}

/**
 * erdma_cep_note() - record an event for an endpoint's worker
 * @cep: the endpoint; the caller holds a reference
 * @event: the event
 *
 * Context: any except hard interrupt.
 */
void erdma_cep_note(struct erdma_cep *cep, enum erdma_cep_event event)
{
	set_bit(event, &cep->events);
	erdma_cep_get(cep);
	if (!queue_work(cep->dev->cm.wq, &cep->work))
		erdma_cep_put(cep);
}

static const char *const names[] = {
	[ERDMA_CEP_LISTENING]		= "listening",
	[ERDMA_CEP_CONNECTING]		= "connecting",
	[ERDMA_CEP_AWAIT_REPLY]		= "await-reply",
	[ERDMA_CEP_AWAIT_REQUEST]	= "await-request",
	[ERDMA_CEP_RECVD_REQUEST]	= "recvd-request",
	[ERDMA_CEP_CONNECTED]		= "connected",
	[ERDMA_CEP_CLOSED]		= "closed",
};

/**
 * erdma_cep_set_state() - change the state of an endpoint
 * @cep: the endpoint, locked
 * @state: new state
 *
 * Context: process.
 */
void erdma_cep_set_state(struct erdma_cep *cep, enum erdma_cep_state state)
{
	struct erdma_cm *cm = &cep->dev->cm;

	lockdep_assert_held(&cep->lock);
	erdma_debug(cep->dev, cm, "endpoint %u: %s to %s\n", cep->id, names[cep->state],
		    names[state]);
	atomic_dec(&cm->count[cep->state]);
	atomic_inc(&cm->count[state]);
	WRITE_ONCE(cep->state, state);
	WRITE_ONCE(cep->state_since, ktime_get_ns());
}

/**
 * erdma_cep_start_timer() - record ERDMA_CEP_EV_TIMEOUT after a delay
 * @cep: the endpoint
 * @delay: jiffies from now; replaces a timer that is already running
 *
 * Context: process.
 */
void erdma_cep_start_timer(struct erdma_cep *cep, unsigned long delay)
{
	erdma_cep_get(cep);
	if (mod_delayed_work(cep->dev->cm.wq, &cep->timer, delay))
		erdma_cep_put(cep);
}

/**
 * erdma_cep_stop_timer() - cancel the timer, unless it has fired
 * @cep: the endpoint; the caller holds a reference
 *
 * Context: process.
 */
void erdma_cep_stop_timer(struct erdma_cep *cep)
{
	if (cancel_delayed_work(&cep->timer))
		erdma_cep_put(cep);
}

static void cep_timer(struct work_struct *work)
{
	struct erdma_cep *cep = container_of(to_delayed_work(work), struct erdma_cep, timer);

	erdma_cep_note(cep, ERDMA_CEP_EV_TIMEOUT);
	erdma_cep_put(cep);
}

/**
 * erdma_cep_new() - create an endpoint
 * @dev: the device
 * @state: initial state
 * @owner: the process, or NULL
 * @work: handles recorded events, and drops a reference
 *
 * Context: process.
 * Return: the endpoint, with its creator's reference, or NULL.
 */
struct erdma_cep *erdma_cep_new(struct erdma_dev *dev, enum erdma_cep_state state,
				struct pid *owner, work_func_t work)
{
	struct erdma_cep *cep = kzalloc(sizeof(*cep), GFP_KERNEL);
	int ret;

	if (!cep)
		return NULL;
	kref_init(&cep->ref);
	cep->dev = dev;
	mutex_init(&cep->lock);
	spin_lock_init(&cep->view);
	INIT_WORK(&cep->work, work);
	INIT_DELAYED_WORK(&cep->timer, cep_timer);
	INIT_LIST_HEAD(&cep->pending);
	INIT_LIST_HEAD(&cep->lsocks);
	cep->created = ktime_get_ns();
	cep->state_since = cep->created;
	cep->state = state;
	cep->owner = get_pid(owner);
	ret = xa_alloc_cyclic(&dev->cm.ceps, &cep->id, cep, xa_limit_31b,
			      &dev->cm.next_id, GFP_KERNEL);
	if (ret < 0) {
		put_pid(cep->owner);
		kfree(cep);
		return NULL;
	}
	atomic_inc(&dev->cm.count[state]);
	eadm_diag_changed(&dev->adapter.diag, EADM_OBJ_CEP);
	erdma_debug(dev, cm, "endpoint %u: %s\n", cep->id, names[state]);
	return cep;
}
