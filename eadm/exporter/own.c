// SPDX-License-Identifier: GPL-2.0-or-later
/* The program's own metrics without labels. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exporter.h"

void own_add(struct samples *samples, const struct model *model,
	     enum own_family family, uint64_t value)
{
	samples_add(samples, model->own[family], samples_labels(samples),
		    value);
}

/* @start: time when the program was started, in ns since 1970. */
void own_add_process(struct samples *samples, const struct model *model,
		     uint64_t start)
{
	static int statm = -1;
	struct rusage use;
	char text[100], *end;
	ssize_t n;

	if (!getrusage(RUSAGE_SELF, &use))
		own_add(samples, model, OWN_CPU,
			(use.ru_utime.tv_sec + use.ru_stime.tv_sec) *
					1000000000ULL +
				(use.ru_utime.tv_usec + use.ru_stime.tv_usec) *
					1000ULL);
	if (statm < 0)
		statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	n = pread(statm, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	/* The second number is the resident size in pages. */
	strtoul(text, &end, 10);
	if (end != text)
		own_add(samples, model, OWN_MEMORY,
			strtoul(end, NULL, 10) * sysconf(_SC_PAGESIZE));
	own_add(samples, model, OWN_START, start);
}
