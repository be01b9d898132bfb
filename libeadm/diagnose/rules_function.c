// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about adapters as seen on the bus: with or without a driver, in this or a
 * different network namespace.
 */
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "eadm_nl.h"
#include "rules_setup.h"

static bool is_driver_of(const struct eadm_family *family, const char *name)
{
	const char *driver;
	unsigned int i;

	for (i = 0; (driver = eadm_family_driver(family, i)); i++) {
		if (!strcmp(driver, name))
			return true;
	}
	return false;
}

static bool is_exclusive(struct judge *j)
{
	const struct diag_rows *rows = &eadm_judge_now(j)->rows[DIAG_MACHINE];

	return rows->n && diag_has(rows->row, MACHINE_NETNS) &&
	       diag_u64(rows->row, MACHINE_NETNS) == EADM_NETNS_MODE_EXCLUSIVE;
}

/* Returns true if the function is neither bound nor reserved for another use. */
static bool is_unbound(const struct diag_row *function)
{
	return diag_has(function, FUNC_DRIVER) &&
	       !*diag_text(function, FUNC_DRIVER) &&
	       !*diag_text(function, FUNC_OVERRIDE);
}

struct places {
	unsigned int here, elsewhere, unbound;
	char addresses[128];	/* addresses of functions in other namespaces */
};

/*
 * A driver registers a device when it is bound. If the device is not visible, it is in
 * a different network namespace, unless all namespaces share the devices.
 */
static void find_places(struct judge *j, struct places *places)
{
	const struct diag_rows *rows = &eadm_judge_now(j)->rows[DIAG_FUNCTION];
	bool exclusive = is_exclusive(j);
	const struct eadm_family *family;
	const struct diag_row *row;
	size_t i, at = 0;

	memset(places, 0, sizeof(*places));
	for (i = 0; i < rows->n; i++) {
		row = &rows->row[i];
		family = eadm_family_find(diag_text(row, FUNC_FAMILY));
		if (is_unbound(row))
			places->unbound++;
		if (!family || !diag_has(row, FUNC_DEVICES) ||
		    !is_driver_of(family, diag_text(row, FUNC_DRIVER)))
			continue;
		if (*diag_text(row, FUNC_DEVICES)) {
			places->here++;
			continue;
		}
		if (!exclusive)
			continue;
		places->elsewhere++;
		if (places->elsewhere <= 4)
			at += snprintf(places->addresses + at,
				       sizeof(places->addresses) - at,
				       "%s%.24s", at ? ", " : "",
				       diag_text(row, FUNC_ADDRESS));
		else if (places->elsewhere == 5)
			snprintf(places->addresses + at,
				 sizeof(places->addresses) - at, ", ...");
	}
}

static void look_devices(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	size_t n = eadm_judge_now(j)->rows[DIAG_DEV].n;
	struct places places;

	(void)then;
	find_places(j, &places);
	if (places.elsewhere) {
		eadm_accuse(j, now, "%u of %u %s %s in this network namespace; %s %s in another one",
			    places.here, places.here + places.elsewhere,
			    eadm_plural(places.here + places.elsewhere,
					"adapter", "adapters"),
			    eadm_plural(places.here, "is", "are"),
			    places.addresses,
			    eadm_plural(places.elsewhere, "is", "are"));
		eadm_judge_severity(j, n ? EADM_SEVERITY_NOTICE :
					   EADM_SEVERITY_WARNING);
		eadm_judge_cause(j, "Network namespaces do not share devices (see rdma system show); each device belongs to one namespace.");
		eadm_judge_next(j, "to find the namespace of the device, run ip -all netns exec rdma dev; to move it, run rdma dev set DEV netns NAME in that namespace");
	} else if (n) {
		eadm_pass(j, now, "%zu RDMA %s", n,
			  eadm_plural(n, "device", "devices"));
	} else if (places.unbound) {
		eadm_accuse(j, now, "no RDMA device: %u %s no driver",
			    places.unbound,
			    eadm_plural(places.unbound, "adapter has",
					"adapters have"));
		eadm_judge_cause(j, "An adapter is attached, but no driver is bound to it.");
		eadm_judge_next(j, "load its driver; the check 'unbound' shows the details");
	} else {
		eadm_accuse(j, now, "no RDMA device");
	}
}

/*
 * Returns the name of the module that can drive the function, NULL if unknown, or "" if
 * there is none.
 */
static const char *module_of(struct judge *j, const struct diag_row *function,
			     const struct eadm_family *family, bool *loaded)
{
	const char *name = eadm_family_module(family, 0);

	/*
	 * A loaded module need not be in the directory where the kernel searches for
	 * modules.
	 */
	*loaded = diag_u64(eadm_judge_module(j, name), MOD_LOADED);
	if (*loaded || !diag_has(function, FUNC_MODULE))
		return *loaded ? name : NULL;
	return diag_text(function, FUNC_MODULE);
}

static void accuse_unbound(struct judge *j, const struct diag_row *now,
			   const struct eadm_family *family)
{
	const char *address = diag_text(now, FUNC_ADDRESS);
	const char *name = eadm_family_name(family), *module;
	char next[200];
	bool loaded;

	module = module_of(j, now, family, &loaded);
	if (!module) {
		eadm_accuse(j, now, "adapter %s (%s) has no driver", address,
			    name);
		snprintf(next, sizeof(next), "modprobe %s",
			 eadm_family_module(family, 0));
	} else if (!*module) {
		eadm_accuse(j, now, "adapter %s (%s) has no driver: this kernel has no module for it",
			    address, name);
		snprintf(next, sizeof(next),
			 "install the package with all modules for this kernel, or a package that contains the driver %s",
			 eadm_family_driver(family, 0));
	} else if (!loaded) {
		eadm_accuse(j, now, "adapter %s (%s) has no driver: the module %s is not loaded",
			    address, name, module);
		snprintf(next, sizeof(next), "modprobe %s", module);
	} else {
		eadm_accuse(j, now, "adapter %s (%s) has no driver, though the module %s is loaded",
			    address, name, module);
		snprintf(next, sizeof(next),
			 "to see why the probe failed, run dmesg | grep %s; to retry it, run echo %s > /sys/bus/pci/drivers/%s/bind",
			 address, address, eadm_family_driver(family, 0));
	}
	eadm_judge_next(j, next);
	eadm_cite(j, DIAG_FUNCTION, now, FUNC_DRIVER);
	eadm_cite(j, DIAG_FUNCTION, now, FUNC_MODULE);
}

static void look_unbound(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const char *driver = diag_text(now, FUNC_DRIVER);
	const char *family_name = diag_text(now, FUNC_FAMILY);
	const struct eadm_family *family = eadm_family_find(family_name);

	(void)then;
	if (!family || !eadm_judge_knows(j, now, FUNC_DRIVER))
		return;
	if (is_unbound(now))
		accuse_unbound(j, now, family);
	else if (!*driver)
		eadm_pass(j, now, "adapter %s (%s) is reserved for %s",
			  diag_text(now, FUNC_ADDRESS), family_name,
			  diag_text(now, FUNC_OVERRIDE));
	else
		eadm_pass(j, now, "adapter %s (%s) is bound to %s",
			  diag_text(now, FUNC_ADDRESS), family_name, driver);
}

#define SETUP	EADM_GROUP_SETUP

const struct eadm_rule eadm_rules_function[] = {
	{
		.name = "devices", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "There is no RDMA device.",
		.cause = "No adapter is attached, or no driver is bound to it.",
		.next = "attach an RDMA adapter and load its driver; dmesg shows why a probe failed",
		.alike = "Adapters in another network namespace are reported as a notice if this namespace has an RDMA device, otherwise as a warning.",
		.look = look_devices,
	}, {
		.name = "unbound", .kind = DIAG_FUNCTION, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "An adapter of a known family has no driver.",
		.cause = "Its module is not installed or not loaded, its probe failed, or it was unbound.",
		.next = "load its driver; dmesg shows why a probe failed",
		.alike = "An adapter does not count if it is bound to vfio-pci or another driver for virtual machines, or reserved for such a driver by driver_override.",
		.look = look_unbound,
	},
	{ 0 }
};
