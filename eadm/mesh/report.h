/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of a mesh as rows. */
#ifndef MESH_REPORT_H
#define MESH_REPORT_H

#include "../cli.h"
#include "hub.h"

/*
 * Prints a matrix and the faults, or faults and directions as JSON, or metrics. Returns
 * an exit status.
 */
int report_mesh(struct cli *cli, const struct hub *hub,
		const struct faults *faults);

#endif /* MESH_REPORT_H */
