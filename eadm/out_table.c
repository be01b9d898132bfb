// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows as a table for people. */
#include <errno.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "term.h"

/* So many rows are shown at a time, with the widths of the first ones. */
#define CHUNK 5000

struct line {
	char **text;		/* of each column, NULL: absent */
	char **other;		/* "NAME=VALUE" without a field, ends with NULL */
};

struct table_writer {
	struct writer w;
	const struct table *table;
	struct line *lines;
	unsigned int n_lines, max_lines;
	unsigned long long rows;
	size_t *width;		/* of each column once it was shown, 0: hidden */
	bool shown;
	bool moves;		/* a row has a rate above zero */
	bool wide;		/* a text is not ASCII */
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

static void free_line(struct line *line, unsigned int n_cols)
{
	unsigned int i;

	for (i = 0; line->text && i < n_cols; i++)
		free(line->text[i]);
	free(line->text);
	for (i = 0; line->other && line->other[i]; i++)
		free(line->other[i]);
	free(line->other);
}

static void forget_lines(struct table_writer *tw)
{
	unsigned int i;

	for (i = 0; i < tw->n_lines; i++)
		free_line(&tw->lines[i], tw->table->n_cols);
	tw->n_lines = 0;
}

static char *text_of(const struct column *col, const struct cell *cell,
		     const struct eadm_record *record)
{
	char text[512];
	int len;

	if (cell->type == CELL_NONE)
		return NULL;
	if (cell->type == CELL_BYTES)
		len = eadm_record_text(record, col->field, text, sizeof(text));
	else
		len = text_of_cell(col, cell, text, sizeof(text));
	return strdup(len > 0 ? text : "-");
}

static bool is_ascii(const char *text)
{
	for (; *text; text++) {
		if (*text & 0x80)
			return false;
	}
	return true;
}

static char **others_of(const struct eadm_record *record)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	unsigned int i, n = 0;
	char **other;

	while (eadm_record_extra(record, n, &extra))
		n++;
	other = calloc(n + 1, sizeof(*other));
	for (i = n = 0; other && eadm_record_extra(record, i, &extra); i++) {
		if (!extra.name)
			continue;
		if (asprintf(&other[n], "%s=%llu", extra.name,
			     (unsigned long long)extra.value) < 0) {
			other[n] = NULL;
			break;
		}
		n++;
	}
	return other;
}

static void add_line(struct table_writer *tw, const struct row *row)
{
	const struct table *table = tw->table;
	struct line *lines, *line;
	unsigned int i, max;

	if (tw->n_lines == tw->max_lines) {
		max = tw->max_lines ? 2 * tw->max_lines : 64;
		lines = realloc(tw->lines, max * sizeof(*lines));
		if (!lines) {
			no_memory(tw);
			return;
		}
		tw->lines = lines;
		tw->max_lines = max;
	}
	line = &tw->lines[tw->n_lines++];
	line->other = NULL;
	line->text = calloc(table->n_cols, sizeof(*line->text));
	if (!line->text) {
		no_memory(tw);
		return;
	}
	for (i = 0; i < table->n_cols; i++) {
		line->text[i] = text_of(&table->cols[i], &row->cells[i],
					row->record);
		tw->wide |= line->text[i] && !is_ascii(line->text[i]);
	}
	if (table->layout == LAYOUT_FIELDS && row->record)
		line->other = others_of(row->record);
}

/* ---- rows as rows ------------------------------------------------------------------ */

static bool is_right(const struct column *col)
{
	return col->rate || (col->json == JSON_NUMBER &&
			     col->type != EADM_TYPE_STRING &&
			     col->kind != EADM_KIND_TIME);
}

static bool any_present(const struct table_writer *tw, unsigned int col)
{
	unsigned int i;

	for (i = 0; i < tw->n_lines; i++) {
		if (tw->lines[i].text[col])
			return true;
	}
	return false;
}

static bool is_shown(const struct table_writer *tw, unsigned int i)
{
	const struct column *col = &tw->table->cols[i];
	unsigned int j;

	if (col->json_only || (tw->table->rates_only && !col->rate &&
			       col->kind == EADM_KIND_COUNTER))
		return false;
	if (col->asked)
		return true;
	if (!any_present(tw, i))
		return false;
	for (j = 0; col->stands_in_for && j < tw->table->n_cols; j++) {
		if (tw->table->cols[j].field == col->stands_in_for)
			return !any_present(tw, j);
	}
	return true;
}

/* Of a stream the later rows are not known when the first one is shown. */
static size_t expected_width(const struct table_writer *tw,
			     const struct column *col)
{
	const char *name;
	size_t width = 1;
	unsigned int i;

	if (!tw->table->lines || tw->table->rates_only)
		return width;
	if (col->json == JSON_NUMBER && col->type != EADM_TYPE_STRING)
		return strlen(col->head) > 8 ? strlen(col->head) : 8;
	for (i = 0; col->field &&
		    (name = eadm_field_value_at(col->field, i, NULL)); i++) {
		if (strlen(name) > width)
			width = strlen(name);
	}
	return width;
}

static struct libscols_column *add_column(struct table_writer *tw,
					  struct libscols_table *tb,
					  unsigned int i)
{
	const struct column *col = &tw->table->cols[i];
	int flags = is_right(col) ? SCOLS_FL_RIGHT : 0;
	size_t width = tw->width[i];

	if (!width)
		width = expected_width(tw, col);
	if (tw->shown || (tw->table->lines && !tw->table->rates_only))
		flags |= SCOLS_FL_STRICTWIDTH;
	else if (col->type == EADM_TYPE_STRING)
		flags |= SCOLS_FL_TRUNC;
	return scols_table_new_column(tb, col->head, width, flags);
}

static void fill_line(struct table_writer *tw, struct libscols_table *tb,
		      const struct line *from)
{
	struct libscols_line *line = scols_table_new_line(tb, NULL);
	const struct column *cols = tw->table->cols;
	unsigned int i, n = 0;
	const char *color;

	if (!line) {
		no_memory(tw);
		return;
	}
	for (i = 0; i < tw->table->n_cols; i++) {
		if (!tw->width[i])
			continue;
		scols_line_set_data(line, n,
				    from->text[i] ? from->text[i] : "-");
		color = tw->colors && from->text[i] &&
			cols[i].kind == EADM_KIND_STATE ?
				term_color_of(from->text[i]) : NULL;
		if (color)
			scols_cell_set_color(scols_line_get_cell(line, n),
					     color);
		n++;
	}
}

static struct libscols_table *new_table(struct table_writer *tw)
{
	struct libscols_table *tb;

	/* Loading a locale takes time; it matters for widths only. */
	if (tw->wide)
		setlocale(LC_CTYPE, "");
	tb = scols_new_table();
	if (!tb) {
		no_memory(tw);
		return NULL;
	}
	scols_table_enable_colors(tb, tw->colors);
	return tb;
}

static void print_rows(struct table_writer *tw)
{
	struct libscols_table *tb = new_table(tw);
	unsigned int i, n = 0;

	if (!tb)
		return;
	scols_table_enable_noheadings(tb, tw->shown);
	for (i = 0; i < tw->table->n_cols; i++) {
		if (tw->shown ? !tw->width[i] : !is_shown(tw, i))
			continue;
		if (!add_column(tw, tb, i))
			no_memory(tw);
		if (!tw->width[i])
			tw->width[i] = 1;
	}
	for (i = 0; i < tw->n_lines && !tw->error; i++)
		fill_line(tw, tb, &tw->lines[i]);
	if (!tw->error)
		scols_print_table(tb);
	for (i = 0; i < tw->table->n_cols && !tw->shown; i++) {
		if (tw->width[i])
			tw->width[i] = scols_column_get_width(
				scols_table_get_column(tb, n++));
	}
	tw->shown = true;
	scols_unref_table(tb);
}

/* ---- fields as rows ------------------------------------------------------------------ */

static const char *other_value(const struct line *line, const char *other)
{
	size_t len = strcspn(other, "=") + 1;
	unsigned int i;

	for (i = 0; line->other && line->other[i]; i++) {
		if (!strncmp(line->other[i], other, len))
			return line->other[i] + len;
	}
	return NULL;
}

static void print_others(struct table_writer *tw, struct libscols_table *tb,
			 unsigned int n_before)
{
	struct libscols_line *line;
	unsigned int i, j, k;
	const char *value;
	char name[64];

	for (i = 0; i < tw->n_lines; i++) {
		char **other = tw->lines[i].other;

		for (j = 0; other && other[j]; j++) {
			for (k = 0; k < i; k++) {
				if (other_value(&tw->lines[k], other[j]))
					break;
			}
			if (k < i)
				continue;
			line = scols_table_new_line(tb, NULL);
			snprintf(name, sizeof(name), "%.*s",
				 (int)strcspn(other[j], "="), other[j]);
			scols_line_set_data(line, 0, name);
			if (n_before > 1)
				scols_line_set_data(line, 1, "-");
			for (k = 0; k < tw->n_lines; k++) {
				value = other_value(&tw->lines[k], other[j]);
				scols_line_set_data(line, n_before + k,
						    value ? value : "-");
			}
		}
	}
}

static void print_field(struct table_writer *tw, struct libscols_table *tb,
			unsigned int i, bool units)
{
	struct libscols_line *line = scols_table_new_line(tb, NULL);
	const struct column *col = &tw->table->cols[i];
	const char *text, *color;
	unsigned int k, n = 0;
	char unit[48];

	if (!line) {
		no_memory(tw);
		return;
	}
	scols_line_set_data(line, n++, col->name);
	if (units) {
		snprintf(unit, sizeof(unit), "%s%s",
			 *col->unit ? col->unit : "-", col->rate ? "/s" : "");
		scols_line_set_data(line, n++, unit);
	}
	for (k = 0; k < tw->n_lines; k++) {
		text = tw->lines[k].text[i];
		scols_line_set_data(line, n, text ? text : "-");
		color = tw->colors && text && col->kind == EADM_KIND_STATE ?
				term_color_of(text) : NULL;
		if (color)
			scols_cell_set_color(scols_line_get_cell(line, n),
					     color);
		n++;
	}
	if (tw->table->about)
		scols_line_set_data(line, n, col->help);
}

/* A column is headed by what identifies its row: the key columns, joined. */
static char *heading_of(const struct table_writer *tw, const struct line *line)
{
	char head[128] = "";
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < tw->table->n_cols; i++) {
		const struct column *col = &tw->table->cols[i];

		if (!col->heading || !line->text[i])
			continue;
		at += snprintf(head + at, sizeof(head) - at, "%s%s",
			       at ? "/" : "", line->text[i]);
		if (at >= sizeof(head))
			break;
	}
	return strdup(head);
}

/* A rate that is zero everywhere is not worth its line. */
static bool is_quiet(const struct table_writer *tw, unsigned int col)
{
	unsigned int i;

	if (!tw->table->rates_only)
		return false;
	for (i = 0; i < tw->n_lines; i++) {
		if (tw->lines[i].text[col] &&
		    strcmp(tw->lines[i].text[col], "0"))
			return false;
	}
	return true;
}

static void print_fields(struct table_writer *tw)
{
	struct libscols_table *tb = new_table(tw);
	bool units = !tw->table->about;
	unsigned int i, before = units ? 2 : 1;
	char *head;

	if (!tb)
		return;
	scols_table_new_column(tb, units ? "COUNTER" : "FIELD", 1, 0);
	if (units)
		scols_table_new_column(tb, "UNIT", 1, 0);
	for (i = 0; i < tw->n_lines; i++) {
		head = heading_of(tw, &tw->lines[i]);
		if (!head || !scols_table_new_column(tb, head, 1,
						     units ? SCOLS_FL_RIGHT :
							     0))
			no_memory(tw);
		free(head);
	}
	if (tw->table->about)
		scols_table_new_column(tb, "ABOUT", 1, SCOLS_FL_TRUNC);
	for (i = 0; i < tw->table->n_cols && !tw->error; i++) {
		if (!tw->table->cols[i].heading && is_shown(tw, i) &&
		    !is_quiet(tw, i))
			print_field(tw, tb, i, units);
	}
	if (!tw->error && !tw->table->rates_only)
		print_others(tw, tb, before);
	if (!tw->error)
		scols_print_table(tb);
	scols_unref_table(tb);
}

/* ---- the writer ------------------------------------------------------------------------- */

static void print_lines(struct table_writer *tw)
{
	/* A note can come before the first table. */
	if (!tw->table)
		return;
	if (tw->table->caption && !tw->shown) {
		printf("%s%s\n", tw->table->caption,
		       tw->moves ? "" : "  nothing moves");
		tw->shown = !tw->moves;
	}
	if (tw->n_lines && !tw->error && (tw->moves || !tw->table->caption)) {
		if (tw->table->layout == LAYOUT_FIELDS) {
			print_fields(tw);
			tw->shown = true;
		} else {
			print_rows(tw);
		}
	}
	forget_lines(tw);
}

static void table_begin(struct writer *w, const struct table *table)
{
	struct table_writer *tw = to_table(w);

	tw->table = table;
	tw->shown = false;
	tw->rows = 0;
	tw->moves = false;
	free(tw->width);
	tw->width = calloc(table->n_cols ? table->n_cols : 1,
			   sizeof(*tw->width));
	if (!tw->width)
		no_memory(tw);
}

/* Of many objects only those are worth a line whose counters move. */
static bool is_idle(const struct table_writer *tw, const struct row *row)
{
	unsigned int i;

	if (!tw->table->rates_only)
		return false;
	for (i = 0; i < tw->table->n_cols; i++) {
		if (row->cells[i].type == CELL_F64 && row->cells[i].f > 0)
			return false;
	}
	return true;
}

static void table_row(struct writer *w, const struct row *row)
{
	struct table_writer *tw = to_table(w);

	if (tw->error)
		return;
	if (is_idle(tw, row) && tw->table->layout == LAYOUT_ROWS)
		return;
	tw->moves |= !is_idle(tw, row);
	add_line(tw, row);
	tw->rows++;
	if (tw->n_lines == CHUNK && tw->table->layout == LAYOUT_ROWS)
		print_lines(tw);
}

static void table_note(struct writer *w, const struct eadm_note *n)
{
	print_lines(to_table(w));
	fflush(stdout);
	note(w->cli, "%s%s%s: %s", n->device, *n->device ? ": " : "", n->what,
	     n->why);
}

static void table_inconsistent(struct writer *w)
{
	print_lines(to_table(w));
	fflush(stdout);
	note(w->cli, "objects came or went while they were read");
}

static void table_flush(struct writer *w)
{
	print_lines(to_table(w));
	fflush(stdout);
}

/* Never called: the table is not open(), errors go to stderr. */
static void table_error(struct writer *w, int status, const char *what,
			const char *why)
{
	(void)status;
	note(w->cli, "%s: %s", what, why);
}

static int table_end(struct writer *w)
{
	struct table_writer *tw = to_table(w);

	/* An error came before the first row. */
	if (!tw->table)
		return 0;
	print_lines(tw);
	errno = 0;
	if (fflush(stdout))
		return errno;
	if (!tw->rows && tw->table->title && !tw->error)
		note(w->cli, "no %s", tw->table->title);
	return tw->error;
}

static void table_writer_free(struct writer *w)
{
	struct table_writer *tw = to_table(w);

	forget_lines(tw);
	free(tw->lines);
	free(tw->width);
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
