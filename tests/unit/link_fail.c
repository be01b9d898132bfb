// SPDX-License-Identifier: GPL-2.0-or-later
/* The first error of a connection, for tests without eadm/test/link.c. */
#include <stdarg.h>
#include <stdio.h>

#include "test/test.h"

int link_fail(struct link *link, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!link->why[0])
		vsnprintf(link->why, sizeof(link->why), fmt, ap);
	va_end(ap);
	return -1;
}
