// SPDX-License-Identifier: GPL-2.0-or-later
/* What "eadm test" accepts over TCP from a peer that may be anything. */
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const struct exchange hello = {
	.kind = EXCHANGE_HELLO, .last = true, .can_read = true, .roce = 2,
	.mtu = 3, .lid = 7, .depth = 16, .type = "RC", .qpn = 0x123456,
	.psn = 0xabcdef, .qkey = 0x11223344, .size = 65536, .shared = 1 << 20,
	.rkey = 0xdeadbeef, .addr = 0x123456789abcdef0,
	.gid = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 1 },
};

/* In memory of that length, so that a sanitizer sees reads beyond it. */
static enum exchange_result read_some(const uint8_t *buf, size_t len,
				      struct exchange *message)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum exchange_result result;

	memcpy(copy, buf, len);
	result = exchange_read(copy, len, message);
	free(copy);
	return result;
}

static enum exchange_result reread(const struct exchange *message)
{
	uint8_t buf[EXCHANGE_SIZE];
	struct exchange got;

	exchange_write(message, buf);
	return read_some(buf, sizeof(buf), &got);
}

static bool same(const struct exchange *a, const struct exchange *b)
{
	uint8_t x[EXCHANGE_SIZE], y[EXCHANGE_SIZE];

	exchange_write(a, x);
	exchange_write(b, y);
	return !memcmp(x, y, sizeof(x));
}

static void check_truncated(const uint8_t buf[EXCHANGE_SIZE])
{
	struct exchange got, untouched;
	bool more = true;
	size_t len;

	memset(&got, 0x5a, sizeof(got));
	untouched = got;
	for (len = 0; len < EXCHANGE_SIZE; len++)
		more = more && read_some(buf, len, &got) == EXCHANGE_MORE;
	ok(more, "each truncated message needs more bytes");
	ok(!memcmp(&got, &untouched, sizeof(got)),
	   "a truncated message gives no address");
}

static void check_alien(void)
{
	static const char *const texts[] = {
		"G", "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x", "\x16\x03\x01", "EADM",
		"EAD\n",
	};
	struct exchange got;
	bool alien = true;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		alien = alien && read_some((const uint8_t *)texts[i],
					   strlen(texts[i]), &got) ==
				 EXCHANGE_ALIEN;
	ok(alien, "another protocol is recognized by its first bytes");
}

static void check_header(const uint8_t good[EXCHANGE_SIZE])
{
	uint8_t buf[EXCHANGE_SIZE];
	struct exchange got;

	memcpy(buf, good, sizeof(buf));
	buf[5]++;
	ok(read_some(buf, 8, &got) == EXCHANGE_OTHER_VERSION,
	   "another version is recognized by the header alone");
	memcpy(buf, good, sizeof(buf));
	buf[6] = 0xff;
	ok(read_some(buf, 8, &got) == EXCHANGE_INVALID,
	   "a length that is not that of the version is refused at once");
}

/* What may be is read as it was written; the rest is refused. */
static void check_limits(void)
{
	struct exchange m;
	bool refused = true, accepted = true;

#define BAD(set) (m = hello, set, refused = refused && reread(&m) == EXCHANGE_INVALID)
#define GOOD(set) (m = hello, set, accepted = accepted && reread(&m) == EXCHANGE_OK)
	BAD(m.kind = 0);
	BAD(m.kind = EXCHANGE_REFUSAL + 1);
	BAD(m.kind = EXCHANGE_REFUSAL);
	BAD(m.kind = EXCHANGE_WELCOME);	/* the last one? only the client says so */
	BAD(m.roce = 3);
	BAD(m.mtu = 0);
	BAD(m.mtu = 6);
	BAD(m.lid = 0xc000);
	BAD(m.depth = 0);
	BAD(m.depth = EXCHANGE_MAX_DEPTH + 1);
	BAD(m.depth = 0xffff);
	BAD(m.qpn = 0x1000000);
	BAD(m.psn = 0x1000000);
	BAD(m.size = 0);
	BAD(m.size = EXCHANGE_MAX_BYTES + 1);
	BAD(m.size = UINT32_MAX);
	BAD((m.size = EXCHANGE_MAX_BYTES, m.depth = 5));
	BAD(m.shared = 0);
	BAD(m.shared = UINT32_MAX);
	BAD(memset(m.gid, 0, sizeof(m.gid)));
	BAD(m.gid[0] = 0xff);
	BAD(m.reason = REFUSED_BUSY);
	BAD(m.error = EPERM);
	BAD(memset(m.type, 0, sizeof(m.type)));
	BAD(memcpy(m.type, "SRD\033[2J", sizeof(m.type)));
	BAD(memcpy(m.type, "ABCDEFGH", sizeof(m.type)));	/* no end */
	BAD(memcpy(m.type, "RC\0X", 4));
	BAD(memcpy(m.type, "rc", 2));
	ok(refused, "each value beyond its limits is refused");
	GOOD(m.roce = 0);
	GOOD(m.mtu = 5);
	GOOD(m.lid = 0xbfff);
	GOOD(m.depth = EXCHANGE_MAX_DEPTH);
	GOOD(m.qpn = 0);	/* some adapters count from 0 */
	GOOD(m.psn = 0);
	GOOD((m.size = EXCHANGE_MAX_BYTES, m.depth = 4));
	GOOD(m.gid[0] = 0xfe);
	GOOD((m.kind = EXCHANGE_WELCOME, m.last = false));
	GOOD(memcpy(m.type, "SRD2", 5));
	ok(accepted, "the limits themselves are accepted");
}

/* Each bit in turn: it is refused, or read as a message that is within the limits. */
static void check_bits(const uint8_t good[EXCHANGE_SIZE])
{
	uint8_t buf[EXCHANGE_SIZE], again[EXCHANGE_SIZE];
	unsigned int bit, kept = 0, lost = 0;
	struct exchange got;

	for (bit = 0; bit < 8 * EXCHANGE_SIZE; bit++) {
		memcpy(buf, good, sizeof(buf));
		buf[bit / 8] ^= 1 << bit % 8;
		if (read_some(buf, sizeof(buf), &got) != EXCHANGE_OK)
			continue;
		kept++;
		exchange_write(&got, again);
		lost += memcmp(buf, again, sizeof(buf)) != 0;
	}
	ok(kept > 0 && kept < 8 * EXCHANGE_SIZE, "some flipped bits are lawful, some are not");
	ok(!lost, "no bit is ignored");
}

static bool refusal_is(enum exchange_reason reason, int error, const char *text)
{
	struct exchange m = { .kind = EXCHANGE_REFUSAL, .reason = reason,
			      .error = error }, got;
	uint8_t buf[EXCHANGE_SIZE];
	char words[160];

	exchange_write(&m, buf);
	return read_some(buf, sizeof(buf), &got) == EXCHANGE_OK &&
	       !strcmp(exchange_refusal(&got, words, sizeof(words)), text);
}

static void check_refusals(void)
{
	struct exchange m = { .kind = EXCHANGE_REFUSAL };
	bool words = true, bad;
	char buf[160];

	for (m.reason = 1; m.reason < REFUSED_END; m.reason++)
		words = words && reread(&m) == EXCHANGE_OK &&
			*exchange_refusal(&m, buf, sizeof(buf));
	ok(words, "each reason has words");
	ok(refusal_is(REFUSED_ROUTE, ETIMEDOUT,
		      "the server has no route to this GID (Connection timed out)") &&
	   refusal_is(REFUSED_BUSY, 0, "the server has too many clients"),
	   "a refusal has the server's errno, if there is one");
	m.reason = REFUSED_END;
	bad = reread(&m) == EXCHANGE_INVALID;
	m.reason = 0;
	bad = bad && reread(&m) == EXCHANGE_INVALID;
	m.reason = REFUSED_QP;
	m.error = 4096;
	ok(bad && reread(&m) == EXCHANGE_INVALID,
	   "an unknown reason and an impossible errno are refused");
}

int main(void)
{
	uint8_t buf[EXCHANGE_SIZE];
	struct exchange got;

	exchange_write(&hello, buf);
	ok(read_some(buf, sizeof(buf), &got) == EXCHANGE_OK && same(&hello, &got),
	   "a message is read as it was written");
	check_truncated(buf);
	check_alien();
	check_header(buf);
	check_limits();
	check_bits(buf);
	check_refusals();
	return done();
}
