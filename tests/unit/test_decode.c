// SPDX-License-Identifier: GPL-2.0-or-later
/* From messages to records, and what records say. */
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "model/attr.h"
#include "build.h"
#include "eadm_nl.h"
#include "read/decode.h"
#include "read/machine.h"
#include "tap.h"

static struct eadm_ctx *ctx;
static struct eadm_record rec;
static struct bytes msg;

static const struct eadm_object *object(const char *name)
{
	return eadm_object_find(name);
}

static const struct eadm_field *field(const char *object_name,
				      const char *name)
{
	return eadm_object_find_field(object(object_name), name);
}

static void begin(void)
{
	msg.n = 0;
	msg_begin(&msg, 0x20, 0, 1);
	add32(&msg, 0);
	add_attr32(&msg, EADM_A_COMMON_DEV_INDEX, 7);
	add_attr(&msg, EADM_A_COMMON_DEV_NAME, "cloud_0", 8);
}

static int decode(const char *name, bool hw)
{
	struct eadm_reply reply = { .ctx = ctx };

	msg_end(&msg, 0);
	reply.chunk.data = msg.p;
	reply.chunk.len = msg.n;
	reply.chunk.time = 42;
	return eadm_decode(&reply, (void *)msg.p, object(name), hw, &rec);
}

static void values(void)
{
	const unsigned char ip[4] = { 10, 0, 0, 1 };
	uint64_t big = 1ULL << 40, u = 0;
	struct eadm_value values[100];
	const struct eadm_field *f;
	int32_t minus = -5;
	char text[64];
	int64_t s = 0;
	size_t len;
	int n;

	begin();
	add_attr32(&msg, EADM_A_QP_QPN, 17);
	add_attr32(&msg, EADM_A_QP_STATE, 3);
	add_attr(&msg, EADM_A_QP_AGE, &big, 8);
	add_attr32(&msg, EADM_A_QP_STATE_AGE, 1000);
	add_attr(&msg, EADM_A_QP_PEER_ADDR, ip, 4);
	add_attr(&msg, EADM_A_QP_COMM, "", 1);
	add_attr(&msg, EADM_A_COMMON_HW_ERROR, &minus, 4);
	ok(!decode("qp", true), "a message becomes a record");
	ok(!eadm_record_u64(&rec, field("qp", "qpn"), &u) && u == 17,
	   "a number of 4 bytes");
	ok(!eadm_record_u64(&rec, field("qp", "age"), &u) && u == big,
	   "a number of 8 bytes");
	ok(!eadm_record_u64(&rec, field("qp", "state-age"), &u) && u == 1000,
	   "a number of either size in 4 bytes");
	ok(!eadm_record_s64(&rec, field("qp", "hw-error"), &s) && s == -5,
	   "a negative number");
	ok(eadm_record_u64(&rec, field("qp", "hw-error"), &u) == -EINVAL,
	   "a signed field is not read as unsigned");
	ok(!strcmp(eadm_record_string(&rec, field("qp", "comm")), ""),
	   "an empty text is there");
	ok(eadm_record_bytes(&rec, field("qp", "peer-addr"), &len) && len == 4,
	   "bytes with their length");
	ok(eadm_record_text(&rec, field("qp", "peer-addr"), text,
			    sizeof(text)) == 8 && !strcmp(text, "10.0.0.1"),
	   "an address as text");
	ok(eadm_record_text(&rec, field("qp", "state"), text, sizeof(text)) ==
			   3 && !strcmp(text, "rts"),
	   "a state as text");
	ok(!eadm_record_has(&rec, field("qp", "pid")) &&
		   eadm_record_u64(&rec, field("qp", "pid"), &u) == -ENODATA,
	   "an absent field is absent");
	ok(!eadm_record_has(&rec, field("cq", "cqn")),
	   "a field of another object is not there");
	for (n = 0, f = NULL; (f = eadm_record_next(&rec, f)); n++)
		;
	ok(n == 9, "the walk meets each present field once");
	ok(eadm_record_values(&rec, values, 100) == 9 &&
		   values[2].type == EADM_TYPE_S64 && values[2].s64 == -5 &&
		   values[3].field == field("qp", "qpn") &&
		   values[3].u64 == 17 && values[7].u64 == big,
	   "all values at once");
	ok(eadm_record_values(&rec, values, 3) == 3, "or as many as fit");
	ok(eadm_record_time(&rec) == 42, "a record knows its time");
}

static void hardware(void)
{
	begin();
	add_attr32(&msg, EADM_A_QP_QPN, 17);
	add_attr32(&msg, EADM_A_QP_HW_SQ_PI, 1);
	ok(!decode("qp", false) &&
		   !eadm_record_has(&rec, field("qp", "hw-sq-pi")),
	   "the adapter's fields are dropped unless asked for");
	ok(!decode("qp", true) &&
		   eadm_record_has(&rec, field("qp", "hw-sq-pi")),
	   "the adapter's fields are kept when asked for");
}

/* As in another answer, whose message is freed between the rows. */
static void freed(void)
{
	struct bytes old;

	begin();
	add_attr32(&msg, EADM_A_QP_QPN, 17);
	ok(!decode("qp", false) && eadm_record_attr_u64(&rec, EADM_A_QP_QPN) == 17,
	   "a row with a number");
	old = msg;
	msg = (struct bytes){ 0 };
	begin();
	ok(!decode("qp", false), "a row without it");
	memset(old.p, 0xff, old.n);
	ok(!eadm_record_attr_u64(&rec, EADM_A_QP_QPN),
	   "which does not keep the number of a freed message");
	clear(&old);
}

static void unknown(void)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	int i;

	begin();
	for (i = 0; i < 40; i++)
		add_attr32(&msg, EADM_A_QP_MAX + 1 + i, i);
	ok(!decode("qp", true), "attributes of a newer kernel are no error");
	ok(eadm_record_extra(&rec, 39, &extra) == 1 &&
		   extra.attr == EADM_A_QP_MAX + 40 && extra.len == 4 &&
		   !extra.name,
	   "each of them is kept");
	ok(!eadm_record_extra(&rec, 40, &extra), "and no more");
	ok(!decode("qp", true) && eadm_record_extra(&rec, 0, &extra) &&
		   extra.attr == EADM_A_QP_MAX + 1,
	   "a record used again begins anew");
}

static void bad_one(const char *what, const char *name)
{
	ok(decode(name, true) == -EBADMSG &&
		   strstr(eadm_errmsg(ctx), "malformed"), "refused: %s", what);
}

static void bad(void)
{
	uint16_t len;

	begin();
	add_attr(&msg, EADM_A_QP_QPN, "\1\2\3", 3);
	bad_one("a number of 3 bytes", "qp");
	begin();
	add_attr(&msg, EADM_A_QP_COMM, "abc", 3);
	bad_one("a text without an end", "qp");
	begin();
	add_attr(&msg, EADM_A_QP_COMM, "", 0);
	bad_one("a text without bytes", "qp");
	begin();
	add_attr32(&msg, EADM_A_QP_QPN, 1);
	len = 9;
	memcpy(msg.p + msg.n - 8, &len, 2);
	bad_one("an attribute longer than the message", "qp");
	len = 3;
	memcpy(msg.p + msg.n - 8, &len, 2);
	bad_one("an attribute shorter than its header", "qp");
	begin();
	add(&msg, "\4", 1);
	bad_one("half an attribute", "qp");
	msg.n = 0;
	msg_begin(&msg, 0x20, 0, 1);
	add32(&msg, 0);
	add_attr32(&msg, EADM_A_QP_QPN, 1);
	bad_one("a row without a device", "qp");
	msg.n = 0;
	msg_begin(&msg, 0x20, 0, 1);
	bad_one("a message without a header of the family", "qp");
}

/* Whatever the bytes are: an error or a record, nothing else. */
static void noise(void)
{
	const struct eadm_object *o = NULL;
	const struct eadm_field *f;
	unsigned int seed = 1, i, j;
	char text[300];
	bool sane = true;
	int ret;

	for (i = 0; i < 20000; i++) {
		msg.n = 0;
		msg_begin(&msg, 0x20, 0, 1);
		add32(&msg, 0);
		add_attr32(&msg, EADM_A_COMMON_DEV_INDEX, 7);
		add_attr(&msg, EADM_A_COMMON_DEV_NAME, "d", 2);
		for (j = 0; j < 12; j++) {
			seed = seed * 1103515245 + 12345;
			/* Mostly right lengths, so that some come through. */
			add16(&msg, seed >> 16 & 7 ? 8 : seed >> 8 & 31);
			add16(&msg, seed >> 20 & 127);
			add32(&msg, seed);
		}
		o = eadm_object_next(o);
		if (!o)
			o = eadm_object_next(NULL);
		ret = decode(eadm_object_name(o), true);
		sane &= !ret || ret == -EBADMSG;
		for (f = NULL; !ret && (f = eadm_record_next(&rec, f));)
			sane &= eadm_record_text(&rec, f, text,
						 sizeof(text)) >= 0;
	}
	ok(sane, "noise gives an error or a record that can be read");
}

/* Names of processes are kept for a second. */
static void renamed(void)
{
	struct eadm_ctx *live = eadm_new();
	const char *name;

	eadm_open_live(live);
	name = eadm_machine_comm(live, getpid());
	ok(name && !strcmp(name, "test_decode"), "a process has a name");
	prctl(PR_SET_NAME, "another");
	live->clock_offset += 2000000000LL;
	name = eadm_machine_comm(live, getpid());
	ok(name && !strcmp(name, "another"), "and has another one later");
	eadm_free(live);
}

int main(void)
{
	ctx = eadm_new();
	values();
	hardware();
	freed();
	unknown();
	bad();
	noise();
	renamed();
	eadm_record_release(&rec);
	clear(&msg);
	eadm_free(ctx);
	return done();
}
