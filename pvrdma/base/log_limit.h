/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits logging, because neither a guest nor a linked program must fill the host's disk. */
#ifndef BASE_LOG_LIMIT_H
#define BASE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. */
struct log_limit {
	/* The second of the last line; numbers of lines logged and suppressed in that second. */
	uint64_t second;
	unsigned int lines, left_out;
};

/*
 * Returns true if a line may be logged now. If lines have been suppressed in an earlier
 * second, first logs how many, as @name.
 */
bool log_limit_allows(struct log_limit *limit, void (*log)(const char *name, const char *line),
		      const char *name);

#endif /* BASE_LOG_LIMIT_H */
