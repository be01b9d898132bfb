// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Check that there is a usable adapter; a connection may use a different adapter. */
int tcp_start(struct test *test)
{
	static const struct sockaddr_storage any;
	const char *device = test->cli->args.opt[OPT_DEVICE], *missing;
	struct adapter adapter;
	char why[MAX_WHY];
	int status = adapter_choose(test, &any, &adapter, why);

	if (status)
		return fail(test->cli, status, device ? device : "devices", "%s",
			    why);
	missing = adapter.driver ? adapter.driver->open() : NULL;
	if (missing)
		return fail(test->cli, STATUS_UNSUPPORTED, missing,
			    "not installed (package ibverbs-providers)");
	return STATUS_OK;
}

/*
 * The TCP connection stays open until the test ends, and carries no further data.
 * Returns 1 if the peer has closed it and so ended the test, 0 if not, -1 on failure.
 */
int tcp_closed(struct link *link)
{
	char byte;
	ssize_t n = recv(link->fd, &byte, sizeof(byte), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? link_fail(link, "the peer sent unexpected data over TCP") : 1;
}

int tcp_ended(struct link *link)
{
	int ret = tcp_closed(link);

	return ret > 0 ? link_fail(link, "the peer closed the connection") : ret;
}

void tcp_release(struct link *link)
{
	/*
	 * Close the connection first, so that the peer does not mistake later errors for
	 * a failure.
	 */
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	if (!link->endpoint)
		return;
	endpoint_release(link);
	free(link->endpoint);
	link->endpoint = NULL;
}

/* Set the addresses of both ends in @path. */
void tcp_peer(struct link *link, struct path *path)
{
	struct sockaddr_storage local = { 0 };
	socklen_t len = sizeof(local);

	if (!getsockname(link->fd, (struct sockaddr *)&local, &len))
		address_text(&local, path->local, sizeof(path->local));
	address_text(&link->peer, path->peer, sizeof(path->peer));
}
