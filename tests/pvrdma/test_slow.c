// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands that end later: a backend that is the soft one, except that it does not
 * register memory or change a QP before the test lets it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "tap.h"

/* What is under way; at most one of each kind. */
static struct {
	const struct backend_ops *soft;
	struct backend_ops ops;
	struct backend *backend;
	struct backend_pd *pd;
	struct backend_mr_attr attr;
	uint32_t *lkey, *rkey;
	struct backend_qp *qp;
	struct ibv_qp_attr qp_attr;
	int qp_mask;
	void *mr_request, *qp_request;
	unsigned int abandoned;
	/* Of the first function. */
	const struct backend_client *client;
	void *ctx;
} slow;

/* What the model has of a memory region that is not there yet. */
static struct backend_mr *const pending_mr = (struct backend_mr *)&slow;

static int slow_port_open(struct backend *backend, const struct backend_client *client, void *ctx,
			  struct backend_port **port)
{
	if (!slow.client) {
		slow.client = client;
		slow.ctx = ctx;
	}
	return slow.soft->port_open(backend, client, ctx, port);
}

static int slow_mr_create(struct backend_pd *pd, const struct backend_mr_attr *attr,
			  void *request, struct backend_mr **mr, uint32_t *lkey, uint32_t *rkey)
{
	slow.pd = pd;
	slow.attr = *attr;
	slow.mr_request = request;
	slow.lkey = lkey;
	slow.rkey = rkey;
	*mr = pending_mr;
	return -EINPROGRESS;
}

static void slow_mr_destroy(struct backend_mr *mr)
{
	if (mr != pending_mr) {
		slow.soft->mr_destroy(mr);
		return;
	}
	slow.mr_request = NULL;
	slow.abandoned++;
}

static int slow_qp_modify(struct backend_qp *qp, const struct ibv_qp_attr *attr, int mask,
			  void *request)
{
	if (!(mask & IBV_QP_AV))
		return slow.soft->qp_modify(qp, attr, mask, request);
	slow.qp = qp;
	slow.qp_attr = *attr;
	slow.qp_mask = mask;
	slow.qp_request = request;
	return -EINPROGRESS;
}

static void end_mr(int err)
{
	slow.client->done(slow.ctx, slow.mr_request, err);
	slow.mr_request = NULL;
}

static void end_qp(int err)
{
	if (!err)
		slow.soft->qp_modify(slow.qp, &slow.qp_attr, slow.qp_mask, NULL);
	slow.client->done(slow.ctx, slow.qp_request, err);
	slow.qp_request = NULL;
}

/* ---- a guest that refills its ring as fast as requests complete */

#define REFILLS 100000u

static struct {
	/* The client's QP; the guest's one, or NULL. */
	void *client;
	struct guest_qp *qp;
	/* Since the last turn; at most in one; all. */
	unsigned int turn, most, all;
} busy;

static int busy_qp_create(struct backend_port *port, const struct backend_qp_attr *attr,
			  void *client, struct backend_qp **qp, uint32_t *qpn)
{
	busy.client = client;
	return slow.soft->qp_create(port, attr, client, qp, qpn);
}

/* The request completes at once. */
static int busy_qp_send(struct backend_qp *qp, const struct backend_send *send)
{
	const struct backend_wc wc = { .wc = { .wr_id = send->wr.wr_id } };
	uint32_t *tail;

	if (!busy.qp)
		return slow.soft->qp_send(qp, send);
	tail = &busy.qp->header->tx.prod_tail;
	if (++busy.all < REFILLS)
		*tail = (*tail + 1) & (2 * busy.qp->depth - 1);
	if (++busy.turn > busy.most)
		busy.most = busy.turn;
	slow.client->completed(slow.ctx, busy.client, &wc);
	return 0;
}

static uint64_t busy_run(struct backend *backend, uint64_t now)
{
	busy.turn = 0;
	return slow.soft->run(backend, now);
}

static void open_slow(struct lab *lab)
{
	guest_must(!backend_soft_open(NULL, &slow.backend), "backend");
	slow.soft = slow.backend->ops;
	slow.ops = *slow.soft;
	slow.ops.port_open = slow_port_open;
	slow.ops.mr_create = slow_mr_create;
	slow.ops.mr_destroy = slow_mr_destroy;
	slow.ops.qp_modify = slow_qp_modify;
	slow.ops.qp_create = busy_qp_create;
	slow.ops.qp_send = busy_qp_send;
	slow.ops.run = busy_run;
	slow.backend->ops = &slow.ops;
	slow.client = NULL;
	slow.abandoned = 0;
	lab_open_with(lab, 20, slow.backend);
	guest_probe(&lab->guests[0]);
}

static uint64_t interrupts(struct guest *guest)
{
	uint64_t count = 0;

	return read(guest->irqs[PVRDMA_VECTOR_RESPONSE], &count, sizeof(count)) > 0 ? count : 0;
}

static uint32_t ack(const struct guest *guest)
{
	const struct pvrdma_resp_hdr *resp = (void *)guest->resp;

	return resp->ack;
}

/* The command is given, and the adapter goes on until it waits for the backend. */
static uint32_t create_mr(struct lab *lab, uint32_t pd, uint32_t pages)
{
	struct guest *guest = &lab->guests[0];
	uint64_t address = guest_alloc(guest, pages);
	struct pvrdma_cmd_create_mr cmd = {
		.start = address, .length = (uint64_t)pages * GUEST_PAGE, .pd = pd,
		.directory = guest_directory(guest, address, pages), .access = ALL_ACCESS,
		.chunks = pages,
	};
	uint32_t err;

	cmd.hdr.key = 77;
	interrupts(guest);
	err = guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd));
	lab_run(lab);
	return err;
}

static void test_memory(struct lab *lab)
{
	struct guest *guest = &lab->guests[0];
	const struct pvrdma_resp_create_mr *resp = (void *)guest->resp;
	uint32_t pd = guest_pd(guest, 0), handle;

	ok(!create_mr(lab, pd, 3000) && slow.mr_request && slow.attr.n_pages == 3000 &&
	   slow.attr.pages[2999] && slow.attr.addresses[2999],
	   "memory that takes several turns to look up is registered at the end of them");
	ok(!interrupts(guest) && ack(guest) == 0x5a5a5a5a, "there is no response until then");
	*slow.lkey = 0x100;
	*slow.rkey = 0x200;
	end_mr(0);
	handle = resp->handle;
	ok(interrupts(guest) == 1 && ack(guest) == (PVRDMA_RESP_ACK | PVRDMA_CMD_CREATE_MR) &&
	   resp->hdr.key == 77 && resp->lkey == 0x100 && resp->rkey == 0x200,
	   "then there is one, with an interrupt");
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_MR, handle) && slow.abandoned == 1,
	   "it is destroyed as any other");
	ok(!create_mr(lab, pd, 1), "another one is begun");
	end_mr(-ENOMEM);
	ok(interrupts(guest) == 1 && ack(guest) == 0, "its failure is an acknowledgement of nothing");
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_PD, pd), "and leaves nothing behind");
}

static void test_abandoned(struct lab *lab)
{
	struct guest *guest = &lab->guests[0];
	uint32_t pd = guest_pd(guest, 0);
	void *request;

	ok(!create_mr(lab, pd, 1), "registration is under way");
	request = slow.mr_request;
	interrupts(guest);
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_PD, pd) && slow.abandoned == 2,
	   "a driver that does not wait has its next command done");
	slow.client->done(slow.ctx, request, 0);
	ok(!interrupts(guest), "no late interrupt wakes the waiter of another command");
	pd = guest_pd(guest, 0);
	create_mr(lab, pd, 1);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	ok(slow.abandoned == 3, "a reset ends what is under way");
	guest_probe(guest);
	create_mr(lab, guest_pd(guest, 0), 3000);
	lab_restart(lab, guest);
	ok(slow.abandoned == 4 && guest_probe(guest) == 0, "so does a monitor that goes");
}

/* Of pages that are still being looked up, the monitor takes some away. */
static void test_unmapped(struct lab *lab)
{
	struct guest *guest = &lab->guests[0];
	uint32_t pd = guest_pd(guest, 0);
	uint64_t address = guest_alloc(guest, 3000), *table;
	struct pvrdma_cmd_create_mr cmd = {
		.start = address, .length = 3000ull * GUEST_PAGE, .pd = pd,
		.directory = guest_directory(guest, address, 3000), .chunks = 3000,
	};

	table = guest_at(guest, *(uint64_t *)guest_at(guest, cmd.directory));
	table[2999] = UINT64_MAX & ~0xfffull;
	slow.mr_request = NULL;
	interrupts(guest);
	ok(!guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)),
	   "a page that is none is not seen at once");
	lab_run(lab);
	ok(interrupts(guest) == 1 && !ack(guest) && !slow.mr_request, "but when its turn comes");
}

static void test_modify(struct lab *lab)
{
	struct guest *guest = &lab->guests[0];
	struct guest_cq cq = guest_cq(guest, 0, 64);
	struct guest_qp_want want = {
		.pd = guest_pd(guest, 0), .depth = 16, .sge = 1, .type = PVRDMA_QPT_RC, .cq = &cq,
	};
	struct guest_qp qp = guest_qp(guest, &want), other = guest_qp(guest, &want);
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .port = 1, .path = { .flags = 1 } };
	const struct pvrdma_resp_hdr *resp = (void *)guest->resp;
	void *request;

	guest_bind(guest, 1);
	guest_modify(&qp, 0x39, &attr);
	guest_modify(&other, 0x39, &attr);
	attr.state = PVRDMA_QPS_RTR;
	interrupts(guest);
	guest_modify(&qp, 0x129181, &attr);
	ok(slow.qp_request && !interrupts(guest), "a QP on its way to RTR");
	end_qp(0);
	ok(interrupts(guest) == 1 && resp->ack == (PVRDMA_RESP_ACK | PVRDMA_CMD_MODIFY_QP) &&
	   !resp->err && guest_state(&qp) == PVRDMA_QPS_RTR, "is there");
	interrupts(guest);
	guest_modify(&other, 0x129181, &attr);
	end_qp(-ETIMEDOUT);
	ok(interrupts(guest) == 1 && resp->err == ETIMEDOUT && guest_state(&other) == PVRDMA_QPS_INIT,
	   "or it is not");
	guest_modify(&other, 0x129181, &attr);
	request = slow.qp_request;
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_QP, other.handle),
	   "one that a driver gave up on may be destroyed");
	interrupts(guest);
	slow.client->done(slow.ctx, request, 0);
	ok(!interrupts(guest), "and is not heard of");
}

static void test_refilled(struct lab *lab)
{
	struct guest *guest = &lab->guests[0];
	struct guest_cq cq = guest_cq(guest, 0, 64);
	struct guest_qp_want want = {
		.pd = guest_pd(guest, 0), .depth = 16, .sge = 1, .type = PVRDMA_QPT_UD, .cq = &cq,
	};
	struct guest_qp qp = guest_qp(guest, &want);
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .port = 1 };
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND };

	guest_modify(&qp, 0x71, &attr);
	attr.state = PVRDMA_QPS_RTR;
	guest_modify(&qp, 1, &attr);
	attr.state = PVRDMA_QPS_RTS;
	guest_modify(&qp, 0x10001, &attr);
	busy.qp = &qp;
	guest_send(&qp, &sqe, NULL, 0, 0);
	lab_run(lab);
	busy.qp = NULL;
	/* The doorbell, then the rest of the ring. */
	ok(busy.all >= REFILLS && busy.most <= 2 * qp.depth,
	   "a ring that is refilled all the time takes turns (%u at once)", busy.most);
}

int main(void)
{
	struct lab lab;

	open_slow(&lab);
	test_memory(&lab);
	test_abandoned(&lab);
	test_unmapped(&lab);
	test_modify(&lab);
	test_refilled(&lab);
	lab_close(&lab);
	return done();
}
