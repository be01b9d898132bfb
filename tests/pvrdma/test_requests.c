// SPDX-License-Identifier: GPL-2.0-or-later
/* Work requests that only some QPs may have, and when they are carried out. */
#include <string.h>

#include "pair.h"
#include "tap.h"

static struct pvrdma_sqe send_of(uint64_t wr_id, uint32_t flags)
{
	return (struct pvrdma_sqe){ .wr_id = wr_id, .opcode = PVRDMA_WR_SEND, .flags = flags };
}

static bool in_state(const struct guest_qp *qp, uint32_t state)
{
	return guest_state(qp) == state;
}

static uint32_t to_state(const struct guest_qp *qp, uint32_t state)
{
	struct pvrdma_qp_attr attr = { .state = state };

	return guest_modify(qp, PVRDMA_QP_ATTR_STATE, &attr);
}

/* hw 7.5: all requests are reported, and the library does not say so in the request. */
static void test_sig_all(void)
{
	struct pvrdma_sqe sqe = send_of(1, 0);
	struct pair pair;

	pair_open(&pair);
	pair.qp[0] = guest_qp(&pair.lab.guests[0], &(struct guest_qp_want){
		.pd = pair.pd[0], .depth = 16, .sge = 1, .cq = &pair.cq[0], .type = PVRDMA_QPT_RC,
		.sig_all = true,
	});
	pair_reconnect(&pair);
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(pair_ends(&pair, 0, PVRDMA_WC_SEND, 0) && pair_nothing(&pair, 0),
	   "with sq_sig_all a send that is not signalled has a completion");
	lab_close(&pair.lab);
}

/* Guest 0's QP becomes a process's, with memory of its own. */
static void be_a_process(struct pair *pair)
{
	struct guest *guest = &pair->lab.guests[0];
	uint32_t context = guest_context(guest, 1);

	pair->pd[0] = guest_pd(guest, context);
	pair->cq[0] = guest_cq(guest, context, 64);
	pair->mr[0] = guest_mr(guest, pair->pd[0], GUEST_PAGE, ALL_ACCESS);
	pair->qp[0] = guest_qp(guest, &(struct guest_qp_want){
		.pd = pair->pd[0], .depth = 16, .sge = 1, .cq = &pair->cq[0], .type = PVRDMA_QPT_RC,
	});
}

/* hw 7.4: the library passes other numbers on as they are. */
static void test_process(void)
{
	struct pvrdma_sqe sqe = send_of(1, 0);
	unsigned int refused = 0;
	struct pair pair;
	uint32_t opcode;

	pair_open(&pair);
	be_a_process(&pair);
	for (opcode = PVRDMA_WR_FETCH_ADD + 1; opcode <= 16; opcode++) {
		pair_reconnect(&pair);
		guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
		sqe.opcode = opcode;
		sqe.imm = opcode == PVRDMA_WR_SEND_INV ? pair.mr[1].rkey : pair.mr[0].lkey;
		guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
		refused += pair_ends(&pair, 0, opcode == PVRDMA_WR_LOCAL_INV ? PVRDMA_WC_LOCAL_INV :
				     opcode == PVRDMA_WR_FAST_REG ? PVRDMA_WC_FAST_REG :
				     PVRDMA_WC_SEND, PVRDMA_WC_LOC_QP_OP_ERR) &&
			   in_state(&pair.qp[0], PVRDMA_QPS_ERR) && pair_nothing(&pair, 1);
	}
	ok(refused == 10, "a process cannot ask for what is the kernel's: %u of 10", refused);
	lab_close(&pair.lab);
}

/* Memory of guest 1 that work requests register, of one page. */
struct fast {
	struct guest_mr mr;
	uint64_t directory;
};

static struct fast make_fast(struct pair *pair)
{
	struct guest *guest = &pair->lab.guests[1];
	struct pvrdma_cmd_create_mr cmd = {
		.pd = pair->pd[1], .flags = PVRDMA_MR_FAST_REG, .chunks = 1,
	};
	const struct pvrdma_resp_create_mr *resp = (void *)guest->resp;
	struct fast fast = { .mr = { .address = 0x70000000, .length = GUEST_PAGE } };

	fast.directory = guest_directory(guest, guest_alloc(guest, 1), 1);
	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)), "CREATE_MR");
	fast.mr.rkey = resp->rkey;
	return fast;
}

/* Its key has those lowest 8 bits from now on. */
static bool registers(struct pair *pair, struct fast *fast, uint8_t key)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_FAST_REG, .flags = PVRDMA_WR_SIGNALED };

	fast->mr.rkey = (fast->mr.rkey & ~0xffu) | key;
	sqe.fast_reg = (struct pvrdma_wqe_fast_reg){
		.iova = fast->mr.address, .directory = fast->directory, .page_shift = 12, .pages = 1,
		.length = GUEST_PAGE, .access = ALL_ACCESS, .key = fast->mr.rkey,
	};
	guest_send(&pair->qp[1], &sqe, NULL, 0, 0);
	return pair_ends(pair, 1, PVRDMA_WC_FAST_REG, 0);
}

static bool written(struct pair *pair, const struct fast *fast, uint32_t status)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { .addr = fast->mr.address, .rkey = fast->mr.rkey },
	};

	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	return pair_ends(pair, 0, PVRDMA_WC_WRITE, status);
}

static void invalidate(struct pair *pair, uint32_t key)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_LOCAL_INV, .flags = PVRDMA_WR_SIGNALED, .imm = key,
	};

	guest_send(&pair->qp[1], &sqe, NULL, 0, 0);
}

/* hw 9.4 */
static void test_local_invalidate(void)
{
	struct fast fast;
	struct pair pair;

	pair_open(&pair);
	fast = make_fast(&pair);
	ok(registers(&pair, &fast, 1) && written(&pair, &fast, 0), "memory is registered");
	invalidate(&pair, fast.mr.rkey);
	ok(pair_ends(&pair, 1, PVRDMA_WC_LOCAL_INV, 0), "local invalidate");
	ok(written(&pair, &fast, PVRDMA_WC_REM_ACCESS_ERR), "its key is dead then");
	pair_reconnect(&pair);
	while (!pair_nothing(&pair, 0) || !pair_nothing(&pair, 1))
		;
	ok(registers(&pair, &fast, 2) && written(&pair, &fast, 0), "and it is registered with another one");
	invalidate(&pair, (fast.mr.rkey & ~0xffu) | 1);
	ok(pair_ends(&pair, 1, PVRDMA_WC_LOCAL_INV, PVRDMA_WC_LOC_QP_OP_ERR) &&
	   in_state(&pair.qp[1], PVRDMA_QPS_ERR), "the one of before cannot be invalidated");
	pair_reconnect(&pair);
	ok(written(&pair, &fast, 0), "and nothing was");
	invalidate(&pair, pair.mr[1].lkey);
	ok(pair_ends(&pair, 1, PVRDMA_WC_LOCAL_INV, PVRDMA_WC_LOC_QP_OP_ERR), "nor can a user's region");
	lab_close(&pair.lab);
}

static void test_remote_invalidate(void)
{
	struct pvrdma_sqe sqe = send_of(1, 0);
	struct pvrdma_cqe cqe = { 0 };
	struct fast fast;
	struct pair pair;

	pair_open(&pair);
	fast = make_fast(&pair);
	ok(registers(&pair, &fast, 7) && written(&pair, &fast, 0), "memory is registered");
	sqe.opcode = PVRDMA_WR_SEND_INV;
	sqe.imm = fast.mr.rkey;
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(guest_completion(&pair.lab.guests[1], &pair.cq[1], &cqe) && !cqe.status &&
	   cqe.opcode == PVRDMA_WC_RECV && cqe.flags == PVRDMA_WC_INV && cqe.imm == fast.mr.rkey,
	   "send with invalidate names the key");
	ok(written(&pair, &fast, PVRDMA_WC_REM_ACCESS_ERR), "which is dead then");
	lab_close(&pair.lab);
}

/* A send that waits for a receive of the peer's, and a receive that waits. */
static void let_wait(struct pair *pair)
{
	struct pvrdma_qp_attr attr = { .rnr_retry = 7, .min_rnr_timer = 31 };
	struct pvrdma_sqe sqe = send_of(1, PVRDMA_WR_SIGNALED);

	/* For ever, and half a second until it is tried again. */
	guest_modify(&pair->qp[0], PVRDMA_QP_ATTR_RNR_RETRY, &attr);
	guest_modify(&pair->qp[1], PVRDMA_QP_ATTR_MIN_RNR_TIMER, &attr);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	guest_recv(&pair->qp[0], 2, &pair->mr[0], 0, 8);
	guest_must(pair_nothing(pair, 0), "they wait");
}

/* Guest 1's QP sends to guest 0's; how that ends. */
static void peer_sends(struct pair *pair)
{
	struct pvrdma_sqe sqe = send_of(3, PVRDMA_WR_SIGNALED);

	guest_send(&pair->qp[1], &sqe, &pair->mr[1], 0, 8);
	guest_recv(&pair->qp[1], 4, &pair->mr[1], 0, 8);
	lab_wait(&pair->lab, pair->lab.guests[1].irqs[PVRDMA_VECTOR_CQ]);
}

/* hw 8.3 */
static void test_reset(void)
{
	struct pvrdma_sqe sqe = send_of(9, PVRDMA_WR_SIGNALED);
	struct pair pair;
	uint32_t tail;

	pair_open(&pair);
	let_wait(&pair);
	ok(!to_state(&pair.qp[0], PVRDMA_QPS_RESET), "a QP with requests is reset");
	guest_ring(&pair.lab.guests[1], 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
	peer_sends(&pair);
	ok(pair_ends(&pair, 1, PVRDMA_WC_SEND, PVRDMA_WC_RETRY_EXC), "its peer has no answer any more");
	ok(pair_nothing(&pair, 0), "none of its requests has a completion");
	pair_reconnect(&pair);
	while (!pair_nothing(&pair, 1))
		;
	guest_recv(&pair.qp[1], 5, &pair.mr[1], 0, 8);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(pair_ends(&pair, 0, PVRDMA_WC_SEND, 0) && pair_nothing(&pair, 0),
	   "connected again, it does what is new, and nothing of before");
	let_wait(&pair);
	tail = pair.cq[0].state->prod_tail;
	ok(!guest_about(&pair.lab.guests[0], PVRDMA_CMD_DESTROY_QP, pair.qp[0].handle),
	   "a QP with requests is destroyed");
	guest_ring(&pair.lab.guests[1], 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
	peer_sends(&pair);
	ok(pair.cq[0].state->prod_tail == tail, "none of its requests has a completion");
	lab_close(&pair.lab);
}

/* hw 8.2 */
static void test_drained(void)
{
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_SQD, .en_sqd_notify = 1 };
	struct pvrdma_sqe sqe = send_of(1, PVRDMA_WR_SIGNALED);
	struct pvrdma_event event = { 0 };
	struct pair pair;

	pair_open(&pair);
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
	ok(!guest_modify(&pair.qp[0], PVRDMA_QP_ATTR_STATE | PVRDMA_QP_ATTR_SQD_NOTIFY, &attr) &&
	   guest_event(&pair.lab.guests[0], &event) && event.type == PVRDMA_EVENT_SQ_DRAINED &&
	   event.info == pair.qp[0].handle, "a QP is drained, and says so");
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(pair_nothing(&pair, 0) && pair_nothing(&pair, 1), "a send waits then");
	guest_recv(&pair.qp[0], 1, &pair.mr[0], 0, 8);
	guest_send(&pair.qp[1], &sqe, &pair.mr[1], 0, 8);
	ok(pair_ends(&pair, 0, PVRDMA_WC_RECV, 0), "and receives do not");
	ok(!to_state(&pair.qp[0], PVRDMA_QPS_RTS) && pair_ends(&pair, 0, PVRDMA_WC_SEND, 0),
	   "until the QP goes on");
	ok(!guest_event(&pair.lab.guests[0], &event), "there was one event");
	ok(!to_state(&pair.qp[0], PVRDMA_QPS_SQD) && in_state(&pair.qp[0], PVRDMA_QPS_SQD) &&
	   !guest_event(&pair.lab.guests[0], &event), "and none for a driver that wants none");
	lab_close(&pair.lab);
}

/* What began before is finished: 16 MiB are more than one step. */
static void test_draining(void)
{
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_SQD, .en_sqd_notify = 1 };
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED };
	struct pvrdma_event event = { 0 };
	struct guest_mr from, to;
	struct pair pair;

	pair_open(&pair);
	from = guest_mr(&pair.lab.guests[0], pair.pd[0], 16 << 20, ALL_ACCESS);
	to = guest_mr(&pair.lab.guests[1], pair.pd[1], 16 << 20, ALL_ACCESS);
	sqe.rdma.addr = to.address;
	sqe.rdma.rkey = to.rkey;
	guest_send(&pair.qp[0], &sqe, &from, 0, 16 << 20);
	guest_send(&pair.qp[0], &sqe, &from, 0, 8);
	guest_modify(&pair.qp[0], PVRDMA_QP_ATTR_STATE | PVRDMA_QP_ATTR_SQD_NOTIFY, &attr);
	ok(guest_event(&pair.lab.guests[0], &event) && event.type == PVRDMA_EVENT_SQ_DRAINED,
	   "a QP that is busy is drained");
	ok(pair_ends(&pair, 0, PVRDMA_WC_WRITE, 0) && pair_nothing(&pair, 0),
	   "when what had begun has ended, and before the next one begins");
	lab_close(&pair.lab);
}

/* A QP that failed for want of a receive, and is used again. */
static void test_retries(void)
{
	/* Half a second, in which this test looks for a completion. */
	struct pvrdma_qp_attr attr = { .min_rnr_timer = 31 };
	struct pvrdma_sqe sqe = send_of(1, PVRDMA_WR_SIGNALED);
	struct pair pair;

	pair_open(&pair);
	guest_ring(&pair.lab.guests[0], 0, PVRDMA_UAR_CQ, pair.cq[0].handle | PVRDMA_UAR_CQ_ARM);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	lab_wait(&pair.lab, pair.lab.guests[0].irqs[PVRDMA_VECTOR_CQ]);
	guest_must(pair_ends(&pair, 0, PVRDMA_WC_SEND, PVRDMA_WC_RNR_RETRY_EXC), "failure");
	pair_reconnect(&pair);
	guest_modify(&pair.qp[1], PVRDMA_QP_ATTR_MIN_RNR_TIMER, &attr);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(pair_nothing(&pair, 0), "a reset QP retries as often as a new one");
	lab_close(&pair.lab);
}

int main(int argc, char **argv)
{
	/* Once more, with each guest's adapter in a server of its own. */
	lab_linked = argc > 1 && !strcmp(argv[1], "linked");
	test_sig_all();
	test_process();
	test_local_invalidate();
	test_remote_invalidate();
	test_reset();
	test_drained();
	test_retries();
	if (!lab_linked)
		test_draining();
	return done();
}
