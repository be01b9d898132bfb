// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables whose columns have the widths required by the first rows. Rows are printed in
 * chunks and stay aligned, so a table can be larger than memory. libsmartcols is not
 * used, because it computes the widths of each chunk separately.
 */
#include "grid.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "grow.h"
#include "buffer.h"
#include "json.h"
#include "term.h"

struct grid_col {
	char *head;
	size_t least, width;
	int flags;
	unsigned int part;	/* part that shows the column, or EVERY */
	bool cut;		/* truncate longer texts */
};

#define EVERY UINT_MAX

/* Size of a text. */
struct extent {
	unsigned int len;
	unsigned int width : 31;	/* number of terminal columns */
	bool plain : 1;			/* printable ASCII */
};

struct grid_cell {
	size_t at;		/* offset of the text; 0: absent */
	const char *escape;	/* colour sequence, or NULL */
	struct extent extent;
};

struct grid {
	bool colors, failed;
	bool shown;		/* widths have been determined */
	bool below;		/* there is a table above, with fewer columns */
	bool may_fold;
	unsigned int keys;	/* columns that identify a row */
	unsigned int parts;	/* number of further parts printed below the first one */
	struct grid_col *cols;
	unsigned int n_cols, max_cols;
	struct grid_cell *cells;
	size_t n_cells, max_cells;
	struct buffer texts;	/* texts of the cells, after the text for absent cells */
	struct buffer lines;	/* output buffer, to save stdio calls */
};

/* Buffered lines are written once they contain this many bytes. */
#define LINES_SIZE 8192
/* Most texts and gaps are shorter than this and are copied in one step. */
#define STEP 16

struct grid *grid_new(bool colors)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return NULL;
	grid->colors = colors;
	buffer_put(&grid->texts, "-", sizeof("-"));
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
	buffer_free(&grid->texts);
	buffer_free(&grid->lines);
	free(grid);
}

/* ---- texts ------------------------------------------------------------------ */

/*
 * Returns the length of a text of printable ASCII, which is also its width; otherwise
 * -1.
 */
static ssize_t plain_length(const char *text)
{
	const char *p = text;

	for (; *p; p++) {
		if (*p < 0x20 || *p > 0x7e)
			return -1;
	}
	return p - text;
}

/*
 * Returns the length of the first character in bytes; 0 if it is invalid or a control
 * character.
 */
static size_t char_bytes(const unsigned char *p)
{
	return *p < 0x80 ? *p >= 0x20 && *p != 0x7f : utf8_len(p);
}

/*
 * Returns the width of the first character as printed by put_char(); sets *n to its
 * length.
 */
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

/* Invalid bytes are shown as \xNN, invisible characters as '?'. */
static size_t put_char(struct buffer *line, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = char_bytes(p);
	char code[8];

	if (!len) {
		snprintf(code, sizeof(code), "\\x%02x", *p);
		buffer_puts(line, code);
	} else if (*p >= 0x80 && utf8_is_hidden(p, len)) {
		buffer_puts(line, "?");
	} else {
		buffer_put(line, text, len);
	}
	return len ? len : 1;
}

/*
 * Returns the number of bytes of @text that fit into @most columns; sets *width to
 * their width.
 */
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

static struct extent measure(const char *text)
{
	static bool knows_widths;
	ssize_t len = plain_length(text);
	size_t width;

	if (len >= 0)
		return (struct extent){ len, len, true };
	/* Texts are always UTF-8, whatever the locale. */
	if (!knows_widths) {
		setlocale(LC_CTYPE, "C.UTF-8");
		knows_widths = true;
	}
	len = fitting(text, SIZE_MAX, &width);
	return (struct extent){ len, width, false };
}

/* ---- columns and cells ----------------------------------------------------------- */

void grid_column(struct grid *grid, const char *head, size_t least, int flags)
{
	char *copy = strdup(head);

	if (!copy || !grow(grid->cols, grid->n_cols, grid->max_cols)) {
		free(copy);
		grid->failed = true;
		return;
	}
	grid->cols[grid->n_cols++] = (struct grid_col){
		.head = copy, .least = least, .flags = flags,
	};
}

void grid_show(struct grid *grid, unsigned int n)
{
	if (n >= grid->n_cols || !(grid->cols[n].flags & GRID_HIDDEN))
		return;
	grid->cols[n].flags &= ~GRID_HIDDEN;
	grid->below |= grid->shown;
	grid->shown = false;
}

static void add_cell(struct grid *grid, size_t at, struct extent extent,
		     const char *escape)
{
	struct grid_cell *cell;

	if (!grow(grid->cells, grid->n_cells, grid->max_cells)) {
		grid->failed = true;
		return;
	}
	cell = &grid->cells[grid->n_cells++];
	cell->at = at;
	cell->escape = grid->colors ? escape : NULL;
	cell->extent = extent;
}

/*
 * Adds a short plain text, as most texts are, by copying it while checking it. Returns
 * false if the text is not short and plain.
 */
static bool add_short(struct grid *grid, const char *text, const char *escape)
{
	char *to = buffer_room(&grid->texts, STEP);
	unsigned int len;

	for (len = 0; to && len < STEP; len++) {
		to[len] = text[len];
		if (!text[len]) {
			grid_made(grid, len, escape);
			return true;
		}
		if (text[len] < 0x20 || text[len] > 0x7e)
			break;
	}
	return false;
}

void grid_cell(struct grid *grid, const char *text, const char *escape)
{
	struct extent extent;
	size_t at = grid->texts.len;

	if (add_short(grid, text, escape))
		return;
	extent = measure(text);
	buffer_put(&grid->texts, text, extent.len + 1);
	add_cell(grid, at, extent, escape);
}

void grid_absent(struct grid *grid)
{
	add_cell(grid, 0, (struct extent){ 1, 1, true }, NULL);
}

char *grid_room(struct grid *grid, size_t len)
{
	return buffer_room(&grid->texts, len);
}

void grid_made(struct grid *grid, size_t len, const char *escape)
{
	size_t at = grid->texts.len;

	grid->texts.len += len + 1;
	add_cell(grid, at, (struct extent){ len, len, true }, escape);
}

const char *grid_text(const struct grid *grid, size_t n)
{
	if (n >= grid->n_cells || !grid->cells[n].at || grid->texts.failed)
		return NULL;
	return grid->texts.data + grid->cells[n].at;
}

void grid_forget(struct grid *grid)
{
	grid->n_cells = 0;
	grid->texts.len = sizeof("-");
}

/* ---- widths ------------------------------------------------------------------ */

static bool is_shown(const struct grid_col *col)
{
	return !(col->flags & GRID_HIDDEN);
}

static bool in_part(const struct grid_col *col, unsigned int part)
{
	return is_shown(col) && (col->part == part || col->part == EVERY);
}

/* Returns the width of all columns, each followed by a blank. */
static size_t total_width(const struct grid *grid)
{
	size_t total = 0;
	unsigned int i;

	for (i = 0; i < grid->n_cols; i++)
		total += is_shown(&grid->cols[i]) ? grid->cols[i].width + 1 : 0;
	return total;
}

/*
 * Moves columns that do not fit to further parts below, each of which begins with the
 * columns that identify the row.
 */
static void fold(struct grid *grid, size_t room)
{
	unsigned int i, keys = 0, part = 0;
	size_t lead = 0, used = 0;

	for (i = 0; i < grid->n_cols; i++) {
		struct grid_col *col = &grid->cols[i];

		if (!is_shown(col))
			continue;
		if (keys < grid->keys && lead + col->width < room / 2) {
			col->part = EVERY;
			lead += col->width + 1;
			used = lead;
			keys++;
			continue;
		}
		keys = grid->keys;
		if (used > lead && used + col->width > room) {
			used = lead;
			part++;
		}
		col->part = part;
		used += col->width + 1;
	}
	grid->parts = part;
}

/* Takes the missing width from the widest columns that can be cut. */
static void narrow(struct grid *grid, size_t room)
{
	struct grid_col *col, *widest;
	size_t total = total_width(grid);
	unsigned int i;

	for (; total > room + 1; total--) {
		widest = NULL;
		for (i = 0; i < grid->n_cols; i++) {
			col = &grid->cols[i];
			if (is_shown(col) && col->flags & GRID_TRUNC &&
			    col->width > measure(col->head).width &&
			    (!widest || col->width > widest->width))
				widest = col;
		}
		if (!widest)
			return;
		widest->width--;
		widest->cut = true;
	}
}

/*
 * Makes the columns fit by cutting them; if this is not enough, undoes the cuts and
 * folds the table.
 */
static void fit(struct grid *grid, size_t room)
{
	size_t *widths = calloc(grid->n_cols, sizeof(*widths));
	unsigned int i;

	for (i = 0; widths && i < grid->n_cols; i++)
		widths[i] = grid->cols[i].width;
	narrow(grid, room);
	if (widths && grid->may_fold && total_width(grid) > room + 1) {
		for (i = 0; i < grid->n_cols; i++) {
			grid->cols[i].width = widths[i];
			grid->cols[i].cut = false;
		}
		fold(grid, room);
	}
	free(widths);
}

/* Returns the width of the longest text in a column. */
static size_t width_of(const struct grid *grid, unsigned int i)
{
	const struct grid_col *col = &grid->cols[i];
	size_t at, head = measure(col->head).width;
	size_t width = head > col->least ? head : col->least;

	for (at = i; at < grid->n_cells; at += grid->n_cols) {
		if (grid->cells[at].extent.width > width)
			width = grid->cells[at].extent.width;
	}
	return width;
}

size_t grid_width(const struct grid *grid)
{
	size_t width = 0;
	unsigned int i;

	for (i = 0; i < grid->n_cols; i++)
		width += (i ? 1 : 0) + (is_shown(&grid->cols[i]) ?
						width_of(grid, i) : 0);
	return width;
}

static void decide_widths(struct grid *grid, size_t spare)
{
	const struct grid_cell *cell = grid->cells;
	const struct grid_cell *end = cell + grid->n_cells;
	struct grid_col *col = grid->cols, *last = col + grid->n_cols - 1;
	size_t room = term_width();
	unsigned int i;

	for (i = 0; i < grid->n_cols; i++) {
		grid->cols[i].width = grid->cols[i].least;
		grid->cols[i].part = 0;
		grid->cols[i].cut = false;
	}
	grid->parts = 0;
	for (; cell < end; cell++) {
		if (cell->extent.width > col->width)
			col->width = cell->extent.width;
		col = col == last ? grid->cols : col + 1;
	}
	for (i = 0; i < grid->n_cols; i++) {
		size_t head = measure(grid->cols[i].head).width;

		col = &grid->cols[i];
		if (col->flags & GRID_RIGHT)
			col->width += spare;
		if (head > col->width)
			col->width = head;
	}
	if (room)
		fit(grid, room);
}

/* ---- printing ---------------------------------------------------------------- */

/* Writes past the end, where the following text overwrites the additional bytes. */
static inline char *put_spaces(char *to, size_t n)
{
	size_t at;

	for (at = 0; at < n; at += STEP)
		memset(to + at, ' ', STEP);
	return to + n;
}

static inline char *put_plain(char *to, const char *text, size_t len)
{
	size_t at;

	for (at = 0; at < len; at += STEP)
		memcpy(to + at, text + at, STEP);
	return to + len;
}

/* Prints a text that cannot simply be copied. */
static void put_other(struct buffer *lines, const char *text, size_t len,
		      bool plain, const char *escape)
{
	size_t at = 0;

	if (escape)
		buffer_puts(lines, escape);
	if (plain)
		buffer_put(lines, text, len);
	while (!plain && at < len)
		at += put_char(lines, text + at);
	if (escape)
		buffer_puts(lines, "\033[0m");
}

static void put_cell(struct buffer *lines, const struct grid_col *col,
		     const char *text, const struct extent *extent,
		     const char *escape, bool last)
{
	size_t len = extent->len, width = extent->width, gap;
	bool cut = col->cut && width > col->width;
	char *to;

	if (cut) {
		len = fitting(text, col->width - 1, &width);
		width++;
	}
	gap = width < col->width ? col->width - width : 0;
	to = buffer_room(lines, gap + len + 2 + 2 * STEP);
	if (!to)
		return;
	if (col->flags & GRID_RIGHT) {
		to = put_spaces(to, gap);
		gap = 0;
	}
	if (extent->plain && !escape) {
		to = put_plain(to, text, len);
	} else {
		lines->len = to - lines->data;
		put_other(lines, text, len, extent->plain, escape);
		to = buffer_room(lines, gap + 2 + STEP);
		if (!to)
			return;
	}
	if (cut)
		*to++ = '~';
	if (last)
		*to++ = '\n';
	else
		to = put_spaces(to, gap + 1);
	lines->len = to - lines->data;
}

static void write_lines(struct buffer *lines)
{
	fwrite_unlocked(lines->data, 1, lines->len, stdout);
	lines->len = 0;
}

/* Returns the last column of a part. */
static unsigned int last_of(const struct grid *grid, unsigned int part)
{
	unsigned int last = grid->n_cols;

	while (last && !in_part(&grid->cols[last - 1], part))
		last--;
	return last ? last - 1 : 0;
}

static void put_heads(struct grid *grid, unsigned int part)
{
	unsigned int i, last = last_of(grid, part);
	const struct grid_col *col;
	struct extent extent;
	char *head;

	for (i = 0; i <= last; i++) {
		col = &grid->cols[i];
		if (!in_part(col, part))
			continue;
		extent = measure(col->head);
		/*
		 * Texts are copied in whole steps, so there must be room after this
		 * one.
		 */
		head = buffer_room(&grid->texts, extent.len + STEP);
		if (!head)
			return;
		memcpy(head, col->head, extent.len);
		put_cell(&grid->lines, col, head, &extent, NULL, i == last);
	}
}

/*
 * Puts a row if all its cells are plain and fit into their columns; otherwise, returns
 * false.
 */
static bool put_plain_row(struct grid *grid, const struct grid_cell *cell,
			  unsigned int last, size_t room)
{
	char *to = buffer_room(&grid->lines, room);
	const struct grid_col *col = grid->cols;
	const struct grid_col *end = col + last;
	size_t gap;

	for (; to; col++, cell++) {
		if (col->flags & GRID_HIDDEN)
			continue;
		if (!cell->extent.plain || cell->escape ||
		    cell->extent.len > col->width)
			return false;
		gap = col->width - cell->extent.len;
		if (col->flags & GRID_RIGHT) {
			to = put_spaces(to, gap);
			gap = 0;
		}
		to = put_plain(to, grid->texts.data + cell->at,
			       cell->extent.len);
		if (col == end)
			break;
		to = put_spaces(to, gap + 1);
	}
	if (to) {
		*to++ = '\n';
		grid->lines.len = to - grid->lines.data;
	}
	return true;
}

static void put_row(struct grid *grid, const struct grid_cell *cell,
		    unsigned int part, unsigned int last)
{
	unsigned int i;

	for (i = 0; i <= last; i++) {
		if (in_part(&grid->cols[i], part))
			put_cell(&grid->lines, &grid->cols[i],
				 grid->texts.data + cell[i].at,
				 &cell[i].extent, cell[i].escape, i == last);
	}
}

static void put_rows(struct grid *grid, unsigned int part)
{
	const struct grid_cell *cell = grid->cells;
	const struct grid_cell *end = cell + grid->n_cells;
	unsigned int i, last = last_of(grid, part);
	size_t room = 2 * STEP;

	for (i = 0; i <= last; i++)
		room += grid->cols[i].width + 1;
	for (; cell < end; cell += grid->n_cols) {
		if (grid->parts || !put_plain_row(grid, cell, last, room))
			put_row(grid, cell, part, last);
		if (grid->lines.len >= LINES_SIZE)
			write_lines(&grid->lines);
	}
}

void grid_fold(struct grid *grid, unsigned int keys)
{
	grid->may_fold = true;
	grid->keys = keys;
}

bool grid_print(struct grid *grid, size_t spare)
{
	bool first = !grid->shown;
	unsigned int part;

	/* Texts are copied in whole steps, so there must be room after the last one. */
	if (!buffer_room(&grid->texts, STEP) || grid->failed)
		return false;
	if (!grid->n_cells)
		return true;
	if (first)
		decide_widths(grid, spare);
	if (!total_width(grid))
		return true;
	if (first && grid->below)
		buffer_puts(&grid->lines, "\n");
	grid->shown = true;
	for (part = 0; part <= grid->parts; part++) {
		if (part)
			buffer_puts(&grid->lines, "\n");
		if (first || grid->parts)
			put_heads(grid, part);
		put_rows(grid, part);
	}
	write_lines(&grid->lines);
	return !grid->lines.failed;
}
