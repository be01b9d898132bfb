// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Settings in the environment of a process that name only devices, GIDs or network
 * interfaces that do not exist. Lists that contain patterns are not checked, and only
 * the environment with which the program was started is visible.
 */
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "gids.h"
#include "local.h"

#define DEVICES	"/sys/class/infiniband"
#define MAX_VALUE 96

enum { DEVICE = 1, INTERFACE = 2, GID = 4 };

static const struct setting {
	const char *name;
	unsigned char of;	/* kind of names in the setting */
	bool prefix;		/* names are prefixes, unless after "=" */
} settings[] = {
	{ "NCCL_IB_HCA", DEVICE, true },
	{ "NCCL_IB_GID_INDEX", GID, false },
	{ "NCCL_SOCKET_IFNAME", INTERFACE, true },
	{ "GLOO_SOCKET_IFNAME", INTERFACE, false },
	{ "UCX_NET_DEVICES", DEVICE | INTERFACE, false },
	{ "UCX_IB_GID_INDEX", GID, false },
	{ "FI_VERBS_DEVICE_NAME", DEVICE, true },
	{ "FI_VERBS_IFACE", INTERFACE, true },
};

/*
 * ---- existing names ----------------------------------------------------------------
 */

static bool is_named(const char *name, const char *item, size_t len, bool prefix)
{
	return !strncmp(name, item, len) && (prefix || !name[len]);
}

static bool has_device(const struct eadm_ctx *ctx, const char *item, size_t len,
		       bool prefix)
{
	DIR *dir = eadm_root_dir(ctx, DEVICES);
	const struct dirent *entry;
	bool found = !dir;	/* unknown */

	while (!found && (entry = readdir(dir)))
		found = *entry->d_name != '.' &&
			is_named(entry->d_name, item, len, prefix);
	if (dir)
		closedir(dir);
	return found;
}

static bool has_interface(const char *item, size_t len, bool prefix)
{
	struct if_nameindex *all = if_nameindex(), *one;
	bool found = !all;

	for (one = all; one && one->if_name && !found; one++)
		found = is_named(one->if_name, item, len, prefix);
	if (all)
		if_freenameindex(all);
	return found;
}

/*
 * Returns true if a RoCE device has a GID of this network namespace at index @value, or
 * if there is no RoCE device.
 */
static bool has_gid(struct eadm_ctx *ctx, const char *value)
{
	unsigned long index = strtoul(value, NULL, 10);
	DIR *dir = eadm_root_dir(ctx, DEVICES);
	const struct dirent *entry;
	bool found = false, roce = false;
	int use;

	while (dir && !found && (entry = readdir(dir))) {
		if (*entry->d_name == '.' ||
		    !eadm_local_is_roce(ctx, entry->d_name, 1))
			continue;
		roce = true;
		use = eadm_local_gid_use(ctx, entry->d_name, index);
		found = use >= 0 && use != EADM_GID_USE_OTHER_NETNS;
	}
	if (dir)
		closedir(dir);
	return found || !roce;
}

/*
 * ---- settings ----------------------------------------------------------------------
 */

static bool names_one(const struct eadm_ctx *ctx, const struct setting *setting,
		      const char *list)
{
	bool prefix = setting->prefix;
	size_t len;

	if (*list == '=') {
		prefix = false;
		list++;
	}
	for (; *list; list += list[0] == ',') {
		len = strcspn(list, ",:");
		if (len && ((setting->of & DEVICE &&
			     has_device(ctx, list, len, prefix)) ||
			    (setting->of & INTERFACE &&
			     has_interface(list, len, prefix))))
			return true;
		/* A port follows the colon. */
		list += strcspn(list, ",");
	}
	return false;
}

/*
 * Returns true for a plain list of names, without patterns and without "^" before
 * excluded names.
 */
static bool is_list(const char *value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-,:";

	value += *value == '=';
	return *value && strlen(value) < MAX_VALUE &&
	       !value[strspn(value, letters)] && strcmp(value, "all") != 0;
}

static bool is_matched(struct eadm_ctx *ctx, const struct setting *setting,
		       const char *value)
{
	size_t digits = strspn(value, "0123456789");

	if (setting->of == GID)
		return !digits || digits > 9 || value[digits] ||
		       has_gid(ctx, value);
	return !is_list(value) || names_one(ctx, setting, value);
}

/* If NCCL does not use RDMA, its selection settings have no effect. */
static bool is_off(FILE *file)
{
	char *variable = NULL;
	bool off = false;
	size_t room = 0;

	while (!off && getdelim(&variable, &room, '\0', file) > 0)
		off = !strcmp(variable, "NCCL_IB_DISABLE=1");
	free(variable);
	rewind(file);
	return off;
}

static void judge(struct eadm_ctx *ctx, const char *variable, char *buf,
		  size_t size)
{
	const struct setting *setting;
	size_t len;

	for (setting = settings;
	     setting < settings + EADM_ARRAY_SIZE(settings); setting++) {
		len = strlen(setting->name);
		if (!strncmp(variable, setting->name, len) &&
		    variable[len] == '=' &&
		    !is_matched(ctx, setting, variable + len + 1))
			eadm_local_add_word(buf, size, variable,
					    strlen(variable));
	}
}

/* Other network namespaces have their own interfaces and GIDs. */
static bool is_elsewhere(const struct eadm_ctx *ctx, const char *pid)
{
	char own[64], its[64];

	return !eadm_root_link(ctx, own, sizeof(own), "/proc/self/ns/net") ||
	       !eadm_root_link(ctx, its, sizeof(its), "/proc/%.16s/ns/net", pid) ||
	       strcmp(own, its) != 0;
}

/*
 * Writes the settings without a match, as in "NAME=VALUE NAME=VALUE"; returns false if
 * unknown.
 */
bool eadm_local_unmatched(struct eadm_ctx *ctx, const char *pid, char *buf,
			  size_t size)
{
	int fd = is_elsewhere(ctx, pid) ? -1 :
		 eadm_root_open(ctx, O_RDONLY, "/proc/%.16s/environ", pid);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *variable = NULL;
	size_t room = 0;
	bool off;

	*buf = '\0';
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	off = is_off(file);
	while (getdelim(&variable, &room, '\0', file) > 0) {
		if (!off || strncmp(variable, "NCCL_IB_", strlen("NCCL_IB_")) != 0)
			judge(ctx, variable, buf, size);
	}
	free(variable);
	fclose(file);
	return true;
}
