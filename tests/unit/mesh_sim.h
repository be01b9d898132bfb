/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mesh without sockets and adapters: all hosts of it by a model of latencies. */
#ifndef MESH_SIM_H
#define MESH_SIM_H

#include "hub.h"

struct sim {
	uint32_t n, rails;
	bool all_pairs;
	/* The cause for which a direction fails, CAUSE_NONE: it works. */
	enum mesh_cause (*fails)(const struct sim *sim, const struct edge *edge);
	uint32_t absent, dead, hung;	/* ranks; UINT32_MAX: none */
	bool patient;			/* each loss costs a whole time-out */
	uint32_t when;			/* the round in which they die or hang */
	/* Set by sim_run(). */
	struct hub hub;
	struct faults faults;
	uint32_t rounds;		/* that the slowest host took */
	uint64_t took;			/* ns of simulated time */
	uint64_t messages_in, messages_out, bytes_in;
	size_t bytes;			/* memory of rank 0 */
	bool ok;			/* rank 0 accepted each message */
};

/* sim_free() in any case. */
void sim_run(struct sim *sim);
void sim_free(struct sim *sim);

/* "host 3 both lost; pair 1-2 out mtu": the whole list. */
void faults_text(const struct faults *faults, char *buf, size_t size);

#endif /* MESH_SIM_H */
