// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic that ends because the wire is cut: writes to the peer until one fails. Says so
 * on descriptor 3 when the first ones are done.
 *
 * Usage: verbs-cut SOCKET ADDRESS PEER-PORT
 */
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"

#define AREA 0x7f4400000000ull
#define SIZE (64u << 10)
#define DEPTH 16

static struct driver driver;
static struct area area;
static struct guest_qp qp;

static void post(void)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { driver.remote.address, driver.remote.rkey },
	};

	guest_send(&qp, &sqe, &area.mr, 0, SIZE);
}

static uint32_t port_state(void)
{
	struct pvrdma_cmd_port cmd = { .port = 1 };
	const struct pvrdma_resp_port *resp = (void *)driver.guest.resp;

	guest_must(!guest_command(&driver.guest, PVRDMA_CMD_QUERY_PORT, &cmd, sizeof(cmd)), "QUERY_PORT");
	return resp->attr.state;
}

int main(int argc, char **argv)
{
	struct pvrdma_event event = { 0 };
	struct pvrdma_cqe cqe = { 0 };
	unsigned int posted, done = 0, flushed = 0;
	uint32_t first = 0;

	if (argc != 4)
		return 2;
	driver_open(&driver, argv[1], 32u << 20, 0);
	driver_bind(&driver, argv[2]);
	peer_open(&driver, argv[3]);
	guest_must(area_open(&driver, &area, AREA, SIZE / GUEST_PAGE, true), "memory");
	qp = driver_qp(&driver, PVRDMA_QPT_RC, DEPTH, 0);
	guest_must(peer_connect(&driver, &qp, "rc"), "connection");
	for (posted = 0; posted < DEPTH; posted++)
		post();
	while (!first && driver_wait(&driver, &cqe)) {
		first = cqe.status;
		if (first)
			break;
		if (++done == DEPTH && write(3, "under way\n", 10) != 10)
			return 1;
		post();
	}
	while (flushed < DEPTH - 1 && driver_wait(&driver, &cqe) && cqe.status == 5)
		flushed++;
	/* The device may notice the end of the link later than its packets' fate. */
	if (!guest_event(&driver.guest, &event) &&
	    guest_wait(NULL, driver.guest.irqs[PVRDMA_VECTOR_ASYNC]))
		guest_event(&driver.guest, &event);
	printf("# %u writes; then status %u; %u flushed; state %u; event %u; port state %u\n", done,
	       first, flushed, guest_state(&qp), event.type, port_state());
	if (!first || flushed != DEPTH - 1 || guest_state(&qp) != PVRDMA_QPS_ERR ||
	    event.type != PVRDMA_EVENT_PORT_ERR || port_state() != PVRDMA_PORT_DOWN)
		return 1;
	driver_destroy(&driver, &qp);
	area_close(&driver, &area);
	peer_close(&driver);
	driver_close(&driver);
	return 0;
}
