/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints texts in rows and columns on standard output. */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>

#define GRID_RIGHT	1	/* align to the right */
#define GRID_TRUNC	2	/* can be cut if the terminal is too narrow */
#define GRID_HIDDEN	4	/* has cells, but is not shown */

struct grid;

struct grid *grid_new(bool colors);
void grid_free(struct grid *grid);
/*
 * Add a column with a minimum width of @least. All columns must be added before
 * grid_print().
 */
void grid_column(struct grid *grid, const char *head, size_t least, int flags);
/* Add the next cell of the last row, with any characters; the text is copied. */
void grid_cell(struct grid *grid, const char *text, const char *escape);
/* Add a cell without text, shown as "-". */
void grid_absent(struct grid *grid);
/*
 * Add a cell whose text is formatted in place: grid_room() returns space for @len bytes
 * (NULL if out of memory), then grid_made() takes the length of the text, which must be
 * printable ASCII.
 */
char *grid_room(struct grid *grid, size_t len);
void grid_made(struct grid *grid, size_t len, const char *escape);
/*
 * Returns the text of cell number @n, or NULL if it is absent. Valid until the next cell
 * is added.
 */
const char *grid_text(const struct grid *grid, size_t n);
/*
 * Print the rows that were added. The first call prints the headings and determines the
 * widths, with room for @spare further digits in later rows. Returns false if out of
 * memory.
 */
bool grid_print(struct grid *grid, size_t spare);
/*
 * Show column number @n if it is hidden. If rows have been printed, the next grid_print()
 * begins a new table below them: it prints headings again and determines new widths.
 */
void grid_show(struct grid *grid, unsigned int n);
/*
 * Call before grid_print(). If the terminal is too narrow, columns move to further
 * parts below. The first @keys columns identify a row; if they are short, each part
 * repeats them.
 */
void grid_fold(struct grid *grid, unsigned int keys);
/* Returns the width required by the rows that were added. */
size_t grid_width(const struct grid *grid);
/* Drop the rows; the columns and their widths remain. */
void grid_forget(struct grid *grid);

#endif /* GRID_H */
