// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics as text, in the Prometheus format 0.0.4 and OpenMetrics 1.0.0; what
 * is said in protobuf is encoded by proto.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

void text_put(struct text *text, const char *data, size_t len)
{
	size_t size;
	char *more;

	if (text->failed)
		return;
	if (text->len + len > text->size) {
		size = 2 * (text->len + len) + 4096;
		more = realloc(text->data, size);
		if (!more) {
			text->failed = true;
			return;
		}
		text->data = more;
		text->size = size;
	}
	memcpy(text->data + text->len, data, len);
	text->len += len;
}

void text_puts(struct text *text, const char *str)
{
	text_put(text, str, strlen(str));
}

void text_release(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

static const char *suffix_of(const struct family *family)
{
	switch (family->type) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	default:
		return "";
	}
}

static void put_help(struct text *text, const char *help, enum format format)
{
	for (; *help; help++) {
		if (*help == '\\')
			text_puts(text, "\\\\");
		else if (*help == '\n')
			text_puts(text, "\\n");
		else if (*help == '"' && format == FORMAT_OPENMETRICS)
			text_puts(text, "\\\"");
		else
			text_put(text, help, 1);
	}
}

/* OpenMetrics names families without what their samples end in. */
static void put_head(struct text *text, const struct family *family,
		     enum format format)
{
	static const char *const plain[] = {
		"gauge", "counter", "histogram", "gauge", "untyped",
	}, *const open[] = {
		"gauge", "counter", "histogram", "info", "unknown",
	}, *const units[] = {
		[METRIC_BYTES] = "bytes", [METRIC_NS] = "seconds",
	};
	const char *end = format == FORMAT_TEXT ? suffix_of(family) : "";

	text_puts(text, "# HELP ");
	text_puts(text, family->name);
	text_puts(text, end);
	text_puts(text, " ");
	put_help(text, family->help, format);
	text_puts(text, "\n# TYPE ");
	text_puts(text, family->name);
	text_puts(text, end);
	text_puts(text, " ");
	text_puts(text, format == FORMAT_TEXT ? plain[family->type] :
						open[family->type]);
	if (format == FORMAT_OPENMETRICS && units[family->unit]) {
		text_puts(text, "\n# UNIT ");
		text_puts(text, family->name);
		text_puts(text, " ");
		text_puts(text, units[family->unit]);
	}
	text_puts(text, "\n");
}

/* Nanoseconds as seconds, without loss. */
static void put_seconds(struct text *text, uint64_t ns)
{
	char buf[40];
	int len;

	len = snprintf(buf, sizeof(buf), "%" PRIu64 ".%09" PRIu64,
		       ns / 1000000000, ns % 1000000000);
	while (buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	text_put(text, buf, len);
}

static void put_number(struct text *text, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	text_puts(text, buf);
}

/* The name with the labels, to which @le is added unless NULL. */
static void put_name(struct text *text, const char *name, const char *suffix,
		     const char *labels, const char *le)
{
	text_puts(text, name);
	text_puts(text, suffix);
	if (*labels || le) {
		text_puts(text, "{");
		text_puts(text, labels);
		if (le) {
			text_puts(text, *labels ? ",le=\"" : "le=\"");
			text_puts(text, le);
			text_puts(text, "\"");
		}
		text_puts(text, "}");
	}
	text_puts(text, " ");
}

static void put_histogram(struct text *text, const struct family *family,
			  const char *labels, const struct histogram *histogram)
{
	uint64_t n = 0;
	char le[40];
	int i;

	for (i = 0; i <= CLASSIC_BUCKETS; i++) {
		n += histogram->classic[i];
		if (i < CLASSIC_BUCKETS)
			snprintf(le, sizeof(le), "%.12g%s",
				 histogram_bounds[i] / 1e9,
				 histogram_bounds[i] % 1000000000 ? "" : ".0");
		else
			strcpy(le, "+Inf");
		put_name(text, family->name, "_bucket", labels, le);
		put_number(text, n);
		text_puts(text, "\n");
	}
	put_name(text, family->name, "_sum", labels, NULL);
	put_seconds(text, histogram->sum);
	text_puts(text, "\n");
	put_name(text, family->name, "_count", labels, NULL);
	put_number(text, n);
	text_puts(text, "\n");
}

static void put_sample(struct text *text, const struct family *family,
		       const struct samples *part, const struct sample *sample)
{
	const char *labels = part->text + sample->labels;

	if (family->type == METRIC_HISTOGRAM) {
		put_histogram(text, family, labels,
			      &part->histograms[sample->value]);
		return;
	}
	put_name(text, family->name, suffix_of(family), labels, NULL);
	if (family->unit == METRIC_NS)
		put_seconds(text, sample->value);
	else
		put_number(text, sample->value);
	text_puts(text, "\n");
}

/*
 * The parts are sorted each; a family's samples come together, whichever
 * parts they are in.
 */
void render(const struct model *model, const struct samples *const *parts,
	    size_t n_parts, enum format format, struct text *text)
{
	size_t *at = calloc(n_parts ? n_parts : 1, sizeof(*at)), i;
	struct proto proto = { 0 };
	unsigned int number;
	bool head;

	if (!at) {
		text->failed = true;
		return;
	}
	for (number = 0; number < model->n_families; number++) {
		const struct family *family = &model->families[number];

		head = false;
		for (i = 0; i < n_parts; i++) {
			const struct samples *part = parts[i];

			for (; at[i] < part->n &&
			     part->all[at[i]].family == number; at[i]++) {
				const struct sample *sample = &part->all[at[i]];

				if (format == FORMAT_PROTOBUF) {
					if (!head)
						proto_begin(&proto, family,
							    suffix_of(family));
					proto_sample(&proto, family, part,
						     sample);
				} else {
					if (!head)
						put_head(text, family, format);
					put_sample(text, family, part, sample);
				}
				head = true;
			}
		}
		if (head && format == FORMAT_PROTOBUF)
			proto_end(&proto, text);
	}
	if (format == FORMAT_OPENMETRICS)
		text_puts(text, "# EOF\n");
	proto_release(&proto);
	free(at);
}
