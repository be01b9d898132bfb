/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that explain the failed directions, each as large as possible: for example, a
 * host instead of all of its pairs. Local causes come first, then rails, then hosts and
 * adapters (first in both directions, then in one), groups of hosts, and finally pairs.
 */
#ifndef MESH_GROUP_H
#define MESH_GROUP_H

#include "fault.h"

/*
 * @gone has the cause for each host that left before the end, and CAUSE_NONE for all
 * others; @n_rails has the number of adapters of each host. Returns 0 or -ENOMEM.
 */
int faults_find(const struct mesh_table *t, const uint8_t *gone,
		const uint8_t *n_rails, struct faults *faults);

#endif /* MESH_GROUP_H */
