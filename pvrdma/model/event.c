// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rings of the device: asynchronous events, and notifications of CQs. Their sizes are
 * not powers of two, but the driver computes as if they were, so only the first page of
 * elements is ever used (hw 5.5).
 */
#include <errno.h>
#include <string.h>

#include "function.h"

#define DEVICE_RING_PAGES 4

int device_ring_init(struct model *m, struct device_ring *ring,
		     const struct pvrdma_ring_info *info, uint32_t element)
{
	struct pvrdma_ring_header *header;
	int err;

	if (info->pages != DEVICE_RING_PAGES)
		return -EINVAL;
	err = pages_map(m, info->directory, DEVICE_RING_PAGES, &ring->pages);
	if (err)
		return err;
	header = ring->pages->at[0];
	ring->state = &header->rx;
	ring->element = element;
	ring->mask = 2 * ((uint32_t)(PAGE / element)) - 1;
	ring->prod = 0;
	ring->produced = 0;
	return 0;
}

static bool put(struct model *m, struct device_ring *ring, const void *element)
{
	uint32_t cons, room = (ring->mask + 1) / 2;

	cons = __atomic_load_n(&ring->state->cons_head, __ATOMIC_ACQUIRE);
	if (((ring->prod - cons) & ring->mask) >= room ||
	    fault_hit(m, FAULT_EQ_OVERFLOW, ring == &m->notifications, NULL))
		return false;
	memcpy((char *)ring->pages->at[1] + (ring->prod & (room - 1)) * ring->element,
	       element, ring->element);
	ring->prod = (ring->prod + 1) & ring->mask;
	ring->produced++;
	__atomic_store_n(&ring->state->prod_tail, ring->prod, __ATOMIC_RELEASE);
	return true;
}

/* Records the event, whether or not it can be delivered to the driver. */
static void note(struct model *m, enum pvrdma_event_type type, uint32_t info)
{
	struct journal_event event = { .type = JOURNAL_EVENT_ASYNC, .event = type };
	struct qp *qp = NULL;

	switch (type) {
	case PVRDMA_EVENT_QP_FATAL:
	case PVRDMA_EVENT_QP_REQ_ERR:
	case PVRDMA_EVENT_QP_ACCESS_ERR:
		qp = table_get(&m->qps, info);
		if (qp)
			qp_note_failure(m, qp, 0, type);
		break;
	case PVRDMA_EVENT_COMM_EST:
	case PVRDMA_EVENT_SQ_DRAINED:
	case PVRDMA_EVENT_PATH_MIG:
	case PVRDMA_EVENT_PATH_MIG_ERR:
	case PVRDMA_EVENT_LAST_WQE:
		qp = table_get(&m->qps, info);
		break;
	case PVRDMA_EVENT_SRQ_ERR:
	case PVRDMA_EVENT_SRQ_LIMIT:
		event.srq = info;
		break;
	case PVRDMA_EVENT_CQ_ERR:
		event.cq = info;
		journal_fail(m->journal, &(struct journal_failure){
			.kind = JOURNAL_CQ, .id = info, .event = type,
		});
		break;
	case PVRDMA_EVENT_DEVICE_FATAL:
		journal_fail(m->journal, &(struct journal_failure){
			.kind = JOURNAL_DEVICE, .event = type,
		});
		break;
	default:
		/* All other events concern the port. */
		event.port = info;
		break;
	}
	if (qp) {
		qp->events++;
		event.qpn = qp->qpn;
	}
	m->journal->events++;
	journal_report(m->journal, &event);
}

void event_send(struct model *m, enum pvrdma_event_type type, uint32_t info)
{
	struct pvrdma_event event = { .type = type, .info = info };

	if (!m->attached)
		return;
	note(m, type, info);
	if (!put(m, &m->events, &event)) {
		journal_count(&m->journal->overflows);
		if (!m->events_lost++)
			model_log(m, "the driver does not consume events: some are lost");
		return;
	}
	model_interrupt(m, PVRDMA_VECTOR_ASYNC);
}

bool event_notify(struct model *m, uint32_t cq)
{
	struct pvrdma_cq_notification notification = { .cq = cq };

	if (!m->attached)
		return true;
	if (!put(m, &m->notifications, &notification))
		return false;
	m->journal->notifications++;
	model_interrupt(m, PVRDMA_VECTOR_CQ);
	return true;
}

void event_from_backend(void *ctx, enum ibv_event_type type, void *object)
{
	struct model *m = ctx;
	const struct qp *qp = object;
	const struct srq *srq = object;

	switch (type) {
	case IBV_EVENT_QP_FATAL:
		event_send(m, PVRDMA_EVENT_QP_FATAL, qp->handle);
		break;
	case IBV_EVENT_QP_REQ_ERR:
		event_send(m, PVRDMA_EVENT_QP_REQ_ERR, qp->handle);
		break;
	case IBV_EVENT_QP_ACCESS_ERR:
		event_send(m, PVRDMA_EVENT_QP_ACCESS_ERR, qp->handle);
		break;
	case IBV_EVENT_COMM_EST:
		event_send(m, PVRDMA_EVENT_COMM_EST, qp->handle);
		break;
	case IBV_EVENT_SQ_DRAINED:
		event_send(m, PVRDMA_EVENT_SQ_DRAINED, qp->handle);
		break;
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		event_send(m, PVRDMA_EVENT_LAST_WQE, qp->handle);
		break;
	case IBV_EVENT_SRQ_ERR:
		event_send(m, PVRDMA_EVENT_SRQ_ERR, srq->handle);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		event_send(m, PVRDMA_EVENT_SRQ_LIMIT, srq->handle);
		break;
	case IBV_EVENT_PORT_ACTIVE:
		event_send(m, PVRDMA_EVENT_PORT_ACTIVE, 1);
		break;
	case IBV_EVENT_PORT_ERR:
		m->journal->link_downs++;
		event_send(m, PVRDMA_EVENT_PORT_ERR, 1);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		m->backend_gone = true;
		event_send(m, PVRDMA_EVENT_DEVICE_FATAL, 0);
		break;
	default:
		break;
	}
}
