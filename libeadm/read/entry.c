// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of queues as rows, decoded with their family's tables. The bytes come from
 * memory that a process or the adapter may write to at any time, or from a file, and
 * are not trusted. If the format of an entry is unknown, its bytes are neither shown
 * nor kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "entry.h"
#include "family/family.h"

/* ---- rings --------------------------------------------------------------------- */

static const struct eadm_format *format_of(const struct eadm_ring *ring)
{
	return eadm_family_format(ring->family, ring->kind, ring->id,
				  ring->entry_size);
}

/*
 * Returns true if the index rule reported by the driver, if any, is that of the format.
 * With a different rule, each index would denote a different place.
 */
bool eadm_entry_fits(const struct eadm_ring *ring)
{
	static const struct {
		uint32_t index, bits;
	} rules[] = {
		[EADM_INDEX_FREE16] = { EADM_RING_INDEX_FREE, 16 },
		[EADM_INDEX_FREE32] = { EADM_RING_INDEX_FREE, 32 },
		[EADM_INDEX_LAP] = { EADM_RING_INDEX_LAP, 0 },
		[EADM_INDEX_PHASE] = { EADM_RING_INDEX_PHASE, 0 },
	};
	const struct eadm_format *format = format_of(ring);

	return !format || !ring->has_index ||
	       (rules[format->index].index == ring->index &&
		rules[format->index].bits == ring->index_bits);
}

bool eadm_entry_known(const struct eadm_ring *ring)
{
	const struct eadm_format *format = format_of(ring);

	if (!format || !ring->depth || !eadm_entry_fits(ring))
		return false;
	/* A free-running index must return to place 0 when it wraps around. */
	return format->index == EADM_INDEX_LAP ||
	       format->index == EADM_INDEX_PHASE ||
	       !(ring->depth & (ring->depth - 1));
}

/* Returns the maximum number of places per entry of the ring. */
unsigned int eadm_entry_places(const struct eadm_ring *ring)
{
	const struct eadm_format *format = format_of(ring);

	return format ? format->places : 1;
}

static bool has_index(const struct eadm_format *format)
{
	return format->places > 1 && !format->slots;
}

/* Returns true if the whole ring must be read to find where entries begin. */
bool eadm_entry_needs_index(const struct eadm_ring *ring)
{
	const struct eadm_format *format = format_of(ring);

	return format && has_index(format);
}

uint32_t eadm_entry_place(const struct eadm_ring *ring, uint32_t index)
{
	return index % ring->depth;
}

/* Returns the distance of a place from an earlier place. */
static uint32_t behind(const struct eadm_ring *ring, uint32_t place,
		       uint32_t base)
{
	return (place % ring->depth + ring->depth - base % ring->depth) %
	       ring->depth;
}

/*
 * Returns the distance of an index from an earlier index, and sets *range to the number
 * of index values.
 */
static uint32_t ahead(const struct eadm_ring *ring,
		      const struct eadm_format *format, uint32_t index,
		      uint32_t base, uint64_t *range)
{
	uint64_t n;

	switch (format->index) {
	case EADM_INDEX_FREE16:
		n = 1U << 16;
		break;
	case EADM_INDEX_LAP:
		n = 2 * (uint64_t)ring->depth;
		break;
	default:
		n = 1ULL << 32;
		break;
	}
	*range = n;
	return (index % n + n - base % n) % n;
}

static const unsigned char *bytes_at(const struct eadm_ring *ring,
				     uint32_t place)
{
	return ring->data + (size_t)(place - ring->first) * ring->entry_size;
}

static bool is_zero(const unsigned char *p, size_t len)
{
	while (len) {
		if (p[--len])
			return false;
	}
	return true;
}

/* ---- where entries begin --------------------------------------------------------- */

static size_t end_of(const struct eadm_bits *at, size_t end)
{
	size_t last = (size_t)at->offset + at->size;

	return last > end ? last : end;
}

/*
 * Returns the length of the bytes that identify an entry's position; 0 if there are
 * none.
 */
static size_t header_size(const struct eadm_format *format)
{
	return end_of(&format->places_at,
		      end_of(&format->after_at, end_of(&format->queue_at, 0)));
}

static uint32_t index_after(const struct eadm_format *format,
			    const unsigned char *p, size_t len)
{
	uint64_t v = 0;

	eadm_bits_read(&format->after_at, p, len, &v);
	return v;
}

/*
 * An entry contains the producer index after it and its QP number, a combination that
 * is unlikely to occur by chance. Entries of a command ring have no QP number.
 */
static unsigned int header_at(const struct eadm_ring *ring,
			      const struct eadm_format *format, uint32_t place)
{
	const unsigned char *p = bytes_at(ring, place);
	size_t len = ring->entry_size, head = header_size(format);
	uint64_t places = 0, queue, range;
	uint32_t after;

	/* Zeros look like an entry of command 0 or QP 0. */
	if (head > len || is_zero(p, head ? head : len))
		return EADM_PLACE_NONE;
	places = eadm_bits_read(&format->places_at, p, len, &places) ?
			 places + format->less : 1;
	if (!places || places > format->places ||
	    (eadm_bits_read(&format->queue_at, p, len, &queue) &&
	     queue != ring->id))
		return EADM_PLACE_NONE;
	after = index_after(format, p, len);
	if (format->after_at.size &&
	    ahead(ring, format, after, places, &range) % ring->depth != place)
		return EADM_PLACE_NONE;
	return places;
}

/* Returns true if the entry at @at was written over the end of the one at @i. */
static bool is_newer(const struct eadm_ring *ring,
		     const struct eadm_format *format, uint32_t at, uint32_t i,
		     unsigned int places)
{
	size_t size = ring->entry_size;
	uint32_t later = index_after(format, ring->data + at * size, size);
	uint32_t index = index_after(format, ring->data + i * size, size);
	uint64_t range;
	uint32_t n = ahead(ring, format, later, index, &range);

	return n && n < range / 2 && n > places;
}

/*
 * Sets for each place the number of places of the entry that begins there, or
 * EADM_PLACE_*. If an entry overlaps the rest of another entry, the entry with the
 * later index wins. The part that was read may begin in the middle of an entry.
 */
void eadm_entry_index(const struct eadm_ring *ring, uint8_t *places)
{
	const struct eadm_format *format = format_of(ring);
	uint32_t count = ring->count, i, at;
	unsigned int k;

	memset(places, EADM_PLACE_NONE, count);
	if (!format)
		return;
	for (i = 0; i < count; i++)
		places[i] = header_at(ring, format, ring->first + i);
	for (i = 0; i < count; i++) {
		if (!places[i] || places[i] == EADM_PLACE_REST)
			continue;
		for (k = 1; places[i] && k < places[i]; k++) {
			/* Entries wrap around only if the whole ring was read. */
			at = i + k;
			if (at >= count && count < ring->depth)
				break;
			at %= count;
			if (places[at] && places[at] != EADM_PLACE_REST &&
			    is_newer(ring, format, at, i, places[at]))
				places[i] = EADM_PLACE_NONE;
		}
		for (k = 1; places[i] && k < places[i]; k++) {
			at = i + k;
			if (at >= count && count < ring->depth)
				break;
			places[at % count] = EADM_PLACE_REST;
		}
	}
}

/* Collects the bytes of an entry that were read. */
static size_t gather(const struct eadm_ring *ring, uint32_t place,
		     unsigned int places, unsigned char *entry)
{
	size_t size = ring->entry_size;
	unsigned int k;
	uint32_t at;

	for (k = 0; k < places; k++) {
		at = (place + k) % ring->depth;
		if (at < ring->first || at - ring->first >= ring->count)
			break;
		memcpy(entry + k * size, bytes_at(ring, at), size);
	}
	return k * size;
}

static const struct eadm_body *body_of(const struct eadm_format *format,
				       const unsigned char *p, size_t len)
{
	unsigned int i;
	uint64_t op;

	if (!eadm_bits_read(&format->op_at, p, len, &op))
		return NULL;
	for (i = 0; i < format->n_bodies; i++) {
		if (format->bodies[i].any || format->bodies[i].op == op)
			return &format->bodies[i];
	}
	return NULL;
}

/*
 * ---- clearing of payload
 * -------------------------------------------------------------
 */

static void keep_bytes(bool *keep, size_t from, size_t len)
{
	for (; len && from < EADM_ENTRY_MAX; len--, from++)
		keep[from] = true;
}

static void keep_members(bool *keep, const struct eadm_item *members,
			 unsigned int n)
{
	for (; n; n--, members++)
		keep_bytes(keep, members->at.offset, members->at.size);
}

static bool is_set(const struct eadm_bits *at, const unsigned char *p,
		   size_t len)
{
	uint64_t v;

	return eadm_bits_read(at, p, len, &v) && v;
}

/*
 * Keep the bytes of an entry that have a meaning. Writers leave the other bytes
 * unchanged, so these may still contain payload of an older entry.
 */
static void keep_entry(const struct eadm_format *format, const unsigned char *p,
		       size_t len, bool *keep)
{
	const struct eadm_body *body = body_of(format, p, len);
	const struct eadm_list *list = body ? body->list : NULL;
	uint64_t n = 0;

	memset(keep, 0, EADM_ENTRY_MAX * sizeof(*keep));
	keep_bytes(keep, 0, header_size(format));
	keep_members(keep, format->members, format->n_members);
	if (body)
		keep_members(keep, body->members, body->n_members);
	if (!list || is_set(&list->in_line, p, len) ||
	    is_set(&list->absent, p, len))
		return;
	eadm_bits_read(&list->count, p, len, &n);
	keep_bytes(keep, list->offset,
		   (n < list->max ? n : list->max) * list->size);
}

/* Clear one byte of a ring that may wrap around, if the byte was read. */
static void clear(struct eadm_ring *ring, size_t at)
{
	size_t size = (size_t)ring->count * ring->entry_size;

	if (at < size)
		ring->data[at] = 0;
	else if (!ring->first && ring->count == ring->depth)
		ring->data[at % size] = 0;
}

static void scrub_entry(struct eadm_ring *ring, const struct eadm_format *format,
			uint32_t i, unsigned int places)
{
	size_t size = ring->entry_size, at, len;
	unsigned char entry[EADM_ENTRY_MAX];
	bool keep[EADM_ENTRY_MAX];

	len = gather(ring, ring->first + i, places, entry);
	keep_entry(format, entry, len, keep);
	for (at = 0; at < places * size; at++) {
		if (!keep[at])
			clear(ring, i * size + at);
	}
}

/*
 * Clear all bytes that may be payload: inline data, remains of older entries, and places
 * that are not entries. This must be applied to all bytes read at once, because the
 * continuation of an entry cannot be recognized without its beginning. Returns 0, or
 * -ENOMEM with nothing cleared.
 */
int eadm_entry_scrub(struct eadm_ring *ring)
{
	const struct eadm_format *format = format_of(ring);
	size_t size = ring->entry_size;
	uint8_t *places;
	uint32_t i;

	if (!format || !eadm_entry_known(ring)) {
		memset(ring->data, 0, ring->count * size);
		return 0;
	}
	if (!format->payload)
		return 0;
	places = malloc(ring->count + 1);
	if (!places)
		return -ENOMEM;
	eadm_entry_index(ring, places);
	for (i = 0; i < ring->count; i++) {
		if (places[i] == EADM_PLACE_NONE)
			memset(ring->data + i * size, 0, size);
		else if (places[i] != EADM_PLACE_REST)
			scrub_entry(ring, format, i, places[i]);
	}
	free(places);
	return 0;
}

/* ---- positions of pointers ------------------------------------------------------- */

/* Attributes common to rows of all kinds of queues. */
static const struct attrs {
	uint8_t id, index, mark, state, bytes, places, payload;
	uint8_t sge[6];
} attrs_of[] = {
	[EADM_RAW_KIND_SQ] = {
		EADM_A_SQE_QPN, EADM_A_SQE_INDEX, EADM_A_SQE_MARK,
		EADM_A_SQE_STATE, EADM_A_SQE_BYTES, EADM_A_SQE_PLACES,
		EADM_A_SQE_PAYLOAD,
		{ EADM_A_SQE_SGE0_ADDR, EADM_A_SQE_SGE1_ADDR,
		  EADM_A_SQE_SGE2_ADDR, EADM_A_SQE_SGE3_ADDR,
		  EADM_A_SQE_SGE4_ADDR, EADM_A_SQE_SGE5_ADDR },
	},
	[EADM_RAW_KIND_RQ] = {
		EADM_A_RQE_QPN, EADM_A_RQE_INDEX, EADM_A_RQE_MARK,
		EADM_A_RQE_STATE, EADM_A_RQE_BYTES, 0, 0, { 0 },
	},
	[EADM_RAW_KIND_CQ] = {
		EADM_A_CQE_CQN, EADM_A_CQE_INDEX, EADM_A_CQE_MARK,
		EADM_A_CQE_STATE, EADM_A_CQE_BYTES, 0, 0, { 0 },
	},
	[EADM_RAW_KIND_EQ] = {
		EADM_A_EQE_EQ, EADM_A_EQE_INDEX, EADM_A_EQE_MARK,
		EADM_A_EQE_STATE, EADM_A_EQE_BYTES, 0, 0, { 0 },
	},
	[EADM_RAW_KIND_CMD_SQ] = {
		0, EADM_A_CMDE_INDEX, EADM_A_CMDE_MARK, EADM_A_CMDE_STATE,
		EADM_A_CMDE_BYTES, EADM_A_CMDE_PLACES, 0, { 0 },
	},
	[EADM_RAW_KIND_CMD_CQ] = {
		EADM_A_CQE_CQN, EADM_A_CQE_INDEX, EADM_A_CQE_MARK,
		EADM_A_CQE_STATE, EADM_A_CQE_BYTES, 0, 0, { 0 },
	},
};

static bool stands_in(const struct eadm_ring *ring, bool has, uint32_t index,
		      uint32_t place, unsigned int n)
{
	return has && behind(ring, index, place) < n;
}

static void put_place(const struct eadm_ring *ring, uint32_t place,
		      unsigned int n, const struct attrs *attrs,
		      struct eadm_record *rec)
{
	uint32_t mark = 0;

	eadm_record_put_u64(rec, attrs->index, place);
	if (stands_in(ring, ring->has_sw_pi, ring->sw_pi, place, n))
		mark |= EADM_ENTRY_MARK_SW_PI;
	if (stands_in(ring, ring->has_sw_ci, ring->sw_ci, place, n))
		mark |= EADM_ENTRY_MARK_SW_CI;
	if (stands_in(ring, ring->has_hw_pi, ring->hw_pi, place, n))
		mark |= EADM_ENTRY_MARK_HW_PI;
	if (stands_in(ring, ring->has_hw_ci, ring->hw_ci, place, n))
		mark |= EADM_ENTRY_MARK_HW_CI;
	if (mark)
		eadm_record_put_u64(rec, attrs->mark, mark);
}

/*
 * Returns the state of an entry in a queue that software fills and the adapter
 * consumes.
 */
static uint32_t work_state(const struct eadm_ring *ring,
			   const struct eadm_format *format, uint32_t place)
{
	uint32_t ci = ring->has_sw_ci ? ring->sw_ci : ring->hw_ci;
	uint64_t range;

	if (!ring->has_sw_pi || !(ring->has_sw_ci || ring->has_hw_ci))
		return EADM_ENTRY_STATE_WRITTEN;
	return behind(ring, place, ci) <
			       ahead(ring, format, ring->sw_pi, ci, &range) ?
		       EADM_ENTRY_STATE_POSTED : EADM_ENTRY_STATE_DONE;
}

/*
 * Returns the state of an entry in a queue that the adapter fills, from the owner bit.
 */
static uint32_t owned_state(const struct eadm_ring *ring, uint32_t place,
			    bool owner)
{
	uint32_t index;

	if (!ring->has_sw_ci)
		return EADM_ENTRY_STATE_WRITTEN;
	index = ring->sw_ci + behind(ring, place, ring->sw_ci);
	return owner != (index / ring->depth & 1) ? EADM_ENTRY_STATE_POSTED :
						    EADM_ENTRY_STATE_DONE;
}

static uint32_t state_of(const struct eadm_ring *ring,
			 const struct eadm_format *format, uint32_t place,
			 const unsigned char *p, size_t len)
{
	uint64_t owner;

	return eadm_bits_read(&format->owner_at, p, len, &owner) ?
		       owned_state(ring, place, owner) :
		       work_state(ring, format, place);
}

/* ---- members ----------------------------------------------------------------------- */

/* An adapter's number that has no class is shown only raw, in a separate field. */
static void put_members(struct eadm_record *rec, const unsigned char *p,
			size_t len, const struct eadm_item *m, unsigned int n)
{
	uint64_t value;

	for (; n; n--, m++) {
		if (!m->attr)
			continue;
		if (m->bytes && (size_t)m->at.offset + m->bytes <= len)
			eadm_record_put_bytes(rec, m->attr, p + m->at.offset,
					      m->bytes);
		else if (!m->bytes && eadm_bits_read(&m->at, p, len, &value) &&
			 eadm_classes_find(m->classes, &value))
			eadm_record_put_u64(rec, m->attr, value);
	}
}

static void put_element(struct eadm_record *rec, const unsigned char *p,
			const struct eadm_list *list, unsigned int attr)
{
	/* The specification defines the address, then the length, then the key. */
	const struct eadm_bits *const part[] = { &list->addr, &list->length,
						 &list->key };
	unsigned int i;
	uint64_t value;

	for (i = 0; i < EADM_ARRAY_SIZE(part); i++) {
		if (eadm_bits_read(part[i], p, list->size, &value))
			eadm_record_put_u64(rec, attr + i, value);
	}
}

static void put_list(const struct eadm_ring *ring, const struct eadm_list *list,
		     const unsigned char *p, size_t len,
		     struct eadm_record *rec)
{
	const struct attrs *attrs = &attrs_of[ring->kind];
	size_t at = list->offset;
	unsigned int i;
	uint64_t n;

	if (!eadm_bits_read(&list->count, p, len, &n) ||
	    is_set(&list->absent, p, len))
		return;
	if (is_set(&list->in_line, p, len)) {
		if (ring->payload && attrs->payload && n <= list->inline_max &&
		    at + n <= len)
			eadm_record_put_bytes(rec, attrs->payload, p + at, n);
		return;
	}
	if (list->attr)
		eadm_record_put_u64(rec, list->attr, n);
	if (!list->addr.size)
		return;
	for (i = 0; i < n && i < list->max && i < EADM_ARRAY_SIZE(attrs->sge) &&
		    attrs->sge[i] && at + list->size <= len; i++) {
		put_element(rec, p + at, list, attrs->sge[i]);
		at += list->size;
	}
}

/*
 * Returns the number of places of the entry at @place; EADM_PLACE_NONE if none begins
 * there.
 */
static unsigned int places_at(const struct eadm_ring *ring,
			      const struct eadm_format *format, uint32_t place)
{
	if (has_index(format))
		return ring->places[place - ring->first];
	return header_at(ring, format, place);
}

static unsigned int decode(const struct eadm_ring *ring,
			   const struct eadm_format *format, uint32_t place,
			   struct eadm_record *rec)
{
	const struct attrs *attrs = &attrs_of[ring->kind];
	unsigned int n = places_at(ring, format, place);
	unsigned char entry[EADM_ENTRY_MAX];
	const struct eadm_body *body;
	size_t len;

	if (n == EADM_PLACE_REST || (!n && format->slots))
		return 0;
	len = gather(ring, place, n ? n : 1, entry);
	put_place(ring, place, n ? n : 1, attrs, rec);
	eadm_record_put_bytes(rec, attrs->bytes, entry, len);
	if (!n) {
		eadm_record_put_u64(rec, attrs->state,
				    is_zero(entry, len) ?
					    EADM_ENTRY_STATE_EMPTY :
					    EADM_ENTRY_STATE_FOREIGN);
		return 1;
	}
	eadm_record_put_u64(rec, attrs->state,
			    state_of(ring, format, place, entry, len));
	if (attrs->places)
		eadm_record_put_u64(rec, attrs->places, n);
	put_members(rec, entry, len, format->members, format->n_members);
	body = body_of(format, entry, len);
	if (body) {
		put_members(rec, entry, len, body->members, body->n_members);
		if (body->list)
			put_list(ring, body->list, entry, len, rec);
	}
	return n;
}

/*
 * Make a row of the entry at @place, which must be inside the range that was read.
 * Returns the number of places of the entry, or 0 if there is no row, because the place
 * continues an entry or its format is unknown.
 */
unsigned int eadm_entry_decode(const struct eadm_ring *ring, uint32_t place,
			       const struct eadm_object *object,
			       struct eadm_record *rec)
{
	const struct eadm_format *format = format_of(ring);
	const struct attrs *attrs;

	eadm_record_reset(rec, object, ring->time);
	if (!format || !eadm_entry_known(ring) ||
	    ring->kind >= EADM_ARRAY_SIZE(attrs_of))
		return 0;
	attrs = &attrs_of[ring->kind];
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, ring->dev->index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, ring->dev->name);
	if (ring->hw_error)
		eadm_record_put_u64(rec, EADM_A_COMMON_HW_ERROR,
				    ring->hw_error);
	if (attrs->id)
		eadm_record_put_u64(rec, attrs->id, ring->id);
	return decode(ring, format, place, rec);
}
