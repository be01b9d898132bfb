// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: doorbells and flushing (hw 6).
 *
 * Drivers ring all kernel QPs at one address, so the doorbell records tell what
 * was posted. A record belongs to the driver from the start and may hold
 * anything until it is first written: it counts only if it names this QP and an
 * index that the ring can have.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "ev.h"

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
	list_del(&qp->poll);
	if (qp->sq.cq)
		qp->sq.cq->users--;
	if (qp->rq.cq)
		qp->rq.cq->users--;
	ev_buf_unmap(&qp->sq.ring);
	ev_buf_unmap(&qp->rq.ring);
	kfree(qp);
}

/**
 * ev_wq_record() - a queue's doorbell record
 * @wq: queue
 *
 * Context: any.
 * Return: its value.
 */
u64 ev_wq_record(const struct ev_wq *wq)
{
	return le64_to_cpu(READ_ONCE(*wq->dbrec));
}

static void *wq_at(const struct ev_wq *wq, u16 index)
{
	return ev_buf_at(&wq->ring, (u64)(index & (wq->depth - 1)) *
			 ERDMA_WQEBB_SIZE);
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

static bool poll_record(struct ev_qp *qp, struct ev_wq *wq)
{
	u64 db = ev_wq_record(wq);
	u32 qpn = wq == &qp->sq ? FIELD_GET(ERDMA_SQ_DB_QPN, db) :
		  FIELD_GET(ERDMA_RQ_DB_QPN, db);

	if (qpn != qp->qpn || !advance(wq, FIELD_GET(ERDMA_SQ_DB_PI, db)))
		return false;
	qp->ad->counters.doorbells++;
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
		u64 hdr = le64_to_cpu(*(__le64 *)wq_at(sq, sq->ci));
		u16 count = FIELD_GET(ERDMA_SQE_WQEBB_CNT, hdr) + 1;
		u8 opcode = FIELD_GET(ERDMA_SQE_OPCODE, hdr);

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

static bool is_stopped(const struct ev_qp *qp)
{
	return qp->state >= ERDMA_QPS_CLOSING;
}

/**
 * ev_qp_stop() - enter a stop state: everything posted is flushed (hw 6.9)
 * @qp: QP in any state
 * @state: CLOSING, TERMINATE or ERROR
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_stop(struct ev_qp *qp, enum erdma_qp_state state)
{
	ev_conn_close(qp);
	qp->state = state;
	poll_record(qp, &qp->sq);
	poll_record(qp, &qp->rq);
	flush_sq(qp);
	flush_rq(qp);
	/* Later posts are flushed too. */
	if (list_empty(&qp->poll))
		list_add_tail(&qp->poll, &qp->ad->qp_poll);
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

/**
 * ev_qp_poll() - look for doorbells
 * @ad: running adapter
 *
 * Context: ev_fabric held for reading, by the thread that owns the QPs.
 * Return: whether there was something to do.
 */
bool ev_qp_poll(struct ev_adapter *ad)
{
	struct ev_qp *qp;
	bool busy = false;

	if (!ev_model_may_access(ad))
		return false;
	list_for_each_entry(qp, &ad->qp_poll, poll) {
		if (poll_record(qp, &qp->sq)) {
			flush_sq(qp);
			busy = true;
		}
		if (poll_record(qp, &qp->rq)) {
			flush_rq(qp);
			busy = true;
		}
	}
	return busy;
}
