// SPDX-License-Identifier: GPL-2.0-or-later
#include "adapter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Suitability of a GID, in ascending order. */
enum { UNUSABLE, WANTED, LINK_LOCAL, ROCE_V1, GOOD, BEST, SAME_ADDRESS };

struct fields {
	const struct eadm_field *device, *port, *index, *gid, *type, *netdev;
	const struct eadm_field *scope, *usable;
};

struct search {
	const struct test *test;
	struct in6_addr local;	/* as a GID; zero: any */
	struct adapter best;
	int rank;
	unsigned int n;
};

static void find_fields(struct fields *f)
{
	const struct eadm_object *object = eadm_object_find("gid");

	f->device = eadm_object_find_field(object, "dev-name");
	f->port = eadm_object_find_field(object, "port");
	f->index = eadm_object_find_field(object, "gid-index");
	f->gid = eadm_object_find_field(object, "gid");
	f->type = eadm_object_find_field(object, "type");
	f->netdev = eadm_object_find_field(object, "netdev");
	f->scope = eadm_object_find_field(object, "scope");
	f->usable = eadm_object_find_field(object, "usable");
}

/* In RoCE, the GID of an IPv4 address is the IPv4-mapped IPv6 address. */
static struct in6_addr as_gid(const struct sockaddr *addr)
{
	struct in6_addr gid = { 0 };

	if (addr->sa_family == AF_INET6)
		return ((const struct sockaddr_in6 *)addr)->sin6_addr;
	if (addr->sa_family != AF_INET)
		return gid;
	gid.s6_addr[10] = 0xff;
	gid.s6_addr[11] = 0xff;
	memcpy(&gid.s6_addr[12], &((const struct sockaddr_in *)addr)->sin_addr, 4);
	return gid;
}

/* The kernel uses the same word for RoCE v1 and for all links other than Ethernet. */
static uint8_t roce_version(const char *type, const char *netdev)
{
	if (!type || !netdev || !*netdev)
		return 0;
	return strstr(type, "RoCE v2") ? 2 : 1;
}

static const char *name_of(const struct eadm_record *record,
			   const struct eadm_field *field)
{
	const char *name = NULL;
	uint64_t value;

	if (!eadm_record_u64(record, field, &value))
		name = eadm_field_value_name(field, value);
	return name ? name : "";
}

static int rank_of(const struct search *s, const struct fields *f,
		   const struct adapter *a, const struct eadm_record *record)
{
	const char *usable = name_of(record, f->usable);
	bool best = !strcmp(usable, "best");

	if (s->test->has_gid_index)
		return a->gid_index == s->test->gid_index ? WANTED : UNUSABLE;
	if (!best && strcmp(usable, "yes") != 0 && strcmp(usable, "same-link") != 0)
		return UNUSABLE;
	if (a->roce == 1)
		return ROCE_V1;
	if (!IN6_IS_ADDR_UNSPECIFIED(&s->local) &&
	    !memcmp(&a->gid, &s->local, sizeof(s->local)))
		return SAME_ADDRESS;
	if (!strcmp(name_of(record, f->scope), "link-local"))
		return LINK_LOCAL;
	return best ? BEST : GOOD;
}

static void consider(struct search *s, const struct fields *f,
		     const struct eadm_record *record)
{
	const char *netdev = eadm_record_string(record, f->netdev);
	const char *name = eadm_record_string(record, f->device);
	struct adapter a = { 0 };
	uint64_t port = 0, index = 0;
	size_t len = 0;
	const void *gid;
	int rank;

	gid = eadm_record_bytes(record, f->gid, &len);
	if (!name || !gid || len != sizeof(a.gid) ||
	    eadm_record_u64(record, f->port, &port) ||
	    eadm_record_u64(record, f->index, &index))
		return;
	snprintf(a.device, sizeof(a.device), "%s", name);
	memcpy(&a.gid, gid, sizeof(a.gid));
	a.port = port;
	a.gid_index = index;
	a.roce = roce_version(eadm_record_string(record, f->type), netdev);
	s->n++;
	rank = rank_of(s, f, &a, record);
	if (rank <= s->rank)
		return;
	s->rank = rank;
	s->best = a;
}

/* Find the driver's own queue pair type, if it has one. */
static void find_driver_qp(const struct test *test, struct adapter *adapter)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *driver = eadm_object_find_field(object, "driver");
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = adapter->device,
	};
	const struct eadm_family *family = NULL;
	const struct eadm_record *record;
	struct eadm_dump *dump;

	if (eadm_dump_open(test->cli->ctx, object, &opts, &dump))
		return;
	if (eadm_dump_next(dump, &record) > 0)
		family = eadm_family_find(eadm_record_string(record, driver));
	eadm_dump_close(dump);
	if (family)
		adapter->driver = driver_qp_of(eadm_family_name(family));
}

/*
 * Only the connection manager can connect adapters that run over TCP. A device that
 * libibverbs does not list is reported when it is opened.
 */
static bool needs_cm(const struct adapter *adapter)
{
	struct ibv_device **list = verbs.ibv_get_device_list(NULL);
	enum ibv_transport_type type = IBV_TRANSPORT_IB;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(list[i]->name, adapter->device))
			type = list[i]->transport_type;
	}
	if (list)
		verbs.ibv_free_device_list(list);
	return !adapter->driver && type != IBV_TRANSPORT_IB;
}

int adapter_choose(const struct test *test, const struct sockaddr_storage *local,
		   struct adapter *adapter, char *why)
{
	return adapter_choose_of(test, test->cli->args.opt[OPT_DEVICE], local,
				 adapter, why);
}

int adapter_choose_of(const struct test *test, const char *device,
		      const struct sockaddr_storage *local,
		      struct adapter *adapter, char *why)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts), .device = device };
	struct search s = {
		.test = test, .local = as_gid((const struct sockaddr *)local),
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	struct fields f;
	int ret;

	find_fields(&f);
	ret = eadm_dump_open(test->cli->ctx, eadm_object_find("gid"), &opts, &dump);
	if (ret) {
		snprintf(why, MAX_WHY, "reading the GIDs failed: %s", strerror(-ret));
		return STATUS_FAILED;
	}
	while (eadm_dump_next(dump, &record) > 0)
		consider(&s, &f, record);
	eadm_dump_close(dump);
	*adapter = s.best;
	if (s.rank) {
		find_driver_qp(test, adapter);
		adapter->needs_cm = needs_cm(adapter);
		if (!adapter->needs_cm)
			return STATUS_OK;
		snprintf(why, MAX_WHY, "connections over %s require rdma_cm",
			 adapter->device);
		return STATUS_UNSUPPORTED;
	}
	if (!s.n)
		snprintf(why, MAX_WHY, "no port has a GID (see 'eadm check')");
	else if (test->has_gid_index)
		snprintf(why, MAX_WHY, "GID index %llu is empty (see 'eadm dump gid')",
			 (unsigned long long)test->gid_index);
	else
		snprintf(why, MAX_WHY, "no GID belongs to an interface of this network namespace (see 'eadm dump gid')");
	return STATUS_NOT_FOUND;
}

const char *adapter_type(const struct adapter *adapter)
{
	return adapter->ud ? "UD" : adapter->driver ? adapter->driver->type : "RC";
}
