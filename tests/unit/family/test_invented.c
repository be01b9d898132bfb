// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries and a context of an invented family: written with the header that its driver would
 * have, read with the library's tables. Both are generated from invented.yaml.
 */
#include <assert.h>
#include <endian.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "read/entry.h"
#include "tap.h"

/* What the headers of drivers need of the kernel. */
typedef uint8_t u8;
typedef uint32_t u32;
#define BIT(n) (1u << (n))
#define GENMASK(high, low) ((~0u >> (31 - (high))) & (~0u << (low)))
#define GENMASK_ULL(high, low) ((~0ull >> (63 - (high))) & (~0ull << (low)))
#define PUT(mask, v) ((mask) & ((v) * ((mask) & -(mask))))

#include "invented_classes.h"
#include "invented_hw.h"

#define DEPTH 300
#define PART 1000	/* first index in completions of the second part */

static const struct eadm_device device = { .name = "cloud_0" };
static union {
	unsigned char bytes[DEPTH * sizeof(struct invented_sqe)];
	struct invented_sqe sqe[DEPTH];
	struct invented_rqe rqe[DEPTH];
	struct invented_cqe cqe[DEPTH];
	struct invented_eqe eqe[DEPTH];
	struct invented_cmde cmde[256];
} data;
static struct eadm_record rec;

static struct eadm_ring ring_of(uint32_t kind, uint32_t size)
{
	memset(&data, 0, sizeof(data));
	return (struct eadm_ring){
		.dev = &device, .family = eadm_family_find("invented"),
		.kind = kind, .depth = DEPTH, .entry_size = size,
		.count = DEPTH, .data = data.bytes, .has_index = true,
		.index = invented_ring_index(kind),
		.index_bits = invented_ring_index_bits(kind),
	};
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

static bool is_state(const struct eadm_ring *ring, uint32_t place,
		     const char *object, uint64_t state)
{
	const struct eadm_field *field =
		eadm_object_find_field(eadm_object_find(object), "state");

	return decode(ring, place, object) && is(field->slot, state);
}

/* ---- completions: strides of 48 bytes, phases, laps of 300 ------------------------- */

static void complete(uint32_t place, uint32_t phase, uint32_t op, uint32_t cause)
{
	data.cqe[place] = (struct invented_cqe){
		.qpn = htobe32(0xa0b0c0d0), .wqe = htobe32(PART + place),
		.bytes = htole64(~INVENTED_CQE_BYTES_LENGTH |
				 PUT(INVENTED_CQE_BYTES_LENGTH, 4096ull)),
		.hdr = htobe32(PUT(INVENTED_CQE_PHASE, phase) |
			       PUT(INVENTED_CQE_OP, op) |
			       PUT(INVENTED_CQE_CAUSE, cause) |
			       PUT(INVENTED_CQE_QUEUE,
				   op == INVENTED_OP_RECEIVE ?
					   INVENTED_QUEUE_RECEIVE :
					   INVENTED_QUEUE_SEND)),
	};
}

static void completions(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_CQ,
					sizeof(struct invented_cqe));

	complete(0, 1, INVENTED_OP_SEND, INVENTED_CAUSE_NONE);
	complete(1, 1, INVENTED_OP_WRITE, INVENTED_CAUSE_RETRIES);
	complete(299, 1, INVENTED_OP_RECEIVE, INVENTED_CAUSE_FLUSHED);
	ok(eadm_entry_known(&ring) && eadm_entry_fits(&ring),
	   "a ring of 300 entries, with the index rule of the driver's header");
	ok(decode(&ring, 0, "cqe") == 1 && is(EADM_A_CQE_OP, EADM_WQE_OP_SEND) &&
	   is(EADM_A_CQE_QUEUE, EADM_CQE_QUEUE_SQ) &&
	   is(EADM_A_CQE_STATUS, EADM_CAUSE_NONE) && is(EADM_A_CQE_PHASE, 1),
	   "the family's numbers of operation and queue");
	ok(is(EADM_A_CQE_QPN, 0xa0b0c0d0) && is(EADM_A_CQE_WQE_INDEX, PART) &&
	   is(EADM_A_CQE_LENGTH, 4096), "words of either byte order");
	ok(decode(&ring, 1, "cqe") == 1 && is(EADM_A_CQE_OP, EADM_WQE_OP_WRITE) &&
	   is(EADM_A_CQE_STATUS, EADM_CAUSE_RETRIES_EXCEEDED) &&
	   is(EADM_A_CQE_SYNDROME_RAW, 15), "a failure, and its number");
	ok(decode(&ring, 299, "cqe") == 1 &&
	   is(EADM_A_CQE_OP, EADM_WQE_OP_RECEIVE) &&
	   is(EADM_A_CQE_QUEUE, EADM_CQE_QUEUE_RQ) &&
	   is(EADM_A_CQE_STATUS, EADM_CAUSE_FLUSHED) &&
	   is(EADM_A_CQE_INDEX, 299) && is(EADM_A_CQE_WQE_INDEX, PART + 299),
	   "the last place");
	complete(2, 1, 77, 78);
	ok(decode(&ring, 2, "cqe") == 1 &&
	   !eadm_record_attr_has(&rec, EADM_A_CQE_OP) &&
	   is(EADM_A_CQE_OP_RAW, 77), "an unknown operation has its number only");
	ok(eadm_family_index_bits(ring.family, "cq") == 32 &&
	   eadm_family_index_bits(ring.family, "cmd-sq") == 32 &&
	   !eadm_family_index_bits(ring.family, "rq"), "widths of indices");
}

/* The consumer is at 297 of the first lap, the producer at 4 of the second. */
static void phases(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_CQ,
					sizeof(struct invented_cqe));
	uint32_t place;
	bool right = true;

	ring.has_sw_ci = true;
	ring.sw_ci = 297;
	for (place = 0; place < DEPTH; place++)
		complete(place, place >= 4, INVENTED_OP_SEND,
			 INVENTED_CAUSE_NONE);
	for (place = 0; place < DEPTH; place++)
		right &= is_state(&ring, place, "cqe",
				  place >= 297 || place < 4 ?
					  EADM_ENTRY_STATE_POSTED :
					  EADM_ENTRY_STATE_DONE);
	ok(right, "completions wait around the end of a lap of 300");
	ok(decode(&ring, 297, "cqe") && is(EADM_A_CQE_MARK, EADM_ENTRY_MARK_SW_CI) &&
	   decode(&ring, 41, "cqe") && !eadm_record_attr_has(&rec, EADM_A_CQE_MARK),
	   "the consumer's place is marked");

	/* Indices run on over the lap's end: 597 is place 297 of the second lap. */
	ring.sw_ci = 597;
	for (place = 0; place < DEPTH; place++)
		complete(place, place < 4, INVENTED_OP_SEND,
			 INVENTED_CAUSE_NONE);
	for (place = 0, right = true; place < DEPTH; place++)
		right &= is_state(&ring, place, "cqe",
				  place >= 297 || place < 4 ?
					  EADM_ENTRY_STATE_POSTED :
					  EADM_ENTRY_STATE_DONE);
	ok(right, "and those of the next lap, whose phase is the other one");

	ring.index = EADM_RING_INDEX_LAP;
	ok(!eadm_entry_fits(&ring) && !decode(&ring, 0, "cqe"),
	   "with another index rule, nothing is shown");
	ring.index = EADM_RING_INDEX_PHASE;
	ring.entry_size = 24;
	ok(!eadm_entry_known(&ring) && !decode(&ring, 0, "cqe"),
	   "nor with another size");
}

/* A part of a ring: places 295 to 299, and those after the wrap. */
static void ranges(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_CQ,
					sizeof(struct invented_cqe));

	ring.first = 295;
	ring.count = 5;
	complete(4, 1, INVENTED_OP_SEND, INVENTED_CAUSE_NONE);
	ok(decode(&ring, 299, "cqe") && is(EADM_A_CQE_INDEX, 299) &&
	   is(EADM_A_CQE_WQE_INDEX, PART + 4), "a range at the end of a ring");
	ok(eadm_entry_place(&ring, 299) == 299 && !eadm_entry_place(&ring, 300) &&
	   eadm_entry_place(&ring, 601) == 1, "indices by place");
}

/* ---- other queues ------------------------------------------------------------------ */

static void sends(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_SQ,
					sizeof(struct invented_sqe));

	data.sqe[299].op = htole64(0xab00000000000000 |
				   PUT(INVENTED_SQE_OP_PEER, 0x7f0123456789) |
				   PUT(INVENTED_SQE_OP_OP, 0xcdull));
	ok(decode(&ring, 299, "sqe") && is(EADM_A_SQE_OP_RAW, 0xcd) &&
	   is(EADM_A_SQE_REMOTE_ADDR, 0x7f0123456789),
	   "48 bits in the middle of a word");
}

static void receives(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_RQ,
					sizeof(struct invented_rqe));
	bool right = true;
	uint32_t place;

	/* Indices count to 600: from place 290 of the second lap to place 10 of the first. */
	ring.has_hw_ci = true;
	ring.hw_ci = 590;
	ring.has_sw_pi = true;
	ring.sw_pi = 10;
	for (place = 0; place < DEPTH; place++)
		data.rqe[place] = (struct invented_rqe){
			.buffer = htobe64(0xfedcba9876543210 & INVENTED_RQE_BUFFER_WHOLE),
			.span = htobe32(0x87654321 & INVENTED_RQE_SPAN_WHOLE),
			.key = htole32(place + 1),
		};
	for (place = 0; place < DEPTH; place++)
		right &= is_state(&ring, place, "rqe",
				  place >= 290 || place < 10 ?
					  EADM_ENTRY_STATE_POSTED :
					  EADM_ENTRY_STATE_DONE) &&
			 is(EADM_A_RQE_LKEY, place + 1);
	ok(right, "receives of two laps of 300");
	ok(is(EADM_A_RQE_ADDR, 0xfedcba9876543210), "bits of a whole be64");
	ok(is(EADM_A_RQE_LENGTH, 0x87654321), "bits of a whole be32");
	ring.depth = 299;
	ok(eadm_entry_known(&ring), "laps may have any length");
}

static void events_and_commands(void)
{
	struct eadm_ring ring = ring_of(EADM_RAW_KIND_EQ,
					sizeof(struct invented_eqe));

	data.eqe[7].hdr = htobe32(PUT(INVENTED_EQE_EVENT, INVENTED_EVENT_QP) |
				  INVENTED_EQE_PHASE);
	data.eqe[7].qpn = htole32(0x01020304);
	ok(decode(&ring, 7, "eqe") && is(EADM_A_EQE_ASYNC, EADM_ASYNC_EVENT_QP_FATAL) &&
	   is(EADM_A_EQE_ASYNC_RAW, 3) && is(EADM_A_EQE_QPN, 0x01020304),
	   "an event of 24 bytes");
	ring = ring_of(EADM_RAW_KIND_CMD_SQ, sizeof(struct invented_cmde));
	ok(!eadm_entry_known(&ring), "indices of 32 bits do not fit laps of 300");
	ring.depth = 256;
	ring.count = 256;
	data.cmde[255].op = htobe32(INVENTED_CMD_CREATE_QP);
	ok(ring.index_bits == 32 && decode(&ring, 255, "cmde") &&
	   is(EADM_A_CMDE_OP, EADM_CMD_OP_CREATE_QP) && is(EADM_A_CMDE_OP_RAW, 8),
	   "but laps of 256");
	ring.index_bits = 16;
	ok(!eadm_entry_fits(&ring), "nor do indices of 16 bits");
}

static bool is_part(const unsigned char *bytes, unsigned int n, uint64_t offset,
		    const char *name, const char *text)
{
	eadm_record_reset(&rec, eadm_object_find("hwctx"), 0);
	return eadm_context_row(eadm_family_find("invented"), EADM_RAW_KIND_QPC,
				bytes, sizeof(struct invented_qpc), n, &rec) == 1 &&
	       is(EADM_A_HWCTX_OFFSET, offset) &&
	       !strcmp(rec.slot[EADM_A_HWCTX_NAME - 1].p, name) &&
	       !strcmp(rec.slot[EADM_A_HWCTX_TEXT - 1].p, text);
}

static void context(void)
{
	struct invented_qpc qpc = {
		.qpn = htobe32(1), .paths = htobe32(41),
		.sprayed = htobe64(0x123456789aULL), .last = htole64(640),
	};
	const unsigned char *bytes = (const unsigned char *)&qpc;

	ok(is_part(bytes, 0, 0, "qpn", "1") && is_part(bytes, 1, 4, "paths", "41") &&
	   is_part(bytes, 2, 0x270, "sprayed", "0x123456789a") &&
	   is_part(bytes, 3, 0x278, "last", "640"), "a context of 640 bytes");
	ok(!eadm_context_row(eadm_family_find("invented"), EADM_RAW_KIND_QPC, bytes,
			     sizeof(qpc), 4, &rec) &&
	   !eadm_context_row(eadm_family_find("invented"), EADM_RAW_KIND_QPC, bytes,
			     sizeof(qpc) - 1, 3, &rec), "and no more");
}

/* ---- what its driver has ------------------------------------------------------------ */

static void driver(void)
{
	ok(invented_op_class(INVENTED_CMD_REG_MR) == EADM_CMD_OP_REG_MR &&
	   invented_op_class(INVENTED_CMD_DESTROY_QP) == EADM_CMD_OP_DESTROY_QP &&
	   invented_op_class(3) == EADM_CMD_OP_OTHER, "classes of commands");
	ok(invented_event_class(INVENTED_EVENT_CQ) == EADM_ASYNC_EVENT_CQ_ERROR &&
	   invented_event_class(2) == EADM_ASYNC_EVENT_OTHER, "of events");
	ok(invented_cause_class(15) == EADM_CAUSE_RETRIES_EXCEEDED &&
	   invented_cause_class(14) == EADM_CAUSE_GENERAL &&
	   !invented_cmd_cause_class(0) &&
	   invented_cmd_cause_class(1) == EADM_CAUSE_REFUSED, "of failures");
}

static void own_fields(void)
{
	const struct eadm_object *qp = eadm_object_find("qp");
	const struct eadm_field *paths = eadm_object_find_field(qp, "hw-paths");
	const struct eadm_field *order = eadm_object_find_field(qp, "order");
	uint64_t value;

	ok(paths && order && !strcmp(eadm_field_family(paths), "invented") &&
	   !eadm_field_family(eadm_object_find_field(qp, "state")),
	   "fields that only it has");
	ok(eadm_field_perm(paths) == EADM_PERM_RAWIO &&
	   eadm_field_perm(order) == EADM_PERM_NONE,
	   "a right is needed for one of them");
	ok(!eadm_field_value_find(order, "scattered", &value) && value == 1 &&
	   eadm_field_value_find(order, "rts", &value), "names of values");
}

static void names(void)
{
	const struct eadm_family *family = eadm_family_find("invented");
	uint16_t vendor, part;

	ok(family && eadm_family_find("erdma") && eadm_family_find("efa") != family,
	   "it is beside the real families");
	ok(!eadm_family_has_netdev(family) && !eadm_family_has_cm(family) &&
	   eadm_family_has_netdev(eadm_family_find("erdma")),
	   "no network interface, no connections");
	ok(eadm_family_vectors(family) == 1 && family->common_vectors == 1 &&
	   !eadm_family_pci_id(family, 0, &vendor, &part) && vendor == 0x1234 &&
	   part == 0x5a5a && eadm_family_pci_id(family, 1, &vendor, &part),
	   "vectors and PCI ID");
}

int main(void)
{
	completions();
	phases();
	ranges();
	sends();
	receives();
	events_and_commands();
	context();
	driver();
	own_fields();
	names();
	eadm_record_release(&rec);
	return done();
}
