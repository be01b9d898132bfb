/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A matrix that shows which hosts reach each other; if there are too many hosts, it
 * shows only the worst.
 */
#ifndef MESH_MATRIX_H
#define MESH_MATRIX_H

#include "../out/buffer.h"
#include "hub.h"

#define MATRIX_HOSTS 32		/* fits into 80 columns */

void matrix_write(const struct hub *hub, struct buffer *to);

#endif /* MESH_MATRIX_H */
