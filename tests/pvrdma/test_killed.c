// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that is killed while guests exchange data, and its successor. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "served.h"
#include "tap.h"

#define RAM (1u << 20)
#define ROUNDS 20u
#define GUESTS 2u
/* A driver's access must not hang. It takes some milliseconds, on a busy machine up to a second. */
#define HANG_MS 10000
#define REQUESTS 8u

static const uint8_t gids[GUESTS] = { 1, 2 };
static struct served served;
static struct guest guests[GUESTS];
static struct traffic traffic;

static unsigned int ms_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned int)((now.tv_sec - from->tv_sec) * 1000 +
			      (now.tv_nsec - from->tv_nsec) / 1000000);
}

/* Requests that are under way when the program is killed. */
static void load(void)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { .addr = traffic.mr[1].address, .rkey = traffic.mr[1].rkey },
	};
	unsigned int i;

	for (i = 0; i < REQUESTS; i++)
		guest_send(&traffic.qp[0], &sqe, &traffic.mr[0], 0, TRAFFIC_SIZE);
}

/* By the connection, which is what a VMM waits at, and by the next access. */
static bool sees_the_end(struct guest *guest)
{
	struct pollfd fd = { .fd = guest->client.fd, .events = POLLIN };

	return poll(&fd, 1, HANG_MS) == 1 && client_ended(&guest->client) &&
	       guest_read(guest, PVRDMA_REG_VERSION) == ~0u;
}

/* One life of the program: it serves, and is killed. */
static bool live(unsigned int round, unsigned int *slowest)
{
	struct timespec killed;
	unsigned int i, took;
	bool well;

	served_start(&served);
	for (i = 0; i < GUESTS; i++)
		played_begin(&guests[i], gids[i]);
	traffic_open(&traffic, &guests[0], &guests[1], gids);
	well = traffic_verify(&traffic, round);
	load();
	clock_gettime(CLOCK_MONOTONIC, &killed);
	kill(served.pid, SIGKILL);
	for (i = 0; i < GUESTS; i++)
		well &= sees_the_end(&guests[i]);
	took = ms_since(&killed);
	if (took > *slowest)
		*slowest = took;
	for (i = 0; i < GUESTS; i++)
		guest_unplug(&guests[i]);
	well &= WTERMSIG(served_end(&served, SIGKILL)) == SIGKILL;
	return well;
}

int main(int argc, char **argv)
{
	unsigned int i, slowest = 0;

	if (argc != 2)
		return 2;
	served_open(&served, argv[1], GUESTS);
	for (i = 0; i < GUESTS; i++)
		played_open(&guests[i], served.paths[i], RAM);
	for (i = 0; i < ROUNDS && live(i, &slowest); i++)
		;
	ok(i == ROUNDS, "killed %u times under traffic: its clients see the end, its successor serves", i);
	printf("# both clients had seen it within %u ms\n", slowest);
	ok(slowest < HANG_MS, "without waiting for a limit");
	for (i = 0; i < GUESTS; i++)
		guest_close(&guests[i]);
	served_close(&served);
	return done();
}
