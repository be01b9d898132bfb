// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Data that only sysfs has: the counters that InfiniBand defines for every port, if the
 * driver maintains them. sysfs also lists devices faster than netlink.
 */
#include <string.h>

#include "eadm_nl.h"
#include "base/root.h"
#include "counters.h"
#include "machine.h"
#include "sysfs.h"

/* Scale 4: the counter is in units of 32 bits in sysfs, but in bytes in our fields. */
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
 * Returns true if there are no RDMA devices besides the known ones, of which there must
 * be at least one. sysfs may show a different network namespace than ours. But a device
 * belongs to one namespace or to all, so namespaces that share a device see the same
 * devices.
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

/* State of reading rows one after the other. */
struct rows {
	const struct eadm_object *object;
	struct eadm_reply reply;
	struct eadm_record row;
};

static int open_rows(struct eadm_ctx *ctx, struct rows *rows,
		     const struct eadm_device *dev, uint64_t port)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_PORT_COUNTER);

	rows->object = &eadm_spec_objects[EADM_SPEC_OBJ_PORT_COUNTER];
	rows->row.extra = NULL;
	rows->row.max_extra = 0;
	eadm_query_arg(&query, EADM_A_PORT_COUNTER_DEV_INDEX, EADM_ARG_U32,
		       dev->index, NULL, false);
	eadm_query_arg(&query, EADM_A_PORT_COUNTER_PORT, EADM_ARG_U32, port,
		       NULL, false);
	return eadm_machine_open(ctx, &query, rows->object, &rows->reply,
				 &rows->row);
}

static void close_rows(struct rows *rows)
{
	eadm_reply_close(&rows->reply);
	eadm_record_release(&rows->row);
}

/* Returns the name of the counter in a row; NULL if the row has none. */
static const char *counter_of(const struct eadm_record *row, uint64_t *value)
{
	if (!eadm_record_attr_has(row, EADM_A_PORT_COUNTER_NAME) ||
	    !eadm_record_attr_has(row, EADM_A_PORT_COUNTER_VALUE))
		return NULL;
	*value = eadm_record_attr_u64(row, EADM_A_PORT_COUNTER_VALUE);
	return row->slot[EADM_A_PORT_COUNTER_NAME - 1].p;
}

/*
 * Put a port's counters; returns their number. Counters are put in the order above,
 * regardless of the order of the rows.
 */
static int port_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			 uint64_t port, bool original, struct eadm_record *rec)
{
	bool there[EADM_ARRAY_SIZE(counters)] = { 0 };
	uint64_t values[EADM_ARRAY_SIZE(counters)], value;
	struct eadm_counters_had had;
	struct rows rows;
	const char *name;
	int ret, n = 0;
	size_t i;

	ret = open_rows(ctx, &rows, dev, port);
	for (; ret > 0; ret = eadm_machine_next(&rows.reply, rows.object,
						&rows.row)) {
		name = counter_of(&rows.row, &value);
		for (i = 0; name && i < EADM_ARRAY_SIZE(counters); i++) {
			if (strcmp(counters[i].name, name) != 0)
				continue;
			there[i] = true;
			values[i] = value;
		}
	}
	close_rows(&rows);
	eadm_counters_mark(rec, &had);
	for (i = 0; !ret && i < EADM_ARRAY_SIZE(counters); i++) {
		if (!there[i])
			continue;
		n++;
		ret = eadm_counter_put(rec, counters[i].name,
				       values[i] * (original ? 1 :
						    counters[i].scale),
				       original, &had);
	}
	return ret ? ret : n;
}

/* Put the device's own counters, in any order; they are added to its first port. */
static int device_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			   bool original, struct eadm_record *rec)
{
	struct eadm_counters_had had;
	const char *name, *kept;
	struct rows rows;
	uint64_t value;
	int ret, n = 0;

	eadm_counters_mark(rec, &had);
	ret = open_rows(ctx, &rows, dev, 0);
	for (; ret > 0; ret = eadm_machine_next(&rows.reply, rows.object,
						&rows.row)) {
		name = counter_of(&rows.row, &value);
		kept = name ? eadm_record_keep(rec, name) : NULL;
		if (!kept)
			continue;
		ret = eadm_counter_put(rec, kept, value, original, &had);
		if (ret)
			break;
		n++;
	}
	close_rows(&rows);
	return ret ? ret : n;
}

/* Add the counters that netlink lacks; returns their number, or a negative errno. */
int eadm_sysfs_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			bool original, struct eadm_record *rec)
{
	uint64_t port = eadm_record_attr_has(rec, EADM_A_COUNTERS_PORT) ?
		eadm_record_attr_u64(rec, EADM_A_COUNTERS_PORT) : 0;
	int ret = 0, more = 0;

	if (port)
		ret = port_counters(ctx, dev, port, original, rec);
	if (ret >= 0 && port == 1)
		more = device_counters(ctx, dev, original, rec);
	if (ret < 0 || more < 0)
		return ret < 0 ? ret : more;
	return ret + more;
}
