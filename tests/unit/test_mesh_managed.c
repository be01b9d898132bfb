// SPDX-License-Identifier: GPL-2.0-or-later
/* A mesh's connection by rdma_cm, with scripted events. */
#include <errno.h>
#include <string.h>

#include "managed.h"
#include "scripted_cm.h"
#include "tap.h"

#define SECOND 1000000000ULL

/* ---- scenes -------------------------------------------------------------------------- */

static struct link end;

static bool gave_up(void *data)
{
	(void)data;
	return false;
}

/* Whether it connects within @limit, in ns. */
static bool connects(int missed, int status, uint64_t limit)
{
	const struct rail rail = { .adapter = { .device = "fake_0", .port = 1 } };
	const struct exchange peer = { .gid = { 1 }, .size = 64, .depth = 2 };
	struct managed m = { .link = &end, .first = true, .size = 64, .depth = 2,
			     .failed = gave_up };

	memset(&end, 0, sizeof(end));
	memset(&script, 0, sizeof(script));
	script.missed = missed;
	script.status = status;
	return !managed_make(&m, &rail) &&
	       !managed_connect(&m, &peer, monotonic_ns() + limit);
}

int main(void)
{
	script_begin();
	ok(connects(0, 0, 10 * SECOND) && script.asked == 1 && script.longest <= 1000,
	   "an address is resolved, within a second at most");
	ok(connects(2, -ETIMEDOUT, 10 * SECOND) && script.asked == 3,
	   "a request for an address is repeated if the kernel missed the answer");
	ok(!connects(1000, -ETIMEDOUT, SECOND) && script.asked < 5 &&
	   strstr(end.why, "no neighbour"),
	   "a neighbour that does not respond is named before the time is over");
	ok(!connects(1000, -ENETUNREACH, SECOND) && script.asked == 1 &&
	   strstr(end.why, "route resolution failed"), "a missing route is reported at once");
	return done();
}
