// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of each device and its network interface. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Its driver should show all of it, and does not: it is not to pass for well. */
static bool is_hidden(const struct audit_device *dev)
{
	const struct eadm_family *family = eadm_family_find(dev->driver);

	return family && eadm_family_has_companion(family) && !dev->companion;
}

static const char *see(const struct audit_device *dev, char *buf, size_t size)
{
	snprintf(buf, size,
		 "modprobe eadm, with the %s.ko that comes with it: modinfo %s",
		 dev->driver, dev->driver);
	return buf;
}

static void unseen(struct audit *a, const struct audit_device *dev,
		   const char *what)
{
	char remedy[160];

	if (is_hidden(dev))
		tell(a, CHECK_UNSEEN, dev, see(dev, remedy, sizeof(remedy)),
		     "%s cannot be seen", what);
}

static void check_hidden(struct audit *a, const struct audit_device *dev)
{
	char remedy[160];

	see(dev, remedy, sizeof(remedy));
	if (eadm_fact(a->cli->ctx, "module.eadm"))
		tell(a, CHECK_WARN, dev, remedy,
		     "driver %s, but not eadm's: it does not support the companion module",
		     dev->driver);
	else
		tell(a, CHECK_UNSEEN, dev, remedy,
		     "driver %s; its origin and firmware cannot be seen",
		     dev->driver);
}

static void check_driver(struct audit *a, const struct audit_device *dev)
{
	const char *driver = dev->driver, *version;
	char key[80], name[64];

	if (is_hidden(dev)) {
		check_hidden(a, dev);
		return;
	}
	if (!*driver) {
		snprintf(key, sizeof(key), "driver.%s", dev->name);
		driver = eadm_fact(a->cli->ctx, key);
		if (!driver)
			return;
	}
	snprintf(name, sizeof(name), "%s", driver);
	snprintf(key, sizeof(key), "module.%s", name);
	version = eadm_fact(a->cli->ctx, key);
	tell(a, CHECK_OK, dev, NULL, "driver %s%s%s%s%s", name,
	     version && *version ? " " : "", version ? version : "",
	     *dev->fw ? ", firmware " : "", dev->fw);
}

static void check_netdev(struct audit *a, const struct audit_device *dev)
{
	char remedy[160];

	if (!*dev->netdev)
		tell(a, CHECK_FAIL, dev,
		     "find the network interface with the adapter's MAC address",
		     "no network interface belongs to it");
	else if (*dev->mac && *dev->netdev_mac &&
		 strcmp(dev->mac, dev->netdev_mac))
		tell(a, CHECK_FAIL, dev,
		     "ip link set INTERFACE address with the adapter's",
		     "%s uses %s, the adapter belongs to %s", dev->netdev,
		     dev->netdev_mac, dev->mac);
	else if (is_hidden(dev))
		tell(a, CHECK_UNSEEN, dev, see(dev, remedy, sizeof(remedy)),
		     "belongs to %s; whether their MAC addresses agree cannot be seen",
		     dev->netdev);
	else
		tell(a, CHECK_OK, dev, NULL, "belongs to %s%s%s", dev->netdev,
		     *dev->mac ? ", " : "", dev->mac);
}

static void check_port(struct audit *a, const struct audit_device *dev)
{
	if (!dev->port_known) {
		unseen(a, dev, "the state of the port");
		return;
	}
	if (dev->port_down)
		tell(a, CHECK_FAIL, dev, "ip link set INTERFACE up",
		     "the port is down");
	else
		tell(a, CHECK_OK, dev, NULL, "the port is not down");
}

static void check_mtu(struct audit *a, const struct audit_device *dev)
{
	char line[32];
	uint64_t mtu = dev->mtu, other;
	unsigned int i;

	if (!mtu && *dev->netdev &&
	    machine_fact(a, line, sizeof(line), "mtu.%s", dev->netdev))
		mtu = strtoull(line, NULL, 10);
	if (!mtu)
		return;
	for (i = 0; i < a->n; i++) {
		other = a->devices[i].mtu;
		if (other && dev->mtu && other > mtu)
			break;
	}
	if (mtu < 1280)
		tell(a, CHECK_WARN, dev, "ip link set INTERFACE mtu 1500",
		     "an MTU of %" PRIu64 " is too small for good performance", mtu);
	else if (i < a->n)
		tell(a, CHECK_WARN, dev,
		     "give all interfaces of a network the same MTU",
		     "an MTU of %" PRIu64 ", but %s has %" PRIu64, mtu,
		     a->devices[i].name, a->devices[i].mtu);
	else
		tell(a, CHECK_OK, dev, NULL, "an MTU of %" PRIu64, mtu);
}

static void check_gid(struct audit *a, const struct audit_device *dev)
{
	char gid[64], *value;

	if (!machine_fact(a, gid, sizeof(gid), "gid.%s", dev->name))
		return;
	value = strchr(gid, ' ');
	if (value)
		tell(a, CHECK_OK, dev, NULL, "GID %.*s is %s",
		     (int)(value - gid), gid, value + 1);
	else
		tell(a, CHECK_FAIL, dev,
		     "give the network interface an address and set it up",
		     "the port has no GID");
}

/* Connections are made by IP address. */
static void check_address(struct audit *a, const struct audit_device *dev)
{
	char found[8];

	if (!*dev->netdev ||
	    !machine_fact(a, found, sizeof(found), "ipv4.%s", dev->netdev) ||
	    !*found)
		return;
	if (!strcmp(found, "yes"))
		tell(a, CHECK_OK, dev, NULL, "%s has an IPv4 address",
		     dev->netdev);
	else
		tell(a, CHECK_WARN, dev, "ip address add ADDRESS dev INTERFACE",
		     "%s has no IPv4 address in this network namespace: no connections by rdma_cm",
		     dev->netdev);
}

static void check_uverbs(struct audit *a, const struct audit_device *dev)
{
	char name[64], error[16];

	if (!machine_fact(a, name, sizeof(name), "uverbs.%s", dev->name))
		return;
	if (!*name)
		tell(a, CHECK_WARN, dev, "modprobe ib_uverbs",
		     "no verbs device: processes cannot use it");
	else if (!machine_fact(a, error, sizeof(error), "access.%s", name))
		return;
	else if (strcmp(error, "0"))
		tell(a, CHECK_WARN, dev,
		     "a udev rule, the group that owns the file, or --device for containers",
		     "/dev/infiniband/%s: %s", name, strerror(atoi(error)));
	else
		tell(a, CHECK_OK, dev, NULL,
		     "/dev/infiniband/%s can be opened", name);
}

static void check_vectors(struct audit *a, const struct audit_device *dev)
{
	const struct eadm_family *family = eadm_family_find(dev->driver);
	uint64_t wanted, have, cpus, max;
	char number[24];

	if (!dev->vectors) {
		unseen(a, dev, "how many interrupt vectors it has");
		return;
	}
	have = dev->vectors - 1;
	if (!machine_fact(a, number, sizeof(number), "cpus")) {
		tell(a, have ? CHECK_OK : CHECK_FAIL, dev,
		     "an instance type with more interrupt vectors",
		     "%" PRIu64 " vectors for completions", have);
		return;
	}
	cpus = strtoull(number, NULL, 10);
	/* No adapter of the family has more. */
	max = family ? eadm_family_vectors(family) : 0;
	wanted = max && max < cpus ? max : cpus;
	tell(a, !have ? CHECK_FAIL : have < wanted ? CHECK_WARN : CHECK_OK,
	     dev, "an instance type with more interrupt vectors",
	     "%" PRIu64 " vectors for completions, %" PRIu64 " CPUs", have,
	     cpus);
}

/* Completion vectors that all interrupt one CPU make it the bottleneck. */
static void check_affinity(struct audit *a, const struct audit_device *dev)
{
	char first[64] = "", line[64];
	unsigned int i, known = 0;
	bool spread = false;

	if (!machine_fact(a, line, sizeof(line), "cpus") ||
	    strtoull(line, NULL, 10) < 2)
		return;
	if (!dev->n_irqs)
		unseen(a, dev, "which CPUs its interrupts go to");
	/* The first two queues share the vector for commands. */
	for (i = 2; i < dev->n_irqs; i++) {
		machine_fact(a, line, sizeof(line), "affinity.%" PRIu64,
			     dev->irqs[i]);
		if (!*line)
			continue;
		if (!known++)
			snprintf(first, sizeof(first), "%s", line);
		else if (strcmp(first, line))
			spread = true;
	}
	if (known < 2)
		return;
	if (spread)
		tell(a, CHECK_OK, dev, NULL,
		     "%u completion interrupts on different CPUs", known);
	else
		tell(a, CHECK_WARN, dev,
		     "write other CPUs to /proc/irq/NUMBER/smp_affinity_list, or let irqbalance do it",
		     "all %u completion interrupts go to CPU %s", known,
		     first);
}

static void check_iommu(struct audit *a, const struct audit_device *dev)
{
	char type[32];

	if (!machine_fact(a, type, sizeof(type), "iommu.%s", dev->name))
		return;
	if (!*type)
		tell(a, CHECK_OK, dev, NULL, "no IOMMU translates its DMA");
	else if (!strcmp(type, "identity"))
		tell(a, CHECK_OK, dev, NULL, "the IOMMU passes its DMA on");
	else
		tell(a, CHECK_WARN, dev, "boot with iommu=pt",
		     "the IOMMU translates its DMA (%s): registering memory costs more",
		     type);
}

static void check_limits(struct audit *a, const struct audit_device *dev)
{
	static const char *const what[] = { "QPs", "CQs", "MRs", "PDs",
					    "contexts" };
	bool told = false, any = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(what); i++) {
		any |= dev->max[i] > 0;
		if (dev->max[i] < 10 ||
		    dev->used[i] < dev->max[i] - dev->max[i] / 5)
			continue;
		tell(a, dev->used[i] >= dev->max[i] ? CHECK_FAIL : CHECK_WARN,
		     dev, "eadm dump ctx shows how many each process has",
		     "%" PRIu64 " of %" PRIu64 " %s are in use",
		     dev->used[i], dev->max[i], what[i]);
		told = true;
	}
	if (!any)
		unseen(a, dev, "how much of its limits is in use");
	if (any && !told)
		tell(a, CHECK_OK, dev, NULL,
		     "less than four fifths of each limit are in use");
}

const struct check device_checks[] = {
	{ "driver", "Driver and firmware.", .of_device = check_driver },
	{ "netdev", "Device and network interface belong together.",
	  .of_device = check_netdev },
	{ "port", "The port is up.", .of_device = check_port },
	{ "mtu", "The MTU is large enough, and the same everywhere.",
	  .of_device = check_mtu },
	{ "gid", "The port has a GID.",
	  .of_device = check_gid },
	{ "address", "The interface has an IP address.",
	  .of_device = check_address },
	{ "uverbs", "Processes can open the device.",
	  .of_device = check_uverbs },
	{ "vectors", "There is an interrupt vector for each CPU.",
	  .of_device = check_vectors },
	{ "affinity", "Interrupts are spread over CPUs.",
	  .of_device = check_affinity },
	{ "iommu", "DMA is not translated.", .of_device = check_iommu },
	{ "limits", "Limits are not nearly used up.",
	  .of_device = check_limits },
	{ 0 }
};
