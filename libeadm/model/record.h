/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A record: one row of an object. */
#ifndef EADM_RECORD_H
#define EADM_RECORD_H

#include <stddef.h>
#include <string.h>

#include "attr.h"
#include "base/base.h"
#include "model/fields.h"

#define EADM_MAX_FIELDS 256

/* Location of a value: in the message, or in the record's scratch space. */
struct eadm_slot {
	const void *p;
	uint32_t len;
};

struct eadm_record {
	const struct eadm_object *object;
	uint64_t time;
	uint64_t has[EADM_MAX_FIELDS / 64];
	unsigned int n_extra;
	size_t max_extra;
	unsigned int used;		/* bytes of scratch */
	struct eadm_extra *extra;
	struct eadm_slot slot[EADM_MAX_FIELDS];
	_Alignas(8) unsigned char scratch[4096];
};

/* Does not clear the whole record, most of which is space for values. */
static inline void eadm_record_init(struct eadm_record *rec)
{
	memset(rec, 0, offsetof(struct eadm_record, slot));
}

static inline bool eadm_record_attr_has(const struct eadm_record *rec,
					unsigned int attr)
{
	unsigned int i = attr - 1;

	return rec->has[i / 64] >> (i % 64) & 1;
}

/*
 * Returns the value of a numeric field; 0 if the field is absent. The slot of an absent
 * field may still point into a response that has been freed.
 */
static inline uint64_t eadm_record_attr_u64(const struct eadm_record *rec,
					    unsigned int attr)
{
	const struct eadm_slot *slot = &rec->slot[attr - 1];

	return eadm_record_attr_has(rec, attr) ? eadm_load(slot->p, slot->len) : 0;
}

const struct eadm_object *eadm_object_of_cmd(unsigned int cmd);

void eadm_record_reset(struct eadm_record *rec,
		       const struct eadm_object *object, uint64_t time);
void eadm_record_release(struct eadm_record *rec);
void eadm_record_put_u64(struct eadm_record *rec, unsigned int attr,
			 uint64_t value);
void eadm_record_put_bytes(struct eadm_record *rec, unsigned int attr,
			   const void *data, size_t len);
void eadm_record_put_string(struct eadm_record *rec, unsigned int attr,
			    const char *str);
const char *eadm_record_keep(struct eadm_record *rec, const char *text);
unsigned int eadm_record_some(const struct eadm_record *rec,
			      const uint64_t *wanted, struct eadm_value *values,
			      unsigned int max);
int eadm_record_add_extra(struct eadm_record *rec,
			  const struct eadm_extra *extra);

/* Point a field at a value; the value is not examined. */
static inline void eadm_record_point(struct eadm_record *rec,
				     unsigned int attr, const void *p,
				     uint32_t len)
{
	unsigned int i = attr - 1;

	rec->slot[i].p = p;
	rec->slot[i].len = len;
	rec->has[i / 64] |= 1ULL << (i % 64);
}

#endif /* EADM_RECORD_H */
