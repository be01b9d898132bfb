/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects numbers that different objects used one after the other. */
#ifndef LIFETIME_H
#define LIFETIME_H

#include <eadm.h>
#include <stdbool.h>
#include <stdint.h>

struct lifetime_fields {
	const struct eadm_field *res_id, *age;	/* NULL: the object has no such field */
};

struct lifetime {
	uint64_t time;		/* when the row arrived, ns since 1970 */
	uint64_t res_id, age;	/* number in the RDMA core; ns */
	bool has_res_id, has_age;
};

void lifetime_fields(const struct eadm_object *object,
		     struct lifetime_fields *fields);
void lifetime_of(const struct lifetime_fields *fields,
		 const struct eadm_record *record, struct lifetime *life);
bool is_reused(const struct lifetime *a, const struct lifetime *b);
bool is_recent(uint64_t age, uint64_t elapsed);
bool is_restarted(uint64_t before, uint64_t after, uint64_t elapsed);

#endif /* LIFETIME_H */
