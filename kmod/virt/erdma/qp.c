// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: doorbells, stopping and flushing (hw 6).
 *
 * Drivers ring all kernel QPs at one address, so the doorbell records tell what
 * was posted. A record belongs to the driver from the start and may hold
 * anything until it is first written: it counts only if it names this QP and an
 * index that the ring can have.
 */
#include <linux/bitfield.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "ev.h"

/* What a QP may still move when it is closed. */
#define LAST_BYTES	SZ_1M

/**
 * ev_qp_find() - look up a QP
 * @ad: adapter
 * @qpn: number, may be anything
 *
 * Context: ev_fabric held.
 * Return: the QP or NULL.
 */
struct ev_qp *ev_qp_find(struct ev_adapter *ad, u32 qpn)
{
	return xa_load(&ad->qps, qpn);
}

/**
 * ev_qp_free() - free a QP that is in no table any more
 * @qp: QP; parts that were never set up are zero
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_free(struct ev_qp *qp)
{
	ev_conn_close(qp);
	ev_qp_unwatch(qp);
	if (qp->sq.cq)
		qp->sq.cq->users--;
	if (qp->rq.cq)
		qp->rq.cq->users--;
	vdev_buf_unmap(&qp->sq.ring);
	vdev_buf_unmap(&qp->rq.ring);
	kfree(qp);
}

/**
 * ev_wq_record() - a queue's doorbell record
 * @wq: queue
 *
 * Context: any.
 * Return: its value, 0 if memory must not be touched.
 */
u64 ev_wq_record(const struct ev_wq *wq)
{
	return vdev_dma_peek(&wq->cq->ad->vdev, wq->dbrec);
}

/**
 * ev_wq_read() - read building blocks of a queue
 * @wq: queue
 * @index: of the first one, free running
 * @to: where to
 * @size: bytes
 *
 * Context: any.
 * Return: false if memory must not be touched.
 */
bool ev_wq_read(const struct ev_wq *wq, u16 index, void *to, u32 size)
{
	u32 off, part;

	if (!vdev_dma_begin(&wq->cq->ad->vdev))
		return false;
	for (off = 0; off < size; off += part, index++) {
		part = min_t(u32, size - off, ERDMA_WQEBB_SIZE);
		memcpy(to + off, vdev_buf_at(&wq->ring, (u64)(index & (wq->depth - 1)) *
					   ERDMA_WQEBB_SIZE), part);
	}
	vdev_dma_end(&wq->cq->ad->vdev);
	return true;
}

/* A later index than known, as far as the ring allows. */
static bool advance(struct ev_wq *wq, u16 pi)
{
	if (pi == wq->pi || (u16)(pi - wq->ci) > wq->depth ||
	    (u16)(pi - wq->pi) > wq->depth)
		return false;
	wq->pi = pi;
	return true;
}

static bool is_stopped(const struct ev_qp *qp)
{
	return qp->state >= ERDMA_QPS_CLOSING;
}

/* Who stops looks at the records himself: no doorbell is needed. */
static void hear_again(struct ev_qp *qp)
{
	qp->sq.deaf = false;
	qp->rq.deaf = false;
}

/* A doorbell that got lost stays so until the next one. */
static bool is_lost(struct ev_qp *qp, struct ev_wq *wq, u16 pi)
{
	enum ev_fault_id id = wq == &qp->sq ? EV_FAULT_SQ_DB_LOST :
			      EV_FAULT_RQ_DB_LOST;

	if (wq->deaf && wq->deaf_pi == pi)
		return true;
	wq->deaf = pi != wq->pi && !is_stopped(qp) &&
		   ev_fault_hit(qp->ad, id, qp->qpn, NULL);
	wq->deaf_pi = pi;
	return wq->deaf;
}

/**
 * ev_wq_update() - look at the doorbell record
 * @qp: QP
 * @wq: one of its queues
 *
 * Context: ev_fabric and @qp->link held, or ev_fabric for writing.
 * Return: whether something was posted.
 */
bool ev_wq_update(struct ev_qp *qp, struct ev_wq *wq)
{
	u64 db = ev_wq_record(wq);
	u32 qpn = wq == &qp->sq ? FIELD_GET(ERDMA_SQ_DB_QPN, db) :
		  FIELD_GET(ERDMA_RQ_DB_QPN, db);
	u16 pi = FIELD_GET(ERDMA_SQ_DB_PI, db);

	if (qpn != qp->qpn || is_lost(qp, wq, pi) || !advance(wq, pi))
		return false;
	atomic64_inc(&qp->ad->vdev.counters.doorbells);
	/* Pairs with the driver's barrier before the record. */
	smp_rmb();
	return true;
}

static void complete_flushed(struct ev_qp *qp, struct ev_wq *wq, u8 qtype,
			     u8 opcode)
{
	struct ev_wc wc = {
		.qpn = qp->qpn,
		.index = wq->ci,
		.opcode = opcode,
		.qtype = qtype,
		.syndrome = ERDMA_WC_FLUSH_ERR,
	};

	ev_cq_post(wq->cq, &wc);
	wq->last = wq->ci;
	wq->cqes++;
}

static void flush_sq(struct ev_qp *qp)
{
	struct ev_wq *sq = &qp->sq;

	while (sq->ci != sq->pi) {
		__le64 word;
		u64 hdr;
		u16 count;
		u8 opcode;

		if (!ev_wq_read(sq, sq->ci, &word, sizeof(word)))
			return;
		hdr = le64_to_cpu(word);
		count = FIELD_GET(ERDMA_SQE_WQEBB_CNT, hdr) + 1;
		opcode = FIELD_GET(ERDMA_SQE_OPCODE, hdr);
		/* Consumers index tables with the opcode unchecked. */
		if (opcode >= ERDMA_OP_COUNT)
			opcode = ERDMA_OP_SEND;
		complete_flushed(qp, sq, ERDMA_CQE_QTYPE_SQ, opcode);
		/* Where the next entry is, is unknown after a broken one. */
		if (FIELD_GET(ERDMA_SQE_QPN, hdr) != qp->qpn ||
		    FIELD_GET(ERDMA_SQE_WQEBB_INDEX, hdr) !=
		    (u16)(sq->ci + count) || count > (u16)(sq->pi - sq->ci))
			sq->ci = sq->pi;
		else
			sq->ci += count;
	}
	sq->flushed_pi = sq->pi;
	qp->wqe.loaded = false;
}

static void flush_rq(struct ev_qp *qp)
{
	struct ev_wq *rq = &qp->rq;

	while (rq->ci != rq->pi) {
		complete_flushed(qp, rq, ERDMA_CQE_QTYPE_RQ, ERDMA_OP_RECEIVE);
		rq->ci++;
	}
	rq->flushed_pi = rq->pi;
}

/**
 * ev_qp_flush() - flush what is posted to a stopped QP
 * @qp: QP
 *
 * Context: ev_fabric and @qp->link held, or ev_fabric for writing.
 * Return: whether something was posted since the last time.
 */
bool ev_qp_flush(struct ev_qp *qp)
{
	bool posted;

	if (!vdev_dma_may_access(&qp->ad->vdev))
		return false;
	posted = ev_wq_update(qp, &qp->sq);
	posted |= ev_wq_update(qp, &qp->rq);
	flush_sq(qp);
	flush_rq(qp);
	return posted;
}

/**
 * ev_qp_halt() - stop a QP for an error
 * @qp: QP; nothing happens if it is stopped already
 * @state: TERMINATE or ERROR
 * @type: the event that tells the driver
 * @syndrome: sub type of the event
 *
 * Context: ev_fabric and @qp->link held.
 */
void ev_qp_halt(struct ev_qp *qp, enum erdma_qp_state state,
		enum erdma_aeqe_type type, u8 syndrome)
{
	/* An adapter that hangs does not even hear that its partner gave up. */
	if (is_stopped(qp) || READ_ONCE(qp->ad->vdev.hung) ||
	    !vdev_dma_may_access(&qp->ad->vdev))
		return;
	WRITE_ONCE(qp->state, state);
	ev_eq_post_async(qp->ad, qp->qpn, type, syndrome);
	hear_again(qp);
	ev_qp_flush(qp);
}

/**
 * ev_qp_stop() - enter a stop state: everything posted is flushed (hw 6.9)
 * @qp: QP in any state
 * @state: CLOSING, TERMINATE or ERROR
 *
 * CLOSING is a graceful end: what was posted before and can be done at once,
 * is done. A stalled QP can do nothing.
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_stop(struct ev_qp *qp, enum erdma_qp_state state)
{
	if (qp->state == ERDMA_QPS_RTS && state == ERDMA_QPS_CLOSING) {
		ev_wq_update(qp, &qp->sq);
		if (!ev_qp_is_stalled(qp))
			ev_sq_run(qp, LAST_BYTES);
	}
	ev_conn_close(qp);
	qp->state = state;
	hear_again(qp);
	ev_qp_flush(qp);
	/* Later posts are flushed too. */
	ev_qp_watch(qp);
}

/**
 * ev_qp_reflush() - flush up to indices that the driver names
 * @qp: QP
 * @sq_pi: send queue index
 * @rq_pi: receive queue index
 *
 * Without effect on a QP that is not stopped: its entries are not lost.
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_reflush(struct ev_qp *qp, u16 sq_pi, u16 rq_pi)
{
	if (!is_stopped(qp))
		return;
	advance(&qp->sq, sq_pi);
	advance(&qp->rq, rq_pi);
	flush_sq(qp);
	flush_rq(qp);
}
