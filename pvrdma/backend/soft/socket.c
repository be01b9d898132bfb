// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "link.h"

#define BACKLOG 8
/* Linux 6.16; older C libraries do not define it. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#define STREAM (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

static bool is_path(const char *address)
{
	return strchr(address, '/');
}

/* Parses a numeric HOST:PORT or [HOST]:PORT, without name resolution. */
static int parse(const char *address, struct sockaddr_storage *name, socklen_t *size)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;
	char host[64];
	char *port;

	if (strlen(address) >= sizeof(host))
		return -EINVAL;
	strcpy(host, address);
	port = strrchr(host, ':');
	if (!port || port == host)
		return -EINVAL;
	*port++ = 0;
	if (strlen(port) > 5 || strspn(port, "0123456789") != strlen(port) || atoi(port) > 0xffff)
		return -EINVAL;
	if (*host == '[' && port[-2] == ']') {
		port[-2] = 0;
		memmove(host, host + 1, strlen(host));
	}
	if (getaddrinfo(host, port, &hints, &found))
		return -EINVAL;
	memcpy(name, found->ai_addr, found->ai_addrlen);
	*size = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/*
 * Sends messages without delay, because requests are small and the sender waits for
 * responses.
 */
static void no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/*
 * Detects a host that does not respond, because the GIDs of its adapters stay in use until
 * the link is lost.
 */
static void keep_alive(int fd)
{
	int on = 1, idle_s = 10, interval_s = 5, limit_ms = 25000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
}

static int listen_tcp(const char *address)
{
	struct sockaddr_storage name;
	socklen_t size;
	int fd, on = 1, err = parse(address, &name, &size);

	if (err)
		return err;
	fd = socket(name.ss_family, STREAM, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* Accepted sockets inherit these options. */
	no_delay(fd);
	keep_alive(fd);
	if (!bind(fd, (struct sockaddr *)&name, size) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * Makes the kernel refuse descriptors that the other program sends: recv() or close()
 * would close them, which may block. Accepted sockets inherit this option. Before Linux
 * 6.16, the other program is trusted not to send any.
 */
static void refuse_descriptors(int fd)
{
	int off = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

int link_listen(const char *address, struct listener_file *file)
{
	const struct listener listener = {
		.path = address,
		.type = SOCK_STREAM,
		.mode = 0600,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
	};
	int fd;

	if (!is_path(address))
		return listen_tcp(address);
	fd = listener_open(&listener, file);
	if (fd >= 0)
		refuse_descriptors(fd);
	return fd;
}

static int name_of(const char *address, struct sockaddr_storage *name, socklen_t *size)
{
	struct sockaddr_un *local = (struct sockaddr_un *)name;

	if (!is_path(address))
		return parse(address, name, size);
	if (strlen(address) >= sizeof(local->sun_path))
		return -ENAMETOOLONG;
	local->sun_family = AF_UNIX;
	strcpy(local->sun_path, address);
	*size = sizeof(*local);
	return 0;
}

bool backend_soft_address(const char *address)
{
	struct sockaddr_storage name;
	socklen_t size;

	return !name_of(address, &name, &size);
}

int link_connect(const char *address)
{
	struct sockaddr_storage name = { 0 };
	socklen_t size;
	int fd, err = name_of(address, &name, &size);

	if (err)
		return err;
	fd = socket(name.ss_family, STREAM, 0);
	if (fd < 0)
		return -errno;
	if (name.ss_family == AF_UNIX) {
		refuse_descriptors(fd);
	} else {
		no_delay(fd);
		keep_alive(fd);
	}
	if (!connect(fd, (struct sockaddr *)&name, size) || errno == EINPROGRESS)
		return fd;
	err = -errno;
	close(fd);
	return err;
}
