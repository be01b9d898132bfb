// SPDX-License-Identifier: LGPL-2.1-or-later
/* The context: source, last error, log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "priv.h"

#define TIMEOUT_MS 10000

EADM_API const char *eadm_version(void)
{
	return EADM_VERSION;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

EADM_API struct eadm_ctx *eadm_new(void)
{
	struct eadm_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->timeout_ms = TIMEOUT_MS;
	ctx->clock_offset = clock_ns(CLOCK_REALTIME) -
			    clock_ns(CLOCK_MONOTONIC);
	return ctx;
}

EADM_API void eadm_free(struct eadm_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->capture)
		eadm_capture_close(ctx, false);
	if (ctx->src)
		ctx->src->ops->close(ctx->src);
	eadm_archive_free(ctx->archive);
	free(ctx->devices.dev);
	free(ctx);
}

EADM_API const char *eadm_errmsg(const struct eadm_ctx *ctx)
{
	return ctx->errmsg;
}

EADM_API void eadm_set_log(struct eadm_ctx *ctx, eadm_log_fn fn, void *data)
{
	ctx->log = fn;
	ctx->log_data = data;
}

EADM_API void eadm_set_timeout(struct eadm_ctx *ctx, unsigned int ms)
{
	ctx->timeout_ms = ms;
}

EADM_API int eadm_open_live(struct eadm_ctx *ctx)
{
	int ret;

	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is open already");
	ret = eadm_live_new(ctx, &ctx->src);
	ctx->live = !ret;
	return ret;
}

EADM_API int eadm_open_file(struct eadm_ctx *ctx, const char *path)
{
	if (ctx->src)
		return eadm_fail(ctx, -EBUSY, "the context is open already");
	return eadm_file_new(ctx, path, &ctx->src);
}

EADM_API bool eadm_is_live(const struct eadm_ctx *ctx)
{
	return ctx->live;
}

EADM_API const char *eadm_fact(struct eadm_ctx *ctx, const char *key)
{
	const char *value = ctx->src ? eadm_source_fact(ctx, key) : NULL;

	if (!value)
		errno = ENOENT;
	return value;
}

EADM_API int eadm_moment_next(struct eadm_ctx *ctx)
{
	if (!ctx->src)
		return 0;
	eadm_devices_drop(ctx);
	/* What is captured from here on is another moment to its reader. */
	if (ctx->capture && ctx->live)
		eadm_capture_moment(ctx);
	return ctx->src->ops->moment_next(ctx->src);
}

EADM_API unsigned int eadm_moments(const struct eadm_ctx *ctx)
{
	return ctx->src && ctx->src->ops->moments ?
		       ctx->src->ops->moments(ctx->src) : 1;
}

EADM_API int eadm_moment_time(const struct eadm_ctx *ctx, unsigned int index,
			      uint64_t *ns)
{
	if (!ctx->src || !ctx->src->ops->moment_time)
		return -ENOENT;
	return ctx->src->ops->moment_time(ctx->src, index, ns);
}

EADM_API int eadm_moment_go(struct eadm_ctx *ctx, unsigned int index)
{
	int ret = -ENOENT;

	eadm_devices_drop(ctx);
	if (ctx->src && ctx->src->ops->moment_go)
		ret = ctx->src->ops->moment_go(ctx->src, index);
	else if (!index)
		ret = 0;
	return ret ? eadm_fail(ctx, ret, "no such moment") : 0;
}

/* Keep a sentence about an error; returns @error. */
int eadm_fail(struct eadm_ctx *ctx, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctx->errmsg, sizeof(ctx->errmsg), fmt, ap);
	va_end(ap);
	return error;
}

void eadm_log(struct eadm_ctx *ctx, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!ctx->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ctx->log(ctx->log_data, line);
}

/* Wall-clock time that goes on evenly when somebody sets the clock. */
uint64_t eadm_now(const struct eadm_ctx *ctx)
{
	return clock_ns(CLOCK_MONOTONIC) + ctx->clock_offset;
}

/* What to add to that for the clock as it is set now; 0 in a capture. */
int64_t eadm_clock_step(const struct eadm_ctx *ctx)
{
	return ctx->live ? clock_ns(CLOCK_REALTIME) - (int64_t)eadm_now(ctx) :
			   0;
}
