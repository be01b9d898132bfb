// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rows of a snapshot and their memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "reader.h"
#include "family/family.h"
#include "model/record.h"

/* ---- memory ----------------------------------------------------------------- */

/*
 * Each block is larger than the previous one, so that diagnoses of many devices without
 * objects take little memory.
 */
#define FIRST_BLOCK	2048
#define LARGEST_BLOCK	65536

struct diag_block {
	struct diag_block *next;
	size_t size;
	uint64_t data[];
};

void *eadm_diag_alloc(struct diag_pool *pool, size_t size)
{
	struct diag_block *block = pool->blocks;
	size_t room;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!block || block->size - pool->used < size) {
		room = block ? 2 * block->size : FIRST_BLOCK;
		if (room > LARGEST_BLOCK)
			room = LARGEST_BLOCK;
		if (room < size)
			room = size;
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->size = room;
		block->next = pool->blocks;
		pool->blocks = block;
		pool->used = 0;
	}
	p = (char *)block->data + pool->used;
	pool->used += size;
	memset(p, 0, size);
	return p;
}

char *eadm_diag_strdup(struct diag_pool *pool, const char *text)
{
	size_t len = strlen(text) + 1;
	char *copy = eadm_diag_alloc(pool, len);

	return copy ? memcpy(copy, text, len) : NULL;
}

void eadm_diag_pool_free(struct diag_pool *pool)
{
	struct diag_block *block;

	while ((block = pool->blocks)) {
		pool->blocks = block->next;
		free(block);
	}
	pool->used = 0;
}

/* ---- rows ---------------------------------------------------------------------- */

static struct diag_row *add_row(struct diag_rows *rows)
{
	struct diag_row *row;

	if (!grow(rows->row, rows->n, rows->max))
		return NULL;
	row = &rows->row[rows->n];
	memset(row, 0, sizeof(*row));
	return row;
}

static bool take_text(struct reader *r, const struct eadm_record *record,
		      const struct eadm_value *v, union diag_value *to)
{
	char text[640];

	if (eadm_record_text(record, v->field, text, sizeof(text)) < 0)
		return true;
	to->s = eadm_diag_strdup(&r->snapshot->pool, text);
	return to->s;
}

static inline bool take_value(struct reader *r, const struct eadm_record *record,
			      const struct eadm_value *v, union diag_value *to)
{
	switch (v->type) {
	case EADM_TYPE_U64:
		to->u = v->u64;
		return true;
	case EADM_TYPE_S64:
		to->u = v->s64;
		return true;
	case EADM_TYPE_STRING:
		to->s = eadm_diag_strdup(&r->snapshot->pool, v->string);
		return to->s;
	default:
		return take_text(r, record, v, to);
	}
}

/* Returns the width of a field: its own, or that of the family's indices. */
static unsigned int width_of(const struct eadm_family *family,
			     const struct eadm_field *field)
{
	unsigned int bits = 0;

	if (!field->index_at)
		return eadm_field_bits(field);
	if (family)
		bits = eadm_family_index_bits(
			family, eadm_spec_string(field->index_at));
	return bits ? bits : 64;
}

static const char *device_name(struct diag_pool *pool,
			       const struct eadm_record *record,
			       const struct eadm_field *field)
{
	const char *name = eadm_record_string(record, field);

	return name ? eadm_diag_strdup(pool, name) : "";
}

/* Computes the index of the value of each field in @has. */
static const unsigned char *places_of(struct reader *r, enum diag_kind kind,
				      uint64_t has)
{
	unsigned char *place = r->last[kind].place;
	unsigned int n = 0;

	if (place && r->last[kind].has == has)
		return place;
	place = eadm_diag_alloc(&r->snapshot->pool, 64);
	r->last[kind].place = place;
	r->last[kind].has = has;
	for (; place && has; has &= has - 1)
		place[__builtin_ctzll(has)] = n++;
	return place;
}

/*
 * There may be many rows, most of which have less than half of the fields: allocate
 * memory only for the values that a row has. The part of a CQE is added later.
 */
static bool pack(struct reader *r, enum diag_kind kind, struct diag_row *row,
		 const union diag_value *found)
{
	uint64_t has = row->has | (kind == DIAG_CQE ? 1ULL << CQE_SUB : 0);
	union diag_value *to;

	_Static_assert(CQE_SUB == DIAG_CQE_N - 1, "the part is the last field of a CQE");
	row->place = places_of(r, kind, has);
	to = eadm_diag_alloc(&r->snapshot->pool,
			     __builtin_popcountll(has) * sizeof(*to));
	row->value = to;
	for (has = row->has; to && has; has &= has - 1)
		*to++ = found[__builtin_ctzll(has)];
	return row->value && row->place;
}

static int take_row(struct reader *r, enum diag_kind kind,
		    const struct diag_fields *f,
		    const struct eadm_record *record)
{
	struct diag_row *row = add_row(&r->snapshot->rows[kind]);
	struct diag_pool *pool = &r->snapshot->pool;
	union diag_value found[64];
	unsigned int i, n, slot;

	if (!row)
		return -ENOMEM;
	/* The device's own row stores the name that all its rows use. */
	row->device = r->device;
	if (kind == DIAG_DEV || kind >= DIAG_CALL)
		row->device = device_name(pool, record, f->dev_name);
	if (!r->bits[kind])
		r->bits[kind] = eadm_diag_alloc(pool, f->n);
	row->bits = r->bits[kind];
	if (!row->device || !row->bits)
		return -ENOMEM;
	eadm_record_u64(record, f->dev_index, &row->dev);
	eadm_record_u64(record, eadm_object_key(f->object), &row->id);
	row->time = eadm_record_time(record);
	if (!r->snapshot->time)
		r->snapshot->time = row->time;
	n = eadm_record_some(record, f->wanted, r->values, f->n_all);
	for (i = 0; i < n; i++) {
		slot = f->slot[r->values[i].index];
		if (!take_value(r, record, &r->values[i], &found[slot]))
			return -ENOMEM;
		row->has |= 1ULL << slot;
		if (!row->bits[slot])
			r->bits[kind][slot] = width_of(r->family,
						       r->values[i].field);
	}
	if (!pack(r, kind, row, found))
		return -ENOMEM;
	r->snapshot->rows[kind].n++;
	return 0;
}

int eadm_diag_add_note(struct reader *r, int error, const char *device,
		       const char *what, const char *why)
{
	struct diag_snapshot *m = r->snapshot;
	struct diag_note *note;

	if (!grow(m->notes, m->n_notes, m->max_notes))
		return -ENOMEM;
	note = &m->notes[m->n_notes++];
	note->error = error;
	note->device = eadm_diag_strdup(&m->pool, device ? device : "");
	note->what = eadm_diag_strdup(&m->pool, what);
	note->why = eadm_diag_strdup(&m->pool, why);
	if (!note->device || !note->what || !note->why) {
		m->n_notes--;
		return -ENOMEM;
	}
	return 0;
}

/* Keep notes about failures, but not about data that does not exist. */
static int take_notes(struct reader *r, const struct eadm_dump *dump)
{
	struct eadm_note n = { .size = sizeof(n) };
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && eadm_dump_note(dump, i, &n) > 0; i++) {
		if (n.error && n.error != -EOPNOTSUPP)
			ret = eadm_diag_add_note(r, n.error, n.device, n.what, n.why);
	}
	return ret;
}

int eadm_diag_read_dump(struct reader *r, enum diag_kind kind,
			const struct eadm_dump_opts *opts)
{
	return eadm_diag_read_some(r, kind, opts, NULL);
}

int eadm_diag_read_some(struct reader *r, enum diag_kind kind,
			const struct eadm_dump_opts *opts,
			bool (*wants)(struct reader *r,
				      const struct diag_row *row))
{
	const struct diag_fields *f = eadm_diag_fields(kind);
	struct diag_rows *rows = &r->snapshot->rows[kind];
	const struct eadm_record *record;
	struct eadm_dump *dump;
	size_t before = rows->n;
	int ret, err;

	ret = eadm_dump_open(r->ctx, f->object, opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		err = take_row(r, kind, f, record);
		if (err) {
			eadm_dump_close(dump);
			return err;
		}
		if (wants && !wants(r, &rows->row[rows->n - 1]))
			rows->n--;
	}
	if (ret)
		rows->n = before;
	else
		ret = take_notes(r, dump);
	eadm_dump_close(dump);
	return ret;
}

void eadm_diag_lacks(struct reader *r, enum diag_input input,
		     enum diag_lack lack, const char *why)
{
	struct diag_inputs *in = r->inputs;

	/* The first reason is the cause of all others. */
	if (in->lack[input])
		return;
	in->lack[input] = lack;
	in->why[input] = why ? eadm_diag_strdup(&r->snapshot->pool, why) : NULL;
}
