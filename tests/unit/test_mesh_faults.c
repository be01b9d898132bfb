// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults planted in a simulated mesh are named, and nothing else. */
#include "mesh_sim.h"

#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "tap.h"

#define NONE UINT32_MAX

static struct sim new_sim(uint32_t n, uint32_t rails,
			  enum mesh_cause (*fails)(const struct sim *sim,
						   const struct edge *edge))
{
	return (struct sim){ .n = n, .rails = rails, .fails = fails,
			     .absent = NONE, .dead = NONE, .hung = NONE };
}

static void found(struct sim *sim, const char *want, const char *name)
{
	char text[2000];

	sim_run(sim);
	faults_text(&sim->faults, text, sizeof(text));
	if (!ok(sim->ok && !strcmp(text, want), "%s", name))
		printf("# %s: \"%s\", not \"%s\"\n",
		       sim->ok ? "found" : "not accepted", text, want);
	sim_free(sim);
}

static bool between(const struct edge *r, uint32_t a, uint32_t b)
{
	return (r->from == a && r->to == b) || (r->from == b && r->to == a);
}

static bool touches(const struct edge *r, uint32_t host)
{
	return r->from == host || r->to == host;
}

/* ---- planted faults ------------------------------------------------------------------ */

static enum mesh_cause everything(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	(void)r;
	return CAUSE_LOST;
}

static enum mesh_cause one_host(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return touches(r, 5) ? CAUSE_MTU : CAUSE_NONE;
}

static enum mesh_cause one_host_lost(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return touches(r, 5) ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause inbound(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->to == 4 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause outbound(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from == 4 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause pair(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return between(r, 2, 6) ? CAUSE_NEIGHBOUR : CAUSE_NONE;
}

static enum mesh_cause one_way(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from == 2 && r->to == 6 ? CAUSE_LOST : CAUSE_NONE;
}

/* 0-3 and 4-7 have no route to each other; any other host has. */
static enum mesh_cause groups(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from < 8 && r->to < 8 && (r->from < 4) != (r->to < 4) ?
	       CAUSE_ROUTE : CAUSE_NONE;
}

static enum mesh_cause groups_one_way(const struct sim *sim,
				      const struct edge *r)
{
	(void)sim;
	return r->from < 4 && r->to > 3 && r->to < 8 ? CAUSE_ROUTE : CAUSE_NONE;
}

static enum mesh_cause among(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from % 4 == 1 && r->to % 4 == 1 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause rail(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from_rail == 1 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause rail_of_all(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from_rail == 1 || r->to_rail == 1 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause across(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from_rail != r->to_rail ? CAUSE_ROUTE : CAUSE_NONE;
}

static enum mesh_cause adapter(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return (r->from == 3 && r->from_rail == 1) ||
	       (r->to == 3 && r->to_rail == 1) ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause three(const struct sim *sim, const struct edge *r)
{
	enum mesh_cause cause = groups(sim, r);

	if (touches(r, 9))
		return CAUSE_MTU;
	if (r->to == 10)
		return CAUSE_LOST;
	return cause ? cause : between(r, 1, 11) ? CAUSE_NEIGHBOUR : CAUSE_NONE;
}

/* A pair of hosts of both groups that also fail for another reason elsewhere. */
static enum mesh_cause frayed(const struct sim *sim, const struct edge *r)
{
	enum mesh_cause cause = groups(sim, r);

	return cause ? cause : between(r, 0, 1) || between(r, 5, 12) ?
	       CAUSE_LOST : CAUSE_NONE;
}

/* Small messages from 3 reach 5, which large ones do not; they were not sent any more. */
static enum mesh_cause partial(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->to == 3 ? CAUSE_LOST :
	       touches(r, 5) && r->from != 3 ? CAUSE_MTU : CAUSE_NONE;
}

static enum mesh_cause partial_out(const struct sim *sim, const struct edge *r)
{
	(void)sim;
	return r->from == 3 ? CAUSE_LOST :
	       touches(r, 5) && r->to != 3 ? CAUSE_MTU : CAUSE_NONE;
}

static void check_single(void)
{
	struct sim sim = new_sim(16, 1, NULL);

	found(&sim, "", "without a fault, none is found");
	sim = new_sim(16, 1, everything);
	found(&sim, "all both lost", "no host reaches another one");
	sim = new_sim(16, 1, one_host);
	found(&sim, "host 5 both mtu", "a host that no other one reaches");
	sim = new_sim(16, 2, one_host);
	found(&sim, "host 5 both mtu", "a host, on both rails");
	sim = new_sim(16, 1, inbound);
	found(&sim, "host 4 in lost", "a host behind a firewall");
	sim = new_sim(16, 2, outbound);
	found(&sim, "host 4 out lost", "a host that cannot send");
	sim = new_sim(16, 1, pair);
	found(&sim, "pair 2-6 both neighbour", "a pair");
	sim = new_sim(16, 3, pair);
	found(&sim, "pair 2-6 both neighbour", "a pair on all rails is one fault");
	sim = new_sim(16, 1, one_way);
	found(&sim, "pair 2-6 out lost", "a direction of a pair");
	sim = new_sim(2, 1, everything);
	found(&sim, "pair 0-1 both lost", "the only pair");
}

static void check_groups(void)
{
	struct sim sim = new_sim(13, 1, groups);

	found(&sim, "groups 0,1,2,3-4,5,6,7 both route",
	      "two groups without a route");
	sim = new_sim(8, 1, groups);
	found(&sim, "groups 0,1,2,3-4,5,6,7 both route",
	      "two groups, which are all hosts");
	sim = new_sim(13, 2, groups);
	found(&sim, "groups 0,1,2,3-4,5,6,7 both route", "two groups, two rails");
	sim = new_sim(13, 1, groups_one_way);
	found(&sim, "groups 0,1,2,3-4,5,6,7 out route",
	      "two groups without a route in one direction");
	sim = new_sim(16, 1, among);
	found(&sim, "among 1,5,9,13-1,5,9,13 both lost",
	      "hosts that cannot reach each other");
	sim = new_sim(16, 1, three);
	found(&sim, "host 9 both mtu; host 10 in lost; groups 0,1,2,3-4,5,6,7 both route; pair 1-11 both neighbour",
	      "four faults at once");
	sim = new_sim(16, 1, frayed);
	found(&sim, "groups 0,1,2,3-4,5,6,7 both route; pair 0-1 both lost; pair 5-12 both lost",
	      "pairs of hosts that are in a group, too");
}

static void check_partial(void)
{
	struct sim sim = new_sim(7, 1, partial);

	found(&sim, "host 3 in lost; host 5 both mtu",
	      "a direction that was not tested to its end hides no host");
	sim = new_sim(7, 2, partial_out);
	found(&sim, "host 3 out lost; host 5 both mtu", "nor in the other direction");
}

static void check_rails(void)
{
	struct sim sim = new_sim(9, 2, rail);

	found(&sim, "rail rail 1>1 both lost", "a rail");
	sim = new_sim(9, 3, rail_of_all);
	sim.all_pairs = true;
	found(&sim, "rail rail 1>1 both lost", "a rail, with all pairs of adapters");
	sim = new_sim(9, 2, across);
	sim.all_pairs = true;
	found(&sim, "rail rail 0>1 both route", "rails that have no route to each other");
	sim = new_sim(9, 2, adapter);
	found(&sim, "adapter 3 rail 1>1 both lost", "an adapter");
	sim = new_sim(9, 3, adapter);
	sim.all_pairs = true;
	found(&sim, "adapter 3 rail 1>1 both lost",
	      "an adapter, with all pairs of adapters");
	sim = new_sim(9, 2, pair);
	sim.all_pairs = true;
	found(&sim, "pair 2-6 both neighbour",
	      "a pair of hosts, with all pairs of adapters");
	sim = new_sim(13, 2, groups);
	sim.all_pairs = true;
	found(&sim, "groups 0,1,2,3-4,5,6,7 both route",
	      "two groups, with all pairs of adapters");
}

static void check_ends(void)
{
	struct sim sim = new_sim(12, 1, NULL);
	uint64_t took;

	sim_run(&sim);
	took = sim.took;
	sim_free(&sim);
	sim = new_sim(12, 1, NULL);
	sim.absent = 3;
	sim.dead = 4;
	sim.hung = 5;
	sim.when = 6;
	found(&sim, "host 3 both absent; host 4 both died; host 5 both hung",
	      "hosts that do not join, die and hang");
	sim.hub = (struct hub){ 0 };
	sim_run(&sim);
	ok(sim.took <= took + 30000000000, "they cost one time-out");
	sim_free(&sim);
	sim = new_sim(64, 1, one_host_lost);
	sim_run(&sim);
	ok(sim.took < 150000000000, "a host whose packets are lost costs 150 s of 64");
	sim_free(&sim);
	sim = new_sim(12, 1, three);
	sim.absent = 11;
	sim.dead = 0;
	sim.when = 4;
	found(&sim, "host 0 both died; host 11 both absent; host 9 both mtu; host 10 in lost; groups 1,2,3-4,5,6,7 both route",
	      "together with faults of other hosts");
}

/* Adapters that report a cause as their own: each is named, even of three hosts. */
static void check_blame(void)
{
	const uint8_t gone[3] = { 0 }, rails[3] = { 1, 1, 1 };
	struct faults faults;
	struct mesh_table t;
	char text[300];
	uint32_t i, j;

	table_init(&t, 3, 1, false);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			struct edge r = {
				.from = i, .to = j, .cause = CAUSE_PORT,
				.from_blamed = i < 2, .to_blamed = j < 2,
			};

			if (i < 2)
				strcpy(r.from_why, i ? "see ulimit -l" :
				       "port 1 of rxe0 is not active");
			if (j < 2)
				strcpy(r.to_why, j ? "see ulimit -l" :
				       "port 1 of rxe0 is not active");
			if (i != j)
				table_add(&t, &r);
		}
	}
	faults_find(&t, gone, rails, &faults);
	faults_text(&faults, text, sizeof(text));
	if (!ok(!strcmp(text, "host 0 both port; host 1 both limit"),
		"two of three hosts have a fault of their own"))
		printf("# %s\n", text);
	ok(faults.n == 2 && !strcmp(faults.list[1].a_why, "see ulimit -l"),
	   "with what they report");
	faults_free(&faults);
	table_free(&t);
}

static void check_mtu(void)
{
	const uint8_t gone[4] = { 0 }, rails[4] = { 1, 1, 1, 1 };
	struct faults faults;
	struct mesh_table t;
	uint32_t i, j;

	table_init(&t, 4, 1, false);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			struct edge r = { .from = i, .to = j, .reached = true,
					    .p50 = 1, .mtu = i == 2 || j == 2 ?
						     1024 : 4096 };

			if (i != j)
				table_add(&t, &r);
		}
	}
	faults_find(&t, gone, rails, &faults);
	ok(faults.n == 1 && faults.list[0].kind == FAULT_MTU &&
	   faults.list[0].a[0] == 2 && faults.list[0].mtu == 1024 &&
	   faults.list[0].usual_mtu == 4096,
	   "an adapter with a smaller MTU than the others");
	faults_free(&faults);
	table_free(&t);
}

/* A mesh with random pairs broken, up to more than the list holds. */
static enum mesh_cause random_pairs(const struct sim *sim, const struct edge *r)
{
	uint32_t low = r->from < r->to ? r->from : r->to;
	uint32_t x = (low * 7919 + (r->from + r->to)) * 2654435761u;

	return x % 1000 < sim->when ? CAUSE_LOST : CAUSE_NONE;
}

static void check_many(void)
{
	struct sim sim = new_sim(200, 1, random_pairs);
	uint64_t explained = 0;
	uint32_t i;

	sim.when = 100;
	sim_run(&sim);
	for (i = 0; i < sim.faults.n; i++)
		explained += sim.faults.list[i].directions;
	ok(sim.ok && sim.faults.n <= FAULTS_MAX &&
	   explained + sim.faults.more == sim.hub.table.n_failed,
	   "each direction that failed has one fault, or is counted");
	ok(sim.hub.table.n_rows == 200 * 199, "each row is kept");
	sim_free(&sim);
}

int main(void)
{
	if (nettle_open())
		return !ok(false, "libnettle is missing");
	check_single();
	check_groups();
	check_partial();
	check_rails();
	check_ends();
	check_blame();
	check_mtu();
	check_many();
	return done();
}
