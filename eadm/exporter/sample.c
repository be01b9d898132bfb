// SPDX-License-Identifier: GPL-2.0-or-later
/* Values with their labels, before they are converted to text. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../out/json.h"
#include "exporter.h"

static bool reserve(struct samples *samples, size_t len)
{
	/* Labels are stored as 32-bit offsets. */
	if (samples->text.len + len > UINT32_MAX ||
	    !buffer_room(&samples->text, len))
		samples->failed = true;
	return !samples->failed;
}

static void append(struct samples *samples, const char *data, size_t len)
{
	if (reserve(samples, len))
		buffer_put(&samples->text, data, len);
}

/* Begins a set of labels; samples_label() adds to the latest set. */
uint32_t samples_labels(struct samples *samples)
{
	static const char end[LABEL_END];

	append(samples, end, sizeof(end));
	return samples->text.len ? samples->text.len - LABEL_END : 0;
}

/*
 * Returns the length of a set of labels, including the end mark after the last label.
 */
static size_t set_size(const struct samples *samples, uint32_t labels)
{
	struct label label = label_first(samples, labels);
	const char *end = samples->text.data + labels;

	for (; label.name_len; label = label_next(label))
		end = label.value + label.value_len;
	return end + LABEL_END - (samples->text.data + labels);
}

/* Begins a set of labels that is a copy of another set. */
uint32_t samples_labels_from(struct samples *samples, uint32_t labels)
{
	size_t begin = samples->text.len;
	size_t len = samples->failed ? 0 : set_size(samples, labels);

	/* Reserve space first, because this can move the text to be copied. */
	if (reserve(samples, len))
		append(samples, samples->text.data + labels, len);
	return begin;
}

/*
 * Sets @out to the character at @p, or to a replacement if it is invalid: names of
 * devices and processes can contain any bytes, but the formats require UTF-8. Returns
 * the number of bytes used.
 */
static size_t take_char(const unsigned char *p, const char **out, size_t *len)
{
	size_t n = *p < 0x80 ? 1 : utf8_len(p);

	*out = n ? (const char *)p : "\xef\xbf\xbd";
	*len = n ? n : 3;
	return n ? n : 1;
}

/* Stores @value as shown in labels, truncated to the size of the buffer. */
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

/* Writes @value to @to; returns its length. */
static size_t put_label_value(char *to, const char *value, bool *plain)
{
	const unsigned char *p = (const unsigned char *)value;
	char *begin = to;
	const char *c;
	size_t len;

	*plain = true;
	while (*p && to - begin < LABEL_MAX - 4) {
		if (*p == '"' || *p == '\\' || *p == '\n')
			*plain = false;
		p += take_char(p, &c, &len);
		to = mempcpy(to, c, len);
	}
	return to - begin;
}

void samples_label(struct samples *samples, const char *name,
		   const char *value)
{
	struct label_head head = { .name_len = strlen(name) };
	char *at, *to;

	/*
	 * The label is added completely or not at all, so that the set remains valid.
	 * Each byte becomes at most 3 bytes.
	 */
	if (!samples->text.len || !reserve(samples, 2 * sizeof(head) +
					       head.name_len +
					       3 * strlen(value)))
		return;
	at = samples->text.data + samples->text.len - LABEL_END;
	to = mempcpy(at + sizeof(head), name, head.name_len);
	head.value_len = put_label_value(to, value, &head.plain);
	memcpy(at, &head, sizeof(head));
	to += head.value_len;
	memset(to, 0, LABEL_END);
	samples->text.len = to + LABEL_END - samples->text.data;
}

void samples_add(struct samples *samples, unsigned int family,
		 uint32_t labels, uint64_t value)
{
	if (samples->failed || !grow(samples->all, samples->n, samples->max)) {
		samples->failed = true;
		return;
	}
	samples->all[samples->n] = (struct sample){
		family, labels, value
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

/*
 * Determines the range of families, which is small because a part has few families with
 * adjacent numbers. Returns false if the part is already sorted.
 */
static bool family_range(const struct samples *samples, unsigned int *first,
			 unsigned int *range)
{
	unsigned int low = UINT_MAX, high = 0;
	bool sorted = true;
	size_t i;

	for (i = 0; i < samples->n; i++) {
		const struct sample *sample = &samples->all[i];

		sorted &= sample->family >= high;
		if (sample->family < low)
			low = sample->family;
		if (sample->family > high)
			high = sample->family;
	}
	*first = low;
	*range = high - low + 1;
	return !sorted;
}

/* Sorts by family, keeping the order within each family. */
void samples_sort(struct samples *samples)
{
	struct sample *sorted;
	unsigned int first, range, family;
	size_t *at, i;

	if (!samples->n || !family_range(samples, &first, &range))
		return;
	/* Index of the next sample of each family. */
	at = calloc(range + 1, sizeof(*at));
	sorted = malloc(samples->max * sizeof(*sorted));
	if (!at || !sorted) {
		free(at);
		free(sorted);
		samples->failed = true;
		return;
	}
	for (i = 0; i < samples->n; i++)
		at[samples->all[i].family - first + 1]++;
	for (family = 1; family < range; family++)
		at[family] += at[family - 1];
	for (i = 0; i < samples->n; i++)
		sorted[at[samples->all[i].family - first]++] = samples->all[i];
	free(at);
	free(samples->all);
	samples->all = sorted;
}

void samples_clear(struct samples *samples)
{
	samples->n = 0;
	samples->text.len = 0;
	samples->text.failed = false;
	samples->n_histograms = 0;
	samples->failed = false;
}

static void *copy_of(const void *data, size_t n, size_t size, bool *failed)
{
	void *copy = n ? reallocarray(NULL, n, size) : NULL;

	if (n && !copy)
		*failed = true;
	return copy ? memcpy(copy, data, n * size) : NULL;
}

/* The copy has no spare room. Returns false if out of memory. */
bool samples_copy(struct samples *to, const struct samples *from)
{
	bool failed = false;

	*to = (struct samples){
		.n = from->n, .max = from->n,
		.text = { .len = from->text.len, .size = from->text.len },
		.n_histograms = from->n_histograms, .max_histograms = from->n_histograms,
	};
	to->all = copy_of(from->all, from->n, sizeof(*from->all), &failed);
	to->text.data = copy_of(from->text.data, from->text.len, 1, &failed);
	to->histograms = copy_of(from->histograms, from->n_histograms,
				 sizeof(*from->histograms), &failed);
	if (failed)
		samples_release(to);
	return !failed;
}

void samples_release(struct samples *samples)
{
	free(samples->all);
	buffer_free(&samples->text);
	free(samples->histograms);
	*samples = (struct samples){ 0 };
}
