// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics as text, in Prometheus format 0.0.4 and OpenMetrics 1.0.0; protobuf
 * messages are encoded by proto.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

/*
 * The caller frees the result. snprintf() would take ten times as long, and there are
 * many calls.
 */
char *text_join(const char *a, const char *b)
{
	size_t len = strlen(a), more = strlen(b) + 1;
	char *text = malloc(len + more);

	if (text) {
		memcpy(text, a, len);
		memcpy(text + len, b, more);
	}
	return text;
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

static void put_help(struct buffer *text, const char *help, enum format format)
{
	size_t len;

	for (;; help += len + 1) {
		len = strcspn(help, "\\\n\"");
		buffer_put(text, help, len);
		if (!help[len])
			return;
		if (help[len] != '"' || format == FORMAT_OPENMETRICS)
			buffer_puts(text, "\\");
		buffer_put(text, help[len] == '\n' ? "n" : &help[len], 1);
	}
}

/* OpenMetrics family names lack the suffix of their samples. */
static void put_head(struct buffer *text, const struct family *family,
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

	buffer_puts(text, "# HELP ");
	buffer_puts(text, family->name);
	buffer_puts(text, end);
	buffer_puts(text, " ");
	put_help(text, family->help, format);
	buffer_puts(text, "\n# TYPE ");
	buffer_puts(text, family->name);
	buffer_puts(text, end);
	buffer_puts(text, " ");
	buffer_puts(text, format == FORMAT_TEXT ? plain[family->type] :
						open[family->type]);
	if (format == FORMAT_OPENMETRICS && units[family->unit]) {
		buffer_puts(text, "\n# UNIT ");
		buffer_puts(text, family->name);
		buffer_puts(text, " ");
		buffer_puts(text, units[family->unit]);
	}
	buffer_puts(text, "\n");
}

/* Writes a number with at least @digits digits before @end; returns its start. */
static char *digits(char *end, uint64_t value, int least)
{
	for (; value || least > 0; least--) {
		*--end = '0' + value % 10;
		value /= 10;
	}
	return end;
}

/* Puts a number and the end of its line. Nanoseconds are printed as seconds. */
static void put_value(struct buffer *text, uint64_t value, enum metric_unit unit)
{
	char buf[40], *end = buf + sizeof(buf) - 1, *p;

	*end = '\n';
	if (unit != METRIC_NS || !(value % 1000000000)) {
		p = digits(end, unit == METRIC_NS ? value / 1000000000 : value,
			   1);
		buffer_put(text, p, buf + sizeof(buf) - p);
		return;
	}
	p = digits(end, value % 1000000000, 9);
	*--p = '.';
	p = digits(p, value / 1000000000, 1);
	while (end[-1] == '0')
		end--;
	*end++ = '\n';
	buffer_put(text, p, end - p);
}

static char *put_escaped(char *to, const char *value, size_t len)
{
	for (; len; len--, value++) {
		if (*value == '\n') {
			to = mempcpy(to, "\\n", 2);
			continue;
		}
		if (*value == '"' || *value == '\\')
			*to++ = '\\';
		*to++ = *value;
	}
	return to;
}

/* Puts NAME="VALUE" after @before; escaping can double the length of a value. */
static void put_label(struct buffer *text, char before, struct label label)
{
	char *to = buffer_room(text, label.name_len + 2 * label.value_len + 4);
	char *begin = to;

	if (!to)
		return;
	*to++ = before;
	to = mempcpy(to, label.name, label.name_len);
	*to++ = '=';
	*to++ = '"';
	if (label.plain)
		to = mempcpy(to, label.value, label.value_len);
	else
		to = put_escaped(to, label.value, label.value_len);
	*to++ = '"';
	text->len += to - begin;
}

/* Puts the labels, plus @le unless it is NULL, and a space. */
static void put_labels(struct buffer *text, const struct samples *part,
		       uint32_t labels, const char *le)
{
	struct label label = label_first(part, labels);
	char before = '{';

	for (; label.name_len; label = label_next(label)) {
		put_label(text, before, label);
		before = ',';
	}
	if (le) {
		put_label(text, before, (struct label){
			"le", le, 2, strlen(le), true });
		before = ',';
	}
	if (before == ',')
		buffer_put(text, "} ", 2);
	else
		buffer_put(text, " ", 1);
}

static void put_histogram(struct buffer *text, const struct family *family,
			  const struct samples *part,
			  const struct sample *sample)
{
	const struct histogram *histogram = &part->histograms[sample->value];
	uint64_t n = 0;
	int i;

	for (i = 0; i <= CLASSIC_BUCKETS; i++) {
		n += histogram->classic[i];
		buffer_puts(text, family->name);
		buffer_puts(text, "_bucket");
		put_labels(text, part, sample->labels, histogram_le[i]);
		put_value(text, n, METRIC_PLAIN);
	}
	buffer_puts(text, family->name);
	buffer_puts(text, "_sum");
	put_labels(text, part, sample->labels, NULL);
	put_value(text, histogram->sum, METRIC_NS);
	buffer_puts(text, family->name);
	buffer_puts(text, "_count");
	put_labels(text, part, sample->labels, NULL);
	put_value(text, n, METRIC_PLAIN);
}

static void put_sample(struct buffer *text, const struct family *family,
		       const struct samples *part, const struct sample *sample)
{
	if (family->type == METRIC_HISTOGRAM) {
		put_histogram(text, family, part, sample);
		return;
	}
	buffer_puts(text, family->sample);
	put_labels(text, part, sample->labels, NULL);
	put_value(text, sample->value, family->unit);
}

/* ---- families ----------------------------------------------------------------------- */

/*
 * Prepares for responses in the given formats, a set of 1 << FORMAT_*. Responses in
 * other formats take longer to render. For a single response, preparation is not
 * worthwhile, because most families have no samples.
 */
int render_prepare(struct family *family, unsigned int formats)
{
	enum format format;

	family->sample = text_join(family->name, suffix_of(family));
	family->head = calloc(FORMATS, sizeof(*family->head));
	if (!family->sample || !family->head)
		return -ENOMEM;
	for (format = 0; format < FORMATS; format++) {
		if (!(formats >> format & 1))
			continue;
		if (format == FORMAT_PROTOBUF)
			proto_head(family, family->sample,
				   &family->head[format]);
		else
			put_head(&family->head[format], family, format);
		if (family->head[format].failed)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Renders @parts, each of which is sorted; the samples of a family are grouped across
 * parts.
 */
void render(const struct model *model, const struct samples *const *parts,
	    size_t n_parts, enum format format, struct buffer *text)
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
		const struct buffer *heads = &family->head[format];

		head = false;
		for (i = 0; i < n_parts; i++) {
			const struct samples *part = parts[i];

			for (; at[i] < part->n &&
			     part->all[at[i]].family == number; at[i]++) {
				const struct sample *sample = &part->all[at[i]];

				if (format == FORMAT_PROTOBUF) {
					proto_sample(&proto, family, part,
						     sample);
				} else {
					if (!head && heads->len)
						buffer_put(text, heads->data,
							   heads->len);
					else if (!head)
						put_head(text, family, format);
					put_sample(text, family, part, sample);
				}
				head = true;
			}
		}
		if (head && format == FORMAT_PROTOBUF)
			proto_end(&proto, heads, text);
	}
	if (format == FORMAT_OPENMETRICS)
		buffer_puts(text, "# EOF\n");
	proto_release(&proto);
	free(at);
}
