// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of queues of formats that there are not, and of none. */
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "read/entry.h"
#include "tap.h"

#define DEPTH 16
#define BLOCK 32

static const struct eadm_device device = { .name = "cloud_0" };
static unsigned char data[DEPTH * BLOCK];
static uint8_t places[DEPTH];
static struct eadm_record rec;

static const struct eadm_item length = {
	.attr = EADM_A_RQE_LENGTH, .at = { 4, 4, EADM_BE, 8, 12 },
};

/* Entries of 8 to 40 bytes; indices of 16 bits that run on, in depths that divide them. */
static const struct eadm_format free_format = {
	.name = "rqe", .kind = EADM_RAW_KIND_RQ, .min_stride = 8,
	.max_stride = 40, .places = 1, .index = EADM_INDEX_FREE16,
	.members = &length, .n_members = 1,
};

static const struct eadm_family free_family = {
	.name = "free", .formats = &free_format, .n_formats = 1,
};

static struct eadm_ring ring_of(const struct eadm_family *family,
				uint32_t kind, uint32_t size)
{
	return (struct eadm_ring){
		.dev = &device, .family = family,
		.kind = kind, .id = 1, .depth = DEPTH,
		.entry_size = size, .count = DEPTH, .data = data,
		.places = places,
	};
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

/* What is not described is not shown, and nothing of it is kept. */
static void unknown(void)
{
	static const struct eadm_family bare = { .name = "bare" };
	struct eadm_ring ring = ring_of(&bare, EADM_RAW_KIND_SQ, BLOCK);
	uint32_t kind;
	bool shown = false;

	memset(data, 0x11, sizeof(data));
	for (kind = EADM_RAW_KIND_SQ; kind <= EADM_RAW_KIND_CMD_CQ; kind++) {
		ring.kind = kind;
		ring.family = &bare;
		shown |= decode(&ring, 0, kind == EADM_RAW_KIND_SQ ? "sqe" :
							     "cqe");
		ring.family = NULL;
		shown |= decode(&ring, 0, "cqe");
	}
	ok(!shown, "entries of an unknown family are not shown");
	ring = ring_of(&free_family, EADM_RAW_KIND_RQ, BLOCK);
	ok(eadm_entry_known(&ring) && decode(&ring, 0, "rqe"),
	   "those of a known one are");
	ring.entry_size = 2 * BLOCK;
	ring.count /= 2;
	ok(!eadm_entry_known(&ring) && !decode(&ring, 0, "rqe"),
	   "but not of another size");
	ring = ring_of(&free_family, EADM_RAW_KIND_RQ, BLOCK);
	ring.depth = 12;
	ring.count = 12;
	ok(!eadm_entry_known(&ring), "nor a ring that indices do not fit");
	ring = ring_of(&free_family, EADM_RAW_KIND_RQ, BLOCK);
	ring.has_index = true;
	ring.index = EADM_RING_INDEX_FREE;
	ring.index_bits = 16;
	ok(eadm_entry_known(&ring) && eadm_entry_fits(&ring),
	   "a driver may report the index rule of the format");
	ring.index_bits = 32;
	ok(!eadm_entry_known(&ring) && !eadm_entry_fits(&ring) &&
	   !decode(&ring, 0, "rqe"), "but no other width");
	ring.index = EADM_RING_INDEX_PHASE;
	ring.index_bits = 0;
	memset(data, 'x', sizeof(data));
	ok(!eadm_entry_fits(&ring) && !decode(&ring, 0, "rqe") &&
	   !eadm_entry_scrub(&ring) && !memchr(data, 'x', sizeof(data)),
	   "nor another rule: nothing of it is shown or kept");
	ring = ring_of(&bare, EADM_RAW_KIND_RQ, BLOCK);
	memset(data, 'x', sizeof(data));
	ok(!eadm_entry_scrub(&ring) && !memchr(data, 'x', sizeof(data)),
	   "and scrubbing leaves nothing of them");
	ok(!eadm_context_row(&bare, EADM_RAW_KIND_QPC, data, sizeof(data), 0,
			     &rec) &&
	   !eadm_context_row(NULL, EADM_RAW_KIND_QPC, data, sizeof(data), 0,
			     &rec) &&
	   !eadm_regs_row(NULL, data, sizeof(data), 0, &rec) &&
	   !eadm_members_known(&bare, EADM_RAW_KIND_REGS),
	   "nor have their contexts and registers rows");
}

/* Strides and depths that are no powers of two, and indices with laps. */
static void other_rules(void)
{
	static const struct eadm_format format = {
		.name = "rqe", .kind = EADM_RAW_KIND_RQ, .min_stride = 8,
		.max_stride = 40, .places = 1, .index = EADM_INDEX_LAP,
		.members = &length, .n_members = 1,
	};
	static const struct eadm_family family = {
		.name = "laps", .formats = &format, .n_formats = 1,
	};
	struct eadm_ring ring = ring_of(&family, EADM_RAW_KIND_RQ, 24);

	ring.depth = 10;
	ring.count = 10;
	ring.has_sw_pi = true;
	ring.has_hw_ci = true;
	ring.hw_ci = 18;		/* place 8 of the second lap */
	ring.sw_pi = 1;			/* place 1 of the next one */
	memset(data, 0, sizeof(data));
	be32(9 * 24 + 4, 0x12345678);
	be32(0 * 24 + 4, 0x12345678);
	be32(1 * 24 + 4, 0x12345678);
	ok(decode(&ring, 9, "rqe") && is(EADM_A_RQE_LENGTH, 0x456) &&
	   is(EADM_A_RQE_STATE, EADM_ENTRY_STATE_POSTED) &&
	   decode(&ring, 0, "rqe") &&
	   is(EADM_A_RQE_STATE, EADM_ENTRY_STATE_POSTED), "a posted entry");
	ok(decode(&ring, 1, "rqe") &&
	   is(EADM_A_RQE_STATE, EADM_ENTRY_STATE_DONE) &&
	   is(EADM_A_RQE_MARK, EADM_ENTRY_MARK_SW_PI), "one behind the index");
}

int main(void)
{
	unknown();
	other_rules();
	eadm_record_release(&rec);
	return done();
}
