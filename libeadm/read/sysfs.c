// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What sysfs tells and netlink does not: the counters that InfiniBand gives
 * every port, where the driver keeps them. And which devices there are, sooner
 * than netlink does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "base/root.h"
#include "counters.h"
#include "source/query.h"
#include "sysfs.h"

/* What counts in words counts in bytes here. */
static const struct {
	const char *name;
	unsigned int scale;
} counters[] = {
	{ "port_xmit_data", 4 }, { "port_rcv_data", 4 },
	{ "port_xmit_packets", 1 }, { "port_rcv_packets", 1 },
	{ "link_downed", 1 }, { "symbol_error", 1 },
	{ "link_error_recovery", 1 }, { "port_rcv_errors", 1 },
	{ "port_rcv_remote_physical_errors", 1 },
	{ "port_rcv_switch_relay_errors", 1 },
	{ "port_rcv_constraint_errors", 1 }, { "port_xmit_discards", 1 },
	{ "port_xmit_constraint_errors", 1 }, { "port_xmit_wait", 1 },
	{ "local_link_integrity_errors", 1 },
	{ "excessive_buffer_overrun_errors", 1 }, { "VL15_dropped", 1 },
	{ "unicast_xmit_packets", 1 }, { "unicast_rcv_packets", 1 },
	{ "multicast_xmit_packets", 1 }, { "multicast_rcv_packets", 1 },
};

static bool is_known(const struct eadm_devices *devices, const char *name)
{
	unsigned int i;

	for (i = 0; i < devices->n; i++) {
		if (!strcmp(devices->dev[i].name, name))
			return true;
	}
	return false;
}

/*
 * Whether there is no RDMA device but the known ones, of which there is one at
 * least. It need not be our network namespace that sysfs shows. But a device
 * belongs to one or to all of them, so who shares one sees the same.
 */
bool eadm_sysfs_shows_no_other(struct eadm_ctx *ctx)
{
	DIR *dir = eadm_root_dir(ctx, "/sys/class/infiniband");
	const struct dirent *entry;
	unsigned int n = 0;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!is_known(&ctx->devices, entry->d_name))
			break;
		n++;
	}
	closedir(dir);
	return !entry && n;
}

/* "port.DEVICE.PORT.COUNTER", from a file of sysfs or a capture. */
int eadm_sysfs_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			bool original, struct eadm_record *rec)
{
	uint64_t port = eadm_record_attr_has(rec, EADM_A_COUNTERS_PORT) ?
		eadm_record_attr_u64(rec, EADM_A_COUNTERS_PORT) : 0;
	const char *text;
	char key[160];
	uint64_t value;
	size_t i;
	int ret;

	for (i = 0; port && i < EADM_ARRAY_SIZE(counters); i++) {
		snprintf(key, sizeof(key), "port.%s.%u.%s", dev->name,
			 (unsigned int)port, counters[i].name);
		text = eadm_source_fact(ctx, key);
		/* A driver keeps them, or it does not. */
		if (!text && !i)
			return 0;
		if (!text || *text < '0' || *text > '9')
			continue;
		value = strtoull(text, NULL, 10);
		if (!original)
			value *= counters[i].scale;
		ret = eadm_counter_put(rec, counters[i].name, value, original,
				       true);
		if (ret)
			return ret;
	}
	return 0;
}
