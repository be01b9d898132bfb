// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of queues. Values written by the guest are read once, and shown only if they are
 * valid.
 */
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pvrdma_classes.h"

/* The device's queues, numbered as in rows. */
enum { EQ_RESPONSES, EQ_EVENTS, EQ_NOTIFICATIONS, EQ_COUNT };

/*
 * Extracts the IP address from a GID. Returns its size: 4 bytes for IPv4, otherwise 16.
 */
static unsigned int address_of(const uint8_t gid[16], uint8_t address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ipv4 = !memcmp(gid, mapped, sizeof(mapped));
	unsigned int size = ipv4 ? 4 : 16;

	memcpy(address, gid + 16 - size, size);
	return size;
}

static void fill_connection(const struct model *m, const struct qp *qp,
			    struct eadm_snap_qp *snap)
{
	const struct pvrdma_path *path = &qp->path;
	static const uint8_t none[16];
	uint8_t address[16];
	unsigned int size;

	if (memcmp(path->dgid, none, sizeof(none))) {
		size = address_of(path->dgid, address);
		SNAP_BIN(snap, peer_addr, address, size);
	}
	if (path->sgid_index < GID_TABLE && m->bound[path->sgid_index] &&
	    snap->has.peer_addr) {
		size = address_of(m->gids[path->sgid_index], address);
		SNAP_BIN(snap, local_addr, address, size);
	}
}

/* Sets the fields for the entries in the ring and the progress of the adapter. */
static void fill_send_queue(const struct qp *qp, struct eadm_snap_qp *snap)
{
	const struct queue *queue = &qp->sq;
	int64_t pending = qp->reset ? 0 : ring_pending(&queue->ring);

	SNAP_SET(snap, sq_depth, queue->ring.count);
	SNAP_SET(snap, sq_stride, queue->ring.stride);
	if (pending >= 0)
		SNAP_SET(snap, sq_pi, queue->fetched + (uint32_t)pending);
	SNAP_SET(snap, sq_ci, queue->done);
	SNAP_SET(snap, hw_sq_pi, queue->known);
	SNAP_SET(snap, hw_sq_ci, queue->done);
}

static void fill_recv_queue(const struct qp *qp, struct eadm_snap_qp *snap)
{
	const struct queue *queue = &qp->rq;
	int64_t pending;

	if (qp->srq)
		return;
	pending = qp->reset ? 0 : ring_pending(&queue->ring);
	SNAP_SET(snap, rq_depth, queue->ring.count);
	SNAP_SET(snap, rq_stride, queue->ring.stride);
	if (pending >= 0)
		SNAP_SET(snap, rq_pi, queue->fetched + (uint32_t)pending);
	SNAP_SET(snap, rq_ci, queue->done);
	SNAP_SET(snap, hw_rq_pi, queue->known);
	SNAP_SET(snap, hw_rq_ci, queue->done);
}

static void fill_failure(const struct qp *qp, struct eadm_snap_qp *snap)
{
	if (!qp->failed)
		return;
	/* A failed request raises no event. */
	if (qp->first_event >= 0) {
		SNAP_SET(snap, first_event, pvrdma_event_class((uint32_t)qp->first_event));
		SNAP_SET(snap, first_event_raw, (uint32_t)qp->first_event);
	}
	if (qp->first_status) {
		SNAP_SET(snap, first_cause, pvrdma_cause_class(qp->first_status));
		SNAP_SET(snap, first_syndrome_raw, qp->first_status);
	}
	SNAP_AGE(snap, first_event_age, qp->failed_at);
}

static void fill_backend(const struct model *m, const struct qp *qp, struct eadm_snap_qp *snap,
			 struct eadm_snap_qp_pvrdma *own)
{
	static const uint32_t waits[] = {
		[BACKEND_WAIT_NOTHING] = EADM_QP_WAIT_NOTHING,
		[BACKEND_WAIT_TURN] = EADM_QP_WAIT_TURN,
		[BACKEND_WAIT_RECEIVER] = EADM_QP_WAIT_RECEIVER,
		[BACKEND_WAIT_ANSWER] = EADM_QP_WAIT_ANSWER,
	};
	struct backend_qp_stats stats;
	struct ibv_qp_attr now;

	m->ops->qp_query(qp->backend, &now);
	SNAP_SET(own, qp_handle, qp->handle);
	SNAP_SET(snap, backend_qpn, qp->qpn);
	SNAP_SET(snap, backend_state, now.qp_state);
	if (qp->type == PVRDMA_QPT_RC && now.qp_state >= IBV_QPS_RTR)
		SNAP_SET(snap, dest_qpn, now.dest_qp_num);
	if (qp->srq)
		SNAP_SET(snap, srqn, qp->srq->handle);
	if (!m->ops->qp_stats)
		return;
	m->ops->qp_stats(qp->backend, &stats);
	SNAP_SET(snap, waits_for, waits[stats.wait]);
	SNAP_SET(snap, retries, stats.retries);
}

bool row_qp(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	    void *own)
{
	static const uint32_t types[] = {
		[PVRDMA_QPT_GSI] = EADM_QP_TYPE_GSI, [PVRDMA_QPT_RC] = EADM_QP_TYPE_RC,
		[PVRDMA_QPT_UD] = EADM_QP_TYPE_UD,
	};
	uint32_t number = (uint32_t)*pos;
	struct eadm_snap_qp *snap = to;
	const struct qp *qp;

	(void)req;
	qp = *pos > UINT32_MAX ? NULL : table_next(&dev->m->qps, &number);
	if (!qp)
		return false;
	*pos = number;
	SNAP_SET(snap, qpn, qp->qpn);
	SNAP_SET(snap, type, types[qp->type]);
	SNAP_SET(snap, state, qp->guest_state);
	SNAP_SET(snap, pdn, qp->pd->handle);
	SNAP_SET(snap, send_cqn, qp->send_cq->handle);
	SNAP_SET(snap, recv_cqn, qp->recv_cq->handle);
	SNAP_SET(snap, user, !!qp->pd->context);
	if (qp->pd->context)
		SNAP_SET(snap, ctxn, qp->pd->context->handle);
	SNAP_AGE(snap, age, qp->born);
	SNAP_AGE(snap, state_age, qp->state_since);
	SNAP_AGE(snap, last_post_age, qp->posted_at);
	SNAP_AGE(snap, last_comp_age, qp->completed_at);
	SNAP_SET(snap, events, qp->events);
	fill_connection(dev->m, qp, snap);
	fill_send_queue(qp, snap);
	fill_recv_queue(qp, snap);
	fill_failure(qp, snap);
	fill_backend(dev->m, qp, snap, own);
	return true;
}

uint64_t find_qp(const struct device *dev, uint64_t qpn)
{
	const struct qp *qp;
	uint32_t number;

	for (number = 0; (qp = table_next(&dev->m->qps, &number)); number++)
		if (qp->qpn == qpn)
			return number;
	return UINT64_MAX;
}

bool row_cq(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	    void *extra)
{
	uint32_t number = (uint32_t)*pos, cons;
	struct eadm_snap_cq_pvrdma *own = extra;
	struct eadm_snap_cq *snap = to;
	const struct cq *cq;
	uint32_t unread;

	(void)req;
	cq = *pos > UINT32_MAX ? NULL : table_next(&dev->m->cqs, &number);
	if (!cq)
		return false;
	*pos = number;
	SNAP_SET(snap, cqn, cq->handle);
	SNAP_SET(snap, depth, cq->ring.count);
	SNAP_SET(snap, vector, PVRDMA_VECTOR_CQ);
	SNAP_SET(snap, eqn, PVRDMA_VECTOR_CQ);
	SNAP_SET(snap, armed, cq->asked);
	SNAP_SET(snap, solicited, cq->asked && cq->asked_solicited);
	SNAP_SET(snap, notify_requests, cq->arms);
	SNAP_SET(snap, events, cq->notified);
	SNAP_SET(snap, errors, cq->failed);
	SNAP_SET(snap, users, cq->users);
	SNAP_SET(snap, user, !!cq->context);
	if (cq->context)
		SNAP_SET(snap, ctxn, cq->context->handle);
	SNAP_AGE(snap, age, cq->born);
	SNAP_AGE(snap, last_event_age, cq->notified_at);
	cons = __atomic_load_n(&cq->ring.state->cons_head, __ATOMIC_RELAXED);
	unread = (cq->prod - cons) & (2 * cq->ring.count - 1);
	if (cons < 2 * cq->ring.count && unread <= cq->ring.count)
		SNAP_SET(snap, ci, (uint32_t)cq->written - unread);
	SNAP_SET(snap, hw_pi, (uint32_t)cq->written);
	SNAP_SET(snap, hw_depth, cq->ring.count);
	SNAP_SET(snap, made, cq->made);
	SNAP_SET(own, unnotified, cq->unnotified);
	SNAP_SET(own, overrun, cq->failed);
	return true;
}

static void fill_srq(const struct model *m, const struct srq *srq, struct eadm_snap_srq *snap)
{
	const struct queue *queue = &srq->queue;
	int64_t pending = ring_pending(&queue->ring);
	uint32_t limit;

	SNAP_SET(snap, depth, queue->ring.count);
	SNAP_SET(snap, stride, queue->ring.stride);
	if (pending >= 0) {
		SNAP_SET(snap, pi, queue->fetched + (uint32_t)pending);
		SNAP_SET(snap, posted, snap->pi - queue->done);
	}
	SNAP_SET(snap, ci, queue->done);
	SNAP_SET(snap, limit, srq->limit);
	if (!m->ops->srq_query(srq->backend, &limit))
		SNAP_SET(snap, hw_limit, limit);
}

bool row_srq(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	     void *own)
{
	uint32_t number = (uint32_t)*pos;
	struct eadm_snap_srq *snap = to;
	const struct srq *srq;

	(void)req;
	(void)own;
	srq = *pos > UINT32_MAX ? NULL : table_next(&dev->m->srqs, &number);
	if (!srq)
		return false;
	*pos = number;
	SNAP_SET(snap, srqn, srq->handle);
	SNAP_SET(snap, type, EADM_SRQ_TYPE_BASIC);
	SNAP_SET(snap, pdn, srq->pd->handle);
	SNAP_SET(snap, users, srq->users);
	SNAP_SET(snap, user, !!srq->pd->context);
	if (srq->pd->context)
		SNAP_SET(snap, ctxn, srq->pd->context->handle);
	SNAP_AGE(snap, age, srq->born);
	fill_srq(dev->m, srq, snap);
	return true;
}

static unsigned int waiting_cqs(const struct model *m)
{
	const struct cq *cq;
	unsigned int n = 0;

	TAILQ_FOREACH(cq, &m->unnotified, link)
		n++;
	return n;
}

static void fill_ring(const struct device_ring *ring, struct eadm_snap_eq *snap)
{
	uint32_t depth = (ring->mask + 1) / 2, cons, pending;

	if (!ring->pages)
		return;
	cons = __atomic_load_n(&ring->state->cons_head, __ATOMIC_RELAXED);
	pending = (ring->prod - cons) & ring->mask;
	SNAP_SET(snap, depth, depth);
	SNAP_SET(snap, hw_depth, depth);
	if (pending > depth || pending > ring->produced)
		return;
	SNAP_SET(snap, pending, pending);
	SNAP_SET(snap, ci, (uint32_t)(ring->produced - pending));
	SNAP_SET(snap, events, ring->produced - pending);
}

bool row_eq(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	    void *extra)
{
	static const uint32_t vectors[] = {
		[EQ_EVENTS] = PVRDMA_VECTOR_ASYNC, [EQ_NOTIFICATIONS] = PVRDMA_VECTOR_CQ,
		[EQ_RESPONSES] = PVRDMA_VECTOR_RESPONSE,
	};
	static const uint32_t roles[] = {
		[EQ_EVENTS] = EADM_EQ_ROLE_ASYNC, [EQ_NOTIFICATIONS] = EADM_EQ_ROLE_COMPLETION,
		[EQ_RESPONSES] = EADM_EQ_ROLE_ADMIN,
	};
	const struct journal *j = dev->m->journal;
	struct eadm_snap_eq_pvrdma *own = extra;
	struct eadm_snap_eq *snap = to;
	uint32_t vector;

	(void)req;
	if (*pos >= EQ_COUNT)
		return false;
	vector = vectors[*pos];
	SNAP_SET(snap, index, (uint32_t)*pos);
	SNAP_SET(snap, role, roles[*pos]);
	SNAP_SET(snap, eqn, vector);
	SNAP_SET(snap, vector, vector);
	SNAP_SET(snap, interrupts, j->interrupts[vector]);
	SNAP_SET(snap, age, journal_now() - dev->born);
	SNAP_SET(snap, undelivered, j->undelivered[vector].n);
	SNAP_AGE(snap, last_undelivered_age, j->undelivered[vector].at);
	switch (*pos) {
	case EQ_EVENTS:
		fill_ring(&dev->m->events, snap);
		SNAP_SET(snap, hw_overflow, !!j->overflows.n);
		SNAP_SET(own, overflows, j->overflows.n);
		SNAP_AGE(own, last_overflow_age, j->overflows.at);
		break;
	case EQ_NOTIFICATIONS:
		fill_ring(&dev->m->notifications, snap);
		SNAP_SET(snap, cqs, dev->m->cqs.used);
		SNAP_SET(snap, waiting, waiting_cqs(dev->m));
		break;
	default:
		SNAP_SET(snap, events, j->answered - j->errors);
		break;
	}
	return true;
}

bool row_cmdq(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	      void *own)
{
	struct journal *j = dev->m->journal;
	struct eadm_snap_cmdq *snap = to;
	const struct journal_command *pending = journal_pending(j);

	(void)req;
	(void)own;
	if (*pos)
		return false;
	SNAP_SET(snap, index, 0);
	SNAP_SET(snap, state, EADM_CMDQ_STATE_EVENT);
	SNAP_SET(snap, sq_depth, 1);
	SNAP_SET(snap, sq_stride, PVRDMA_CMD_SLOT_SIZE);
	SNAP_SET(snap, sq_pi, (uint32_t)j->submitted);
	/* Commands that were aborted by a reset have left the queue, too. */
	SNAP_SET(snap, sq_ci, (uint32_t)(j->submitted - !!pending));
	SNAP_SET(snap, credits, 1);
	SNAP_SET(snap, outstanding, !!pending);
	SNAP_SET(snap, submitted, j->submitted);
	SNAP_SET(snap, completed, j->answered);
	SNAP_SET(snap, errors, j->errors);
	SNAP_SET(snap, timeouts, j->timeouts);
	if (j->last_command)
		SNAP_AGE(snap, last_submit_age,
			 j->commands[j->last_command % JOURNAL_COMMANDS].began);
	SNAP_AGE(snap, last_comp_age, j->last_answer);
	if (pending)
		SNAP_AGE(snap, oldest_age, pending->began);
	SNAP_SET(snap, timeout, JOURNAL_PATIENCE_NS);
	SNAP_SET(snap, slow_registrations, j->slow_regs.n);
	SNAP_SET(snap, slowest_registration, j->slowest_reg);
	SNAP_AGE(snap, last_slow_registration_age, j->slow_regs.at);
	return true;
}
