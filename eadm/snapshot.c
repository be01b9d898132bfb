// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds snapshots of a capture by a time or number given by the user. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"

#define SECOND 1000000000ULL
#define DAY (86400 * SECOND)

static void text_of_time(uint64_t ns, char *buf, size_t size)
{
	time_t s = ns / SECOND;
	struct tm tm;

	if (!localtime_r(&s, &tm) ||
	    !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%" PRIu64, ns);
}

/* The requested time range, in ns; both ends are included. */
struct span {
	uint64_t first, last;
};

/*
 * Parses 14:03, 14:03:05 or 14:03:05.5 in local time. Without a preceding date, this is
 * the first such time that does not end before @near. The result covers the whole
 * minute or second given.
 */
static bool parse_clock(const char *text, uint64_t near, struct span *span)
{
	static const struct {
		const char *form;
		uint64_t length;
	} forms[] = {
		{ "%Y-%m-%d %H:%M:%S", SECOND }, { "%Y-%m-%dT%H:%M:%S", SECOND },
		{ "%Y-%m-%d %H:%M", 60 * SECOND },
		{ "%Y-%m-%dT%H:%M", 60 * SECOND },
		{ "%H:%M:%S", SECOND }, { "%H:%M", 60 * SECOND },
	};
	time_t day = near / SECOND;
	const char *end = NULL;
	uint64_t part = 0;
	struct tm tm;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms) && !end; i++) {
		if (!localtime_r(&day, &tm))
			return false;
		tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i].form, &tm);
		if (end && *end && *end != '.')
			end = NULL;
		span->last = end && !*end ? forms[i].length - 1 : 0;
	}
	if (!end || (*end && !parse_duration(end, SECOND, &part)))
		return false;
	span->first = mktime(&tm) * SECOND + part;
	span->last += span->first;
	if (!strchr(text, '-') && span->last < near) {
		span->first += DAY;
		span->last += DAY;
	}
	return true;
}

static int out_of_range(struct cli *cli, struct eadm_ctx *ctx,
			const char *text)
{
	uint64_t first = 0, last = 0;
	char from[32], to[32];

	eadm_snapshot_time(ctx, 0, &first);
	eadm_snapshot_time(ctx, eadm_snapshots(ctx) - 1, &last);
	text_of_time(first, from, sizeof(from));
	text_of_time(last, to, sizeof(to));
	return fail(cli, STATUS_NOT_FOUND, text,
		    "the capture has %u %s, %s to %s",
		    eadm_snapshots(ctx),
		    plural(eadm_snapshots(ctx), "snapshot", "snapshots"), from,
		    to);
}

static bool parse_time(const char *text, const struct span *all,
		       struct span *span)
{
	uint64_t ns;

	span->first = all->first;
	if (*text == '+' && parse_duration(text + 1, SECOND, &ns)) {
		span->first = span->last = all->first + ns;
		return true;
	}
	if (*text == '-' && parse_duration(text + 1, SECOND, &ns)) {
		span->last = ns < all->last ? all->last - ns : 0;
		return true;
	}
	return parse_clock(text, all->first, span);
}

/*
 * Goes to the last snapshot that began at @text or earlier, and sets @snapshot to its
 * number, from 0.
 */
int go_to_time(struct cli *cli, struct eadm_ctx *ctx, const char *text,
	       unsigned int *snapshot)
{
	unsigned int i, n = eadm_snapshots(ctx);
	struct span all, span;
	uint64_t number, time;

	if (*text == '#' && parse_u64(text + 1, &number)) {
		if (!number || number > n)
			return out_of_range(cli, ctx, text);
		*snapshot = number - 1;
		return eadm_snapshot_go(ctx, *snapshot) ? STATUS_FAILED : 0;
	}
	if (eadm_snapshot_time(ctx, 0, &all.first) ||
	    eadm_snapshot_time(ctx, n - 1, &all.last) ||
	    !parse_time(text, &all, &span))
		return fail(cli, STATUS_USAGE, text,
			    "not a time (such as 14:03:05, +30s, -10s or #3)");
	/* The state after the last snapshot is unknown. */
	for (i = span.first > all.last ? 0 : n; i-- > 0;) {
		if (eadm_snapshot_time(ctx, i, &time) || time > span.last)
			continue;
		*snapshot = i;
		return eadm_snapshot_go(ctx, i) ? STATUS_FAILED : 0;
	}
	return out_of_range(cli, ctx, text);
}
