// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests for which there is no room yet, behind those that are under way: the soft
 * backend, except that it takes none as long as the test says so.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "tap.h"

#define DEPTH 16u

static struct {
	const struct backend_ops *soft;
	struct backend_ops ops;
	/* What the next requests are refused with; 0: they are taken. */
	int sends, recvs, srq_recvs;
	/* How many were refused. */
	unsigned int refused;
} room;

static int room_send(struct backend_qp *qp, const struct backend_send *send)
{
	room.refused += !!room.sends;
	return room.sends ? room.sends : room.soft->qp_send(qp, send);
}

static int room_recv(struct backend_qp *qp, const struct ibv_recv_wr *wr)
{
	room.refused += !!room.recvs;
	return room.recvs ? room.recvs : room.soft->qp_recv(qp, wr);
}

static int room_srq_recv(struct backend_srq *srq, const struct ibv_recv_wr *wr)
{
	room.refused += !!room.srq_recvs;
	return room.srq_recvs ? room.srq_recvs : room.soft->srq_recv(srq, wr);
}

/* Requests of guest 0's QP wait for receives of guest 1's SRQ, for ever. */
static struct guest_srq open_room(struct pair *pair)
{
	struct guest_qp_want want = { .depth = DEPTH, .sge = 1, .type = PVRDMA_QPT_RC };
	struct guest_srq srq;
	struct pvrdma_qp_attr attr = { .rnr_retry = 7, .min_rnr_timer = 20 };
	struct backend *backend;

	guest_must(!backend_soft_open(NULL, &backend), "backend");
	room.soft = backend->ops;
	room.ops = *room.soft;
	room.ops.qp_send = room_send;
	room.ops.qp_recv = room_recv;
	room.ops.srq_recv = room_srq_recv;
	room.sends = room.recvs = room.srq_recvs = 0;
	room.refused = 0;
	backend->ops = &room.ops;
	pair_open_with(pair, backend);
	srq = guest_srq(&pair->lab.guests[1], pair->pd[1], 4 * DEPTH);
	want.srq = srq.handle;
	want.pd = pair->pd[1];
	want.cq = &pair->cq[1];
	pair->qp[1] = guest_qp(&pair->lab.guests[1], &want);
	pair_reconnect(pair);
	guest_modify(&pair->qp[0], PVRDMA_QP_ATTR_RNR_RETRY, &attr);
	guest_modify(&pair->qp[1], PVRDMA_QP_ATTR_MIN_RNR_TIMER, &attr);
	return srq;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The last one is solicited, if it is @last. */
static void send(struct pair *pair, uint64_t first, uint32_t count, bool last)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	uint32_t i;

	for (i = 0; i < count; i++) {
		sqe.wr_id = first + i;
		if (last && i == count - 1)
			sqe.flags |= PVRDMA_WR_SOLICITED;
		guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	}
	lab_run(&pair->lab);
}

static void ring(const struct guest_srq *srq)
{
	guest_ring(srq->guest, 0, PVRDMA_UAR_SRQ, srq->handle | PVRDMA_UAR_SRQ_RECV);
}

/* With one doorbell. */
static void receive(struct pair *pair, struct guest_srq *srq, uint64_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		guest_srq_recv(srq, first + i, &pair->mr[1], 0, 8);
	ring(srq);
}

static void arm(struct pair *pair, uint32_t how)
{
	guest_ring(&pair->lab.guests[1], 0, PVRDMA_UAR_CQ, pair->cq[1].handle | how);
}

/* Until guest 1 has a notification. */
static bool notified(struct pair *pair)
{
	int irq = pair->lab.guests[1].irqs[PVRDMA_VECTOR_CQ];
	uint64_t count;

	return lab_wait(&pair->lab, irq) && read(irq, &count, sizeof(count)) > 0;
}

/* Completions of guest @i, in order of wr_id from @first on. */
static bool in_order(struct pair *pair, unsigned int i, uint64_t first, uint32_t count)
{
	struct pvrdma_cqe cqe;

	for (; count; count--, first++)
		if (!guest_poll(&pair->cq[i], &cqe) || cqe.wr_id != first || cqe.status)
			return false;
	return !guest_poll(&pair->cq[i], &cqe);
}

/* Twice as many as the queue has room for: only the adapter lets them go on. */
static void test_ring(void)
{
	struct guest_srq srq;
	struct pair pair;

	srq = open_room(&pair);
	send(&pair, 0, 2 * DEPTH, true);
	ok(pair.qp[0].header->tx.cons_head == DEPTH, "as many as the queue holds are under way");
	arm(&pair, PVRDMA_UAR_CQ_ARM_SOL);
	receive(&pair, &srq, 100, 2 * DEPTH);
	ok(notified(&pair), "those behind them go on when they have ended");
	ok(in_order(&pair, 0, 0, 2 * DEPTH) && in_order(&pair, 1, 100, 2 * DEPTH), "in order");
	lab_close(&pair.lab);
}

/* hw 12.3 */
static void test_sends(void)
{
	struct pvrdma_event event;
	struct guest_srq srq;
	struct pair pair;
	uint64_t began;
	uint32_t i;

	srq = open_room(&pair);
	send(&pair, 0, 2, false);
	room.sends = -ENOMEM;
	send(&pair, 2, 3, true);
	ok(pair.qp[0].header->tx.cons_head == 2 && guest_state(&pair.qp[0]) == PVRDMA_QPS_RTS,
	   "a send that finds no room is left in the ring");
	began = now_ms();
	room.refused = 0;
	for (i = 0; i < 1000; i++)
		lab_run(&pair.lab);
	ok(room.refused <= (now_ms() - began) / 10 + 1, "and rarely tried again until another one ends");
	arm(&pair, PVRDMA_UAR_CQ_ARM);
	receive(&pair, &srq, 100, 1);
	notified(&pair);
	lab_run(&pair.lab);
	ok(in_order(&pair, 0, 0, 1) && in_order(&pair, 1, 100, 1) &&
	   pair.qp[0].header->tx.cons_head == 2, "which may leave no room either");
	room.sends = 0;
	arm(&pair, PVRDMA_UAR_CQ_ARM_SOL);
	receive(&pair, &srq, 101, 4);
	ok(notified(&pair) &&
	   in_order(&pair, 0, 1, 4) && in_order(&pair, 1, 101, 4), "then all go on, in order");
	ok(!guest_event(&pair.lab.guests[0], &event), "the guest hears of nothing");
	lab_close(&pair.lab);
}

/* None ends: that of requests which are not signalled may be heard of later. */
static void test_patience(void)
{
	struct pair pair;
	uint64_t began;

	open_room(&pair);
	send(&pair, 0, 1, false);
	room.sends = -ENOMEM;
	send(&pair, 1, 1, false);
	room.sends = 0;
	for (began = now_ms(); pair.qp[0].header->tx.cons_head < 2 && now_ms() - began < 20000;)
		lab_run(&pair.lab);
	ok(pair.qp[0].header->tx.cons_head == 2, "after a while, one is tried again");
	lab_close(&pair.lab);
}

static void test_receives(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND };
	struct guest_srq srq;
	struct pair pair;
	uint32_t i;

	srq = open_room(&pair);
	receive(&pair, &srq, 100, 1);
	room.srq_recvs = -ENOMEM;
	receive(&pair, &srq, 101, 2);
	lab_run(&pair.lab);
	ok(srq.header->rx.cons_head == 1 && room.refused,
	   "a receive of an SRQ that finds no room is left in the ring");
	room.srq_recvs = 0;
	arm(&pair, PVRDMA_UAR_CQ_ARM_SOL);
	send(&pair, 0, 3, true);
	ok(notified(&pair) && in_order(&pair, 1, 100, 3),
	   "until another one ends");
	room.recvs = -ENOMEM;
	guest_recv(&pair.qp[0], 5, &pair.mr[0], 0, 8);
	ok(guest_state(&pair.qp[0]) == PVRDMA_QPS_ERR, "with none under way, it is an error of the QP");
	pair_reconnect(&pair);
	while (!pair_nothing(&pair, 0))
		;
	room.recvs = 0;
	for (i = 0; i < 2; i++) {
		guest_recv(&pair.qp[0], 200 + i, &pair.mr[0], 0, 8);
		room.recvs = -ENOMEM;
	}
	lab_run(&pair.lab);
	ok(pair.qp[0].header->rx.cons_head == 1 && guest_state(&pair.qp[0]) == PVRDMA_QPS_RTS,
	   "a receive of a QP is left in the ring");
	room.recvs = 0;
	guest_send(&pair.qp[1], &sqe, &pair.mr[1], 0, 8);
	lab_run(&pair.lab);
	ok(in_order(&pair, 0, 200, 1) && pair.qp[0].header->rx.cons_head == 2,
	   "and taken as soon as another one ends");
	lab_close(&pair.lab);
}

/* What is no lack of room, and a QP that begins again with requests left in its ring. */
static void test_errors(void)
{
	struct pvrdma_event event = { .type = 99 };
	struct guest_srq srq;
	struct pair pair;

	srq = open_room(&pair);
	send(&pair, 0, 1, false);
	room.sends = -ENOMEM;
	send(&pair, 1, 1, false);
	room.sends = 0;
	pair_reconnect(&pair);
	lab_run(&pair.lab);
	ok(pair.qp[0].header->tx.cons_head == 0, "a reset forgets what was left");
	receive(&pair, &srq, 100, 1);
	send(&pair, 7, 1, false);
	ok(in_order(&pair, 0, 7, 1) && in_order(&pair, 1, 100, 1), "and the QP works");
	room.sends = -EINVAL;
	send(&pair, 8, 1, false);
	ok(guest_event(&pair.lab.guests[0], &event) && event.type == PVRDMA_EVENT_QP_FATAL &&
	   event.info == pair.qp[0].handle && guest_state(&pair.qp[0]) == PVRDMA_QPS_ERR,
	   "another error is one of the QP");
	lab_close(&pair.lab);
}

int main(void)
{
	test_ring();
	test_sends();
	test_patience();
	test_receives();
	test_errors();
	return done();
}
