// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared receive queues. */
#include <errno.h>
#include <string.h>

#include "pair.h"
#include "tap.h"

#define DEPTH 8u

/* Guest 1's QP takes its receives from the SRQ from now on. */
static struct guest_srq share(struct pair *pair)
{
	struct guest *guest = &pair->lab.guests[1];
	struct guest_srq srq = guest_srq(guest, pair->pd[1], DEPTH);
	struct guest_qp_want want = {
		.pd = pair->pd[1], .depth = DEPTH, .sge = 1, .cq = &pair->cq[1],
		.type = PVRDMA_QPT_RC, .srq = srq.handle,
	};

	pair->qp[1] = guest_qp(guest, &want);
	pair_reconnect(pair);
	return srq;
}

static void ring(struct guest_srq *srq, uint32_t page)
{
	guest_ring(srq->guest, page, PVRDMA_UAR_SRQ, srq->handle | PVRDMA_UAR_SRQ_RECV);
}

static void post(struct pair *pair, struct guest_srq *srq, uint32_t count)
{
	while (count--)
		guest_srq_recv(srq, count, &pair->mr[1], 0, 8);
	ring(srq, 0);
}

static void send(struct pair *pair, uint32_t count)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND };

	while (count--)
		guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	lab_run(&pair->lab);
}

static uint32_t set_limit(struct guest_srq *srq, uint32_t limit)
{
	struct pvrdma_cmd_modify_srq modify = {
		.handle = srq->handle, .mask = PVRDMA_SRQ_LIMIT, .attr.limit = limit,
	};

	return guest_command(srq->guest, PVRDMA_CMD_MODIFY_SRQ, &modify, sizeof(modify));
}

static uint32_t limit_of(struct guest_srq *srq)
{
	const struct pvrdma_resp_query_srq *resp = (void *)srq->guest->resp;

	guest_must(!guest_about(srq->guest, PVRDMA_CMD_QUERY_SRQ, srq->handle), "QUERY_SRQ");
	guest_must(resp->attr.max_wr == DEPTH && resp->attr.max_sge == 1, "its sizes");
	return resp->attr.limit;
}

/* Events that the limit was reached. */
static unsigned int reached(struct guest_srq *srq)
{
	struct pvrdma_event event;
	unsigned int count = 0;

	while (guest_event(srq->guest, &event))
		count += event.type == PVRDMA_EVENT_SRQ_LIMIT && event.info == srq->handle;
	return count;
}

/* hw 8.4 */
static void test_limit(void)
{
	struct guest_srq srq;
	struct pair pair;

	pair_open(&pair);
	srq = share(&pair);
	ok(limit_of(&srq) == 0, "an SRQ has no limit at first");
	post(&pair, &srq, 4);
	ok(!set_limit(&srq, 3) && limit_of(&srq) == 3, "its limit is what the driver asked for");
	send(&pair, 1);
	ok(!reached(&srq) && limit_of(&srq) == 3, "as many as the limit are not below it");
	send(&pair, 1);
	ok(reached(&srq) == 1, "one less is, and there is an event");
	ok(limit_of(&srq) == 0, "and no limit any more");
	send(&pair, 1);
	ok(!reached(&srq), "there is one event for each limit");
	set_limit(&srq, 1);
	send(&pair, 1);
	ok(reached(&srq) == 1 && limit_of(&srq) == 0, "which may be set again");
	ok(set_limit(&srq, DEPTH + 1) && limit_of(&srq) == 0, "none beyond the SRQ is taken");
	lab_close(&pair.lab);
}

/* Over 10 times the indices, which end at twice the depth; a full SRQ each time. */
static void test_laps(void)
{
	uint32_t lap, i, right = 0;
	struct pvrdma_cqe cqe;
	struct guest_srq srq;
	struct pair pair;

	pair_open(&pair);
	srq = share(&pair);
	for (lap = 0; lap < 20; lap++) {
		post(&pair, &srq, DEPTH - 1);
		post(&pair, &srq, 1);
		send(&pair, DEPTH);
		for (i = 0; i < DEPTH; i++) {
			if (!guest_completion(&pair.lab.guests[1], &pair.cq[1], &cqe))
				break;
			right += !cqe.status && cqe.qp == pair.qp[1].handle &&
				 cqe.wr_id == (i < DEPTH - 1 ? DEPTH - 2 - i : 0);
		}
	}
	ok(right == 20 * DEPTH && srq.header->rx.cons_head == srq.header->rx.prod_tail,
	   "20 times all receives of an SRQ, in order");
	srq.header->rx.prod_tail = 2 * DEPTH;
	ring(&srq, 0);
	lab_run(&pair.lab);
	ok(guest_event(srq.guest, &(struct pvrdma_event){ 0 }) &&
	   srq.guest->event[(srq.guest->events->cons_head - 1) & 511].type == PVRDMA_EVENT_SRQ_ERR,
	   "an index that cannot be is an error of the SRQ");
	lab_close(&pair.lab);
}

static bool refused(struct guest *guest, struct pvrdma_cmd_create_srq cmd)
{
	return guest_command(guest, PVRDMA_CMD_CREATE_SRQ, &cmd, sizeof(cmd)) != 0;
}

static void test_sizes(void)
{
	struct pvrdma_cmd_create_srq good = { .chunks = 3, .attr = { .max_wr = 256, .max_sge = 1 } };
	struct pvrdma_cmd_create_srq cmd;
	struct guest *guest;
	struct lab lab;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	good.pd = guest_pd(guest, 0);
	good.directory = guest_directory(guest, guest_alloc(guest, 2000), 2000);
	ok(!refused(guest, good), "an SRQ that fits its pages");
	cmd = good;
	cmd.chunks = 2;
	ok(refused(guest, cmd), "one page too few");
	cmd.chunks = 1;
	ok(refused(guest, cmd), "no page but the header");
	cmd = good;
	cmd.attr.max_sge = 2;
	ok(refused(guest, cmd), "elements of twice the size do not fit");
	cmd.chunks = 5;
	ok(!refused(guest, cmd), "unless there are pages for them");
	cmd.attr.max_sge = 4;
	ok(refused(guest, cmd), "80 bytes take 128");
	cmd.chunks = 9;
	ok(!refused(guest, cmd), "for which there is room");
	cmd = good;
	cmd.attr.max_wr = 255;
	ok(refused(guest, cmd), "a depth that is no power of two");
	cmd.attr.max_wr = 0;
	ok(refused(guest, cmd), "none");
	cmd.attr.max_wr = 2 * guest->dsr->caps.max_srq_wr;
	cmd.chunks = 600;
	ok(refused(guest, cmd), "more than the adapter has");
	cmd = good;
	cmd.chunks = 600;
	cmd.attr.max_sge = guest->dsr->caps.max_srq_sge + 1;
	ok(refused(guest, cmd), "more SGEs than it takes");
	cmd = good;
	cmd.chunks = 514;
	ok(!refused(guest, cmd), "more pages than it needs");
	cmd.chunks = 2000;
	ok(refused(guest, cmd), "more than any SRQ needs");
	cmd = good;
	cmd.type = 1;
	ok(refused(guest, cmd), "another type");
	cmd = good;
	cmd.pd = 0;
	ok(refused(guest, cmd), "no PD");
	lab_close(&lab);
}

/* hw 6.1: a process's doorbells are for its own. */
static void test_doorbells(void)
{
	struct guest_mr mr;
	struct guest *guest;
	struct guest_srq srq;
	struct lab lab;
	uint32_t pd;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	pd = guest_pd(guest, guest_context(guest, 1));
	guest_context(guest, 2);
	mr = guest_mr(guest, pd, GUEST_PAGE, ALL_ACCESS);
	srq = guest_srq(guest, pd, DEPTH);
	guest_srq_recv(&srq, 1, &mr, 0, 8);
	ring(&srq, 2);
	ring(&srq, 3);
	lab_run(&lab);
	ok(srq.header->rx.cons_head == 0, "another process cannot ring for an SRQ");
	ring(&srq, 1);
	lab_run(&lab);
	ok(srq.header->rx.cons_head == 1, "its own can");
	guest_srq_recv(&srq, 2, &mr, 0, 8);
	ring(&srq, 0);
	lab_run(&lab);
	ok(srq.header->rx.cons_head == 2, "and the kernel");
	lab_close(&lab);
}

int main(void)
{
	test_limit();
	test_laps();
	test_sizes();
	test_doorbells();
	return done();
}
