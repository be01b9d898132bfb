// SPDX-License-Identifier: LGPL-2.1-or-later
/* Data from sysfs about RDMA devices and their network interfaces. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* ---- the row of a device, as available from files ------------------------------- */

static void put_driver(struct eadm_answer *answer, const char *device)
{
	char name[32], bus[32];

	if (!eadm_root_link(answer->ctx, name, sizeof(name),
			    "/sys/class/infiniband/%.64s/device/driver",
			    device))
		return;
	eadm_local_put(answer, EADM_A_DEV_DRIVER, name);
	if (eadm_root_link(answer->ctx, bus, sizeof(bus),
			   "/sys/class/infiniband/%.64s/device", device))
		eadm_local_put(answer, EADM_A_DEV_BUS_ADDR, bus);
}

void eadm_local_device(struct eadm_answer *answer,
		       const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	const char *netdev = eadm_local_name(query, EADM_A_DEV_NETDEV);
	size_t at;

	if (!dev)
		return;
	at = eadm_answer_row(answer, dev);
	if (eadm_local_wants(query, EADM_A_DEV_DRIVER))
		put_driver(answer, dev->name);
	/* One check suffices, because reading any limit requires opening the device. */
	if (eadm_local_wants(query, EADM_A_DEV_MAX_QP))
		eadm_local_limits(answer, dev);
	if (netdev && eadm_local_wants(query, EADM_A_DEV_ADDRESSES))
		eadm_local_addresses(answer, netdev);
	if (eadm_local_wants(query, EADM_A_DEV_LINK_SPEED))
		eadm_local_links(answer, dev, netdev);
	eadm_message_end(&answer->out, at);
}

/* ---- counters of a port --------------------------------------------------------- */

static void put_counter(struct eadm_answer *answer,
			const struct eadm_device *dev, uint32_t port,
			const char *folder, const char *name)
{
	char text[32], *end;
	uint64_t value;
	size_t at;

	if (!eadm_root_line(answer->ctx, text, sizeof(text), "%s/%.63s",
			    folder, name) ||
	    *text < '0' || *text > '9')
		return;
	value = strtoull(text, &end, 10);
	if (*end)
		return;
	at = eadm_answer_row(answer, dev);
	eadm_message_put_u32(&answer->out, EADM_A_PORT_COUNTER_PORT, port);
	eadm_local_put(answer, EADM_A_PORT_COUNTER_NAME, name);
	eadm_local_put_u64(answer, EADM_A_PORT_COUNTER_VALUE, value);
	eadm_message_end(&answer->out, at);
}

/* Port 0 denotes the device itself. */
void eadm_local_counters(struct eadm_answer *answer,
			 const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	const struct eadm_arg *port =
		eadm_local_arg(query, EADM_A_PORT_COUNTER_PORT);
	const struct dirent *entry;
	char folder[160];
	DIR *dir;

	if (!dev || !port)
		return;
	if (port->u)
		snprintf(folder, sizeof(folder),
			 "/sys/class/infiniband/%s/ports/%u/counters",
			 dev->name, (unsigned int)port->u);
	else
		snprintf(folder, sizeof(folder),
			 "/sys/class/infiniband/%s/hw_counters", dev->name);
	dir = eadm_root_dir(answer->ctx, folder);
	while (dir && (entry = readdir(dir))) {
		/*
		 * "lifespan" is not a counter, but how long the driver caches values.
		 */
		if (entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, "lifespan") != 0)
			put_counter(answer, dev, port->u, folder,
				    entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* ---- setup ----------------------------------------------------------------------- */

static bool is_node_of(const struct eadm_ctx *ctx, const char *node,
		       const char *device)
{
	char name[64];

	return *node &&
	       eadm_root_line(ctx, name, sizeof(name),
			      "/sys/class/infiniband_verbs/%.63s/ibdev", node) &&
	       !strcmp(name, device);
}

/* Only the nodes refer to devices, so read all nodes once for all devices. */
static void find_nodes(struct eadm_ctx *ctx)
{
	DIR *dir = eadm_root_dir(ctx, "/sys/class/infiniband_verbs");
	const struct dirent *entry;
	struct eadm_device *dev;
	char name[64];

	while (dir && (entry = readdir(dir))) {
		/* The folder also contains other files, such as the ABI version. */
		if (strncmp(entry->d_name, "uverbs", strlen("uverbs")) != 0 ||
		    !eadm_root_line(ctx, name, sizeof(name),
				    "/sys/class/infiniband_verbs/%.63s/ibdev",
				    entry->d_name))
			continue;
		for (dev = ctx->devices.dev;
		     dev < ctx->devices.dev + ctx->devices.n; dev++) {
			if (!strcmp(dev->name, name))
				snprintf(dev->node, sizeof(dev->node), "%.31s",
					 entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
}

/* An open file prevents the driver from being unloaded, so open it only if requested. */
static void put_uverbs(struct eadm_answer *answer, const struct eadm_device *dev,
		       bool open)
{
	const char *node = dev->node;

	if (!is_node_of(answer->ctx, node, dev->name)) {
		find_nodes(answer->ctx);
		if (!is_node_of(answer->ctx, node, dev->name))
			node = "";
	}
	eadm_local_put(answer, EADM_A_SETUP_UVERBS, node);
	if (*node && open)
		eadm_local_put_access(answer, EADM_A_SETUP_UVERBS_ERROR, node,
				      "infiniband_verbs");
}

static void put_iommu(struct eadm_answer *answer, const char *device)
{
	char type[32] = "";

	eadm_root_line(answer->ctx, type, sizeof(type),
		       "/sys/class/infiniband/%.64s/device/iommu_group/type",
		       device);
	eadm_local_put(answer, EADM_A_SETUP_IOMMU, type);
}

/* A link-local address cannot be used for connections to a different network. */
static bool is_global(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return addr->sa_family == AF_INET6 &&
	       !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

/*
 * For every protocol, rdma_cm treats a VLAN's address as an address of the interface
 * below it.
 */
static bool is_vlan_of(const struct eadm_ctx *ctx, const char *name,
		       const char *netdev)
{
	char type[32];

	return !eadm_root_access(ctx, F_OK, "/sys/class/net/%.16s/lower_%.16s",
				 name, netdev) &&
	       eadm_root_line(ctx, type, sizeof(type),
			      "/sys/class/net/%.16s/uevent", name) &&
	       !strcmp(type, "DEVTYPE=vlan");
}

static void put_vlan(struct eadm_answer *answer, const struct ifaddrs *all,
		     const char *netdev)
{
	const struct ifaddrs *one;
	char name[IFNAMSIZ];

	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || (one->ifa_addr->sa_family != AF_INET &&
				       !is_global(one->ifa_addr)))
			continue;
		eadm_local_interface(one, name);
		if (is_vlan_of(answer->ctx, name, netdev))
			break;
	}
	eadm_local_put(answer, EADM_A_SETUP_ADDRESS_VLAN, one ? name : "");
}

/*
 * Put fields about the interface's IPv4 and IPv6 addresses, and the other interfaces in
 * its subnet.
 */
static void put_addresses(struct eadm_answer *answer, const char *netdev,
			  bool subnet)
{
	bool ipv4 = false, ipv6 = false;
	struct ifaddrs *all = eadm_local_interfaces(answer->ctx), *one;

	if (!all)
		return;
	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || !eadm_local_is_of(one, netdev))
			continue;
		ipv4 |= one->ifa_addr->sa_family == AF_INET;
		ipv6 |= is_global(one->ifa_addr) &&
			!(one->ifa_flags & EADM_IFA_DUPLICATE);
	}
	if (subnet)
		eadm_local_subnet(answer, all, netdev);
	if (!ipv4 && !ipv6)
		put_vlan(answer, all, netdev);
	freeifaddrs(all);
	eadm_message_put_u32(&answer->out, EADM_A_SETUP_NETDEV_IPV4, ipv4);
	eadm_message_put_u32(&answer->out, EADM_A_SETUP_NETDEV_IPV6, ipv6);
}

static void put_bond(struct eadm_answer *answer, const char *netdev)
{
	char state[16], bond[IFNAMSIZ] = "";

	/* Members of other kinds of interfaces, such as bridges, have no such state. */
	if (!eadm_root_line(answer->ctx, state, sizeof(state),
			    "/sys/class/net/%.64s/bonding_slave/state", netdev))
		*state = '\0';
	else
		eadm_root_link(answer->ctx, bond, sizeof(bond),
			       "/sys/class/net/%.64s/master", netdev);
	eadm_local_put(answer, EADM_A_SETUP_BOND, bond);
	if (*bond)
		eadm_message_put_u32(&answer->out, EADM_A_SETUP_BOND_STANDBY,
				     !strcmp(state, "backup"));
}

static void put_netdev(struct eadm_answer *answer, const char *netdev,
		       bool subnet)
{
	char mtu[16] = "";

	eadm_local_put(answer, EADM_A_SETUP_NETDEV, netdev);
	eadm_root_line(answer->ctx, mtu, sizeof(mtu), "/sys/class/net/%.64s/mtu",
		       netdev);
	eadm_local_put_number(answer, EADM_A_SETUP_NETDEV_MTU, mtu);
	put_addresses(answer, netdev, subnet);
	put_bond(answer, netdev);
}

/*
 * Puts the hexadecimal number in a file below the auxiliary bus or, on kernels without
 * such a bus, below eadm's own bus.
 */
static bool put_interface(struct eadm_answer *answer, uint16_t attr,
			  const char *below)
{
	const char *root = answer->ctx->root;
	char text[16] = "", *end = text;
	unsigned long number = 0;
	glob_t found;

	eadm_root_glob(answer->ctx, 0, &found, "/sys/bus/*aux*/%s/interface",
		       below);
	if (found.gl_pathc &&
	    eadm_root_line(answer->ctx, text, sizeof(text), "%s",
			   found.gl_pathv[0] + (root ? strlen(root) : 0)))
		number = strtoul(text, &end, 16);
	globfree(&found);
	if (end == text || *end || number > UINT32_MAX)
		return false;
	eadm_message_put_u32(&answer->out, attr, number);
	return true;
}

static void put_interfaces(struct eadm_answer *answer,
			   const struct eadm_device *dev)
{
	char below[40];

	snprintf(below, sizeof(below), "devices/*.diag2.%u", dev->index);
	if (put_interface(answer, EADM_A_SETUP_DRIVER_INTERFACE, below))
		put_interface(answer, EADM_A_SETUP_COMPANION_INTERFACE,
			      "drivers/eadm");
}

/* The caller takes the network interface from the device's row. */
void eadm_local_setup(struct eadm_answer *answer,
		      const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	const char *netdev = eadm_local_name(query, EADM_A_SETUP_NETDEV);
	size_t at;

	if (!dev)
		return;
	at = eadm_answer_row(answer, dev);
	if (eadm_local_wants(query, EADM_A_SETUP_UVERBS))
		put_uverbs(answer, dev,
			   eadm_local_wants(query, EADM_A_SETUP_UVERBS_ERROR));
	if (eadm_local_wants(query, EADM_A_SETUP_GID))
		eadm_local_chosen_gid(answer, dev);
	if (eadm_local_wants(query, EADM_A_SETUP_IOMMU))
		put_iommu(answer, dev->name);
	if (eadm_local_wants(query, EADM_A_SETUP_DRIVER_INTERFACE))
		put_interfaces(answer, dev);
	if (netdev)
		put_netdev(answer, netdev,
			   eadm_local_wants(query, EADM_A_SETUP_SUBNET));
	eadm_message_end(&answer->out, at);
}
