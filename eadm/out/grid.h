/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts in rows and columns, on standard output. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_RIGHT	1	/* align to the right */
#define GRID_TRUNC	2	/* may be cut where a terminal is too narrow */
#define GRID_HIDDEN	4	/* has cells, and is not shown */

struct grid;

struct grid *grid_new(bool colors);
void grid_free(struct grid *grid);
/* A column that is at least so wide; all of them come before grid_print(). */
void grid_column(struct grid *grid, const char *head, size_t least, int flags);
/* The next cell of the last row, in any characters; the text is copied. */
void grid_cell(struct grid *grid, const char *text, const char *escape);
/* One without a text, which is shown as "-". */
void grid_absent(struct grid *grid);
/*
 * One whose text is made in place: room for @len bytes, NULL without memory, and
 * then how many of them are used, for printable ASCII.
 */
char *grid_room(struct grid *grid, size_t len);
void grid_made(struct grid *grid, size_t len, const char *escape);
/* The text of cell number @n, NULL: it is absent. It stays until the next cell. */
const char *grid_text(const struct grid *grid, size_t n);
/*
 * Print the rows that were added. The first call prints the headings and decides
 * how wide columns are, with as much to spare for the numbers of later rows.
 * False without memory.
 */
bool grid_print(struct grid *grid, size_t spare);
/* Drop the rows; columns and their widths stay. */
void grid_forget(struct grid *grid);

#endif /* GRID_H */
