// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the machine and of who runs eadm. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		     "attach an RDMA adapter, load its driver; dmesg shows why a probe failed",
		     "no RDMA device");
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word), n;

	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && !memcmp(words, word, n))
			return true;
	}
	return false;
}

static void check_core(struct audit *a)
{
	static const char *const needed[] = { "ib_core", "ib_uverbs",
					      "rdma_cm", "rdma_ucm" };
	char loaded[256], missing[64] = "";
	size_t i, at = 0;

	if (!machine_fact(a, loaded, sizeof(loaded), "modules"))
		return;
	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!has_word(loaded, needed[i]))
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

/* Another driver of the adapters that eadm has one for. */
static bool check_owner(struct audit *a, const struct audit_device *dev)
{
	const struct eadm_family *family;
	const char *driver, *origin;
	char key[80], remedy[160];

	snprintf(key, sizeof(key), "driver.%s", dev->name);
	driver = *dev->driver ? dev->driver : eadm_fact(a->cli->ctx, key);
	family = eadm_family_find(driver);
	if (dev->companion || !family || !eadm_family_has_companion(family))
		return false;
	driver = eadm_family_module(family, 0);
	snprintf(key, sizeof(key), "origin.%s", driver);
	origin = eadm_fact(a->cli->ctx, key);
	snprintf(remedy, sizeof(remedy),
		 "load %s.ko of eadm in its place, or continue with what RDMA netlink shows",
		 driver);
	tell(a, CHECK_WARN, dev, remedy,
	     "the driver %s that is loaded is not eadm's%s%s%s: the module eadm cannot show the device",
	     driver, origin && *origin ? " (" : "", origin ? origin : "",
	     origin && *origin ? ")" : "");
	return true;
}

static void check_companion(struct audit *a)
{
	const char *version = eadm_fact(a->cli->ctx, "module.eadm");
	unsigned int i;
	bool shows = false, foreign = false;

	for (i = 0; i < a->n; i++)
		shows |= a->devices[i].companion;
	if (!version && !shows) {
		tell(a, CHECK_WARN, NULL,
		     "modprobe eadm (packages eadm-dkms or eadm-kmod)",
		     "the module eadm is not loaded: only what RDMA netlink reports is shown");
		return;
	}
	for (i = 0; i < a->n; i++)
		foreign |= check_owner(a, &a->devices[i]);
	if (a->n && !shows && !foreign)
		tell(a, CHECK_WARN, NULL,
		     "continue with what RDMA netlink shows",
		     "module eadm%s%s is loaded, but shows no device: their drivers give it no diagnostics",
		     version && *version ? " " : "", version ? version : "");
	if (a->n && !shows)
		return;
	if (version && *version && strcmp(version, eadm_version()))
		tell(a, CHECK_WARN, NULL,
		     "install module and tool of the same version, or continue: unknown fields are kept",
		     "module eadm %s, tool %s", version, eadm_version());
	else
		tell(a, CHECK_OK, NULL, NULL, "module eadm%s%s is loaded",
		     version && *version ? " " : "", version ? version : "");
}

static void check_access(struct audit *a)
{
	char text[16];
	int error;

	if (!machine_fact(a, text, sizeof(text), "access.rdma_cm"))
		return;
	error = atoi(text);
	if (error == ENOENT)
		tell(a, CHECK_WARN, NULL, "modprobe rdma_ucm",
		     "/dev/infiniband/rdma_cm is not there: no connections by rdma_cm");
	else if (error)
		tell(a, CHECK_WARN, NULL,
		     "a udev rule or the group that owns the file",
		     "/dev/infiniband/rdma_cm: %s", strerror(error));
	else
		tell(a, CHECK_OK, NULL, NULL,
		     "/dev/infiniband/rdma_cm can be opened");
}

static void check_memlock(struct audit *a)
{
	static const char remedy[] =
		"'* - memlock unlimited' in /etc/security/limits.d/, LimitMEMLOCK=infinity in services, --ulimit memlock=-1 for containers";
	char limit[24];
	uint64_t bytes;

	if (!machine_fact(a, limit, sizeof(limit), "memlock") || !*limit)
		return;
	bytes = strtoull(limit, NULL, 10);
	if (!strcmp(limit, "unlimited"))
		tell(a, CHECK_OK, NULL, NULL, "locked memory is unlimited");
	else
		tell(a, bytes < MEMLOCK_MIN ? CHECK_WARN : CHECK_OK, NULL,
		     remedy, "locked memory of this process: %" PRIu64 " KiB",
		     bytes / 1024);
}

static void check_netns(struct audit *a)
{
	char mode[16];

	if (!machine_fact(a, mode, sizeof(mode), "netns-mode") || !*mode)
		return;
	if (!strcmp(mode, "shared"))
		tell(a, CHECK_OK, NULL, NULL,
		     "shared: devices are visible in all network namespaces");
	else
		tell(a, CHECK_OK, NULL, NULL,
		     "exclusive: a device is visible only in its network namespace");
}

static void check_lockdown(struct audit *a)
{
	char line[64];

	if (!machine_fact(a, line, sizeof(line), "lockdown") || !*line)
		return;
	if (strstr(line, "[none]"))
		tell(a, CHECK_OK, NULL, NULL, "the kernel is not locked down");
	else
		tell(a, CHECK_WARN, NULL,
		     "boot without lockdown to read the adapter's own state",
		     "the kernel is locked down: %s; contexts of the adapter cannot be read",
		     line);
}

static void check_verbs(struct audit *a)
{
	char installed[8];

	if (!machine_fact(a, installed, sizeof(installed), "verbs"))
		return;
	if (!strcmp(installed, "yes"))
		tell(a, CHECK_OK, NULL, NULL, "libibverbs is installed");
	else
		tell(a, CHECK_WARN, NULL,
		     "install libibverbs1 or rdma-core-libs",
		     "libibverbs is not installed: no application can use verbs");
}

/* Verbs finds the provider of a device by the name of its driver. */
static void check_provider(struct audit *a)
{
	const struct audit_device *dev;
	const struct eadm_family *family;
	char installed[256], key[80];
	const char *driver;
	unsigned int i;

	if (!machine_fact(a, installed, sizeof(installed), "providers"))
		return;
	for (i = 0; i < a->n; i++) {
		dev = &a->devices[i];
		snprintf(key, sizeof(key), "driver.%s", dev->name);
		driver = *dev->driver ? dev->driver :
					eadm_fact(a->cli->ctx, key);
		family = eadm_family_find(driver);
		if (!family)
			continue;
		driver = eadm_family_provider(family);
		if (has_word(installed, driver))
			tell(a, CHECK_OK, dev, NULL,
			     "the provider of verbs for %s is installed",
			     driver);
		else
			tell(a, CHECK_FAIL, dev,
			     "install ibverbs-providers (rdma-core) with this provider",
			     "no provider of verbs for %s: applications do not find the device",
			     driver);
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
	{ "lockdown", "The adapter's own state can be read.", check_lockdown },
	{ "libibverbs", "Verbs are installed.", check_verbs },
	{ "provider", "Verbs know the device.", check_provider },
	{ 0 }
};
