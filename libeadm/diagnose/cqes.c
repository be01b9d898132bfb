// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the newest completions of CQs for a snapshot. */
#include <errno.h>
#include <stdlib.h>

#include "grow.h"
#include "reader.h"

/* Upper limits: each CQ requires a few system calls, and its ring may be long. */
#define NEWEST_CQES 512
#define MOST_CQES 16384
#define MOST_CQS 128
#define MOST_SUBS 16

/* Read the newest entries, in two parts if they wrap around the end of the ring. */
static int read_newest(struct reader *r, const struct diag_row *cq)
{
	uint64_t pi = diag_u64(cq, CQ_HW_PI), depth = diag_u64(cq, CQ_DEPTH);
	uint64_t n = pi < depth ? pi : depth, part;
	struct eadm_entry_opts newest = {
		.size = sizeof(newest), .has_range = true,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .has_id = true,
		.id = cq->id, .entries = &newest,
	};
	int ret = 0;

	if (!depth || depth & (depth - 1) || depth > UINT32_MAX)
		return 0;
	if (n > NEWEST_CQES)
		n = NEWEST_CQES;
	while (!ret && n) {
		newest.last = (pi - 1) & (depth - 1);
		part = n <= newest.last ? n : newest.last + 1;
		newest.first = newest.last + 1 - part;
		ret = eadm_diag_read_dump(r, DIAG_CQE, &opts);
		pi -= part;
		n -= part;
	}
	return ret;
}

/*
 * Read entries of a part of a CQ into rows that are marked with that part. Returns a
 * negative errno on error.
 */
static int read_range(struct reader *r, const struct diag_part *part,
		      uint32_t first, uint32_t last)
{
	struct eadm_entry_opts range = {
		.size = sizeof(range), .has_range = true, .first = first,
		.last = last, .sub = part->sub,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .has_id = true,
		.id = part->cqn, .entries = &range,
	};
	struct diag_rows *cqes = &r->snapshot->rows[DIAG_CQE];
	size_t i = cqes->n;
	int ret = eadm_diag_read_dump(r, DIAG_CQE, &opts);

	for (; i < cqes->n; i++) {
		cqes->row[i].has |= 1ULL << CQE_SUB;
		diag_at(&cqes->row[i], CQE_SUB)->u = part->sub;
	}
	return ret;
}

/*
 * Set *phase to the phase of the completion at an index, -1 if there is none. Returns a
 * negative errno on error.
 */
static int read_phase(struct reader *r, const struct diag_part *part,
		      uint32_t at, int *phase)
{
	struct diag_rows *cqes = &r->snapshot->rows[DIAG_CQE];
	size_t before = cqes->n;
	int ret = read_range(r, part, at, at);

	*phase = -1;
	if (!ret && cqes->n > before &&
	    diag_has(&cqes->row[before], CQE_PHASE))
		*phase = diag_u64(&cqes->row[before], CQE_PHASE);
	cqes->n = before;
	return ret;
}

/*
 * Find the first index whose phase differs from @lap. Returns a negative errno on
 * error.
 */
static int find_place(struct reader *r, const struct diag_part *part,
		      uint32_t depth, int lap, uint32_t *place)
{
	uint32_t low = 1, high = depth, mid;
	int ret = 0, phase;

	while (!ret && low < high) {
		mid = low + (high - low) / 2;
		ret = read_phase(r, part, mid, &phase);
		if (phase == lap)
			low = mid + 1;
		else
			high = mid;
	}
	*place = low;
	return ret;
}

/* Number of entries to read at a time after an entry with the wrong phase. */
#define BEHIND 64

/*
 * The entry found may merely have the wrong phase: if a later entry has the right
 * phase, the adapter has written more entries. Move *@place behind those.
 */
static int pass_hole(struct reader *r, const struct diag_part *part,
		     uint32_t depth, int lap, uint32_t *place)
{
	struct diag_rows *cqes = &r->snapshot->rows[DIAG_CQE];
	uint32_t begin = *place, at, last;
	size_t before = cqes->n, i;
	bool holds = true;
	int ret = 0;

	for (at = begin + 1; holds && at < depth && at - begin < NEWEST_CQES;
	     at = last + 1) {
		last = depth - at > BEHIND ? at + BEHIND - 1 : depth - 1;
		ret = read_range(r, part, at, last);
		if (ret)
			break;
		for (i = before; holds && i < cqes->n; i++) {
			holds = (int)diag_u64(&cqes->row[i], CQE_PHASE) == lap;
			if (holds)
				*place = cqes->row[i].id + 1;
		}
		cqes->n = before;
	}
	cqes->n = before;
	return ret;
}

/* State of scanning a ring from its oldest entry. */
struct lap_scan {
	uint32_t place;
	int lap;
	bool begun;		/* the first entry has the right phase */
	unsigned int odd, even;	/* number of entries with the wrong and the right phase */
};

/* Returns true if this entry has the right phase, but an earlier one did not. */
static bool scan(struct lap_scan *s, const struct diag_row *cqe,
		 struct diag_part *part)
{
	bool written = cqe->id < s->place;
	bool odd = ((int)diag_u64(cqe, CQE_PHASE) == s->lap) != written;

	if (!s->odd && !s->even)
		s->begun = !odd;
	if (odd && !s->odd)
		part->hole = cqe->id;
	s->odd += odd;
	s->even += !odd;
	return !odd && s->odd;
}

/*
 * Look for entries with the wrong phase between entries with the right phase. If the
 * ring advances during the scan, the oldest entries are overwritten first; if the place
 * is wrong, most entries seem to have the wrong phase.
 */
static void find_hole(const struct diag_rows *cqes, size_t first, size_t older,
		      struct lap_scan *s, struct diag_part *part)
{
	bool between = false;
	size_t i;

	for (i = older; i < cqes->n; i++)
		between = scan(s, &cqes->row[i], part);
	for (i = first; i < older; i++)
		between = scan(s, &cqes->row[i], part);
	part->has_hole = between && s->begun && s->odd < s->even;
}

/*
 * Read the newest entries, up to the place where the phase changes, if the adapter does
 * not report how many it has written.
 */
static int read_part(struct reader *r, struct diag_part *part, uint32_t depth)
{
	struct diag_rows *cqes = &r->snapshot->rows[DIAG_CQE];
	size_t first = cqes->n, older;
	struct lap_scan s = { 0 };
	int ret;

	ret = read_phase(r, part, 0, &s.lap);
	if (ret || s.lap < 0)
		return ret;
	ret = find_place(r, part, depth, s.lap, &s.place);
	if (!ret)
		ret = pass_hole(r, part, depth, s.lap, &s.place);
	if (ret)
		return ret;
	/* The phase of the first lap is 1. */
	part->place = s.place + (s.lap ? 0 : depth);
	ret = read_range(r, part,
			 s.place > NEWEST_CQES ? s.place - NEWEST_CQES : 0,
			 s.place - 1);
	older = cqes->n;
	/* Also read entries of the previous lap, if there was one. */
	if (!ret && s.place < NEWEST_CQES && s.place < depth)
		ret = read_range(r, part, depth - s.place > NEWEST_CQES - s.place ?
					  depth - (NEWEST_CQES - s.place) : s.place,
				 depth - 1);
	if (!ret)
		find_hole(cqes, first, older, &s, part);
	return ret;
}

static int read_by_phase(struct reader *r, const struct diag_row *cq)
{
	struct diag_snapshot *m = r->snapshot;
	uint64_t subs = diag_has(cq, CQ_SUBS) ? diag_u64(cq, CQ_SUBS) : 1;
	struct diag_part part = { .dev = cq->dev, .cqn = cq->id };
	uint64_t depth = diag_u64(cq, CQ_DEPTH);
	int ret = 0;

	if (!depth || depth & (depth - 1) || depth > UINT32_MAX)
		return 0;
	for (; !ret && part.sub < subs && part.sub < MOST_SUBS; part.sub++) {
		part.place = 0;
		part.has_hole = false;
		ret = read_part(r, &part, depth);
		if (ret)
			break;
		if (!grow(m->parts, m->n_parts, m->max_parts))
			return -ENOMEM;
		m->parts[m->n_parts++] = part;
	}
	return ret;
}

/*
 * Returns true if the CQ or its device no longer exists. An error does not show that: the
 * device's node may be missing, too, as in containers.
 */
static bool is_gone(struct reader *r, uint32_t cqn)
{
	struct diag_rows *cqs = &r->snapshot->rows[DIAG_CQ];
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = r->device, .has_id = true,
		.id = cqn,
	};
	size_t before = cqs->n;
	int ret = eadm_diag_read_dump(r, DIAG_CQ, &opts);
	bool gone = ret == -ENOENT || ret == -ENODEV;

	cqs->n = before;
	return gone;
}

/*
 * Any of the CQs may have been destroyed in the meantime, also all of them. If none of the
 * others can be read, the reason is the same for all.
 */
int eadm_diag_read_cqes(struct reader *r, size_t first)
{
	struct diag_rows *cqs = &r->snapshot->rows[DIAG_CQ];
	size_t i, before = r->snapshot->rows[DIAG_CQE].n;
	unsigned int n = 0, good = 0;
	int ret, error = 0;

	for (i = first; i < cqs->n && n < MOST_CQS &&
			r->snapshot->rows[DIAG_CQE].n - before < MOST_CQES; i++) {
		bool counts = diag_has(&cqs->row[i], CQ_HW_PI);

		if (counts && !diag_u64(&cqs->row[i], CQ_HW_PI))
			continue;
		n++;
		ret = counts ? read_newest(r, &cqs->row[i]) :
			       read_by_phase(r, &cqs->row[i]);
		if (ret == -ENOMEM)
			return ret;
		if (ret == -ESTALE ||
		    ((ret == -ENOENT || ret == -ENODEV) &&
		     is_gone(r, cqs->row[i].id)))
			continue;
		good += !ret;
		if (ret)
			error = ret;
		if (ret && ret != -ENODATA)
			break;
	}
	if (!error || good)
		return 0;
	if (error == -ENODATA)
		eadm_diag_lacks(r, DIAG_RINGS, DIAG_LACK_CAPTURE, NULL);
	else if (error == -EPERM || error == -EACCES)
		eadm_diag_lacks(r, DIAG_RINGS, DIAG_LACK_RIGHT, NULL);
	else
		eadm_diag_lacks(r, DIAG_RINGS, DIAG_LACK_NODE, eadm_errmsg(r->ctx));
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct diag_part *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->cqn != y->cqn)
		return x->cqn < y->cqn ? -1 : 1;
	return x->sub < y->sub ? -1 : x->sub > y->sub;
}

void eadm_diag_sort_parts(struct diag_snapshot *snapshot)
{
	if (snapshot->n_parts)
		qsort(snapshot->parts, snapshot->n_parts,
		      sizeof(*snapshot->parts), by_place);
}

const struct diag_part *eadm_diag_part(const struct diag_snapshot *snapshot,
				       const struct diag_part *part)
{
	if (!snapshot->n_parts)
		return NULL;
	return bsearch(part, snapshot->parts, snapshot->n_parts,
		       sizeof(*snapshot->parts), by_place);
}

/* If a CQ has any parts, it has part 0. */
const struct diag_part *eadm_diag_parts_of(const struct diag_snapshot *snapshot,
					   uint64_t dev, uint64_t cqn,
					   const struct diag_part **end)
{
	const struct diag_part key = { .dev = dev, .cqn = cqn };
	const struct diag_part *part = eadm_diag_part(snapshot, &key), *p;

	for (p = part; p && p < snapshot->parts + snapshot->n_parts &&
		       p->dev == dev && p->cqn == cqn;)
		p++;
	*end = p;
	return part;
}
