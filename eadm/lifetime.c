// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects numbers that different objects used one after the other. */
#include "lifetime.h"

/*
 * The time of a row is that of its arrival, which may be later than that of its age;
 * limit on this delay.
 */
#define ARRIVAL_NS 1000000000ULL

void lifetime_fields(const struct eadm_object *object,
		     struct lifetime_fields *fields)
{
	fields->res_id = eadm_object_find_field(object, "res-id");
	fields->age = eadm_object_find_field(object, "age");
}

void lifetime_of(const struct lifetime_fields *fields,
		 const struct eadm_record *record, struct lifetime *life)
{
	life->time = eadm_record_time(record);
	life->has_res_id = fields->res_id &&
			   !eadm_record_u64(record, fields->res_id, &life->res_id);
	life->has_age = fields->age &&
			!eadm_record_u64(record, fields->age, &life->age);
}

/* Returns true if an age began within the last @elapsed ns. */
bool is_recent(uint64_t age, uint64_t elapsed)
{
	return age + ARRIVAL_NS < elapsed;
}

/* Returns true if an age began again in the @elapsed ns between two readings. */
bool is_restarted(uint64_t before, uint64_t after, uint64_t elapsed)
{
	return after < before || is_recent(after, elapsed);
}

/* Returns true if rows with the same number are of different objects. */
bool is_reused(const struct lifetime *a, const struct lifetime *b)
{
	if (a->has_res_id && b->has_res_id && a->res_id != b->res_id)
		return true;
	if (a->time > b->time)
		return is_reused(b, a);
	return a->time && a->time != b->time && a->has_age && b->has_age &&
	       is_restarted(a->age, b->age, b->time - a->time);
}
