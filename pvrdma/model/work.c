// SPDX-License-Identifier: GPL-2.0-or-later
/* Work requests: from a ring to the backend, and back as completions (hw 7, 8). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

/*
 * Delay before retrying a request if the backend had no room and no request has
 * completed.
 */
#define ROOM_AGAIN_NS 10000000u

void works_init(struct works *works, uint32_t count, bool sends)
{
	*works = (struct works){ .count = count, .sends = sends };
}

bool works_full(const struct works *works)
{
	return works->n_used == works->count;
}

/* Returns NULL if there is no memory. */
static struct work *take(struct model *m, struct works *works)
{
	struct work_block *block;
	struct work *work;
	size_t i;

	if (LIST_EMPTY(&m->free_works)) {
		block = malloc(sizeof(*block));
		if (!block)
			return NULL;
		SLIST_INSERT_HEAD(&m->work_blocks, block, link);
		for (i = 0; i < sizeof(block->works) / sizeof(block->works[0]); i++)
			LIST_INSERT_HEAD(&m->free_works, &block->works[i], link);
	}
	work = LIST_FIRST(&m->free_works);
	LIST_REMOVE(work, link);
	LIST_INSERT_HEAD(&works->used, work, link);
	work->pool = works;
	works->n_used++;
	return work;
}

static void release(struct model *m, struct work *work)
{
	LIST_REMOVE(work, link);
	work->pool->n_used--;
	LIST_INSERT_HEAD(&m->free_works, work, link);
}

void works_drop(struct model *m, struct works *works)
{
	while (!LIST_EMPTY(&works->used))
		release(m, LIST_FIRST(&works->used));
}

void works_free(struct model *m)
{
	struct work_block *block;

	LIST_INIT(&m->free_works);
	while ((block = SLIST_FIRST(&m->work_blocks))) {
		SLIST_REMOVE_HEAD(&m->work_blocks, link);
		free(block);
	}
}

static void stop_waiting(struct model *m, struct queue *queue)
{
	if (queue->waits)
		TAILQ_REMOVE(&m->waiting, queue, link);
	queue->waits = false;
}

void queue_remove(struct model *m, struct queue *queue)
{
	stop_waiting(m, queue);
}

static void wait_for_room(struct model *m, struct queue *queue)
{
	if (queue->waits)
		return;
	queue->waits = true;
	TAILQ_INSERT_TAIL(&m->waiting, queue, link);
}

/* Handles an error of the guest that no completion can report. */
static void break_queue(struct model *m, struct queue *queue, const char *what)
{
	queue->broken = true;
	if (queue->srq) {
		model_log(m, "SRQ %u: %s", queue->srq->handle, what);
		event_send(m, PVRDMA_EVENT_SRQ_ERR, queue->srq->handle);
		return;
	}
	model_log(m, "QP %u: %s", queue->qp->handle, what);
	event_send(m, PVRDMA_EVENT_QP_FATAL, queue->qp->handle);
	qp_fail(m, queue->qp);
}

/* Reads the SGEs after the fixed part of an element. */
static void read_sges(const void *from, uint32_t count, struct ibv_sge *sges)
{
	struct pvrdma_sge sge;
	uint32_t i;

	for (i = 0; i < count; i++) {
		memcpy(&sge, (const char *)from + i * sizeof(sge), sizeof(sge));
		sges[i] = (struct ibv_sge){
			.addr = sge.addr, .length = sge.length, .lkey = sge.lkey,
		};
	}
}

static uint32_t total(const struct ibv_sge *sges, uint32_t count)
{
	uint32_t sum = 0;

	while (count)
		sum += sges[--count].length;
	return sum;
}

uint64_t queue_held(const struct model *m, const struct queue *queue)
{
	if (fault_on(m, FAULT_LINK_DOWN) && queue->works.sends)
		return UINT64_MAX;
	return queue->full_until > queue->held_until ? queue->full_until : queue->held_until;
}

/* Records requests announced by doorbells; returns true if they may proceed. */
static bool may_fetch(struct model *m, struct queue *queue, int64_t pending)
{
	uint64_t arg, now, held;

	queue->known = queue->fetched + (uint32_t)pending;
	if (pending && queue->works.sends &&
	    fault_hit(m, FAULT_QP_STALL, queue->qp->qpn, &arg))
		queue->held_until = arg ? journal_now() + arg * 1000000 : UINT64_MAX;
	held = queue_held(m, queue);
	if (!held || !pending)
		return true;
	now = journal_now();
	if (held > now) {
		wait_for_room(m, queue);
		return false;
	}
	queue->held_until = 0;
	return true;
}

/*
 * Handles a request that the backend did not accept. If the backend has no room, the
 * request is left in the ring until a request in flight completes (hw 12.3), but at most
 * for ROOM_AGAIN_NS, because unsignalled requests may complete only together with a later
 * one. Returns false if the request is not left in the ring.
 */
static bool leave(struct model *m, struct queue *queue, struct work *work, int err,
		  const char *what)
{
	release(m, work);
	if (err != -EAGAIN && (err != -ENOMEM || queue->fetched == queue->done)) {
		break_queue(m, queue, what);
		return false;
	}
	queue->full_until = journal_now() + ROOM_AGAIN_NS;
	wait_for_room(m, queue);
	return true;
}

/* Returns false if the request is left in the ring. */
static bool fetch_recv(struct model *m, struct queue *queue, struct work *work,
		       const void *element)
{
	struct ibv_sge sges[MAX_SGE];
	struct pvrdma_rqe rqe;
	struct ibv_recv_wr wr;
	int err;

	memcpy(&rqe, element, sizeof(rqe));
	work->wr_id = rqe.wr_id;
	work->op = PVRDMA_WC_RECV;
	if (rqe.num_sge > queue->max_sge) {
		release(m, work);
		break_queue(m, queue, "a receive has more SGEs than the queue allows");
		return true;
	}
	read_sges((const char *)element + sizeof(rqe), rqe.num_sge, sges);
	wr = (struct ibv_recv_wr){
		.wr_id = (uintptr_t)work,
		.sg_list = sges,
		.num_sge = (int)rqe.num_sge,
	};
	err = queue->srq ? m->ops->srq_recv(queue->srq->backend, &wr) :
			   m->ops->qp_recv(queue->qp->backend, &wr);
	return !err || !leave(m, queue, work, err, "the backend refused a receive");
}

/* Returns false if the request is left in the ring. */
static bool fetch_send(struct model *m, struct queue *queue, struct work *work,
		       const void *element)
{
	struct backend_fast_reg fast_reg;
	struct ibv_sge sges[MAX_SGE];
	struct backend_send send = { 0 };
	struct pvrdma_sqe sqe;
	uint64_t arg;
	int err;

	memcpy(&sqe, element, sizeof(sqe));
	work->wr_id = sqe.wr_id;
	work->op = send_wc_op(sqe.opcode);
	work->signaled = queue->qp->sig_all || sqe.flags & PVRDMA_WR_SIGNALED;
	work->length = 0;
	send.wr.wr_id = (uintptr_t)work;
	if (sqe.num_sge > queue->max_sge) {
		send.refused = IBV_WC_LOC_QP_OP_ERR;
	} else {
		read_sges((const char *)element + sizeof(sqe), sqe.num_sge, sges);
		send.wr.sg_list = sges;
		send.wr.num_sge = (int)sqe.num_sge;
		work->length = total(sges, sqe.num_sge);
		send.refused = send_translate(m, queue->qp, &sqe, &send, &fast_reg);
	}
	if (work->signaled)
		send.wr.send_flags |= IBV_SEND_SIGNALED;
	if (fault_hit(m, FAULT_WR_ERROR, queue->qp->qpn, &arg))
		send.refused = arg && arg <= IBV_WC_GENERAL_ERR ? (enum ibv_wc_status)arg :
								   IBV_WC_GENERAL_ERR;
	err = m->ops->qp_send(queue->qp->backend, &send);
	return !err || !leave(m, queue, work, err, "the backend refused a work request");
}

void queue_fetch(struct model *m, struct queue *queue)
{
	struct work *work;
	int64_t pending;
	uint32_t n;

	stop_waiting(m, queue);
	queue->full_until = 0;
	if (queue->qp)
		queue->qp->posted_at = journal_now();
	for (n = 0; !queue->broken && !(queue->qp && queue->qp->reset); n++) {
		pending = ring_pending(&queue->ring);
		if (pending < 0) {
			break_queue(m, queue, "an index of the ring is invalid");
			return;
		}
		if (!may_fetch(m, queue, pending) || !pending)
			return;
		/* Requests may complete at once, while the guest refills the ring. */
		if (n == queue->ring.count || works_full(&queue->works)) {
			wait_for_room(m, queue);
			return;
		}
		work = take(m, &queue->works);
		if (!work) {
			queue->full_until = journal_now() + ROOM_AGAIN_NS;
			wait_for_room(m, queue);
			return;
		}
		if (queue->works.sends ? !fetch_send(m, queue, work, ring_next(&queue->ring)) :
					 !fetch_recv(m, queue, work, ring_next(&queue->ring)))
			return;
		ring_consume(&queue->ring);
		queue->fetched++;
	}
}

static uint32_t wc_flags(const struct qp *qp, const struct backend_wc *from)
{
	uint32_t flags = 0;

	/* libvmw_pvrdma passes the flags to applications unchanged (hw 7.5). */
	if (from->wc.wc_flags & IBV_WC_GRH && qp->type != PVRDMA_QPT_RC)
		flags |= PVRDMA_WC_GRH | PVRDMA_WC_NET_TYPE;
	if (from->wc.wc_flags & IBV_WC_WITH_IMM)
		flags |= PVRDMA_WC_IMM;
	if (from->wc.wc_flags & IBV_WC_WITH_INV && !qp->pd->context)
		flags |= PVRDMA_WC_INV;
	return flags;
}

static void push(struct model *m, struct qp *qp, const struct work *work,
		 const struct backend_wc *from)
{
	static const uint8_t net_types[] = {
		[BACKEND_NET_ROCE_V1] = PVRDMA_NET_ROCE_V1,
		[BACKEND_NET_IPV4] = PVRDMA_NET_IPV4,
		[BACKEND_NET_IPV6] = PVRDMA_NET_IPV6,
	};
	bool received = !work->pool->sends;
	struct pvrdma_cqe cqe = {
		.wr_id = work->wr_id,
		.qp = qp->handle,
		.opcode = work->op,
		.status = from->wc.status,
		.length = from->wc.byte_len,
		.port = 1,
	};

	if (received && !from->wc.status) {
		if (from->wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			cqe.opcode = PVRDMA_WC_RECV_WRITE_IMM;
		cqe.imm = from->wc.imm_data;
		cqe.src_qpn = from->wc.src_qp;
		cqe.flags = wc_flags(qp, from);
		cqe.net_type = net_types[from->net_type];
	}
	cq_push(m, received ? qp->recv_cq : qp->send_cq, &cqe, received && from->solicited);
}

static void count_send(struct journal *j, const struct work *work)
{
	switch (work->op) {
	case PVRDMA_WC_SEND:
		j->sends++;
		j->send_bytes += work->length;
		break;
	case PVRDMA_WC_WRITE:
		j->writes++;
		j->write_bytes += work->length;
		break;
	case PVRDMA_WC_READ:
		j->reads++;
		j->read_bytes += work->length;
		break;
	case PVRDMA_WC_CMP_SWAP:
	case PVRDMA_WC_FETCH_ADD:
		j->atomics++;
		break;
	default:
		break;
	}
}

static void count_error(struct journal *j, bool sends, uint32_t status)
{
	uint64_t *errors = sends ? &j->send_errors : &j->receive_errors;
	uint64_t *flushes = sends ? &j->send_flushes : &j->receive_flushes;

	++*(status == IBV_WC_WR_FLUSH_ERR ? flushes : errors);
	j->retries_exceeded += status == IBV_WC_RETRY_EXC_ERR;
	j->rnr_exceeded += status == IBV_WC_RNR_RETRY_EXC_ERR;
	j->access_errors += status == IBV_WC_REM_ACCESS_ERR;
}

/* Counts a request, whether or not the guest gets a completion. */
static void count(struct model *m, struct qp *qp, const struct work *work,
		  const struct backend_wc *wc)
{
	bool sends = work->pool->sends;
	struct queue *queue = sends ? &qp->sq : qp->srq ? &qp->srq->queue : &qp->rq;
	struct journal *j = m->journal;

	queue->done++;
	queue->full_until = 0;
	qp->completed_at = journal_now();
	if (wc->wc.status) {
		count_error(j, sends, wc->wc.status);
		if (wc->wc.status != IBV_WC_WR_FLUSH_ERR)
			qp_note_failure(m, qp, wc->wc.status, -1);
	} else if (sends) {
		count_send(j, work);
	} else {
		j->receives++;
		j->receive_bytes += wc->wc.byte_len;
	}
}

/* A receive of an SRQ whose QP has been destroyed: there is no completion. */
static void count_lost(const struct work *work)
{
	struct queue *queue = (void *)((char *)work->pool - offsetof(struct queue, works));

	queue->done++;
	queue->full_until = 0;
}

void work_completed(void *ctx, void *client, const struct backend_wc *wc)
{
	struct work *work = (struct work *)(uintptr_t)wc->wc.wr_id;
	struct model *m = ctx;

	if (client)
		count(m, client, work, wc);
	else
		count_lost(work);
	if (client && (!work->pool->sends || work->signaled || wc->wc.status))
		push(m, client, work, wc);
	release(m, work);
}
