/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts in rows and columns, on standard output. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_RIGHT	1	/* align to the right */
#define GRID_TRUNC	2	/* may be cut where a terminal is too narrow */
#define GRID_STRICT	4	/* as wide as asked for even if empty */

struct grid;

struct grid *grid_new(bool colors);
void grid_free(struct grid *grid);
void grid_column(struct grid *grid, const char *head, size_t width, int flags);
/* The next cell of the last row; the text must stay until grid_print(). */
void grid_cell(struct grid *grid, const char *text, const char *color);
bool grid_print(struct grid *grid, bool headings);	/* false: no memory */
size_t grid_width(const struct grid *grid, unsigned int column);

#endif /* GRID_H */
