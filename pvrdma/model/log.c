// SPDX-License-Identifier: GPL-2.0-or-later
/* The adapter's log. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "function.h"

/* Per second. */
#define MAX_LOG_LINES 20

/* Limits logging, because a guest must not fill the host's disk. */
static bool may_log(struct model *m)
{
	struct timespec now;
	char line[64];

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if ((uint64_t)now.tv_sec != m->log_second) {
		if (m->log_left_out) {
			snprintf(line, sizeof(line), "%u line%s suppressed", m->log_left_out,
				 m->log_left_out == 1 ? "" : "s");
			m->config.log(m->config.name, line);
		}
		m->log_second = (uint64_t)now.tv_sec;
		m->log_lines = m->log_left_out = 0;
	}
	if (m->log_lines++ < MAX_LOG_LINES)
		return true;
	m->log_left_out++;
	return false;
}

void model_log(struct model *m, const char *format, ...)
{
	char line[256];
	va_list args;

	if (!m->config.log || !may_log(m))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	m->config.log(m->config.name, line);
}
