// SPDX-License-Identifier: GPL-2.0-or-later
/* The adapter's log. */
#include <stdarg.h>
#include <stdio.h>

#include "function.h"

void model_log(struct model *m, const char *format, ...)
{
	char line[256];
	va_list args;

	if (!m->config.log || !log_limit_allows(&m->log_limit, m->config.log, m->config.name))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	m->config.log(m->config.name, line);
}
