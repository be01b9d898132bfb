// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests for which there is no room yet, behind those that are under way: the soft
 * backend, except that it takes none as long as the test says so.
 */
#include <errno.h>
#include <stdio.h>
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
	/* Of the last change of a QP. */
	int mask;
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

static int room_modify(struct backend_qp *qp, const struct ibv_qp_attr *attr, int mask, void *request)
{
	room.mask = mask;
	return room.soft->qp_modify(qp, attr, mask, request);
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
	room.ops.qp_modify = room_modify;
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
	struct pvrdma_qp_attr reset = { .state = PVRDMA_QPS_RESET };
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
	ok(!guest_modify(&pair.qp[0], PVRDMA_QP_ATTR_STATE | PVRDMA_QP_ATTR_PATH, &reset) &&
	   room.mask == IBV_QP_STATE, "a reset takes no other attributes");
	lab_close(&pair.lab);
}

/* ---- room for the requests of all queues of a guest */

#define LARGE 40u
/* There is room for all their receives. */
#define LEFT 8u
#define LARGE_DEPTH 4096u
#define LARGE_SGE 16u
/* Of an element with that many SGEs. */
#define STRIDE 512u
#define DIR_ENTRIES (GUEST_PAGE / sizeof(uint64_t))

/* QPs of maximum size, whose rings are all in the same page of the guest. */
struct large {
	uint64_t body, rest;
	struct pvrdma_ring_header *headers[LARGE];
	uint32_t handles[LARGE];
};

/* Receives without data. */
static void open_large(struct pair *pair, struct large *large)
{
	struct guest *guest = &pair->lab.guests[0];
	struct pvrdma_rqe rqe = { .num_sge = LARGE_SGE };
	unsigned char *body;
	uint64_t *rest;
	uint32_t i;

	large->body = guest_alloc(guest, 1);
	large->rest = guest_alloc(guest, 1);
	body = guest_at(guest, large->body);
	rest = guest_at(guest, large->rest);
	for (i = 0; i < GUEST_PAGE / STRIDE; i++)
		memcpy(body + i * STRIDE, &rqe, sizeof(rqe));
	for (i = 0; i < DIR_ENTRIES; i++)
		rest[i] = large->body;
}

static void add_large(struct pair *pair, struct large *large, uint32_t n)
{
	uint16_t chunks = LARGE_DEPTH * STRIDE / GUEST_PAGE;
	struct guest *guest = &pair->lab.guests[0];
	uint64_t pages = guest_alloc(guest, 3), *entries = guest_at(guest, pages);
	struct pvrdma_cmd_create_qp cmd = {
		.directory = pages, .pd = pair->pd[0],
		.send_cq = pair->cq[0].handle, .recv_cq = pair->cq[0].handle,
		.max_send_wr = LARGE_DEPTH, .max_recv_wr = LARGE_DEPTH,
		.max_send_sge = LARGE_SGE, .max_recv_sge = LARGE_SGE,
		.total_chunks = (uint16_t)(1 + 2 * chunks), .send_chunks = chunks,
		.type = PVRDMA_QPT_RC,
	};
	const struct pvrdma_resp_create_qp *resp = (void *)guest->resp;
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .port = 1 };
	struct guest_qp qp = { .guest = guest };
	uint32_t i;

	entries[0] = pages + GUEST_PAGE;
	entries[1] = entries[2] = large->rest;
	entries += DIR_ENTRIES;
	entries[0] = pages + 2 * GUEST_PAGE;
	for (i = 1; i < DIR_ENTRIES; i++)
		entries[i] = large->body;
	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_QP, &cmd, sizeof(cmd)), "CREATE_QP");
	large->headers[n] = guest_at(guest, pages + 2 * GUEST_PAGE);
	large->handles[n] = qp.handle = resp->handle;
	guest_must(!guest_modify(&qp, 0x39, &attr), "INIT");
}

static uint64_t resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long size, resident;

	guest_must(statm && fscanf(statm, "%lu %lu", &size, &resident) == 2, "statm");
	fclose(statm);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_heap(void)
{
	uint32_t i, taken, total = 0, least = LARGE_DEPTH;
	struct pvrdma_event event;
	static struct large large;
	uint64_t resident, began;
	struct guest *guest;
	struct pair pair;

	pair_open(&pair);
	guest = &pair.lab.guests[0];
	open_large(&pair, &large);
	resident = resident_bytes();
	for (i = 0; i < LARGE; i++)
		add_large(&pair, &large, i);
	resident = resident_bytes() - resident;
	ok(resident < 16u << 20, "queues without requests take %u KiB",
	   (unsigned int)(resident >> 10));
	for (i = 0; i < LARGE; i++) {
		large.headers[i]->rx.prod_tail = LARGE_DEPTH;
		guest_ring(guest, 0, PVRDMA_UAR_QP, large.handles[i] | PVRDMA_UAR_QP_RECV);
	}
	for (i = 0; i < LARGE; i++) {
		taken = large.headers[i]->rx.cons_head;
		total += taken;
		least = taken < least ? taken : least;
	}
	ok(total >= 8 * LARGE_DEPTH && total < (LARGE - 4) * LARGE_DEPTH,
	   "of a guest's receives, a limited number is posted (%u of %u)", total, LARGE * LARGE_DEPTH);
	ok(least >= 16, "at least %u in each queue", least);
	for (i = 0; i < LARGE - LEFT; i++)
		guest_about(guest, PVRDMA_CMD_DESTROY_QP, large.handles[i]);
	for (began = now_ms(); now_ms() - began < 20000;) {
		lab_run(&pair.lab);
		for (i = LARGE - LEFT; i < LARGE && large.headers[i]->rx.cons_head == LARGE_DEPTH; i++)
			;
		if (i == LARGE)
			break;
	}
	ok(i == LARGE && !guest_event(guest, &event), "the remaining ones are posted when there is room");
	lab_close(&pair.lab);
}

int main(void)
{
	test_ring();
	test_sends();
	test_patience();
	test_receives();
	test_errors();
	test_heap();
	return done();
}
