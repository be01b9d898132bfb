// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about the setup of the machine. They also report passed checks, so each rule
 * may report a line for a device. Data that a source lacks is not checked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "rules.h"
#include "rules_setup.h"
#include "eadm_nl.h"
#include "source/query.h"

/* With a lower limit on locked memory, ordinary applications fail. */
#define MEMLOCK_MIN	(64ULL << 20)
/* IPv6 requires every path to support at least this MTU. */
#define MTU_MIN		1280

/*
 * Returns the library on top of verbs through which applications use one of the
 * devices.
 */
static const char *middleware(struct judge *j)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct eadm_family *family;
	const char *name = NULL;
	size_t i;

	for (i = 0; i < devs->n && !name; i++) {
		family = eadm_judge_family(j, &devs->row[i]);
		name = family ? eadm_family_middleware(family) : NULL;
	}
	return name;
}

/*
 * Returns true if the driver should show its state but does not: such a check must not
 * count as passed.
 */
static bool is_hidden(const struct diag_row *dev)
{
	const struct eadm_family *family =
		eadm_family_find(diag_text(dev, DEV_DRIVER));

	return family && eadm_family_has_companion(family) &&
	       !diag_has(dev, DEV_STATE);
}

static const char show_it[] =
	"load eadm.ko and the {driver}.ko that comes with it (see modinfo {driver})";

/* Report data that the driver should show but does not. */
bool eadm_judge_hidden(struct judge *j, const struct diag_row *dev,
		       const char *what)
{
	if (!is_hidden(dev))
		return false;
	eadm_unseen(j, dev, show_it, "%s cannot be read", what);
	return true;
}

/* ---- the machine --------------------------------------------------------------- */

static void look_modules(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	static const char *const needed[] = { "ib_core", "ib_uverbs", "rdma_cm",
					      "rdma_ucm" };
	char missing[64] = "";
	size_t i, at = 0, n = EADM_ARRAY_SIZE(needed);

	(void)then;
	/* The last two modules are needed only for connections. */
	if (!eadm_judge_uses_cm(j))
		n -= 2;
	for (i = 0; i < n; i++) {
		const struct diag_row *module = eadm_judge_module(j, needed[i]);

		if (!eadm_judge_knows(j, module, MOD_LOADED))
			return;
		if (!diag_u64(module, MOD_LOADED))
			at += snprintf(missing + at, sizeof(missing) - at,
				       "%s%s", at ? ", " : "", needed[i]);
	}
	if (at) {
		eadm_accuse(j, now, "not loaded: %s", missing);
		/* Without connections, the other two modules are not needed. */
		if (!strncmp(missing, "rdma_", strlen("rdma_")))
			eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	} else {
		eadm_pass(j, now, "%s are loaded",
			  n < EADM_ARRAY_SIZE(needed) ?
				  "ib_core and ib_uverbs" :
				  "ib_core, ib_uverbs, rdma_cm and rdma_ucm");
	}
}

/* The origin of the family's driver module in brackets, or "" if unknown. */
static void put_origin(struct judge *j, const struct eadm_family *family,
		       char *buf, size_t size)
{
	const char *origin = diag_text(
		eadm_judge_module(j, eadm_family_module(family, 0)), MOD_ORIGIN);

	*buf = '\0';
	if (*origin)
		snprintf(buf, size, " (%s)", origin);
}

/*
 * The companion rejects a driver that was built with a different version of the
 * interface.
 */
static bool is_other_build(struct judge *j, const struct diag_row *dev)
{
	const struct diag_row *setup = eadm_judge_setup(j, dev);

	return !diag_has(dev, DEV_STATE) &&
	       diag_has(setup, SETUP_DRIVER_INTERFACE) &&
	       diag_has(setup, SETUP_COMPANION_INTERFACE) &&
	       diag_u64(setup, SETUP_DRIVER_INTERFACE) !=
		       diag_u64(setup, SETUP_COMPANION_INTERFACE);
}

static void accuse_builds(struct judge *j, const struct diag_row *dev)
{
	const struct diag_row *setup = eadm_judge_setup(j, dev);

	eadm_accuse(j, dev, "driver %s and eadm.ko come from different builds (interfaces %08" PRIx64 " and %08" PRIx64 "), so the companion does not show the device",
		    eadm_judge_driver(j, dev),
		    diag_u64(setup, SETUP_DRIVER_INTERFACE),
		    diag_u64(setup, SETUP_COMPANION_INTERFACE));
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_next(j, "reload eadm.ko, or {driver}.ko if that is the older one (modinfo {driver}), or continue with the data from RDMA netlink");
}

/* Reports a driver that is not eadm's although eadm has a driver for the adapter. */
static bool is_foreign(struct judge *j, const struct diag_row *dev)
{
	const struct eadm_family *family =
		eadm_family_find(eadm_judge_driver(j, dev));
	char remedy[160], whose[128];
	const char *module;

	if (diag_has(dev, DEV_STATE) || !family ||
	    !eadm_family_has_companion(family))
		return false;
	if (is_other_build(j, dev)) {
		accuse_builds(j, dev);
		return true;
	}
	module = eadm_family_module(family, 0);
	put_origin(j, family, whose, sizeof(whose));
	eadm_accuse(j, dev, "the loaded driver %s is not eadm's%s and does not support the companion module",
		    module, whose);
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	snprintf(remedy, sizeof(remedy),
		 "load eadm's %s.ko instead, or continue with the data from RDMA netlink",
		 module);
	eadm_judge_next(j, remedy);
	return true;
}

/* Returns true if eadm has a driver for one of the devices, or if there is no device. */
static bool has_use_for_companion(struct judge *j)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct eadm_family *family;
	size_t i;

	for (i = 0; i < devs->n; i++) {
		family = eadm_judge_family(j, &devs->row[i]);
		if (family && eadm_family_has_companion(family))
			return true;
	}
	return !devs->n;
}

/*
 * Everything else works without the companion. If no driver supports the companion,
 * nothing is missing.
 */
static void lacks_companion(struct judge *j, const struct diag_row *now)
{
	if (!has_use_for_companion(j))
		return;
	eadm_accuse(j, now, EADM_COMPANION_ABSENT ": only data from RDMA netlink is shown");
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
}

static void look_companion(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct diag_row *module = eadm_judge_module(j, "eadm");
	const char *version = diag_text(module, MOD_VERSION);
	const char *space = *version ? " " : "";
	bool shows = false, foreign = false;
	size_t i;

	(void)then;
	for (i = 0; i < devs->n; i++)
		shows |= diag_has(&devs->row[i], DEV_STATE);
	if (!module && !shows) {
		lacks_companion(j, now);
		return;
	}
	for (i = 0; i < devs->n; i++)
		foreign |= is_foreign(j, &devs->row[i]);
	if (devs->n && !shows && !foreign) {
		eadm_accuse(j, now, "module eadm%s%s is loaded, but shows no device, because the drivers do not support it",
			    space, version);
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_next(j, "continue with the data from RDMA netlink");
	}
	if (devs->n && !shows)
		return;
	if (*version && strcmp(version, EADM_VERSION) != 0) {
		eadm_accuse(j, now, "the module eadm has version %s, but the tool has version %s", version,
			    EADM_VERSION);
		eadm_judge_next(j, "install the same version of the module and the tool, or continue: unknown fields are preserved");
	} else {
		eadm_pass(j, now, "module eadm%s%s is loaded", space, version);
	}
}

static void look_memlock(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t bytes = diag_u64(now, MACHINE_MEMLOCK);

	(void)then;
	if (!eadm_judge_knows(j, now, MACHINE_MEMLOCK))
		return;
	if (bytes == UINT64_MAX)
		eadm_pass(j, now, "locked memory is unlimited");
	else if (diag_u64(now, MACHINE_IPC_LOCK))
		eadm_pass(j, now, "RLIMIT_MEMLOCK (%" PRIu64 " KiB) does not apply to this process: it has CAP_IPC_LOCK",
			  bytes / 1024);
	else if (bytes < MEMLOCK_MIN)
		eadm_accuse(j, now, "RLIMIT_MEMLOCK of this process: %" PRIu64 " KiB; each process has its own limit",
			    bytes / 1024);
	else
		eadm_pass(j, now, "RLIMIT_MEMLOCK of this process: %" PRIu64 " KiB",
			  bytes / 1024);
	eadm_cite(j, DIAG_MACHINE, now, MACHINE_MEMLOCK);
}

static void look_netns(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	(void)then;
	if (!diag_has(now, MACHINE_NETNS))
		return;
	if (diag_u64(now, MACHINE_NETNS) == EADM_NETNS_MODE_SHARED)
		eadm_pass(j, now, "shared: devices are visible in all network namespaces");
	else
		eadm_pass(j, now, "exclusive: a device is visible only in its network namespace");
}

static void look_lockdown(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	const char *mode = diag_text(now, MACHINE_LOCKDOWN);

	(void)then;
	if (!eadm_judge_knows(j, now, MACHINE_LOCKDOWN) || !*mode)
		return;
	if (strstr(mode, "[none]"))
		eadm_pass(j, now, "the kernel is not locked down");
	else
		eadm_accuse(j, now, "the kernel is locked down: %s; contexts of the adapter cannot be read",
			    mode);
}

/* ---- devices ------------------------------------------------------------------- */

static void look_hidden_driver(struct judge *j, const struct diag_row *dev)
{
	const char *driver = diag_text(dev, DEV_DRIVER);
	char whose[128];

	if (is_other_build(j, dev)) {
		accuse_builds(j, dev);
		return;
	}
	/* The family is known, because is_hidden() requires one. */
	put_origin(j, eadm_family_find(driver), whose, sizeof(whose));
	if (!eadm_judge_module(j, "eadm"))
		eadm_accuse(j, dev, "driver %s%s; %sfirmware cannot be read",
			    driver, whose, *whose ? "" : "origin and ");
	else
		eadm_accuse(j, dev, "driver %s, which is not eadm's%s and does not support the companion module",
			    driver, whose);
	eadm_judge_next(j, show_it);
}

static void look_driver(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const char *version = diag_text(eadm_judge_setup(j, now), SETUP_VERSION);
	const char *driver = eadm_judge_driver(j, now);
	const char *fw = diag_text(now, DEV_FW);

	(void)then;
	if (is_hidden(now))
		look_hidden_driver(j, now);
	else if (*driver)
		eadm_pass(j, now, "driver %s%s%s%s%s", driver,
			  *version ? " " : "", version,
			  *fw ? ", firmware " : "", fw);
}

static void look_mtu(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct diag_row *setup = eadm_judge_setup(j, now), *other = NULL;
	uint64_t mtu = diag_u64(now, DEV_MTU);
	size_t i;

	(void)then;
	if (!mtu && *diag_text(now, DEV_NETDEV) &&
	    eadm_judge_knows(j, setup, SETUP_MTU))
		mtu = diag_u64(setup, SETUP_MTU);
	if (!mtu)
		return;
	for (i = 0; i < devs->n && !other; i++) {
		if (diag_u64(now, DEV_MTU) &&
		    diag_u64(&devs->row[i], DEV_MTU) > mtu)
			other = &devs->row[i];
	}
	if (mtu < MTU_MIN) {
		eadm_accuse(j, now, "an MTU of %" PRIu64 " is too small for good performance",
			    mtu);
		eadm_judge_next(j, "ip link set {netdev} mtu 1500");
	} else if (other) {
		eadm_accuse(j, now, "an MTU of %" PRIu64 ", but %s has %" PRIu64,
			    mtu, other->device, diag_u64(other, DEV_MTU));
	} else {
		eadm_pass(j, now, "an MTU of %" PRIu64, mtu);
	}
}

/* Addresses of interfaces above this interface can be used as well. */
static bool has_address_above(struct judge *j, const struct diag_row *now,
			      const struct diag_row *setup)
{
	const char *netdev = diag_text(setup, SETUP_NETDEV);
	const char *bond = diag_text(setup, SETUP_BOND);
	const char *vlan = diag_text(setup, SETUP_ADDRESS_VLAN);

	/* With RoCE, the kernel has created a GID for each of these addresses. */
	if (eadm_judge_has_roce(setup) &&
	    diag_u64(setup, SETUP_GID_SCOPE) != EADM_GID_SCOPE_LINK_LOCAL)
		eadm_pass(j, now, "%s, above %s, has an address",
			  diag_text(setup, SETUP_GID_NETDEV), netdev);
	else if (eadm_judge_has_roce(setup) && diag_u64(setup, SETUP_STANDBY))
		eadm_pass(j, now, "%s is a standby member of %s", netdev, bond);
	else if (*bond && diag_has(setup, SETUP_GID) &&
		 !*diag_text(setup, SETUP_GID_NETDEV))
		/*
		 * If the kernel does not report the interface of this GID, the GID was
		 * found by the bond's address.
		 */
		return true;
	else if (*vlan)
		eadm_pass(j, now, "%s, a VLAN of %s, has an address", vlan,
			  netdev);
	else
		return false;
	return true;
}

/* Connections are established by IP address. */
static void look_address(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const struct diag_row *setup = eadm_judge_setup(j, now);
	const char *netdev = diag_text(setup, SETUP_NETDEV);

	(void)then;
	if (!*netdev || !diag_has(setup, SETUP_IPV4))
		return;
	if (diag_u64(setup, SETUP_IPV4))
		eadm_pass(j, now, "%s has an IPv4 address", netdev);
	else if (diag_u64(setup, SETUP_IPV6))
		eadm_pass(j, now, "%s has an IPv6 address", netdev);
	else if (has_address_above(j, now, setup))
		return;
	else if (diag_has(setup, SETUP_IPV6))
		eadm_accuse(j, now, "%s has no address in this network namespace besides the link-local one, so rdma_cm cannot connect to other networks",
			    netdev);
	else
		eadm_accuse(j, now, "%s has no IPv4 address in this network namespace",
			    netdev);
	if (!*diag_text(setup, SETUP_BOND))
		return;
	eadm_judge_cause(j, "The interface is a member of a bond: only with RoCE can the devices of members use the bond's addresses.");
	eadm_judge_next(j, "ip link set {netdev} nomaster; ip address add ADDRESS dev {netdev}");
}

static const struct diag_row *machine(struct judge *j)
{
	const struct diag_rows *rows = &eadm_judge_now(j)->rows[DIAG_MACHINE];

	return rows->n ? rows->row : NULL;
}

static void look_vectors(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const struct eadm_family *family =
		eadm_family_find(diag_text(now, DEV_DRIVER));
	uint64_t most = family ? eadm_family_vectors(family) : 0;
	uint64_t cpus = diag_u64(machine(j), MACHINE_CPUS);
	uint64_t wanted = most && most < cpus ? most : cpus, have;
	/*
	 * Every known adapter has at least one interrupt vector, for asynchronous
	 * events.
	 */
	uint64_t common = family ? family->common_vectors : 1;
	char beside[40] = "";
	const char *vectors;

	(void)then;
	if (!diag_u64(now, DEV_VECTORS)) {
		eadm_judge_hidden(j, now, "the number of the device's interrupt vectors");
		return;
	}
	have = diag_u64(now, DEV_VECTORS);
	have -= have < common ? have : common;
	vectors = eadm_plural(have, "vector", "vectors");
	if (eadm_judge_knows(j, machine(j), MACHINE_CPUS))
		snprintf(beside, sizeof(beside), ", %" PRIu64 " %s", cpus,
			 eadm_plural(cpus, "CPU", "CPUs"));
	if (have && have >= wanted) {
		eadm_pass(j, now, "%" PRIu64 " %s for completions%s", have,
			  vectors, beside);
		return;
	}
	eadm_accuse(j, now, "%" PRIu64 " %s for completions%s", have, vectors,
		    beside);
	if (!have)
		eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
}

/* If all completion vectors interrupt the same CPU, that CPU is the bottleneck. */
/* Name the files to write to, by the number of each completion interrupt. */
static void say_interrupts(struct judge *j, const struct diag_row *now)
{
	const struct diag_rows *irqs = &eadm_judge_now(j)->rows[DIAG_IRQ];
	const char *between = "";
	char list[160] = "", text[320];
	size_t at = 0, i;

	for (i = 0; i < irqs->n && at < sizeof(list) - 24; i++) {
		const struct diag_row *irq = &irqs->row[i];

		if (irq->dev != now->dev ||
		    diag_u64(irq, IRQ_ROLE) != EADM_EQ_ROLE_COMPLETION)
			continue;
		at += snprintf(list + at, sizeof(list) - at, "%s%" PRIu64,
			       between, irq->id);
		between = ",";
	}
	snprintf(text, sizeof(text),
		 "let irqbalance spread them, or write other CPU numbers to /proc/irq/N/smp_affinity_list, where N is %s",
		 list);
	eadm_judge_next(j, text);
}

static void look_affinity(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	const struct diag_rows *irqs = &eadm_judge_now(j)->rows[DIAG_IRQ];
	unsigned int all = 0, known = 0;
	const char *first = NULL, *cpus;
	bool spread = false;
	size_t i;

	(void)then;
	if (!eadm_judge_knows(j, machine(j), MACHINE_CPUS) ||
	    diag_u64(machine(j), MACHINE_CPUS) < 2)
		return;
	for (i = 0; i < irqs->n; i++) {
		const struct diag_row *irq = &irqs->row[i];

		if (irq->dev != now->dev)
			continue;
		all++;
		if (diag_u64(irq, IRQ_ROLE) != EADM_EQ_ROLE_COMPLETION ||
		    !eadm_judge_knows(j, irq, IRQ_CPUS))
			continue;
		cpus = diag_text(irq, IRQ_CPUS);
		if (!*cpus)
			continue;
		known++;
		spread |= first && strcmp(first, cpus) != 0;
		first = first ? first : cpus;
	}
	if (!all)
		eadm_judge_hidden(j, now, "the list of CPUs of the device's interrupts");
	if (known < 2)
		return;
	if (spread)
		eadm_pass(j, now, "%u completion interrupts on different CPUs",
			  known);
	if (spread)
		return;
	eadm_accuse(j, now, "all %u completion interrupts go to CPU %s", known,
		    first);
	say_interrupts(j, now);
}

static void look_iommu(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *setup = eadm_judge_setup(j, now);
	const char *type = diag_text(setup, SETUP_IOMMU);

	(void)then;
	if (!eadm_judge_knows(j, setup, SETUP_IOMMU))
		return;
	if (!*type)
		eadm_pass(j, now, "the device's DMA is not translated by an IOMMU");
	else if (!strcmp(type, "identity"))
		eadm_pass(j, now, "the IOMMU passes the device's DMA through");
	else
		eadm_accuse(j, now, "the IOMMU translates the device's DMA (%s), so registering memory takes longer",
			    type);
}

/* ---- what libraries above verbs need -------------------------------------------- */

/*
 * When a process forks, its buffers in huge pages are copied, which requires more huge
 * pages.
 */
static void look_huge_pages(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t all = diag_u64(now, MACHINE_HUGE);
	uint64_t left = diag_u64(now, MACHINE_HUGE_FREE);
	const char *library = middleware(j);

	(void)then;
	if (!library || !eadm_judge_knows(j, now, MACHINE_HUGE))
		return;
	if (!all) {
		eadm_pass(j, now, "there are no huge pages, so %s uses regular pages",
			  library);
	} else if (left) {
		eadm_pass(j, now, "%" PRIu64 " of %" PRIu64 " huge pages %s free",
			  left, all, eadm_plural(left, "is", "are"));
	} else {
		eadm_accuse(j, now, "none of %" PRIu64 " huge %s is free: a process of %s that forks may be killed by SIGBUS",
			    all, eadm_plural(all, "page", "pages"), library);
		eadm_cite(j, DIAG_MACHINE, now, MACHINE_HUGE);
		eadm_cite(j, DIAG_MACHINE, now, MACHINE_HUGE_FREE);
	}
}

static void look_fork(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	(void)then;
	if (!middleware(j) || !eadm_judge_knows(j, now, MACHINE_COPY_ON_FORK))
		return;
	if (diag_u64(now, MACHINE_COPY_ON_FORK))
		eadm_pass(j, now, "the kernel copies registered memory for a process that forks");
	else
		eadm_accuse(j, now, "the kernel does not copy registered memory for a process that forks: its data may be damaged");
}

/*
 * Applications that find no device through this library silently use a different
 * transport.
 */
static void look_in_use(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const struct eadm_family *family = eadm_judge_family(j, now);
	const char *library = family ? eadm_family_middleware(family) : NULL;
	uint64_t n = diag_u64(now, DEV_CTXS);

	(void)then;
	if (!library || !diag_has(now, DEV_CTXS))
		return;
	if (n)
		eadm_pass(j, now, "%" PRIu64 " user %s open", n,
			  eadm_plural(n, "context is", "contexts are"));
	else
		eadm_pass(j, now, "no process has the device open: if an application is running, it uses a different transport, such as TCP (fi_info lists the devices of %s)",
			  library);
}

/* GPU memory is registered through dma-buf, or through a dedicated module. */
static void look_gpu(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	static const struct {
		const char *driver, *peer;
	} gpus[] = {
		{ "nvidia", "nvidia_peermem" },
		{ "amdgpu", NULL },
		{ "neuron", NULL },
	};
	unsigned int i;

	(void)then;
	for (i = 0; i < EADM_ARRAY_SIZE(gpus); i++) {
		if (!diag_u64(eadm_judge_module(j, gpus[i].driver), MOD_LOADED))
			continue;
		if (gpus[i].peer &&
		    diag_u64(eadm_judge_module(j, gpus[i].peer), MOD_LOADED))
			eadm_pass(j, now, "%s and %s are loaded: GPU memory can be registered by address",
				  gpus[i].driver, gpus[i].peer);
		else
			eadm_pass(j, now, "%s is loaded without a module for peer memory: GPU memory can be registered by dma-buf only",
				  gpus[i].driver);
	}
}

#define SETUP	EADM_GROUP_SETUP

const struct eadm_rule eadm_rules_setup[] = {
	{
		.name = "rdma-modules", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Kernel modules that RDMA applications need are not loaded.",
		.cause = "The modules are not configured to load at boot.",
		.next = "modprobe -a ib_uverbs rdma_ucm; list them in /etc/modules-load.d/rdma.conf",
		.alike = "A machine where only the kernel uses RDMA looks the same, so the verdict is only a warning.",
		.look = look_modules,
	}, {
		.name = "companion", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The module eadm is not loaded or shows no device, or its version differs from that of the tool.",
		.cause = "The module is not installed, or the driver is not the one that comes with it.",
		.next = "modprobe eadm (the module is in the package eadm-dkms)",
		.alike = "A stock driver or a missing module is a notice, because everything else works. Only a version mismatch is a warning.",
		.look = look_companion,
	}, {
		.name = "memlock", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The caller's limit on locked memory is below 64 MiB.",
		.cause = "The limit on locked memory has its default value, which is too small for memory registration.",
		.next = "set '* - memlock unlimited' in /etc/security/limits.d/, LimitMEMLOCK=infinity in services, or --ulimit memlock=-1 for containers",
		.alike = "Only the caller's limit is checked, and applications may have a different limit, so the verdict is only a notice.",
		.look = look_memlock,
	}, {
		.name = "netns-mode", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "Reports the visibility of devices in network namespaces; never a fault.",
		.cause = "The mode is a setting of ib_core.",
		.next = "rdma system show",
		.alike = "Neither mode is a fault.",
		.look = look_netns,
	}, {
		.name = "lockdown", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The kernel is locked down, so the adapter's own state cannot be read.",
		.cause = "Secure Boot or a kernel parameter enabled lockdown.",
		.next = "boot without lockdown to read the adapter's own state",
		.alike = "A machine may be locked down on purpose, which limits only diagnosis.",
		.look = look_lockdown,
	}, {
		.name = "driver", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The driver of the device does not support the companion module.",
		.cause = "A different driver of the same name is loaded.",
		.next = "load eadm.ko and the {driver}.ko that comes with it (see modinfo {driver})",
		.alike = "Drivers without companion support are skipped.",
		.look = look_driver,
	}, {
		.name = "netdev", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "No network interface belongs to the device.",
		.cause = "The interface has a different MAC address, or was removed.",
		.next = "find the network interface with the adapter's MAC address",
		.alike = "In a container that sees the host's adapters but not their network interfaces, the verdict is a notice. A device that has only InfiniBand ports, which need no interface, is excluded. An interface in the container above the adapter's interface (macvlan, VLAN) is sufficient.",
		.look = eadm_look_netdev,
	}, {
		.name = "mtu", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The MTU of the interface is very small, or smaller than that of another device on this machine.",
		.cause = "The MTU was set on one interface and not on others.",
		.next = "give all interfaces of a network the same MTU",
		.alike = "Interfaces in different networks may have different MTUs, so this is only a warning.",
		.look = look_mtu,
	}, {
		.name = "gid", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "Port 1 has no GID, or none that can be used in the caller's network namespace.",
		.cause = "The network interface has no address, or is down.",
		.next = "ip address add ADDRESS dev {netdev}; ip link set {netdev} up",
		.alike = "The verdict is only a notice in a container that sees the GIDs of its host's interfaces, if the interfaces are down, if the interface is a standby member of a bond, and if the only usable GID is link-local. A port that is down is reported only by the rule link-down. Addresses and versions of GIDs are checked only with RoCE, because adapters of other protocols have one GID or equivalent ones.",
		.look = eadm_look_gid,
	}, {
		.name = "address", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The network interface has no IP address in the caller's network namespace.",
		.cause = "The interface was not configured, or is used in another network namespace.",
		.next = "ip address add ADDRESS dev {netdev}",
		.alike = "A machine that uses only IPv6 is excluded, because one address of either family is sufficient. Addresses of VLANs above the interface and, with RoCE, of a bond or any other interface above it are also sufficient, because connections from these addresses use the device.",
		.look = look_address,
	}, {
		.name = "vectors", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "There are fewer completion vectors than CPUs.",
		.cause = "The adapter was assigned few interrupt vectors.",
		.next = "use an instance type with more interrupt vectors",
		.alike = "If all adapters of a family have few vectors, the limit of the family is used instead of the number of CPUs.",
		.look = look_vectors,
	}, {
		.name = "affinity", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "All completion interrupts go to one CPU.",
		.cause = "Interrupts are not spread over the CPUs.",
		.next = "write other CPU numbers to /proc/irq/NUMBER/smp_affinity_list, or let irqbalance do it",
		.alike = "A machine with one CPU, or a device with one vector, is skipped.",
		.look = look_affinity,
	}, {
		.name = "iommu", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "An IOMMU translates the device's DMA.",
		.cause = "The kernel was booted with the IOMMU enabled.",
		.next = "boot the kernel with iommu.passthrough=1",
		.alike = "The IOMMU may be enabled on purpose, for protection; only performance is affected.",
		.look = look_iommu,
	}, {
		.name = "huge-pages", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "No huge page is free for a library that keeps buffers in huge pages.",
		.cause = "All huge pages are in use, by the library's buffers or by other users.",
		.next = "increase vm.nr_hugepages (sysctl), or disable the use of huge pages in the library's provider (man fi_provider)",
		.alike = "A machine without huge pages is excluded, because regular pages are used. Adapters whose applications use verbs are skipped.",
		.look = look_huge_pages,
	}, {
		.name = "fork", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The kernel does not copy registered memory for processes that fork.",
		.cause = "The kernel is older than Linux 5.12.",
		.next = "set RDMAV_FORK_SAFE=1 in the environment of applications, and RDMAV_HUGEPAGES_SAFE=1 if they register huge pages",
		.alike = "Applications that do not fork are not affected, so the verdict is only a notice.",
		.look = look_fork,
	}, {
		.name = "in-use", .kind = DIAG_DEV, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "Reports whether a process has the device open; never a fault.",
		.cause = "The state depends on which applications are running.",
		.next = "eadm dump ctx -d {dev}",
		.alike = "A machine without a job looks the same, so this is never a fault.",
		.look = look_in_use,
	}, {
		.name = "gpu-memory", .kind = DIAG_MACHINE, .groups = SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "Reports the methods to register GPU memory; never a fault.",
		.cause = "The available methods depend on the loaded modules.",
		.next = "use modprobe to load the module for peer memory that comes with the GPU's driver",
		.alike = "Applications that register by dma-buf need no module, so this is never a fault.",
		.look = look_gpu,
	},
	{ 0 }
};
