// SPDX-License-Identifier: GPL-2.0-or-later
/* How large queues may be, and how many objects there are. */
#include <errno.h>
#include <string.h>

#include "pair.h"
#include "tap.h"

static uint32_t create_qp(struct guest *guest, struct pvrdma_cmd_create_qp cmd)
{
	const struct pvrdma_resp_create_qp *resp = (void *)guest->resp;
	uint32_t err = guest_command(guest, PVRDMA_CMD_CREATE_QP, &cmd, sizeof(cmd));

	/* Most are made for one question only. */
	if (!err)
		guest_must(!guest_about(guest, PVRDMA_CMD_DESTROY_QP, resp->handle), "DESTROY_QP");
	return err;
}

/* One that is right: 32 requests in each page of the SQ, 128 in one of the RQ. */
static struct pvrdma_cmd_create_qp right(struct guest *guest)
{
	struct guest_cq cq = guest_cq(guest, 0, 64);

	return (struct pvrdma_cmd_create_qp){
		.directory = guest_directory(guest, guest_alloc(guest, 4000), 4000),
		.pd = guest_pd(guest, 0),
		.send_cq = cq.handle, .recv_cq = cq.handle,
		.max_send_wr = 64, .max_recv_wr = 256, .max_send_sge = 1, .max_recv_sge = 1,
		.access = PVRDMA_ACCESS_LOCAL_WRITE,
		.send_chunks = 2, .total_chunks = 5, .type = PVRDMA_QPT_RC,
	};
}

/* A change of one that is right; 0: as there. NONE: 0. */
#define NONE UINT32_MAX

struct change {
	const char *what;
	bool taken;
	uint32_t send_wr, recv_wr, send_sge, recv_sge, send_chunks, total_chunks, type;
};

static uint32_t changed(uint32_t value, uint32_t change)
{
	return change == NONE ? 0 : change ? change : value;
}

static void try_qp(struct guest *guest, struct pvrdma_cmd_create_qp cmd, const struct change *to)
{
	cmd.max_send_wr = changed(cmd.max_send_wr, to->send_wr);
	cmd.max_recv_wr = changed(cmd.max_recv_wr, to->recv_wr);
	cmd.max_send_sge = changed(cmd.max_send_sge, to->send_sge);
	cmd.max_recv_sge = changed(cmd.max_recv_sge, to->recv_sge);
	cmd.send_chunks = (uint16_t)changed(cmd.send_chunks, to->send_chunks);
	cmd.total_chunks = (uint16_t)changed(cmd.total_chunks, to->total_chunks);
	cmd.type = (uint8_t)changed(cmd.type, to->type);
	ok(!create_qp(guest, cmd) == to->taken, "%s", to->what);
}

/* hw 4.9, 5.4 */
static void test_qp(void)
{
	struct pvrdma_cmd_create_qp good;
	uint32_t wr, sge;
	struct guest *guest;
	struct lab lab;
	size_t i;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	wr = guest->dsr->caps.max_qp_wr;
	sge = guest->dsr->caps.max_sge;
	good = right(guest);
	const struct change changes[] = {
		{ "a QP that fits its pages", true },
		{ "a page of the SQ too few", .send_chunks = 1 },
		{ "a page of the RQ too few", .total_chunks = 4 },
		{ "no page of the RQ", .total_chunks = 3 },
		{ "fewer pages than those of the SQ", .total_chunks = 2 },
		{ "none", .total_chunks = NONE },
		{ "none of the SQ", .send_chunks = NONE },
		{ "three SGEs make no difference to a send", true, .send_sge = 3 },
		{ "four take twice the room", .send_sge = 4 },
		{ "for which there may be pages", true, .send_sge = 4, .send_chunks = 4,
		  .total_chunks = 7 },
		{ "two SGEs of a receive take twice the room", .recv_sge = 2 },
		{ "for which there may be pages, too", true, .recv_sge = 2, .total_chunks = 7 },
		{ "an SQ of 63", .send_wr = 63 },
		{ "an RQ of 255", .recv_wr = 255 },
		{ "an SQ of none", .send_wr = NONE },
		{ "an RQ of none", .recv_wr = NONE },
		{ "as many sends as the adapter has", true, .send_wr = wr, .send_chunks = 512,
		  .total_chunks = 515 },
		{ "more", .send_wr = 2 * wr, .send_chunks = 512, .total_chunks = 515 },
		{ "more receives", .recv_wr = 2 * wr, .total_chunks = 600 },
		{ "as many SGEs as it takes", true, .send_sge = sge, .recv_sge = sge,
		  .send_chunks = 500, .total_chunks = 1000 },
		{ "more pages than any QP needs", .total_chunks = 4000 },
		{ "one more of a send", .send_sge = sge + 1, .recv_sge = sge,
		  .send_chunks = 500, .total_chunks = 1000 },
		{ "one more of a receive", .send_sge = sge, .recv_sge = sge + 1,
		  .send_chunks = 500, .total_chunks = 1000 },
		{ "a type that there is not", .type = 3 },
	};

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		try_qp(guest, good, &changes[i]);
	lab_close(&lab);
}

/* hw 4.8: both take the number of the response for the size of the ring. */
static void test_cq(void)
{
	struct pvrdma_cmd_create_cq cmd = { .chunks = 2 };
	const struct pvrdma_resp_handle *resp;
	unsigned int right = 0;
	struct guest *guest;
	uint32_t cqe;
	struct lab lab;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	resp = (void *)guest->resp;
	cmd.directory = guest_directory(guest, guest_alloc(guest, 520), 520);
	for (cqe = 1; cqe <= guest->dsr->caps.max_cqe; cqe *= 2) {
		cmd.cqe = cqe;
		cmd.chunks = 1 + (cqe * 64 + GUEST_PAGE - 1) / GUEST_PAGE;
		right += !guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cmd, sizeof(cmd)) &&
			 resp->cqe == cqe;
	}
	ok(right == 15, "a CQ has the number of entries that was asked for: %u of 15", right);
	cmd.cqe = cqe;
	cmd.chunks = 520;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cmd, sizeof(cmd)), "more than there are");
	cmd.cqe = 0;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cmd, sizeof(cmd)), "or none");
	lab_close(&lab);
}

/*
 * All there can be of a kind, then one of them again: as many as the limit says, with handles
 * from 1 on, of which @used exist.
 */
static bool all_below(struct guest *guest, uint32_t create, uint32_t destroy, void *cmd, size_t size,
		      uint32_t limit, uint32_t used)
{
	bool v2 = create == PVRDMA_CMD_CREATE_QP && guest->version >= PVRDMA_VERSION_QP_HANDLE;
	const struct pvrdma_resp_create_qp *qp = (void *)guest->resp;
	const struct pvrdma_resp_handle *resp = (void *)guest->resp;
	uint32_t n = 0, lowest = UINT32_MAX, highest = 0, handle = 0, i;

	for (; !guest_command(guest, create, cmd, size) && n < 2 * limit; n++) {
		handle = v2 ? qp->handle : resp->handle;
		lowest = handle < lowest ? handle : lowest;
		highest = handle > highest ? handle : highest;
	}
	printf("# %u, from %u to %u\n", n, lowest, highest);
	if (n != limit - used || lowest != 1 + used || highest != limit)
		return false;
	/* Many laps of one that comes and goes. */
	for (i = 0; i < 3 * limit; i++) {
		if (guest_about(guest, destroy, handle) || guest_command(guest, create, cmd, size))
			return false;
		handle = v2 ? qp->handle : resp->handle;
		if (handle < 1 || handle > limit)
			return false;
	}
	return guest_command(guest, create, cmd, size) != 0;
}

/* hw 3.2: handles index the driver's tables, which have as many entries. */
static void test_handles(unsigned int version, uint32_t limit)
{
	const struct pvrdma_caps *caps;
	struct model_limits limits = model_default_limits;
	struct pvrdma_cmd_create_srq srq = { .chunks = 2, .attr = { .max_wr = 16, .max_sge = 1 } };
	struct pvrdma_cmd_create_cq cq = { .chunks = 2, .cqe = 64 };
	struct pvrdma_cmd_create_qp qp;
	struct backend *backend;
	struct guest *guest;
	struct lab lab;

	limits.qps = limits.cqs = limits.srqs = limit;
	guest_must(!backend_soft_open(NULL, &backend), "backend");
	lab_open_limited(&lab, version, backend, &limits);
	guest = &lab.guests[0];
	guest_probe(guest);
	caps = &guest->dsr->caps;
	ok(caps->max_qp == limit + 1 && caps->max_cq == limit + 1 && caps->max_srq == limit + 1,
	   "the driver's tables have room for %u handles, version %u", limit, version);
	qp = right(guest);
	ok(all_below(guest, PVRDMA_CMD_CREATE_QP, PVRDMA_CMD_DESTROY_QP, &qp, sizeof(qp), limit,
		     version < PVRDMA_VERSION_QP_HANDLE),
	   "there are as many QPs (before version 20, one is QP 1)");
	cq.directory = srq.directory = qp.directory;
	srq.pd = qp.pd;
	/* One belongs to the QPs. */
	ok(limit == 1 || all_below(guest, PVRDMA_CMD_CREATE_CQ, PVRDMA_CMD_DESTROY_CQ, &cq,
				   sizeof(cq), limit, 1), "as many CQs");
	ok(all_below(guest, PVRDMA_CMD_CREATE_SRQ, PVRDMA_CMD_DESTROY_SRQ, &srq, sizeof(srq), limit,
		     0), "and as many SRQs");
	lab_close(&lab);
}

/* Queues whose pages are in three tables of their directory: 1 + 512 + 512 of them. */
static void test_directories(void)
{
	struct guest_qp_want want = { .depth = 4096, .sge = 16, .type = PVRDMA_QPT_RC };
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	uint32_t i, n, right = 0;
	struct pvrdma_cqe cqe;
	struct pair pair;

	pair_open(&pair);
	for (i = 0; i < 2; i++) {
		want.pd = pair.pd[i];
		want.cq = &pair.cq[i];
		pair.qp[i] = guest_qp(&pair.lab.guests[i], &want);
	}
	pair_reconnect(&pair);
	for (i = 0; i < 4096 + 32; i += n) {
		for (n = 0; n < 32; n++) {
			guest_recv(&pair.qp[1], 5000 + i + n, &pair.mr[1], 0, 8);
			sqe.wr_id = i + n;
			guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
		}
		lab_run(&pair.lab);
		for (n = 0; n < 32; n++) {
			right += guest_poll(&pair.cq[0], &cqe) && cqe.wr_id == i + n && !cqe.status;
			right += guest_poll(&pair.cq[1], &cqe) && cqe.wr_id == 5000 + i + n &&
				 !cqe.status;
		}
	}
	ok(right == 2 * (4096 + 32), "rings with directories of several tables: %u", right);
	lab_close(&pair.lab);
}

int main(void)
{
	test_qp();
	test_cq();
	test_handles(20, 8);
	test_handles(20, 1);
	test_handles(17, 8);
	test_directories();
	return done();
}
