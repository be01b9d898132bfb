/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts in rows and columns, on standard output. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_RIGHT	1	/* align to the right */
#define GRID_TRUNC	2	/* may be cut where a terminal is too narrow */

struct grid;

struct grid *grid_new(bool colors);
void grid_free(struct grid *grid);
/* A column that is at least so wide; all columns come before the first cell. */
void grid_column(struct grid *grid, const char *head, size_t least, int flags);
/* The next cell of the last row; the text must stay until grid_print(). */
void grid_cell(struct grid *grid, const char *text, const char *escape);
/*
 * Print the rows that were added and forget them. The first call prints the
 * headings and decides how wide columns are, with as much to spare for the
 * numbers of later rows. False without memory.
 */
bool grid_print(struct grid *grid, size_t spare);

#endif /* GRID_H */
