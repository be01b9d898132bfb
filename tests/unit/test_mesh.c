// SPDX-License-Identifier: GPL-2.0-or-later
/* "eadm test mesh" without sockets: schedule, messages, causes. */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "schedule.h"
#include "tap.h"

/* ---- schedule ------------------------------------------------------------------------ */

static bool is_tournament(uint32_t n)
{
	uint8_t *met = calloc(n, n);
	uint32_t round, a, b, seen = 0;
	bool good = true;

	for (round = 0; round < mesh_rounds(n); round++) {
		for (a = 0; a < n; a++) {
			b = mesh_partner(n, round, a);
			good = good && b < n && mesh_partner(n, round, b) == a;
			if (a == b)
				continue;
			good = good && !met[a * n + b] &&
			       mesh_round_of(n, a, b) == round &&
			       mesh_initiator(a, b) == mesh_initiator(b, a);
			met[a * n + b] = 1;
			seen++;
		}
	}
	free(met);
	return good && seen == n * (n - 1);
}

static void check_schedule(void)
{
	bool good = true;
	uint32_t n;

	for (n = 1; n < 100; n++)
		good = good && is_tournament(n) && mesh_rounds(n) <= n;
	ok(good, "each pair meets once, in at most as many rounds as hosts");
	ok(is_tournament(1000) && mesh_rounds(1000) == 999, "with 1000 hosts, too");
	ok(mesh_patience(10000, MESH_LOSSES - 1) == 10000 && mesh_patience(10000, MESH_LOSSES) == 1000 &&
		   mesh_patience(30000, MESH_LOSSES) == 3000 && mesh_patience(500, MESH_LOSSES) == 500,
	   "who lost many peers waits a tenth of the time, but at least a second");
}

/* ---- frames -------------------------------------------------------------------------- */

static void lanes(struct lane *a, struct lane *b, const char *secret)
{
	static const uint8_t x[FRAME_NONCE] = { 1 }, y[FRAME_NONCE] = { 2 };

	lane_init(a, "a secret of all hosts", 21, x, y, true);
	lane_init(b, secret, strlen(secret), x, y, false);
}

static enum frame_result open_copy(struct lane *lane, const uint8_t *buf,
				   size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum frame_result result;
	struct frame frame;

	memcpy(copy, buf, len);
	result = frame_open(lane, copy, len, &frame);
	free(copy);
	return result;
}

static void check_frames(void)
{
	uint8_t buf[FRAME_ROOM], two[FRAME_ROOM], data[FRAME_MAX];
	struct lane a, b, other;
	struct frame frame;
	size_t len, i;
	bool good = true;

	memset(data, 7, sizeof(data));
	lanes(&a, &b, "a secret of all hosts");
	len = frame_seal(&a, 3, data, sizeof(data), buf);
	for (i = 0; i < len; i += 1 + i / 8)
		good = good && open_copy(&b, buf, i) == FRAME_MORE;
	ok(good, "a truncated message needs more bytes");
	for (i = 0; i < len; i += 1 + i / 16) {
		buf[i] ^= 1;
		good = good && open_copy(&b, buf, len) != FRAME_OK;
		buf[i] ^= 1;
	}
	ok(good, "a message with a changed bit is refused");
	ok(frame_open(&b, buf, len, &frame) == FRAME_OK && frame.kind == 3 &&
	   frame.len == FRAME_MAX && frame.total == len &&
	   !memcmp(frame.data, data, FRAME_MAX), "a message arrives unchanged");
	ok(open_copy(&b, buf, len) == FRAME_FORGED, "a message is accepted once");
	len = frame_seal(&a, 4, NULL, 0, buf);
	frame_seal(&a, 5, NULL, 0, two);
	ok(open_copy(&b, two, len) == FRAME_FORGED, "messages keep their order");
	ok(open_copy(&a, buf, len) == FRAME_FORGED,
	   "a message is not accepted by its sender");
	lanes(&a, &other, "another secret, not this");
	len = frame_seal(&a, 4, NULL, 0, buf);
	ok(open_copy(&other, buf, len) == FRAME_FORGED,
	   "a message with another secret is refused");
	memset(buf, 0xff, sizeof(buf));
	ok(open_copy(&b, buf, FRAME_HEADER) == FRAME_ALIEN,
	   "a message that is too long is refused at once");
}

static void check_challenge(void)
{
	uint8_t nonce[FRAME_NONCE] = "0123456789abcde", got[FRAME_NONCE];
	uint8_t buf[CHALLENGE_SIZE];

	challenge_write(nonce, buf);
	ok(challenge_read(buf, CHALLENGE_SIZE - 1, got) == FRAME_MORE &&
	   challenge_read(buf, sizeof(buf), got) == FRAME_OK &&
	   !memcmp(nonce, got, sizeof(got)), "a challenge arrives unchanged");
	ok(challenge_read((const uint8_t *)"SSH-", 4, got) == FRAME_ALIEN,
	   "another protocol is recognized by its first bytes");
}

/* ---- messages ------------------------------------------------------------------------ */

static void check_contents(void)
{
	const struct hello hello = { .rank = 3, .ranks = 9, .to = 1, .rails = 2,
				     .port = 777, .name = "node3", .why = "x" };
	const struct start start = { .ranks = 9, .bandwidth = true, .ud = true, .count = 100,
				     .size = 4096, .timeout = 5000 };
	const struct edge result = {
		.from = 1, .to = 2, .from_rail = 3, .to_rail = 4, .to_blamed = true,
		.cause = CAUSE_PORT, .min = 5, .p50 = 6, .p99 = 7, .lost = 8,
		.mtu = 4096, .rate = 1ULL << 40, .from_why = "here",
		.to_why = "there",
	};
	struct hello h = { 0 };
	struct start s = { 0 };
	struct edge r = { 0 };
	uint8_t buf[FRAME_MAX];
	bool good = true;
	size_t len, i;

	len = hello_write(&hello, buf);
	for (i = 0; i < len; i++)
		good = good && !hello_read(buf, i, &h);
	ok(good && hello_read(buf, len, &h) && !strcmp(h.name, "node3") &&
	   h.port == 777 && h.to == 1 && !strcmp(h.why, "x"),
	   "a hello arrives whole or not at all");
	buf[len - 1] = '\033';
	ok(!hello_read(buf, len, &h), "control characters are refused");
	len = hello_write(&(struct hello){ .name = "caf\xc3\xa9", .why = "\xc2\x9bm\033" },
			  buf);
	ok(hello_read(buf, len, &h) && !strcmp(h.name, "caf\xc3\xa9") &&
	   !strcmp(h.why, "??m?"), "a writer replaces what a terminal does not show");
	buf[len - 4] = 0xc2;
	buf[len - 3] = 0x9b;
	ok(!hello_read(buf, len, &h), "control characters of two bytes are refused");
	len = start_write(&start, buf);
	ok(start_read(buf, len, &s) && !memcmp(&s, &start, sizeof(s)) &&
	   !start_read(buf, len - 1, &s), "options arrive unchanged");
	buf[7] = 8;
	ok(!start_read(buf, len, &s), "an option of a later version is refused");
	len = result_write(&result, buf);
	ok(len <= RESULT_MOST && result_read(buf, len, &r) == len &&
	   r.rate == result.rate && r.to_blamed && !r.reached &&
	   !strcmp(r.from_why, "here") && !strcmp(r.to_why, "there"),
	   "a result arrives unchanged");
	for (i = 0, good = true; i < len; i++)
		good = good && !result_read(buf, i, &r);
	ok(good, "a truncated result is refused");
}

/* For the sanitizers: random bytes are read, within their length. */
static void check_garbage(void)
{
	uint8_t *buf = malloc(700);
	struct roster roster;
	struct edge result;
	struct hello hello;
	struct start start;
	uint32_t number;
	uint8_t extra;
	unsigned int i;
	size_t len, j;
	bool good = true;

	srand(1);
	for (i = 0; i < 20000; i++) {
		len = rand() % 700;
		for (j = 0; j < len; j++)
			buf[j] = i % 2 ? rand() : rand() % 3;
		hello_read(buf, len, &hello);
		start_read(buf, len, &start);
		roster_read(buf, len, rand() % 40, &roster);
		number_read(buf, len, &number, &extra);
		good = good && result_read(buf, len, &result) <= len;
	}
	free(buf);
	ok(good, "random bytes are read within their length");
}

/* ---- causes -------------------------------------------------------------------------- */

static void check_causes(void)
{
	ok(cause_of("port 1 of rxe0 is not active") == CAUSE_PORT &&
	   cause_of("registering 520 KiB of memory failed: Cannot allocate memory (see ulimit -l)") ==
	   CAUSE_LIMIT &&
	   cause_of("registering 520 KiB of memory failed: Input/output error") ==
	   CAUSE_ADAPTER &&
	   cause_of("creating the queue pair failed: Input/output error") ==
	   CAUSE_ADAPTER &&
	   cause_of("adapters that require rdma_cm have no UD queue pairs") == CAUSE_ADAPTER &&
	   cause_of("connection failed: the peer does not respond") == CAUSE_LOST &&
	   cause_of("address resolution failed: no neighbour has this address") ==
	   CAUSE_NEIGHBOUR &&
	   cause_of("route resolution failed: from rxe0, GID 1 (::1), to GID ::2: Connection timed out (no neighbour has this address)") ==
	   CAUSE_NEIGHBOUR &&
	   cause_of("route resolution failed: from rxe0, GID 1 (::1), to GID ::2: Network is unreachable") ==
	   CAUSE_ROUTE && cause_of("anything") == CAUSE_OTHER,
	   "causes of failures that eadm test describes");
	ok(cause_is_local(CAUSE_PORT) && !cause_is_local(CAUSE_LOST),
	   "some causes lie in the end that reports them");
}

int main(void)
{
	if (nettle_open())
		return !ok(false, "libnettle is missing");
	check_schedule();
	check_frames();
	check_challenge();
	check_contents();
	check_garbage();
	check_causes();
	return done();
}
