// SPDX-License-Identifier: GPL-2.0-only
/* Flushing of requests posted to stopped queue pairs (hw 6.9). */
#include <linux/bitfield.h>

#include "ev.h"

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
		/* Consumers index tables with the opcode without checking it. */
		if (opcode >= ERDMA_OP_COUNT)
			opcode = ERDMA_OP_SEND;
		complete_flushed(qp, sq, ERDMA_CQE_QTYPE_SQ, opcode);
		/* After a broken entry, the beginning of the next entry is unknown. */
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
 * ev_qp_flush() - flush the requests posted to a stopped QP
 * @qp: QP
 *
 * Context: ev_fabric and @qp->link held, or ev_fabric for writing.
 * Return: true if anything was posted since the last call.
 */
bool ev_qp_flush(struct ev_qp *qp)
{
	bool posted;

	if (!vdev_may_access(&qp->ad->vdev))
		return false;
	posted = ev_wq_update(qp, &qp->sq);
	posted |= ev_wq_update(qp, &qp->rq);
	flush_sq(qp);
	flush_rq(qp);
	return posted;
}

/**
 * ev_qp_drain() - flush a QP that has just stopped
 * @qp: QP
 *
 * The records are read without a doorbell, so a lost doorbell does not matter.
 *
 * Context: see ev_qp_flush().
 */
void ev_qp_drain(struct ev_qp *qp)
{
	qp->sq.deaf = false;
	qp->rq.deaf = false;
	ev_qp_flush(qp);
}

/**
 * ev_qp_halt() - stop a QP because of an error
 * @qp: QP; nothing happens if it is already stopped
 * @state: TERMINATE or ERROR
 * @type: event to send to the driver
 * @syndrome: sub type of the event
 *
 * Context: ev_fabric and @qp->link held.
 */
void ev_qp_halt(struct ev_qp *qp, enum erdma_qp_state state,
		enum erdma_aeqe_type type, u8 syndrome)
{
	/* A hung adapter does not detect that its partner has given up. */
	if (ev_qp_is_stopped(qp) || READ_ONCE(qp->ad->vdev.hung) ||
	    !vdev_may_access(&qp->ad->vdev))
		return;
	WRITE_ONCE(qp->state, state);
	ev_eq_post_async(qp->ad, qp->qpn, type, syndrome);
	ev_qp_drain(qp);
}

/**
 * ev_qp_reflush() - flush up to indices given by the driver
 * @qp: QP
 * @sq_pi: send queue index
 * @rq_pi: receive queue index
 *
 * Has no effect on a QP that is not stopped, because its entries are not lost.
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_reflush(struct ev_qp *qp, u16 sq_pi, u16 rq_pi)
{
	if (!ev_qp_is_stopped(qp))
		return;
	ev_wq_advance(&qp->sq, sq_pi);
	ev_wq_advance(&qp->rq, rq_pi);
	flush_sq(qp);
	flush_rq(qp);
}
