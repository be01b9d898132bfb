// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about the network interface of a device, and the GID to use in this network namespace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "rules_setup.h"

bool eadm_judge_has_roce(const struct diag_row *setup)
{
	return diag_has(setup, SETUP_GID_SCOPE) &&
	       diag_has(setup, SETUP_GID_USABLE) &&
	       diag_u64(setup, SETUP_GID_USABLE) == EADM_GID_USE_BEST;
}

/* ---- the network interface -------------------------------------------------------- */

/*
 * Returns the interface of a GID if RDMA netlink does not show it because the interface
 * is in a different network namespace; "" if there is none or if it is unknown.
 */
static const char *interface_elsewhere(struct judge *j,
				       const struct diag_row *dev)
{
	const struct diag_row *setup = eadm_judge_setup(j, dev);

	return *diag_text(dev, DEV_NETDEV) || eadm_judge_has_roce(setup) ?
		       "" : diag_text(setup, SETUP_GID_NETDEV);
}

/* Puts the network interfaces of all ports, separated by commas. */
static void list_interfaces(struct judge *j, const struct diag_row *dev,
			    char *buf, size_t size)
{
	struct diag_rows ports = eadm_diag_of(eadm_judge_now(j), DIAG_PORT, dev->dev);
	size_t i, used = 0;

	snprintf(buf, size, "%s", diag_text(dev, DEV_NETDEV));
	for (i = 0; ports.n > 1 && i < ports.n && used < size; i++) {
		const char *netdev = diag_text(&ports.row[i], PORT_NETDEV);

		if (*netdev)
			used += snprintf(buf + used, size - used, "%s%s",
					 used ? ", " : "", netdev);
	}
}

void eadm_look_netdev(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	const char *elsewhere = interface_elsewhere(j, now);
	const struct eadm_family *family = eadm_judge_family(j, now);
	const struct diag_row *setup = eadm_judge_setup(j, now);
	char netdevs[256];

	(void)then;
	if ((family && !eadm_family_has_netdev(family)) ||
	    eadm_judge_is_infiniband(j, now))
		return;
	list_interfaces(j, now, netdevs, sizeof(netdevs));
	if (*netdevs) {
		eadm_pass(j, now, "belongs to %s", netdevs);
		return;
	}
	if (eadm_judge_has_roce(setup)) {
		eadm_pass(j, now, "%s is in this network namespace; the interface below it is in another one",
			  diag_text(setup, SETUP_GID_NETDEV));
		return;
	}
	/*
	 * A port is active only if its interface is up, or if it needs no interface, as
	 * with InfiniBand.
	 */
	if (!*elsewhere && (!diag_has(now, DEV_PORT_STATE) ||
			    diag_u64(now, DEV_PORT_STATE) != EADM_PORT_STATE_ACTIVE)) {
		eadm_accuse(j, now, "it has no network interface");
		return;
	}
	/*
	 * This happens in a container that sees the adapters of its host; older kernels
	 * name the interface only with RoCE.
	 */
	if (*elsewhere)
		eadm_accuse(j, now, "its network interface %s is in another network namespace",
			    elsewhere);
	else
		eadm_accuse(j, now, "none of its network interfaces is in this network namespace");
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_cause(j, "Network namespaces share the devices (see rdma system show), but not their network interfaces.");
	/* Only with RoCE can a port have GIDs of additional interfaces. */
	if (diag_has(setup, SETUP_GID_SCOPE))
		eadm_judge_next(j, "use an adapter or a GID whose interface is in this network namespace: eadm dump gid -d {dev}");
	else
		eadm_judge_next(j, "use an adapter whose interface is in this network namespace");
}

/* ---- the GID ---------------------------------------------------------------------- */

/*
 * Names that the list of unusable GIDs contains: those of the field "usable" of "gid".
 */
static const struct {
	const char *name, *text;
} uses[] = {
	{ "yes", "usable, too" },
	{ "same-link", "link-local" },
	{ "roce-v1", "RoCE v1" },
	{ "other-netns", "another network namespace" },
	{ "netdev-down", "interface is down" },
	{ "no-netdev", "no interface" },
	{ "no-address", "is not an address of the interface" },
};

/* Append the indices of all other GIDs with this use: " 0 2 (link-local)". */
static void add_others(const char *others, size_t use, const char *before,
		       char *buf, size_t size)
{
	const size_t len = strlen(uses[use].name);
	size_t used = strlen(buf), n, digits;
	const char *at;
	bool any = false;

	for (at = others; *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		digits = strspn(at, "0123456789");
		if (!digits || n != digits + 1 + len || at[digits] != '=' ||
		    memcmp(at + digits + 1, uses[use].name, len) != 0 ||
		    used + digits + 64 > size)
			continue;
		used += snprintf(buf + used, size - used, "%s %.*s",
				 any ? "" : before, (int)digits, at);
		any = true;
	}
	if (any)
		snprintf(buf + used, size - used, " (%s)", uses[use].text);
}

/* "; not 0 2 (link-local), 1 (RoCE v1)", limited to the space in a finding. */
static const char *other_gids(const struct diag_row *setup, char buf[256])
{
	const char *others = diag_text(setup, SETUP_GID_OTHERS);
	size_t i;

	*buf = '\0';
	for (i = 1; i < EADM_ARRAY_SIZE(uses); i++)
		add_others(others, i, *buf ? "," : "; not", buf, 256);
	add_others(others, 0, "; also", buf, 256);
	return buf;
}

/*
 * The only usable GID, if any, is link-local: all GIDs for addresses of the bond belong
 * to the active member's device.
 */
static void note_standby(struct judge *j, const struct diag_row *now,
			 const struct diag_row *setup)
{
	eadm_accuse(j, now, "port 1: no GID for an address of %s, because %s is a standby member of it",
		    diag_text(setup, SETUP_BOND),
		    diag_text(setup, SETUP_NETDEV));
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_cause(j, "The kernel assigns such GIDs to the device of the active member.");
	eadm_judge_next(j, "use the device of the active member: eadm dump gid");
}

static void pass_roce(struct judge *j, const struct diag_row *now,
		      const struct diag_row *setup)
{
	uint64_t index = diag_u64(setup, SETUP_GID_INDEX);
	const char *gid = diag_text(setup, SETUP_GID);
	const char *type = diag_text(setup, SETUP_GID_TYPE);
	const char *netdev = diag_text(setup, SETUP_GID_NETDEV);
	char others[256], next[128];

	if (diag_u64(setup, SETUP_GID_SCOPE) == EADM_GID_SCOPE_LINK_LOCAL &&
	    diag_u64(setup, SETUP_STANDBY)) {
		note_standby(j, now, setup);
		return;
	}
	other_gids(setup, others);
	if (diag_u64(setup, SETUP_GID_SCOPE) == EADM_GID_SCOPE_LINK_LOCAL) {
		eadm_accuse(j, now, "port 1: index %" PRIu64 " is usable only on the same link: %s (%s, %s) is link-local%s",
			    index, gid, type, netdev, others);
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_cause(j, "The network interface has no other address.");
		snprintf(next, sizeof(next), "ip address add ADDRESS dev %s; for peers on the same link, use index %" PRIu64,
			 netdev, index);
		eadm_judge_next(j, next);
		return;
	}
	eadm_pass(j, now, "port 1: use index %" PRIu64 ", %s (%s, %s)%s", index,
		  gid, type, netdev, others);
	if (!*others)
		return;
	snprintf(next, sizeof(next), "NCCL_IB_GID_INDEX=%" PRIu64 ", ib_write_bw -x %" PRIu64 ", ibv_rc_pingpong -g %" PRIu64,
		 index, index, index);
	eadm_judge_next(j, next);
}

/*
 * The kernel creates one GID from the MAC address, and one for each IP address as soon
 * as it is added.
 */
static void accuse_no_address(struct judge *j, const struct diag_row *now,
			      const struct diag_row *setup)
{
	bool link_local = diag_u64(setup, SETUP_GID_SCOPE) ==
			  EADM_GID_SCOPE_LINK_LOCAL;

	eadm_accuse(j, now, "port 1: no GID is usable: index %" PRIu64 ", %s, is not a valid address of %s",
		    diag_u64(setup, SETUP_GID_INDEX), diag_text(setup, SETUP_GID),
		    diag_text(setup, SETUP_GID_NETDEV));
	eadm_judge_cause(j, link_local ?
			 "IPv6 is disabled on the interface, or the link-local address is not derived from the MAC address (addrgenmode)." :
			 "Another host has the same address (dadfailed), or the address was removed.");
	eadm_judge_next(j, link_local ?
			"ip address add ADDRESS dev {netdev}; ip -d link show {netdev}; sysctl net.ipv6.conf.{netdev}.disable_ipv6" :
			"ip -6 address show dev {netdev} dadfailed; give one of the hosts another address");
}

static void accuse_unusable(struct judge *j, const struct diag_row *now,
			    const struct diag_row *setup)
{
	uint64_t use = diag_u64(setup, SETUP_GID_USABLE);
	const char *netdev = diag_text(setup, SETUP_GID_NETDEV);

	/* A port that is down is reported by a different rule. */
	if (use != EADM_GID_USE_OTHER_NETNS && diag_has(now, DEV_PORT_STATE) &&
	    diag_u64(now, DEV_PORT_STATE) == EADM_PORT_STATE_DOWN)
		return;
	if (use == EADM_GID_USE_OTHER_NETNS) {
		eadm_accuse(j, now, "port 1: no GID is usable: %s is in another network namespace",
			    netdev);
		eadm_judge_cause(j, "Network namespaces share the devices (see rdma system show), but not their network interfaces.");
		eadm_judge_next(j, "use an adapter whose interface is in this network namespace; with RoCE, an interface above it (macvlan, VLAN) is sufficient: eadm dump gid -d {dev}");
	} else if (use == EADM_GID_USE_NO_ADDRESS) {
		accuse_no_address(j, now, setup);
	} else {
		eadm_accuse(j, now, "port 1: no GID is usable: %s is down",
			    *netdev ? netdev : "the network interface");
		eadm_judge_cause(j, "The network interface is administratively down.");
		eadm_judge_next(j, "ip link set {netdev} up");
	}
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
}

void eadm_look_gid(struct judge *j, const struct diag_row *now,
		   const struct diag_row *then)
{
	const struct eadm_family *family = eadm_judge_family(j, now);
	const struct diag_row *setup = eadm_judge_setup(j, now);

	(void)then;
	if (!eadm_judge_knows(j, setup, SETUP_GID))
		return;
	if (!*diag_text(setup, SETUP_GID)) {
		eadm_accuse(j, now, "the port has no GID");
		if (!family || eadm_family_has_netdev(family))
			return;
		eadm_judge_cause(j, "The adapter reports no address.");
		eadm_judge_next(j, "dmesg | grep {driver}; reload the driver");
	} else if (eadm_judge_has_roce(setup)) {
		pass_roce(j, now, setup);
	} else if (diag_has(setup, SETUP_GID_USABLE) &&
		   diag_u64(setup, SETUP_GID_USABLE) != EADM_GID_USE_BEST) {
		accuse_unusable(j, now, setup);
	} else {
		eadm_pass(j, now, "GID %" PRIu64 " is %s%s",
			  diag_u64(setup, SETUP_GID_INDEX),
			  diag_text(setup, SETUP_GID),
			  *interface_elsewhere(j, now) ?
				  " (interface in another network namespace)" :
				  "");
	}
}
