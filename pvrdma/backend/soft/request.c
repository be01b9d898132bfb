// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A request of a reliable connection, independent of its responder's location: waiting
 * and failing.
 */
#include "soft.h"

/* In units of 10 us, by the code of the RNR timer (IBTA, table "RNR NAK timer field"). */
static const uint32_t rnr_times[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768, 49152,
};

#define RNR_UNIT_NS 10000u
#define RETRY_FOREVER 7
#define ACK_UNIT_NS 4096u
/* Interval between lookups of a missing peer if the QP has no timeout. */
#define LOOK_NS 100000000u

bool soft_rc_fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	soft_sent(qp, status);
	soft_qp_fail(qp);
	return false;
}

uint64_t soft_rc_patience(const struct soft_qp *qp)
{
	return qp->attr.timeout ? (uint64_t)ACK_UNIT_NS << (qp->attr.timeout & 31) : LOOK_NS;
}

bool soft_rc_retry(struct soft_qp *qp)
{
	if (qp->attr.timeout) {
		if (qp->retries > qp->attr.retry_cnt)
			return soft_rc_fail(qp, IBV_WC_RETRY_EXC_ERR);
		qp->retries++;
	}
	qp->waits++;
	return true;
}

bool soft_rc_no_answer(struct soft_qp *qp)
{
	if (soft_rc_retry(qp))
		soft_qp_wait(qp, BACKEND_WAIT_ANSWER,
			     qp->port->soft->now + soft_rc_patience(qp));
	return false;
}

bool soft_rc_not_ready(struct soft_qp *qp, uint8_t timer)
{
	if (qp->attr.rnr_retry != RETRY_FOREVER) {
		if (qp->rnr_retries == qp->attr.rnr_retry)
			return soft_rc_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		qp->rnr_retries++;
	}
	qp->waits++;
	soft_qp_wait(qp, BACKEND_WAIT_RECEIVER,
		     qp->port->soft->now + (uint64_t)rnr_times[timer & 31] * RNR_UNIT_NS);
	return false;
}

struct soft_list soft_rc_local(const struct soft_qp *qp, const struct soft_send *send)
{
	return (struct soft_list){
		.pd = qp->pd,
		.sges = send->sges,
		.n_sge = send->n_sge,
		.access = send->wr.opcode == IBV_WR_SEND ||
			  send->wr.opcode == IBV_WR_SEND_WITH_IMM ||
			  send->wr.opcode == IBV_WR_SEND_WITH_INV ||
			  send->wr.opcode == IBV_WR_RDMA_WRITE ||
			  send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ?
			  0 : IBV_ACCESS_LOCAL_WRITE,
	};
}

struct soft_request soft_rc_request(const struct soft_send *send)
{
	bool atomic = send->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      send->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct soft_request request = {
		.opcode = send->wr.opcode,
		.solicited = send->wr.send_flags & IBV_SEND_SOLICITED,
		.length = (uint32_t)send->length,
		.addr = send->wr.wr.rdma.remote_addr,
		.rkey = send->wr.wr.rdma.rkey,
		/* The key to invalidate is in the same union. */
		.imm = send->wr.imm_data,
	};

	if (atomic) {
		request.addr = send->wr.wr.atomic.remote_addr;
		request.rkey = send->wr.wr.atomic.rkey;
		request.compare_add = send->wr.wr.atomic.compare_add;
		request.swap = send->wr.wr.atomic.swap;
	}
	return request;
}
