// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of times, in fixed buckets and in those of a native histogram,
 * whose bounds grow by the same factor everywhere.
 */
#include <math.h>

#include "exporter.h"

const uint64_t histogram_bounds[CLASSIC_BUCKETS] = {
	10000, 25000, 50000, 100000, 250000, 500000, 1000000, 10000000,
	100000000, 1000000000, 5000000000, 15000000000,
};

const char *const histogram_le[CLASSIC_BUCKETS + 1] = {
	"1e-05", "2.5e-05", "5e-05", "0.0001", "0.00025", "0.0005", "0.001",
	"0.01", "0.1", "1.0", "5.0", "15.0", "+Inf",
};

/*
 * The number that Prometheus gives the bucket: those of schema n end at the
 * powers of 2^(2^-n) seconds, bucket 0 at one second.
 */
int histogram_index(uint64_t ns)
{
	const int steps = 1 << NATIVE_SCHEMA;
	int exp, step = 0;
	double part = frexp(ns / 1e9, &exp);

	/* The bound belongs to its bucket: what is above goes to the next. */
	while (step < steps && part > exp2((double)step / steps - 1))
		step++;
	return (exp - 1) * steps + step;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	int i;

	for (i = 0; i < CLASSIC_BUCKETS && ns > histogram_bounds[i]; i++)
		;
	histogram->classic[i]++;
	histogram->count++;
	histogram->sum += ns;
	if (!ns) {
		histogram->zero++;
		return;
	}
	i = histogram_index(ns) - NATIVE_FIRST;
	histogram->native[i < 0 ? 0 : i < NATIVE_BUCKETS ?
			  i : NATIVE_BUCKETS - 1]++;
}
