// SPDX-License-Identifier: GPL-2.0-or-later
#include "mesh_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

#define PAIR_NS 20000000	/* set-up and traffic of two adapters */
#define TIMEOUT_MS 10000
#define GRACE_NS 500000000	/* after the view of the end that gives up first */
#define ALONE_NS 2000000000	/* until rank 0 releases two hosts that cannot meet */
#define BEAT_NS 1000000000

/* What a member has that is not in the hub. */
struct host {
	struct lane lane, hub_lane;
	uint8_t batch[FRAME_MAX];
	size_t len;
	uint64_t time, beat;
	uint32_t losses[MESH_MAX_RAILS], missed;
	bool gone;
};

struct run {
	struct sim *sim;
	struct host *hosts;
};

static void send_one(struct run *run, uint32_t rank, uint8_t kind, const void *data,
		 size_t len)
{
	struct host *host = &run->hosts[rank];
	uint8_t buf[FRAME_ROOM];
	struct frame frame;
	size_t n = frame_seal(&host->lane, kind, data, len, buf);

	if (frame_open(&host->hub_lane, buf, n, &frame) != FRAME_OK ||
	    hub_take(&run->sim->hub, rank, &frame, host->time))
		run->sim->ok = false;
}

static void send_batch(struct run *run, uint32_t rank)
{
	struct host *host = &run->hosts[rank];

	if (host->len)
		send_one(run, rank, MESSAGE_RESULTS, host->batch, host->len);
	host->len = 0;
	host->beat = host->time;
}

/* 5 us, and up to 2 us for each bit in which the ranks differ: a tree of switches. */
static void model(const struct sim *sim, struct edge *r)
{
	uint32_t x = (r->from ^ r->to) * 2654435761u;

	r->cause = sim->fails ? sim->fails(sim, r) : CAUSE_NONE;
	r->reached = !r->cause;
	r->mtu = 4096;
	if (!r->reached)
		return;
	r->min = 5000 + 200 * (32 - __builtin_clz(r->from ^ r->to)) + x % 500;
	r->p50 = r->min + 300 + x % 211;
	r->p99 = 2 * r->p50;
}

/* A pair without TCP waits once, all others for each loss. */
static uint64_t time_of(struct run *run, const struct edge r[2])
{
	struct host *x = &run->hosts[r->from], *y = &run->hosts[r->to];
	uint32_t *a = &x->losses[r->from_rail], *b = &y->losses[r->to_rail];
	uint32_t losses = *a > *b ? *a : *b;
	uint32_t missed = x->missed > y->missed ? x->missed : y->missed;
	bool control = r[0].cause == CAUSE_CONTROL;
	bool lost = !r[0].reached || !r[1].reached;

	x->missed = mesh_losses(x->missed, control);
	y->missed = mesh_losses(y->missed, control);
	if (control)
		return missed >= MESH_LOSSES && !run->sim->patient ? ALONE_NS :
		       TIMEOUT_MS * 1000000ULL;
	*a = mesh_losses(*a, lost);
	*b = mesh_losses(*b, lost);
	if (!lost)
		return PAIR_NS;
	if (run->sim->patient)
		return PAIR_NS + TIMEOUT_MS * 1000000ULL;
	return PAIR_NS + mesh_patience(TIMEOUT_MS, losses) * 1000000ULL +
	       (losses >= MESH_LOSSES ? GRACE_NS : 0);
}

static void report(struct run *run, uint32_t a, uint32_t b, unsigned int i,
		   unsigned int j)
{
	struct host *host = &run->hosts[a];
	struct edge r[2] = {
		{ .from = a, .to = b, .from_rail = i, .to_rail = j },
		{ .from = b, .to = a, .from_rail = j, .to_rail = i },
	};
	int way;

	model(run->sim, &r[0]);
	model(run->sim, &r[1]);
	host->time += time_of(run, r);
	for (way = 0; way < 2; way++) {
		/* A pair ends with the small message that does not arrive. */
		r[way].partial = r[way].reached && !r[!way].reached &&
				 r[!way].cause != CAUSE_MTU;
		if (host->len + RESULT_MOST > FRAME_MAX)
			send_batch(run, a);
		host->len += result_write(&r[way], host->batch + host->len);
	}
}

/* Once per second: results, or a keep-alive. */
static void beat(struct run *run, uint32_t rank)
{
	struct host *host = &run->hosts[rank];
	uint8_t data[8];

	if (host->time - host->beat < BEAT_NS)
		return;
	if (!host->len)
		send_one(run, rank, MESSAGE_BEAT, data, number_write(0, 0, data));
	send_batch(run, rank);
}

static void meet(struct run *run, uint32_t a, uint32_t b)
{
	struct sim *sim = run->sim;
	struct host *x = &run->hosts[a], *y = &run->hosts[b];
	unsigned int i, j;

	if (x->time < y->time)
		x->time = y->time;
	for (i = 0; i < sim->rails; i++) {
		for (j = 0; j < sim->rails; j++) {
			if (sim->all_pairs || i == j)
				report(run, a, b, i, j);
		}
	}
	y->time = x->time;
	beat(run, a);
	beat(run, b);
}

/* A partner that died costs nothing, one that hangs the time until rank 0 gives it up. */
static void end_hosts(struct run *run, uint32_t round)
{
	struct sim *sim = run->sim;
	uint32_t partner;

	if (sim->when != round)
		return;
	if (sim->dead < sim->n) {
		run->hosts[sim->dead].gone = true;
		hub_lose(&sim->hub, sim->dead, CAUSE_DIED);
	}
	if (sim->hung < sim->n) {
		run->hosts[sim->hung].gone = true;
		hub_lose(&sim->hub, sim->hung, CAUSE_HUNG);
		partner = mesh_partner(sim->n, round, sim->hung);
		if (partner != sim->hung)
			run->hosts[partner].time += sim->hub.silence;
	}
}

static void play(struct run *run)
{
	struct sim *sim = run->sim;
	uint32_t round, rank, partner;

	sim->rounds = mesh_rounds(sim->n);
	for (round = 0; round < sim->rounds; round++) {
		end_hosts(run, round);
		for (rank = 0; rank < sim->n; rank++) {
			partner = mesh_partner(sim->n, round, rank);
			if (partner == rank || run->hosts[rank].gone ||
			    run->hosts[partner].gone ||
			    mesh_initiator(rank, partner) != rank)
				continue;
			meet(run, rank, partner);
		}
	}
	for (rank = 0; rank < sim->n; rank++) {
		if (run->hosts[rank].gone)
			continue;
		send_batch(run, rank);
		send_one(run, rank, MESSAGE_DONE, NULL, 0);
		if (run->hosts[rank].time > sim->took)
			sim->took = run->hosts[rank].time;
	}
}

/* What rank 0 sends each member before the tests, and notices after them. */
static void drain(struct run *run)
{
	uint8_t out[FRAME_MAX];
	uint32_t rank;
	size_t len;

	for (rank = 0; rank < run->sim->n; rank++) {
		while (hub_next(&run->sim->hub, rank, out, &len))
			;
	}
}

static void join(struct run *run, uint32_t rank)
{
	struct sim *sim = run->sim;
	struct host *host = &run->hosts[rank];
	struct hello hello = { .rank = rank, .ranks = sim->n,
			       .rails = sim->rails, .port = 1 };
	uint8_t a[FRAME_NONCE] = { rank }, b[FRAME_NONCE] = { rank >> 8 };

	lane_init(&host->lane, "secret", 6, a, b, true);
	lane_init(&host->hub_lane, "secret", 6, a, b, false);
	host->gone = rank == sim->absent;
	snprintf(hello.name, sizeof(hello.name), "node%u", rank);
	if (!host->gone && hub_join(&sim->hub, &hello, &in6addr_loopback, 0))
		sim->ok = false;
}

void sim_run(struct sim *sim)
{
	struct start start = { .ranks = sim->n, .all_pairs = sim->all_pairs,
			       .count = 100, .size = 4096,
			       .timeout = TIMEOUT_MS };
	struct run run = { .sim = sim };
	uint32_t rank;
	int ret;

	run.hosts = calloc(sim->n, sizeof(*run.hosts));
	sim->ok = run.hosts && !hub_init(&sim->hub, &start, 0, 0);
	if (!sim->ok)
		return;
	for (rank = 0; rank < sim->n; rank++)
		join(&run, rank);
	hub_tick(&sim->hub, 0, &ret);
	sim->ok = sim->ok && !ret;
	if (!ret) {
		drain(&run);
		play(&run);
		drain(&run);
	}
	sim->ok = sim->ok && hub_is_over(&sim->hub);
	free(run.hosts);
	sim->messages_in = sim->hub.n_received;
	sim->messages_out = sim->hub.n_sent;
	sim->bytes_in = sim->hub.bytes_received;
	sim->bytes = hub_bytes(&sim->hub);
	if (sim->ok && hub_faults(&sim->hub, &sim->faults))
		sim->ok = false;
	table_sort(&sim->hub.table);
}

void sim_free(struct sim *sim)
{
	faults_free(&sim->faults);
	hub_free(&sim->hub);
}

void faults_text(const struct faults *faults, char *buf, size_t size)
{
	const struct fault *f;
	size_t n = 0;
	uint32_t i, j;

	*buf = '\0';
	for (i = 0; i < faults->n; i++) {
		f = &faults->list[i];
		n += snprintf(buf + n, size - n, "%s%s", i ? "; " : "",
			      fault_kind_name(f->kind));
		for (j = 0; j < f->n_a && n < size; j++)
			n += snprintf(buf + n, size - n, "%c%u", j ? ',' : ' ',
				      f->a[j]);
		for (j = 0; j < f->n_b && n < size; j++)
			n += snprintf(buf + n, size - n, "%c%u", j ? ',' : '-',
				      f->b[j]);
		if (n < size && f->from_rail >= 0)
			n += snprintf(buf + n, size - n, " rail %d>%d",
				      f->from_rail, f->to_rail);
		if (n < size)
			n += snprintf(buf + n, size - n, " %s %s",
				      fault_way_name(f->way),
				      cause_name(f->cause));
		if (n >= size)
			return;
	}
}
