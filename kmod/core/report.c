// SPDX-License-Identifier: GPL-2.0-only
/* How an adapter is, and the notice of it to consumers, the companion and the failures. */

#include "report.h"

/**
 * eadm_adapter_state() - the state of an adapter, for the companion
 * @ad: the adapter
 *
 * Context: any.
 * Return: EADM_DEV_STATE_*.
 */
u32 eadm_adapter_state(const struct eadm_adapter *ad)
{
	if (READ_ONCE(ad->gone))
		return EADM_DEV_STATE_GONE;
	if (READ_ONCE(ad->unconfirmed))
		return EADM_DEV_STATE_HALTED;
	switch (READ_ONCE(ad->state)) {
	case EADM_QUEUE_RECOVERING:
		return EADM_DEV_STATE_RECOVERING;
	case EADM_QUEUE_DEAD:
		return EADM_DEV_STATE_DEAD;
	default:
		return EADM_DEV_STATE_READY;
	}
}

/**
 * eadm_adapter_serves() - whether the adapter executes commands
 * @ad: the adapter
 *
 * Context: any.
 */
bool eadm_adapter_serves(const struct eadm_adapter *ad)
{
	return !READ_ONCE(ad->gone) && READ_ONCE(ad->state) != EADM_QUEUE_DEAD;
}

/**
 * eadm_adapter_cause() - why objects of an adapter are dead
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
 * eadm_adapter_failed() - record that the adapter as a whole failed
 * @ad: the adapter
 * @cause: EADM_CAUSE_ADAPTER_*
 * @error: why it could not be brought back, or 0
 *
 * Context: any but NMI.
 */
void eadm_adapter_failed(struct eadm_adapter *ad, u8 cause, int error)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_DEVICE,
		.cause = cause,
		.has = error ? EADM_FAILURE_ERROR : 0,
		.error = error,
	};

	eadm_failures_note(&ad->failures, &what);
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
 * eadm_adapter_notify() - report to the companion that the command queue is back, or will not be
 * @ad: the adapter
 * @type: EADM_DIAG_RECOVERED or EADM_DIAG_DEAD
 *
 * Context: any.
 */
void eadm_adapter_notify(struct eadm_adapter *ad, unsigned long type)
{
	const struct eadm_diag_event ev = { .obj = EADM_OBJ_DEV };

	eadm_diag_notify(&ad->diag, type, &ev);
}

/**
 * eadm_adapter_async() - report an asynchronous event of the adapter to the companion
 * @ad: the adapter
 * @obj: EADM_OBJ_* of what it is about
 * @id: number of that
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
