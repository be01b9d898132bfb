// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data between a guest of eadm-pvrdma --backend verbs and a native peer: RC, UD, SRQ,
 * errors.
 *
 * Usage: verbs-data SOCKET ADDRESS PEER-PORT
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Within a page. */
#define AREA 0x7f1234560058ull
#define PAGES 640u
#define MEGA (1u << 20)

static struct driver driver;
static struct area area;
static struct guest_qp qp;

static struct pvrdma_sqe request(uint32_t opcode, uint32_t flags)
{
	struct pvrdma_sqe sqe = { .wr_id = 7, .opcode = opcode, .flags = flags };

	sqe.rdma.addr = driver.remote.address;
	sqe.rdma.rkey = driver.remote.rkey;
	return sqe;
}

static bool done_with(uint32_t opcode, uint32_t status, uint32_t length)
{
	struct pvrdma_cqe cqe = { 0 };

	if (driver_wait(&driver, &cqe) && cqe.wr_id == 7 && cqe.qp == qp.handle &&
	    cqe.opcode == opcode && cqe.status == status && (!length || cqe.length == length))
		return true;
	printf("# wr_id %" PRIu64 ", QP %" PRIu64 ", opcode %u, status %u, %u bytes\n",
	       (uint64_t)cqe.wr_id, (uint64_t)cqe.qp, cqe.opcode, cqe.status, cqe.length);
	return false;
}

/* Any error: devices differ in which. */
static bool refused(uint32_t opcode)
{
	struct pvrdma_cqe cqe = { 0 };

	if (driver_wait(&driver, &cqe) && cqe.wr_id == 7 && cqe.qp == qp.handle &&
	    cqe.opcode == opcode && cqe.status)
		return true;
	printf("# wr_id %" PRIu64 ", QP %" PRIu64 ", opcode %u, status %u\n", (uint64_t)cqe.wr_id,
	       (uint64_t)cqe.qp, cqe.opcode, cqe.status);
	return false;
}

static void test_send(void)
{
	struct pvrdma_sqe sqe = request(PVRDMA_WR_SEND, PVRDMA_WR_SIGNALED);
	struct pvrdma_cqe cqe;

	area_fill(&driver, &area, 100, MEGA, 3);
	peer_says(&driver, "ok", "recv 1 %u", MEGA);
	guest_send(&qp, &sqe, &area.mr, 100, MEGA);
	ok(done_with(PVRDMA_WC_SEND, 0, 0), "a send of 1 MiB from scattered pages completes");
	ok(peer_says(&driver, "0 1048576 128 0 0", "wait 1") &&
	   peer_says(&driver, "ok", "check 0 %u 3", MEGA), "and has arrived");
	guest_recv(&qp, 7, &area.mr, 100, MEGA);
	peer_says(&driver, "ok", "fill 0 %u 9", MEGA);
	peer_ask(&driver, "imm 0 %u", MEGA);
	ok(driver_wait(&driver, &cqe) && cqe.wr_id == 7 && cqe.opcode == PVRDMA_WC_RECV &&
	   cqe.length == MEGA && cqe.flags == PVRDMA_WC_IMM && ntohl(cqe.imm) == 0xfeedbeef &&
	   area_is(&driver, &area, 100, MEGA, 9), "one of the peer's arrives, with immediate data");
	ok(!strncmp(peer_answer(&driver), "0 ", 2), "and completes");
}

static void test_rdma(void)
{
	struct pvrdma_sqe sqe = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);

	area_fill(&driver, &area, 0, MEGA, 21);
	guest_send(&qp, &sqe, &area.mr, 0, MEGA);
	ok(done_with(PVRDMA_WC_WRITE, 0, 0) && peer_says(&driver, "ok", "check 0 %u 15", MEGA),
	   "a write of 1 MiB");
	peer_says(&driver, "ok", "fill 0 %u 4d", MEGA);
	sqe.opcode = PVRDMA_WR_READ;
	guest_send(&qp, &sqe, &area.mr, 8, MEGA);
	ok(done_with(PVRDMA_WC_READ, 0, MEGA) && area_is(&driver, &area, 8, MEGA, 0x4d),
	   "a read of 1 MiB");
	peer_says(&driver, "ok", "fill 4096 %u 5", MEGA);
	peer_ask(&driver, "write 4096 %u %llx %x", MEGA, AREA + 4099, area.mr.rkey);
	ok(!strncmp(peer_answer(&driver), "0 ", 2) &&
	   area_is(&driver, &area, 4099, MEGA, 5), "the peer writes to the guest's memory");
	area_fill(&driver, &area, 64, MEGA, 0x2a);
	ok(!strncmp((peer_ask(&driver, "read 0 %u %llx %x", MEGA, AREA + 64, area.mr.rkey),
		     peer_answer(&driver)), "0 ", 2) &&
	   peer_says(&driver, "ok", "check 0 %u 2a", MEGA), "and reads from there");
}

static void test_atomic(void)
{
	struct pvrdma_sqe sqe = request(PVRDMA_WR_FETCH_ADD, PVRDMA_WR_SIGNALED);
	uint64_t *local = guest_at(&driver.guest, area.pages[0] + AREA % GUEST_PAGE), before;

	peer_says(&driver, "ok", "fill 0 16 1");
	memcpy(&before, (unsigned char[]){ 1, 32, 63, 94, 125, 156, 187, 218 }, sizeof(before));
	sqe.atomic.addr = driver.remote.address;
	sqe.atomic.rkey = driver.remote.rkey;
	sqe.atomic.compare_add = 11;
	guest_send(&qp, &sqe, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_FETCH_ADD, 0, 8) && *local == before, "fetch and add gives the old value");
	sqe.opcode = PVRDMA_WR_CMP_SWAP;
	sqe.atomic.compare_add = before + 11;
	sqe.atomic.swap = 1;
	guest_send(&qp, &sqe, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_CMP_SWAP, 0, 8) && *local == before + 11, "compare and swap as well");
	*local = 100;
	peer_ask(&driver, "add 0 8 %llx %x", AREA, area.mr.rkey);
	ok(!strncmp(peer_answer(&driver), "0 ", 2) && *local == 105, "the peer adds in the guest's memory");
}

/* More requests than a queue has, most of which nobody wants to hear of. */
static void test_unsignaled(void)
{
	struct pvrdma_sqe sqe = request(PVRDMA_WR_WRITE, 0);
	struct pvrdma_cqe cqe;
	unsigned int i;
	bool well = true;

	for (i = 0; i < 400 && well; i++) {
		sqe.wr_id = i;
		sqe.flags = i % 50 == 49 ? PVRDMA_WR_SIGNALED : 0;
		sqe.rdma.addr = driver.remote.address + i * 8;
		guest_send(&qp, &sqe, &area.mr, i * 8, 8);
		if (sqe.flags)
			well = driver_wait(&driver, &cqe) && cqe.wr_id == i && !cqe.status;
	}
	ok(well && !guest_poll(&driver.cq, &cqe),
	   "of 400 writes the guest hears of those that it wants to");
}

static void connect_rc(uint32_t srq)
{
	qp = driver_qp(&driver, PVRDMA_QPT_RC, 64, srq);
	guest_must(peer_connect(&driver, &qp, "rc"), "an RC connection");
}

static void test_rc(void)
{
	struct guest *guest = &driver.guest;

	connect_rc(0);
	ok(guest_state(&qp) == PVRDMA_QPS_RTS, "a QP is connected with the peer's");
	test_send();
	test_rdma();
	test_atomic();
	test_unsignaled();
	driver_destroy(&driver, &qp);
	ok(guest->events->prod_tail == 0, "no event has come");
}

static void test_refused(void)
{
	struct pvrdma_sqe good = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED), bad;
	struct guest_mr none = area.mr;

	connect_rc(0);
	good = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);
	bad = request(PVRDMA_WR_LOCAL_INV + 4, PVRDMA_WR_SIGNALED);
	guest_send(&qp, &good, &area.mr, 0, 8);
	/* rdma_rxe flushes what is under way as well. */
	ok(done_with(PVRDMA_WC_WRITE, 0, 0), "a request");
	guest_send(&qp, &bad, &area.mr, 0, 8);
	guest_send(&qp, &good, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_SEND, 2, 0), "one that cannot be fails");
	ok(done_with(PVRDMA_WC_WRITE, 5, 0) && guest_state(&qp) == PVRDMA_QPS_ERR,
	   "what is behind it is flushed");
	driver_destroy(&driver, &qp);

	connect_rc(0);
	none.lkey ^= 0x100;
	good = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);
	guest_send(&qp, &good, &none, 0, 8);
	/* rdma_rxe of Linux 6.12 flushes it, that of 6.1 reports an error of the QP's operation. */
	ok(refused(PVRDMA_WC_WRITE), "a key that is not the guest's is refused by the device");
	driver_destroy(&driver, &qp);

	connect_rc(0);
	good = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);
	good.rdma.rkey ^= 0x100;
	guest_send(&qp, &good, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_WRITE, 10, 0), "a remote key that is not the peer's, by the peer");
	driver_destroy(&driver, &qp);
}

static void test_reset(void)
{
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_RESET };
	struct pvrdma_sqe sqe;
	struct pvrdma_cqe cqe;

	connect_rc(0);
	guest_recv(&qp, 1, &area.mr, 0, 64);
	ok(!guest_modify(&qp, 1, &attr) && guest_state(&qp) == PVRDMA_QPS_RESET, "a QP is reset");
	memset(qp.header, 0, sizeof(*qp.header));
	guest_must(peer_connect(&driver, &qp, "rc"), "a connection anew");
	sqe = request(PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);
	guest_send(&qp, &sqe, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_WRITE, 0, 0), "and connected once more");
	guest_recv(&qp, 2, &area.mr, 0, 64);
	attr.state = PVRDMA_QPS_ERR;
	ok(!guest_modify(&qp, 1, &attr) && driver_wait(&driver, &cqe) && cqe.wr_id == 2 &&
	   cqe.status == 5, "in ERR, its receives are flushed, and none of before the reset");
	driver_destroy(&driver, &qp);
}

static void test_ud(void)
{
	struct pvrdma_sqe sqe = request(PVRDMA_WR_SEND, PVRDMA_WR_SIGNALED);
	struct pvrdma_cqe cqe = { 0 };
	char expected[64];

	qp = driver_qp(&driver, PVRDMA_QPT_UD, 64, 0);
	ok(peer_connect(&driver, &qp, "ud"), "a UD QP");
	memset(&sqe.ud, 0, sizeof(sqe.ud));
	sqe.ud.qpn = driver.remote.qpn;
	sqe.ud.qkey = QKEY;
	sqe.ud.av.port_pd = 1u << 24 | driver.pd;
	sqe.ud.av.hop_limit = 64;
	memcpy(sqe.ud.av.dgid, driver.remote.gid, 16);
	area_fill(&driver, &area, 0, 900, 77);
	peer_says(&driver, "ok", "recv 2 2048");
	guest_send(&qp, &sqe, &area.mr, 0, 900);
	guest_send(&qp, &sqe, &area.mr, 0, 900);
	ok(done_with(PVRDMA_WC_SEND, 0, 0) && done_with(PVRDMA_WC_SEND, 0, 0), "two datagrams");
	snprintf(expected, sizeof(expected), "0 940 128 0 %x", qp.qpn);
	ok(peer_says(&driver, expected, "wait 2") && peer_says(&driver, "ok", "check 40 900 4d"),
	   "arrive, with the guest's QPN");
	guest_recv(&qp, 7, &area.mr, 0, 2048);
	peer_says(&driver, "ok", "fill 0 1000 63");
	peer_ask(&driver, "send 0 1000");
	ok(driver_wait(&driver, &cqe) && cqe.wr_id == 7 && cqe.length == 1040 &&
	   cqe.src_qpn == driver.remote.qpn && cqe.flags & PVRDMA_WC_GRH &&
	   area_is(&driver, &area, 40, 1000, 0x63), "one of the peer's arrives");
	peer_answer(&driver);
	/* Nobody is there; the next one is for somebody who is. */
	sqe.ud.av.dgid[15] = 77;
	guest_send(&qp, &sqe, &area.mr, 0, 900);
	sqe.ud.av.dgid[15] = driver.remote.gid[15];
	peer_says(&driver, "ok", "recv 1 2048");
	guest_send(&qp, &sqe, &area.mr, 0, 900);
	ok(done_with(PVRDMA_WC_SEND, 0, 0) && done_with(PVRDMA_WC_SEND, 0, 0) &&
	   peer_says(&driver, expected, "wait 1"), "one for nobody is lost, and holds nothing up");
	sqe.opcode = PVRDMA_WR_WRITE;
	guest_send(&qp, &sqe, &area.mr, 0, 8);
	ok(done_with(PVRDMA_WC_WRITE, 2, 0), "there are no writes");
	driver_destroy(&driver, &qp);
}

static uint32_t make_srq(struct pvrdma_ring_header **header, unsigned char **elements)
{
	struct pvrdma_cmd_create_srq cmd = {
		.pd = driver.pd, .chunks = 2, .attr = { .max_wr = 64, .max_sge = 1 },
	};
	uint64_t address = guest_alloc(&driver.guest, 2);

	cmd.directory = guest_directory(&driver.guest, address, 2);
	guest_must(!guest_command(&driver.guest, PVRDMA_CMD_CREATE_SRQ, &cmd, sizeof(cmd)), "SRQ");
	*header = guest_at(&driver.guest, address);
	*elements = guest_at(&driver.guest, address + GUEST_PAGE);
	return ((struct pvrdma_resp_handle *)(void *)driver.guest.resp)->handle;
}

static void post_srq(struct pvrdma_ring_header *header, unsigned char *elements, uint32_t srq,
		     unsigned int count)
{
	struct pvrdma_sge sge = { area.mr.address, 4096, area.mr.lkey };
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct pvrdma_rqe rqe = { .wr_id = 200 + i, .num_sge = 1 };
		unsigned char *to = elements + (header->rx.prod_tail & 63) * 32;

		memcpy(to, &rqe, sizeof(rqe));
		memcpy(to + sizeof(rqe), &sge, sizeof(sge));
		header->rx.prod_tail = (header->rx.prod_tail + 1) & 127;
	}
	guest_ring(&driver.guest, 0, PVRDMA_UAR_SRQ, srq | PVRDMA_UAR_SRQ_RECV);
}

static void test_srq(void)
{
	struct pvrdma_cmd_modify_srq limit = { .mask = PVRDMA_SRQ_LIMIT, .attr.limit = 3 };
	struct pvrdma_ring_header *header;
	struct pvrdma_event event = { 0 };
	unsigned char *elements;
	struct pvrdma_cqe cqe;
	unsigned int i;
	uint32_t srq;
	bool well = true;

	srq = make_srq(&header, &elements);
	connect_rc(srq);
	post_srq(header, elements, srq, 4);
	limit.handle = srq;
	ok(!guest_command(&driver.guest, PVRDMA_CMD_MODIFY_SRQ, &limit, sizeof(limit)),
	   "an SRQ with a limit");
	for (i = 0; i < 3; i++) {
		peer_ask(&driver, "send 0 64");
		well &= driver_wait(&driver, &cqe) && cqe.wr_id == 200 + i && cqe.length == 64;
		peer_answer(&driver);
	}
	ok(well, "receives are taken from it");
	for (i = 0; i < 100 && !guest_event(&driver.guest, &event); i++)
		peer_says(&driver, "3", "state");
	ok(event.type == PVRDMA_EVENT_SRQ_LIMIT && event.info == srq, "an event says that it runs out");
	driver_destroy(&driver, &qp);
	ok(!guest_about(&driver.guest, PVRDMA_CMD_DESTROY_SRQ, srq), "it is destroyed");
}

/* The connection manager's, which is not the device's. */
static void test_qp1(void)
{
	struct guest_qp gsi = driver_qp(&driver, PVRDMA_QPT_GSI, 16, 0);
	struct pvrdma_sqe sqe = request(PVRDMA_WR_SEND, PVRDMA_WR_SIGNALED);
	struct pvrdma_cmd_create_mr cmd = { .pd = driver.pd, .access = 1, .flags = PVRDMA_MR_DMA };
	const struct pvrdma_resp_create_mr *resp = (void *)driver.guest.resp;
	struct guest_mr all = { .address = 0 };
	struct pvrdma_cqe cqe;
	uint64_t page = guest_alloc(&driver.guest, 1);

	ok(gsi.qpn == 1 && driver_ready(&gsi), "QP 1");
	ok(!guest_command(&driver.guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)),
	   "the kernel's memory region");
	all.lkey = resp->lkey;
	memset(&sqe.ud, 0, sizeof(sqe.ud));
	sqe.ud.qpn = 1;
	sqe.ud.qkey = PVRDMA_QKEY_OWN;
	sqe.ud.av.port_pd = 1u << 24 | driver.pd;
	memcpy(sqe.ud.av.dgid, driver.gid, 16);
	pattern_fill(guest_at(&driver.guest, page), 0, 256, 8);
	guest_recv(&gsi, 9, &all, page + 1024, 296);
	guest_send(&gsi, &sqe, &all, page, 256);
	ok(driver_wait_for(&driver, 2, &cqe) &&
	   pattern_is((unsigned char *)guest_at(&driver.guest, page) + 1064, 0, 256, 8),
	   "a datagram of the connection manager reaches the program's adapters");
	driver_destroy(&driver, &gsi);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	driver_open(&driver, argv[1], 64u << 20, 0);
	driver_bind(&driver, argv[2]);
	peer_open(&driver, argv[3]);
	ok(!(driver.guest.dsr->caps.bmme_flags), "no registration by work requests is offered");
	ok(area_open(&driver, &area, AREA, PAGES, true), "memory is registered");
	test_rc();
	test_refused();
	test_reset();
	test_ud();
	test_srq();
	test_qp1();
	area_close(&driver, &area);
	peer_close(&driver);
	driver_close(&driver);
	return done();
}
