// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the exporter: sockets as on a machine without IPv6 (if $SOCKETS is "ipv4"),
 * or with net.ipv6.bindv6only=1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int socket(int family, int type, int protocol)
{
	int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
	const char *kind = getenv("SOCKETS");
	int fd, one = 1;

	if (family == AF_INET6 && kind && !strcmp(kind, "ipv4")) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	fd = real(family, type, protocol);
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	return fd;
}
