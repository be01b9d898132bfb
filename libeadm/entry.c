// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of queues to rows, by tables. The bytes come from memory that a
 * process or the adapter may write to at any time, or from a file: nothing in
 * them is believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "entry.h"

/* ---- members ----------------------------------------------------------------- */

enum order {
	LE,
	BE,
};

/* A member of an entry: bits of a word. */
struct member {
	uint8_t attr;
	uint8_t offset;
	uint8_t size;		/* bytes of the word */
	uint8_t order;
	uint8_t shift;
	uint8_t bits;		/* 0: all of them */
};

static uint64_t load(const unsigned char *p, unsigned int size,
		     unsigned int order)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)p[order == LE ? i : size - 1 - i] << (8 * i);
	return v;
}

static uint64_t value_of(const unsigned char *p, const struct member *m)
{
	uint64_t v = load(p + m->offset, m->size, m->order) >> m->shift;

	return m->bits && m->bits < 64 ? v & ((1ULL << m->bits) - 1) : v;
}

static void put_members(struct eadm_record *rec, const unsigned char *p,
			size_t len, const struct member *m, unsigned int n)
{
	for (; n; n--, m++) {
		if ((size_t)m->offset + m->size <= len)
			eadm_record_put_u64(rec, m->attr, value_of(p, m));
	}
}

#define PUT(rec, p, len, table) \
	put_members(rec, p, len, table, EADM_ARRAY_SIZE(table))

/* Send queue and command ring begin alike. */
#define HDR_BLOCKS(p)	((unsigned int)(load(p, 8, LE) >> 52 & 7) + 1)
#define HDR_QPN(p)	((uint32_t)(load(p, 8, LE) >> 32 & 0xfffff))
#define HDR_PI(p)	((uint16_t)load(p, 8, LE))
#define HDR_OP(p)	((unsigned int)(load(p, 8, LE) >> 27 & 0x1f))
#define HDR_INLINE(p)	((bool)(load(p, 8, LE) >> 25 & 1))
#define HDR_SGES(p)	((unsigned int)(load(p, 8, LE) >> 56))

#define BLOCK 32
#define MAX_BLOCKS 4
#define MAX_SGES 6

/* ---- send queues: which blocks begin an entry ------------------------------------ */

static bool is_zero(const unsigned char *p, size_t len)
{
	while (len) {
		if (p[--len])
			return false;
	}
	return true;
}

/*
 * An entry carries the producer index behind it and its QP, which hardly any
 * other bytes do by chance. Entries of the command ring have no QP.
 */
static unsigned int header_at(const unsigned char *p, uint32_t place,
			      uint32_t depth, uint32_t qpn, bool cmd)
{
	unsigned int blocks = HDR_BLOCKS(p);

	if (blocks > MAX_BLOCKS || (!cmd && HDR_QPN(p) != qpn))
		return EADM_BLOCK_NONE;
	if (((HDR_PI(p) - blocks) & (depth - 1)) != place)
		return EADM_BLOCK_NONE;
	/* Zeroes pass for an entry of command 0 or QP 0. */
	return is_zero(p, 8) ? EADM_BLOCK_NONE : blocks;
}

/*
 * For each block the number of blocks of the entry that begins there, or
 * EADM_BLOCK_*. Where an entry lies on what is left of another one, the one
 * with the later index is believed. The part read may begin within an entry.
 */
int eadm_entry_index(const unsigned char *data, uint32_t count, uint32_t first,
		     uint32_t depth, uint32_t qpn, uint8_t *blocks)
{
	uint32_t i, at;
	unsigned int k;

	for (i = 0; i < count; i++)
		blocks[i] = header_at(data + (size_t)i * BLOCK, first + i,
				      depth, qpn, false);
	for (i = 0; i < count; i++) {
		if (!blocks[i] || blocks[i] == EADM_BLOCK_REST)
			continue;
		for (k = 1; blocks[i] && k < blocks[i]; k++) {
			/* Entries wrap around only in a ring read whole. */
			at = i + k;
			if (at >= count && count < depth)
				break;
			at %= count;
			if (blocks[at] && blocks[at] != EADM_BLOCK_REST &&
			    (int16_t)(HDR_PI(data + (size_t)at * BLOCK) -
				      HDR_PI(data + (size_t)i * BLOCK)) > 0 &&
			    (uint16_t)(HDR_PI(data + (size_t)at * BLOCK) -
				       HDR_PI(data + (size_t)i * BLOCK)) >
				    blocks[at])
				blocks[i] = EADM_BLOCK_NONE;
		}
		for (k = 1; blocks[i] && k < blocks[i]; k++) {
			at = i + k;
			if (at >= count && count < depth)
				break;
			blocks[at % count] = EADM_BLOCK_REST;
		}
	}
	return 0;
}

static unsigned int payload_offset(unsigned int op)
{
	return op == EADM_WQE_OP_WRITE || op == EADM_WQE_OP_WRITE_WITH_IMM ?
		       0x20 : 0x10;
}

/* Bytes of a ring that may wrap around, and only those that were read. */
static void clear(unsigned char *data, uint32_t count, bool whole, size_t from,
		  size_t len)
{
	size_t size = (size_t)count * BLOCK;

	for (; len; len--, from++) {
		if (from < size)
			data[from] = 0;
		else if (whole)
			data[from % size] = 0;
	}
}

/*
 * The words of an entry that mean something, a bit each. Who writes an entry
 * leaves the others as they were, with payload of an older entry perhaps.
 */
static uint32_t words_of(const unsigned char *p)
{
	static const uint32_t fixed[32] = {
		[EADM_WQE_OP_SEND] = 0xb,
		[EADM_WQE_OP_SEND_WITH_IMM] = 0xf,
		[EADM_WQE_OP_SEND_WITH_INV] = 0xf,
		[EADM_WQE_OP_WRITE] = 0x7b,
		[EADM_WQE_OP_WRITE_WITH_IMM] = 0x7f,
		[EADM_WQE_OP_READ] = 0xf7b,
		[EADM_WQE_OP_READ_WITH_INV] = 0xf7f,
		[EADM_WQE_OP_ATOMIC_CAS] = 0xfbf3,
		[EADM_WQE_OP_ATOMIC_FAA] = 0xfb33,
		[EADM_WQE_OP_REGISTER_MR] = 0xff,
		[EADM_WQE_OP_LOCAL_INV] = 0x23,
	};
	unsigned int op = HDR_OP(p), n = 0, at = payload_offset(op) / 4;
	uint64_t attrs = load(p + 0x18, 4, LE);

	switch (op) {
	case EADM_WQE_OP_SEND:
	case EADM_WQE_OP_SEND_WITH_IMM:
	case EADM_WQE_OP_SEND_WITH_INV:
	case EADM_WQE_OP_WRITE:
	case EADM_WQE_OP_WRITE_WITH_IMM:
		if (!HDR_INLINE(p))
			n = HDR_SGES(p) < MAX_SGES ? 4 * HDR_SGES(p) :
						     4 * MAX_SGES;
		break;
	case EADM_WQE_OP_REGISTER_MR:
		/* Up to four addresses of pages, unless they are in a table. */
		at = 0x20 / 4;
		if (!(attrs >> 6 & 3))
			n = attrs >> 12 < 4 ? 2 * (attrs >> 12) : 8;
		break;
	}
	return fixed[op] | 0x3 | ((1U << n) - 1) << at;
}

/*
 * Take out what may be payload: inline data, what an entry leaves of older
 * ones, and blocks that are no entry. All that was read at once: what
 * continues an entry looks like no entry without the one before. 0 or
 * -ENOMEM, when nothing was taken out.
 */
int eadm_entry_scrub(unsigned char *data, uint32_t first, uint32_t count,
		     uint32_t depth, uint32_t qpn)
{
	uint8_t *blocks = malloc(count + 1);
	bool whole = !first && count == depth;
	unsigned int word;
	unsigned char *p;
	uint32_t i, keep;

	if (!blocks)
		return -ENOMEM;
	eadm_entry_index(data, count, first, depth, qpn, blocks);
	for (i = 0; i < count; i++) {
		p = data + (size_t)i * BLOCK;
		if (blocks[i] == EADM_BLOCK_NONE) {
			memset(p, 0, BLOCK);
			continue;
		}
		if (blocks[i] == EADM_BLOCK_REST)
			continue;
		keep = words_of(p);
		for (word = 0; word < blocks[i] * BLOCK / 4U; word++) {
			if (!(keep >> word & 1))
				clear(data, count, whole,
				      (size_t)i * BLOCK + 4 * word, 4);
		}
	}
	free(blocks);
	return 0;
}

/* ---- where pointers stand -------------------------------------------------------- */

static bool stands_in(const struct eadm_ring *ring, bool has, uint32_t index,
		      uint32_t place, unsigned int n)
{
	return has && ((index - place) & (ring->depth - 1)) < n;
}

static void put_place(const struct eadm_ring *ring, uint32_t place,
		      unsigned int n, unsigned int attr_index,
		      unsigned int attr_mark, struct eadm_record *rec)
{
	uint32_t mark = 0;

	eadm_record_put_u64(rec, attr_index, place);
	if (stands_in(ring, ring->has_sw_pi, ring->sw_pi, place, n))
		mark |= EADM_ENTRY_MARK_SW_PI;
	if (stands_in(ring, ring->has_sw_ci, ring->sw_ci, place, n))
		mark |= EADM_ENTRY_MARK_SW_CI;
	if (stands_in(ring, ring->has_hw_pi, ring->hw_pi, place, n))
		mark |= EADM_ENTRY_MARK_HW_PI;
	if (stands_in(ring, ring->has_hw_ci, ring->hw_ci, place, n))
		mark |= EADM_ENTRY_MARK_HW_CI;
	if (mark)
		eadm_record_put_u64(rec, attr_mark, mark);
}

/* An entry of a queue that software fills and the adapter empties. */
static uint32_t work_state(const struct eadm_ring *ring, uint32_t place)
{
	uint32_t ci = ring->has_sw_ci ? ring->sw_ci : ring->hw_ci;
	uint32_t left;

	if (!ring->has_sw_pi || !(ring->has_sw_ci || ring->has_hw_ci))
		return EADM_ENTRY_STATE_WRITTEN;
	left = (uint16_t)(ring->sw_pi - ci);
	return ((place - ci) & (ring->depth - 1)) < left ?
		       EADM_ENTRY_STATE_POSTED : EADM_ENTRY_STATE_DONE;
}

/* An entry of a queue that the adapter fills: its owner bit tells. */
static uint32_t owned_state(const struct eadm_ring *ring, uint32_t place,
			    bool owner)
{
	uint32_t index;

	if (!ring->has_sw_ci)
		return EADM_ENTRY_STATE_WRITTEN;
	index = ring->sw_ci + ((place - ring->sw_ci) & (ring->depth - 1));
	return owner != !!(index & ring->depth) ? EADM_ENTRY_STATE_POSTED :
						  EADM_ENTRY_STATE_DONE;
}

static const unsigned char *entry_at(const struct eadm_ring *ring,
				     uint32_t place)
{
	return ring->data + (size_t)(place - ring->first) * ring->entry_size;
}

static void put_common(const struct eadm_ring *ring, struct eadm_record *rec)
{
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, ring->dev->index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, ring->dev->name);
	if (ring->hw_error)
		eadm_record_put_u64(rec, EADM_A_COMMON_HW_ERROR,
				    ring->hw_error);
}

/* ---- send queue entries ---------------------------------------------------------- */

static const struct member sqe_send[] = {
	{ EADM_A_SQE_LENGTH, 0x0c, 4, LE, 0, 0 },
};

static const struct member sqe_imm[] = {
	{ EADM_A_SQE_IMM, 0x08, 4, BE, 0, 0 },
};

static const struct member sqe_inv[] = {
	{ EADM_A_SQE_INV_KEY, 0x08, 4, LE, 0, 0 },
};

static const struct member sqe_write[] = {
	{ EADM_A_SQE_LENGTH, 0x0c, 4, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_KEY, 0x10, 4, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_ADDR, 0x14, 8, LE, 0, 0 },
};

static const struct member sqe_read[] = {
	{ EADM_A_SQE_LENGTH, 0x0c, 4, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_KEY, 0x10, 4, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_ADDR, 0x14, 8, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_ADDR, 0x20, 8, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_LENGTH, 0x28, 4, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_KEY, 0x2c, 4, LE, 0, 0 },
};

static const struct member sqe_atomic[] = {
	{ EADM_A_SQE_SWAP_ADD, 0x10, 8, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_ADDR, 0x20, 8, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_KEY, 0x2c, 4, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_ADDR, 0x30, 8, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_LENGTH, 0x38, 4, LE, 0, 0 },
	{ EADM_A_SQE_SGE0_KEY, 0x3c, 4, LE, 0, 0 },
};

static const struct member sqe_compare[] = {
	{ EADM_A_SQE_COMPARE, 0x18, 8, LE, 0, 0 },
};

static const struct member sqe_reg_mr[] = {
	{ EADM_A_SQE_REMOTE_ADDR, 0x08, 8, LE, 0, 0 },
	{ EADM_A_SQE_LENGTH, 0x10, 4, LE, 0, 0 },
	{ EADM_A_SQE_REMOTE_KEY, 0x14, 4, LE, 0, 0 },
	{ EADM_A_SQE_PAGES, 0x18, 4, LE, 12, 20 },
	{ EADM_A_SQE_RIGHTS, 0x18, 4, LE, 1, 5 },
};

static const struct member sqe_local_inv[] = {
	{ EADM_A_SQE_INV_KEY, 0x14, 4, LE, 0, 0 },
};

static void put_sgl(struct eadm_record *rec, const unsigned char *p, size_t len,
		    size_t offset, unsigned int n)
{
	static const uint8_t addr[MAX_SGES] = {
		EADM_A_SQE_SGE0_ADDR, EADM_A_SQE_SGE1_ADDR,
		EADM_A_SQE_SGE2_ADDR, EADM_A_SQE_SGE3_ADDR,
		EADM_A_SQE_SGE4_ADDR, EADM_A_SQE_SGE5_ADDR,
	};
	unsigned int i;

	for (i = 0; i < n && i < MAX_SGES && offset + 16 <= len; i++) {
		eadm_record_put_u64(rec, addr[i], load(p + offset, 8, LE));
		/* Length and key follow the address in the specification. */
		eadm_record_put_u64(rec, addr[i] + 1, load(p + offset + 8, 4,
							   LE));
		eadm_record_put_u64(rec, addr[i] + 2, load(p + offset + 12, 4,
							   LE));
		offset += 16;
	}
}

static void put_data(struct eadm_record *rec, const unsigned char *p,
		     size_t len, const struct eadm_ring *ring)
{
	unsigned int op = HDR_OP(p), n = HDR_SGES(p);
	size_t offset = payload_offset(op);

	if (!HDR_INLINE(p)) {
		eadm_record_put_u64(rec, EADM_A_SQE_SGES, n);
		put_sgl(rec, p, len, offset, n);
	} else if (ring->payload && n <= 96 && offset + n <= len) {
		eadm_record_put_bytes(rec, EADM_A_SQE_PAYLOAD, p + offset, n);
	}
}

static void put_sqe_body(struct eadm_record *rec, const unsigned char *p,
			 size_t len, const struct eadm_ring *ring)
{
	switch (HDR_OP(p)) {
	case EADM_WQE_OP_SEND_WITH_IMM:
		PUT(rec, p, len, sqe_imm);
		PUT(rec, p, len, sqe_send);
		put_data(rec, p, len, ring);
		break;
	case EADM_WQE_OP_SEND_WITH_INV:
		PUT(rec, p, len, sqe_inv);
		/* fall through */
	case EADM_WQE_OP_SEND:
		PUT(rec, p, len, sqe_send);
		put_data(rec, p, len, ring);
		break;
	case EADM_WQE_OP_WRITE_WITH_IMM:
		PUT(rec, p, len, sqe_imm);
		/* fall through */
	case EADM_WQE_OP_WRITE:
		PUT(rec, p, len, sqe_write);
		put_data(rec, p, len, ring);
		break;
	case EADM_WQE_OP_READ_WITH_INV:
		PUT(rec, p, len, sqe_inv);
		/* fall through */
	case EADM_WQE_OP_READ:
		PUT(rec, p, len, sqe_read);
		break;
	case EADM_WQE_OP_ATOMIC_CAS:
		PUT(rec, p, len, sqe_compare);
		/* fall through */
	case EADM_WQE_OP_ATOMIC_FAA:
		PUT(rec, p, len, sqe_atomic);
		break;
	case EADM_WQE_OP_REGISTER_MR:
		PUT(rec, p, len, sqe_reg_mr);
		break;
	case EADM_WQE_OP_LOCAL_INV:
		PUT(rec, p, len, sqe_local_inv);
		break;
	}
}

static uint32_t sqe_flags(const unsigned char *p)
{
	uint64_t h = load(p, 8, LE);

	return (h >> 22 & 1 ? EADM_WQE_FLAGS_SIGNALED : 0) |
	       (h >> 23 & 1 ? EADM_WQE_FLAGS_SOLICITED : 0) |
	       (h >> 24 & 1 ? EADM_WQE_FLAGS_FENCE : 0) |
	       (h >> 25 & 1 ? EADM_WQE_FLAGS_INLINE : 0) |
	       (h >> 26 & 1 ? EADM_WQE_FLAGS_DIRECT : 0);
}

static unsigned int decode_sqe(const struct eadm_ring *ring, uint32_t place,
			       struct eadm_record *rec)
{
	unsigned char entry[MAX_BLOCKS * BLOCK];
	unsigned int n = ring->blocks[place - ring->first], k;
	uint32_t at;

	if (n == EADM_BLOCK_REST)
		return 0;
	if (!n) {
		const unsigned char *p = entry_at(ring, place);

		put_place(ring, place, 1, EADM_A_SQE_INDEX, EADM_A_SQE_MARK,
			  rec);
		eadm_record_put_u64(rec, EADM_A_SQE_STATE,
				    is_zero(p, BLOCK) ?
					    EADM_ENTRY_STATE_EMPTY :
					    EADM_ENTRY_STATE_FOREIGN);
		eadm_record_put_bytes(rec, EADM_A_SQE_BYTES, p, BLOCK);
		return 1;
	}
	for (k = 0; k < n; k++) {
		at = (place + k) & (ring->depth - 1);
		/* The rest of it was not read. */
		if (at < ring->first || at >= ring->first + ring->count)
			break;
		memcpy(entry + k * BLOCK, entry_at(ring, at), BLOCK);
	}
	put_place(ring, place, n, EADM_A_SQE_INDEX, EADM_A_SQE_MARK, rec);
	eadm_record_put_u64(rec, EADM_A_SQE_STATE, work_state(ring, place));
	eadm_record_put_u64(rec, EADM_A_SQE_OP, HDR_OP(entry));
	eadm_record_put_u64(rec, EADM_A_SQE_FLAGS, sqe_flags(entry));
	eadm_record_put_u64(rec, EADM_A_SQE_BLOCKS, n);
	eadm_record_put_u64(rec, EADM_A_SQE_PI, HDR_PI(entry));
	put_sqe_body(rec, entry, (size_t)k * BLOCK, ring);
	eadm_record_put_bytes(rec, EADM_A_SQE_BYTES, entry, (size_t)k * BLOCK);
	return n;
}

/* ---- other entries --------------------------------------------------------------- */

static const struct member rqe_members[] = {
	{ EADM_A_RQE_PI, 0x00, 2, LE, 0, 0 },
	{ EADM_A_RQE_ADDR, 0x10, 8, LE, 0, 0 },
	{ EADM_A_RQE_LENGTH, 0x18, 4, LE, 0, 0 },
	{ EADM_A_RQE_LKEY, 0x1c, 4, LE, 0, 0 },
};

static unsigned int decode_rqe(const struct eadm_ring *ring, uint32_t place,
			       struct eadm_record *rec)
{
	const unsigned char *p = entry_at(ring, place);
	uint32_t state = work_state(ring, place);

	put_place(ring, place, 1, EADM_A_RQE_INDEX, EADM_A_RQE_MARK, rec);
	eadm_record_put_bytes(rec, EADM_A_RQE_BYTES, p, BLOCK);
	if (is_zero(p, BLOCK))
		state = EADM_ENTRY_STATE_EMPTY;
	else if (load(p + 4, 4, LE) != ring->id ||
		 ((load(p, 2, LE) - 1) & (ring->depth - 1)) != place)
		state = EADM_ENTRY_STATE_FOREIGN;
	else
		PUT(rec, p, BLOCK, rqe_members);
	eadm_record_put_u64(rec, EADM_A_RQE_STATE, state);
	return 1;
}

static const struct member cqe_head[] = {
	{ EADM_A_CQE_OWNER, 0x00, 4, BE, 31, 1 },
	{ EADM_A_CQE_QUEUE, 0x00, 4, BE, 8, 8 },
	{ EADM_A_CQE_WQE_INDEX, 0x04, 4, BE, 0, 0 },
};

static const struct member cqe_work[] = {
	{ EADM_A_CQE_OP, 0x00, 4, BE, 16, 8 },
	{ EADM_A_CQE_STATUS, 0x00, 4, BE, 0, 8 },
	{ EADM_A_CQE_QPN, 0x08, 4, BE, 0, 0 },
	{ EADM_A_CQE_LENGTH, 0x10, 4, BE, 0, 0 },
};

static const struct member cqe_imm[] = {
	{ EADM_A_CQE_IMM, 0x0c, 4, LE, 0, 0 },
};

static const struct member cqe_inv[] = {
	{ EADM_A_CQE_INV_KEY, 0x0c, 4, BE, 0, 0 },
};

static const struct member cqe_cmd[] = {
	{ EADM_A_CQE_SYNDROME_RAW, 0x00, 4, BE, 0, 8 },
};

static unsigned int decode_cqe(const struct eadm_ring *ring, uint32_t place,
			       struct eadm_record *rec)
{
	const unsigned char *p = entry_at(ring, place);
	bool cmd = ring->kind == EADM_RAW_KIND_CMD_CQ;
	unsigned int op = p[1];

	put_place(ring, place, 1, EADM_A_CQE_INDEX, EADM_A_CQE_MARK, rec);
	eadm_record_put_bytes(rec, EADM_A_CQE_BYTES, p, BLOCK);
	if (is_zero(p, BLOCK)) {
		eadm_record_put_u64(rec, EADM_A_CQE_STATE,
				    EADM_ENTRY_STATE_EMPTY);
		return 1;
	}
	eadm_record_put_u64(rec, EADM_A_CQE_STATE,
			    owned_state(ring, place, p[0] >> 7));
	PUT(rec, p, BLOCK, cqe_head);
	if (cmd) {
		PUT(rec, p, BLOCK, cqe_cmd);
		eadm_record_put_bytes(rec, EADM_A_CQE_RESPONSE, p + 8, 16);
		return 1;
	}
	PUT(rec, p, BLOCK, cqe_work);
	if (op == EADM_WQE_OP_RECEIVE_IMM || op == EADM_WQE_OP_RECEIVE_WRITE_IMM)
		PUT(rec, p, BLOCK, cqe_imm);
	else if (op == EADM_WQE_OP_RECEIVE_INV)
		PUT(rec, p, BLOCK, cqe_inv);
	return 1;
}

#define EQE 16

static const struct member eqe_comp[] = {
	{ EADM_A_EQE_OWNER, 0x00, 8, LE, 31, 1 },
	{ EADM_A_EQE_CQN, 0x00, 8, LE, 0, 20 },
	{ EADM_A_EQE_CQ_PI, 0x00, 8, LE, 32, 24 },
};

static const struct member eqe_async[] = {
	{ EADM_A_EQE_OWNER, 0x00, 4, LE, 31, 1 },
	{ EADM_A_EQE_ASYNC, 0x00, 4, LE, 16, 8 },
	{ EADM_A_EQE_SUB_TYPE, 0x00, 4, LE, 0, 8 },
	{ EADM_A_EQE_DATA1, 0x08, 4, LE, 0, 0 },
};

static unsigned int decode_eqe(const struct eadm_ring *ring, uint32_t place,
			       struct eadm_record *rec)
{
	const unsigned char *p = entry_at(ring, place);

	put_place(ring, place, 1, EADM_A_EQE_INDEX, EADM_A_EQE_MARK, rec);
	eadm_record_put_bytes(rec, EADM_A_EQE_BYTES, p, EQE);
	if (is_zero(p, EQE)) {
		eadm_record_put_u64(rec, EADM_A_EQE_STATE,
				    EADM_ENTRY_STATE_EMPTY);
		return 1;
	}
	eadm_record_put_u64(rec, EADM_A_EQE_STATE,
			    owned_state(ring, place, p[3] >> 7));
	if (ring->id) {
		PUT(rec, p, EQE, eqe_comp);
		return 1;
	}
	PUT(rec, p, EQE, eqe_async);
	eadm_record_put_u64(rec, p[2] == EADM_ASYNC_EVENT_CQ_ERROR ?
				    EADM_A_EQE_CQN : EADM_A_EQE_QPN,
			    load(p + 4, 4, LE));
	return 1;
}

/* Slots have a fixed size that each command tells. */
static unsigned int decode_cmde(const struct eadm_ring *ring, uint32_t place,
				struct eadm_record *rec)
{
	const unsigned char *p = entry_at(ring, place);
	unsigned int n = header_at(p, place, ring->depth, 0, true);
	uint64_t h = load(p, 8, LE);
	size_t room = (size_t)(ring->first + ring->count - place) * BLOCK;

	if (!n)
		return 0;
	put_place(ring, place, n, EADM_A_CMDE_INDEX, EADM_A_CMDE_MARK, rec);
	eadm_record_put_u64(rec, EADM_A_CMDE_STATE, work_state(ring, place));
	eadm_record_put_u64(rec, EADM_A_CMDE_OP,
			    (h >> 24 & 3) * 256 + (h >> 16 & 0xff));
	eadm_record_put_u64(rec, EADM_A_CMDE_COOKIE, h >> 32 & 0xffff);
	eadm_record_put_u64(rec, EADM_A_CMDE_BLOCKS, n);
	eadm_record_put_u64(rec, EADM_A_CMDE_PI, HDR_PI(p));
	eadm_record_put_bytes(rec, EADM_A_CMDE_BYTES, p,
			      (size_t)n * BLOCK < room ? (size_t)n * BLOCK :
							 room);
	return n;
}

/*
 * A row for the entry at a place of the ring, which lies within what was read.
 * Returns how many places it takes, or 0: no row for what is only the rest of
 * an entry.
 */
unsigned int eadm_entry_decode(const struct eadm_ring *ring, uint32_t place,
			       const struct eadm_object *object,
			       struct eadm_record *rec)
{
	eadm_record_reset(rec, object, ring->time);
	put_common(ring, rec);
	switch (ring->kind) {
	case EADM_RAW_KIND_SQ:
		eadm_record_put_u64(rec, EADM_A_SQE_QPN, ring->id);
		return decode_sqe(ring, place, rec);
	case EADM_RAW_KIND_RQ:
		eadm_record_put_u64(rec, EADM_A_RQE_QPN, ring->id);
		return decode_rqe(ring, place, rec);
	case EADM_RAW_KIND_CQ:
	case EADM_RAW_KIND_CMD_CQ:
		eadm_record_put_u64(rec, EADM_A_CQE_CQN, ring->id);
		return decode_cqe(ring, place, rec);
	case EADM_RAW_KIND_EQ:
		eadm_record_put_u64(rec, EADM_A_EQE_EQ, ring->id);
		return decode_eqe(ring, place, rec);
	case EADM_RAW_KIND_CMD_SQ:
		return decode_cmde(ring, place, rec);
	default:
		return 0;
	}
}
