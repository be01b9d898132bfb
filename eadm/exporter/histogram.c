// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of times over fixed buckets, and over the buckets of a native histogram,
 * whose bounds grow by a constant factor.
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
 * Returns the number of the bucket as defined by Prometheus: with schema n, buckets end
 * at powers of 2^(2^-n) seconds, and bucket 0 ends at one second.
 */
int histogram_index(uint64_t ns)
{
	/*
	 * 2^(i/8) / 2, as constants: computing them would make every command load libm.
	 */
	static const double bounds[] = {
		0.5, 0.5452538663326288, 0.5946035575013605,
		0.6484197773255048, 0.7071067811865476, 0.7711054127039704,
		0.8408964152537145, 0.9170040432046712,
	};
	const int steps = ARRAY_SIZE(bounds);
	int exp, step = 0;
	double part = frexp(ns / 1e9, &exp);

	_Static_assert(ARRAY_SIZE(bounds) == 1 << NATIVE_SCHEMA, "one bound for each native bucket");
	/*
	 * A bucket includes its upper bound; only larger values belong to the next one.
	 */
	while (step < steps && part > bounds[step])
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
