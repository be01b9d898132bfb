// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about user space: libibverbs, its providers, and the files by which
 * processes use devices. Those of the caller are judged.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "rules_setup.h"

/* The length of an item of a list. */
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

/* Copies what keeps a library from being loaded; false: nothing does. */
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
		eadm_accuse(j, now, "/dev/infiniband/rdma_cm does not exist: no connections through rdma_cm");
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_next(j, "modprobe rdma_ucm");
	} else {
		eadm_accuse(j, now, "/dev/infiniband/rdma_cm: %s",
			    strerror(error));
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
		eadm_judge_cause(j, "A file of libibverbs is damaged, or may not be read by the caller.");
		eadm_judge_next(j, "give the file back its mode, or reinstall rdma-core");
	} else {
		eadm_pass(j, now, "libibverbs is installed");
	}
}

/* ---- providers ----------------------------------------------------------------- */

/* Only devices with a file that exists are listed: another rule covers the others. */
static bool has_file(struct judge *j, const struct diag_row *dev)
{
	const struct diag_row *setup = eadm_judge_setup(j, dev);
	int error = eadm_judge_errno(setup, SETUP_UVERBS_ERROR);

	return !diag_has(setup, SETUP_UVERBS) ||
	       (*diag_text(setup, SETUP_UVERBS) && error != ENOENT);
}

static void lacks_provider(struct judge *j, const struct diag_row *dev,
			   const struct diag_row *verbs, const char *provider)
{
	char why[400];

	if (fault_of(verbs, provider, why, sizeof(why))) {
		eadm_accuse(j, dev, "libibverbs cannot load the provider %s: %s",
			    provider, why);
		eadm_judge_cause(j, "A file of the provider is missing or damaged, belongs to another version of libibverbs, or may not be read by the caller.");
		eadm_judge_next(j, "install ibverbs-providers (rdma-core) in the version of libibverbs, or give the file back its mode");
	} else if (fault_of(verbs, "libibverbs", why, sizeof(why))) {
		eadm_accuse(j, dev, "libibverbs does not list it: %s", why);
		eadm_judge_cause(j, "A file of libibverbs may not be read by the caller.");
		eadm_judge_next(j, "give the file back its mode, or reinstall rdma-core");
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

/* Without a list, as in a capture of another version, files have to do. */
static void judge_files(struct judge *j, const struct diag_row *dev,
			const struct diag_row *verbs, const char *provider)
{
	char why[400];

	if (fault_of(verbs, provider, why, sizeof(why)))
		lacks_provider(j, dev, verbs, provider);
	else if (has_word(diag_text(verbs, VERBS_PROVIDERS), provider))
		eadm_pass(j, dev, "the provider of verbs for %s is installed",
			  provider);
	else
		eadm_accuse(j, dev, "no provider of verbs for %s: applications do not find the device",
			    provider);
}

/* Verbs finds a device's provider by the name of its driver. */
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
		eadm_accuse(j, now, "no verbs device: processes cannot use it");
		eadm_judge_next(j, "modprobe ib_uverbs");
	} else if (eadm_judge_knows(j, setup, SETUP_UVERBS_ERROR)) {
		if (error)
			eadm_accuse(j, now, "/dev/infiniband/%s: %s", node,
				    strerror(error));
		else
			eadm_pass(j, now, "/dev/infiniband/%s can be opened",
				  node);
	}
}

#define SETUP	EADM_RULES_SETUP

const struct eadm_rule eadm_rules_verbs[] = {
	{
		.name = "rdma-cm", .kind = DIAG_VERBS, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The caller cannot make connections through rdma_cm.",
		.cause = "The module rdma_ucm is not loaded, or the caller may not open its file.",
		.next = "a udev rule or the group that owns the file",
		.alike = "Applications that run as another user: only the caller's permission is checked.",
		.look = look_rdma_cm,
	}, {
		.name = "libibverbs", .kind = DIAG_VERBS, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "libibverbs is not installed, or cannot be used.",
		.cause = "The package is missing.",
		.next = "install libibverbs1 or rdma-core-libs",
		.alike = "A machine where only the kernel uses RDMA, or an image without verbs: therefore a notice. Only a damaged library is a failure.",
		.look = look_verbs,
	}, {
		.name = "provider", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "libibverbs does not list the device.",
		.cause = "rdma-core is too old, or its providers are not installed.",
		.next = "install ibverbs-providers (rdma-core) with this provider",
		.alike = "Providers of adapters that this machine does not have, a provider that the environment names, and a device without a file in /dev: only what libibverbs does not list for the caller is judged.",
		.look = look_provider,
	}, {
		.name = "uverbs", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The caller cannot open the device.",
		.cause = "Its file is not there, or the caller may not open it.",
		.next = "a udev rule, the group that owns the file, or --device for containers",
		.alike = "Applications that run as another user: only the caller's permission is checked.",
		.look = look_uverbs,
	},
	{ 0 }
};
