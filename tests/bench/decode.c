// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast a capture is decoded by the library:
 *
 *	decode FILE [OBJECT]
 *
 * Reads every value of every row, through the public functions. Prints rows,
 * CPU time in microseconds, and the peak of memory in KiB.
 */
#include <eadm.h>
#include <stdio.h>
#include <sys/resource.h>

#define MAX_VALUES 256

int main(int argc, char **argv)
{
	struct eadm_value values[MAX_VALUES];
	const struct eadm_record *record;
	unsigned long long rows = 0, sum = 0;
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_dump *dump;
	struct rusage usage;
	unsigned int i, n;
	int ret;

	if (argc < 2 || !ctx) {
		fprintf(stderr, "usage: decode FILE [OBJECT]\n");
		return 2;
	}
	ret = eadm_open_file(ctx, argv[1]);
	if (!ret)
		ret = eadm_dump_open(ctx, eadm_object_find(argc > 2 ? argv[2] :
							   "qp"),
				     NULL, &dump);
	while (!ret && (ret = eadm_dump_next(dump, &record)) > 0) {
		n = eadm_record_values(record, values, MAX_VALUES);
		for (i = 0; i < n; i++) {
			if (values[i].type == EADM_TYPE_U64)
				sum += values[i].u64;
			else if (values[i].type == EADM_TYPE_STRING)
				sum += values[i].string[0];
		}
		rows++;
		ret = 0;
	}
	if (ret) {
		fprintf(stderr, "decode: %s\n", eadm_errmsg(ctx));
		return 1;
	}
	eadm_dump_close(dump);
	eadm_free(ctx);
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu %llu %ld %llx\n", rows,
	       (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
	       usage.ru_maxrss, sum);
	return 0;
}
