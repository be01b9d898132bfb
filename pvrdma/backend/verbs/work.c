// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work requests. Requests that are unsignalled for the guest are unsignalled for the
 * device, too, so that a CQ needs the same number of entries: the completion of a later
 * request implies their completion. After half a queue of unsignalled requests, one
 * request is signalled nevertheless.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/*
 * Bit 0 of a request's ID for the device marks a send. Receives have even IDs; in an SRQ,
 * these are the client's own IDs.
 */
#define SENT 1u

int verbs_fifo_init(struct verbs_fifo *fifo, uint32_t size)
{
	uint32_t power = 1;

	while (power < size)
		power *= 2;
	*fifo = (struct verbs_fifo){ .size = power };
	fifo->entries = calloc(power, sizeof(*fifo->entries));
	return fifo->entries ? 0 : -ENOMEM;
}

static struct verbs_posted *at(struct verbs_fifo *fifo, uint32_t number)
{
	return &fifo->entries[number & (fifo->size - 1)];
}

/* Returns NULL if the queue is full. @number: set to the number of the next entry. */
static struct verbs_posted *push(struct verbs_fifo *fifo, uint64_t wr_id, uint32_t *number)
{
	struct verbs_posted *posted;

	if (fifo->count == fifo->size)
		return NULL;
	*number = fifo->head + fifo->count++;
	posted = at(fifo, *number);
	*posted = (struct verbs_posted){ .wr_id = wr_id };
	return posted;
}

static struct verbs_posted pop(struct verbs_fifo *fifo)
{
	struct verbs_posted posted = *at(fifo, fifo->head);

	fifo->head++;
	fifo->count--;
	return posted;
}

static void tell(struct verbs_qp *qp, uint64_t wr_id, const struct backend_wc *from)
{
	struct backend_wc wc = *from;

	wc.wc.wr_id = wr_id;
	qp->port->client->completed(qp->port->ctx, qp->gone ? NULL : qp->client, &wc);
}

/*
 * Completes the first send. Some devices (rdma_rxe) report the failing request as
 * flushed, like those around it.
 */
static void end_first(struct verbs_qp *qp, const struct backend_wc *from)
{
	struct verbs_posted posted = pop(&qp->sends);
	struct backend_wc wc = *from;

	verbs_ah_put(posted.ah);
	if (wc.wc.status && posted.refused && !qp->failed)
		wc.wc.status = posted.refused;
	qp->failed |= wc.wc.status && wc.wc.status != IBV_WC_WR_FLUSH_ERR;
	tell(qp, posted.wr_id, &wc);
}

/* Completes requests at the head of the queue that were not passed to the device. */
static void settle(struct verbs_qp *qp)
{
	struct backend_wc wc = { .wc = { .status = IBV_WC_SUCCESS } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	const struct verbs_posted *first;

	while (qp->sends.count) {
		first = at(&qp->sends, qp->sends.head);
		if (!first->skipped)
			return;
		wc.wc.status = first->refused;
		end_first(qp, &wc);
		if (wc.wc.status && !qp->port->verbs->dead)
			ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	}
}

static void sent(struct verbs_qp *qp, const struct backend_wc *wc)
{
	const struct backend_wc earlier = { .wc = { .status = IBV_WC_SUCCESS } };
	uint32_t number = (uint32_t)(wc->wc.wr_id >> 1);

	if (number - qp->sends.head >= qp->sends.count)
		return;
	while (qp->sends.head != number)
		end_first(qp, &earlier);
	end_first(qp, wc);
	settle(qp);
}

static void received(struct verbs_qp *qp, const struct backend_wc *wc)
{
	uint32_t number = (uint32_t)(wc->wc.wr_id >> 1);

	if (qp->srq) {
		if (!qp->srq->gone)
			tell(qp, wc->wc.wr_id, wc);
	} else if (number - qp->recvs.head < qp->recvs.count) {
		tell(qp, pop(&qp->recvs).wr_id, wc);
	}
}

/* Work completions do not contain the network type, so use that of the port's first GID. */
static int net_type(const struct verbs_port *port)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	unsigned int i;

	for (i = 0; i < VERBS_GIDS && !port->gids[i].used; i++)
		;
	if (i == VERBS_GIDS || port->gids[i].type == IBV_GID_TYPE_ROCE_V1)
		return BACKEND_NET_ROCE_V1;
	return memcmp(port->gids[i].gid.raw, ipv4, sizeof(ipv4)) ? BACKEND_NET_IPV6 :
								  BACKEND_NET_IPV4;
}

void verbs_work_completed(struct verbs_qp *qp, const struct ibv_wc *device_wc)
{
	struct backend_wc wc = { .wc = *device_wc };

	/* A receive of an SRQ always returns to its owner, or the SRQ loses room. */
	if ((qp->gone || qp->muted) && (!qp->srq || device_wc->wr_id & SENT))
		return;
	if (device_wc->wr_id & SENT) {
		sent(qp, &wc);
		return;
	}
	/*
	 * It is unknown whether the sender requested a solicited event, so assume it did.
	 */
	wc.solicited = true;
	wc.net_type = net_type(qp->port);
	received(qp, &wc);
}

/* ---- posting */

static bool reported(struct verbs_qp *qp, const struct backend_send *send)
{
	if (qp->type == IBV_QPT_UD || send->refused || send->wr.send_flags & IBV_SEND_SIGNALED ||
	    ++qp->unsignaled >= qp->sends.size / 2) {
		qp->unsignaled = 0;
		return true;
	}
	return false;
}

/*
 * A request that must fail is posted in a form that the device will refuse, so that it
 * fails when its turn comes. Datagrams need not be posted for this purpose.
 */
static int post(struct verbs_qp *qp, const struct backend_send *send, struct verbs_ah *ah)
{
	struct ibv_sge nowhere = { .length = 1 };
	struct ibv_send_wr wr = send->wr, *bad;
	unsigned int unsignaled = qp->unsignaled;
	struct verbs_posted *posted;
	uint32_t number;
	int err;

	posted = push(&qp->sends, wr.wr_id, &number);
	if (!posted)
		return -ENOMEM;
	posted->ah = ah;
	posted->refused = send->refused;
	posted->skipped = qp->type == IBV_QPT_UD && (send->refused || !ah->ah);
	if (posted->skipped) {
		settle(qp);
		return 0;
	}
	wr.next = NULL;
	wr.wr_id = (uint64_t)number << 1 | SENT;
	wr.send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	if (reported(qp, send))
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (send->refused) {
		wr.opcode = IBV_WR_SEND;
		wr.sg_list = &nowhere;
		wr.num_sge = 1;
	}
	if (ah)
		wr.wr.ud.ah = ah->ah;
	err = -ibv_post_send(qp->qp, &wr, &bad);
	if (err) {
		qp->sends.count--;
		qp->unsignaled = unsignaled;
	}
	return err;
}

static int hold(struct verbs_qp *qp, const struct backend_send *send, struct verbs_ah *ah)
{
	uint32_t n = (uint32_t)send->wr.num_sge;
	struct verbs_held *held = malloc(sizeof(*held) + n * sizeof(held->sges[0]));

	if (!held)
		return -ENOMEM;
	held->ah = ah;
	held->send = *send;
	if (n)
		memcpy(held->sges, send->wr.sg_list, n * sizeof(held->sges[0]));
	held->send.wr.sg_list = held->sges;
	STAILQ_INSERT_TAIL(&qp->held, held, link);
	return 0;
}

static int send_datagram(struct verbs_qp *qp, const struct backend_send *send)
{
	struct verbs_ah *ah = NULL;
	int err;

	if (!send->refused) {
		ah = verbs_ah_get(qp->pd, &send->ah);
		if (!ah)
			return -EAGAIN;
	}
	if ((ah && ah->busy) || !STAILQ_EMPTY(&qp->held))
		err = hold(qp, send, ah);
	else
		err = post(qp, send, ah);
	if (err)
		verbs_ah_put(ah);
	return err;
}

int verbs_qp_send(struct backend_qp *backend_qp, const struct backend_send *from)
{
	struct verbs_qp *qp = verbs_qp(backend_qp);
	struct backend_send checked = *from;
	const struct backend_send *send = &checked;
	uint32_t number;

	if (qp->soft)
		return qp->port->verbs->soft->ops->qp_send(qp->soft, send);
	/* A provider may pass an opcode to the kernel, which has more of them, unchecked. */
	if (checked.wr.opcode > IBV_WR_ATOMIC_FETCH_AND_ADD && !checked.refused)
		checked.refused = IBV_WC_LOC_QP_OP_ERR;
	if (qp->port->verbs->dead) {
		if (!push(&qp->sends, send->wr.wr_id, &number))
			return -ENOMEM;
		verbs_work_flush(qp);
		return 0;
	}
	return qp->type == IBV_QPT_UD ? send_datagram(qp, send) : post(qp, send, NULL);
}

int verbs_qp_recv(struct backend_qp *backend_qp, const struct ibv_recv_wr *wr)
{
	struct verbs_qp *qp = verbs_qp(backend_qp);
	struct ibv_recv_wr copy = *wr, *bad;
	uint32_t number;
	int err;

	if (qp->soft)
		return qp->port->verbs->soft->ops->qp_recv(qp->soft, wr);
	if (!push(&qp->recvs, wr->wr_id, &number))
		return -ENOMEM;
	if (qp->port->verbs->dead) {
		verbs_work_flush(qp);
		return 0;
	}
	copy.next = NULL;
	copy.wr_id = (uint64_t)number << 1;
	err = -ibv_post_recv(qp->qp, &copy, &bad);
	if (err)
		qp->recvs.count--;
	return err;
}

static void continue_qp(struct verbs_qp *qp)
{
	struct verbs_held *held;

	while ((held = STAILQ_FIRST(&qp->held)) && !(held->ah && held->ah->busy)) {
		STAILQ_REMOVE_HEAD(&qp->held, link);
		if (post(qp, &held->send, held->ah)) {
			verbs_ah_put(held->ah);
			qp->port->client->event(qp->port->ctx, IBV_EVENT_QP_FATAL, qp->client);
		}
		free(held);
	}
}

void verbs_work_continue(struct verbs_port *port)
{
	struct verbs_qp *qp;
	unsigned int i;

	for (i = 0; i < VERBS_BUCKETS; i++)
		LIST_FOREACH(qp, &port->verbs->qps[i], link)
			if (qp->port == port && !qp->gone)
				continue_qp(qp);
}

/* ---- ending all requests */

void verbs_work_forget(struct verbs_qp *qp)
{
	struct verbs_held *held;

	while ((held = STAILQ_FIRST(&qp->held))) {
		STAILQ_REMOVE_HEAD(&qp->held, link);
		verbs_ah_put(held->ah);
		free(held);
	}
	while (qp->sends.count)
		verbs_ah_put(pop(&qp->sends).ah);
	while (qp->recvs.count)
		pop(&qp->recvs);
	qp->unsignaled = 0;
	qp->failed = false;
}

void verbs_work_flush(struct verbs_qp *qp)
{
	const struct backend_wc wc = { .wc = { .status = IBV_WC_WR_FLUSH_ERR } };
	struct verbs_held *held;

	while (qp->sends.count)
		end_first(qp, &wc);
	while ((held = STAILQ_FIRST(&qp->held))) {
		STAILQ_REMOVE_HEAD(&qp->held, link);
		verbs_ah_put(held->ah);
		tell(qp, held->send.wr.wr_id, &wc);
		free(held);
	}
	while (qp->recvs.count)
		tell(qp, pop(&qp->recvs).wr_id, &wc);
}
