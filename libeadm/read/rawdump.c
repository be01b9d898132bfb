// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dumps of raw bytes: the bytes that the requested rows need, from the char device or
 * from a capture.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "eadm_nl.h"
#include "family/family.h"
#include "rawdump.h"

#define MAX_BYTES (64U << 20)	/* more indicates a broken or hostile capture */
#define NEARBY 8		/* entries on each side of a pointer */

static const char unknown[] = "unknown entry format";

static const struct eadm_object *raw_object(void)
{
	return &eadm_spec_objects[EADM_SPEC_OBJ_RAW];
}

static bool is(const struct eadm_object *object, int number)
{
	return object == &eadm_spec_objects[number];
}

/*
 * Returns the kind of bytes that an object's rows are made from, or a negative errno.
 */
static int kind_of(const struct eadm_object *object,
		   const struct eadm_family *family,
		   const struct eadm_dump_opts *opts, enum eadm_hwctx hwctx)
{
	if (is(object, EADM_SPEC_OBJ_SQE))
		return EADM_RAW_KIND_SQ;
	if (is(object, EADM_SPEC_OBJ_RQE))
		return EADM_RAW_KIND_RQ;
	if (is(object, EADM_SPEC_OBJ_CQE))
		return !opts->has_id ||
				       eadm_family_is_command_cq(family,
								 opts->id) ?
			       EADM_RAW_KIND_CMD_CQ : EADM_RAW_KIND_CQ;
	if (is(object, EADM_SPEC_OBJ_EQE))
		return EADM_RAW_KIND_EQ;
	if (is(object, EADM_SPEC_OBJ_CMDE))
		return EADM_RAW_KIND_CMD_SQ;
	if (is(object, EADM_SPEC_OBJ_REGS))
		return EADM_RAW_KIND_REGS;
	switch (hwctx) {
	case EADM_HWCTX_QP:
		return EADM_RAW_KIND_QPC;
	case EADM_HWCTX_CQ:
		return EADM_RAW_KIND_CQC;
	case EADM_HWCTX_EQ:
		return EADM_RAW_KIND_EQC;
	default:
		return -EINVAL;
	}
}

/* Checks whether the combination of options is valid. */
int eadm_rawdump_check(struct eadm_ctx *ctx, const struct eadm_object *object,
		       const struct eadm_dump_opts *opts,
		       const struct eadm_entry_opts *entries)
{
	int kind = kind_of(object, NULL, opts, entries->hwctx);

	if (kind < 0)
		return eadm_fail(ctx, -EINVAL,
				 "missing queue type: qp, cq or eq");
	if (!opts->has_id && kind != EADM_RAW_KIND_REGS &&
	    kind != EADM_RAW_KIND_CMD_SQ && kind != EADM_RAW_KIND_CMD_CQ)
		return eadm_fail(ctx, -EINVAL, "missing queue number");
	if (opts->has_id && opts->id > UINT32_MAX)
		return eadm_fail(ctx, -ENOENT, "no such queue");
	if (entries->hwctx && !is(object, EADM_SPEC_OBJ_HWCTX))
		return eadm_fail(ctx, -EINVAL, "%s have no contexts",
				 object->title);
	if (entries->has_range && entries->first > entries->last)
		return eadm_fail(ctx, -ERANGE,
				 "the range ends before it starts");
	if ((unsigned int)entries->around > EADM_AROUND_CI)
		return eadm_fail(ctx, -EINVAL, "--around requires 'pi' or 'ci'");
	if (entries->around && entries->has_range)
		return eadm_fail(ctx, -EINVAL,
				 "--around cannot be combined with --range");
	return 0;
}

/* ---- bytes ---------------------------------------------------------------------- */

static bool get(const struct eadm_record *rec, unsigned int attr,
		uint32_t *value)
{
	if (!eadm_record_attr_has(rec, attr))
		return false;
	*value = eadm_record_attr_u64(rec, attr);
	return true;
}

/* Every message describes the ring. */
static int take_ring(struct eadm_reply *reply, const struct eadm_record *rec,
		     bool hw, struct eadm_ring *ring)
{
	uint32_t error = 0, user = 0, memory = EADM_RING_MEMORY_HOST;

	/* The entries of such a ring may be of unknown size. */
	get(rec, EADM_A_RAW_MEMORY, &memory);
	if (memory == EADM_RING_MEMORY_DEVICE)
		return eadm_fail(reply->ctx, -EOPNOTSUPP,
				 "%s: its entries are in adapter memory, which cannot be read",
				 ring->dev->name);
	if (!get(rec, EADM_A_RAW_DEPTH, &ring->depth) ||
	    !get(rec, EADM_A_RAW_ENTRY_SIZE, &ring->entry_size) ||
	    !ring->depth || !ring->entry_size ||
	    ring->depth > MAX_BYTES / ring->entry_size)
		return eadm_reply_bad(reply, reply->chunk.data,
				      "invalid ring size");
	ring->has_index = get(rec, EADM_A_RAW_RING_INDEX, &ring->index);
	get(rec, EADM_A_RAW_INDEX_BITS, &ring->index_bits);
	if (!eadm_entry_fits(ring))
		return eadm_fail(reply->ctx, -EOPNOTSUPP,
				 "%s: the driver's index format of this queue does not match the description of %s adapters",
				 ring->dev->name, ring->family->name);
	if (!eadm_entry_known(ring))
		return eadm_fail(reply->ctx, -EOPNOTSUPP,
				 "%s: %s", ring->dev->name, unknown);
	get(rec, EADM_A_RAW_USER, &user);
	ring->user = user;
	ring->has_sw_pi = get(rec, EADM_A_RAW_SW_PI, &ring->sw_pi);
	ring->has_sw_ci = get(rec, EADM_A_RAW_SW_CI, &ring->sw_ci);
	ring->has_hw_pi = hw && get(rec, EADM_A_RAW_HW_PI, &ring->hw_pi);
	ring->has_hw_ci = hw && get(rec, EADM_A_RAW_HW_CI, &ring->hw_ci);
	if (hw && get(rec, EADM_A_RAW_HW_ERROR, &error))
		ring->hw_error = (int32_t)error;
	ring->time = reply->chunk.time;
	return 0;
}

/* Take the requested part of a message's data. */
static int take_data(struct eadm_reply *reply, const struct eadm_record *rec,
		     struct eadm_ring *ring, uint32_t *got)
{
	const struct eadm_slot *slot = &rec->slot[EADM_A_RAW_DATA - 1];
	uint32_t first = 0, count = 0, from, to;

	get(rec, EADM_A_RAW_FIRST, &first);
	get(rec, EADM_A_RAW_COUNT, &count);
	if (!eadm_record_attr_has(rec, EADM_A_RAW_DATA))
		return count ? eadm_fail(reply->ctx, -ENODATA,
					 "the capture was recorded without queue contents") :
			       0;
	if (first > ring->depth || count > ring->depth - first ||
	    slot->len != (uint64_t)count * ring->entry_size)
		return eadm_reply_bad(reply, slot->p,
				      "entries outside the ring");
	from = first > ring->first ? first : ring->first;
	to = first + count < ring->first + ring->count ?
		     first + count : ring->first + ring->count;
	if (from >= to)
		return 0;
	memcpy(ring->data + (size_t)(from - ring->first) * ring->entry_size,
	       (const char *)slot->p + (size_t)(from - first) *
				       ring->entry_size,
	       (size_t)(to - from) * ring->entry_size);
	*got += to - from;
	return 0;
}

/* A captured response that contains more than was requested is suitable, too. */
static int ask(struct eadm_ctx *ctx, const struct eadm_device *dev,
	       const struct eadm_node_query *want, struct eadm_reply *reply)
{
	struct eadm_node_query q = *want;
	struct eadm_query query;
	unsigned int more;
	int ret = -ENODATA;

	for (more = 0; ret == -ENODATA && more < 4; more++) {
		q.hw = want->hw || more & 1;
		q.payload = want->payload || more & 2;
		eadm_node_ask(ctx, dev, &q, &query);
		ret = eadm_reply_open(ctx, &query, reply);
		if (ctx->live)
			break;
	}
	return ret;
}

/*
 * Read ring->first and ring->count places; if ring->data is NULL, read only the
 * description.
 */
static int read_ring(struct eadm_ctx *ctx, const struct eadm_node_query *want,
		     struct eadm_ring *ring)
{
	struct eadm_record rec = { 0 };
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	uint32_t got = 0;
	bool some = false;
	int ret;

	ret = ask(ctx, ring->dev, want, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = eadm_decode(&reply, nlh, raw_object(), true, &rec);
		if (!ret)
			ret = take_ring(&reply, &rec, want->hw, ring);
		if (!ret && ring->data)
			ret = take_data(&reply, &rec, ring, &got);
		some = true;
		if (!ring->data)
			break;
	}
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	if (!ret && (!some || got != ring->count))
		ret = eadm_fail(ctx, -ENODATA,
				"the capture does not contain these entries");
	return ret;
}

/* All bytes of contexts and registers are in one message. */
static int read_block(struct eadm_ctx *ctx, const struct eadm_node_query *want,
		      struct eadm_ring *ring)
{
	const struct eadm_slot *slot;
	struct eadm_record rec = { 0 };
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	ret = ask(ctx, ring->dev, want, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0)
		ret = eadm_decode(&reply, nlh, raw_object(), true, &rec);
	else if (!ret)
		ret = eadm_fail(ctx, -ENODATA, "empty reply");
	slot = &rec.slot[EADM_A_RAW_DATA - 1];
	if (!ret && !eadm_record_attr_has(&rec, EADM_A_RAW_DATA))
		ret = eadm_fail(ctx, -ENODATA,
				"the capture was recorded without these bytes");
	if (!ret) {
		ring->time = reply.chunk.time;
		ring->data = malloc(slot->len + 1);
		if (!ring->data)
			ret = eadm_oom(ctx);
	}
	if (!ret) {
		memcpy(ring->data, slot->p, slot->len);
		ring->count = slot->len;
	}
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	return ret;
}

/* ---- ranges ----------------------------------------------------------------------- */

static int around(struct eadm_ctx *ctx, const struct eadm_ring *ring,
		  bool pi, uint32_t *first, uint32_t *last)
{
	uint32_t at;

	if (pi && ring->has_sw_pi)
		at = ring->sw_pi;
	else if (pi && ring->has_hw_pi)
		at = ring->hw_pi;
	else if (!pi && ring->has_sw_ci)
		at = ring->sw_ci;
	else if (!pi && ring->has_hw_ci)
		at = ring->hw_ci;
	else
		return eadm_fail(ctx, -ENODATA,
				 "%s of the queue is unknown%s",
				 pi ? "pi" : "ci",
				 ring->hw_error ? "" :
				 ": use --hw to query the adapter");
	at = eadm_entry_place(ring, at);
	/* The range is clipped at the ends of the ring. */
	*first = at > NEARBY ? at - NEARBY : 0;
	*last = at + NEARBY < ring->depth ? at + NEARBY : ring->depth - 1;
	return 0;
}

static int choose(struct eadm_ctx *ctx, const struct eadm_entry_opts *opts,
		  struct eadm_rawdump *raw)
{
	const struct eadm_ring *ring = &raw->ring;

	if (opts->around)
		return around(ctx, ring, opts->around == EADM_AROUND_PI, &raw->next,
			      &raw->last);
	raw->next = opts->has_range ? opts->first : 0;
	raw->last = opts->has_range ? opts->last : ring->depth - 1;
	raw->whole = !opts->has_range;
	if (raw->last >= ring->depth)
		return eadm_fail(ctx, -ERANGE,
				 "the queue has entries 0 to %u",
				 ring->depth - 1);
	return 0;
}

static int load(struct eadm_ctx *ctx, const struct eadm_entry_opts *opts,
		struct eadm_node_query *q, struct eadm_rawdump *raw)
{
	struct eadm_ring *ring = &raw->ring;
	int ret;

	/*
	 * If entries have several places, only the whole ring shows where they begin;
	 * the position of a pointer is reported together with the bytes.
	 */
	if (eadm_entry_needs_index(ring) || opts->around) {
		ring->first = 0;
		ring->count = ring->depth;
	} else {
		ring->first = raw->next;
		ring->count = raw->last - raw->next +
			      eadm_entry_places(ring);
		if (ring->count > ring->depth - ring->first)
			ring->count = ring->depth - ring->first;
	}
	q->first = ring->first;
	q->count = ring->count;
	ring->data = calloc(ring->count, ring->entry_size);
	if (!ring->data)
		return eadm_oom(ctx);
	ret = read_ring(ctx, q, ring);
	if (!ret && opts->around)
		ret = choose(ctx, opts, raw);
	/* A capture may contain more than was requested. */
	if (!ret && !q->payload && eadm_entry_scrub(ring))
		ret = eadm_oom(ctx);
	if (ret || !eadm_entry_needs_index(ring))
		return ret;
	ring->places = malloc(ring->count);
	if (!ring->places)
		return eadm_oom(ctx);
	eadm_entry_index(ring, ring->places);
	return 0;
}

int eadm_rawdump_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		      const struct eadm_object *object,
		      const struct eadm_dump_opts *opts,
		      const struct eadm_entry_opts *entries,
		      struct eadm_rawdump *raw)
{
	struct eadm_node_query q = {
		.kind = kind_of(object, dev->family, opts, entries->hwctx),
		.id = opts->has_id ? opts->id : 0,
		.sub = entries->sub,
		.hw = opts->hw,
		.payload = entries->payload,
	};
	int ret;

	*raw = (struct eadm_rawdump){
		.ring = { .dev = dev, .family = dev->family, .kind = q.kind, .id = q.id,
			  .payload = q.payload },
	};
	if (!EADM_IS_OF(q.kind, EADM_RAW_KIND_CLASS_RING)) {
		q.hw = false;
		q.payload = false;
		if (!eadm_members_known(dev->family, q.kind))
			return eadm_fail(ctx, -EOPNOTSUPP,
					 "%s: %s", dev->name, unknown);
		return read_block(ctx, &q, &raw->ring);
	}
	q.has_range = true;
	ret = read_ring(ctx, &q, &raw->ring);
	if (!ret)
		ret = choose(ctx, entries, raw);
	return ret ? ret : load(ctx, entries, &q, raw);
}

static void put_device(const struct eadm_ring *ring, struct eadm_record *rec)
{
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, ring->dev->index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, ring->dev->name);
}

static int next_member(struct eadm_rawdump *raw,
		       const struct eadm_object *object,
		       struct eadm_record *rec)
{
	struct eadm_ring *ring = &raw->ring;

	eadm_record_reset(rec, object, ring->time);
	put_device(ring, rec);
	if (ring->kind == EADM_RAW_KIND_REGS)
		return eadm_regs_row(ring->family, ring->data, ring->count,
				     raw->next++, rec);
	eadm_record_put_u64(rec, EADM_A_HWCTX_KIND, ring->kind);
	eadm_record_put_u64(rec, EADM_A_HWCTX_ID, ring->id);
	return eadm_context_row(ring->family, ring->kind, ring->data,
				ring->count, raw->next++, rec);
}

/*
 * In a dump of a whole queue, entries that were never written have no row, unless a
 * pointer refers to them.
 */
static bool is_empty(const struct eadm_record *rec,
		     const struct eadm_object *object)
{
	const struct eadm_field *state = eadm_object_find_field(object,
								"state");
	const struct eadm_field *mark = eadm_object_find_field(object, "mark");

	return !eadm_record_attr_has(rec, mark->slot) &&
	       eadm_record_attr_has(rec, state->slot) &&
	       eadm_record_attr_u64(rec, state->slot) ==
		       EADM_ENTRY_STATE_EMPTY;
}

/* Returns 1 with a row, 0 at the end. */
int eadm_rawdump_next(struct eadm_rawdump *raw,
		      const struct eadm_object *object,
		      struct eadm_record *rec)
{
	unsigned int n;

	if (!EADM_IS_OF(raw->ring.kind, EADM_RAW_KIND_CLASS_RING))
		return next_member(raw, object, rec);
	while (raw->next <= raw->last) {
		n = eadm_entry_decode(&raw->ring, raw->next, object, rec);
		raw->next += n ? n : 1;
		if (n && !(raw->whole && is_empty(rec, object)))
			return 1;
	}
	return 0;
}

void eadm_rawdump_close(struct eadm_rawdump *raw)
{
	free(raw->ring.data);
	free(raw->ring.places);
	raw->ring.data = NULL;
	raw->ring.places = NULL;
}
