// SPDX-License-Identifier: GPL-2.0-or-later
/* Listening sockets, passed by systemd or opened by address. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "exporter.h"

#define SYSTEMD_FIRST_FD 3
/* With a smaller backlog, many simultaneous clients would block all further ones. */
#define BACKLOG SOMAXCONN
/*
 * Bytes of metrics that the kernel keeps for a client that does not read them. Its own limit is
 * several MB, which count as memory of the service.
 */
#define SEND_BUFFER (128 << 10)

static int no_room(struct cli *cli, const char *what)
{
	return fail(cli, STATUS_USAGE, what, "more than %d sockets",
		    MAX_LISTENERS);
}

/*
 * Takes the sockets passed by systemd: LISTEN_FDS descriptors, starting with 3, for the
 * process LISTEN_PID.
 */
static int take_systemd(struct cli *cli, struct listeners *listeners)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t p, n, i;
	int listening;
	socklen_t len = sizeof(listening);

	if (!pid || !fds || !parse_u64(pid, &p) || !parse_u64(fds, &n) ||
	    p != (uint64_t)getpid())
		return 0;
	if (n > MAX_LISTENERS)
		return no_room(cli, "LISTEN_FDS");
	for (i = 0; i < n; i++) {
		int fd = SYSTEMD_FIRST_FD + i;

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening,
			       &len) || !listening)
			return fail(cli, STATUS_FAILED, "LISTEN_FDS",
				    "descriptor %d is not a listening socket", fd);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		listeners->fd[listeners->n++] = fd;
	}
	return 0;
}

static int cannot(struct cli *cli, const char *address)
{
	int err = errno;

	return fail(cli, err == EACCES || err == EPERM ? STATUS_PERMISSION :
							 STATUS_FAILED,
		    address, "%s", strerror(err));
}

/* Returns true if the path is a stale socket that no process listens on. */
static bool is_stale(const struct sockaddr_un *sun)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(sun->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const void *)sun, sizeof(*sun)) &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int listen_unix(struct cli *cli, const char *address,
		       struct listeners *listeners)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const char *path = address + strlen("unix:");
	mode_t mask;
	int fd, ret;

	if (!*path || strlen(path) >= sizeof(sun.sun_path))
		return fail(cli, STATUS_USAGE, address,
			    "the path must be 1 to %zu bytes long",
			    sizeof(sun.sun_path) - 1);
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return cannot(cli, address);
	if (is_stale(&sun))
		unlink(path);
	/* The socket is accessible to the program's user and group. */
	mask = umask(0117);
	ret = bind(fd, (void *)&sun, sizeof(sun));
	umask(mask);
	if (ret || listen(fd, BACKLOG)) {
		ret = cannot(cli, address);
		close(fd);
		return ret;
	}
	listeners->fd[listeners->n++] = fd;
	return 0;
}

/* @all: accept IPv4 connections, too, whatever the default of the machine is. */
static int listen_inet(struct cli *cli, const char *address,
		       const struct addrinfo *info, bool all,
		       struct listeners *listeners)
{
	int fd, zero = 0, one = 1, size = SEND_BUFFER, ret;

	fd = socket(info->ai_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return cannot(cli, address);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (all && info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG)) {
		ret = cannot(cli, address);
		close(fd);
		return ret;
	}
	listeners->fd[listeners->n++] = fd;
	return 0;
}

/* A kernel or a service's settings may not allow IPv6. */
static bool has_ipv6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Listens on HOST:PORT, [HOST]:PORT or :PORT; a name can resolve to several addresses.
 */
static int listen_name(struct cli *cli, const char *address,
		       struct listeners *listeners)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(address, ':');
	struct addrinfo *list, *info;
	char host[256];
	uint64_t port;
	int ret;

	if (!colon || !colon[1])
		return fail(cli, STATUS_USAGE, address,
			    "not an address (such as :" EXPORTER_PORT
			    ", 127.0.0.1:" EXPORTER_PORT " or unix:/run/eadm.sock)");
	/* getaddrinfo() accepts larger numbers and truncates them to 16 bits. */
	if (!parse_u64(colon + 1, &port) || port > UINT16_MAX)
		return fail(cli, STATUS_USAGE, address,
			    "the port must be a number from 0 to 65535");
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	/* One IPv6 socket accepts all connections; a second one would be in use. */
	if (!host[0])
		hints.ai_family = has_ipv6() ? AF_INET6 : AF_INET;
	ret = getaddrinfo(host[0] ? host : NULL, colon + 1, &hints, &list);
	if (ret)
		return fail(cli, STATUS_USAGE, address, "%s",
			    gai_strerror(ret));
	ret = 0;
	for (info = list; info && !ret; info = info->ai_next) {
		if (listeners->n == MAX_LISTENERS)
			ret = no_room(cli, address);
		else
			ret = listen_inet(cli, address, info, !host[0], listeners);
	}
	freeaddrinfo(list);
	return ret;
}

int listen_all(struct cli *cli, const char *addresses,
	       struct listeners *listeners)
{
	char *list, *address, *rest = NULL;
	int ret;

	ret = take_systemd(cli, listeners);
	if (ret || (listeners->n && !addresses))
		return ret;
	list = strdup(addresses ? addresses : ":" EXPORTER_PORT);
	if (!list)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	for (address = strtok_r(list, ",", &rest); address && !ret;
	     address = strtok_r(NULL, ",", &rest)) {
		if (listeners->n == MAX_LISTENERS)
			ret = no_room(cli, address);
		else if (!strncmp(address, "unix:", 5))
			ret = listen_unix(cli, address, listeners);
		else
			ret = listen_name(cli, address, listeners);
	}
	free(list);
	if (!ret && !listeners->n)
		ret = fail(cli, STATUS_USAGE, "--listen", "no address");
	return ret;
}

/*
 * Prints the addresses, because those passed by systemd and those with port 0 are not
 * known from the command line.
 */
void listen_note(struct cli *cli, const struct listeners *listeners)
{
	char host[INET6_ADDRSTRLEN], port[16];
	struct sockaddr_storage addr;
	struct sockaddr_un *sun = (void *)&addr;
	unsigned int i;
	socklen_t len;

	for (i = 0; i < listeners->n; i++) {
		memset(&addr, 0, sizeof(addr));
		len = sizeof(addr);
		if (getsockname(listeners->fd[i], (void *)&addr, &len))
			continue;
		if (addr.ss_family == AF_UNIX)
			note(cli, "listening on unix:%.*s",
			     (int)sizeof(sun->sun_path), sun->sun_path);
		else if (!getnameinfo((void *)&addr, len, host, sizeof(host),
				      port, sizeof(port),
				      NI_NUMERICHOST | NI_NUMERICSERV))
			note(cli, addr.ss_family == AF_INET6 ?
				     "listening on [%s]:%s" :
				     "listening on %s:%s", host, port);
	}
}
