// SPDX-License-Identifier: LGPL-2.1-or-later
/* What sysfs shows of RDMA devices. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "facts.h"

#define MAX_GIDS 16

bool eadm_fact_access(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	int ret = eadm_root_access(ctx, R_OK | W_OK, "/dev/infiniband/%.64s",
				   name);

	snprintf(buf, size, "%d", ret ? errno : 0);
	return true;
}

bool eadm_fact_bus(const struct eadm_ctx *ctx, const char *name, char *buf,
		   size_t size)
{
	return eadm_root_link(ctx, buf, size,
			      "/sys/class/infiniband/%.64s/device", name);
}

bool eadm_fact_driver(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	return eadm_root_link(ctx, buf, size,
			      "/sys/class/infiniband/%.64s/device/driver",
			      name);
}

/* The first GID that is one. */
bool eadm_fact_gid(const struct eadm_ctx *ctx, const char *name, char *buf,
		   size_t size)
{
	char gid[64];
	int i;

	for (i = 0; i < MAX_GIDS; i++) {
		if (eadm_root_line(ctx, gid, sizeof(gid),
				   "/sys/class/infiniband/%.64s/ports/1/gids/%d",
				   name, i) &&
		    gid[strspn(gid, "0:")]) {
			snprintf(buf, size, "%d %s", i, gid);
			break;
		}
	}
	return true;
}

/* DEVICE.PORT.COUNTER; the name of a device may have dots in it. */
bool eadm_fact_port(const struct eadm_ctx *ctx, const char *name, char *buf,
		    size_t size)
{
	const char *counter = strrchr(name, '.'), *port = counter;

	while (port > name && *--port != '.')
		;
	if (!counter || port == name)
		return false;
	return eadm_root_line(
		ctx, buf, size,
		"/sys/class/infiniband/%.*s/ports/%.*s/counters/%.64s",
		(int)(port - name), name, (int)(counter - port - 1), port + 1,
		counter + 1);
}

bool eadm_fact_uverbs(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	DIR *dir = eadm_root_dir(ctx, "/sys/class/infiniband_verbs");
	const struct dirent *entry;
	char device[64];

	while (dir && !*buf && (entry = readdir(dir))) {
		if (eadm_root_line(ctx, device, sizeof(device),
				   "/sys/class/infiniband_verbs/%.64s/ibdev",
				   entry->d_name) &&
		    !strcmp(device, name))
			snprintf(buf, size, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return true;
}
