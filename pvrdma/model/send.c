// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Translation of send requests for the backend. Fields that belong to other opcodes have
 * stale contents (hw 7.2).
 */
#include <string.h>

#include "function.h"

static_assert(PVRDMA_MAX_FAST_REG <= BACKEND_MAX_FAST_REG);

uint32_t send_wc_op(uint32_t opcode)
{
	switch (opcode) {
	case PVRDMA_WR_WRITE:
	case PVRDMA_WR_WRITE_IMM:
		return PVRDMA_WC_WRITE;
	case PVRDMA_WR_READ:
		return PVRDMA_WC_READ;
	case PVRDMA_WR_CMP_SWAP:
		return PVRDMA_WC_CMP_SWAP;
	case PVRDMA_WR_FETCH_ADD:
		return PVRDMA_WC_FETCH_ADD;
	case PVRDMA_WR_LOCAL_INV:
		return PVRDMA_WC_LOCAL_INV;
	case PVRDMA_WR_FAST_REG:
		return PVRDMA_WC_FAST_REG;
	default:
		return PVRDMA_WC_SEND;
	}
}

/* The directory is read now, because the driver rewrites it for each registration. */
static enum ibv_wc_status fast_reg(struct model *m, const struct pvrdma_wqe_fast_reg *wqe,
				   struct backend_fast_reg *reg)
{
	if (wqe->page_shift != PVRDMA_PAGE_SHIFT || !wqe->pages ||
	    wqe->pages > PVRDMA_MAX_FAST_REG)
		return IBV_WC_LOC_QP_OP_ERR;
	*reg = (struct backend_fast_reg){
		.iova = wqe->iova,
		.length = wqe->length,
		.key = wqe->key,
		.n_pages = wqe->pages,
		.access = wqe->access & PVRDMA_ACCESS_KNOWN,
	};
	return pages_read(m, wqe->directory, 0, wqe->pages, reg->pages) ? IBV_WC_LOC_QP_OP_ERR :
								       IBV_WC_SUCCESS;
}

static enum ibv_wc_status datagram(const struct qp *qp, const struct pvrdma_wqe_ud *wqe,
				   struct backend_send *send)
{
	const struct pvrdma_av *av = &wqe->av;

	if ((av->port_pd & PVRDMA_AV_PD) != qp->pd->handle)
		return IBV_WC_LOC_QP_OP_ERR;
	send->wr.wr.ud.remote_qpn = wqe->qpn & PVRDMA_MAX_HANDLE;
	send->wr.wr.ud.remote_qkey = wqe->qkey & PVRDMA_QKEY_OWN ? qp->qkey : wqe->qkey;
	send->ah = (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.flow_label = av->flow & PVRDMA_AV_FLOW_LABEL,
			.traffic_class = (av->flow & PVRDMA_AV_FLOW_CLASS) >> 20,
			.sgid_index = av->sgid_index,
			.hop_limit = av->hop_limit,
		},
	};
	memcpy(send->ah.grh.dgid.raw, av->dgid, sizeof(av->dgid));
	return IBV_WC_SUCCESS;
}

/*
 * Checks whether the QP may use the opcode: libvmw_pvrdma passes on any number unchecked.
 * The opcodes after FETCH_ADD require memory management extensions (hw 3.2).
 */
static bool allowed(const struct model *m, const struct qp *qp, uint32_t opcode)
{
	bool sends = opcode == PVRDMA_WR_SEND || opcode == PVRDMA_WR_SEND_IMM;

	if (qp->type == PVRDMA_QPT_GSI)
		return opcode == PVRDMA_WR_SEND;
	if (qp->type == PVRDMA_QPT_UD)
		return sends;
	return opcode <= PVRDMA_WR_FETCH_ADD || (!qp->pd->context && m->caps.bmme_flags);
}

static unsigned int send_flags(uint32_t flags)
{
	return (flags & PVRDMA_WR_FENCE ? IBV_SEND_FENCE : 0) |
	       (flags & PVRDMA_WR_SOLICITED ? IBV_SEND_SOLICITED : 0);
}

enum ibv_wc_status send_translate(struct model *m, struct qp *qp, const struct pvrdma_sqe *sqe,
				  struct backend_send *send, struct backend_fast_reg *reg)
{
	struct ibv_send_wr *wr = &send->wr;

	if (!allowed(m, qp, sqe->opcode))
		return IBV_WC_LOC_QP_OP_ERR;
	wr->send_flags = send_flags(sqe->flags);
	switch (sqe->opcode) {
	case PVRDMA_WR_WRITE_IMM:
		wr->imm_data = sqe->imm;
		/* fallthrough */
	case PVRDMA_WR_WRITE:
	case PVRDMA_WR_READ:
		wr->opcode = (enum ibv_wr_opcode)sqe->opcode;
		wr->wr.rdma.remote_addr = sqe->rdma.addr;
		wr->wr.rdma.rkey = sqe->rdma.rkey;
		return IBV_WC_SUCCESS;
	case PVRDMA_WR_CMP_SWAP:
	case PVRDMA_WR_FETCH_ADD:
		wr->opcode = (enum ibv_wr_opcode)sqe->opcode;
		wr->wr.atomic.remote_addr = sqe->atomic.addr;
		wr->wr.atomic.compare_add = sqe->atomic.compare_add;
		wr->wr.atomic.swap = sqe->atomic.swap;
		wr->wr.atomic.rkey = sqe->atomic.rkey;
		return IBV_WC_SUCCESS;
	case PVRDMA_WR_SEND:
	case PVRDMA_WR_SEND_IMM:
		wr->opcode = (enum ibv_wr_opcode)sqe->opcode;
		wr->imm_data = sqe->imm;
		return qp->type == PVRDMA_QPT_RC ? IBV_WC_SUCCESS : datagram(qp, &sqe->ud, send);
	case PVRDMA_WR_SEND_INV:
		wr->opcode = IBV_WR_SEND_WITH_INV;
		wr->invalidate_rkey = sqe->imm;
		return IBV_WC_SUCCESS;
	case PVRDMA_WR_LOCAL_INV:
		wr->opcode = IBV_WR_LOCAL_INV;
		wr->invalidate_rkey = sqe->imm;
		return IBV_WC_SUCCESS;
	case PVRDMA_WR_FAST_REG:
		wr->opcode = BACKEND_WR_FAST_REG;
		send->fast_reg = reg;
		return fast_reg(m, &sqe->fast_reg, reg);
	default:
		return IBV_WC_LOC_QP_OP_ERR;
	}
}
