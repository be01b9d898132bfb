// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Other network interfaces in the subnet of a device's interface: those that answer ARP
 * requests for its address, and those through which its packets leave.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "base/root.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* Maximum lengths of the fields subnet and arp-answers in spec/eadm.yaml. */
#define MAX_OTHERS	512
#define MAX_ANSWERS	256
/* If a subnet has more addresses, the rest are not tried. */
#define MAX_TRIES	64

/* ---- interfaces in one subnet ---------------------------------------------------- */

static uint32_t address_of(const struct sockaddr *addr)
{
	return ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr);
}

/* Returns true if an interface has a carrier and is in a subnet with other hosts. */
static bool is_in_subnet(const struct ifaddrs *one)
{
	const unsigned int flags = IFF_UP | IFF_RUNNING;

	/* A subnet with a longer prefix has no other hosts. */
	return one->ifa_addr && one->ifa_netmask &&
	       one->ifa_addr->sa_family == AF_INET &&
	       (one->ifa_flags & flags) == flags &&
	       !(one->ifa_flags & (IFF_LOOPBACK | IFF_NOARP)) &&
	       address_of(one->ifa_netmask) < 0xFFFFFFFE;
}

static bool is_same_subnet(const struct ifaddrs *a, const struct ifaddrs *b)
{
	uint32_t mask = address_of(a->ifa_netmask) & address_of(b->ifa_netmask);

	return !((address_of(a->ifa_addr) ^ address_of(b->ifa_addr)) & mask);
}

static bool is_above(const struct eadm_ctx *ctx, const char *upper,
		     const char *lower)
{
	return !eadm_root_access(ctx, F_OK, "/sys/class/net/%.16s/lower_%.16s",
				 upper, lower);
}

/*
 * Returns true if one interface is above the other, or both are above the same interface:
 * packets take the same route.
 */
static bool is_related(const struct eadm_ctx *ctx, const char *a, const char *b)
{
	const size_t len = strlen("lower_");
	const struct dirent *entry;
	bool related;
	char path[64];
	DIR *dir;

	related = is_above(ctx, a, b) || is_above(ctx, b, a);
	snprintf(path, sizeof(path), "/sys/class/net/%.16s", a);
	dir = related ? NULL : eadm_root_dir(ctx, path);
	while (dir && !related && (entry = readdir(dir)))
		related = !strncmp(entry->d_name, "lower_", len) &&
			  is_above(ctx, b, entry->d_name + len);
	if (dir)
		closedir(dir);
	return related;
}

/*
 * ---- the kernel's settings and routes ----------------------------------------------
 */

/*
 * The kernel applies the larger of an interface's value and the global value. Returns -1
 * if unknown.
 */
static int setting(const struct eadm_ctx *ctx, const char *netdev,
		   const char *name)
{
	const char *const of[] = { "all", netdev };
	int value, most = -1;
	char text[16];
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(of); i++) {
		if (!eadm_root_line(ctx, text, sizeof(text),
				    "/proc/sys/net/ipv4/conf/%.16s/%s", of[i],
				    name))
			return -1;
		value = strtol(text, NULL, 10);
		most = value > most ? value : most;
	}
	return most;
}

struct way {
	bool local;		/* the destination is this machine itself */
	unsigned int index;	/* index of the interface; 0: none */
};

static int take_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(nlh);
	struct way *way = data;
	const struct nlattr *attr;

	if (nlh->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	way->local = route->rtm_type != RTN_UNICAST;
	mnl_attr_for_each(attr, nlh, sizeof(*route)) {
		if (mnl_attr_get_type(attr) == RTA_OIF &&
		    mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			way->index = mnl_attr_get_u32(attr);
	}
	return MNL_CB_OK;
}

static bool ask_way(uint32_t from, uint32_t to, struct way *way)
{
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct rtmsg) + 32];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *route;

	memset(way, 0, sizeof(*way));
	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	route = mnl_nlmsg_put_extra_header(nlh, sizeof(*route));
	route->rtm_family = AF_INET;
	route->rtm_dst_len = 32;
	route->rtm_src_len = 32;
	mnl_attr_put_u32(nlh, RTA_DST, htonl(to));
	mnl_attr_put_u32(nlh, RTA_SRC, htonl(from));
	return eadm_ask(NETLINK_ROUTE, nlh, take_route, way);
}

/*
 * Puts the route to the first address of the subnet that does not belong to this
 * machine.
 */
static void put_way(struct eadm_answer *answer, const struct ifaddrs *mine)
{
	uint32_t mask = address_of(mine->ifa_netmask);
	uint32_t from = address_of(mine->ifa_addr), host;
	char netdev[IFNAMSIZ];
	struct way way;

	for (host = 1; host < ~mask && host <= MAX_TRIES; host++) {
		if (!ask_way(from, (from & mask) | host, &way))
			return;
		if (way.local)
			continue;
		if (way.index && if_indextoname(way.index, netdev))
			eadm_local_put(answer, EADM_A_SETUP_ROUTE_NETDEV, netdev);
		return;
	}
}

/* ---- the fields ------------------------------------------------------------------- */

static void put_settings(struct eadm_answer *answer, const char *netdev)
{
	static const struct {
		const char *name;
		uint16_t attr;
	} settings[] = {
		{ "arp_ignore", EADM_A_SETUP_ARP_IGNORE },
		{ "arp_announce", EADM_A_SETUP_ARP_ANNOUNCE },
		{ "rp_filter", EADM_A_SETUP_RP_FILTER },
	};
	size_t i;
	int value;

	for (i = 0; i < EADM_ARRAY_SIZE(settings); i++) {
		value = setting(answer->ctx, netdev, settings[i].name);
		if (value >= 0)
			eadm_message_put_u32(&answer->out, settings[i].attr,
					     value);
	}
}

struct others {
	char all[MAX_OTHERS], answering[MAX_ANSWERS];
	bool known;		/* known which interfaces answer */
};

static void add_other(const struct eadm_ctx *ctx, const struct ifaddrs *other,
		      struct others *others)
{
	char text[IFNAMSIZ + INET_ADDRSTRLEN + 8], address[INET_ADDRSTRLEN];
	uint32_t mask = address_of(other->ifa_netmask);
	char name[IFNAMSIZ];
	int ignores;

	eadm_local_interface(other, name);
	ignores = setting(ctx, name, "arp_ignore");
	inet_ntop(AF_INET,
		  &((const struct sockaddr_in *)other->ifa_addr)->sin_addr,
		  address, sizeof(address));
	snprintf(text, sizeof(text), "%s=%s/%d", name, address,
		 __builtin_popcount(mask));
	eadm_local_add_word(others->all, sizeof(others->all), text, strlen(text));
	others->known &= ignores >= 0;
	if (!ignores)
		eadm_local_add_word(others->answering, sizeof(others->answering),
				    name, strlen(name));
}

/*
 * Puts data about the first of the interface's addresses that shares a subnet with
 * other interfaces.
 */
void eadm_local_subnet(struct eadm_answer *answer, const struct ifaddrs *all,
		       const char *netdev)
{
	const struct ifaddrs *mine, *one;
	struct others others = { .known = true };
	char name[IFNAMSIZ];

	for (mine = all; mine && !*others.all; mine = mine->ifa_next) {
		if (!is_in_subnet(mine) || !eadm_local_is_of(mine, netdev))
			continue;
		for (one = all; one; one = one->ifa_next) {
			eadm_local_interface(one, name);
			if (is_in_subnet(one) && is_same_subnet(mine, one) &&
			    strcmp(name, netdev) != 0 &&
			    !is_related(answer->ctx, netdev, name))
				add_other(answer->ctx, one, &others);
		}
		if (*others.all)
			put_way(answer, mine);
	}
	eadm_local_put(answer, EADM_A_SETUP_SUBNET, others.all);
	if (!*others.all)
		return;
	if (others.known)
		eadm_local_put(answer, EADM_A_SETUP_ARP_ANSWERS, others.answering);
	put_settings(answer, netdev);
}
