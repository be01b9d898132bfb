// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults of tables that are filled directly: odd numbers of adapters, many faults. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "mesh_sim.h"
#include "signals.h"
#include "tap.h"

typedef enum mesh_cause (*model)(const struct edge *r);

static uint8_t rails[MESH_MAX_HOSTS], gone[MESH_MAX_HOSTS];
static uint32_t k;			/* a number of hosts of the model */
static uint32_t (*mtu_of)(const struct edge *r);
static struct mesh_table t;
static struct faults faults;

static void all_have(uint8_t n)
{
	memset(rails, n, sizeof(rails));
	memset(gone, 0, sizeof(gone));
}

static void add_pair(model fails, uint32_t a, uint32_t b, unsigned int i,
		     unsigned int j)
{
	struct edge r[2] = {
		{ .from = a, .to = b, .from_rail = i, .to_rail = j },
		{ .from = b, .to = a, .from_rail = j, .to_rail = i },
	};
	int way;

	for (way = 0; way < 2; way++) {
		r[way].cause = fails(&r[way]);
		r[way].reached = !r[way].cause;
		r[way].mtu = mtu_of ? mtu_of(&r[way]) : 4096;
	}
	for (way = 0; way < 2; way++) {
		r[way].partial = r[way].reached && !r[!way].reached &&
				 r[!way].cause != CAUSE_MTU;
		table_add(&t, &r[way]);
	}
}

static void find(uint32_t n, uint32_t n_rails, bool all_pairs, model fails)
{
	uint32_t a, b;
	unsigned int i, j;

	faults_free(&faults);
	table_free(&t);
	table_init(&t, n, n_rails, all_pairs);
	for (a = 0; a < n; a++) {
		for (b = a + 1; b < n; b++) {
			if (gone[a] || gone[b])
				continue;
			for (i = 0; i < rails[a]; i++) {
				for (j = 0; j < rails[b]; j++) {
					if (all_pairs || i == j)
						add_pair(fails, a, b, i, j);
				}
			}
		}
	}
	if (faults_find(&t, gone, rails, &faults) || faults_join(&faults))
		abort();
}

static bool is(const char *want, const char *name)
{
	static char text[4000];
	uint64_t explained = faults.more;
	uint32_t i;

	for (i = 0; i < faults.n; i++)
		explained += faults.list[i].directions;
	faults_text(&faults, text, sizeof(text));
	if (ok(!strcmp(text, want) && explained == t.n_failed, "%s", name))
		return true;
	printf("# \"%s\", not \"%s\"; %llu of %llu\n", text, want,
	       (unsigned long long)explained, (unsigned long long)t.n_failed);
	return false;
}

/* ---- models -------------------------------------------------------------------------- */

static enum mesh_cause nothing(const struct edge *r)
{
	(void)r;
	return CAUSE_NONE;
}

static enum mesh_cause everything(const struct edge *r)
{
	(void)r;
	return CAUSE_LOST;
}

/* The first hosts receive nothing, or send nothing, or neither. */
static enum mesh_cause inbound(const struct edge *r)
{
	return r->to < k ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause outbound(const struct edge *r)
{
	return r->from < k ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause broken(const struct edge *r)
{
	return r->from < k || r->to < k ? CAUSE_MTU : CAUSE_NONE;
}

static enum mesh_cause in_and_out(const struct edge *r)
{
	return r->to == 1 || r->from == 2 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause adapter(const struct edge *r, uint32_t host, unsigned int rail)
{
	return (r->from == host && r->from_rail == rail) ||
	       (r->to == host && r->to_rail == rail) ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause extra(const struct edge *r)
{
	return adapter(r, 0, 1);
}

static enum mesh_cause last_adapter(const struct edge *r)
{
	return adapter(r, 1, 3);
}

static enum mesh_cause one_way_rail(const struct edge *r)
{
	return r->from_rail == 1 && r->to_rail == 0 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause among(const struct edge *r)
{
	return r->from % 4 == 1 && r->to % 4 == 1 ? CAUSE_LOST : CAUSE_NONE;
}

static enum mesh_cause one_pair(const struct edge *r)
{
	return (r->from == 3 && r->to == 4) || (r->from == 4 && r->to == 3) ?
	       CAUSE_LOST : CAUSE_NONE;
}

/* Broken hosts, and a pair of the last ones. */
static enum mesh_cause pair_of_many(const struct edge *r)
{
	return r->from < k || r->to < k ? CAUSE_MTU :
	       r->from + r->to == 2 * t.n - 3 && r->from + 2 >= t.n &&
	       r->to + 2 >= t.n ? CAUSE_NEIGHBOUR : CAUSE_NONE;
}

/* Host 4 sends no large message, and of hosts 0 to 3, host 0 exchanges none. */
static enum mesh_cause whole_way_back(const struct edge *r)
{
	return r->from == 4 || (r->from < 4 && r->to < 4 && (!r->from || !r->to)) ?
	       CAUSE_MTU : CAUSE_NONE;
}

/* Each eighth host fails with four others, which differ. */
static enum mesh_cause fours(const struct edge *r)
{
	uint32_t low = r->from < r->to ? r->from : r->to;
	uint32_t high = r->from ^ r->to ^ low;

	return low % 8 == 0 && low < 8 * k && high - low < 40 &&
	       (high - low) % 11 == 1 ? CAUSE_LOST : CAUSE_NONE;
}

/* ---- tests --------------------------------------------------------------------------- */

static void check_ways(void)
{
	all_have(1);
	k = 7;
	find(8, 1, false, inbound);
	is("host 0,1,2,3,4,5,6 in lost", "all hosts but one receive nothing");
	find(8, 1, false, outbound);
	is("host 0,1,2,3,4,5,6 out lost", "all hosts but one send nothing");
	k = 4;
	find(8, 1, false, inbound);
	is("host 0,1,2,3 in lost", "half of the hosts receive nothing");
	k = 2;
	find(3, 1, false, inbound);
	is("host 0,1 in lost", "two of three hosts receive nothing");
	k = 6;
	find(8, 1, false, broken);
	is("host 0,1,2,3,4,5 both mtu", "most hosts reach no other one");
	find(4, 1, false, in_and_out);
	is("host 2 out lost; host 1 in lost", "one receives nothing, one sends nothing");
	find(3, 1, false, in_and_out);
	is("host 2 out lost; pair 0-1 out lost", "of three hosts, one with one peer left");
}

static void check_whole(void)
{
	all_have(1);
	find(5, 1, false, whole_way_back);
	is("host 4 out mtu; host 0 in mtu; groups 0-1,2,3 out mtu",
	   "a direction that works excludes that its host fails in both ways");
}

static void check_adapters(void)
{
	all_have(1);
	rails[0] = 2;
	find(6, 2, true, extra);
	is("adapter 0 rail 1>1 both lost", "a broken adapter that only one host has");
	rails[5] = 2;
	find(6, 2, true, extra);
	is("adapter 0 rail 1>1 both lost", "a broken adapter that only two hosts have");
	find(6, 2, true, everything);
	is("all both lost", "no adapter reaches another one");
	rails[5] = 1;
	find(6, 2, false, nothing);
	is("", "a host with one adapter more than the others is no fault");
	all_have(2);
	rails[3] = 1;
	find(6, 2, false, nothing);
	is("adapter 3 rail 1>1 both adapter", "a host with one adapter less is");
	all_have(4);
	find(2, 4, true, last_adapter);
	is("adapter 1 rail 3>3 both lost", "an adapter of two hosts");
	find(3, 4, true, last_adapter);
	is("adapter 1 rail 3>3 both lost", "an adapter of three hosts");
	find(2, 4, true, everything);
	is("pair 0-1 both lost", "two hosts without any connection");
	all_have(2);
	find(6, 2, true, one_way_rail);
	is("rail rail 1>0 out lost", "a direction from one rail to another one");
	find(16, 2, true, among);
	is("among 1,5,9,13-1,5,9,13 both lost", "a set with itself, on two rails");
	all_have(4);
	find(16, 4, true, among);
	is("among 1,5,9,13-1,5,9,13 both lost", "and on four rails");
}

static uint32_t small_rail(const struct edge *r)
{
	return r->from_rail == 1 ? 1024 : 4096;
}

static uint32_t small_hosts(const struct edge *r)
{
	return r->from < k || r->to < k ? 1024 : 4096;
}

static void check_mtu(void)
{
	all_have(2);
	mtu_of = small_rail;
	find(6, 2, false, nothing);
	is("", "rails may have different MTUs");
	all_have(1);
	k = 2;
	mtu_of = small_hosts;
	find(8, 1, false, nothing);
	is("mtu 0,1 rail 0>0 both mtu", "hosts with a smaller MTU are one fault");
	mtu_of = NULL;
}

static void check_many(void)
{
	uint32_t i;

	all_have(1);
	for (i = 20; i < 1320; i++)
		gone[i] = CAUSE_ABSENT;
	find(1320, 1, false, one_pair);
	ok(faults.n == 2 && faults.list[0].n_a == 1300 &&
	   faults.list[1].kind == FAULT_PAIR && !faults.more,
	   "hosts that are absent are one fault, and leave room for a pair");
	all_have(1);
	k = 60;
	find(700, 1, false, pair_of_many);
	ok(t.n_rows == TABLE_MAX_ROWS && t.n_failed > TABLE_MAX_ROWS &&
	   faults.n == 2 && faults.list[0].n_a == 60 &&
	   faults.list[0].cause == CAUSE_MTU && faults.list[1].n_a == 1 &&
	   faults.list[1].cause == CAUSE_NEIGHBOUR,
	   "the cause of a pair is kept beside many failures of other hosts");
	table_sort(&t);
	for (i = 1; i < t.n_rows; i++) {
		if (!t.rows[i].reached && t.rows[i].from < t.rows[i - 1].from)
			break;
	}
	ok(i == t.n_rows, "failures are sorted by rank");
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void check_large(void)
{
	uint64_t explained = 0;
	double begun;
	uint32_t i;

	all_have(1);
	k = 500;
	find(4000, 1, false, fours);
	faults_free(&faults);
	begun = seconds();
	faults_find(&t, gone, rails, &faults);
	begun = seconds() - begun;
	for (i = 0; i < faults.n; i++)
		explained += faults.list[i].directions;
	if (!ok(begun < 3 && explained + faults.more == t.n_failed,
		"many small groups of 4000 hosts take less than 3 s"))
		printf("# %.2f s, %u faults\n", begun, faults.n);
	faults_free(&faults);
	interrupted = SIGINT;
	begun = seconds();
	faults_find(&t, gone, rails, &faults);
	ok(seconds() - begun < 1, "a signal ends the search for groups");
	interrupted = 0;
}

int main(void)
{
	check_ways();
	check_whole();
	check_adapters();
	check_mtu();
	check_many();
	check_large();
	faults_free(&faults);
	table_free(&t);
	return done();
}
