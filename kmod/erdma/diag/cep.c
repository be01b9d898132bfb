// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: connection endpoints. */

#include <linux/sched/signal.h>

#include "diag.h"

/**
 * struct cep_row - a consistent snapshot of an endpoint
 * @cep: the endpoint, referenced
 * @qp: QP of the endpoint, referenced, or NULL
 * @state: enum erdma_cep_state
 * @role: EADM_CEP_ROLE_*
 * @listener: number of the listener until the request is accepted or rejected, 0 = none
 * @local: local address; the family is 0 until the address is known
 * @peer: address of the peer
 * @remote_cookie: cookie of the peer's QP
 * @cc: congestion control
 * @backlog: backlog of a listener
 * @pending: pending connections of a listener
 */
struct cep_row {
	struct erdma_cep *cep;
	struct erdma_qp *qp;
	enum erdma_cep_state state;
	u32 role;
	u32 listener;
	struct sockaddr_in local;
	struct sockaddr_in peer;
	u32 remote_cookie;
	u8 cc;
	u32 backlog;
	u32 pending;
};

/* A newly created endpoint might not be completely set up yet. */
static u32 role_of(const struct erdma_cep *cep, enum erdma_cep_state state)
{
	if (state == ERDMA_CEP_LISTENING || READ_ONCE(cep->backlog))
		return EADM_CEP_ROLE_LISTENER;
	return READ_ONCE(cep->active) || state == ERDMA_CEP_CONNECTING ? EADM_CEP_ROLE_ACTIVE :
									 EADM_CEP_ROLE_PASSIVE;
}

static void take(struct cep_row *row, struct erdma_cep *cep)
{
	row->cep = cep;
	row->state = READ_ONCE(cep->state);
	row->role = role_of(cep, row->state);
	row->remote_cookie = READ_ONCE(cep->remote_cookie);
	row->cc = READ_ONCE(cep->cc);
	row->backlog = READ_ONCE(cep->backlog);
	row->pending = READ_ONCE(cep->npending);
	spin_lock(&cep->view);
	row->qp = cep->qp;
	if (row->qp)
		eadm_object_get(&row->qp->obj);
	row->listener = cep->listener ? cep->listener->id : 0;
	row->local = cep->local;
	row->peer = cep->peer;
	spin_unlock(&cep->view);
}

static void *cep_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct erdma_cep *cep = erdma_cep_find(&diag_to_dev(dd)->cm, id);
	struct cep_row *row;

	if (!cep)
		return NULL;
	row = kzalloc(sizeof(*row), GFP_KERNEL | __GFP_NOFAIL);
	take(row, cep);
	return row;
}

static void cep_put(struct eadm_diag_dev *dd, void *obj)
{
	struct cep_row *row = obj;

	if (row->qp)
		eadm_object_put(&row->qp->obj);
	erdma_cep_put(row->cep);
	kfree(row);
}

static struct rdma_restrack_entry *cep_res(void *obj)
{
	struct cep_row *row = obj;

	return row->qp ? &row->qp->ibqp.res : NULL;
}

static struct pid *cep_owner(void *obj)
{
	struct cep_row *row = obj;

	return row->cep->owner;
}

static u64 age(u64 since)
{
	return ktime_get_ns() - since;
}

static int cep_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct eadm_snap_cep_erdma *o = own;
	struct eadm_snap_cep *s = snap;
	struct cep_row *row = obj;

	SNAP_SET(s, cepn, row->cep->id);
	SNAP_SET(s, state, row->state);
	SNAP_SET(s, role, row->role);
	SNAP_SET(o, cc, row->cc);
	if (eadm_diag_sees(req, diag_to_dev(dd)->netdev))
		SNAP_STR(s, netdev, diag_to_dev(dd)->netdev->name);
	SNAP_SET(s, age, age(row->cep->created));
	SNAP_SET(s, state_age, age(READ_ONCE(row->cep->state_since)));
	if (row->local.sin_family == AF_INET) {
		SNAP_BIN(s, local_addr, &row->local.sin_addr, sizeof(row->local.sin_addr));
		SNAP_SET(s, local_port, be16_to_cpu(row->local.sin_port));
	}
	if (row->peer.sin_family == AF_INET) {
		SNAP_BIN(s, peer_addr, &row->peer.sin_addr, sizeof(row->peer.sin_addr));
		SNAP_SET(s, peer_port, be16_to_cpu(row->peer.sin_port));
	}
	if (row->qp) {
		SNAP_SET(s, qpn, row->qp->qpn);
		SNAP_SET(o, cookie, row->qp->cookie);
	}
	if (row->state == ERDMA_CEP_CONNECTED)
		SNAP_SET(o, remote_cookie, row->remote_cookie);
	if (row->listener)
		SNAP_SET(s, listener, row->listener);
	if (row->role == EADM_CEP_ROLE_LISTENER) {
		SNAP_SET(s, backlog, row->backlog);
		SNAP_SET(s, pending, row->pending);
	}
	return 0;
}

const struct eadm_diag_obj erdma_diag_cep = {
	.type = EADM_OBJ_CEP,
	.next = cep_next,
	.put = cep_put,
	.res = cep_res,
	.owner = cep_owner,
	.fill = cep_fill,
};

/**
 * erdma_diag_count_ceps() - count endpoints by state
 * @dev: the device
 * @s: snapshot of the device
 */
void erdma_diag_count_ceps(struct erdma_dev *dev, struct eadm_snap_dev *s)
{
	const atomic_t *count = dev->cm.count;

	SNAP_SET(s, ceps_listening, atomic_read(&count[ERDMA_CEP_LISTENING]));
	SNAP_SET(s, ceps_connecting, atomic_read(&count[ERDMA_CEP_CONNECTING]));
	SNAP_SET(s, ceps_await_reply, atomic_read(&count[ERDMA_CEP_AWAIT_REPLY]));
	SNAP_SET(s, ceps_await_request, atomic_read(&count[ERDMA_CEP_AWAIT_REQUEST]));
	SNAP_SET(s, ceps_recvd_request, atomic_read(&count[ERDMA_CEP_RECVD_REQUEST]));
	SNAP_SET(s, ceps_connected, atomic_read(&count[ERDMA_CEP_CONNECTED]));
	SNAP_SET(s, ceps_closed, atomic_read(&count[ERDMA_CEP_CLOSED]));
}

/**
 * erdma_diag_count_connections() - fill in the counters of connection management
 * @dev: the device
 * @s: snapshot of the counters
 */
void erdma_diag_count_connections(struct erdma_dev *dev, struct eadm_snap_counters *s)
{
	struct erdma_cm *cm = &dev->cm;

	SNAP_SET(s, listens, atomic64_read(&cm->listens));
	SNAP_SET(s, listen_failures, atomic64_read(&cm->listen_failures));
	SNAP_SET(s, connects, atomic64_read(&cm->connects));
	SNAP_SET(s, connect_failures, atomic64_read(&cm->connect_failures));
	SNAP_SET(s, connect_timeouts, atomic64_read(&cm->connect_timeouts));
	SNAP_SET(s, accepts, atomic64_read(&cm->accepts));
	SNAP_SET(s, accept_failures, atomic64_read(&cm->accept_failures));
	SNAP_SET(s, rejects, atomic64_read(&cm->rejects));
	SNAP_SET(s, disconnects, atomic64_read(&cm->disconnects));
}
