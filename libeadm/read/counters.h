/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters under the driver's names. */
#ifndef EADM_COUNTERS_H
#define EADM_COUNTERS_H

#include "model/record.h"

/* The fields that a record had at some point. */
struct eadm_counters_had {
	uint64_t has[EADM_MAX_FIELDS / 64];
};

void eadm_counters_mark(const struct eadm_record *rec,
			struct eadm_counters_had *had);
uint16_t eadm_counter_attr(const char *name);
int eadm_counter_put(struct eadm_record *rec, const char *name,
		     uint64_t value, bool original,
		     const struct eadm_counters_had *had) EADM_MUST_CHECK;

#endif /* EADM_COUNTERS_H */
