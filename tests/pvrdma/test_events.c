// SPDX-License-Identifier: GPL-2.0-or-later
/* What the adapter reports by itself: notifications of CQs, and asynchronous events. */
#include <string.h>

#include "pair.h"
#include "tap.h"

/* Of guest 1's CQ, since the last time. */
static uint32_t notifications(struct pair *pair)
{
	struct guest *guest = &pair->lab.guests[1];
	uint32_t count;

	lab_run(&pair->lab);
	count = (guest->notifications->prod_tail - guest->notifications->cons_head) & 0x7ff;
	guest->notifications->cons_head = guest->notifications->prod_tail;
	return count;
}

static void arm(struct pair *pair, uint32_t page, uint32_t how)
{
	guest_ring(&pair->lab.guests[1], page, PVRDMA_UAR_CQ, pair->cq[1].handle | how);
}

/* Guest 1 receives a message; whether it does. */
static bool message(struct pair *pair, uint32_t opcode, uint32_t flags)
{
	struct pvrdma_sqe sqe = {
		.opcode = opcode, .flags = flags,
		.rdma = { .addr = pair->mr[1].address, .rkey = pair->mr[1].rkey },
	};

	guest_recv(&pair->qp[1], 1, &pair->mr[1], 0, 8);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	return pair_ends(pair, 1, opcode == PVRDMA_WR_SEND ? PVRDMA_WC_RECV :
			 PVRDMA_WC_RECV_WRITE_IMM, 0);
}

static bool plain(struct pair *pair)
{
	return message(pair, PVRDMA_WR_SEND, 0);
}

static bool solicited(struct pair *pair)
{
	return message(pair, PVRDMA_WR_SEND, PVRDMA_WR_SOLICITED);
}

/* hw 6.3 */
static void test_arms(void)
{
	struct pair pair;

	pair_open(&pair);
	ok(plain(&pair) && !notifications(&pair), "a completion without an arm: no notification");
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM);
	ok(plain(&pair) && plain(&pair) && notifications(&pair) == 1,
	   "two completions after one arm: one");
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
	guest_send(&pair.qp[0], &(struct pvrdma_sqe){ .opcode = PVRDMA_WR_SEND }, &pair.mr[0], 0, 8);
	lab_run(&pair.lab);
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM);
	ok(!notifications(&pair), "arming does not look back at what is in the ring");
	ok(pair_ends(&pair, 1, PVRDMA_WC_RECV, 0) && !notifications(&pair), "nor is reading it a reason");
	ok(plain(&pair) && notifications(&pair) == 1, "but the next one is");
	arm(&pair, 0, PVRDMA_UAR_CQ_POLL);
	ok(plain(&pair) && !notifications(&pair), "a poll is no arm");
	lab_close(&pair.lab);
}

static void test_solicited(void)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED | PVRDMA_WR_SOLICITED,
	};
	struct pair pair;

	pair_open(&pair);
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM_SOL);
	ok(plain(&pair) && !notifications(&pair), "a message that is not solicited is none of an arm");
	ok(solicited(&pair) && notifications(&pair) == 1, "one that is, is");
	ok(solicited(&pair) && !notifications(&pair), "once");
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM_SOL);
	ok(message(&pair, PVRDMA_WR_WRITE_IMM, PVRDMA_WR_SOLICITED) && notifications(&pair) == 1,
	   "so is a write with immediate data");
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM_SOL);
	guest_recv(&pair.qp[0], 1, &pair.mr[0], 0, 8);
	guest_send(&pair.qp[1], &sqe, &pair.mr[1], 0, 8);
	ok(pair_ends(&pair, 1, PVRDMA_WC_SEND, 0) && !notifications(&pair),
	   "the sender's own completion is not solicited");
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM);
	arm(&pair, 0, PVRDMA_UAR_CQ_ARM_SOL);
	ok(plain(&pair) && notifications(&pair) == 1, "a full arm is not weakened by a solicited one");
	ok(solicited(&pair) && !notifications(&pair), "and both had their notification");
	lab_close(&pair.lab);
}

/* hw 6.1 */
static void test_doorbells(void)
{
	uint32_t one;
	struct guest *guest;
	struct pair pair;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	guest_context(guest, 1);
	arm(&pair, 1, PVRDMA_UAR_CQ_ARM);
	arm(&pair, 7, PVRDMA_UAR_CQ_ARM);
	ok(plain(&pair) && !notifications(&pair), "a process cannot arm the kernel's CQ");
	one = guest_context(guest, 511);
	pair.pd[1] = guest_pd(guest, one);
	pair.cq[1] = guest_cq(guest, one, 64);
	pair.mr[1] = guest_mr(guest, pair.pd[1], GUEST_PAGE, ALL_ACCESS);
	pair.qp[1] = guest_qp(guest, &(struct guest_qp_want){
		.pd = pair.pd[1], .depth = 16, .sge = 1, .cq = &pair.cq[1], .type = PVRDMA_QPT_RC,
	});
	pair_reconnect(&pair);
	arm(&pair, 1, PVRDMA_UAR_CQ_ARM);
	ok(plain(&pair) && !notifications(&pair), "nor that of another process");
	arm(&pair, 511, PVRDMA_UAR_CQ_ARM);
	ok(plain(&pair) && notifications(&pair) == 1, "its own it can, by the last page there is");
	lab_close(&pair.lab);
}

/* Of guest 1's QP: that its send queue is drained. */
static void drain(const struct guest_qp *qp)
{
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_SQD, .en_sqd_notify = 1 };

	guest_modify(qp, PVRDMA_QP_ATTR_STATE | PVRDMA_QP_ATTR_SQD_NOTIFY, &attr);
	qp->guest->run(qp->guest->arg);
	attr.state = PVRDMA_QPS_RTS;
	guest_modify(qp, PVRDMA_QP_ATTR_STATE, &attr);
}

static struct guest_qp other_qp(struct pair *pair)
{
	struct guest_qp qp = guest_qp(&pair->lab.guests[1], &(struct guest_qp_want){
		.pd = pair->pd[1], .depth = 16, .sge = 1, .cq = &pair->cq[1], .type = PVRDMA_QPT_RC,
	});

	guest_must(guest_connect(&qp, 0x99, 1), "connection");
	return qp;
}

/* hw 5.5: the ring has 1536 elements, 512 of which are used, with indices to 1023. */
static void test_ring(void)
{
	uint32_t i, right = 0, kept = 0;
	struct pvrdma_event event;
	struct guest_qp other;
	struct guest *guest;
	struct pair pair;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	other = other_qp(&pair);
	while (guest_event(guest, &event))
		;
	guest_must(guest->events->prod_tail == 0, "no events yet");
	for (i = 0; i < 1100; i++) {
		drain(&pair.qp[1]);
		right += guest->events->prod_tail == ((i + 1) & 0x3ff) &&
			 guest->event[i & 0x1ff].type == PVRDMA_EVENT_SQ_DRAINED &&
			 guest->event[i & 0x1ff].info == pair.qp[1].handle;
		memset(&guest->event[i & 0x1ff], 0xff, sizeof(event));
		guest->events->cons_head = guest->events->prod_tail;
	}
	ok(right == 1100, "1100 events are where the driver looks");
	for (i = 0; i < 512; i++)
		drain(&pair.qp[1]);
	for (i = 0; i < 20; i++)
		drain(&other);
	ok(((guest->events->prod_tail - guest->events->cons_head) & 0x3ff) == 512,
	   "a driver that does not look finds 512");
	for (i = 0; i < 512; i++)
		kept += guest_event(guest, &event) && event.type == PVRDMA_EVENT_SQ_DRAINED &&
			event.info == pair.qp[1].handle;
	ok(kept == 512 && !guest_event(guest, &event), "the oldest ones, and not those that came later");
	drain(&other);
	ok(guest_event(guest, &event) && event.info == other.handle, "and then new ones again");
	lab_close(&pair.lab);
}

int main(void)
{
	test_arms();
	test_solicited();
	test_doorbells();
	test_ring();
	return done();
}
