// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection set-up and teardown over kernel TCP sockets (hw 10).
 *
 * Events reported by sockets and timers are only recorded in cep->events and handled by the
 * device's ordered workqueue; calls from the iWARP CM take the endpoint's lock and act at once. A
 * QP that leaves RTS by itself is recorded in the same way, so that no QP lock is ever held around
 * a cep lock.
 *
 * References to an endpoint are held by its creator (dropped by cep_close()), the socket (dropped
 * when its callbacks are restored), queued work and the timer (one each), and a QP between RTS and
 * stop. The consumer of a CONNECT_REQUEST has only the endpoint's number until it accepts, because
 * the iWARP CM silently drops requests when their listener is destroyed.
 */
#include <linux/bitfield.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include <rdma/rdma_cm.h>

#include "cm.h"
#include "erdma.h"

#define CONNECT_TIMEOUT		(10 * HZ)
/* The peer's consumer decides when to reply; it may have many other requests to process. */
#define REPLY_TIMEOUT		(60 * HZ)
#define REQUEST_TIMEOUT		(20 * HZ)
/* Interval between checks of a request that the consumer has not accepted or rejected. */
#define ORPHAN_PERIOD		(15 * HZ)
#define MAX_PRIVATE		255	/* its length is passed in 8 bits */

static void cep_work(struct work_struct *work);

static struct pid *caller(void)
{
	return current->flags & PF_KTHREAD ? NULL : task_tgid(current);
}

/* A peer may send 256 bytes (hw 10.3), but only 255 can be passed to a consumer. */
static u8 private_len(const struct erdma_cep *cep)
{
	return min_t(size_t, cep->rx.got - sizeof(cep->rx.hdr), MAX_PRIVATE);
}

/*
 * The iWARP CM may fail to allocate memory for private data. A reply must be reported anyway,
 * because a connection without a reply cannot be destroyed. So a failed reply is reported, and the
 * caller must then fail the connection.
 */
static int cep_upcall(struct erdma_cep *cep, enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = { .event = type, .status = status };
	int ret;

	lockdep_assert_held(&cep->lock);
	if (!cep->cm_id)
		return 0;
	if (type == IW_CM_EVENT_CONNECT_REPLY || type == IW_CM_EVENT_ESTABLISHED) {
		event.ird = ERDMA_MAX_IRD;
		event.ord = ERDMA_MAX_ORD;
	}
	if (type == IW_CM_EVENT_CONNECT_REPLY) {
		memcpy(&event.local_addr, &cep->local, sizeof(cep->local));
		memcpy(&event.remote_addr, &cep->peer, sizeof(cep->peer));
		/* There is no private data if the connection failed before the reply. */
		if (cep->rx.got > sizeof(cep->rx.hdr)) {
			event.private_data = cep->rx.pdata;
			event.private_data_len = private_len(cep);
		}
	}
	ret = cep->cm_id->event_handler(cep->cm_id, &event);
	if (ret && event.private_data) {
		event.private_data = NULL;
		event.private_data_len = 0;
		event.status = status ? status : ret;
		cep->cm_id->event_handler(cep->cm_id, &event);
	}
	return ret;
}

/* Called when the QP is stopped, with the QP's state lock held. */
static void cep_qp_stopped(struct erdma_qp *qp, void *data)
{
	erdma_cep_note(data, ERDMA_CEP_EV_QP_STOPPED);
}

static void cep_show_qp(struct erdma_cep *cep, struct erdma_qp *qp)
{
	lockdep_assert_held(&cep->lock);
	spin_lock(&cep->view);
	cep->qp = qp;
	spin_unlock(&cep->view);
}

/*
 * Returns true if the QP belongs to the caller, who connects @id. The connection managers leave
 * this check to drivers: they find a QP by its number, which a process may choose (see
 * docs/iwcm-qp-owner.md).
 *
 * The QP of a kernel consumer belongs to the ID with which it was created. Only the RDMA CM uses
 * the iWARP CM, and the context is its private structure, which begins with its ID; that of a
 * process never has a QP. Kernel consumers may connect in the context of any process.
 *
 * The QP of a process belongs to this process, whose user ID may have changed, and to processes of
 * the same user, such as its children, in whose PID namespace it is visible: different containers
 * often have the same user ID. Kernel threads do not act for processes, except for io_uring in old
 * kernels.
 */
static bool is_owner(const struct iw_cm_id *id, const struct erdma_qp *qp)
{
	const struct rdma_cm_id *consumer = id->context;
	const struct pid *process = caller();

	if (consumer->device != id->device)
		return false;
	if (qp->kqp || consumer->qp)
		return consumer->qp == &qp->ibqp;
	return process && (process == qp->owner || (uid_eq(current_euid(), qp->owner_uid) &&
						    pid_vnr(qp->owner)));
}

/*
 * The callback needs no reference to the endpoint: cep_close() detaches the callback before the
 * endpoint can be freed.
 */
static int cep_take_qp(struct erdma_cep *cep, const struct iw_cm_id *id, u32 qpn)
{
	struct erdma_qp *qp = erdma_qp_get(cep->dev, qpn);
	int ret = -EINVAL;

	if (!qp)
		return ret;
	if (is_owner(id, qp))
		ret = erdma_qp_attach_cm(qp, cep_qp_stopped, cep);
	if (ret) {
		eadm_object_put(&qp->obj);
		return ret;
	}
	cep_show_qp(cep, qp);
	return 0;
}

static void cep_set_id(struct erdma_cep *cep, struct iw_cm_id *id)
{
	cep->cm_id = id;
	id->add_ref(id);
	id->provider_data = cep;
}

static void cep_drop_id(struct erdma_cep *cep)
{
	struct iw_cm_id *id = cep->cm_id;

	if (!id)
		return;
	cep->cm_id = NULL;
	id->rem_ref(id);
}

/* Removes a child from its listener's list of children that were not announced yet. */
static void cep_unlist(struct erdma_cep *cep)
{
	struct erdma_cep *listener = cep->listener;

	lockdep_assert_held(&cep->lock);
	mutex_lock_nested(&listener->lock, SINGLE_DEPTH_NESTING);
	if (!list_empty(&cep->pending)) {
		list_del_init(&cep->pending);
		listener->npending--;
		if (listener->state == ERDMA_CEP_LISTENING)
			erdma_cep_note(listener, ERDMA_CEP_EV_ACCEPT);
	}
	mutex_unlock(&listener->lock);
}

static void cep_leave_listener(struct erdma_cep *cep)
{
	struct erdma_cep *listener = cep->listener;

	lockdep_assert_held(&cep->lock);
	if (!listener)
		return;
	cep_unlist(cep);
	spin_lock(&cep->view);
	cep->listener = NULL;
	spin_unlock(&cep->view);
	erdma_cep_put(listener);
}

/*
 * Closes an endpoint in any state; idempotent. Drops the creator's reference, so the caller must
 * hold another reference.
 */
static void cep_close(struct erdma_cep *cep)
{
	struct erdma_qp *qp = cep->qp;

	lockdep_assert_held(&cep->lock);
	if (cep->state == ERDMA_CEP_CLOSED)
		return;
	erdma_cep_set_state(cep, ERDMA_CEP_CLOSED);
	erdma_cep_stop_timer(cep);
	erdma_sock_detach(cep);
	erdma_listener_close(cep);
	cep_leave_listener(cep);
	if (qp) {
		cep_show_qp(cep, NULL);
		erdma_qp_detach_cm(qp);
		eadm_object_put(&qp->obj);
	}
	cep_drop_id(cep);
	erdma_cep_put(cep);
}

static u8 agree_cc(struct erdma_cep *cep)
{
	u8 peer = FIELD_GET(ERDMA_MPA_EXT_CC, be32_to_cpu(cep->rx.hdr.cc));

	return peer == cep->cc ? peer : ERDMA_CC_CUBIC;
}

/*
 * Hands the connection to the adapter. @ahead: number of bytes that the kernel has yet to send on
 * the stream.
 */
static int cep_connect_qp(struct erdma_cep *cep, u32 ahead)
{
	struct tcp_sock *tp = tcp_sk(cep->sock->sk);
	struct erdma_rts rts;
	int ret;

	ret = erdma_sock_names(cep);
	if (ret)
		return ret;
	/* The interface may have been moved since the socket was created. */
	if (!erdma_sock_allowed_in(cep->dev, sock_net(cep->sock->sk)))
		return -ENODEV;
	cep->remote_cookie = be32_to_cpu(cep->rx.hdr.cookie);
	erdma_debug(cep->dev, cm, "endpoint %u: QP %u, %pISpc to %pISpc\n", cep->id,
		    cep->qp->qpn, &cep->local, &cep->peer);
	cep->cc = agree_cc(cep);
	rts = (struct erdma_rts) {
		.remote_cookie = cep->remote_cookie,
		.cc = cep->cc,
		.sip = cep->local.sin_addr.s_addr,
		.dip = cep->peer.sin_addr.s_addr,
		.sport = cep->local.sin_port,
		.dport = cep->peer.sin_port,
		.send_nxt = READ_ONCE(tp->snd_nxt) + ahead,
		.recv_nxt = READ_ONCE(tp->rcv_nxt),
	};
	return erdma_qp_modify_to_rts(cep->qp, &rts);
}

/* ---- worker ------------------------------------------------------------- */

static void cep_fail_connect(struct erdma_cep *cep, int status)
{
	struct erdma_cm *cm = &cep->dev->cm;

	erdma_debug(cep->dev, cm, "endpoint %u: not connected: %d\n", cep->id, status);
	erdma_failed_connection(cep, status);
	atomic64_inc(status == -ETIMEDOUT ? &cm->connect_timeouts : &cm->connect_failures);
	cep_upcall(cep, IW_CM_EVENT_CONNECT_REPLY, status);
	cep_close(cep);
}

static void cep_tcp_connected(struct erdma_cep *cep)
{
	int ret;

	tcp_sock_set_nodelay(cep->sock->sk);
	ret = erdma_mpa_send(cep, ERDMA_MPA_KEY_REQ, 0, cep->qp->cookie);
	if (ret) {
		cep_fail_connect(cep, ret);
		return;
	}
	erdma_cep_set_state(cep, ERDMA_CEP_AWAIT_REPLY);
	erdma_cep_start_timer(cep, REPLY_TIMEOUT);
}

static void cep_read_reply(struct erdma_cep *cep)
{
	int ret = erdma_mpa_recv(cep, ERDMA_MPA_KEY_REP);
	u16 bits;

	if (ret == -EAGAIN)
		return;
	bits = be16_to_cpu(cep->rx.hdr.bits);
	if (!ret && (bits & ERDMA_MPA_REJECT))
		ret = -ECONNRESET;
	else if (!ret && (bits & (ERDMA_MPA_MARKERS | ERDMA_MPA_CRC)))
		ret = -ECONNREFUSED;
	if (!ret)
		ret = cep_connect_qp(cep, 0);
	if (ret) {
		cep_fail_connect(cep, ret);
		return;
	}
	if (cep_upcall(cep, IW_CM_EVENT_CONNECT_REPLY, 0)) {
		atomic64_inc(&cep->dev->cm.connect_failures);
		erdma_qp_stop(cep->qp, ERDMA_QPS_ERROR);
		cep_close(cep);
		return;
	}
	erdma_cep_stop_timer(cep);
	erdma_cep_set_state(cep, ERDMA_CEP_CONNECTED);
	atomic64_inc(&cep->dev->cm.connects);
}

/* Announces the request to the listener's consumer. Returns whether the event was accepted. */
static bool cep_announce(struct erdma_cep *cep)
{
	struct erdma_cep *listener = cep->listener;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.provider_data = (void *)(uintptr_t)cep->id,
		.ird = ERDMA_MAX_IRD,
		.ord = ERDMA_MAX_ORD,
		.private_data = cep->rx.pdata,
		.private_data_len = private_len(cep),
	};
	bool known = false;

	if (!listener || erdma_sock_names(cep))
		return false;
	memcpy(&event.local_addr, &cep->local, sizeof(cep->local));
	memcpy(&event.remote_addr, &cep->peer, sizeof(cep->peer));
	mutex_lock_nested(&listener->lock, SINGLE_DEPTH_NESTING);
	if (listener->state == ERDMA_CEP_LISTENING)
		known = !listener->cm_id->event_handler(listener->cm_id, &event);
	mutex_unlock(&listener->lock);
	return known;
}

static void cep_read_request(struct erdma_cep *cep)
{
	int ret = erdma_mpa_recv(cep, ERDMA_MPA_KEY_REQ);

	if (ret == -EAGAIN)
		return;
	if (!ret && (be16_to_cpu(cep->rx.hdr.bits) & (ERDMA_MPA_MARKERS | ERDMA_MPA_CRC))) {
		erdma_mpa_send(cep, ERDMA_MPA_KEY_REP, ERDMA_MPA_REJECT, 0);
		ret = -EPROTO;
	}
	if (!ret) {
		erdma_cep_stop_timer(cep);
		erdma_cep_set_state(cep, ERDMA_CEP_RECVD_REQUEST);
		if (cep_announce(cep)) {
			cep_unlist(cep);
			erdma_cep_start_timer(cep, ORPHAN_PERIOD);
			return;
		}
	}
	erdma_debug(cep->dev, cm, "endpoint %u: request refused: %d\n", cep->id, ret);
	cep_close(cep);
}

static void cep_add_child(struct erdma_cep *listener, struct socket *sock,
			  const struct erdma_sk_callbacks *inherited)
{
	struct erdma_cep *cep = erdma_cep_new(listener->dev, ERDMA_CEP_AWAIT_REQUEST,
					      listener->owner, cep_work);

	if (!cep) {
		erdma_sock_release(sock, inherited);
		return;
	}
	tcp_sock_set_nodelay(sock->sk);
	cep->cc = listener->cc;
	erdma_cep_get(listener);
	spin_lock(&cep->view);
	cep->listener = listener;
	spin_unlock(&cep->view);
	list_add_tail(&cep->pending, &listener->pending);
	listener->npending++;
	erdma_cep_start_timer(cep, REQUEST_TIMEOUT);
	erdma_sock_attach(cep, sock, inherited);
	/* Catch up with events from before our callbacks were installed. */
	erdma_cep_note(cep, ERDMA_CEP_EV_STATE);
	erdma_cep_note(cep, ERDMA_CEP_EV_DATA);
}

static void cep_accept_all(struct erdma_cep *listener)
{
	const struct erdma_sk_callbacks *inherited;
	struct socket *sock;

	while (listener->npending < listener->backlog) {
		sock = erdma_listener_accept(listener, &inherited);
		if (!sock)
			return;
		cep_add_child(listener, sock, inherited);
	}
}

static void cep_peer_closed(struct erdma_cep *cep, int err)
{
	switch (cep->state) {
	case ERDMA_CEP_CONNECTING:
	case ERDMA_CEP_AWAIT_REPLY:
		cep_fail_connect(cep, err ?: -ECONNRESET);
		return;
	case ERDMA_CEP_CONNECTED:
		if (err)
			erdma_failed_connection(cep, err);
		atomic64_inc(&cep->dev->cm.disconnects);
		erdma_qp_stop(cep->qp, ERDMA_QPS_CLOSING);
		cep_upcall(cep, IW_CM_EVENT_DISCONNECT, 0);
		cep_upcall(cep, IW_CM_EVENT_CLOSE, 0);
		cep_close(cep);
		return;
	case ERDMA_CEP_RECVD_REQUEST:
		/* A later accept or reject will not find the endpoint. */
	case ERDMA_CEP_AWAIT_REQUEST:
		cep_close(cep);
		return;
	default:
		return;
	}
}

static void cep_tcp_state(struct erdma_cep *cep)
{
	struct sock *sk = cep->sock->sk;

	switch (READ_ONCE(sk->sk_state)) {
	case TCP_ESTABLISHED:
		if (cep->state == ERDMA_CEP_CONNECTING)
			cep_tcp_connected(cep);
		else if (cep->state == ERDMA_CEP_AWAIT_REQUEST)
			erdma_sock_names(cep);
		break;
	case TCP_CLOSE:
	case TCP_CLOSE_WAIT:
		/* The reply and the peer's close may arrive together. */
		if (cep->state == ERDMA_CEP_AWAIT_REPLY && cep->sock)
			cep_read_reply(cep);
		if (cep->state != ERDMA_CEP_CLOSED)
			cep_peer_closed(cep, sock_error(sk));
		break;
	}
}

static void cep_timed_out(struct erdma_cep *cep)
{
	switch (cep->state) {
	case ERDMA_CEP_CONNECTING:
	case ERDMA_CEP_AWAIT_REPLY:
		cep_fail_connect(cep, -ETIMEDOUT);
		break;
	case ERDMA_CEP_AWAIT_REQUEST:
		erdma_failed_connection(cep, -ETIMEDOUT);
		cep_close(cep);
		break;
	case ERDMA_CEP_RECVD_REQUEST:
		/*
		 * When a listener is destroyed, the iWARP CM silently drops requests that it has
		 * not delivered yet, and the peer would wait until its timeout. If this request was
		 * delivered, the consumer has had time to respond.
		 */
		if (READ_ONCE(cep->listener->state) == ERDMA_CEP_CLOSED)
			cep_close(cep);
		else
			erdma_cep_start_timer(cep, ORPHAN_PERIOD);
		break;
	default:
		break;
	}
}

static void cep_qp_gone(struct erdma_cep *cep)
{
	if (cep->state == ERDMA_CEP_CONNECTED) {
		cep_upcall(cep, IW_CM_EVENT_CLOSE, 0);
		cep_close(cep);
	} else {
		cep_fail_connect(cep, -ECONNABORTED);
	}
}

static void cep_serve_listener(struct erdma_cep *cep)
{
	if (test_and_clear_bit(ERDMA_CEP_EV_ADDRESSES, &cep->events))
		erdma_listener_follow(cep);
	if (test_and_clear_bit(ERDMA_CEP_EV_ACCEPT, &cep->events))
		cep_accept_all(cep);
}

static void cep_handle(struct erdma_cep *cep)
{
	/* A child announced in the meantime belongs to the consumer, see cep_timed_out(). */
	if (test_and_clear_bit(ERDMA_CEP_EV_ABORT, &cep->events) &&
	    cep->state == ERDMA_CEP_AWAIT_REQUEST)
		cep_close(cep);
	if (cep->state == ERDMA_CEP_CLOSED)
		return;
	if (test_and_clear_bit(ERDMA_CEP_EV_QP_STOPPED, &cep->events)) {
		cep_qp_gone(cep);
		return;
	}
	if (cep->state == ERDMA_CEP_LISTENING) {
		cep_serve_listener(cep);
		return;
	}
	if (test_and_clear_bit(ERDMA_CEP_EV_DATA, &cep->events)) {
		if (cep->state == ERDMA_CEP_AWAIT_REPLY)
			cep_read_reply(cep);
		else if (cep->state == ERDMA_CEP_AWAIT_REQUEST)
			cep_read_request(cep);
	}
	if (cep->state != ERDMA_CEP_CLOSED &&
	    test_and_clear_bit(ERDMA_CEP_EV_STATE, &cep->events))
		cep_tcp_state(cep);
	if (cep->state != ERDMA_CEP_CLOSED &&
	    test_and_clear_bit(ERDMA_CEP_EV_TIMEOUT, &cep->events))
		cep_timed_out(cep);
}

static void cep_work(struct work_struct *work)
{
	struct erdma_cep *cep = container_of(work, struct erdma_cep, work);

	mutex_lock(&cep->lock);
	cep_handle(cep);
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
}

/* ---- calls from the iWARP CM -------------------------------------------- */

static int cep_set_pdata(struct erdma_cep *cep, const void *pdata, u16 len)
{
	if (len > MAX_PRIVATE)
		return -EINVAL;
	if (len)
		memcpy(cep->tx_pdata, pdata, len);
	cep->tx_len = len;
	return 0;
}

static int iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct erdma_dev *dev = to_erdma_dev(id->device);
	struct erdma_cep *cep;
	int ret;

	if (id->m_local_addr.ss_family != AF_INET || id->m_remote_addr.ss_family != AF_INET)
		return -EAFNOSUPPORT;
	if (param->ord > ERDMA_MAX_ORD || param->ird > ERDMA_MAX_IRD)
		return -EINVAL;
	cep = erdma_cep_new(dev, ERDMA_CEP_CONNECTING, caller(), cep_work);
	if (!cep)
		return -ENOMEM;
	erdma_cep_get(cep);
	mutex_lock(&cep->lock);
	cep->active = true;
	cep->cc = READ_ONCE(dev->conf.cc);
	ret = cep_set_pdata(cep, param->private_data, param->private_data_len);
	if (!ret)
		ret = cep_take_qp(cep, id, param->qpn);
	if (!ret) {
		cep_set_id(cep, id);
		erdma_cep_start_timer(cep, CONNECT_TIMEOUT);
		ret = erdma_sock_connect(cep, id);
	}
	if (ret) {
		erdma_failed_connection(cep, ret);
		atomic64_inc(&dev->cm.connect_failures);
		cep_close(cep);
	} else {
		erdma_sock_names(cep);
		/* A loopback connection may already be complete. */
		erdma_cep_note(cep, ERDMA_CEP_EV_STATE);
	}
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
	return ret;
}

/* Returns the endpoint of an announced request, referenced, or NULL if it has been closed. */
static struct erdma_cep *cep_asking(struct iw_cm_id *id)
{
	u64 asked = (uintptr_t)id->provider_data, found = asked;
	struct erdma_cep *cep = erdma_cep_find(&to_erdma_dev(id->device)->cm, &found);

	if (cep && found != asked) {
		erdma_cep_put(cep);
		cep = NULL;
	}
	return cep;
}

/*
 * Replaces the consumer's handler until the iWARP CM has processed ESTABLISHED. When this is
 * called, the ID is established and the waiting accept may return.
 */
static int accept_is_done(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct erdma_cep *cep = id->provider_data;
	iw_cm_handler handler = cep->cm_handler;

	id->cm_handler = handler;
	/* After this call, the endpoint may be freed. */
	complete(&cep->established);
	return handler(id, event);
}

/*
 * While ESTABLISHED is queued, the iWARP CM still treats the ID as neither accepted nor rejected. A
 * second accept then makes the iWARP CM lose its reference to the first QP; a failing accept, or a
 * reject, sets the ID idle, and ESTABLISHED hits a BUG() if the ID is idle. A process can cause all
 * of these cases (see docs/iwcm-accept.md). The RDMA CM holds the ID's mutex while a process
 * accepts or rejects, so no other call can start before the accept returns. Therefore the accept
 * waits until ESTABLISHED has been processed.
 *
 * Kernel consumers accept or reject a request once; they may do so on the iWARP CM's own workqueue,
 * where waiting for an event would deadlock.
 */
static bool hold_back_accept(struct erdma_cep *cep)
{
	struct iw_cm_id *id = cep->cm_id;

	lockdep_assert_held(&cep->lock);
	if (current->flags & PF_KTHREAD)
		return false;
	init_completion(&cep->established);
	cep->cm_handler = id->cm_handler;
	id->cm_handler = accept_is_done;
	return true;
}

/* The QP is in RTS before the reply is sent (hw 10.4). */
static int iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct erdma_dev *dev = to_erdma_dev(id->device);
	struct erdma_cep *cep = cep_asking(id);
	bool wait = false;
	int ret;

	if (!cep)
		return -ECONNRESET;
	mutex_lock(&cep->lock);
	if (cep->state != ERDMA_CEP_RECVD_REQUEST) {
		ret = -ECONNRESET;
		goto out;
	}
	if (param->ord > ERDMA_MAX_ORD || param->ird > ERDMA_MAX_IRD) {
		ret = -EINVAL;
		goto close;
	}
	ret = cep_set_pdata(cep, param->private_data, param->private_data_len);
	if (ret)
		goto close;
	ret = cep_take_qp(cep, id, param->qpn);
	if (ret)
		goto close;
	ret = erdma_mpa_quiet(cep);
	if (!ret)
		ret = cep_connect_qp(cep, sizeof(struct erdma_mpa_frame) + cep->tx_len);
	if (ret)
		goto close;
	cep_set_id(cep, id);
	ret = erdma_mpa_send(cep, ERDMA_MPA_KEY_REP, 0, cep->qp->cookie);
	if (ret) {
		erdma_qp_stop(cep->qp, ERDMA_QPS_ERROR);
		goto close;
	}
	erdma_cep_stop_timer(cep);
	cep_leave_listener(cep);
	erdma_cep_set_state(cep, ERDMA_CEP_CONNECTED);
	atomic64_inc(&dev->cm.accepts);
	wait = hold_back_accept(cep);
	/* The iWARP CM has preallocated memory for this event. */
	if (WARN_ON_ONCE(cep_upcall(cep, IW_CM_EVENT_ESTABLISHED, 0)))
		wait = false;
	/* Catch up with a close by the peer that was not detected yet. */
	erdma_cep_note(cep, ERDMA_CEP_EV_STATE);
	goto out;
close:
	erdma_failed_connection(cep, ret);
	atomic64_inc(&dev->cm.accept_failures);
	cep_close(cep);
out:
	mutex_unlock(&cep->lock);
	if (wait)
		wait_for_completion(&cep->established);
	erdma_cep_put(cep);
	return ret;
}

static int iw_reject(struct iw_cm_id *id, const void *pdata, u8 len)
{
	struct erdma_cep *cep = cep_asking(id);
	int ret = -ECONNRESET;

	if (!cep)
		return ret;
	mutex_lock(&cep->lock);
	if (cep->state == ERDMA_CEP_RECVD_REQUEST) {
		ret = cep_set_pdata(cep, pdata, len);
		if (!ret)
			ret = erdma_mpa_send(cep, ERDMA_MPA_KEY_REP, ERDMA_MPA_REJECT, 0);
		atomic64_inc(&cep->dev->cm.rejects);
		cep_close(cep);
	}
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
	return ret;
}

static int iw_create_listen(struct iw_cm_id *id, int backlog)
{
	struct erdma_dev *dev = to_erdma_dev(id->device);
	struct erdma_cep *cep;
	int ret;

	cep = erdma_cep_new(dev, ERDMA_CEP_LISTENING, caller(), cep_work);
	if (!cep)
		return -ENOMEM;
	erdma_cep_get(cep);
	mutex_lock(&cep->lock);
	cep->cc = READ_ONCE(dev->conf.cc);
	cep->backlog = clamp(backlog, 1, SOMAXCONN);
	cep_set_id(cep, id);
	ret = erdma_listener_open(cep, id);
	if (ret) {
		atomic64_inc(&dev->cm.listen_failures);
		cep_close(cep);
	} else {
		atomic64_inc(&dev->cm.listens);
		erdma_cep_note(cep, ERDMA_CEP_EV_ACCEPT);
	}
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
	return ret;
}

/* Drops connections that were not announced to the consumer yet. */
static int iw_destroy_listen(struct iw_cm_id *id)
{
	struct erdma_cep *cep = id->provider_data;
	struct erdma_cep *child;

	erdma_cep_get(cep);
	mutex_lock(&cep->lock);
	list_for_each_entry(child, &cep->pending, pending)
		erdma_cep_note(child, ERDMA_CEP_EV_ABORT);
	cep_close(cep);
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
	return 0;
}

/**
 * erdma_cm_addresses_changed() - handle an added or removed address of the network interface
 * @cm: the connection manager
 *
 * Context: any except hard interrupt.
 */
void erdma_cm_addresses_changed(struct erdma_cm *cm)
{
	struct erdma_cep *cep;
	u64 id;

	for (id = 0; (cep = erdma_cep_find(cm, &id)); id++) {
		if (READ_ONCE(cep->state) == ERDMA_CEP_LISTENING)
			erdma_cep_note(cep, ERDMA_CEP_EV_ADDRESSES);
		erdma_cep_put(cep);
	}
}

/**
 * erdma_cm_init() - prepare connection management of a device
 * @ad: the adapter
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int erdma_cm_init(struct eadm_adapter *ad)
{
	struct erdma_cm *cm = &adapter_to_erdma(ad)->cm;

	xa_init_flags(&cm->ceps, XA_FLAGS_ALLOC1);
	cm->wq = alloc_ordered_workqueue("erdma-cm-%s", 0, pci_name(ad->fn.pdev));
	return cm->wq ? 0 : -ENOMEM;
}

/**
 * erdma_cm_exit() - undo erdma_cm_init()
 * @ad: the adapter
 *
 * The RDMA device is unregistered: the iWARP CM has no endpoint left.
 *
 * Context: process.
 */
void erdma_cm_exit(struct eadm_adapter *ad)
{
	struct erdma_cm *cm = &adapter_to_erdma(ad)->cm;
	struct erdma_cep *cep;
	u64 id;

	/* Only requests that the iWARP CM dropped remain, see cep_timed_out(). */
	for (id = 0; (cep = erdma_cep_find(cm, &id)); id++) {
		mutex_lock(&cep->lock);
		cep_close(cep);
		mutex_unlock(&cep->lock);
		erdma_cep_put(cep);
	}
	destroy_workqueue(cm->wq);
	WARN_ON_ONCE(!xa_empty(&cm->ceps));
	xa_destroy(&cm->ceps);
}

/* Callers have just called iw_get_qp(), which took the reference. */
static void iw_add_ref(struct ib_qp *ibqp)
{
}

static void iw_rem_ref(struct ib_qp *ibqp)
{
	eadm_object_put(&to_erdma_qp(ibqp)->obj);
}

/* The number comes from user space: the QP might be destroyed before iw_add_ref(). */
static struct ib_qp *iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct erdma_qp *qp = erdma_qp_get(to_erdma_dev(ibdev), qpn);

	return qp ? &qp->ibqp : NULL;
}

const struct ib_device_ops erdma_iw_ops = {
	.iw_accept = iw_accept,
	.iw_add_ref = iw_add_ref,
	.iw_connect = iw_connect,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
	.iw_get_qp = iw_get_qp,
	.iw_reject = iw_reject,
	.iw_rem_ref = iw_rem_ref,
};
