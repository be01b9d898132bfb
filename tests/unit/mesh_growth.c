// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds, messages and memory of rank 0 for meshes of growing size, and the time that
 * failures cost, by simulation: mesh_growth [HOSTS [RAILS]].
 */
#include "mesh_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef enum mesh_cause (*model)(const struct sim *sim, const struct edge *r);

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static enum mesh_cause lost(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from == 3 || r->to == 3 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause control(const struct sim *sim, const struct edge *r)
{
	return lost(sim, r) ? CAUSE_CONTROL : CAUSE_NONE;
}

static enum mesh_cause tenth(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from % 10 == 3 || r->to % 10 == 3 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause halves(const struct sim *sim, const struct edge *r)
{
	return (r->from < sim->n / 2) != (r->to < sim->n / 2) ? CAUSE_LOST :
								CAUSE_NONE;
}

static const struct scene {
	const char *name;
	model fails;
} scenes[] = {
	{ "none", NULL },
	{ "a host loses all packets", lost },
	{ "a host without TCP", control },
	{ "each tenth host loses all", tenth },
	{ "two halves without a path", halves },
};

/* Without the rules that shorten time-outs: the time only. */
static double patient(struct sim sim)
{
	double took;

	sim.patient = true;
	sim_run(&sim);
	took = sim.took / 1e9;
	sim_free(&sim);
	return took;
}

static int one(uint32_t n, uint32_t rails, const struct scene *scene)
{
	struct sim sim = { .n = n, .rails = rails, .absent = UINT32_MAX,
			   .dead = UINT32_MAX, .hung = UINT32_MAX,
			   .fails = scene->fails };
	double begun, before = patient(sim);
	bool good;

	begun = seconds();
	sim_run(&sim);
	good = sim.ok && (scene->fails ? sim.faults.n == 1 : !sim.faults.n);
	printf("%6u %5u %6u %10.1f %10.1f %9llu %9llu %7.1f %9.1f %6.2f  %-26s %s\n",
	       n, rails, sim.rounds, before, sim.took / 1e9,
	       (unsigned long long)sim.messages_in,
	       (unsigned long long)sim.messages_out, sim.bytes_in / 1e6,
	       sim.bytes / 1e6, seconds() - begun, scene->name,
	       good ? "ok" : "FAILED");
	fflush(stdout);
	sim_free(&sim);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 8, 16, 32, 64, 256, 1000, 4000, 10000 };
	uint32_t max = argc > 1 ? atoi(argv[1]) : 1000;
	uint32_t rails = argc > 2 ? atoi(argv[2]) : 1;
	int bad = nettle_open() != NULL;
	size_t i, j;

	printf("%6s %5s %6s %10s %10s %9s %9s %7s %9s %6s  %s\n", "hosts", "rails",
	       "rounds", "s, patient", "seconds", "received", "sent", "MB",
	       "memory/MB", "CPU/s", "fault");
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			if (sizes[j] <= max && !bad)
				bad = one(sizes[j], rails, &scenes[i]);
		}
	}
	return bad;
}
