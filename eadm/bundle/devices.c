// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about RDMA devices, PCI functions and network interfaces. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "bundle.h"

#define IB "/sys/class/infiniband"
#define PCI "/sys/bus/pci/devices"
#define NET "/sys/class/net"
#define MAX_GIDS 256

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Calls @fn for each entry of a folder; returns the number of entries. */
static int each(const char *folder, bool (*fn)(const char *path), bool *good)
{
	struct dirent **list;
	char path[512];
	int i, n;

	n = scandir(folder, &list, visible, by_name);
	if (n < 0) {
		if (errno != ENOENT) {
			fprintf(stderr, "%s: %s\n", folder, strerror(errno));
			*good = false;
		}
		return 0;
	}
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		*good &= fn(path);
		free(list[i]);
	}
	free(list);
	return n;
}

static bool is_folder(const char *path)
{
	struct stat st;

	/* A device that vanished in the meantime counts as a folder. */
	return stat(path, &st) || S_ISDIR(st.st_mode);
}

static void link_fact(const char *folder, const char *name)
{
	char path[600], to[512];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return;
	to[n] = '\0';
	printf("%s -> %s\n", path, to);
}

static int result(int n, bool good, const char *none)
{
	if (!n && good) {
		fprintf(stderr, "%s\n", none);
		return STATUS_NOT_FOUND;
	}
	return facts_status(good);
}

/* ---- RDMA devices --------------------------------------------------------------- */

/* Prints the GID table without its empty entries. */
static bool gids(const char *port)
{
	static const char *const kinds[] = { "gid_attrs/types",
					     "gid_attrs/ndevs" };
	char path[600], gid[64];
	bool good = true;
	size_t k;
	FILE *file;
	int i;

	for (i = 0; i < MAX_GIDS; i++) {
		snprintf(path, sizeof(path), "%s/gids/%d", port, i);
		file = fopen(path, "re");
		if (!file)
			break;
		if (!fgets(gid, sizeof(gid), file))
			gid[0] = '\0';
		fclose(file);
		if (!gid[strspn(gid, "0:\n")])
			continue;
		printf("%s: %s", path, gid);
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			snprintf(path, sizeof(path), "%s/%s/%d", port,
				 kinds[k], i);
			good &= facts_file(path);
		}
	}
	return good;
}

static bool ib_port(const char *port)
{
	return facts_folder(port, NULL) & gids(port);
}

static bool ib_device(const char *dev)
{
	bool good = facts_folder(dev, NULL);
	char path[600];

	link_fact(dev, "device");
	snprintf(path, sizeof(path), "%s/ports", dev);
	each(path, ib_port, &good);
	return good;
}

int collect_rdma(struct bundle *b, const void *arg)
{
	bool good = true;
	int n = each(IB, ib_device, &good);

	(void)b;
	(void)arg;
	return result(n, good, "no RDMA device");
}

static bool port_counters(const char *port)
{
	char path[600];
	bool good;

	snprintf(path, sizeof(path), "%s/counters", port);
	good = facts_folder(path, NULL);
	snprintf(path, sizeof(path), "%s/hw_counters", port);
	return good & facts_folder(path, NULL);
}

static bool device_counters(const char *dev)
{
	char path[600];
	bool good;

	snprintf(path, sizeof(path), "%s/hw_counters", dev);
	good = facts_folder(path, NULL);
	snprintf(path, sizeof(path), "%s/ports", dev);
	each(path, port_counters, &good);
	return good;
}

int collect_hw_counters(struct bundle *b, const void *arg)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	bool good = true;
	int n;

	(void)b;
	(void)arg;
	if (access(IB, F_OK))
		return result(0, true, "no RDMA device");
	printf("time: %llu.%09llu\n", now / 1000000000ULL, now % 1000000000ULL);
	n = each(IB, device_counters, &good);
	return result(n, good, "no RDMA device");
}

/* ---- PCI -------------------------------------------------------------------------- */

/*
 * Prints the PCI header and, as root, the capabilities; neither contains serial
 * numbers.
 */
static void config_space(const char *dev)
{
	unsigned char config[256];
	char path[600];
	ssize_t n, i;
	int fd;

	snprintf(path, sizeof(path), "%s/config", dev);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, config, sizeof(config), 0);
	close(fd);
	if (n <= 0)
		return;
	printf("%s:", path);
	for (i = 0; i < n; i++)
		printf("%s%02x", i % 16 ? " " : "\n", config[i]);
	printf("\n");
}

static unsigned int number_of(const char *dev, const char *name)
{
	char path[600], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dev, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strtoul(text, NULL, 16);
}

/*
 * Devices without a driver are included, because devices are recognized by class or ID.
 */
static bool is_adapter(const char *dev)
{
	const struct eadm_family *family = NULL;
	unsigned int class, vendor, device, i;
	uint16_t its_vendor, its_device;
	char path[600];

	snprintf(path, sizeof(path), "%s/infiniband", dev);
	if (!access(path, F_OK))
		return true;
	class = number_of(dev, "class") >> 8;
	if (class == 0x0207 || class == 0x0c06)
		return true;
	vendor = number_of(dev, "vendor");
	device = number_of(dev, "device");
	while ((family = eadm_family_next(family))) {
		for (i = 0; !eadm_family_pci_id(family, i, &its_vendor,
						&its_device); i++) {
			if (its_vendor == vendor && its_device == device)
				return true;
		}
	}
	return false;
}

static unsigned int adapters;

static bool pci_function(const char *dev)
{
	static const char *const names[] = {
		"vendor", "device", "subsystem_vendor", "subsystem_device",
		"revision", "class", "enable", "numa_node", "local_cpulist",
		"irq", "current_link_speed", "current_link_width",
		"max_link_speed", "max_link_width", "power_state", "d3cold_allowed",
		"sriov_numvfs", "sriov_totalvfs", "resource", "aer_dev_correctable",
		"aer_dev_fatal", "aer_dev_nonfatal", NULL,
	};
	bool good;

	if (!is_adapter(dev))
		return true;
	adapters++;
	good = facts_folder(dev, names);
	link_fact(dev, "driver");
	link_fact(dev, "iommu_group");
	config_space(dev);
	return good;
}

int collect_pci(struct bundle *b, const void *arg)
{
	bool good = true;

	(void)b;
	(void)arg;
	adapters = 0;
	each(PCI, pci_function, &good);
	return result(adapters, good, "not a PCI function of an RDMA adapter");
}

/* ---- interrupts -------------------------------------------------------------------- */

static bool interrupt(const char *path)
{
	static const char *const names[] = {
		"smp_affinity_list", "effective_affinity_list",
		"affinity_hint", "node", "spurious", NULL,
	};
	const char *number = strrchr(path, '/') + 1;
	char folder[64];

	printf("%s\n", path);
	snprintf(folder, sizeof(folder), "/proc/irq/%.16s", number);
	return facts_folder(folder, names);
}

static bool interrupts_of(const char *dev)
{
	char path[600];
	bool good = true;

	if (!is_adapter(dev))
		return true;
	adapters++;
	snprintf(path, sizeof(path), "%s/msi_irqs", dev);
	each(path, interrupt, &good);
	return good;
}

int collect_affinity(struct bundle *b, const void *arg)
{
	bool good = true;

	(void)b;
	(void)arg;
	adapters = 0;
	each(PCI, interrupts_of, &good);
	return result(adapters, good, "not a PCI function of an RDMA adapter");
}

/* ---- network ---------------------------------------------------------------------- */

static bool interface(const char *dev)
{
	static const char *const names[] = {
		"address", "operstate", "carrier", "carrier_changes", "mtu",
		"speed", "duplex", "flags", "ifindex", "type", "tx_queue_len",
		"dev_id", "dev_port", "phys_port_name", NULL,
	};
	char path[600];
	bool good;

	/* Modules can place files such as bonding_masters next to the interfaces. */
	if (!is_folder(dev))
		return facts_file(dev);
	good = facts_folder(dev, names);
	link_fact(dev, "device");
	link_fact(dev, "device/driver");
	link_fact(dev, "master");
	snprintf(path, sizeof(path), "%s/statistics", dev);
	return good & facts_folder(path, NULL);
}

static void print_address(const struct ifaddrs *ifa)
{
	char text[INET6_ADDRSTRLEN] = "";
	const void *ip;
	int family = ifa->ifa_addr ? ifa->ifa_addr->sa_family : AF_UNSPEC;

	if (family == AF_INET)
		ip = &((const struct sockaddr_in *)ifa->ifa_addr)->sin_addr;
	else if (family == AF_INET6)
		ip = &((const struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr;
	else
		return;
	inet_ntop(family, ip, text, sizeof(text));
	printf("address of %s: %s%s\n", ifa->ifa_name, text,
	       ifa->ifa_flags & IFF_RUNNING ? "" : " (not running)");
}

int collect_netdev(struct bundle *b, const void *arg)
{
	struct ifaddrs *all, *ifa;
	bool good = true;
	int n;

	(void)b;
	(void)arg;
	n = each(NET, interface, &good);
	if (getifaddrs(&all)) {
		fprintf(stderr, "addresses: %s\n", strerror(errno));
		return STATUS_PARTIAL;
	}
	for (ifa = all; ifa; ifa = ifa->ifa_next)
		print_address(ifa);
	freeifaddrs(all);
	return result(n, good, "no network interface");
}
