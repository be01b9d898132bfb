// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <time.h>

#include "log_limit.h"

/* Per second. */
#define MAX_LOG_LINES 20

bool log_limit_allows(struct log_limit *limit, void (*log)(const char *name, const char *line),
		      const char *name)
{
	struct timespec now;
	char line[64];

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if ((uint64_t)now.tv_sec != limit->second) {
		if (limit->left_out) {
			snprintf(line, sizeof(line), "%u line%s suppressed", limit->left_out,
				 limit->left_out == 1 ? "" : "s");
			log(name, line);
		}
		limit->second = (uint64_t)now.tv_sec;
		limit->lines = limit->left_out = 0;
	}
	if (limit->lines++ < MAX_LOG_LINES)
		return true;
	limit->left_out++;
	return false;
}
