// SPDX-License-Identifier: LGPL-2.1-or-later
/* Maps drivers' counters to fields of the object "counters". */
#include <string.h>

#include "counters.h"
#include "eadm_nl.h"
#include "model/counters.h"

static const struct eadm_counter_name *find(const char *name)
{
	size_t lo = 0, hi = eadm_counter_names_count, mid;
	int order;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		order = strcmp(name, eadm_counter_names[mid].name);
		if (!order)
			return &eadm_counter_names[mid];
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* Returns the field of "counters" for a driver's counter name; 0 if there is none. */
uint16_t eadm_counter_attr(const char *name)
{
	const struct eadm_counter_name *canonical = find(name);

	return canonical ? canonical->attr : 0;
}

/* Remember which fields a record has, for counters that only fill in missing fields. */
void eadm_counters_mark(const struct eadm_record *rec,
			struct eadm_counters_had *had)
{
	memcpy(had->has, rec->has, sizeof(had->has));
}

/*
 * Put a counter under the driver's name, unless its field was present before (@had, may
 * be NULL). @name must live as long as the record.
 */
int eadm_counter_put(struct eadm_record *rec, const char *name,
		     uint64_t value, bool original,
		     const struct eadm_counters_had *had)
{
	const struct eadm_counter_name *canonical =
		original ? NULL : find(name);
	struct eadm_extra extra = { .name = name, .value = value };

	if (!canonical)
		return eadm_record_add_extra(rec, &extra);
	if (had && had->has[(canonical->attr - 1) / 64] >>
			   ((canonical->attr - 1) % 64) & 1)
		return 0;
	if (!eadm_record_attr_has(rec, canonical->attr)) {
		eadm_record_put_u64(rec, canonical->attr, value);
		return 0;
	}
	/* Several of a vendor's counters may add up to one canonical counter. */
	value += eadm_record_attr_u64(rec, canonical->attr);
	memcpy((void *)rec->slot[canonical->attr - 1].p, &value,
	       sizeof(value));
	return 0;
}
