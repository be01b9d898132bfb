/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that explain the directions that failed, each as large as possible: a host
 * instead of all of its pairs. Causes that an end reports as its own come first, then
 * rails, hosts, adapters, their directions, groups of hosts and, at last, pairs.
 */
#ifndef MESH_GROUP_H
#define MESH_GROUP_H

#include "fault.h"

/*
 * @gone has the cause of each host that did not stay until the end, CAUSE_NONE for
 * all others; @n_rails the adapters of each host. 0, or -ENOMEM.
 */
int faults_find(const struct mesh_table *t, const uint8_t *gone,
		const uint8_t *n_rails, struct faults *faults);

#endif /* MESH_GROUP_H */
