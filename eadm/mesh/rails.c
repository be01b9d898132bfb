// SPDX-License-Identifier: GPL-2.0-or-later
#include "rails.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "managed.h"

static int by_name(const void *a, const void *b)
{
	const struct rail *x = a, *y = b;

	return strverscmp(x->adapter.device, y->adapter.device);
}

/* Collect the names first: a dump during another dump would need a second socket. */
static void list_devices(struct test *test, struct rails *rails)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *name = eadm_object_find_field(object, "dev-name");
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = test->cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	const char *text;
	int ret = eadm_dump_open(test->cli->ctx, object, &opts, &dump);

	if (ret) {
		snprintf(rails->why, sizeof(rails->why), "devices: %s",
			 strerror(-ret));
		return;
	}
	while (rails->n < MESH_MAX_RAILS && eadm_dump_next(dump, &record) > 0) {
		text = eadm_record_string(record, name);
		if (!text)
			continue;
		snprintf(rails->rail[rails->n].adapter.device,
			 sizeof(rails->rail[0].adapter.device), "%s", text);
		rails->n++;
	}
	eadm_dump_close(dump);
	if (!rails->n)
		snprintf(rails->why, sizeof(rails->why), "no RDMA device found");
}

/* ---- adapters that need rdma_cm ------------------------------------------------------ */

/*
 * Takes an IPv4 address if there is one, otherwise an IPv6 address that is not
 * link-local. Returns true to end the search.
 */
static bool take_address(const struct sockaddr *addr, union ibv_gid *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET) {
		memset(address, 0, sizeof(*address));
		memset(&address->raw[10], 0xff, 2);
		memcpy(&address->raw[12], &in->sin_addr, 4);
		return true;
	}
	if (addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
	    !address->global.interface_id)
		memcpy(address, &in6->sin6_addr, sizeof(*address));
	return false;
}

static void find_address(const char *netdev, union ibv_gid *address)
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all))
		return;
	for (i = all; i; i = i->ifa_next) {
		if (i->ifa_addr && !strcmp(i->ifa_name, netdev) &&
		    take_address(i->ifa_addr, address))
			break;
	}
	freeifaddrs(all);
}

static void use_cm(struct test *test, struct rail *rail)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field = eadm_object_find_field(object, "netdev");
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = rail->adapter.device,
	};
	const struct eadm_record *record;
	const char *missing = managed_open(), *netdev = NULL;
	struct eadm_dump *dump;

	rail->why[0] = '\0';
	if (missing) {
		snprintf(rail->why, sizeof(rail->why),
			 "%s: not installed (package librdmacm1)", missing);
		return;
	}
	if (eadm_dump_open(test->cli->ctx, object, &opts, &dump))
		return;
	if (eadm_dump_next(dump, &record) > 0)
		netdev = eadm_record_string(record, field);
	if (netdev)
		find_address(netdev, &rail->address);
	if (!rail->address.global.interface_id)
		snprintf(rail->why, sizeof(rail->why), "%s has no IP address",
			 netdev ? netdev : rail->adapter.device);
	eadm_dump_close(dump);
}

/* ---- all adapters -------------------------------------------------------------------- */

/* Report an inactive port instead: it may have lost its GIDs as a consequence. */
static void check_port(struct test *test, struct rail *rail)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field = eadm_object_find_field(object, "port-state");
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = rail->adapter.device,
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	bool active = true;
	const char *name;
	uint64_t state;

	if (eadm_dump_open(test->cli->ctx, object, &opts, &dump))
		return;
	if (eadm_dump_next(dump, &record) > 0 &&
	    !eadm_record_u64(record, field, &state)) {
		name = eadm_field_value_name(field, state);
		active = !name || !strcmp(name, "active");
	}
	eadm_dump_close(dump);
	if (!active)
		snprintf(rail->why, sizeof(rail->why),
			 "the port of %s is not active", rail->adapter.device);
}

void rails_find(struct test *test, struct rails *rails)
{
	static const struct sockaddr_storage any;
	const char *missing = verbs_open();
	char device[IBV_SYSFS_NAME_MAX];
	struct rail *rail;
	unsigned int i;

	memset(rails, 0, sizeof(*rails));
	if (missing) {
		snprintf(rails->why, sizeof(rails->why),
			 "%s: not installed (package libibverbs1)", missing);
		return;
	}
	list_devices(test, rails);
	qsort(rails->rail, rails->n, sizeof(rails->rail[0]), by_name);
	for (i = 0; i < rails->n; i++) {
		rail = &rails->rail[i];
		strcpy(device, rail->adapter.device);
		if (!adapter_choose_of(test, device, &any, &rail->adapter,
				       rail->why))
			rail->why[0] = '\0';
		else if (rail->adapter.needs_cm)
			use_cm(test, rail);
		strcpy(rail->adapter.device, device);
		if (rail->why[0])
			check_port(test, rail);
	}
}
