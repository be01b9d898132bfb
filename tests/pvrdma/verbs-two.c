// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two guests of one eadm-pvrdma --backend verbs, whose adapters share a device: data
 * between them, and what one does with the other's keys.
 *
 * Usage: verbs-two SOCKET ADDRESS SOCKET ADDRESS
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define AREA 0x7f4600000000ull
#define SIZE (256u << 10)

static struct driver drivers[2];
static struct area areas[2];
static struct guest_qp qps[2];

static bool connect_both(void)
{
	struct remote to[2] = { 0 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		qps[i] = driver_qp(&drivers[i], PVRDMA_QPT_RC, 16, 0);
		to[i].qpn = qps[i].qpn;
		memcpy(to[i].gid, drivers[i].gid, 16);
	}
	return driver_connect_until(&qps[0], &to[1], PVRDMA_QPS_RTS) &&
	       driver_connect_until(&qps[1], &to[0], PVRDMA_QPS_RTS);
}

static void disconnect_both(void)
{
	driver_destroy(&drivers[0], &qps[0]);
	driver_destroy(&drivers[1], &qps[1]);
}

static void post(unsigned int from, uint32_t opcode, uint32_t lkey, uint32_t rkey)
{
	struct pvrdma_sqe sqe = {
		.opcode = opcode, .flags = PVRDMA_WR_SIGNALED, .rdma = { AREA, rkey },
	};
	struct guest_mr mr = areas[from].mr;

	mr.lkey = lkey;
	guest_send(&qps[from], &sqe, &mr, 0, SIZE);
}

static void test_data(void)
{
	struct pvrdma_cqe cqe;

	guest_must(connect_both(), "a connection");
	area_fill(&drivers[0], &areas[0], 0, SIZE, 1);
	post(0, PVRDMA_WR_WRITE, areas[0].mr.lkey, areas[1].mr.rkey);
	ok(driver_wait_for(&drivers[0], 1, &cqe) && area_is(&drivers[1], &areas[1], 0, SIZE, 1),
	   "one writes to the other");
	area_fill(&drivers[1], &areas[1], 0, SIZE, 2);
	guest_recv(&qps[0], 5, &areas[0].mr, 0, SIZE);
	post(1, PVRDMA_WR_SEND, areas[1].mr.lkey, 0);
	ok(driver_wait_for(&drivers[1], 1, &cqe) && driver_wait_for(&drivers[0], 1, &cqe) &&
	   cqe.wr_id == 5 && area_is(&drivers[0], &areas[0], 0, SIZE, 2), "which sends to the first");
	disconnect_both();
}

static void test_keys(void)
{
	struct pvrdma_cqe cqe = { 0 };

	guest_must(connect_both(), "a connection");
	area_fill(&drivers[0], &areas[0], 0, SIZE, 3);
	post(0, PVRDMA_WR_WRITE, areas[1].mr.lkey, areas[1].mr.rkey);
	ok(driver_wait(&drivers[0], &cqe) && cqe.status, "a guest cannot send what another one has registered");
	ok(area_is(&drivers[1], &areas[1], 0, SIZE, 2), "nothing has changed there");
	disconnect_both();
}

/* Of the connection manager, as the guests' kernels send them. */
static void test_datagram(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	struct pvrdma_cmd_create_mr cmd = { .access = 1, .flags = PVRDMA_MR_DMA };
	struct guest_mr all[2] = { { 0 }, { 0 } };
	struct guest_qp gsi[2];
	struct pvrdma_cqe cqe;
	uint64_t page[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct guest *guest = &drivers[i].guest;

		gsi[i] = driver_qp(&drivers[i], PVRDMA_QPT_GSI, 16, 0);
		cmd.pd = drivers[i].pd;
		guest_must(driver_ready(&gsi[i]) &&
			   !guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)), "QP 1");
		all[i].lkey = ((struct pvrdma_resp_create_mr *)(void *)guest->resp)->lkey;
		page[i] = guest_alloc(guest, 1);
	}
	sqe.ud.qpn = 1;
	sqe.ud.qkey = PVRDMA_QKEY_OWN;
	sqe.ud.av.port_pd = 1u << 24 | drivers[0].pd;
	memcpy(sqe.ud.av.dgid, drivers[1].gid, 16);
	pattern_fill(guest_at(&drivers[0].guest, page[0]), 0, 256, 8);
	guest_recv(&gsi[1], 9, &all[1], page[1], 296);
	guest_send(&gsi[0], &sqe, &all[0], page[0], 256);
	ok(driver_wait_for(&drivers[1], 1, &cqe) && cqe.length == 296 && cqe.src_qpn == 1 &&
	   cqe.flags & PVRDMA_WC_GRH && cqe.net_type == PVRDMA_NET_IPV4 &&
	   pattern_is((unsigned char *)guest_at(&drivers[1].guest, page[1]) + 40, 0, 256, 8),
	   "a datagram of one's connection manager reaches the other's");
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < 2; i++) {
		driver_open(&drivers[i], argv[1 + 2 * i], 32u << 20, 0);
		driver_bind(&drivers[i], argv[2 + 2 * i]);
		guest_must(area_open(&drivers[i], &areas[i], AREA, SIZE / GUEST_PAGE, true), "memory");
	}
	test_data();
	test_keys();
	test_datagram();
	for (i = 0; i < 2; i++)
		driver_close(&drivers[i]);
	return done();
}
