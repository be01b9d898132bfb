// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The responder of a reliable connection: effects of a request, independent of the
 * requester's location.
 */
#include "soft.h"

static void fail_with(struct soft_qp *peer, enum ibv_event_type event)
{
	soft_qp_fail(peer);
	soft_event(peer->port, event, peer->client);
}

bool soft_takes_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(enum ibv_wr_opcode opcode)
{
	return soft_takes_receive(opcode) && opcode != IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool soft_is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static unsigned int access_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_ACCESS_REMOTE_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return 0;
	}
}

struct soft_qp *soft_responder(struct soft_port *port, uint32_t qpn, uint32_t requester)
{
	struct soft_qp *peer = table_get(&port->qps, qpn);

	if (!peer || peer->type != IBV_QPT_RC || peer->attr.dest_qp_num != requester)
		return NULL;
	switch (peer->attr.qp_state) {
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
		return peer;
	default:
		return NULL;
	}
}

void soft_establish(struct soft_qp *peer)
{
	if (peer->established)
		return;
	peer->established = true;
	if (peer->attr.qp_state == IBV_QPS_RTR)
		soft_event(peer->port, IBV_EVENT_COMM_EST, peer->client);
}

struct soft_list soft_respond_list(const struct soft_qp *peer,
				   const struct soft_request *request, struct ibv_sge *sge)
{
	if (is_send(request->opcode))
		return (struct soft_list){
			.pd = peer->pd,
			.sges = peer->taken->sges,
			.n_sge = peer->taken->n_sge,
			.access = IBV_ACCESS_LOCAL_WRITE,
		};
	*sge = (struct ibv_sge){
		.addr = request->addr,
		.length = soft_is_atomic(request->opcode) ? sizeof(uint64_t) : request->length,
		.lkey = request->rkey,
	};
	return (struct soft_list){
		.pd = peer->pd,
		.sges = sge,
		.n_sge = 1,
		.access = access_of(request->opcode),
	};
}

/*
 * Completes the receive of a request with an error, because it is too short or its memory
 * is not accessible.
 */
static void spoil_receive(struct soft_qp *peer, enum ibv_wc_status status)
{
	struct backend_wc wc = { .wc = { .opcode = IBV_WC_RECV } };
	struct soft_recv *recv = peer->taken;

	peer->taken = NULL;
	soft_received(peer, recv, status, &wc);
	soft_qp_fail(peer);
}

static int begin_receive(struct soft_qp *peer, const struct soft_request *request)
{
	struct soft_list into;

	/* Use a receive left over from an aborted request first. */
	if (!peer->taken)
		peer->taken = soft_take(peer);
	if (!peer->taken)
		return SOFT_NOT_READY;
	if (!is_send(request->opcode))
		return IBV_WC_SUCCESS;
	into = soft_respond_list(peer, request, NULL);
	if (request->length > soft_list_length(&into)) {
		spoil_receive(peer, IBV_WC_LOC_LEN_ERR);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	if (!soft_list_check(&into)) {
		spoil_receive(peer, IBV_WC_LOC_PROT_ERR);
		return IBV_WC_REM_OP_ERR;
	}
	return IBV_WC_SUCCESS;
}

int soft_respond_check(struct soft_qp *peer, const struct soft_request *request)
{
	unsigned int access = access_of(request->opcode);
	struct soft_list memory;
	struct ibv_sge sge;

	if (!access)
		return IBV_WC_SUCCESS;
	memory = soft_respond_list(peer, request, &sge);
	if (!sge.length)
		return IBV_WC_SUCCESS;
	if (!(peer->attr.qp_access_flags & access) || !soft_list_check(&memory)) {
		fail_with(peer, IBV_EVENT_QP_ACCESS_ERR);
		return IBV_WC_REM_ACCESS_ERR;
	}
	if (soft_is_atomic(request->opcode) &&
	    (request->addr % sizeof(uint64_t) || request->length != sizeof(uint64_t))) {
		fail_with(peer, IBV_EVENT_QP_REQ_ERR);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	return IBV_WC_SUCCESS;
}

int soft_respond_begin(struct soft_qp *peer, const struct soft_request *request)
{
	int answer = soft_respond_check(peer, request);

	if (!answer && soft_takes_receive(request->opcode))
		answer = begin_receive(peer, request);
	return answer;
}

enum ibv_wc_status soft_respond_fail(struct soft_qp *peer, const struct soft_request *request)
{
	if (is_send(request->opcode)) {
		spoil_receive(peer, IBV_WC_LOC_PROT_ERR);
		return IBV_WC_REM_OP_ERR;
	}
	fail_with(peer, IBV_EVENT_QP_ACCESS_ERR);
	return IBV_WC_REM_ACCESS_ERR;
}

void soft_respond_end(struct soft_qp *peer, const struct soft_request *request)
{
	bool write = request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool imm = write || request->opcode == IBV_WR_SEND_WITH_IMM;
	bool inv = request->opcode == IBV_WR_SEND_WITH_INV;
	struct soft_recv *recv = peer->taken;
	struct backend_wc wc = {
		.wc = {
			.opcode = write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
			.byte_len = request->length,
			.src_qp = peer->attr.dest_qp_num,
			.wc_flags = (imm ? IBV_WC_WITH_IMM : 0) | (inv ? IBV_WC_WITH_INV : 0),
		},
		.solicited = request->solicited,
	};

	if (!soft_takes_receive(request->opcode))
		return;
	wc.wc.imm_data = request->imm;
	if (inv)
		soft_mr_invalidate(peer->pd, request->imm);
	peer->taken = NULL;
	soft_received(peer, recv, IBV_WC_SUCCESS, &wc);
}

enum ibv_wc_status soft_respond_atomic(struct soft_qp *peer,
				       const struct soft_request *request, uint64_t *old)
{
	size_t size = sizeof(*old);
	struct soft_list memory;
	struct ibv_sge sge;
	uint64_t *word;

	memory = soft_respond_list(peer, request, &sge);
	word = soft_list_at(&memory, 0, &size);
	/* An unaligned word may reach beyond the memory region. */
	if (!word || size != sizeof(*old) || request->addr % sizeof(*old))
		return soft_respond_fail(peer, request);
	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		*old = __atomic_fetch_add(word, request->compare_add, __ATOMIC_SEQ_CST);
	} else {
		*old = request->compare_add;
		__atomic_compare_exchange_n(word, old, request->swap, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	return IBV_WC_SUCCESS;
}
