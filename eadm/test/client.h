/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include "test.h"

struct client {
	struct test *test;
	struct link link;
	struct welcome there;
	struct path path;	/* path of the latest connection */
	int status;
	bool unanswered;	/* the request for the peer's address timed out */
	bool established;	/* with rdma_cm: a disconnect event will follow */
	bool last;		/* no further connection follows */
	bool shown;		/* the route was shown */
};

#endif /* TEST_CLIENT_H */
