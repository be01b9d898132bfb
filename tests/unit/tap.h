/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP for unit tests in C: ok() for each test, done() at the end. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline bool ok(bool passed, const char *name, ...)
{
	va_list ap;

	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(ap, name);
	vprintf(name, ap);
	va_end(ap);
	putchar('\n');
	if (!passed)
		tap_failed++;
	return passed;
}

static inline int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif /* TAP_H */
