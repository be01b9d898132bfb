// SPDX-License-Identifier: GPL-2.0-or-later
/* Reject reasons of the connection manager in words. */
#include "reject.h"

#include <string.h>

#include "tap.h"

static bool is(int reason, const char *text)
{
	char buf[80];

	return !strcmp(reject_text(reason, buf, sizeof(buf)), text);
}

int main(void)
{
	ok(is(8, "no server listens at this address and port"),
	   "an invalid service ID means that no server listens");
	ok(is(28, "the server refused the connection, or listens on different addresses"),
	   "a consumer reject is not an errno");
	ok(is(3, "rejected: no resources available") &&
	   is(33, "rejected: invalid alternate flow label"),
	   "other reasons have the names of the specification");
	ok(is(34, "rejected: reason 34") && is(1000, "rejected: reason 1000") &&
	   is(0, "rejected: reason 0"), "a reason without a name is a number");
	return done();
}
