// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a client: rdma_connect() waits until the server listens, on all
 * adapters of this machine. perftest connects twice, and its server listens
 * for the second time when it gets there; a client that is first is refused,
 * as everywhere, and crashes in its own retry (version 4.5). And with $EADM_SOURCE,
 * an IPv4 address, it uses the adapter of that, which perftest is told with
 * --source_ip in vain.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIMIT_S		30
#define TCP_LISTEN	0x0a

static unsigned int count_listeners(unsigned int port)
{
	FILE *file = fopen("/proc/net/tcp", "re");
	unsigned int local, state, n = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x", &local, &state) == 2)
			n += local == port && state == TCP_LISTEN;
	if (file)
		fclose(file);
	return n;
}

/* Others do not listen by TCP: the kernel's list has them, a moment too early. */
static unsigned int count_listed(unsigned int port)
{
	FILE *list = popen("rdma resource show cm_id", "re");
	char line[512], end[16];
	unsigned int n = 0;

	snprintf(end, sizeof(end), ":%u ", port);
	while (list && fgets(line, sizeof(line), list))
		n += strstr(line, " state LISTEN ") && strstr(line, end);
	if (list)
		pclose(list);
	return n;
}

static unsigned int count_devices(const char *pattern)
{
	unsigned int n;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

static bool server_listens(unsigned int port)
{
	unsigned int ours = count_devices("/sys/class/infiniband/erdma_*");
	unsigned int all = count_devices("/sys/class/infiniband/*");

	return count_listeners(port) >= ours && (all == ours || count_listed(port) >= all);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int (*real)(struct rdma_cm_id *, struct rdma_conn_param *) =
		dlsym(RTLD_NEXT, "rdma_connect");
	const struct timespec pause = { .tv_nsec = 10000000 };
	time_t end = time(NULL) + LIMIT_S;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	while (!server_listens(ntohs(rdma_get_dst_port(id))) && time(NULL) < end)
		nanosleep(&pause, NULL);
	return real(id, param);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int ms)
{
	int (*real)(struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int) =
		dlsym(RTLD_NEXT, "rdma_resolve_addr");
	struct sockaddr_in source = { .sin_family = AF_INET };
	const char *text = getenv("EADM_SOURCE");

	if (!real || (text && inet_pton(AF_INET, text, &source.sin_addr) != 1)) {
		errno = ENOSYS;
		return -1;
	}
	return real(id, text ? (struct sockaddr *)&source : src, dst, ms);
}
