// SPDX-License-Identifier: GPL-2.0-only
/*
 * An endpoint's TCP socket: connecting, listening, its names, and what it
 * reports, which is only noted for the endpoint's worker (see cm.c).
 */
#include <linux/tcp.h>
#include <net/ipv6.h>
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
 * erdma_sock_attach() - give an endpoint its socket
 * @cep: the endpoint, which is told from now on; the socket takes a reference
 * @sock: belongs to the endpoint from now on
 * @saved: NULL for the first socket of a chain. A child of a listener has
 *	inherited our callbacks and must be given back those its listener had:
 *	after sock_release() TCP may go on using the socket for a while without us
 *
 * Context: process; @cep is locked, or nobody else knows it.
 */
void erdma_sock_attach(struct erdma_cep *cep, struct socket *sock,
		       const struct erdma_sk_callbacks *saved)
{
	struct sock *sk = sock->sk;

	cep->sock = sock;
	erdma_cep_get(cep);
	write_lock_bh(&sk->sk_callback_lock);
	if (saved) {
		cep->saved = *saved;
	} else {
		cep->saved.state_change = sk->sk_state_change;
		cep->saved.data_ready = sk->sk_data_ready;
		cep->saved.error_report = sk->sk_error_report;
	}
	/* Without NOCOPY a child would point to the listener unreferenced. */
	sk->sk_user_data = NULL;
	__rcu_assign_sk_user_data_with_flags(sk, cep, SK_USER_DATA_NOCOPY);
	sk->sk_state_change = sk_state_changed;
	sk->sk_data_ready = sk_got_data;
	sk->sk_error_report = sk_state_changed;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * erdma_sock_release() - release a socket with our callbacks
 * @sock: the socket, nobody's any more
 * @saved: those it had, or the listener it was accepted from
 *
 * TCP may go on with it for a while.
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
 * erdma_sock_detach() - take an endpoint's socket from it and release that
 * @cep: the endpoint, locked; the caller holds a reference of it
 *
 * Does nothing where there is none. Context: process.
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
 * erdma_sock_names() - learn the addresses of a connection
 * @cep: the endpoint, locked, with a socket
 *
 * The local one is kept even if there is no peer's.
 *
 * Context: process.
 * Return: 0 when both are known, otherwise what TCP said, -ENOTCONN as a rule.
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

static int sock_open(struct socket **sock)
{
	int ret = sock_create(AF_INET, SOCK_STREAM, IPPROTO_TCP, sock);

	if (!ret)
		sock_set_reuseaddr((*sock)->sk);
	return ret;
}

/* @any_port: one that TCP finds free for this peer. */
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
		ret = kernel_bind(sock, (struct sockaddr *)&from, sizeof(from));
	if (!ret)
		ret = kernel_connect(sock, (struct sockaddr *)&id->m_remote_addr,
				     sizeof(struct sockaddr_in), O_NONBLOCK);
	return ret == -EINPROGRESS ? 0 : ret;
}

/**
 * erdma_sock_connect() - begin to connect an endpoint by TCP
 * @cep: the endpoint, locked, without a socket
 * @id: has the addresses, IPv4 both
 *
 * A port of the range for those who want any was chosen by the RDMA CM, which
 * does not know which ones TCP uses, or keeps after a connection to the same
 * peer: then another does as well.
 *
 * Context: process.
 * Return: 0 when TCP will tell, or an error; the socket then is detached with
 * the endpoint's end.
 */
int erdma_sock_connect(struct erdma_cep *cep, struct iw_cm_id *id)
{
	u16 port = ntohs(((struct sockaddr_in *)&id->m_local_addr)->sin_port);
	int low, high, ret;

	lockdep_assert_held(&cep->lock);
	ret = sock_try_connect(cep, id, 0);
	if (ret != -EADDRINUSE && ret != -EADDRNOTAVAIL)
		return ret;
	inet_get_local_port_range(sock_net(cep->sock->sk), &low, &high);
	if (port < low || port > high)
		return ret;
	erdma_sock_detach(cep);
	return sock_try_connect(cep, id, 1);
}

/* Where to listen by IPv4. */
static int sock_listen_addr(const struct iw_cm_id *id, struct sockaddr_in *addr)
{
	const struct sockaddr_in6 *any = (const struct sockaddr_in6 *)&id->m_local_addr;

	if (any->sin6_family == AF_INET) {
		*addr = *(const struct sockaddr_in *)&id->m_local_addr;
		return 0;
	}
	if (any->sin6_family != AF_INET6 || !ipv6_addr_any(&any->sin6_addr))
		return -EAFNOSUPPORT;
	*addr = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = any->sin6_port };
	return 0;
}

/**
 * erdma_sock_listen() - listen by TCP for an endpoint
 * @cep: the endpoint, locked, without a socket
 * @id: has the address, IPv4, which may be the wildcard, or that of IPv6
 * @backlog: connections that TCP holds
 *
 * The wildcard is that of all devices, and one that refuses spoils it for the
 * others: that of IPv6 is good for IPv4, too, or else for nothing here.
 *
 * Context: process.
 * Return: 0, without a socket if nobody can come, or an error; the socket then
 * is detached with the endpoint's end.
 */
int erdma_sock_listen(struct erdma_cep *cep, struct iw_cm_id *id, int backlog)
{
	struct sockaddr_in addr, local;
	struct socket *sock;
	int ret;

	lockdep_assert_held(&cep->lock);
	ret = sock_listen_addr(id, &addr);
	if (ret)
		return ret;
	/* For IPv6 only: nobody can come. */
	if (id->m_local_addr.ss_family == AF_INET6 && id->afonly)
		return 0;
	ret = sock_open(&sock);
	if (ret)
		return ret;
	erdma_sock_attach(cep, sock, NULL);
	/* Each device listens on the same wildcard port (hw 10.2). */
	if (addr.sin_addr.s_addr == htonl(INADDR_ANY)) {
		ret = sock_bindtoindex(sock->sk, cep->dev->netdev->ifindex, true);
		if (ret)
			return ret;
	}
	ret = kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr));
	if (ret)
		return ret;
	ret = kernel_listen(sock, backlog);
	if (ret)
		return ret;
	ret = kernel_getsockname(sock, (struct sockaddr *)&local);
	if (ret < 0)
		return ret;
	spin_lock(&cep->view);
	cep->local = local;
	spin_unlock(&cep->view);
	return 0;
}
