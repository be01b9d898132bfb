// SPDX-License-Identifier: GPL-2.0-or-later
/* The connection of "eadm test client" by rdma_cm, with scripted events. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "scripted_cm.h"
#include "tap.h"
#include "test/client.h"

#define SECOND 1000000000ULL

static struct client client;

static bool connects(int missed, int status, uint64_t limit)
{
	const struct cm_welcome reply = { .magic = htonl(CM_MAGIC) };
	struct cli cli = { 0 };
	struct test test = { .cli = &cli, .timeout = limit };

	script = (struct cm_script){ .missed = missed, .status = status, .reply = &reply,
				     .reply_len = sizeof(reply) };
	test.channel = script_begin();
	client = (struct client){ .test = &test };
	return !cm_begin(&client, 64, 2);
}

int main(void)
{
	ok(connects(0, 0, 10 * SECOND) && script.asked == 1 && script.longest <= 1000,
	   "an address is resolved, within a second at most");
	ok(connects(2, -ETIMEDOUT, 10 * SECOND) && script.asked == 3 && !client.link.why[0],
	   "a request for an address is repeated if the kernel missed the answer");
	ok(!connects(1000, -ETIMEDOUT, SECOND) && script.asked < 5 &&
	   strstr(client.link.why, "the peer does not respond"),
	   "a peer that does not respond is named before the time is over");
	ok(!connects(1000, -ENETUNREACH, SECOND) && script.asked == 1 &&
	   strstr(client.link.why, "no RDMA device has a route"),
	   "a missing route is reported at once");
	return done();
}
