// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables, padded to the widths that their first rows need. Rows are printed in
 * pieces and stay aligned: a table may be longer than memory. That is why
 * libsmartcols is not used: it fits in each piece by itself.
 */
#include "grid.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "../grow.h"
#include "json.h"
#include "term.h"

struct grid_col {
	char *head;
	size_t width;
	int flags;
	bool cut;		/* longer texts lose their end */
};

struct grid_text {
	const char *text;
	const char *escape;	/* what colours it, or NULL */
	size_t len;
	size_t width;		/* on a terminal */
	bool plain;		/* printable ASCII */
};

struct grid {
	bool colors, failed;
	bool shown;		/* widths are decided */
	struct grid_col *cols;
	unsigned int n_cols, max_cols;
	struct grid_text *cells;
	size_t n_cells, max_cells;
};

struct grid *grid_new(bool colors)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (grid)
		grid->colors = colors;
	return grid;
}

void grid_free(struct grid *grid)
{
	unsigned int i;

	if (!grid)
		return;
	for (i = 0; i < grid->n_cols; i++)
		free(grid->cols[i].head);
	free(grid->cols);
	free(grid->cells);
	free(grid);
}

/* ---- texts ------------------------------------------------------------------ */

/* Length of a text that is as wide as it is long, or -1. */
static ssize_t plain_length(const char *text)
{
	const char *p = text;

	for (; *p; p++) {
		if (*p < 0x20 || *p > 0x7e)
			return -1;
	}
	return p - text;
}

/* Bytes of the first character, 0 if it is none or controls the terminal. */
static size_t char_bytes(const unsigned char *p)
{
	return *p < 0x80 ? *p >= 0x20 && *p != 0x7f : utf8_len(p);
}

/* Width of the first character as put_char() prints it; its bytes in @n. */
static size_t char_width(const char *text, size_t *n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = char_bytes(p);
	mbstate_t state = { 0 };
	int width = 1;
	wchar_t c;

	*n = len ? len : 1;
	if (!len)
		return strlen("\\x00");
	if ((len == 1 || !utf8_is_hidden(p, len)) &&
	    mbrtowc(&c, text, len, &state) == len)
		width = wcwidth(c);
	return width < 0 ? 1 : width;
}

/* What can't be shown is told by its byte; what is not seen is a '?'. */
static size_t put_char(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = char_bytes(p);

	if (!len)
		printf("\\x%02x", *p);
	else if (*p >= 0x80 && utf8_is_hidden(p, len))
		putchar_unlocked('?');
	else
		fwrite_unlocked(text, 1, len, stdout);
	return len ? len : 1;
}

/* How many bytes of @text are at most @most columns wide; how wide in @width. */
static size_t fitting(const char *text, size_t most, size_t *width)
{
	const char *p = text;
	size_t n, w;

	for (*width = 0; *p; p += n) {
		w = char_width(p, &n);
		if (*width + w > most)
			break;
		*width += w;
	}
	return p - text;
}

static struct grid_text measure(const char *text, const char *escape)
{
	static bool knows_widths;
	struct grid_text cell = { text, escape };
	ssize_t len = plain_length(text);

	if (len >= 0) {
		cell.len = cell.width = len;
		cell.plain = true;
		return cell;
	}
	/* Texts are UTF-8 wherever they come from. */
	if (!knows_widths) {
		setlocale(LC_CTYPE, "C.UTF-8");
		knows_widths = true;
	}
	cell.len = fitting(text, SIZE_MAX, &cell.width);
	return cell;
}

void grid_column(struct grid *grid, const char *head, size_t least, int flags)
{
	char *copy = strdup(head);

	if (!copy || !grow(grid->cols, grid->n_cols, grid->max_cols)) {
		free(copy);
		grid->failed = true;
		return;
	}
	grid->cols[grid->n_cols++] = (struct grid_col){ copy, least, flags };
}

void grid_cell(struct grid *grid, const char *text, const char *escape)
{
	if (grow(grid->cells, grid->n_cells, grid->max_cells))
		grid->cells[grid->n_cells++] = measure(text, escape);
	else
		grid->failed = true;
}

/* ---- widths ------------------------------------------------------------------ */

/* What does not fit on the terminal is taken from the widest that may be cut. */
static void narrow(struct grid *grid, size_t room)
{
	struct grid_col *col, *widest;
	size_t total = grid->n_cols - 1;
	unsigned int i;

	for (i = 0; i < grid->n_cols; i++)
		total += grid->cols[i].width;
	for (; total > room; total--) {
		widest = NULL;
		for (i = 0; i < grid->n_cols; i++) {
			col = &grid->cols[i];
			if (col->flags & GRID_TRUNC &&
			    col->width > measure(col->head, NULL).width &&
			    (!widest || col->width > widest->width))
				widest = col;
		}
		if (!widest)
			return;
		widest->width--;
		widest->cut = true;
	}
}

static void decide_widths(struct grid *grid, size_t spare)
{
	struct grid_col *col;
	size_t c, room = term_width();
	unsigned int i;

	for (c = 0; c < grid->n_cells; c++) {
		col = &grid->cols[c % grid->n_cols];
		if (grid->cells[c].width > col->width)
			col->width = grid->cells[c].width;
	}
	for (i = 0; i < grid->n_cols; i++) {
		size_t head = measure(grid->cols[i].head, NULL).width;

		col = &grid->cols[i];
		if (col->flags & GRID_RIGHT)
			col->width += spare;
		if (head > col->width)
			col->width = head;
	}
	if (room)
		narrow(grid, room);
}

/* ---- printing ---------------------------------------------------------------- */

static void pad(size_t n)
{
	for (; n; n--)
		putchar_unlocked(' ');
}

static void put_cell(const struct grid *grid, unsigned int i,
		     struct grid_text cell)
{
	const struct grid_col *col = &grid->cols[i];
	const char *escape = grid->colors ? cell.escape : NULL;
	bool last = i == grid->n_cols - 1;
	size_t gap, at;

	if (col->cut && cell.width > col->width)
		cell.len = fitting(cell.text, col->width, &cell.width);
	gap = cell.width < col->width ? col->width - cell.width : 0;
	if (col->flags & GRID_RIGHT) {
		pad(gap);
		gap = 0;
	}
	if (escape)
		fputs(escape, stdout);
	if (cell.plain)
		fwrite_unlocked(cell.text, 1, cell.len, stdout);
	for (at = 0; !cell.plain && at < cell.len;)
		at += put_char(cell.text + at);
	if (escape)
		fputs("\033[0m", stdout);
	if (last)
		putchar_unlocked('\n');
	else
		pad(gap + 1);
}

bool grid_print(struct grid *grid, size_t spare)
{
	unsigned int i;
	size_t c;

	if (grid->failed)
		return false;
	if (!grid->n_cols || !grid->n_cells)
		return true;
	if (!grid->shown) {
		decide_widths(grid, spare);
		for (i = 0; i < grid->n_cols; i++)
			put_cell(grid, i, measure(grid->cols[i].head, NULL));
		grid->shown = true;
	}
	for (c = 0; c < grid->n_cells; c++)
		put_cell(grid, c % grid->n_cols, grid->cells[c]);
	grid->n_cells = 0;
	return true;
}
