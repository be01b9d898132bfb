/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters by the name that a driver gives them. */
#ifndef EADM_COUNTERS_H
#define EADM_COUNTERS_H

#include "model/record.h"

int eadm_counter_put(struct eadm_record *rec, const char *name,
		     uint64_t value, bool original, bool spare)
	EADM_MUST_CHECK;

#endif /* EADM_COUNTERS_H */
