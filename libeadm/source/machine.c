// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Facts about how this machine is set up. Where it has nothing of a kind the
 * fact is "": a capture tells what was not there from what was not recorded.
 */
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/root.h"
#include "facts.h"
#include "machine.h"

/* Names change, numbers are given again: so long a name is worth keeping. */
#define COMM_NS 1000000000ULL

/* ---- the machine and its kernel ------------------------------------------------ */

static bool read_cpus(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	(void)ctx;
	(void)name;
	snprintf(buf, size, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	return true;
}

static bool read_version(const struct eadm_ctx *ctx, const char *name, char *buf,
			 size_t size)
{
	(void)ctx;
	(void)name;
	snprintf(buf, size, "%s", EADM_VERSION);
	return true;
}

/* The first address that bears the interface's name. */
static bool read_ipv4(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	struct ifreq request = { .ifr_addr.sa_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)ctx;
	if (fd < 0)
		return true;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	snprintf(buf, size, "%s",
		 ioctl(fd, SIOCGIFADDR, &request) ? "no" : "yes");
	close(fd);
	return true;
}

static bool read_host(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	(void)ctx;
	(void)name;
	return !gethostname(buf, size);
}

static bool read_kernel(const struct eadm_ctx *ctx, const char *name, char *buf,
			size_t size)
{
	struct utsname uts;

	(void)ctx;
	(void)name;
	if (uname(&uts))
		return false;
	snprintf(buf, size, "%s", uts.release);
	return true;
}

static bool read_memlock(const struct eadm_ctx *ctx, const char *name, char *buf,
			 size_t size)
{
	struct rlimit limit;

	(void)ctx;
	(void)name;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return true;
	if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(buf, size, "unlimited");
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)limit.rlim_cur);
	return true;
}

static bool read_netns(const struct eadm_ctx *ctx, const char *name, char *buf,
		       size_t size)
{
	char shared[8];

	(void)name;
	/* The parameter says whether namespaces share the devices. */
	if (eadm_root_line(ctx, shared, sizeof(shared),
			   "/sys/module/ib_core/parameters/netns_mode"))
		snprintf(buf, size, "%s",
			 *shared == 'Y' ? "shared" : "exclusive");
	return true;
}

/* In the first PID namespace of the machine every process has a number. */
static bool read_pidns(const struct eadm_ctx *ctx, const char *name, char *buf,
		       size_t size)
{
	char to[64];

	(void)name;
	if (!eadm_root_link(ctx, to, sizeof(to), "/proc/self/ns/pid"))
		return false;
	/* The kernel's PROC_PID_INIT_INO. */
	snprintf(buf, size, "%s",
		 strcmp(to, "pid:[4026531836]") ? "other" : "init");
	return true;
}

/* ---- all of them ----------------------------------------------------------------- */

/*
 * After a dot comes the name of what the fact is about. A fact without a
 * function is the first line of the file whose path has the name between
 * @before and @after.
 */
static const struct {
	const char *key;
	bool (*read)(const struct eadm_ctx *ctx, const char *name, char *buf,
		     size_t size);
	const char *before, *after;
	bool own;	/* of the capture's head, not of the machine's state */
} facts[] = {
	{ "access.", eadm_fact_access },
	{ "affinity.", NULL, "/proc/irq/", "/effective_affinity_list" },
	{ "bound.", eadm_fact_bound },
	{ "bus.", eadm_fact_bus },
	{ "cpus", read_cpus },
	{ "driver.", eadm_fact_driver },
	{ "eadm", read_version, .own = true },
	{ "gid.", eadm_fact_gid },
	{ "host", read_host, .own = true },
	{ "iommu.", NULL, "/sys/class/infiniband/", "/device/iommu_group/type" },
	{ "ipv4.", read_ipv4 },
	{ "kernel", read_kernel, .own = true },
	{ "limits.", eadm_fact_limits },
	{ "lockdown", NULL, "/sys/kernel/security/lockdown", "" },
	{ "memlock", read_memlock },
	{ "module.", eadm_fact_module },
	{ "modules", eadm_fact_modules },
	{ "mtu.", NULL, "/sys/class/net/", "/mtu" },
	{ "netns-mode", read_netns },
	{ "origin.", eadm_fact_origin },
	{ "pidns", read_pidns, .own = true },
	{ "port.", eadm_fact_port },
	{ "process.", eadm_fact_process },
	{ "providers", eadm_fact_providers },
	{ "uverbs.", eadm_fact_uverbs },
	{ "verbs", eadm_fact_verbs },
};

static bool is_named(const char *key)
{
	return key[strlen(key) - 1] == '.';
}

/* The facts that are about the machine as a whole, one by one; NULL: no more. */
const char *eadm_machine_key(unsigned int index)
{
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(facts); i++) {
		if (!is_named(facts[i].key) && !facts[i].own && !index--)
			return facts[i].key;
	}
	return NULL;
}

static const char *comm_fact(struct eadm_machine *machine,
			     const struct eadm_ctx *ctx, const char *number)
{
	uint32_t pid = strtoul(number, NULL, 10);
	__typeof__(&machine->comm[0]) comm =
		&machine->comm[pid % EADM_MACHINE_COMMS];
	uint64_t now = eadm_now(ctx);

	if (comm->pid != pid || now - comm->time > COMM_NS) {
		comm->pid = pid;
		comm->time = now;
		if (!eadm_root_line(ctx, comm->name, sizeof(comm->name),
				    "/proc/%u/comm", pid))
			comm->name[0] = '\0';
	}
	return comm->name[0] ? comm->name : NULL;
}

/* A fact of this machine; NULL if there is none of this key. */
const char *eadm_machine_fact(struct eadm_machine *machine,
			      const struct eadm_ctx *ctx, const char *key)
{
	const size_t size = sizeof(machine->fact);
	char *buf = machine->fact;
	const char *name;
	size_t i, len;

	if (!strncmp(key, "comm.", 5))
		return comm_fact(machine, ctx, key + 5);
	for (i = 0; i < EADM_ARRAY_SIZE(facts); i++) {
		len = strlen(facts[i].key);
		name = key + len;
		if (strncmp(key, facts[i].key, len) ||
		    !*name == is_named(facts[i].key))
			continue;
		if (*name == '.' || strchr(name, '/'))
			return NULL;
		*buf = '\0';
		if (facts[i].read)
			return facts[i].read(ctx, name, buf, size) ? buf : NULL;
		eadm_root_line(ctx, buf, size, "%s%.64s%s", facts[i].before,
			       name, facts[i].after);
		return buf;
	}
	return NULL;
}
