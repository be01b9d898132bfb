/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "eadm test mesh": docs/architecture.md has the design. */
#ifndef MESH_MESH_H
#define MESH_MESH_H

#include "../test/test.h"

/* Returns an exit status. */
int mesh_run(struct test *test);

#endif /* MESH_MESH_H */
