// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables. Where there is a terminal libsmartcols fits them in, with colours
 * and characters of any width. Elsewhere, and when all is plain ASCII, padding
 * is all there is to do, and is done here: it takes a tenth of the time, which
 * shows with thousands of rows and in commands that scripts run all the time.
 * Without libsmartcols it is done here always.
 */
#include "grid.h"

#include <dlfcn.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "term.h"

struct grid_col {
	char *head;
	size_t width;
	int flags;
};

struct grid_text {
	const char *text;
	const char *color;
};

struct grid {
	bool colors, failed;
	bool plain;		/* only plain ASCII so far */
	struct grid_col *cols;
	unsigned int n_cols;
	struct grid_text *cells;
	size_t n_cells, max_cells;
};

/* libsmartcols escapes what it can't print, but takes what is not seen. */
static char *visible(const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	char *copy = malloc(strlen(text) + 1), *to = copy;
	size_t n;

	while (copy && *from) {
		n = *from < 0x80 ? 0 : utf8_len(from);
		if (n && utf8_is_hidden(from, n))
			*to++ = '?';
		else
			to = mempcpy(to, from, n ? n : 1);
		from += n ? n : 1;
	}
	if (copy)
		*to = '\0';
	return copy;
}

struct grid *grid_new(bool colors)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (grid) {
		grid->colors = colors;
		grid->plain = true;
	}
	return grid;
}

void grid_free(struct grid *grid)
{
	unsigned int i;

	for (i = 0; i < grid->n_cols; i++)
		free(grid->cols[i].head);
	free(grid->cols);
	free(grid->cells);
	free(grid);
}

/* As wide as it is long, and nothing that a terminal could take amiss. */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if (*text < 0x20 || *text > 0x7e)
			return false;
	}
	return true;
}

void grid_column(struct grid *grid, const char *head, size_t width, int flags)
{
	struct grid_col *cols, *col;

	cols = realloc(grid->cols, (grid->n_cols + 1) * sizeof(*cols));
	if (!cols) {
		grid->failed = true;
		return;
	}
	grid->cols = cols;
	col = &cols[grid->n_cols++];
	*col = (struct grid_col){ visible(head), width, flags };
	if (!col->head)
		grid->failed = true;
	else
		grid->plain &= is_plain(head);
}

void grid_cell(struct grid *grid, const char *text, const char *color)
{
	struct grid_text *cells;
	size_t max;

	if (grid->n_cells == grid->max_cells) {
		max = grid->max_cells ? 2 * grid->max_cells : 256;
		cells = realloc(grid->cells, max * sizeof(*cells));
		if (!cells) {
			grid->failed = true;
			return;
		}
		grid->cells = cells;
		grid->max_cells = max;
	}
	grid->cells[grid->n_cells++] = (struct grid_text){ text, color };
	if (grid->plain)
		grid->plain = is_plain(text);
}

/* ---- by padding --------------------------------------------------------------- */

static void plain_text(const struct grid_col *col, const char *text, bool last)
{
	size_t len = strlen(text), pad;

	pad = len < col->width ? col->width - len : 0;
	if (col->flags & GRID_RIGHT) {
		for (; pad; pad--)
			putchar_unlocked(' ');
		pad = 0;
	}
	if (is_plain(text))
		fwrite_unlocked(text, 1, len, stdout);
	else
		put_clean(stdout, text, len);
	if (last) {
		putchar_unlocked('\n');
		return;
	}
	for (pad++; pad; pad--)
		putchar_unlocked(' ');
}

static void widen(struct grid *grid, bool headings)
{
	unsigned int i;
	size_t c, len;

	for (i = 0; i < grid->n_cols; i++) {
		struct grid_col *col = &grid->cols[i];

		if (!(col->flags & GRID_STRICT))
			col->width = 0;
		if (headings && strlen(col->head) > col->width)
			col->width = strlen(col->head);
	}
	for (c = 0; c < grid->n_cells; c++) {
		len = strlen(grid->cells[c].text);
		i = c % grid->n_cols;
		if (len > grid->cols[i].width)
			grid->cols[i].width = len;
	}
}

static void print_plain(struct grid *grid, bool headings)
{
	unsigned int last = grid->n_cols - 1, i;
	size_t c;

	widen(grid, headings);
	for (i = 0; headings && i < grid->n_cols; i++)
		plain_text(&grid->cols[i], grid->cols[i].head, i == last);
	for (c = 0; c < grid->n_cells; c++) {
		i = c % grid->n_cols;
		plain_text(&grid->cols[i], grid->cells[c].text, i == last);
	}
}

/* ---- by libsmartcols ----------------------------------------------------------- */

/*
 * Loaded when there is a terminal only: to bind its symbols takes longer than
 * many a command that prints to a pipe.
 */
#define SMART_FUNCTIONS(f)						\
	f(new_table) f(unref_table)			\
	f(table_enable_colors) f(table_enable_noheadings)		\
	f(table_new_column) f(table_new_line) f(table_get_column)	\
	f(line_set_data) f(line_get_cell) f(cell_set_color)		\
	f(column_get_width) f(print_table)

struct smart {
#define f(name) __typeof__(&scols_##name) name;
	SMART_FUNCTIONS(f)
#undef f
};

static bool smart_load(struct smart *smart)
{
	void *lib = dlopen("libsmartcols.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return false;
#define f(func)								\
	smart->func = (__typeof__(smart->func))dlsym(lib, "scols_" #func); \
	if (!smart->func)						\
		return false;
	SMART_FUNCTIONS(f)
#undef f
	return true;
}

static int set_text(const struct smart *smart, struct libscols_line *line,
		    unsigned int i, const char *text)
{
	char *copy;
	int ret;

	if (is_plain(text))
		return smart->line_set_data(line, i, text);
	copy = visible(text);
	ret = copy ? smart->line_set_data(line, i, copy) : -1;
	free(copy);
	return ret;
}

static bool fill(struct grid *grid, const struct smart *smart,
		 struct libscols_table *tb)
{
	struct libscols_line *line = NULL;
	unsigned int i;
	size_t c;

	for (i = 0; i < grid->n_cols; i++) {
		const struct grid_col *col = &grid->cols[i];
		int flags = 0;

		if (col->flags & GRID_RIGHT)
			flags |= SCOLS_FL_RIGHT;
		if (col->flags & GRID_TRUNC)
			flags |= SCOLS_FL_TRUNC;
		if (col->flags & GRID_STRICT)
			flags |= SCOLS_FL_STRICTWIDTH;
		if (!smart->table_new_column(tb, col->head,
					     col->width ? col->width : 1,
					     flags))
			return false;
	}
	for (c = 0; c < grid->n_cells; c++) {
		const struct grid_text *cell = &grid->cells[c];

		i = c % grid->n_cols;
		if (!i)
			line = smart->table_new_line(tb, NULL);
		if (!line || set_text(smart, line, i, cell->text))
			return false;
		if (cell->color)
			smart->cell_set_color(smart->line_get_cell(line, i),
					      cell->color);
	}
	return true;
}

static bool print_smart(struct grid *grid, const struct smart *smart,
			bool headings)
{
	struct libscols_table *tb;
	unsigned int i;
	bool filled;

	setlocale(LC_CTYPE, "");
	tb = smart->new_table();
	if (!tb)
		return false;
	smart->table_enable_colors(tb, grid->colors);
	smart->table_enable_noheadings(tb, !headings);
	filled = fill(grid, smart, tb);
	if (filled)
		smart->print_table(tb);
	for (i = 0; filled && i < grid->n_cols; i++)
		grid->cols[i].width = smart->column_get_width(
			smart->table_get_column(tb, i));
	smart->unref_table(tb);
	return filled;
}

bool grid_print(struct grid *grid, bool headings)
{
	struct smart smart;

	if (grid->failed)
		return false;
	if (!grid->n_cols || !grid->n_cells)
		return true;
	if ((!grid->plain || term_is_tty()) && smart_load(&smart))
		return print_smart(grid, &smart, headings);
	print_plain(grid, headings);
	return true;
}

size_t grid_width(const struct grid *grid, unsigned int column)
{
	return grid->cols[column].width;
}
