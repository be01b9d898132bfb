// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion of requests. */
#include "soft.h"

void soft_sent(struct soft_qp *qp, enum ibv_wc_status status)
{
	struct soft_send *send = TAILQ_FIRST(&qp->sends);
	bool reads = send->wr.opcode == IBV_WR_RDMA_READ;
	bool atomic = send->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      send->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct backend_wc wc = { .wc = {
		.wr_id = send->wr.wr_id,
		.status = status,
		.qp_num = qp->qpn,
		.byte_len = reads ? (uint32_t)send->length : atomic ? 8 : 0,
	} };

	soft_send_free(qp);
	qp->begun = false;
	qp->done = 0;
	qp->port->client->completed(qp->port->ctx, qp->client, &wc);
}

void soft_received(struct soft_qp *qp, struct soft_recv *recv,
		   enum ibv_wc_status status, struct backend_wc *wc)
{
	wc->wc.wr_id = recv->wr_id;
	wc->wc.status = status;
	wc->wc.qp_num = qp->qpn;
	soft_recv_free(qp, recv);
	qp->port->client->completed(qp->port->ctx, qp->client, wc);
}

void soft_qp_fail(struct soft_qp *qp)
{
	qp->attr.qp_state = IBV_QPS_ERR;
	soft_qp_schedule(qp);
}
