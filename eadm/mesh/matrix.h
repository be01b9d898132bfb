/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host reaches which; of too many hosts, the worst. */
#ifndef MESH_MATRIX_H
#define MESH_MATRIX_H

#include "../out/buffer.h"
#include "hub.h"

#define MATRIX_HOSTS 32		/* they fit into 80 columns */

void matrix_write(const struct hub *hub, struct buffer *to);

#endif /* MESH_MATRIX_H */
