// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "session.h"

void session_log(struct vfio *vfio, const char *format, ...)
{
	char line[256];
	va_list ap;

	if (!vfio->ops.log)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	vfio->ops.log(vfio->ctx, line);
}
