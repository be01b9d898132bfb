// SPDX-License-Identifier: GPL-2.0-or-later
/* Rank 0 of a mesh without sockets: which members join, which messages follow, which members are dropped. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"
#include "schedule.h"
#include "tap.h"

static struct hub hub;
static uint64_t now;
static struct in6_addr local = IN6ADDR_LOOPBACK_INIT;	/* where members reach rank 0 */

static enum mesh_refusal join(uint32_t rank, uint32_t ranks)
{
	const struct hello hello = { .rank = rank, .ranks = ranks, .rails = 1,
				     .port = 5, .name = "n" };

	return hub_join(&hub, &hello, &local, now);
}

static int take(uint32_t rank, uint8_t kind, const uint8_t *data, size_t len)
{
	const struct frame frame = { kind, data, len, len };

	return hub_take(&hub, rank, &frame, now);
}

static void begin(uint32_t n)
{
	const struct start start = { .ranks = n, .count = 1, .size = 1,
				     .timeout = 1000 };

	hub_free(&hub);
	now = 0;
	hub_init(&hub, &start, 1000, now);
}

static bool next_is(uint32_t rank, uint8_t kind, uint32_t number)
{
	uint8_t out[FRAME_MAX], extra;
	uint32_t got = 0;
	size_t len;

	return hub_next(&hub, rank, out, &len) == kind &&
	       (kind != MESSAGE_GONE && kind != MESSAGE_SKIPPED ? true :
		number_read(out, len, &got, &extra) && got == number);
}

static void check_joining(void)
{
	const struct hello misled = { .ranks = 3, .to = 1 };
	int ret;

	begin(3);
	ok(hub_join(&hub, &misled, &local, now) == REFUSED_RANKS &&
	   join(3, 3) == REFUSED_RANK && join(0, 4) == REFUSED_RANKS &&
	   join(0, 3) == REFUSED_NOTHING && join(0, 3) == REFUSED_TWICE,
	   "ranks that do not fit are refused");
	hub_lose(&hub, 0, CAUSE_DIED);
	ok(join(0, 3) == REFUSED_NOTHING && hub.members[0].epoch == 1,
	   "before the tests, a rank may join again, as another process");
	join(1, 3);
	ok(next_is(0, 0, 0) && hub_tick(&hub, 10, &ret) == 1000 && !hub.running,
	   "the tests do not begin while a host is missing");
	hub_tick(&hub, 1000, &ret);
	ok(!ret && hub.running && join(2, 3) == REFUSED_LATE,
	   "they begin without it after a time");
	ok(next_is(0, MESSAGE_START, 0) && next_is(0, MESSAGE_ROSTER, 0) &&
	   next_is(0, MESSAGE_GONE, 2) && next_is(0, 0, 0),
	   "each member gets options, addresses and who is missing");
}

static int beat(uint32_t rank, uint32_t round, enum mesh_wait wait)
{
	uint8_t buf[8];

	return take(rank, MESSAGE_BEAT, buf, number_write(round, wait, buf));
}

/* Four members, all of which have what they need for their rounds. */
static void begin_rounds(void)
{
	uint32_t rank;
	int ret;

	begin(4);
	for (rank = 0; rank < 4; rank++)
		join(rank, 4);
	hub_tick(&hub, now, &ret);
	for (rank = 0; rank < 4; rank++) {
		while (!next_is(rank, 0, 0))
			;
	}
}

static void check_waiting(void)
{
	uint32_t a = 0, b = mesh_partner(4, 1, a), c = mesh_partner(4, 2, a);

	begin_rounds();
	ok(!beat(a, 1, WAIT_PARTNER) && next_is(a, 0, 0) &&
	   !beat(b, 1, WAIT_PARTNER) && next_is(a, 0, 0) && next_is(b, 0, 0),
	   "partners wait for each other while both are in the round");
	ok(!beat(b, 2, WAIT_NOT) && next_is(a, MESSAGE_SKIPPED, b) &&
	   next_is(a, 0, 0), "a partner that has left the round is skipped");
	ok(!beat(c, 2, WAIT_NOT) && !take(c, MESSAGE_DONE, NULL, 0) &&
	   !beat(a, 2, WAIT_PARTNER) && next_is(a, MESSAGE_SKIPPED, c),
	   "so is one that has finished");
	ok(beat(a, 1, WAIT_NOT) == -EPROTO && beat(a, 3, WAIT_NOT) == -EPROTO &&
	   beat(a, 2, WAIT_END) == -EPROTO, "rounds only advance");
	begin_rounds();
	ok(!beat(a, 1, WAIT_ALONE) && next_is(a, 0, 0) &&
	   !beat(b, 1, WAIT_PARTNER) && next_is(a, MESSAGE_SKIPPED, b) &&
	   next_is(b, MESSAGE_SKIPPED, a),
	   "a host that could not meet its last partners does not wait for the next");
	hub_free(&hub);
}

/* The addresses that the roster has, each by its last byte. */
static bool addresses_are(const char *want)
{
	struct roster entry;
	uint8_t out[FRAME_MAX];
	char got[10] = "";
	size_t len, i;

	next_is(0, MESSAGE_START, 0);
	if (hub_next(&hub, 0, out, &len) != MESSAGE_ROSTER)
		return false;
	for (i = 0; i < hub.n && roster_read(out, len, i, &entry); i++)
		got[i] = '0' + entry.addr.s6_addr[15];
	return !strcmp(got, want);
}

static void join_at(uint32_t rank, const char *from, const char *to)
{
	struct hello hello = { .rank = rank, .ranks = hub.n, .rails = 1, .port = 5 };

	inet_pton(AF_INET6, from, &hello.addr);
	inet_pton(AF_INET6, to, &local);
	hub_join(&hub, &hello, &local, now);
	local = in6addr_loopback;
}

static void check_addresses(void)
{
	int ret;

	begin(3);
	join_at(0, "::ffff:127.0.0.1", "::ffff:127.0.1.1");
	join_at(1, "::ffff:10.0.0.5", "::ffff:10.0.0.7");
	join_at(2, "::ffff:10.0.0.6", "::ffff:10.0.0.7");
	hub_tick(&hub, now, &ret);
	ok(addresses_are("756"),
	   "a loopback address is replaced by one that other hosts reach");
	begin(2);
	join_at(0, "::1", "::1");
	join_at(1, "::ffff:127.0.0.2", "::ffff:127.0.0.1");
	hub_tick(&hub, now, &ret);
	ok(addresses_are("12"), "processes of one host may use it");
	hub_free(&hub);
}

static void check_silence(void)
{
	struct start start = { .ranks = 2, .timeout = 10 };

	hub_init(&hub, &start, 0, 0);
	ok(hub.silence == 5000000000, "a short timeout leaves time for keep-alives");
	hub_free(&hub);
	start.timeout = 10000;
	hub_init(&hub, &start, 0, 0);
	ok(hub.silence == 30000000000, "a member may be silent during a test");
	hub_free(&hub);
}

static void check_running(void)
{
	struct edge r = { .from = 1, .to = 0, .reached = true };
	uint8_t buf[RESULT_MOST];
	size_t len = result_write(&r, buf);
	int ret;

	ok(!take(1, MESSAGE_RESULTS, buf, len) &&
	   take(1, MESSAGE_RESULTS, buf, len) == -EPROTO &&
	   hub.table.n_directions == 1, "results are taken once");
	r.from = 2;
	len = result_write(&r, buf);
	ok(take(1, MESSAGE_RESULTS, buf, len) == -EPROTO,
	   "a member reports only what it took part in");
	ok(take(1, MESSAGE_RESULTS, buf, len - 1) == -EPROTO &&
	   take(1, MESSAGE_START, NULL, 0) == -EPROTO, "other messages are refused");
	now = 2000000000;
	beat(0, 0, WAIT_NOT);
	next_is(1, MESSAGE_START, 0);
	next_is(1, MESSAGE_ROSTER, 0);
	next_is(1, MESSAGE_GONE, 2);
	now = 6000000000;
	hub_tick(&hub, now, &ret);
	ok(next_is(0, MESSAGE_GONE, 1) && !hub_is_over(&hub),
	   "a member that sends no keep-alive is dropped");
	ok(!take(0, MESSAGE_DONE, NULL, 0) && next_is(0, MESSAGE_BYE, 0) &&
	   next_is(0, 0, 0) && hub_is_over(&hub), "the mesh ends with its last member");
	hub_lose(&hub, 0, CAUSE_DIED);
	ok(hub.members[0].state == MEMBER_DONE, "one that has finished may leave");
	hub_free(&hub);
}

int main(void)
{
	check_joining();
	check_running();
	check_waiting();
	check_silence();
	check_addresses();
	return done();
}
