// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Determines which GIDs of a port can be used in this network namespace. The kernel shows
 * the GIDs of all namespaces, and identifies an interface only by its name, which may
 * also exist in a different namespace.
 */
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>

#include "eadm_nl.h"
#include "gids.h"
#include "local.h"

#define MAC_SIZE 6

/* ---- network namespaces --------------------------------------------------------- */

static bool is_mapped(const struct in6_addr *gid, const struct sockaddr *addr)
{
	return addr && addr->sa_family == AF_INET && IN6_IS_ADDR_V4MAPPED(gid) &&
	       !memcmp(gid->s6_addr + 12,
		       &((const struct sockaddr_in *)addr)->sin_addr, 4);
}

/*
 * With RoCE, the link-local GID is derived from the MAC address; with other protocols,
 * the MAC address may be the GID.
 */
static bool has_mac(const struct in6_addr *gid, const struct sockaddr_ll *ll,
		    bool roce)
{
	static const unsigned char middle[] = { 0xff, 0xfe };
	const unsigned char *mac = ll->sll_addr, *id = gid->s6_addr + 8;

	if (ll->sll_halen != MAC_SIZE)
		return false;
	if (!roce)
		return !memcmp(gid, mac, MAC_SIZE);
	return IN6_IS_ADDR_LINKLOCAL(gid) && id[0] == (mac[0] ^ 2) &&
	       !memcmp(id + 1, mac + 1, 2) &&
	       !memcmp(id + 3, middle, sizeof(middle)) &&
	       !memcmp(id + 5, mac + 3, 3);
}

/*
 * Returns true if the GID is derived from this address or, on a point-to-point interface,
 * from the peer's address.
 */
static bool is_made_of(const struct in6_addr *gid, const struct ifaddrs *one,
		       bool roce)
{
	const struct sockaddr *addr = one->ifa_addr;

	if (addr->sa_family == AF_PACKET)
		return has_mac(gid, (const struct sockaddr_ll *)addr, roce);
	if (addr->sa_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(
			gid, &((const struct sockaddr_in6 *)addr)->sin6_addr);
	return is_mapped(gid, addr) || is_mapped(gid, one->ifa_dstaddr);
}

static bool is_v2(const struct eadm_gid *gid)
{
	return strstr(gid->type, "RoCE v2");
}

static void find_netdev(struct eadm_gid *gid, bool roce,
			const struct ifaddrs *all)
{
	const struct ifaddrs *one;
	bool here = false, own = false, up = false, answers = false;

	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || !eadm_local_is_of(one, gid->netdev))
			continue;
		here = true;
		up |= one->ifa_flags & IFF_UP;
		/* A bond represents its members. */
		answers |= one->ifa_flags & IFF_SLAVE;
		if (!is_made_of(&gid->gid, one, roce))
			continue;
		own = true;
		answers |= one->ifa_addr->sa_family != AF_PACKET &&
			   !(one->ifa_flags & EADM_IFA_DUPLICATE);
	}
	/* Only with RoCE does the kernel itself derive GIDs from addresses. */
	if (own)
		gid->namespace = EADM_NAMESPACE_THIS;
	else if (!here || roce)
		gid->namespace = EADM_NAMESPACE_ANOTHER;
	if (here && !up)
		gid->usable = EADM_GID_USE_NETDEV_DOWN;
	/*
	 * The link-local GID is derived from the MAC address even if IPv6 is disabled
	 * or derives its addresses differently; with RoCE v2, peers resolve it like any
	 * address.
	 */
	else if (own && roce && !answers && is_v2(gid))
		gid->usable = EADM_GID_USE_NO_ADDRESS;
	if (gid->namespace == EADM_NAMESPACE_ANOTHER)
		gid->usable = EADM_GID_USE_OTHER_NETNS;
}

static void find_netdevs(struct eadm_gids *gids, const struct ifaddrs *all)
{
	struct eadm_gid *gid;

	for (gid = gids->gid; gid < gids->gid + gids->n; gid++) {
		gid->namespace = EADM_NAMESPACE_UNKNOWN;
		gid->usable = EADM_GID_USE_YES;
		if (*gid->netdev && all)
			find_netdev(gid, gids->roce, all);
		else if (!*gid->netdev && gids->roce)
			gid->usable = EADM_GID_USE_NO_NETDEV;
	}
}

/* ---- use ------------------------------------------------------------------------ */

static bool has_usable_v2(const struct eadm_gids *gids)
{
	size_t i;

	for (i = 0; i < gids->n; i++) {
		if (gids->gid[i].usable == EADM_GID_USE_YES &&
		    is_v2(&gids->gid[i]))
			return true;
	}
	return false;
}

static uint32_t scope_of(const struct in6_addr *gid)
{
	return IN6_IS_ADDR_V4MAPPED(gid) ? EADM_GID_SCOPE_IPV4 :
	       IN6_IS_ADDR_LINKLOCAL(gid) ? EADM_GID_SCOPE_LINK_LOCAL :
					    EADM_GID_SCOPE_GLOBAL;
}

static void judge_roce(struct eadm_gids *gids)
{
	bool v2 = has_usable_v2(gids);
	struct eadm_gid *gid;

	for (gid = gids->gid; gid < gids->gid + gids->n; gid++) {
		gid->scope = scope_of(&gid->gid);
		if (gid->usable != EADM_GID_USE_YES)
			continue;
		if (v2 && strstr(gid->type, "RoCE v1"))
			gid->usable = EADM_GID_USE_ROCE_V1;
		else if (gid->scope == EADM_GID_SCOPE_LINK_LOCAL)
			gid->usable = EADM_GID_USE_SAME_LINK;
	}
}

/* A greater rank is better; 0 means that the GID is not usable. */
static unsigned int rank_of(const struct eadm_gids *gids,
			    const struct eadm_gid *gid)
{
	static const unsigned int ranks[] = {
		[EADM_GID_SCOPE_LINK_LOCAL] = 1,
		[EADM_GID_SCOPE_GLOBAL] = 2,
		[EADM_GID_SCOPE_IPV4] = 3,
	};

	if (gid->usable != EADM_GID_USE_YES &&
	    gid->usable != EADM_GID_USE_SAME_LINK)
		return 0;
	return gids->roce ? ranks[gid->scope] : 1;
}

/* Of equal GIDs, the first is best. */
void eadm_gids_judge(struct eadm_gids *gids, const struct ifaddrs *all)
{
	struct eadm_gid *best = NULL;
	unsigned int rank, most = 0;
	size_t i;

	find_netdevs(gids, all);
	if (gids->roce)
		judge_roce(gids);
	for (i = 0; i < gids->n; i++) {
		rank = rank_of(gids, &gids->gid[i]);
		if (rank <= most)
			continue;
		most = rank;
		best = &gids->gid[i];
	}
	if (best)
		best->usable = EADM_GID_USE_BEST;
}
