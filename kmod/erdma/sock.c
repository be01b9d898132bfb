// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP socket of an endpoint: connecting, addresses, and its callbacks, which only record events for
 * the endpoint's worker (see cm.c).
 */
#include <linux/nsproxy.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "cm.h"
#include "erdma.h"

static void sk_note(struct sock *sk, enum erdma_cep_event event)
{
	struct erdma_cep *cep;

	read_lock_bh(&sk->sk_callback_lock);
	/* The lowest bits are flags of the socket layer. */
	cep = (void *)((uintptr_t)sk->sk_user_data & SK_USER_DATA_PTRMASK);
	if (cep)
		erdma_cep_note(cep, event);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void sk_state_changed(struct sock *sk)
{
	sk_note(sk, ERDMA_CEP_EV_STATE);
}

static void sk_got_data(struct sock *sk)
{
	sk_note(sk, sk->sk_state == TCP_LISTEN ? ERDMA_CEP_EV_ACCEPT : ERDMA_CEP_EV_DATA);
}

/**
 * erdma_sock_hook() - install callbacks that report to an endpoint
 * @sk: the socket, which takes a reference to the endpoint
 * @cep: the endpoint
 * @saved: set to the callbacks that erdma_sock_release() restores
 * @inherited: NULL, or for a child of a listener, the listener's original callbacks: the child has
 *	inherited our callbacks, and TCP may keep using the socket for a while after sock_release()
 *
 * Context: process; @cep is locked, or not visible yet.
 */
void erdma_sock_hook(struct sock *sk, struct erdma_cep *cep, struct erdma_sk_callbacks *saved,
		     const struct erdma_sk_callbacks *inherited)
{
	erdma_cep_get(cep);
	write_lock_bh(&sk->sk_callback_lock);
	if (inherited) {
		*saved = *inherited;
	} else {
		saved->state_change = sk->sk_state_change;
		saved->data_ready = sk->sk_data_ready;
		saved->error_report = sk->sk_error_report;
	}
	/* Without NOCOPY, a child would contain an unreferenced pointer to the listener. */
	sk->sk_user_data = NULL;
	__rcu_assign_sk_user_data_with_flags(sk, cep, SK_USER_DATA_NOCOPY);
	sk->sk_state_change = sk_state_changed;
	sk->sk_data_ready = sk_got_data;
	sk->sk_error_report = sk_state_changed;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * erdma_sock_attach() - attach a socket to an endpoint
 * @cep: the endpoint, which receives events after this call
 * @sock: the socket, owned by the endpoint after this call
 * @inherited: see erdma_sock_hook()
 *
 * Context: process; @cep is locked, or not visible yet.
 */
void erdma_sock_attach(struct erdma_cep *cep, struct socket *sock,
		       const struct erdma_sk_callbacks *inherited)
{
	cep->sock = sock;
	erdma_sock_hook(sock->sk, cep, &cep->saved, inherited);
}

/**
 * erdma_sock_release() - release a socket that has our callbacks
 * @sock: the socket, no longer owned by an endpoint
 * @saved: the original callbacks: those of the socket, or of the listener that accepted it
 *
 * TCP may keep using the socket for some time after this call.
 *
 * Context: process.
 */
void erdma_sock_release(struct socket *sock, const struct erdma_sk_callbacks *saved)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, NULL);
	sk->sk_state_change = saved->state_change;
	sk->sk_data_ready = saved->data_ready;
	sk->sk_error_report = saved->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(sock);
}

/**
 * erdma_sock_detach() - detach an endpoint's socket and release it
 * @cep: the endpoint, locked; the caller holds a reference to it
 *
 * Does nothing if there is no socket. Context: process.
 */
void erdma_sock_detach(struct erdma_cep *cep)
{
	struct socket *sock = cep->sock;

	lockdep_assert_held(&cep->lock);
	if (!sock)
		return;
	cep->sock = NULL;
	erdma_sock_release(sock, &cep->saved);
	erdma_cep_put(cep);
}

/**
 * erdma_sock_names() - read the addresses of a connection
 * @cep: the endpoint, locked, with a socket
 *
 * The local address is kept even if the peer's address is not known.
 *
 * Context: process.
 * Return: 0 if both addresses are known, otherwise TCP's error, usually -ENOTCONN.
 */
int erdma_sock_names(struct erdma_cep *cep)
{
	struct sockaddr_in local, peer;
	int ret;

	lockdep_assert_held(&cep->lock);
	ret = kernel_getsockname(cep->sock, (struct sockaddr *)&local);
	if (ret < 0)
		return ret;
	ret = kernel_getpeername(cep->sock, (struct sockaddr *)&peer);
	spin_lock(&cep->view);
	cep->local = local;
	if (ret >= 0)
		cep->peer = peer;
	spin_unlock(&cep->view);
	return ret < 0 ? ret : 0;
}

/**
 * erdma_sock_allowed_in() - check whether a network namespace may set up connections
 * @dev: the device
 * @net: the namespace
 *
 * Connections are set up in the namespace of their consumer, but the adapter uses their addresses
 * on the network of its interface, where neither routes nor firewalls apply. Therefore only the
 * interface's namespace may choose them: an unprivileged process can create a namespace with any
 * address in it. Recent RDMA cores have the same rule; older ones only compare MAC addresses.
 *
 * Context: any.
 */
bool erdma_sock_allowed_in(const struct erdma_dev *dev, const struct net *net)
{
	return net_eq(dev_net(dev->netdev), net);
}

static int sock_open(struct socket **sock)
{
	int ret = sock_create(AF_INET, SOCK_STREAM, IPPROTO_TCP, sock);

	if (!ret)
		sock_set_reuseaddr((*sock)->sk);
	return ret;
}

/* @any_port: allow TCP to choose a port that is free for this peer. */
static int sock_try_connect(struct erdma_cep *cep, struct iw_cm_id *id, int any_port)
{
	struct sockaddr_in from = *(struct sockaddr_in *)&id->m_local_addr;
	struct socket *sock;
	int ret = sock_open(&sock);

	if (ret)
		return ret;
	erdma_sock_attach(cep, sock, NULL);
	if (any_port) {
		from.sin_port = 0;
		ret = sock->ops->setsockopt(sock, SOL_IP, IP_BIND_ADDRESS_NO_PORT,
					    KERNEL_SOCKPTR(&any_port), sizeof(any_port));
	}
	if (!ret)
		ret = kernel_bind(sock, compat_sockaddr(&from), sizeof(from));
	if (!ret)
		ret = kernel_connect(sock, compat_sockaddr(&id->m_remote_addr),
				     sizeof(struct sockaddr_in), O_NONBLOCK);
	return ret == -EINPROGRESS ? 0 : ret;
}

/**
 * erdma_sock_connect() - start a TCP connection of an endpoint
 * @cep: the endpoint, locked, without a socket
 * @id: ID with both addresses, which must be IPv4
 *
 * The RDMA CM chose a port from the ephemeral range, without knowing which ports TCP uses, or still
 * reserves after a connection to the same peer: if the port is in use, TCP chooses a different
 * port.
 *
 * Context: process.
 * Return: 0 if TCP will report the outcome; -ENODEV if the caller is in a different network
 * namespace than the interface; or another error. After an error, the socket is detached when the
 * endpoint is closed.
 */
int erdma_sock_connect(struct erdma_cep *cep, struct iw_cm_id *id)
{
	u16 port = ntohs(((struct sockaddr_in *)&id->m_local_addr)->sin_port);
	int low, high, ret;

	lockdep_assert_held(&cep->lock);
	if (!erdma_sock_allowed_in(cep->dev, current->nsproxy->net_ns))
		return -ENODEV;
	ret = sock_try_connect(cep, id, 0);
	if (ret != -EADDRINUSE && ret != -EADDRNOTAVAIL)
		return ret;
	inet_get_local_port_range(sock_net(cep->sock->sk), &low, &high);
	if (port < low || port > high)
		return ret;
	erdma_sock_detach(cep);
	return sock_try_connect(cep, id, 1);
}
