// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about the network of a device: its MTU, and other interfaces in its subnet. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules_setup.h"

/*
 * Size of a RoCE packet's headers, rounded up, because drivers assume different sizes.
 */
#define ROCE_HEADERS	104

/* ---- MTU ----------------------------------------------------------------------- */

static void look_active_mtu(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t active = diag_u64(now, DEV_ACTIVE_MTU);
	uint64_t max = diag_u64(now, DEV_MAX_MTU);
	const char *netdev = diag_text(now, DEV_NETDEV);
	const struct diag_row *setup = eadm_judge_setup(j, now);
	const char *bond = diag_text(setup, SETUP_BOND);
	uint64_t mtu = diag_u64(setup, SETUP_MTU);
	char next[256];

	(void)then;
	if (!active || !max)
		return;
	if (active >= max) {
		eadm_pass(j, now, "port 1: the active MTU is %" PRIu64 ", the largest supported",
			  active);
		return;
	}
	if (mtu && mtu < max + ROCE_HEADERS) {
		eadm_accuse(j, now, "port 1: the active MTU is %" PRIu64 " instead of %" PRIu64 ", because %s has an MTU of %" PRIu64 ", not %" PRIu64,
			    active, max, netdev, mtu, max + ROCE_HEADERS);
		/* A bond's members have the MTU of the bond. */
		snprintf(next, sizeof(next), "ip link set %s mtu %" PRIu64 ", if the network and all peers allow it",
			 *bond ? bond : "{netdev}", max + ROCE_HEADERS);
		eadm_judge_next(j, next);
	} else {
		eadm_accuse(j, now, "port 1: the active MTU is %" PRIu64 " instead of %" PRIu64,
			    active, max);
		eadm_judge_cause(j, "The subnet manager, the switch or the driver set the MTU.");
	}
	eadm_cite(j, DIAG_DEV, now, DEV_ACTIVE_MTU);
	eadm_cite(j, DIAG_DEV, now, DEV_MAX_MTU);
	if (mtu)
		eadm_cite(j, DIAG_SETUP, setup, SETUP_MTU);
}

/* ---- subnets ------------------------------------------------------------------- */

static void cite_subnet(struct judge *j, const struct diag_row *setup)
{
	static const signed char fields[] = {
		SETUP_SUBNET, SETUP_ARP_ANSWERS, SETUP_ARP_IGNORE,
		SETUP_ARP_ANNOUNCE, SETUP_RP_FILTER, SETUP_ROUTE_NETDEV, -1,
	};

	eadm_cite_all(j, DIAG_SETUP, setup, fields);
}

static void accuse_filter(struct judge *j, const struct diag_row *now,
			  const struct diag_row *setup)
{
	eadm_accuse(j, now, "%s drops packets of its subnet (rp_filter 1) because replies would leave through %s; other interfaces in its subnet: %s",
		    diag_text(setup, SETUP_NETDEV),
		    diag_text(setup, SETUP_ROUTE_NETDEV),
		    diag_text(setup, SETUP_SUBNET));
	eadm_judge_cause(j, "The route to the subnet uses a different interface, and the reverse-path filter is strict.");
	eadm_judge_next(j, "sysctl net.ipv4.conf.{netdev}.rp_filter=2; or add a routing table for each address: ip rule add from ADDRESS table NUMBER");
	cite_subnet(j, setup);
}

static void look_subnet(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const struct diag_row *setup = eadm_judge_setup(j, now);
	const char *netdev = diag_text(setup, SETUP_NETDEV);
	const char *others = diag_text(setup, SETUP_SUBNET);
	const char *leaves = diag_text(setup, SETUP_ROUTE_NETDEV);
	bool elsewhere = *leaves && strcmp(leaves, netdev) != 0;

	(void)then;
	if (!*netdev || !diag_has(setup, SETUP_SUBNET))
		return;
	/* Without an IPv4 address, the interface is not in any subnet. */
	if (!*others && diag_has(setup, SETUP_IPV4) &&
	    !diag_u64(setup, SETUP_IPV4))
		return;
	if (!*others) {
		eadm_pass(j, now, "no other network interface is in the subnet of %s",
			  netdev);
		return;
	}
	if (elsewhere && diag_u64(setup, SETUP_RP_FILTER) == 1)
		accuse_filter(j, now, setup);
	if (!eadm_judge_knows(j, setup, SETUP_ARP_ANSWERS))
		return;
	if (*diag_text(setup, SETUP_ARP_ANSWERS)) {
		eadm_accuse(j, now, "%s is in the subnet of %s, whose address is also announced by %s (arp_ignore 0)%s%s",
			    others, netdev, diag_text(setup, SETUP_ARP_ANSWERS),
			    elsewhere ? "; its packets leave through " : "",
			    elsewhere ? leaves : "");
		cite_subnet(j, setup);
	} else if (!elsewhere || diag_u64(setup, SETUP_RP_FILTER) != 1) {
		eadm_pass(j, now, "%s is in the subnet of %s, but does not answer ARP requests for that interface",
			  others, netdev);
	}
}

const struct eadm_rule eadm_rules_net[] = {
	{
		.name = "active-mtu", .kind = DIAG_DEV,
		.groups = EADM_GROUP_SETUP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The port uses a smaller MTU than it supports.",
		.cause = "With RoCE, the MTU of the network interface limits the MTU of the port.",
		.next = "ibv_devinfo -d {dev}; the path MTU is the smaller MTU of both ends",
		.alike = "In a network with the usual MTU of 1500, this is normal, so the verdict is only a notice. Devices with protocols other than RoCE and InfiniBand are skipped. RDMA netlink does not show the path MTU of a QP.",
		.look = look_active_mtu,
	}, {
		.name = "subnet", .kind = DIAG_DEV,
		.groups = EADM_GROUP_SETUP,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Another network interface in the same subnet answers ARP requests for this interface's address, or packets are dropped because replies would leave through another interface.",
		.cause = "By default, Linux answers ARP requests for all of its addresses on all interfaces: peers may send to the wrong adapter, which drops RDMA packets.",
		.next = "sysctl net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2",
		.alike = "Interfaces of one subnet are excluded if each answers only for its own addresses (arp_ignore 1 or 2); so are macvlan and VLAN interfaces, members of a bond or bridge, and interfaces without a carrier. If the network itself answers ARP requests, as in some clouds, the setup looks the same, so the verdict is only a warning.",
		.look = look_subnet,
	},
	{ 0 }
};
