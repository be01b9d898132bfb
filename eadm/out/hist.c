// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist.h"

/*
 * Returns the upper bound of a bucket: 1us, 2us, 5us, 10us ... 50s; the last bucket has
 * none.
 */
uint64_t hist_below(unsigned int bucket)
{
	static const unsigned int steps[] = { 1, 2, 5 };
	uint64_t ns = 1000;
	unsigned int i;

	if (bucket >= HIST_BUCKETS - 1)
		return 0;
	for (i = 0; i < bucket / 3; i++)
		ns *= 10;
	return ns * steps[bucket % 3];
}

void hist_add(struct hist *hist, uint64_t ns)
{
	unsigned int i = 0;

	while (i < HIST_BUCKETS - 1 && ns >= hist_below(i))
		i++;
	hist->count[i]++;
}

/*
 * Finds the first and the last bucket that is not empty; returns false if all are
 * empty.
 */
bool hist_range(const struct hist *hist, unsigned int *first,
		unsigned int *last)
{
	unsigned int i;
	bool any = false;

	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!hist->count[i])
			continue;
		if (!any)
			*first = i;
		*last = i;
		any = true;
	}
	return any;
}

/* Returns the smallest value that is at least as large as @percent of all values. */
uint64_t hist_rank(const uint64_t *sorted, size_t n, unsigned int percent)
{
	size_t rank = (n * percent + 99) / 100;

	return n ? sorted[rank ? rank - 1 : 0] : 0;
}
