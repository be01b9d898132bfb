/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drivers' names for counters, and the corresponding fields (spec/counters.yaml). */
#ifndef EADM_MODEL_COUNTERS_H
#define EADM_MODEL_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct eadm_counter_name {
	const char *name;
	uint16_t attr;
};

/* Sorted by name. */
extern const struct eadm_counter_name eadm_counter_names[];
extern const size_t eadm_counter_names_count;

#endif /* EADM_MODEL_COUNTERS_H */
