// SPDX-License-Identifier: GPL-2.0-only
/*
 * The TCP sockets of a listening endpoint.
 *
 * The wildcard address applies to all devices: each device listens on the same port (hw 10.2), on
 * the current addresses of the device's network interface. A single socket bound to the interface
 * would not suffice: TCP would reply only through that interface, and the reply would not reach a
 * client on a different address of this host.
 */
#include <linux/inetdevice.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/tcp.h>

#include "cm.h"
#include "erdma.h"

/**
 * struct lsock - a listening socket
 * @link: entry in erdma_cep.lsocks
 * @addr: address of the socket
 * @sock: the socket, NULL if TCP refused to listen
 * @saved: original callbacks of the socket
 */
struct lsock {
	struct list_head link;
	__be32 addr;
	struct socket *sock;
	struct erdma_sk_callbacks saved;
};

static void lsock_free(struct erdma_cep *cep, struct lsock *ls)
{
	list_del(&ls->link);
	if (ls->sock) {
		erdma_sock_release(ls->sock, &ls->saved);
		erdma_cep_put(cep);
	}
	kfree(ls);
}

static int lsock_bind(struct lsock *ls, struct erdma_cep *cep)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = cep->local.sin_port,
		.sin_addr.s_addr = ls->addr,
	};
	struct sock *sk = ls->sock->sk;
	int vrf, ret;

	sock_set_reuseaddr(sk);
	/* TCP delivers connections from a VRF only to sockets bound to that VRF. */
	vrf = cep->any_addr ? l3mdev_master_ifindex(cep->dev->netdev) : 0;
	ret = vrf ? sock_bindtoindex(sk, vrf, true) : 0;
	if (!ret)
		ret = kernel_bind(ls->sock, compat_sockaddr(&addr), sizeof(addr));
	if (!ret)
		ret = kernel_listen(ls->sock, cep->backlog);
	if (!ret)
		ret = kernel_getsockname(ls->sock, (struct sockaddr *)&addr);
	if (ret < 0)
		return ret;
	spin_lock(&cep->view);
	cep->local.sin_port = addr.sin_port;
	spin_unlock(&cep->view);
	return 0;
}

/* On failure the entry remains, without a socket, until addresses change. */
static int lsock_add(struct erdma_cep *cep, struct net *net, __be32 addr)
{
	struct lsock *ls = kzalloc(sizeof(*ls), GFP_KERNEL);
	int ret;

	if (!ls)
		return -ENOMEM;
	ls->addr = addr;
	list_add_tail(&ls->link, &cep->lsocks);
	ret = __sock_create(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &ls->sock, 0);
	if (ret)
		return ret;
	erdma_sock_hook(ls->sock->sk, cep, &ls->saved, NULL);
	ret = lsock_bind(ls, cep);
	if (ret) {
		erdma_sock_release(ls->sock, &ls->saved);
		erdma_cep_put(cep);
		ls->sock = NULL;
	}
	return ret;
}

static bool has_lsock(const struct erdma_cep *cep, __be32 addr)
{
	struct lsock *ls;

	list_for_each_entry(ls, &cep->lsocks, link)
		if (ls->addr == addr)
			return true;
	return false;
}

/* Returns an address of the interface that has no socket yet, or 0. */
static __be32 next_addr(const struct erdma_cep *cep)
{
	const struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	__be32 addr = 0;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(cep->dev->netdev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev) {
			if (has_lsock(cep, ifa->ifa_local))
				continue;
			addr = ifa->ifa_local;
			break;
		}
	}
	rcu_read_unlock();
	return addr;
}

static bool is_own_addr(const struct erdma_cep *cep, __be32 addr)
{
	const struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	bool found = false;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(cep->dev->netdev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			found |= ifa->ifa_local == addr;
	}
	rcu_read_unlock();
	return found;
}

/*
 * Returns the interface's namespace, referenced, or NULL if the listener is in a different
 * namespace.
 */
static struct net *netdev_net(const struct erdma_cep *cep)
{
	struct net *net;

	rcu_read_lock();
	net = dev_net(cep->dev->netdev);
	net = compat_net_cookie(net) == cep->net_cookie ? maybe_get_net(net) : NULL;
	rcu_read_unlock();
	return net;
}

/* Listens on as many addresses as possible; returns the first error. */
static int listen_on_all(struct erdma_cep *cep)
{
	struct net *net = netdev_net(cep);
	int err, ret = 0;
	__be32 addr;

	if (!net)
		return 0;
	while ((addr = next_addr(cep))) {
		err = lsock_add(cep, net, addr);
		if (err)
			ibdev_warn(&cep->dev->adapter.ibdev, "cannot listen on %pI4 port %u: %d\n",
				   &addr, ntohs(cep->local.sin_port), err);
		ret = ret ?: err;
		if (err == -ENOMEM)
			break;
	}
	put_net(net);
	return ret;
}

/**
 * erdma_listener_open() - listen for TCP connections of an endpoint
 * @cep: the endpoint, locked, without sockets and with its @backlog set
 * @id: ID with the address: IPv4, possibly the wildcard, or the IPv6 wildcard
 *
 * A device that refuses a wildcard makes listening fail for all devices, so the IPv6 wildcard is
 * accepted. A wildcard that is not IPv6-only covers IPv4, too; for an IPv6-only one, this function
 * does nothing.
 *
 * Context: process.
 * Return: 0, even if no client can connect; -ENODEV for an address in a different network namespace
 * than the interface; or another error. After an error, the sockets are closed with the endpoint.
 */
int erdma_listener_open(struct erdma_cep *cep, const struct iw_cm_id *id)
{
	const struct sockaddr_in6 *addr6 = (const struct sockaddr_in6 *)&id->m_local_addr;
	const struct sockaddr_in *addr = (const struct sockaddr_in *)&id->m_local_addr;
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_in local = { .sin_family = AF_INET };

	lockdep_assert_held(&cep->lock);
	if (addr6->sin6_family == AF_INET6 && ipv6_addr_any(&addr6->sin6_addr))
		local.sin_port = addr6->sin6_port;
	else if (addr->sin_family == AF_INET)
		local = *addr;
	else
		return -EAFNOSUPPORT;
	spin_lock(&cep->view);
	cep->local = local;
	spin_unlock(&cep->view);
	if (addr6->sin6_family == AF_INET6 && compat_iw_afonly(id))
		return 0;
	cep->net_cookie = compat_net_cookie(net);
	cep->any_addr = local.sin_addr.s_addr == htonl(INADDR_ANY);
	if (cep->any_addr)
		return listen_on_all(cep);
	if (!erdma_sock_allowed_in(cep->dev, net))
		return -ENODEV;
	return lsock_add(cep, net, local.sin_addr.s_addr);
}

/**
 * erdma_listener_follow() - listen on the interface's current addresses
 * @cep: a listening endpoint, locked
 *
 * Context: process.
 */
void erdma_listener_follow(struct erdma_cep *cep)
{
	struct lsock *ls, *next;

	lockdep_assert_held(&cep->lock);
	if (!cep->any_addr)
		return;
	list_for_each_entry_safe(ls, next, &cep->lsocks, link)
		if (!ls->sock || !is_own_addr(cep, ls->addr))
			lsock_free(cep, ls);
	listen_on_all(cep);
}

/**
 * erdma_listener_accept() - accept a connection that TCP has established
 * @cep: the listening endpoint, locked
 * @inherited: set to the callbacks to pass to erdma_sock_attach()
 *
 * Context: process.
 * Return: the socket of the connection, or NULL if there is none.
 */
struct socket *erdma_listener_accept(struct erdma_cep *cep,
				     const struct erdma_sk_callbacks **inherited)
{
	struct socket *sock;
	struct lsock *ls;

	lockdep_assert_held(&cep->lock);
	list_for_each_entry(ls, &cep->lsocks, link) {
		if (!ls->sock || kernel_accept(ls->sock, &sock, O_NONBLOCK))
			continue;
		*inherited = &ls->saved;
		return sock;
	}
	return NULL;
}

/**
 * erdma_listener_close() - stop listening
 * @cep: an endpoint, locked; the caller holds a reference to it
 *
 * Does nothing if the endpoint is not listening. Context: process.
 */
void erdma_listener_close(struct erdma_cep *cep)
{
	struct lsock *ls, *next;

	lockdep_assert_held(&cep->lock);
	list_for_each_entry_safe(ls, next, &cep->lsocks, link)
		lsock_free(cep, ls);
}
