// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The requester of a reliable connection. Within a program, responses are immediate, so
 * the requester waits only if the peer is missing (timeout) or has no receive (RNR); for
 * peers in another program, remote.c waits for responses.
 */
#include "soft.h"

/* Finds the other end, which must also be connected to this QP. */
static struct soft_qp *find_peer(const struct soft_qp *qp, struct soft_port *port)
{
	struct soft_qp *peer = soft_responder(port, qp->attr.dest_qp_num, qp->qpn);

	return peer && soft_has_gid(qp->port, &peer->attr.ah_attr.grh.dgid) ? peer : NULL;
}

/*
 * Returns true if the request may begin or continue; otherwise, the error has been
 * reported. Each step is checked, because a request may have begun with another responder,
 * also in a linked program, or with other access flags.
 */
static bool may_proceed(struct soft_qp *qp, const struct soft_list *local, struct soft_qp *peer,
			const struct soft_request *request)
{
	int answer;

	if (!soft_list_check(local)) {
		soft_rc_fail(qp, IBV_WC_LOC_PROT_ERR);
		return false;
	}
	answer = qp->begun ? soft_respond_check(peer, request) : soft_respond_begin(peer, request);
	if (answer == SOFT_NOT_READY) {
		soft_rc_not_ready(qp, peer->attr.min_rnr_timer);
		return false;
	}
	if (answer) {
		soft_rc_fail(qp, (enum ibv_wc_status)answer);
		return false;
	}
	qp->begun = true;
	return true;
}

/* Moves the next part of the data. */
static bool move(struct soft_qp *qp, const struct soft_send *send,
		 const struct soft_list *to, const struct soft_list *from)
{
	uint64_t left = send->length - qp->done;
	size_t size = left < SOFT_STEP ? (size_t)left : SOFT_STEP;

	if (size && !soft_copy(to, qp->done, from, qp->done, size))
		return false;
	qp->done += size;
	qp->port->soft->bytes -= (int64_t)size;
	return true;
}

static bool data_step(struct soft_qp *qp, struct soft_send *send, struct soft_qp *peer,
		      const struct soft_request *request)
{
	struct soft_list local = soft_rc_local(qp, send), remote;
	bool reads = send->wr.opcode == IBV_WR_RDMA_READ;
	struct ibv_sge sge;

	remote = soft_respond_list(peer, request, &sge);
	if (reads ? !move(qp, send, &local, &remote) : !move(qp, send, &remote, &local)) {
		/* The peer checks only its own memory. */
		if (!soft_list_check(&local))
			return soft_rc_fail(qp, IBV_WC_LOC_PROT_ERR);
		return soft_rc_fail(qp, soft_respond_fail(peer, request));
	}
	if (qp->done < send->length)
		return true;
	soft_respond_end(peer, request);
	soft_sent(qp, IBV_WC_SUCCESS);
	return true;
}

static bool atomic_step(struct soft_qp *qp, struct soft_send *send, struct soft_qp *peer,
			const struct soft_request *request)
{
	struct soft_list local = soft_rc_local(qp, send);
	enum ibv_wc_status status;
	uint64_t old;

	status = soft_respond_atomic(peer, request, &old);
	if (!status && !soft_put(&local, 0, &old, sizeof(old)))
		status = IBV_WC_LOC_PROT_ERR;
	if (status)
		return soft_rc_fail(qp, status);
	soft_sent(qp, IBV_WC_SUCCESS);
	return true;
}

static bool local_step(struct soft_qp *qp, struct soft_send *send)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (send->wr.opcode == BACKEND_WR_FAST_REG)
		status = soft_mr_register(qp->pd, send->fast_reg);
	else if (!soft_mr_invalidate(qp->pd, send->wr.invalidate_rkey))
		status = IBV_WC_LOC_QP_OP_ERR;
	if (status)
		return soft_rc_fail(qp, status);
	soft_sent(qp, IBV_WC_SUCCESS);
	return true;
}

bool soft_rc_step(struct soft_qp *qp, struct soft_send *send)
{
	const union ibv_gid *to = &qp->attr.ah_attr.grh.dgid;
	struct soft *soft = qp->port->soft;
	struct soft_port *port = soft_find_port(soft, to);
	struct soft_list local = soft_rc_local(qp, send);
	struct soft_request request;
	struct soft_link *link;
	struct soft_qp *peer;

	if (send->wr.opcode == BACKEND_WR_FAST_REG || send->wr.opcode == IBV_WR_LOCAL_INV)
		return local_step(qp, send);
	if (send->length > SOFT_MAX_MESSAGE)
		return soft_rc_fail(qp, IBV_WC_LOC_LEN_ERR);
	link = qp->asked || port ? qp->asked : soft_find_link(soft, to);
	if (link)
		return soft_remote_step(qp, send, link);
	peer = port ? find_peer(qp, port) : NULL;
	/*
	 * A request that has begun cannot continue with a peer that was reset in the
	 * meantime.
	 */
	if (!peer || (qp->begun && soft_takes_receive(send->wr.opcode) && !peer->taken))
		return soft_rc_no_answer(qp);
	qp->retries = 0;
	soft_establish(peer);
	request = soft_rc_request(send);
	if (!may_proceed(qp, &local, peer, &request))
		return false;
	qp->rnr_retries = 0;
	if (send->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    send->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return atomic_step(qp, send, peer, &request);
	return data_step(qp, send, peer, &request);
}
