// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds, messages and memory of rank 0 for meshes of growing size, by simulation:
 * mesh_growth [HOSTS [RAILS]].
 */
#include "mesh_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int one(uint32_t n, uint32_t rails)
{
	struct sim sim = { .n = n, .rails = rails, .absent = UINT32_MAX,
			   .dead = UINT32_MAX, .hung = UINT32_MAX };
	double begun = seconds();
	bool good;

	sim_run(&sim);
	good = sim.ok && !sim.faults.n;
	printf("%6u %5u %6u %10.1f %9llu %9llu %9.1f %9.1f %7.2f %s\n", n, rails,
	       sim.rounds, sim.took / 1e9,
	       (unsigned long long)sim.messages_in,
	       (unsigned long long)sim.messages_out, sim.bytes_in / 1e6,
	       sim.bytes / 1e6, seconds() - begun, good ? "ok" : "FAILED");
	sim_free(&sim);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 8, 16, 32, 64, 256, 1000, 4000, 10000 };
	uint32_t max = argc > 1 ? atoi(argv[1]) : 1000;
	uint32_t rails = argc > 2 ? atoi(argv[2]) : 1;
	int bad = nettle_open() != NULL;
	size_t i;

	printf("%6s %5s %6s %10s %9s %9s %9s %9s %7s\n", "hosts", "rails",
	       "rounds", "seconds", "received", "sent", "MB", "memory/MB", "CPU/s");
	for (i = 0; !bad && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] <= max)
			bad = one(sizes[i], rails);
	}
	return bad;
}
