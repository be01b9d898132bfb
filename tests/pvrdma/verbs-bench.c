// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast a guest of eadm-pvrdma --backend verbs moves 1 MiB messages to the peer, as
 * perftest measures it: MiB/s.
 *
 * Usage: verbs-bench SOCKET ADDRESS PEER-PORT send|write COUNT DEPTH
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define AREA 0x7f4500000000ull
#define SIZE (1u << 20)

static struct driver driver;
static struct area area;
static struct guest_qp qp;

static void post(bool write)
{
	struct pvrdma_sqe sqe = {
		.opcode = write ? PVRDMA_WR_WRITE : PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
	};

	if (write)
		sqe.rdma = (struct pvrdma_wqe_rdma){ driver.remote.address, driver.remote.rkey };
	guest_send(&qp, &sqe, &area.mr, 0, SIZE);
}

int main(int argc, char **argv)
{
	unsigned int count, depth, posted, done;
	struct pvrdma_cqe cqe;
	uint64_t begin;
	bool write;

	if (argc != 7)
		return 2;
	write = !strcmp(argv[4], "write");
	count = (unsigned int)atoi(argv[5]);
	depth = (unsigned int)atoi(argv[6]);
	driver_open(&driver, argv[1], 32u << 20, 0);
	driver_bind(&driver, argv[2]);
	peer_open(&driver, argv[3]);
	guest_must(area_open(&driver, &area, AREA, SIZE / GUEST_PAGE, false), "memory");
	qp = driver_qp(&driver, PVRDMA_QPT_RC, depth, 0);
	guest_must(peer_connect(&driver, &qp, "rc"), "connection");
	if (!write)
		guest_must(peer_says(&driver, "ok", "recv %u %u", count, SIZE), "receives");
	begin = now_ns();
	for (posted = 0; posted < depth && posted < count; posted++)
		post(write);
	for (done = 0; done < count; done++) {
		guest_must(driver_wait_for(&driver, 1, &cqe), "completion");
		if (posted < count) {
			post(write);
			posted++;
		}
	}
	printf("%.2f\n", count * 1e9 / (double)(now_ns() - begin));
	driver_destroy(&driver, &qp);
	area_close(&driver, &area);
	peer_close(&driver);
	driver_close(&driver);
	return 0;
}
