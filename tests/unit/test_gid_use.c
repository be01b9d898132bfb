// SPDX-License-Identifier: GPL-2.0-or-later
/* Which GIDs can be used beside given network interfaces. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "source/gids.h"
#include "source/local.h"
#include "tap.h"

#define V1 "IB/RoCE v1"
#define V2 "RoCE v2"

static struct ifaddrs list[16];
static struct sockaddr_storage addr[16], peer[16];
static size_t n_list;
static struct eadm_gid gid[16];
static struct eadm_gids gids = { .gid = gid };

static struct ifaddrs *interface(const char *name, unsigned int flags, int family)
{
	struct ifaddrs *one = &list[n_list];

	*one = (struct ifaddrs){
		.ifa_name = (char *)name, .ifa_flags = flags,
		.ifa_addr = (struct sockaddr *)&addr[n_list],
	};
	memset(&addr[n_list], 0, sizeof(addr[n_list]));
	addr[n_list].ss_family = family;
	if (n_list)
		list[n_list - 1].ifa_next = one;
	n_list++;
	return one;
}

/* 52:54:00:00:00:LAST; its link-local address ends with 5054:ff:fe00:LAST. */
static void link(const char *name, unsigned int flags, unsigned char last)
{
	struct sockaddr_ll *ll =
		(void *)interface(name, flags, AF_PACKET)->ifa_addr;

	ll->sll_halen = 6;
	memcpy(ll->sll_addr, (unsigned char []){ 0x52, 0x54, 0, 0, 0, last }, 6);
}

static void ipv4(const char *name, const char *text, const char *other)
{
	struct ifaddrs *one = interface(name, IFF_UP, AF_INET);
	struct sockaddr_in *in = (void *)one->ifa_addr;

	inet_pton(AF_INET, text, &in->sin_addr);
	if (!other)
		return;
	in = (void *)&peer[n_list - 1];
	in->sin_family = AF_INET;
	inet_pton(AF_INET, other, &in->sin_addr);
	one->ifa_dstaddr = (void *)in;
}

static void ipv6(const char *name, const char *text)
{
	struct sockaddr_in6 *in6 =
		(void *)interface(name, IFF_UP, AF_INET6)->ifa_addr;

	inet_pton(AF_INET6, text, &in6->sin6_addr);
}

static void begin(bool roce)
{
	n_list = 0;
	gids.n = 0;
	gids.roce = roce;
}

static void add(const char *text, const char *type, const char *netdev)
{
	struct eadm_gid *one = &gid[gids.n];

	*one = (struct eadm_gid){ .index = gids.n++ };
	inet_pton(AF_INET6, text, &one->gid);
	snprintf(one->type, sizeof(one->type), "%s", type);
	snprintf(one->netdev, sizeof(one->netdev), "%s", netdev);
}

/* The uses of all, in their order. */
static bool are(const char *want)
{
	static const char letters[] = {
		[EADM_GID_USE_BEST] = 'B', [EADM_GID_USE_YES] = 'y',
		[EADM_GID_USE_SAME_LINK] = 'l', [EADM_GID_USE_ROCE_V1] = '1',
		[EADM_GID_USE_OTHER_NETNS] = 'o',
		[EADM_GID_USE_NETDEV_DOWN] = 'd',
		[EADM_GID_USE_NO_NETDEV] = 'n',
		[EADM_GID_USE_NO_ADDRESS] = 'a',
	};
	char got[17] = "";
	size_t i;

	eadm_gids_judge(&gids, n_list ? list : NULL);
	for (i = 0; i < gids.n; i++)
		got[i] = letters[gid[i].usable];
	if (!strcmp(got, want))
		return true;
	printf("# %s\n", got);
	return false;
}

static bool spaces(const char *want)
{
	size_t i;

	for (i = 0; i < gids.n; i++) {
		if ("uta"[gid[i].namespace] != want[i])
			return false;
	}
	return true;
}

static void roce(void)
{
	begin(true);
	link("eth0", IFF_UP, 1);
	ipv4("eth0", "10.0.0.1", NULL);
	ipv6("eth0", "2001:db8::1");
	ipv6("eth0", "fe80::5054:ff:fe00:1");
	add("fe80::5054:ff:fe00:1", V1, "eth0");
	add("fe80::5054:ff:fe00:1", V2, "eth0");
	add("::ffff:10.0.0.1", V1, "eth0");
	add("2001:db8::1", V2, "eth0");
	add("::ffff:10.0.0.1", V2, "eth0");
	ok(are("1l1yB") && spaces("ttttt"),
	   "RoCE v2 of the IPv4 address is best, whatever its place");
	ok(gid[0].scope == EADM_GID_SCOPE_LINK_LOCAL &&
		   gid[3].scope == EADM_GID_SCOPE_GLOBAL &&
		   gid[4].scope == EADM_GID_SCOPE_IPV4, "how far each reaches");
	gids.n = 4;
	ok(are("1l1B"), "IPv6 only: the global address");
	gids.n = 3;
	ok(are("1B1"), "link-local, where RoCE v2 has nothing else");
	add("::ffff:10.0.0.1", "", "eth0");
	ok(are("1l1B"), "an unknown type is not taken for RoCE v1");

	begin(true);
	link("eth0", IFF_UP, 1);
	ipv4("eth0", "10.0.0.1", NULL);
	add("fe80::5054:ff:fe00:1", V1, "eth0");
	add("::ffff:10.0.0.1", V1, "eth0");
	ok(are("lB"), "RoCE v1 where there is no other version");
}

static void addresses(void)
{
	begin(true);
	link("eth0", IFF_UP, 1);
	add("fe80::5054:ff:fe00:1", V1, "eth0");
	add("fe80::5054:ff:fe00:1", V2, "eth0");
	ok(are("Ba") && spaces("tt"),
	   "IPv6 is disabled: peers resolve RoCE v1 without it");
	ipv6("eth0", "fe80::1234:5678:9abc:def0");
	ok(are("Ba"), "a link-local address that is not made of the MAC address");
	ipv6("eth0", "fe80::5054:ff:fe00:1");
	ok(are("1B"), "and one that is");
	add("2001:db8::1", V2, "eth0");
	ipv6("eth0", "2001:db8::1");
	list[n_list - 1].ifa_flags |= EADM_IFA_DUPLICATE;
	ok(are("1Ba") && spaces("ttt"), "an address that another host has");
	list[n_list - 1].ifa_flags &= ~EADM_IFA_DUPLICATE;
	ok(are("1lB"), "and one that none has");

	begin(true);
	link("eth0", IFF_UP | IFF_SLAVE, 1);
	add("fe80::5054:ff:fe00:1", V2, "eth0");
	ok(are("B"), "the bond of a member has the addresses");
}

static void namespaces(void)
{
	begin(true);
	link("eth0", IFF_UP, 1);
	ipv4("eth0", "10.0.0.1", NULL);
	add("fe80::5054:ff:fe00:2", V2, "eth0");
	add("::ffff:10.0.0.2", V2, "eth0");
	add("::ffff:10.0.0.3", V2, "net1");
	add("::ffff:10.0.0.1", V1, "eth0");
	ok(are("oooB") && spaces("aaat"),
	   "an interface of the same name in another network namespace");
	gids.n = 3;
	ok(are("ooo"), "no GID of this network namespace");

	begin(true);
	link("eth0", IFF_UP, 1);
	ipv4("eth0:1", "10.0.0.1", NULL);
	ipv4("eth0", "10.0.0.5", "10.0.0.6");
	link("eth0.7", IFF_UP, 1);
	ipv4("eth0.7", "10.0.7.1", NULL);
	link("eth01", IFF_UP, 3);
	ipv4("eth01", "10.0.0.9", NULL);
	add("::ffff:10.0.0.1", V2, "eth0");
	add("::ffff:10.0.0.6", V2, "eth0");
	add("::ffff:10.0.7.1", V2, "eth0.7");
	ok(are("Byy"), "a label, a peer's address, a VLAN");
	add("::ffff:10.0.0.9", V2, "eth0");
	ok(are("Byyo"), "an address of another interface, whose name begins alike");

	begin(true);
	add("::ffff:10.0.0.1", V2, "eth0");
	ok(are("B") && spaces("u"), "interfaces that cannot be read");
}

static void down(void)
{
	begin(true);
	link("eth0", 0, 1);
	ipv4("eth0", "10.0.0.1", NULL);
	list[1].ifa_flags = 0;
	add("fe80::5054:ff:fe00:1", V2, "eth0");
	add("::ffff:10.0.0.1", V2, "eth0");
	add("::ffff:10.0.0.1", V2, "");
	add("::ffff:10.0.0.1", V1, "eth0");
	ok(are("ddnd"), "an interface that is down, and none");
	link("bond0", IFF_UP, 1);
	ipv4("bond0", "10.0.0.7", NULL);
	add("::ffff:10.0.0.7", V1, "bond0");
	ok(are("ddndB"), "RoCE v1 of the only one that is up");
}

static void other_protocols(void)
{
	begin(false);
	link("eth0", IFF_UP, 1);
	add("fe80::5054:ff:fe00:1", V1, "");
	ok(are("B") && spaces("u"), "a GID without a network interface (EFA, InfiniBand)");
	add("fe80::1", V1, "");
	ok(are("By"), "a second one");

	begin(false);
	link("eth0", IFF_UP, 1);
	add("5254:0:1::", V1, "eth0");
	ok(are("B") && spaces("t"), "a MAC address (iWARP)");
	list[0].ifa_name = (char *)"eth1";
	ok(are("o") && spaces("a"), "whose interface is in another network namespace");
	link("eth0", IFF_UP, 2);
	ok(are("B") && spaces("u"), "whose interface has been given another one, or is another");
	list[1].ifa_flags = 0;
	ok(are("d"), "whose interface is down");
}

int main(void)
{
	roce();
	addresses();
	namespaces();
	down();
	other_protocols();
	return done();
}
