// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the machine and of who runs eadm. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

/* Less locked memory than this fails ordinary applications. */
#define MEMLOCK_MIN	(64ULL << 20)

static void check_devices(struct audit *a)
{
	if (a->n)
		tell(a, CHECK_OK, NULL, NULL, "%u RDMA device%s", a->n,
		     a->n == 1 ? "" : "s");
	else
		tell(a, CHECK_FAIL, NULL,
		     "attach an RDMA adapter, load its driver; dmesg tells why a probe failed",
		     "no RDMA device");
}

static void check_core(struct audit *a)
{
	static const char *const needed[] = { "ib_core", "ib_uverbs",
					      "rdma_cm", "rdma_ucm" };
	char path[64], missing[64] = "";
	size_t i, at = 0;

	if (!a->live)
		return;
	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", needed[i]);
		if (access(path, F_OK))
			at += snprintf(missing + at, sizeof(missing) - at,
				       "%s%s", at ? ", " : "", needed[i]);
	}
	if (at)
		tell(a, CHECK_WARN, NULL,
		     "modprobe -a ib_uverbs rdma_ucm; name them in /etc/modules-load.d/rdma.conf",
		     "not loaded: %s", missing);
	else
		tell(a, CHECK_OK, NULL, NULL,
		     "ib_core, ib_uverbs, rdma_cm and rdma_ucm are loaded");
}

static void check_companion(struct audit *a)
{
	const char *version = eadm_fact(a->cli->ctx, "module.eadm");
	unsigned int i;
	bool shows = false;

	for (i = 0; i < a->n; i++)
		shows |= a->devices[i].companion;
	if (!version && !shows) {
		tell(a, CHECK_WARN, NULL,
		     "modprobe eadm (packages eadm-dkms or eadm-kmod)",
		     "the module eadm is not loaded: only what RDMA netlink tells is seen");
		return;
	}
	if (version && *version && strcmp(version, eadm_version()))
		tell(a, CHECK_WARN, NULL,
		     "install module and tool of the same version, or read on: unknown fields are kept",
		     "module eadm %s, tool %s", version, eadm_version());
	else
		tell(a, CHECK_OK, NULL, NULL, "module eadm%s%s is loaded",
		     version && *version ? " " : "", version ? version : "");
}

static void check_access(struct audit *a)
{
	if (!a->live)
		return;
	if (access("/dev/infiniband/rdma_cm", R_OK | W_OK) && errno == ENOENT)
		tell(a, CHECK_WARN, NULL, "modprobe rdma_ucm",
		     "/dev/infiniband/rdma_cm is not there: no connections by rdma_cm");
	else if (access("/dev/infiniband/rdma_cm", R_OK | W_OK))
		tell(a, CHECK_WARN, NULL,
		     "a udev rule or the group that owns the file",
		     "/dev/infiniband/rdma_cm: %s", strerror(errno));
	else
		tell(a, CHECK_OK, NULL, NULL,
		     "/dev/infiniband/rdma_cm can be opened");
}

static void check_memlock(struct audit *a)
{
	static const char remedy[] =
		"'* - memlock unlimited' in /etc/security/limits.d/, LimitMEMLOCK=infinity in services, --ulimit memlock=-1 for containers";
	struct rlimit limit;

	if (!a->live || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		tell(a, CHECK_OK, NULL, NULL, "locked memory is unlimited");
	else
		tell(a, limit.rlim_cur < MEMLOCK_MIN ? CHECK_WARN : CHECK_OK,
		     NULL, remedy, "locked memory of this process: %llu KiB",
		     (unsigned long long)limit.rlim_cur / 1024);
}

static void check_netns(struct audit *a)
{
	char mode[8];

	if (!a->live || !read_line(mode, sizeof(mode),
				   "/sys/module/ib_core/parameters/netns_mode"))
		return;
	/* The parameter says whether namespaces share the devices. */
	if (*mode == 'Y')
		tell(a, CHECK_OK, NULL, NULL,
		     "shared: devices are seen in all network namespaces");
	else
		tell(a, CHECK_OK, NULL, NULL,
		     "exclusive: a device is seen in its own network namespace only");
}

static void check_lockdown(struct audit *a)
{
	char line[64];

	if (!a->live || !read_line(line, sizeof(line),
				   "/sys/kernel/security/lockdown"))
		return;
	if (strstr(line, "[none]"))
		tell(a, CHECK_OK, NULL, NULL, "the kernel is not locked down");
	else
		tell(a, CHECK_WARN, NULL,
		     "boot without lockdown to look into the adapter",
		     "the kernel is locked down: %s; contexts of the adapter cannot be read",
		     line);
}

/* A library somewhere where the loader looks. */
static bool has_library(const char *pattern)
{
	static const char *const places[] = {
		"/usr/lib/*/%s", "/usr/lib64/%s", "/usr/lib/%s", "/lib/*/%s",
		"/usr/local/lib/*/%s", "/usr/local/lib/%s", "/usr/local/lib64/%s",
	};
	char path[256];
	bool found;
	glob_t g;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		memset(&g, 0, sizeof(g));
		snprintf(path, sizeof(path), places[i], pattern);
		found = !glob(path, GLOB_NOSORT, NULL, &g);
		globfree(&g);
		if (found)
			return true;
	}
	return false;
}

static void check_verbs(struct audit *a)
{
	if (!a->live)
		return;
	if (has_library("libibverbs.so.1"))
		tell(a, CHECK_OK, NULL, NULL, "libibverbs is installed");
	else
		tell(a, CHECK_WARN, NULL,
		     "install libibverbs1 or rdma-core-libs",
		     "libibverbs is not installed: no application can use verbs");
}

/* Verbs finds the provider of a device by the name of its driver. */
static void check_provider(struct audit *a)
{
	static const struct {
		const char *driver, *provider;
	} providers[] = {
		{ "erdma", "erdma" }, { "rdma_rxe", "rxe" }, { "siw", "siw" },
		{ "efa", "efa" }, { "mlx5_core", "mlx5" },
		{ "mlx4_core", "mlx4" }, { "bnxt_en", "bnxt_re" },
		{ "irdma", "irdma" }, { "vmw_pvrdma", "vmw_pvrdma" },
		{ "mana", "mana" }, { "hns3", "hns" },
	};
	const struct audit_device *dev;
	char name[64], key[80];
	const char *driver;
	unsigned int i, j;

	for (i = 0; a->live && i < a->n; i++) {
		dev = &a->devices[i];
		snprintf(key, sizeof(key), "driver.%s", dev->name);
		driver = *dev->driver ? dev->driver :
					eadm_fact(a->cli->ctx, key);
		for (j = 0; driver && j < ARRAY_SIZE(providers); j++) {
			if (!strcmp(providers[j].driver, driver) ||
			    !strcmp(providers[j].provider, driver))
				break;
		}
		if (!driver || j == ARRAY_SIZE(providers))
			continue;
		snprintf(name, sizeof(name), "libibverbs/lib%s-rdmav*.so",
			 providers[j].provider);
		if (has_library(name))
			tell(a, CHECK_OK, dev, NULL,
			     "the provider of verbs for %s is installed",
			     providers[j].provider);
		else
			tell(a, CHECK_FAIL, dev,
			     "install ibverbs-providers (rdma-core) with this provider",
			     "no provider of verbs for %s: applications do not find the device",
			     providers[j].provider);
	}
}

const struct check machine_checks[] = {
	{ "devices", "There is an RDMA device.", check_devices },
	{ "rdma-modules", "The kernel's RDMA modules are loaded.",
	  check_core },
	{ "companion", "The module eadm is loaded, in the tool's version.",
	  check_companion },
	{ "rdma-cm", "Connections can be made.", check_access },
	{ "memlock", "Processes may lock memory.", check_memlock },
	{ "netns-mode", "Which network namespaces see the devices.",
	  check_netns },
	{ "lockdown", "The adapter can be looked into.", check_lockdown },
	{ "libibverbs", "Verbs are installed.", check_verbs },
	{ "provider", "Verbs know the device.", check_provider },
	{ 0 }
};
