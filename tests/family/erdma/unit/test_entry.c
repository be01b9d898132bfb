// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of queues, from the worked values of the hardware document. */
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "read/entry.h"
#include "tap.h"

#define DEPTH 16
#define BLOCK 32
#define QPN 0x12

static const struct eadm_device device = { .name = "cloud_0" };
static unsigned char data[DEPTH * BLOCK];
static uint8_t places[DEPTH];
static struct eadm_record rec;

static struct eadm_ring ring_of(uint32_t kind, uint32_t id, uint32_t size)
{
	return (struct eadm_ring){
		.dev = &device, .family = eadm_family_find("erdma"),
		.kind = kind, .id = id, .depth = DEPTH,
		.entry_size = size, .count = DEPTH, .data = data,
		.places = places,
	};
}

static void le(size_t at, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		data[at + i] = v >> (8 * i);
}

static void be32(size_t at, uint32_t v)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		data[at + i] = v >> (24 - 8 * i);
}

static unsigned int decode(const struct eadm_ring *ring, uint32_t place,
			   const char *object)
{
	return eadm_entry_decode(ring, place, eadm_object_find(object), &rec);
}

static bool is(unsigned int attr, uint64_t value)
{
	return eadm_record_attr_has(&rec, attr) &&
	       eadm_record_attr_u64(&rec, attr) == value;
}

static void index_all(const struct eadm_ring *ring)
{
	eadm_entry_index(ring, places);
}

static void scrub(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);

	if (eadm_entry_scrub(&ring))
		abort();
}

static void send_queue(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);

	memset(data, 0, sizeof(data));
	le(0, 0x0100001210400001, 8);		/* SEND, 1 SGE */
	le(12, 5, 4);
	le(16, 0x7f0000001000, 8);
	le(24, 5, 4);
	le(28, 0x2100, 4);
	le(32, 0x0110001200400003, 8);		/* WRITE, 1 SGE */
	le(32 + 16, 0x3300, 4);
	le(32 + 20, 0x7f0000002000, 8);
	le(64, 0x7f0000003000, 8);
	le(72, 64, 4);
	le(96, 0x0500001212400004, 8);		/* SEND inline, 5 bytes */
	le(96 + 12, 5, 4);
	memcpy(data + 96 + 16, "hello", 5);
	index_all(&ring);
	ok(places[0] == 1 && places[1] == 2 && places[2] == EADM_PLACE_REST &&
	   places[3] == 1 && !places[4], "where entries begin");

	ring.has_sw_pi = true;
	ring.sw_pi = 4;
	ring.has_hw_ci = true;
	ring.hw_ci = 1;
	ok(decode(&ring, 0, "sqe") == 1 && is(EADM_A_SQE_OP, EADM_WQE_OP_SEND) &&
	   is(EADM_A_SQE_FLAGS, EADM_WQE_FLAGS_SIGNALED) &&
	   is(EADM_A_SQE_SGE0_ADDR, 0x7f0000001000) &&
	   is(EADM_A_SQE_SGE0_LENGTH, 5) && is(EADM_A_SQE_SGE0_KEY, 0x2100),
	   "a send");
	ok(is(EADM_A_SQE_STATE, EADM_ENTRY_STATE_DONE), "it is done");
	ok(decode(&ring, 1, "sqe") == 2 && is(EADM_A_SQE_REMOTE_KEY, 0x3300) &&
	   is(EADM_A_SQE_REMOTE_ADDR, 0x7f0000002000) &&
	   is(EADM_A_SQE_SGE0_ADDR, 0x7f0000003000) &&
	   is(EADM_A_SQE_STATE, EADM_ENTRY_STATE_POSTED) &&
	   is(EADM_A_SQE_MARK, EADM_ENTRY_MARK_HW_CI), "a write of two blocks");
	ok(!decode(&ring, 2, "sqe"), "its rest is no row");
	ok(decode(&ring, 3, "sqe") == 1 &&
	   is(EADM_A_SQE_FLAGS, EADM_WQE_FLAGS_SIGNALED |
				EADM_WQE_FLAGS_INLINE) &&
	   !eadm_record_attr_has(&rec, EADM_A_SQE_PAYLOAD) &&
	   !eadm_record_attr_has(&rec, EADM_A_SQE_SGES), "inline data");
	ring.payload = true;
	ok(decode(&ring, 3, "sqe") == 1 &&
	   eadm_record_attr_has(&rec, EADM_A_SQE_PAYLOAD) &&
	   !memcmp(rec.slot[EADM_A_SQE_PAYLOAD - 1].p, "hello", 5),
	   "payload when asked for");
	ok(decode(&ring, 5, "sqe") == 1 &&
	   is(EADM_A_SQE_STATE, EADM_ENTRY_STATE_EMPTY), "nothing");

	memcpy(data + 7 * BLOCK, "secret from before", 18);
	scrub();
	ok(!memmem(data, sizeof(data), "hello", 5) &&
	   !memmem(data, sizeof(data), "secret", 6) && data[28] == 0 &&
	   data[29] == 0x21, "payload is taken out, and nothing else");
	index_all(&ring);
	ok(places[3] == 1, "entries stay");
}

static void wrapped(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);

	memset(data, 0, sizeof(data));
	/* SEND inline of 40 bytes in two blocks, the last and the first. */
	le(15 * BLOCK, 0x2810001212400011, 8);
	memset(data + 15 * BLOCK + 16, 'x', 16);
	memset(data, 'x', 24);
	index_all(&ring);
	ok(places[15] == 2 && places[0] == EADM_PLACE_REST,
	   "an entry around the end of the ring");
	scrub();
	ok(!memchr(data, 'x', sizeof(data)), "its payload is taken out");

	/* The rest of an older WRITE of two blocks under a newer SEND. */
	memset(data, 0, sizeof(data));
	le(1 * BLOCK, 0x0110001200400003, 8);
	le(2 * BLOCK, 0x0100001210400013, 8);
	index_all(&ring);
	ok(!places[1] && places[2] == 1, "a newer entry upon an older one");
	ok(decode(&ring, 1, "sqe") &&
	   is(EADM_A_SQE_STATE, EADM_ENTRY_STATE_FOREIGN), "is told as such");

	/* The next one in line is no reason to doubt one of two blocks. */
	memset(data, 0, sizeof(data));
	le(1 * BLOCK, 0x0110001200400003, 8);
	le(3 * BLOCK, 0x0100001210400004, 8);
	index_all(&ring);
	ok(places[1] == 2 && places[2] == EADM_PLACE_REST && places[3] == 1,
	   "entries in line");
}

/* As deep as send queues are: what stays does not depend on the place. */
static void deep(void)
{
	const uint32_t depth = 8192;
	struct eadm_ring whole = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);
	unsigned char *ring = calloc(depth, BLOCK), *copy;
	const uint64_t write = 0x0110001200400000;	/* of 2 blocks, 1 SGE */
	uint64_t header;
	uint32_t place;

	for (place = 1; place < depth; place += 2) {
		header = write | (place + 2);
		memcpy(ring + place * BLOCK, &header, sizeof(header));
		memset(ring + place * BLOCK + 16, 0x11, 12);
		memset(ring + (place + 1) % depth * BLOCK, 0x22, 16);
	}
	copy = malloc(depth * BLOCK);
	memcpy(copy, ring, depth * BLOCK);
	whole.depth = depth;
	whole.count = depth;
	whole.data = ring;
	ok(!eadm_entry_scrub(&whole) && !memcmp(ring, copy, depth * BLOCK),
	   "entries of a deep ring stay, also the one around its end");
	free(copy);
	free(ring);
}

static bool same_row(const struct eadm_record *a, const struct eadm_record *b)
{
	const struct eadm_field *f = NULL, *g = NULL;
	char x[600], y[600];

	do {
		f = eadm_record_next(a, f);
		g = eadm_record_next(b, g);
		if (f != g)
			return false;
		if (!f)
			return true;
		eadm_record_text(a, f, x, sizeof(x));
		eadm_record_text(b, f, y, sizeof(y));
	} while (!strcmp(x, y) || !strcmp(eadm_field_name(f), "bytes"));
	return false;
}

/* An entry of two blocks on old payload; bytes of it that are left. */
static unsigned int upon_payload(unsigned int op, bool *same)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);
	struct eadm_record *before;
	unsigned int i, left = 0;

	memset(data, 0, sizeof(data));
	memset(data + BLOCK, 'x', 2 * BLOCK);
	le(BLOCK, 1ULL << 56 | 1ULL << 52 | (uint64_t)QPN << 32 | op << 27 | 3,
	   8);
	index_all(&ring);
	decode(&ring, 1, "sqe");
	before = eadm_record_new(&rec);
	scrub();
	decode(&ring, 1, "sqe");
	*same &= before && same_row(before, &rec);
	eadm_record_free(before);
	for (i = 8; i < 2 * BLOCK; i++)
		left += data[BLOCK + i] == 'x';
	return left;
}

/* The adapter's own numbers of operations (hw 6.3). */
enum {
	RAW_WRITE = 0,
	RAW_SEND = 2,
	RAW_LOCAL_INV = 15,
};

static void left_over(void)
{
	bool same = true;
	unsigned int op;

	for (op = 0; op < 32; op++)
		upon_payload(op, &same);
	ok(same, "what an entry says itself is not taken out");
	ok(upon_payload(RAW_SEND, &same) == 4 + 16 &&
		   upon_payload(RAW_WRITE, &same) == 16 + 16 &&
		   upon_payload(RAW_LOCAL_INV, &same) == 4 &&
		   upon_payload(31, &same) == 0,
	   "what it leaves of older ones is");
}

static void other_queues(void)
{
	struct eadm_ring rq = ring_of(EADM_RAW_KIND_RQ, 0x13, BLOCK);
	struct eadm_ring cq = ring_of(EADM_RAW_KIND_CQ, 5, BLOCK);
	struct eadm_ring eq = ring_of(EADM_RAW_KIND_EQ, 2, 16);
	struct eadm_ring cmd = ring_of(EADM_RAW_KIND_CMD_SQ, 0, BLOCK);

	memset(data, 0, sizeof(data));
	le(0, 1, 2);
	le(4, 0x13, 4);
	le(16, 0x1000, 8);
	le(24, 64, 4);
	rq.has_sw_pi = true;
	rq.sw_pi = 1;
	rq.has_sw_ci = true;
	ok(decode(&rq, 0, "rqe") && is(EADM_A_RQE_LENGTH, 64) &&
	   is(EADM_A_RQE_STATE, EADM_ENTRY_STATE_POSTED), "a receive request");
	rq.id = 0x14;
	ok(decode(&rq, 0, "rqe") &&
	   is(EADM_A_RQE_STATE, EADM_ENTRY_STATE_FOREIGN) &&
	   !eadm_record_attr_has(&rec, EADM_A_RQE_ADDR), "of another QP");

	memset(data, 0, sizeof(data));
	be32(0, 0x80020000);
	be32(8, 0x12);
	be32(16, 5);
	be32(32, 0x80040100);
	be32(40, 0x13);
	be32(48, 5);
	cq.has_sw_ci = true;
	cq.sw_ci = 1;
	ok(decode(&cq, 0, "cqe") && is(EADM_A_CQE_OP, EADM_WQE_OP_SEND) &&
	   is(EADM_A_CQE_QUEUE, EADM_CQE_QUEUE_SQ) &&
	   is(EADM_A_CQE_QPN, 0x12) && is(EADM_A_CQE_STATUS, 0) &&
	   is(EADM_A_CQE_STATE, EADM_ENTRY_STATE_DONE), "a completion, taken");
	ok(decode(&cq, 1, "cqe") && is(EADM_A_CQE_OP, EADM_WQE_OP_RECEIVE) &&
	   is(EADM_A_CQE_QUEUE, EADM_CQE_QUEUE_RQ) &&
	   is(EADM_A_CQE_LENGTH, 5) &&
	   is(EADM_A_CQE_STATE, EADM_ENTRY_STATE_POSTED), "one that waits");

	memset(data, 0, sizeof(data));
	le(0, 0x0000000380000005, 8);
	ok(decode(&eq, 0, "eqe") && is(EADM_A_EQE_CQN, 5) &&
	   is(EADM_A_EQE_CQ_PI, 3) && is(EADM_A_EQE_PHASE, 1), "an event");
	eq.id = 0;
	le(0, 0x80030000, 4);
	le(4, 5, 4);
	ok(decode(&eq, 0, "eqe") &&
	   is(EADM_A_EQE_ASYNC, EADM_ASYNC_EVENT_CQ_ERROR) &&
	   is(EADM_A_EQE_CQN, 5) &&
	   !eadm_record_attr_has(&rec, EADM_A_EQE_QPN), "an error of a CQ");

	memset(data, 0, sizeof(data));
	le(0, 0x0030000000000004, 8);
	le(4 * BLOCK, 0x0030000101000008, 8);
	cmd.has_sw_pi = true;
	cmd.sw_pi = 8;
	cmd.has_sw_ci = true;
	cmd.sw_ci = 4;
	ok(decode(&cmd, 0, "cmde") == 4 &&
	   is(EADM_A_CMDE_OP, EADM_CMD_OP_QUERY_DEVICE) &&
	   is(EADM_A_CMDE_STATE, EADM_ENTRY_STATE_DONE), "a command");
	ok(decode(&cmd, 4, "cmde") == 4 &&
	   is(EADM_A_CMDE_OP, EADM_CMD_OP_CREATE_EQ) &&
	   is(EADM_A_CMDE_TAG, 1) &&
	   is(EADM_A_CMDE_STATE, EADM_ENTRY_STATE_POSTED), "one under way");
	ok(!decode(&cmd, 1, "cmde"), "no command within another");
}

static void other_size(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ, QPN, 2 * BLOCK);

	memset(data, 0, sizeof(data));
	le(0, 0x0100001210400001, 8);
	ring.count /= 2;
	ok(!eadm_entry_known(&ring) && !decode(&ring, 0, "sqe"),
	   "entries of another size are not shown");
	ring = ring_of(EADM_RAW_KIND_SQ, QPN, BLOCK);
	ring.depth = 12;
	ring.count = 12;
	ok(!eadm_entry_known(&ring), "nor a ring that indices do not fit");
}

static void counters(void)
{
	const struct eadm_object *qp = eadm_object_find("qp");

	ok(eadm_field_bits(eadm_object_find_field(qp, "hw-tx-packets")) == 16,
	   "the width of a counter is known");
}

int main(void)
{
	counters();
	send_queue();
	wrapped();
	deep();
	left_over();
	other_queues();
	other_size();
	eadm_record_release(&rec);
	return done();
}
