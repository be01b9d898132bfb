// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints rows as a table for people. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../signals.h"
#include "buffer.h"
#include "grid.h"
#include "hist.h"
#include "term.h"
#include "text.h"
#include "writer.h"

/*
 * Number of rows printed at a time. The first chunk determines the columns and widths, until
 * a later one has a value in a column that was left out.
 */
#define CHUNK 5000
/* Width of the longest names of processes, and of IPv4 addresses. */
#define TEXT_WIDTH 15
/* Maximum number of devices shown side by side if the terminal width is unknown. */
#define MOST_BESIDE 8

struct other {
	char *name;
	char value[24];
};

struct line {
	struct hist *hist;	/* drawn below the rows, or NULL */
	struct other *other;	/* counters without a field */
	unsigned int n_other;
};

struct table_writer {
	struct writer w;
	const struct table *table;
	struct line *lines;
	unsigned int n_lines, max_lines;
	unsigned long long rows;
	struct grid *grid;	/* a cell for each line and column */
	bool begun;		/* LAYOUT_ROWS: the first rows were printed */
	bool *present;		/* for each column: some line has a value to show */
	bool captioned;
	unsigned long long cut;	/* number of rows that did not fit on the screen */
	bool moves;		/* a rate is greater than zero */
	struct buffer notes, notes_before;	/* lines of this pass and of the previous one */
	bool colors;
	int error;
};

static struct table_writer *to_table(struct writer *w)
{
	return (struct table_writer *)w;
}

static void no_memory(struct table_writer *tw)
{
	if (!tw->error)
		tw->error = ENOMEM;
}

/* ---- lines ------------------------------------------------------------------------ */

static void free_line(struct line *line)
{
	unsigned int i;

	free(line->hist);
	for (i = 0; i < line->n_other; i++)
		free(line->other[i].name);
	free(line->other);
}

static void forget_lines(struct table_writer *tw)
{
	unsigned int i;

	for (i = 0; i < tw->n_lines; i++)
		free_line(&tw->lines[i]);
	tw->n_lines = 0;
}

#define TEXT_MAX 512

static const char *color_of(const struct table_writer *tw,
			    const struct column *col, const char *text)
{
	return tw->colors && col->kind == EADM_KIND_STATE ?
		       term_escape_of(text) : NULL;
}

/*
 * Returns the name of a value, or a value that is already text; NULL if the value must
 * be converted.
 */
static const char *ready_text(const struct column *col,
			      const struct eadm_value *value)
{
	if (value->type == EADM_TYPE_STRING)
		return *value->string ? value->string : "-";
	if (value->type == EADM_TYPE_U64 && col->json == JSON_NAME)
		return eadm_field_value_name(col->field, value->u64);
	return NULL;
}

static void add_cell(struct table_writer *tw, const struct column *col,
		     const struct eadm_value *value,
		     const struct eadm_record *record)
{
	const char *text = ready_text(col, value);
	char *room;
	int len;

	if (text) {
		grid_cell(tw->grid, text, color_of(tw, col, text));
		return;
	}
	room = grid_room(tw->grid, TEXT_MAX);
	if (!room) {
		no_memory(tw);
		return;
	}
	if (value->type == EADM_TYPE_BYTES)
		len = eadm_record_text(record, col->field, room, TEXT_MAX);
	else
		len = text_of_value(col, value, room, TEXT_MAX);
	if (len <= 0)
		grid_cell(tw->grid, "-", NULL);
	else
		grid_made(tw->grid, len < TEXT_MAX ? len : TEXT_MAX - 1,
			  color_of(tw, col, room));
}

/* Returns true if the row's value requires its column, unless the column was requested. */
static bool is_worth_showing(const struct table *table, unsigned int i,
			     const struct eadm_value *values)
{
	const struct column *col = &table->cols[i];
	unsigned int j;

	for (j = 0; col->stands_in_for && j < table->n_cols; j++) {
		if (table->cols[j].field == col->stands_in_for)
			return !is_there(&values[j]);
	}
	return !col->nonzero || values[i].type != EADM_TYPE_U64 || values[i].u64;
}

static void add_cells(struct table_writer *tw, const struct row *row,
		      const struct eadm_value *values)
{
	const struct table *table = tw->table;
	unsigned int i;

	for (i = 0; i < table->n_cols; i++) {
		if (!is_there(&values[i]) || table->cols[i].bars) {
			grid_absent(tw->grid);
			continue;
		}
		tw->present[i] |= is_worth_showing(table, i, values);
		add_cell(tw, &table->cols[i], &values[i], row->record);
	}
}

/* Returns the text at a line and column, or NULL if it is absent. */
static const char *text_at(const struct table_writer *tw, unsigned int line,
			   unsigned int col)
{
	return grid_text(tw->grid, (size_t)line * tw->table->n_cols + col);
}

static void take_others(struct line *line, const struct eadm_record *record)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	unsigned int i, n = 0;
	struct other *other;

	while (eadm_record_extra(record, n, &extra) > 0)
		n++;
	line->other = calloc(n + 1, sizeof(*line->other));
	for (i = 0; line->other && eadm_record_extra(record, i, &extra) > 0;
	     i++) {
		if (!extra.name)
			continue;
		other = &line->other[line->n_other];
		other->name = strdup(extra.name);
		if (!other->name)
			return;
		snprintf(other->value, sizeof(other->value), "%llu",
			 (unsigned long long)extra.value);
		line->n_other++;
	}
}

static void take_hist(struct table_writer *tw, struct line *line,
		      const struct eadm_value *value)
{
	const struct hist *hist = value->bytes;

	if ((int)value->type != VALUE_HIST)
		return;
	line->hist = malloc(sizeof(*line->hist));
	if (line->hist)
		*line->hist = *hist;
	else
		no_memory(tw);
}

static void add_line(struct table_writer *tw, const struct row *row,
		     const struct eadm_value *values)
{
	const struct table *table = tw->table;
	struct line *line;
	unsigned int i;

	if (!grow(tw->lines, tw->n_lines, tw->max_lines)) {
		no_memory(tw);
		return;
	}
	line = &tw->lines[tw->n_lines++];
	line->other = NULL;
	line->hist = NULL;
	line->n_other = 0;
	add_cells(tw, row, values);
	for (i = 0; i < table->n_cols; i++) {
		if (table->cols[i].bars)
			take_hist(tw, line, &values[i]);
	}
	if (table->layout == LAYOUT_FIELDS && row->record)
		take_others(line, row->record);
}

/* ---- rows as rows ------------------------------------------------------------------ */

static bool is_right(const struct column *col)
{
	return col->rate || (col->json == JSON_NUMBER &&
			     col->type != EADM_TYPE_STRING &&
			     col->kind != EADM_KIND_TIME);
}

/* Returns true if rows arrive one by one, after the headings have been printed. */
static bool is_stream(const struct table *table)
{
	return table->lines && !table->passes && !table->rates_only;
}

static bool is_shown(const struct table_writer *tw, unsigned int i)
{
	const struct column *col = &tw->table->cols[i];

	if (col->json_only || (tw->table->rates_only && !col->rate &&
			       col->kind == EADM_KIND_COUNTER))
		return false;
	/* A value that the first row of a stream lacks may be present in the next one. */
	return col->asked || tw->present[i] || is_stream(tw->table);
}

/* Returns true if more rows can follow those that determine the widths. */
static bool is_long(const struct table_writer *tw)
{
	return is_stream(tw->table) || tw->n_lines == CHUNK;
}

/*
 * Reserves width in a long table, whose later rows are unknown when the first ones are
 * printed.
 */
static size_t least_width(const struct table_writer *tw,
			  const struct column *col)
{
	const char *name;
	size_t width = 1;
	unsigned int i;

	if (!is_long(tw))
		return width;
	if (col->json == JSON_NUMBER && col->type != EADM_TYPE_STRING)
		return is_stream(tw->table) ? 8 : width;
	for (i = 0; col->field &&
		    (name = eadm_field_value_at(col->field, i, NULL)); i++) {
		if (strlen(name) > width)
			width = strlen(name);
	}
	/* Later rows of a stream may have the text that the first one lacks. */
	if (!i && is_stream(tw->table) && !tw->present[col - tw->table->cols])
		return TEXT_WIDTH;
	return width;
}

/* Numbers grow in a long table: with a million rows, they have two more digits. */
static size_t spare_width(const struct table_writer *tw)
{
	return is_long(tw) && !is_stream(tw->table) ? 2 : 0;
}

static void begin_rows(struct table_writer *tw)
{
	const struct column *col;
	unsigned int i;
	int flags;

	for (i = 0; i < tw->table->n_cols; i++) {
		col = &tw->table->cols[i];
		flags = is_right(col) ? GRID_RIGHT : 0;
		if (col->cut && !is_stream(tw->table))
			flags |= GRID_TRUNC;
		if (!is_shown(tw, i))
			flags |= GRID_HIDDEN;
		grid_column(tw->grid, col->head, least_width(tw, col), flags);
	}
	/* Rows must stay on one line if the table is refreshed or endless. */
	if (!is_long(tw) && !tw->table->screen)
		grid_fold(tw->grid, 2);
	tw->begun = true;
}

static void print_rows(struct table_writer *tw)
{
	unsigned int i;

	if (!tw->begun)
		begin_rows(tw);
	for (i = 0; i < tw->table->n_cols; i++) {
		if (is_shown(tw, i))
			grid_show(tw->grid, i);
	}
	if (!grid_print(tw->grid, spare_width(tw)))
		no_memory(tw);
}

/* ---- histograms below the rows ------------------------------------------------------- */

#define BAR_WIDTH 48

static void put_limit(uint64_t ns, char *buf, size_t size)
{
	static const char *const units[] = { "us", "ms", "s" };
	unsigned int i = 0;

	for (ns /= 1000; ns >= 1000 && i < 2; i++)
		ns /= 1000;
	snprintf(buf, size, "%llu%s", (unsigned long long)ns, units[i]);
}

static void print_bars(const struct hist *hist)
{
	static const char bar[] =
		"################################################";
	unsigned int i, first, last;
	uint64_t most = 1;
	char from[24], to[24];

	if (!hist_range(hist, &first, &last))
		return;
	for (i = first; i <= last; i++) {
		if (hist->count[i] > most)
			most = hist->count[i];
	}
	for (i = first; i <= last; i++) {
		put_limit(i ? hist_below(i - 1) : 0, from, sizeof(from));
		put_limit(hist_below(i), to, sizeof(to));
		printf("  %6s %s %-6s %8llu |%.*s\n", from,
		       hist_below(i) ? "to" : "up",
		       hist_below(i) ? to : "",
		       (unsigned long long)hist->count[i],
		       (int)((hist->count[i] * BAR_WIDTH + most - 1) / most),
		       bar);
	}
}

/* Texts may come from a capture that is not the user's. */
static void put_text(const char *text)
{
	put_clean(stdout, text, strlen(text));
}

static void print_hists(const struct table_writer *tw)
{
	unsigned int i, col;

	for (i = 0; i < tw->n_lines; i++) {
		if (!tw->lines[i].hist)
			continue;
		putchar('\n');
		put_text(text_at(tw, i, 0));
		for (col = 1; col < tw->table->n_cols; col++) {
			if (!tw->table->cols[col].heading || !text_at(tw, i, col))
				continue;
			fputs(" (", stdout);
			put_text(text_at(tw, i, col));
			putchar(')');
		}
		putchar('\n');
		print_bars(tw->lines[i].hist);
	}
}

/* ---- fields as rows ------------------------------------------------------------------ */

static const char *other_value(const struct line *line, const char *name)
{
	unsigned int i;

	for (i = 0; i < line->n_other; i++) {
		if (!strcmp(line->other[i].name, name))
			return line->other[i].value;
	}
	return NULL;
}

/* Returns true if a row before @n has a counter with that name. */
static bool was_shown(const struct table_writer *tw, unsigned int n,
		      const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (other_value(&tw->lines[i], name))
			return true;
	}
	return false;
}

static void print_others(struct table_writer *tw, struct grid *grid)
{
	const char *name, *value;
	unsigned int i, j, k;

	for (i = 0; i < tw->n_lines; i++) {
		for (j = 0; j < tw->lines[i].n_other; j++) {
			name = tw->lines[i].other[j].name;
			if (was_shown(tw, i, name))
				continue;
			grid_cell(grid, name, NULL);
			grid_cell(grid, "-", NULL);
			for (k = 0; k < tw->n_lines; k++) {
				value = other_value(&tw->lines[k], name);
				grid_cell(grid, value ? value : "-", NULL);
			}
		}
	}
}

/* Returns word number @n of a text, or NULL if the text has fewer words. */
static const char *word_of(const char *text, unsigned int n, char *buf,
			   size_t size)
{
	size_t len;

	for (; text && n; n--) {
		text = strchr(text, ' ');
		text += !!text;
	}
	len = text ? strcspn(text, " ") : 0;
	if (!len || len >= size)
		return NULL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return buf;
}

/* Prints the second and further words of a list, such as addresses, one per line. */
static void print_words(struct table_writer *tw, struct grid *grid,
			unsigned int i, bool help)
{
	char word[128];
	unsigned int n, k;
	bool more = true;

	for (n = 1; more; n++) {
		for (more = false, k = 0; k < tw->n_lines && !more; k++)
			more = word_of(text_at(tw, k, i), n, word,
				       sizeof(word));
		if (!more)
			return;
		grid_cell(grid, "", NULL);
		for (k = 0; k < tw->n_lines; k++)
			grid_cell(grid, word_of(text_at(tw, k, i), n, word,
						sizeof(word)) ? word : "",
				  NULL);
		if (help)
			grid_cell(grid, "", NULL);
	}
}

static void put_value(struct table_writer *tw, struct grid *grid,
		      unsigned int line, unsigned int col)
{
	const char *text = text_at(tw, line, col);

	if (text)
		grid_cell(grid, text, color_of(tw, &tw->table->cols[col], text));
	else
		grid_absent(grid);
}

static void print_field(struct table_writer *tw, struct grid *grid,
			unsigned int i, bool help)
{
	const struct column *col = &tw->table->cols[i];
	bool list = tw->table->about && col->cut &&
		    col->type == EADM_TYPE_STRING;
	char word[128];
	const char *text;
	unsigned int k;

	grid_cell(grid, col->name, NULL);
	if (!tw->table->about)
		grid_cell(grid, *col->unit ? col->unit : "-", NULL);
	for (k = 0; k < tw->n_lines; k++) {
		text = text_at(tw, k, i);
		if (text && list)
			text = word_of(text, 0, word, sizeof(word));
		if (text)
			grid_cell(grid, text, color_of(tw, col, text));
		else
			grid_absent(grid);
	}
	if (help)
		grid_cell(grid, col->help, NULL);
	if (list)
		print_words(tw, grid, i, help);
}

/* Joins the fields that identify a row into its heading. */
static void heading_of(const struct table_writer *tw, unsigned int line,
		       char *head, size_t size)
{
	const char *text;
	unsigned int i;
	size_t at = 0;

	head[0] = '\0';
	for (i = 0; i < tw->table->n_cols && at < size; i++) {
		text = text_at(tw, line, i);
		if (tw->table->cols[i].heading && text)
			at += snprintf(head + at, size - at, "%s%s",
				       at ? "/" : "", text);
	}
}

/* Returns true for a rate that is zero in all rows and therefore gets no line. */
static bool is_quiet(const struct table_writer *tw, unsigned int col)
{
	const char *text;
	unsigned int i;

	if (!tw->table->rates_only)
		return false;
	for (i = 0; i < tw->n_lines; i++) {
		text = text_at(tw, i, col);
		if (text && strcmp(text, "0"))
			return false;
	}
	return true;
}

#define PER_SECOND "PER SECOND"

static bool is_rate(const struct table *table)
{
	return table->rates_only && !table->growth;
}

static bool is_listed(const struct table_writer *tw, unsigned int col)
{
	return !tw->table->cols[col].heading && is_shown(tw, col) &&
	       !is_quiet(tw, col);
}

/* Adds a line for each field, and a column for each row. */
static void fill_upright(struct table_writer *tw, struct grid *grid, bool help)
{
	bool about = tw->table->about;
	char head[128];
	unsigned int i;

	grid_column(grid, about ? "FIELD" : "COUNTER", 1, 0);
	if (!about)
		grid_column(grid, is_rate(tw->table) ? PER_SECOND : "UNIT", 1,
			    0);
	for (i = 0; i < tw->n_lines; i++) {
		heading_of(tw, i, head, sizeof(head));
		grid_column(grid, head, 1, about ? 0 : GRID_RIGHT);
	}
	if (help)
		grid_column(grid, "ABOUT", 1, GRID_TRUNC);
	for (i = 0; i < tw->table->n_cols; i++) {
		if (is_listed(tw, i))
			print_field(tw, grid, i, help);
	}
	if (!about && !tw->table->rates_only)
		print_others(tw, grid);
}

/* Joins the names of the fields that form the headings of rows. */
static void heading_names(const struct table *table, char *head, size_t size)
{
	unsigned int i;
	size_t at = 0;

	head[0] = '\0';
	for (i = 0; i < table->n_cols && at < size; i++) {
		if (table->cols[i].heading)
			at += snprintf(head + at, size - at, "%s%s",
				       at ? "/" : "", table->cols[i].head);
	}
}

/* Returns true if a rate of the row is greater than zero. */
static bool is_moving(const struct table_writer *tw, unsigned int line)
{
	const char *text;
	unsigned int i;

	for (i = 0; i < tw->table->n_cols; i++) {
		text = tw->table->cols[i].rate ? text_at(tw, line, i) : NULL;
		if (text && strcmp(text, "0"))
			return true;
	}
	return false;
}

/* Adds a cell for each counter without a field or, if @line is -1, a column. */
static void put_others(struct table_writer *tw, struct grid *grid, int line)
{
	const char *name, *value;
	unsigned int i, j;

	for (i = 0; i < tw->n_lines && !tw->table->rates_only; i++) {
		for (j = 0; j < tw->lines[i].n_other; j++) {
			name = tw->lines[i].other[j].name;
			if (was_shown(tw, i, name))
				continue;
			value = line < 0 ? NULL :
				other_value(&tw->lines[line], name);
			if (line < 0)
				grid_column(grid, name, 1, GRID_RIGHT);
			else
				grid_cell(grid, value ? value : "-", NULL);
		}
	}
}

/* Adds a line for each row, because the devices do not fit side by side. */
static void fill_across(struct table_writer *tw, struct grid *grid)
{
	const struct column *cols = tw->table->cols;
	char head[128];
	unsigned int i, k;

	heading_names(tw->table, head, sizeof(head));
	grid_column(grid, is_rate(tw->table) ? PER_SECOND : head, 1, 0);
	for (i = 0; i < tw->table->n_cols; i++) {
		if (is_listed(tw, i))
			grid_column(grid, cols[i].name, 1, GRID_RIGHT);
	}
	put_others(tw, grid, -1);
	for (k = 0; k < tw->n_lines; k++) {
		if (tw->table->rates_only && !is_moving(tw, k))
			continue;
		heading_of(tw, k, head, sizeof(head));
		grid_cell(grid, head, NULL);
		for (i = 0; i < tw->table->n_cols; i++) {
			if (is_listed(tw, i))
				put_value(tw, grid, k, i);
		}
		put_others(tw, grid, k);
	}
}

static bool is_too_wide(const struct table_writer *tw, const struct grid *grid)
{
	size_t room = term_width();

	if (tw->n_lines < 2)
		return false;
	return room ? grid_width(grid) > room :
		      !tw->table->about && tw->n_lines > MOST_BESIDE;
}

static void print_fields(struct table_writer *tw)
{
	struct grid *grid = grid_new(tw->colors);
	bool wide;

	if (grid)
		fill_upright(tw, grid, false);
	wide = grid && is_too_wide(tw, grid);
	/*
	 * Fill the grid again in a different layout, or with the help texts of the
	 * fields.
	 */
	if (grid && (wide || tw->table->about)) {
		grid_free(grid);
		grid = grid_new(tw->colors);
		if (grid && wide && !tw->table->about)
			fill_across(tw, grid);
		else if (grid)
			fill_upright(tw, grid, !wide);
		if (grid && wide)
			grid_fold(grid, 1);
	}
	if (!grid || !grid_print(grid, 0))
		no_memory(tw);
	grid_free(grid);
}

/* ---- the writer ------------------------------------------------------------------------- */

static void print_lines(struct table_writer *tw)
{
	/* A note may come before the first table. */
	if (!tw->table)
		return;
	if (tw->table->caption && !tw->captioned) {
		fputs(tw->table->screen ? "\033[H\033[J" : "", stdout);
		put_clean(stdout, tw->table->caption,
			  strlen(tw->table->caption));
		if (tw->table->absent)
			printf("  %s\n", tw->table->absent);
		else
			puts(tw->moves || tw->table->incomplete ? "" :
			     "  no activity");
		tw->captioned = true;
	}
	if (tw->n_lines && !tw->error && tw->moves) {
		if (tw->table->layout == LAYOUT_FIELDS) {
			print_fields(tw);
		} else {
			print_rows(tw);
			print_hists(tw);
		}
	}
	if (!tw->n_lines)
		return;
	forget_lines(tw);
	grid_forget(tw->grid);
	memset(tw->present, 0, tw->table->n_cols);
}

static void table_begin(struct writer *w, const struct table *table)
{
	struct table_writer *tw = to_table(w);

	tw->table = table;
	buffer_free(&tw->notes_before);
	tw->notes_before = tw->notes;
	tw->notes = (struct buffer){ 0 };
	tw->captioned = false;
	tw->rows = 0;
	tw->cut = 0;
	tw->moves = !table->rates_only;
	grid_free(tw->grid);
	tw->grid = grid_new(tw->colors);
	tw->begun = false;
	free(tw->present);
	tw->present = calloc(table->n_cols + 1, sizeof(*tw->present));
	if (!tw->grid || !tw->present)
		no_memory(tw);
}

/* Returns true if only rates are shown and the object has none above zero. */
static bool is_idle(const struct table_writer *tw,
		    const struct eadm_value *values)
{
	unsigned int i;

	if (!tw->table->rates_only)
		return false;
	for (i = 0; i < tw->table->n_cols; i++) {
		if (!tw->table->cols[i].rate)
			continue;
		if ((int)values[i].type == VALUE_RATE &&
		    rate_of(&values[i]) > 0)
			return false;
		if (values[i].type == EADM_TYPE_U64 && values[i].u64)
			return false;
	}
	return true;
}

static void table_row(struct writer *w, const struct row *row)
{
	struct table_writer *tw = to_table(w);
	const struct eadm_value *values;

	if (tw->error)
		return;
	values = row_values(w, tw->table, row);
	if (!values) {
		no_memory(tw);
		return;
	}
	if (is_idle(tw, values) && tw->table->layout == LAYOUT_ROWS)
		return;
	tw->moves |= !is_idle(tw, values);
	tw->rows++;
	if (tw->table->layout == LAYOUT_BLOCKS) {
		if (!block_print(tw->table, values, tw->colors))
			no_memory(tw);
		return;
	}
	/*
	 * The other lines are the caption, the headings, the number of omitted rows,
	 * and the cursor's line.
	 */
	if (tw->table->screen && tw->table->layout == LAYOUT_ROWS &&
	    tw->n_lines + 4 >= tw->table->screen) {
		tw->cut++;
		return;
	}
	add_line(tw, row, values);
	if (tw->n_lines == CHUNK && tw->table->layout == LAYOUT_ROWS)
		print_lines(tw);
}

/*
 * Stops the command if its output cannot be written, because it might otherwise never
 * end.
 */
static void push(struct table_writer *tw)
{
	int err = tw->error ? 0 : stdout_error();

	if (!err)
		return;
	tw->error = err;
	interrupted = SIGPIPE;
}

/*
 * Returns true if the previous pass had the same note, and records the note for the
 * next pass.
 */
static bool was_noted(struct table_writer *tw, const struct eadm_note *n)
{
	char line[800];
	size_t len;

	snprintf(line, sizeof(line), "\n%s %s: %s\n", n->device, n->what,
		 n->why);
	len = strlen(line);
	buffer_put(&tw->notes, line, len);
	return tw->notes_before.len &&
	       memmem(tw->notes_before.data, tw->notes_before.len, line, len);
}

static void table_note(struct writer *w, const struct eadm_note *n)
{
	struct table_writer *tw = to_table(w);

	print_lines(tw);
	push(tw);
	if (was_noted(tw, n) && tw->table && tw->table->notes_once)
		return;
	note(w->cli, "%s%s%s: %s", n->device, *n->device ? ": " : "", n->what,
	     n->why);
}

static void table_inconsistent(struct writer *w)
{
	print_lines(to_table(w));
	push(to_table(w));
	note(w->cli, "objects appeared or vanished during the dump");
}

static void table_flush(struct writer *w)
{
	struct table_writer *tw = to_table(w);

	print_lines(tw);
	if (tw->cut)
		printf("... %llu more\n", tw->cut);
	tw->cut = 0;
	push(tw);
	flush_save(w->cli);
}

/* Never called: the table is not open(), so errors go to stderr. */
static void table_error(struct writer *w, int status, const char *what,
			const char *why)
{
	(void)status;
	note(w->cli, "%s: %s", what, why);
}

static int table_end(struct writer *w)
{
	struct table_writer *tw = to_table(w);

	/* An error occurred before the first row. */
	if (!tw->table)
		return 0;
	print_lines(tw);
	push(tw);
	if (!tw->rows && tw->table->title && !tw->table->absent &&
	    !tw->table->unknown && !tw->error)
		note(w->cli, "no %s", tw->table->title);
	return tw->error;
}

static void table_writer_free(struct writer *w)
{
	struct table_writer *tw = to_table(w);

	forget_lines(tw);
	free(tw->lines);
	grid_free(tw->grid);
	free(tw->present);
	free(w->values);
	buffer_free(&tw->notes);
	buffer_free(&tw->notes_before);
	free(tw);
}

static const struct writer_ops table_ops = {
	.begin = table_begin,
	.row = table_row,
	.note = table_note,
	.inconsistent = table_inconsistent,
	.flush = table_flush,
	.error = table_error,
	.end = table_end,
	.free = table_writer_free,
};

struct writer *table_writer_new(struct cli *cli)
{
	struct table_writer *tw = calloc(1, sizeof(*tw));

	if (!tw)
		return NULL;
	tw->w.ops = &table_ops;
	tw->w.cli = cli;
	tw->colors = term_colors(cli);
	return &tw->w;
}
