// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about libibverbs, its providers, and the files through which processes use
 * devices. They check the files that the caller sees.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "rules_setup.h"

/* Returns the length of the first element of a list. */
static size_t item(const char *at, const char *separator)
{
	const char *end = strstr(at, separator);

	return end ? (size_t)(end - at) : strlen(at);
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

/* Copies the reason why a library cannot be loaded. Returns false if there is none. */
static bool fault_of(const struct diag_row *verbs, const char *name, char *buf,
		     size_t size)
{
	const char *at = diag_text(verbs, VERBS_FAULTS);
	size_t len = strlen(name), n;

	for (; *at; at += n + (at[n] ? strlen("; ") : 0)) {
		n = item(at, "; ");
		if (n <= len + 2 || memcmp(at, name, len) != 0 ||
		    memcmp(at + len, ": ", 2) != 0)
			continue;
		snprintf(buf, size, "%.*s", (int)(n - len - 2), at + len + 2);
		return true;
	}
	return false;
}

static const struct diag_row *verbs_of(struct judge *j)
{
	const struct diag_rows *rows = &eadm_judge_now(j)->rows[DIAG_VERBS];

	return rows->n ? rows->row : NULL;
}

/* The device files of a container do not change with the devices of the host. */
static const char other_device[] =
	"has the device number of a different device, so libraries cannot open it";
static const char other_cause[] =
	"Devices were removed and added since the file was created, as when drivers are reloaded while containers run.";
static const char other_next[] =
	"restart the container, or run udevadm trigger on a host";

/* Loading the module creates the file on a host, but not in containers. */
static void lacks_cm_file(struct judge *j)
{
	if (!diag_u64(eadm_judge_module(j, "rdma_ucm"), MOD_LOADED)) {
		eadm_judge_next(j, "modprobe rdma_ucm");
		return;
	}
	eadm_judge_cause(j, "The module rdma_ucm is loaded, but the container was started without the file, or udev did not create it.");
	eadm_judge_next(j, "start the container with --device=/dev/infiniband/rdma_cm, or run udevadm trigger on a host");
}

static void look_rdma_cm(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	int error = eadm_judge_errno(now, VERBS_CM_ERROR);

	(void)then;
	if (!eadm_judge_uses_cm(j) || !eadm_judge_knows(j, now, VERBS_CM_ERROR))
		return;
	if (!error) {
		eadm_pass(j, now, "/dev/infiniband/rdma_cm can be opened");
		return;
	}
	if (error == ENOENT) {
		eadm_accuse(j, now, "/dev/infiniband/rdma_cm does not exist, so rdma_cm cannot be used");
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		lacks_cm_file(j);
	} else if (error == EXDEV) {
		eadm_accuse(j, now, "/dev/infiniband/rdma_cm %s", other_device);
		eadm_judge_cause(j, other_cause);
		eadm_judge_next(j, other_next);
	} else {
		eadm_accuse(j, now, "/dev/infiniband/rdma_cm: %s%s",
			    strerror(error), error == EPERM ?
			    " (refused by the device cgroup)" : "");
		if (error == EPERM)
			eadm_judge_next(j, "start containers with --device, or set DeviceAllow= in services");
	}
	eadm_cite(j, DIAG_VERBS, now, VERBS_CM_ERROR);
}

static void look_verbs(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	char why[400];

	(void)then;
	if (!eadm_judge_knows(j, now, VERBS_INSTALLED))
		return;
	if (!diag_u64(now, VERBS_INSTALLED)) {
		eadm_accuse(j, now, "libibverbs is not installed: no application can use verbs");
	} else if (!diag_has(now, VERBS_DEVICES) &&
		   fault_of(now, "libibverbs", why, sizeof(why))) {
		eadm_accuse(j, now, "libibverbs cannot list devices: %s", why);
		eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
		eadm_judge_cause(j, "A file of libibverbs is damaged, or not readable by the caller.");
		eadm_judge_next(j, "restore the mode of the file, or reinstall its package (rdma-core)");
	} else if (fault_of(now, "process", why, sizeof(why))) {
		eadm_accuse(j, now, "libibverbs was not examined, because no process can be started: %s",
			    why);
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
		eadm_judge_cause(j, "A limit on processes, open files or memory of the caller is reached.");
		eadm_judge_next(j, "raise the limit (ulimit -u, ulimit -n, pids.max and memory.max of the control group), and check again");
	} else {
		eadm_pass(j, now, "libibverbs is installed");
	}
}

/* ---- providers ----------------------------------------------------------------- */

/*
 * libibverbs lists only devices whose file exists; a different rule covers the other
 * devices. Adapters emulated by programs have no setup.
 */
static bool has_file(struct judge *j, const struct diag_row *dev)
{
	const struct diag_row *setup = eadm_judge_setup(j, dev);
	int error = eadm_judge_errno(setup, SETUP_UVERBS_ERROR);

	return *diag_text(setup, SETUP_UVERBS) && error != ENOENT &&
	       error != ENXIO && error != ENODEV && error != EXDEV;
}

static void lacks_provider(struct judge *j, const struct diag_row *dev,
			   const struct diag_row *verbs, const char *provider)
{
	char why[400];

	if (fault_of(verbs, provider, why, sizeof(why))) {
		eadm_accuse(j, dev, "libibverbs cannot load the provider %s: %s",
			    provider, why);
		eadm_judge_cause(j, "A file of the provider is missing or damaged, belongs to a different version of libibverbs, or is not readable by the caller.");
		eadm_judge_next(j, "install ibverbs-providers (rdma-core) in the same version as libibverbs, or restore the mode of the file");
	} else if (fault_of(verbs, "libibverbs", why, sizeof(why))) {
		eadm_accuse(j, dev, "libibverbs does not list it: %s", why);
		eadm_judge_cause(j, "A file of libibverbs is not readable by the caller.");
		eadm_judge_next(j, "restore the mode of the file, or reinstall rdma-core");
	} else if (!has_word(diag_text(verbs, VERBS_CONFIGURED), provider)) {
		eadm_accuse(j, dev, "libibverbs does not list it: no file in /etc/libibverbs.d names the provider %s (%s.driver is missing)",
			    provider, provider);
	} else {
		eadm_accuse(j, dev, "libibverbs does not list it, though the provider %s is installed",
			    provider);
		eadm_judge_cause(j, "The provider does not support this adapter or the version of its driver.");
		eadm_judge_next(j, "install a newer ibverbs-providers (rdma-core)");
	}
	eadm_cite(j, DIAG_VERBS, verbs, VERBS_DEVICES);
}

/*
 * If the list of devices is missing, as in a capture of a different version, use the
 * provider files instead.
 */
static void judge_files(struct judge *j, const struct diag_row *dev,
			const struct diag_row *verbs, const char *provider)
{
	char why[400];

	if (fault_of(verbs, provider, why, sizeof(why)))
		lacks_provider(j, dev, verbs, provider);
	else if (has_word(diag_text(verbs, VERBS_PROVIDERS), provider))
		eadm_pass(j, dev, "the verbs provider for %s is installed",
			  provider);
	else
		eadm_accuse(j, dev, "no verbs provider for %s: applications cannot find the device",
			    provider);
}

/* libibverbs finds a device's provider by the name of its driver. */
static void look_provider(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	const struct diag_row *verbs = verbs_of(j);
	const char *driver = eadm_judge_driver(j, now);
	const struct eadm_family *family = eadm_family_find(driver);
	const char *provider = family ? eadm_family_provider(family) : "";

	(void)then;
	if (!verbs || !eadm_judge_knows(j, verbs, VERBS_PROVIDERS) ||
	    (diag_has(verbs, VERBS_INSTALLED) &&
	     !diag_u64(verbs, VERBS_INSTALLED)))
		return;
	if (!diag_has(verbs, VERBS_DEVICES)) {
		if (family)
			judge_files(j, now, verbs, provider);
	} else if (has_word(diag_text(verbs, VERBS_DEVICES), now->device)) {
		eadm_pass(j, now, "libibverbs lists it");
	} else if (has_file(j, now) && family) {
		lacks_provider(j, now, verbs, provider);
	} else if (has_file(j, now)) {
		eadm_accuse(j, now, "libibverbs does not list it: no provider supports its driver%s%s",
			    *driver ? " " : "", driver);
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
	}
}

/* ---- files of devices ------------------------------------------------------------ */

/* The other devices that the caller can open. */
struct others {
	unsigned int open;
	unsigned int hidden;	/* devices that librdmacm does not list */
	bool related;		/* one of the open devices belongs to the same family */
};

static void find_others(struct judge *j, const struct diag_row *dev,
			struct others *others)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct eadm_family *family = eadm_judge_family(j, dev);
	const struct diag_row *verbs = verbs_of(j), *row, *setup;
	size_t i;

	memset(others, 0, sizeof(*others));
	for (i = 0; i < devs->n; i++) {
		row = &devs->row[i];
		setup = eadm_judge_setup(j, row);
		if (row->dev == dev->dev || !*diag_text(setup, SETUP_UVERBS) ||
		    !diag_has(setup, SETUP_UVERBS_ERROR) ||
		    diag_u64(setup, SETUP_UVERBS_ERROR))
			continue;
		others->open++;
		others->related |= family && eadm_judge_family(j, row) == family;
		others->hidden += diag_has(verbs, VERBS_CM_DEVICES) &&
				  !has_word(diag_text(verbs, VERBS_CM_DEVICES),
					    row->device);
	}
}

/* Writes the consequence for libraries that open all devices; "" if unknown. */
static void put_consequence(struct judge *j, const struct diag_row *dev,
			    const struct others *others, char *buf, size_t size)
{
	const struct eadm_family *family = eadm_judge_family(j, dev);
	const char *library = family ? eadm_family_middleware(family) : NULL;

	*buf = '\0';
	if (others->hidden)
		snprintf(buf, size, "; therefore, librdmacm lists %u of %u other %s",
			 others->open - others->hidden, others->open,
			 eadm_plural(others->open, "device", "devices"));
	else if (library && others->related)
		snprintf(buf, size, "; therefore, %s may find no device of %s at all",
			 library, eadm_family_name(family));
}

/* Libraries skip a device without a file and use the other devices. */
static void lacks_file(struct judge *j, const struct diag_row *dev,
		       const char *node, const struct others *others)
{
	if (!others->open) {
		eadm_accuse(j, dev, "/dev/infiniband/%s: %s", node,
			    strerror(ENOENT));
		return;
	}
	eadm_accuse(j, dev, "/dev/infiniband/%s does not exist: this process can see the device, but not use it",
		    node);
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_cause(j, "A container has files only for the devices assigned to it; on a host, udev creates them.");
}

static void cannot_open(struct judge *j, const struct diag_row *dev,
			const char *node, int error)
{
	struct others others;
	char then[120], next[200];

	find_others(j, dev, &others);
	if (error == ENOENT) {
		lacks_file(j, dev, node, &others);
		return;
	}
	if (error == EXDEV) {
		eadm_accuse(j, dev, "/dev/infiniband/%s %s", node, other_device);
		eadm_judge_cause(j, other_cause);
		eadm_judge_next(j, other_next);
		return;
	}
	put_consequence(j, dev, &others, then, sizeof(then));
	eadm_accuse(j, dev, "/dev/infiniband/%s: %s%s%s", node, strerror(error),
		    error == EPERM ? " (refused by the device cgroup)" : "",
		    then);
	if (error == EPERM) {
		eadm_judge_cause(j, "The container or service was started without this device.");
		snprintf(next, sizeof(next),
			 "start containers with --device, or set DeviceAllow= in services%s",
			 others.open ? "; or leave the file out of the container" :
				       "");
		eadm_judge_next(j, next);
		if (others.open && !*then)
			eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	} else if (error == ENXIO || error == ENODEV) {
		eadm_judge_cause(j, "The file belongs to a device that no longer exists.");
		eadm_judge_next(j, "restart the container, or run udevadm trigger on a host");
	}
}

static void look_uverbs(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const struct diag_row *setup = eadm_judge_setup(j, now);
	const char *node = diag_text(setup, SETUP_UVERBS);
	int error = eadm_judge_errno(setup, SETUP_UVERBS_ERROR);

	(void)then;
	if (!eadm_judge_knows(j, setup, SETUP_UVERBS))
		return;
	if (!*node) {
		eadm_accuse(j, now, "it has no verbs device, so processes cannot use it");
		eadm_judge_next(j, "modprobe ib_uverbs");
	} else if (!eadm_judge_knows(j, setup, SETUP_UVERBS_ERROR)) {
		return;
	} else if (!error) {
		eadm_pass(j, now, "/dev/infiniband/%s can be opened", node);
	} else {
		cannot_open(j, now, node, error);
		eadm_cite(j, DIAG_SETUP, setup, SETUP_UVERBS_ERROR);
		if (verbs_of(j))
			eadm_cite(j, DIAG_VERBS, verbs_of(j), VERBS_CM_DEVICES);
	}
}

#define SETUP	EADM_GROUP_SETUP

const struct eadm_rule eadm_rules_verbs[] = {
	{
		.name = "rdma-cm", .kind = DIAG_VERBS, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The caller cannot make connections through rdma_cm.",
		.cause = "The module rdma_ucm is not loaded, or the caller is not permitted to open its file.",
		.next = "add a udev rule, or add the user to the group that owns the file",
		.alike = "Applications may run as another user: only the caller's permission is checked.",
		.look = look_rdma_cm,
	}, {
		.name = "libibverbs", .kind = DIAG_VERBS, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "libibverbs is not installed, or cannot be used.",
		.cause = "The package is not installed.",
		.next = "install libibverbs1 or rdma-core-libs",
		.alike = "A machine where only the kernel uses RDMA, or an image without libibverbs, looks the same, so the verdict is only a notice. Only a damaged library is reported as a failure.",
		.look = look_verbs,
	}, {
		.name = "provider", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "libibverbs does not list the device.",
		.cause = "rdma-core is too old, or its providers are not installed.",
		.next = "install a version of ibverbs-providers (rdma-core) that contains this provider",
		.alike = "Only devices that libibverbs does not list for the caller are reported. Providers for adapters that this machine does not have, providers that the environment names, and devices without a file in /dev are excluded.",
		.look = look_provider,
	}, {
		.name = "uverbs", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The caller cannot open the device.",
		.cause = "The device file does not exist, or the caller is not permitted to open it.",
		.next = "add a udev rule, add the user to the group that owns the file, or start containers with --device",
		.alike = "In a container that sees all devices of the host, but has files only for those assigned to it, the verdict is a notice. Applications may run as another user: only the caller's permission is checked.",
		.look = look_uverbs,
	},
	{ 0 }
};
