/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of a mesh as OpenMetrics text. */
#ifndef MESH_METRICS_H
#define MESH_METRICS_H

#include "../out/buffer.h"
#include "hub.h"

void metrics_write(const struct hub *hub, const struct faults *faults,
		   struct buffer *to);

#endif /* MESH_METRICS_H */
