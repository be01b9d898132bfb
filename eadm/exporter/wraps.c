// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of less than 64 bits, made 64 bits wide across scrapes. */
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

/* Collectors go through their rows in the same order, but rows come and go. */
static const struct wrap *find(const struct wraps *wraps, unsigned int family,
			       const char *labels, size_t guess)
{
	size_t i, at;

	for (i = 0; i < wraps->n; i++) {
		at = (guess + i) % wraps->n;
		if (wraps->all[at].family == family &&
		    !strcmp(wraps->text + wraps->all[at].labels, labels))
			return &wraps->all[at];
	}
	return NULL;
}

static void remember(struct wraps *wraps, const char *labels,
		     const struct wrap *wrap)
{
	size_t len = strlen(labels) + 1, max;
	struct wrap *all;
	char *text;

	if (wraps->n == wraps->max) {
		max = wraps->max ? 2 * wraps->max : 16;
		all = realloc(wraps->all, max * sizeof(*all));
		if (!all)
			return;
		wraps->all = all;
		wraps->max = max;
	}
	if (wraps->len + len > wraps->size) {
		max = 2 * (wraps->len + len);
		text = realloc(wraps->text, max);
		if (!text)
			return;
		wraps->text = text;
		wraps->size = max;
	}
	wraps->all[wraps->n] = *wrap;
	wraps->all[wraps->n++].labels = wraps->len;
	memcpy(wraps->text + wraps->len, labels, len);
	wraps->len += len;
}

/*
 * The wide value of a counter. @age is that of its object: a younger one than
 * before is another object, whose counter began at 0.
 */
uint64_t wraps_extend(const struct wraps *before, struct wraps *now,
		      unsigned int family, const char *labels, uint64_t value,
		      uint64_t mask, uint64_t age)
{
	const struct wrap *old = find(before, family, labels, now->n);
	struct wrap wrap = {
		.family = family, .last = value, .value = value, .age = age,
	};

	if (old && age >= old->age)
		wrap.value = old->value + ((value - old->last) & mask);
	remember(now, labels, &wrap);
	return wrap.value;
}

void wraps_release(struct wraps *wraps)
{
	free(wraps->all);
	free(wraps->text);
	*wraps = (struct wraps){ 0 };
}
