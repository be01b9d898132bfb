/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of times, with steps that are easy to read: 1, 2, 5, 10 us ... */
#ifndef HIST_H
#define HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_BUCKETS 26

struct hist {
	uint64_t count[HIST_BUCKETS];
};

void hist_add(struct hist *hist, uint64_t ns);
uint64_t hist_below(unsigned int bucket);	/* 0: no limit */
bool hist_range(const struct hist *hist, unsigned int *first,
		unsigned int *last);
uint64_t hist_rank(const uint64_t *sorted, size_t n, unsigned int percent);

#endif /* HIST_H */
