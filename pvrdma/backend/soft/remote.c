// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests whose responder is in another program. A QP requests one piece at a time, and
 * continues after its response. After a lost link, the QP repeats the piece that has no
 * response, which the responder recognises by its number.
 */
#include <string.h>

#include "link.h"

/* ---- requester */

/*
 * Called if the QP was woken without a response, which counts as a timeout only if the
 * other program has sent nothing at all.
 */
static bool still_waiting(struct soft_qp *qp)
{
	uint64_t since = qp->asked->heard;

	if (since < qp->asked_at)
		since = qp->asked_at;
	if (qp->port->soft->now - since >= soft_rc_patience(qp)) {
		qp->asked_at = qp->port->soft->now;
		return soft_rc_no_answer(qp);
	}
	soft_qp_wait(qp, BACKEND_WAIT_ANSWER, since + soft_rc_patience(qp));
	return false;
}

static uint32_t piece_of(const struct soft_qp *qp, const struct soft_send *send)
{
	uint64_t left = send->length - qp->done;

	return left < WIRE_PIECE ? (uint32_t)left : WIRE_PIECE;
}

static bool ask(struct soft_qp *qp, const struct soft_send *send, struct soft_link *link)
{
	const struct soft_request request = soft_rc_request(send);
	struct soft_list local = soft_rc_local(qp, send);
	struct wire_request wire = {
		.token = qp->token,
		.addr = request.addr,
		.compare_add = request.compare_add,
		.swap = request.swap,
		.port = qp->port->number,
		.requester = qp->qpn,
		.responder = qp->attr.dest_qp_num,
		.number = qp->answered + 1,
		.length = request.length,
		.rkey = request.rkey,
		.imm = request.imm,
		.offset = (uint32_t)qp->done,
		.size = piece_of(qp, send),
		.opcode = (uint8_t)request.opcode,
		.solicited = request.solicited,
	};
	unsigned char data[WIRE_PIECE];
	uint32_t size = local.access ? 0 : wire.size;

	memcpy(wire.to, &qp->attr.ah_attr.grh.dgid, sizeof(wire.to));
	if (!soft_get(&local, qp->done, data, size))
		return soft_rc_fail(qp, IBV_WC_LOC_PROT_ERR);
	if (!soft_link_put(link, WIRE_REQUEST, &wire, sizeof(wire), data, size))
		return soft_rc_no_answer(qp);
	soft_link_asked(link);
	qp->begun = true;
	qp->asked = link;
	qp->asked_at = qp->port->soft->now;
	qp->port->soft->bytes -= size;
	soft_qp_wait(qp, BACKEND_WAIT_ANSWER, qp->asked_at + soft_rc_patience(qp));
	return false;
}

bool soft_remote_step(struct soft_qp *qp, struct soft_send *send, struct soft_link *link)
{
	static uint64_t tokens;
	struct soft_list local = soft_rc_local(qp, send);

	if (qp->asked)
		return still_waiting(qp);
	if (!soft_list_check(&local))
		return soft_rc_fail(qp, IBV_WC_LOC_PROT_ERR);
	if (!soft_link_slots(link)) {
		soft_qp_block(qp, link, qp->port->soft->now + soft_rc_patience(qp));
		return false;
	}
	qp->token = ++tokens;
	return ask(qp, send, link);
}

void soft_remote_time_out(struct soft *soft, struct soft_link *link)
{
	struct soft_qp *qp, *next;

	for (qp = TAILQ_FIRST(&link->blocked); qp; qp = next) {
		next = TAILQ_NEXT(qp, link);
		if (qp->wake > soft->now)
			continue;
		qp->wake = link->heard + soft_rc_patience(qp);
		if (qp->wake <= soft->now && soft_rc_retry(qp))
			qp->wake = soft->now + soft_rc_patience(qp);
	}
}

/* The piece was executed; @data: the data read. */
static void done(struct soft_qp *qp, struct soft_send *send, const void *data, uint32_t size)
{
	struct soft_list local = soft_rc_local(qp, send);
	uint32_t piece = piece_of(qp, send);

	qp->retries = 0;
	qp->rnr_retries = 0;
	qp->answered++;
	if (size && !soft_put(&local, qp->done, data, size)) {
		soft_rc_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	qp->done += piece;
	if (qp->done == send->length)
		soft_sent(qp, IBV_WC_SUCCESS);
	soft_qp_schedule(qp);
}

/* Returns true if the request may succeed with @size bytes of data in the response. */
static bool is_expected(const struct soft_qp *qp, const struct soft_send *send, uint32_t size)
{
	if (soft_is_atomic(send->wr.opcode) && send->length != sizeof(uint64_t))
		return false;
	return size == (soft_rc_local(qp, send).access ? piece_of(qp, send) : 0);
}

static struct soft_port *port_at(struct soft *soft, uint32_t number)
{
	struct soft_port *port;

	TAILQ_FOREACH(port, &soft->ports, link)
		if (port->number == number)
			return port;
	return NULL;
}

static bool take_answer(struct soft *soft, struct soft_link *link,
			const struct wire_answer *wire, const unsigned char *data)
{
	struct soft_port *port = port_at(soft, wire->port);
	struct soft_qp *qp = port ? table_get(&port->qps, wire->requester) : NULL;
	struct soft_send *send = qp ? TAILQ_FIRST(&qp->sends) : NULL;

	if (!soft_link_answered(link))
		return false;
	/* By now, the QP may have been destroyed, or its request may have timed out. */
	if (!send || qp->queue == SOFT_BLOCKED || qp->asked != link || qp->token != wire->token)
		return true;
	if (wire->kind == WIRE_DONE && !is_expected(qp, send, wire->size))
		return false;
	qp->asked = NULL;
	switch (wire->kind) {
	case WIRE_DONE:
		done(qp, send, data, wire->size);
		return true;
	case WIRE_NOT_READY:
		/*
		 * The request restarts, because its first piece is the one that takes a
		 * receive.
		 */
		qp->begun = false;
		soft_rc_not_ready(qp, wire->timer);
		return true;
	case WIRE_NOBODY:
		/* If no piece was executed, the request may begin with another responder. */
		qp->begun = qp->done != 0;
		soft_rc_no_answer(qp);
		return true;
	case WIRE_FAILED:
		soft_rc_fail(qp, wire->status && wire->status <= IBV_WC_GENERAL_ERR ?
			     (enum ibv_wc_status)wire->status : IBV_WC_GENERAL_ERR);
		return true;
	default:
		return false;
	}
}

static void give_up(struct soft_qps *qps, const struct soft_link *link)
{
	struct soft_qp *qp, *next;

	for (qp = TAILQ_FIRST(qps); qp; qp = next) {
		next = TAILQ_NEXT(qp, link);
		if (qp->asked != link)
			continue;
		qp->asked = NULL;
		soft_qp_schedule(qp);
	}
}

void soft_remote_lost(struct soft *soft, struct soft_link *link)
{
	while (!TAILQ_EMPTY(&link->blocked))
		soft_qp_schedule(TAILQ_FIRST(&link->blocked));
	/* A QP that was modified in the meantime is already runnable. */
	give_up(&soft->runnable, link);
	give_up(&soft->waiting, link);
}

/* ---- responder */

/* If this fails, the link is lost, because the requester would never free the slot. */
static bool answer(struct soft_link *link, const struct wire_request *wire, uint8_t kind,
		   uint8_t detail, const void *data, uint32_t size)
{
	const struct wire_answer out = {
		.token = wire->token,
		.port = wire->port,
		.requester = wire->requester,
		.size = size,
		.kind = kind,
		.status = kind == WIRE_FAILED ? detail : 0,
		.timer = kind == WIRE_NOT_READY ? detail : 0,
	};

	link->n_answers++;
	return soft_link_put(link, WIRE_ANSWER, &out, sizeof(out), data, size);
}

static bool reads_memory(const struct soft_request *request)
{
	return request->opcode == IBV_WR_RDMA_READ;
}

/* Returns the size of the data in the response to an executed piece. */
static uint32_t answer_size(const struct soft_qp *peer, const struct wire_request *wire,
			    const struct soft_request *request)
{
	return soft_is_atomic(request->opcode) ? sizeof(peer->last.value) :
	       reads_memory(request) ? wire->size : 0;
}

/*
 * Moves the piece's data, in the direction of the request. If this succeeds, @read has
 * answer_size() bytes. Returns a status, or SOFT_NOT_READY.
 */
static int carry_out(struct soft_qp *peer, const struct wire_request *wire,
		     const struct soft_request *request, const unsigned char *data, void *read)
{
	struct soft_list memory;
	struct ibv_sge sge;
	int status = wire->offset ? soft_respond_check(peer, request) :
		     soft_respond_begin(peer, request);

	if (status)
		return status;
	if (soft_is_atomic(request->opcode)) {
		status = soft_respond_atomic(peer, request, &peer->last.value);
		memcpy(read, &peer->last.value, sizeof(peer->last.value));
		return status;
	}
	memory = soft_respond_list(peer, request, &sge);
	if (reads_memory(request) ? !soft_get(&memory, wire->offset, read, wire->size) :
				    !soft_put(&memory, wire->offset, data, wire->size))
		return soft_respond_fail(peer, request);
	if (wire->offset + wire->size == request->length)
		soft_respond_end(peer, request);
	return IBV_WC_SUCCESS;
}

/*
 * Returns true if the piece is the one that was executed last, so that only its response
 * was lost.
 */
static bool is_last(const struct soft_qp *peer, const struct wire_request *wire)
{
	return wire->opcode == peer->last.opcode && wire->offset == peer->last.offset &&
	       wire->size == peer->last.size;
}

/* Responds to the last piece again. A read is executed again, because its data was not kept. */
static int repeat(struct soft_qp *peer, const struct wire_request *wire,
		  const struct soft_request *request, void *read)
{
	if (reads_memory(request))
		return carry_out(peer, wire, request, NULL, read);
	memcpy(read, &peer->last.value, sizeof(peer->last.value));
	return IBV_WC_SUCCESS;
}

static struct soft_qp *find_responder(struct soft *soft, const struct soft_link *link,
				      const struct wire_request *wire)
{
	struct soft_port *port;
	struct soft_qp *peer;
	union ibv_gid to;

	memcpy(&to, wire->to, sizeof(to));
	port = soft_find_port(soft, &to);
	peer = port ? soft_responder(port, wire->responder, wire->requester) : NULL;
	if (!peer || !soft_link_has_gid(soft, link, wire->port,
					&peer->attr.ah_attr.grh.dgid))
		return NULL;
	/*
	 * The piece must be the next one, or the last one again; otherwise the two QPs
	 * are out of sync.
	 */
	if (wire->number != peer->served + 1 && (wire->number != peer->served || !peer->served))
		return NULL;
	return peer;
}

static bool serve(struct soft *soft, struct soft_link *link, const struct wire_request *wire,
		  const unsigned char *data)
{
	struct soft_qp *peer = find_responder(soft, link, wire);
	const struct soft_request request = {
		.opcode = (enum ibv_wr_opcode)wire->opcode,
		.solicited = wire->solicited,
		.length = wire->length,
		.addr = wire->addr,
		.rkey = wire->rkey,
		.imm = wire->imm,
		.compare_add = wire->compare_add,
		.swap = wire->swap,
	};
	bool again = peer && wire->number == peer->served;
	unsigned char read[WIRE_PIECE];
	int status;

	/* The requester ignores the window. */
	if (link->n_answers == WIRE_WINDOW)
		return false;
	/*
	 * A request that has begun cannot continue with a responder that was reset in the
	 * meantime.
	 */
	if (!peer || (again ? !is_last(peer, wire) :
		      wire->offset && soft_takes_receive(request.opcode) && !peer->taken))
		return answer(link, wire, WIRE_NOBODY, 0, NULL, 0);
	soft_establish(peer);
	status = again ? repeat(peer, wire, &request, read) :
		 carry_out(peer, wire, &request, data, read);
	if (status == SOFT_NOT_READY)
		return answer(link, wire, WIRE_NOT_READY, peer->attr.min_rnr_timer, NULL, 0);
	peer->served = wire->number;
	peer->last.opcode = wire->opcode;
	peer->last.offset = wire->offset;
	peer->last.size = wire->size;
	soft->bytes -= wire->size;
	if (status)
		return answer(link, wire, WIRE_FAILED, (uint8_t)status, NULL, 0);
	return answer(link, wire, WIRE_DONE, 0, read, answer_size(peer, wire, &request));
}

/* Checks that lengths are consistent, and that responders support the opcode. */
static bool is_sound(const struct wire_request *wire, size_t data)
{
	bool brings = true;

	switch ((enum ibv_wr_opcode)wire->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		/* Lengths other than 8 are refused by the responder. */
		if (wire->offset)
			return false;
		brings = false;
		break;
	case IBV_WR_RDMA_READ:
		brings = false;
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		break;
	default:
		return false;
	}
	return wire->size <= WIRE_PIECE && wire->offset <= wire->length &&
	       wire->size <= wire->length - wire->offset && data == (brings ? wire->size : 0) &&
	       (wire->size || !wire->length);
}

/* ---- datagrams */

void soft_remote_datagram(struct soft_link *link, const union ibv_gid *to,
			  const struct soft_datagram *datagram)
{
	struct wire_datagram wire = {
		.qpn = datagram->qpn,
		.qkey = datagram->qkey,
		.src_qpn = datagram->wc.wc.src_qp,
		.imm = datagram->wc.wc.imm_data,
		.solicited = datagram->wc.solicited,
		.has_imm = (datagram->wc.wc.wc_flags & IBV_WC_WITH_IMM) != 0,
		.net_type = (uint8_t)datagram->wc.net_type,
	};

	memcpy(wire.to, to, sizeof(wire.to));
	/* The datagram is dropped if there is no room, as the protocol permits. */
	if (link->n_out - link->sent < LINK_MAX_DATAGRAMS)
		(void)soft_link_put(link, WIRE_DATAGRAM, &wire, sizeof(wire), datagram->data,
				    datagram->size);
}

static bool take_datagram(struct soft *soft, const struct soft_link *link,
			  const struct wire_datagram *wire, const unsigned char *data,
			  size_t size)
{
	struct soft_datagram datagram = {
		.qpn = wire->qpn,
		.qkey = wire->qkey,
		.size = size,
		.wc = {
			.wc = {
				.opcode = IBV_WC_RECV,
				.byte_len = (uint32_t)size,
				.src_qp = wire->src_qpn,
				.wc_flags = IBV_WC_GRH |
					    (wire->has_imm ? IBV_WC_WITH_IMM : 0),
			},
			.solicited = wire->solicited,
			.net_type = wire->net_type,
		},
	};
	struct soft_port *port;
	union ibv_gid to, from;

	if (size < SOFT_GRH || size > sizeof(datagram.data) || wire->net_type > BACKEND_NET_IPV6)
		return false;
	datagram.wc.wc.imm_data = wire->imm;
	memcpy(datagram.data, data, size);
	memcpy(&to, wire->to, sizeof(to));
	port = soft_find_port(soft, &to);
	from = soft_ud_source(&datagram);
	/* A program may send only from GIDs that belong to it. */
	if (port && !soft_find_port(soft, &from) && soft_find_link(soft, &from) == link)
		soft_ud_arrive(port, &datagram);
	return true;
}

/* ---- received messages */

bool soft_remote_take(struct soft *soft, struct soft_link *link, uint8_t type,
		      const unsigned char *data, size_t size)
{
	union {
		struct wire_request request;
		struct wire_answer answer;
		struct wire_datagram datagram;
	} wire;
	const size_t heads[] = {
		[WIRE_REQUEST] = sizeof(wire.request),
		[WIRE_ANSWER] = sizeof(wire.answer),
		[WIRE_DATAGRAM] = sizeof(wire.datagram),
	};

	if (type < WIRE_REQUEST || type > WIRE_DATAGRAM || size < heads[type])
		return false;
	memcpy(&wire, data, heads[type]);
	data += heads[type];
	size -= heads[type];
	switch (type) {
	case WIRE_REQUEST:
		return is_sound(&wire.request, size) && serve(soft, link, &wire.request, data);
	case WIRE_ANSWER:
		return wire.answer.size == size && take_answer(soft, link, &wire.answer, data);
	default:
		return take_datagram(soft, link, &wire.datagram, data, size);
	}
}
