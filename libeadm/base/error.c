// SPDX-License-Identifier: LGPL-2.1-or-later
/* The last error of a context, and its log. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctx.h"

/* Store the message of an error; returns @error. */
int eadm_fail(struct eadm_ctx *ctx, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctx->errmsg, sizeof(ctx->errmsg), fmt, ap);
	va_end(ap);
	return error;
}

/* Report that memory is exhausted; returns -ENOMEM. */
int eadm_oom(struct eadm_ctx *ctx)
{
	return eadm_fail(ctx, -ENOMEM, "out of memory");
}

void eadm_log(struct eadm_ctx *ctx, enum eadm_log_level level, const char *fmt,
	      ...)
{
	char line[512];
	va_list ap;

	if (!ctx->log || level > ctx->log_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ctx->log(ctx->log_data, level, line);
}

void eadm_errmsg_push(const struct eadm_ctx *ctx, struct eadm_errmsg *kept)
{
	memcpy(kept->text, ctx->errmsg, sizeof(kept->text));
}

void eadm_errmsg_pop(struct eadm_ctx *ctx, const struct eadm_errmsg *kept)
{
	memcpy(ctx->errmsg, kept->text, sizeof(ctx->errmsg));
}

EADM_API const char *eadm_errmsg(const struct eadm_ctx *ctx)
{
	return ctx->errmsg;
}

EADM_API void eadm_set_log(struct eadm_ctx *ctx, enum eadm_log_level level,
			   eadm_log_fn fn, void *data)
{
	ctx->log_level = level;
	ctx->log = fn;
	ctx->log_data = data;
}
