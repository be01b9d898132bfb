// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a row as a paragraph: the heading on one line, and the remaining columns below
 * it, wrapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term.h"
#include "text.h"
#include "writer.h"

#define LABEL_WIDTH 10
#define USUAL_WIDTH 80

/*
 * Prints the words of @text starting at column @at. If possible, lines are not longer
 * than @width; further lines begin at column @indent.
 */
static void print_words(const char *text, size_t at, size_t indent,
			size_t width)
{
	size_t len;

	while (*text) {
		len = strcspn(text, " ");
		if (at > indent && at + 1 + len > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		put_clean(stdout, text, len);
		at += len;
		text += len;
		while (*text == ' ')
			text++;
	}
	putchar('\n');
}

static void print_wrapped(const char *label, const char *text, size_t width)
{
	printf("  %-*s", LABEL_WIDTH, label);
	print_words(text, 2 + LABEL_WIDTH, 2 + LABEL_WIDTH, width);
}

/*
 * Prints the value of a field as in tables; the growth of a field is printed as given.
 */
static void print_value(FILE *out, const struct eadm_evidence *e)
{
	const struct eadm_object *object = eadm_object_find(e->object);
	const struct eadm_field *field =
		object ? eadm_object_find_field(object, e->name) : NULL;
	const struct eadm_value value = value_u64(e->number);
	struct column col = { 0 };
	char text[64];

	if (!field || !e->is_number) {
		fputs(e->text, out);
		return;
	}
	column_of_field(&col, field);
	text_of_value(&col, &value, text, sizeof(text));
	fputs(text, out);
}

/* Returns "qp 5: state rts, sq_pi 17; qp 6: rq_pi 3"; the caller frees the text. */
static char *evidence_text(const struct eadm_value *value)
{
	const struct eadm_evidence *e = value->bytes, *last = NULL;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; i < value->len; i++, e++) {
		if (!last || last->id != e->id ||
		    strcmp(last->object, e->object))
			fprintf(out, "%s%s %llu:", last ? "; " : "", e->object,
				(unsigned long long)e->id);
		else
			fputc(',', out);
		fprintf(out, " %s ", e->name);
		print_value(out, e);
		last = e;
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Returns "cloud_1 qp 5 (rping, PID 77): waits for a receive; ..."; the caller frees
 * the text.
 */
static char *affected_text(const struct eadm_value *value)
{
	const struct eadm_consequence *c = value->bytes;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; i < value->len; i++, c++) {
		fprintf(out, "%s%s %s", i ? "; " : "", c->device, c->object);
		if (c->has_id)
			fprintf(out, " %llu", (unsigned long long)c->id);
		if (c->pid)
			fprintf(out, " (%s, PID %llu)", c->comm,
				(unsigned long long)c->pid);
		else if (*c->comm)
			fprintf(out, " (%s)", c->comm);
		fprintf(out, ": %s", c->finding);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Prints a finding about a possible cause below the cause. */
static void print_found(const struct eadm_verdict *v, size_t width, bool colors)
{
	const char *name = eadm_severity_name(v->severity);
	const char *color = colors ? term_escape_of(name) : NULL;
	char text[600];
	int n;

	printf("  %*shere: %s%s%s", LABEL_WIDTH + 3, "", color ? color : "", name,
	       color ? "\033[0m" : "");
	n = snprintf(text, sizeof(text), "%s", eadm_rule_name(v->rule));
	if (*v->device)
		n += snprintf(text + n, sizeof(text) - n, " %s", v->device);
	if (v->has_id)
		n += snprintf(text + n, sizeof(text) - n, " %s %llu", v->object,
			      (unsigned long long)v->id);
	snprintf(text + n, sizeof(text) - n, ": %s", v->finding);
	print_words(text, LABEL_WIDTH + 11 + strlen(name), LABEL_WIDTH + 5, width);
}

/* Prints the causes as a numbered list, in the given order. */
static void print_causes(const struct eadm_value *value, size_t width, bool colors)
{
	const struct cause *cause = value->bytes;
	size_t i, j;

	for (i = 0; i < value->len; i++, cause++) {
		printf("  %-*s%zu. ", LABEL_WIDTH, i ? "" : "causes", i + 1);
		print_words(cause->text, LABEL_WIDTH + 5, LABEL_WIDTH + 5, width);
		for (j = 0; j < cause->n_found; j++)
			print_found(&cause->found[j], width, colors);
		printf("  %*s", LABEL_WIDTH + 3, "");
		for (j = 0; cause->look[j]; j++)
			printf("%s%s", j ? "; " : "> ", cause->look[j]);
		putchar('\n');
	}
}

/* Prints the heading; returns its length. */
static size_t print_heading(const struct table *table,
			    const struct eadm_value *values, bool colors)
{
	const char *color, *between = "";
	size_t len = 0;
	unsigned int i;
	char text[256];

	for (i = 0; i < table->n_cols; i++) {
		const struct column *col = &table->cols[i];

		if (!col->heading || !is_there(&values[i]))
			continue;
		text_of_value(col, &values[i], text, sizeof(text));
		color = colors && col->kind == EADM_KIND_STATE ?
				term_escape_of(text) : NULL;
		printf("%s%s", between, color ? color : "");
		put_clean(stdout, text, strlen(text));
		fputs(color ? "\033[0m" : "", stdout);
		len += strlen(between) + strlen(text);
		between = " ";
	}
	return len;
}

/* Returns the text below the heading if there is exactly one, otherwise NULL. */
static const char *only_text(const struct table *table,
			     const struct eadm_value *values)
{
	const char *text = NULL;
	unsigned int i;

	for (i = 0; i < table->n_cols; i++) {
		if (table->cols[i].heading || !is_there(&values[i]))
			continue;
		if (text || values[i].type != EADM_TYPE_STRING)
			return NULL;
		text = values[i].string;
	}
	return text;
}

/* Returns false if out of memory. */
bool block_print(const struct table *table, const struct eadm_value *values,
		 bool colors)
{
	const char *only = only_text(table, values);
	size_t width = term_width(), len;
	unsigned int i;
	char number[64];
	char *text;

	if (!width)
		width = USUAL_WIDTH;
	len = print_heading(table, values, colors);
	if (only) {
		fputs(": ", stdout);
		print_words(only, len + 2, len + 2, width);
		return true;
	}
	putchar('\n');
	for (i = 0; i < table->n_cols; i++) {
		const struct column *col = &table->cols[i];
		const struct eadm_value *value = &values[i];

		if (col->heading || col->json_only || !is_there(value))
			continue;
		switch ((int)value->type) {
		case EADM_TYPE_STRING:
			print_wrapped(col->name, value->string, width);
			continue;
		case VALUE_EVIDENCE:
			text = evidence_text(value);
			break;
		case VALUE_AFFECTED:
			text = affected_text(value);
			break;
		case VALUE_CAUSES:
			print_causes(value, width, colors);
			continue;
		default:
			text_of_value(col, value, number, sizeof(number));
			print_wrapped(col->name, number, width);
			continue;
		}
		if (!text)
			return false;
		print_wrapped(col->name, text, width);
		free(text);
	}
	return true;
}
