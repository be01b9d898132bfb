/* SPDX-License-Identifier: GPL-2.0-only */
/* Network interfaces, namespaces and sockets. */
#ifndef COMPAT_NET_H
#define COMPAT_NET_H

#include <linux/netdevice.h>
#include <net/net_namespace.h>

/*
 * kernel_bind() and similar functions take a struct sockaddr or, in newer kernels, a sockaddr
 * without a fixed size.
 */
#define compat_sockaddr(addr)	((void *)(addr))

#ifndef COMPAT_HAVE_NETDEV_HOLD
struct compat_netdevice_tracker { };
#define netdevice_tracker	struct compat_netdevice_tracker

static inline void netdev_hold(struct net_device *netdev, netdevice_tracker *tracker, gfp_t gfp)
{
	dev_hold(netdev);
}

static inline void netdev_put(struct net_device *netdev, netdevice_tracker *tracker)
{
	dev_put(netdev);
}
#endif

static inline bool compat_netdev_is_registered(const struct net_device *netdev)
{
#ifdef COMPAT_HAVE_REG_STATE_ADDRESS
	return READ_ONCE(netdev->reg_state) == NETREG_REGISTERED;
#else
	return netdev->reg_state == NETREG_REGISTERED;
#endif
}

/* Returns a number that is unique to the namespace. */
static inline u64 compat_net_cookie(const struct net *net)
{
#ifdef COMPAT_HAVE_NET_COOKIE
	return net->net_cookie;
#else
	/* The cookie is not exported to modules, so the random hash_mix is used. */
	return (u64)net->hash_mix << 32 | net->ns.inum;
#endif
}

#endif /* COMPAT_NET_H */
