// SPDX-License-Identifier: GPL-2.0-or-later
/* Values with their labels, on the way from a device to the text. */
#include <stdlib.h>
#include <string.h>

#include "../grow.h"
#include "exporter.h"

static bool reserve(struct samples *samples, size_t len)
{
	size_t size = 2 * (samples->len + len) + 256;
	char *text;

	if (samples->failed)
		return false;
	if (samples->len + len <= samples->size)
		return true;
	/* Labels are kept as 32-bit offsets. */
	text = size < UINT32_MAX ? realloc(samples->text, size) : NULL;
	if (!text) {
		samples->failed = true;
		return false;
	}
	samples->text = text;
	samples->size = size;
	return true;
}

static void append(struct samples *samples, const char *data, size_t len)
{
	if (!reserve(samples, len))
		return;
	memcpy(samples->text + samples->len, data, len);
	samples->len += len;
}

/* Begin a set of labels; samples_label() adds to the set begun last. */
uint32_t samples_labels(struct samples *samples)
{
	append(samples, "", 1);
	return samples->len ? samples->len - 1 : 0;
}

/* Begin a set of labels that has those of another one. */
uint32_t samples_labels_from(struct samples *samples, uint32_t labels)
{
	size_t begin = samples->len;
	size_t len = samples->failed ? 0 :
				       strlen(samples->text + labels) + 1;

	/* Room first: the text that is copied may move. */
	if (reserve(samples, len))
		append(samples, samples->text + labels, len);
	return begin;
}

/* Length of the UTF-8 sequence at @p, 0 when it is none. */
static size_t utf8(const unsigned char *p)
{
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 && p[0] < 0xf5 ? 4 :
	    p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
	    p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than need be, half of a pair, or beyond the last one. */
	if ((n == 3 && p[0] == 0xe0 && p[1] < 0xa0) ||
	    (n == 3 && p[0] == 0xed && p[1] >= 0xa0) ||
	    (n == 4 && p[0] == 0xf0 && p[1] < 0x90) ||
	    (n == 4 && p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

/*
 * The character at @p, or one that stands for what is none: names of devices
 * and processes may be any bytes, the formats want UTF-8. Bytes taken.
 */
static size_t take_char(const unsigned char *p, const char **out, size_t *len)
{
	size_t n = utf8(p);

	*out = n ? (const char *)p : "\xef\xbf\xbd";
	*len = n ? n : 3;
	return n ? n : 1;
}

/* @value as a label shows it, as far as there is room. */
void samples_name(const char *value, char *buf, size_t size)
{
	const unsigned char *p = (const unsigned char *)value;
	size_t at = 0, len;
	const char *c;

	while (*p) {
		p += take_char(p, &c, &len);
		if (at + len >= size)
			break;
		memcpy(buf + at, c, len);
		at += len;
	}
	buf[at] = '\0';
}

static void append_value(struct samples *samples, const char *value)
{
	const unsigned char *p = (const unsigned char *)value;
	const char *c;
	size_t len;

	while (*p) {
		if (*p == '\\' || *p == '"')
			append(samples, "\\", 1);
		p += take_char(p, &c, &len);
		if (*c == '\n')
			append(samples, "\\n", 2);
		else
			append(samples, c, len);
	}
}

void samples_label(struct samples *samples, const char *name,
		   const char *value)
{
	bool first;

	if (samples->failed || !samples->len)
		return;
	samples->len--;		/* the NUL */
	first = !samples->len || !samples->text[samples->len - 1];
	if (!first)
		append(samples, ",", 1);
	append(samples, name, strlen(name));
	append(samples, "=\"", 2);
	append_value(samples, value);
	append(samples, "\"", 2);
}

void samples_add(struct samples *samples, unsigned int family,
		 uint32_t labels, uint64_t value)
{
	if (samples->failed || !grow(samples->all, samples->n, samples->max)) {
		samples->failed = true;
		return;
	}
	samples->all[samples->n] = (struct sample){
		family, samples->n, labels, value
	};
	samples->n++;
}

void samples_add_histogram(struct samples *samples, unsigned int family,
			   uint32_t labels, const struct histogram *histogram)
{
	if (samples->failed ||
	    !grow(samples->histograms, samples->n_histograms,
		  samples->max_histograms)) {
		samples->failed = true;
		return;
	}
	samples->histograms[samples->n_histograms] = *histogram;
	samples_add(samples, family, labels, samples->n_histograms++);
}

static int by_family(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void samples_sort(struct samples *samples)
{
	if (samples->n)
		qsort(samples->all, samples->n, sizeof(*samples->all),
		      by_family);
}

void samples_clear(struct samples *samples)
{
	samples->n = 0;
	samples->len = 0;
	samples->n_histograms = 0;
	samples->failed = false;
}

void samples_release(struct samples *samples)
{
	free(samples->all);
	free(samples->text);
	free(samples->histograms);
	*samples = (struct samples){ 0 };
}
