// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments of a capture by the words people have for them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "table.h"

#define DAY 86400000000000ULL

static void text_of_time(uint64_t ns, char *buf, size_t size)
{
	time_t s = ns / 1000000000;
	struct tm tm;

	if (!localtime_r(&s, &tm) ||
	    !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%" PRIu64, ns);
}

/* 14:03, 14:03:05.5, with a day in front or the one of @near; local time. */
static bool parse_clock(const char *text, uint64_t near, uint64_t *ns)
{
	static const char *const forms[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
		"%Y-%m-%dT%H:%M", "%H:%M:%S", "%H:%M",
	};
	time_t day = near / 1000000000;
	const char *end = NULL;
	uint64_t part = 0;
	struct tm tm;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms) && !end; i++) {
		if (!localtime_r(&day, &tm))
			return false;
		tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i], &tm);
		if (end && *end && *end != '.')
			end = NULL;
	}
	if (!end || (*end && !parse_duration(end, 1000000000, &part)))
		return false;
	*ns = mktime(&tm) * 1000000000ULL + part;
	/* A clock without a day means the time that comes next. */
	if (!strchr(text, '-') && *ns / 1000000000 < near / 1000000000)
		*ns += DAY;
	return true;
}

static int out_of_range(struct cli *cli, struct eadm_ctx *ctx,
			const char *text)
{
	uint64_t first = 0, last = 0;
	char from[32], to[32];

	eadm_moment_time(ctx, 0, &first);
	eadm_moment_time(ctx, eadm_moments(ctx) - 1, &last);
	text_of_time(first, from, sizeof(from));
	text_of_time(last, to, sizeof(to));
	return fail(cli, STATUS_NOT_FOUND, text,
		    "the capture has %u moment%s, %s to %s",
		    eadm_moments(ctx), eadm_moments(ctx) == 1 ? "" : "s", from,
		    to);
}

static bool parse_time(struct eadm_ctx *ctx, const char *text, uint64_t *ns)
{
	uint64_t first, last, span;

	if (eadm_moment_time(ctx, 0, &first) ||
	    eadm_moment_time(ctx, eadm_moments(ctx) - 1, &last))
		return false;
	if (*text == '+' && parse_duration(text + 1, 1000000000, &span)) {
		*ns = first + span;
		return true;
	}
	if (*text == '-' && parse_duration(text + 1, 1000000000, &span)) {
		*ns = span < last ? last - span : 0;
		return true;
	}
	return parse_clock(text, first, ns);
}

/* Go to the last moment that began at @text or before. */
int go_to_time(struct cli *cli, struct eadm_ctx *ctx, const char *text)
{
	unsigned int i, n = eadm_moments(ctx);
	uint64_t ns, number, time;

	if (*text == '#' && parse_u64(text + 1, &number)) {
		if (!number || number > n)
			return out_of_range(cli, ctx, text);
		return eadm_moment_go(ctx, number - 1) ? STATUS_FAILED : 0;
	}
	if (!parse_time(ctx, text, &ns))
		return fail(cli, STATUS_USAGE, text,
			    "not a time (such as 14:03:05, +30s, -10s or #3)");
	for (i = n; i-- > 0;) {
		if (!eadm_moment_time(ctx, i, &time) && time <= ns)
			return eadm_moment_go(ctx, i) ? STATUS_FAILED : 0;
	}
	return out_of_range(cli, ctx, text);
}
