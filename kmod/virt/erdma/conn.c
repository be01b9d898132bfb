// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections between QPs (hw 10.9).
 *
 * Drivers connect through their own TCP sockets and then pass addresses, ports and the cookie of
 * the other end to each of the two devices. Both ends are in this module, possibly on the same
 * adapter: a QP that enters RTS searches for a matching QP that is waiting; if there is none, the
 * new QP waits.
 */
#include "ev.h"

/* QPs in RTS that never had a partner; accessed with ev_fabric held for writing. */
static LIST_HEAD(waiting);

static bool is_source(const struct ev_qp *qp, const struct ev_qp *other)
{
	return qp->sip == other->dip && qp->sport == other->dport;
}

/* The cookie is the QPN of the other end; drivers may set flags in the bits above it. */
static bool names(const struct ev_qp *qp, const struct ev_qp *other)
{
	return (qp->remote_cookie & ERDMA_CREATE_QP0_QPN) == other->qpn;
}

/*
 * Returns how well two QPs match; 0 means that they do not match. Both ends have the same
 * addresses, unless the addresses are translated on the path, which leaves those of one end
 * unchanged; in that case, the cookies are needed. The cookies also distinguish connections of
 * network namespaces that use equal addresses.
 */
static unsigned int fit(const struct ev_qp *a, const struct ev_qp *b)
{
	bool cookies = names(a, b) && names(b, a);
	unsigned int ends = is_source(a, b) + is_source(b, a);

	if (ends == 2)
		return cookies ? 3 : 2;
	return ends && cookies ? 1 : 0;
}

static void join(struct ev_qp *qp, struct ev_qp *peer)
{
	list_del_init(&peer->waiting);
	qp->peer = peer;
	peer->peer = qp;
	/* After this, both QPs use one lock. */
	qp->link = &peer->lock;
	peer->link = &peer->lock;
}

/**
 * ev_conn_open() - connect a QP that has entered RTS, either now or once its partner has
 * @qp: QP without a partner
 *
 * Context: ev_fabric held for writing.
 */
void ev_conn_open(struct ev_qp *qp)
{
	struct ev_qp *other, *best = NULL;
	unsigned int score, most = 0;

	list_for_each_entry(other, &waiting, waiting) {
		score = fit(qp, other);
		if (score > most) {
			most = score;
			best = other;
		}
	}
	if (best)
		join(qp, best);
	else
		list_add_tail(&qp->waiting, &waiting);
}

/**
 * ev_conn_close() - disconnect a QP from its partner, or stop waiting for one
 * @qp: QP that stops or is destroyed, connected or not
 *
 * The partner is not notified: its driver sees the end of the TCP connection, and work requests
 * that need the other end time out.
 *
 * Context: ev_fabric held for writing.
 */
void ev_conn_close(struct ev_qp *qp)
{
	struct ev_qp *peer = qp->peer;

	list_del_init(&qp->waiting);
	if (!peer)
		return;
	qp->peer = NULL;
	qp->link = &qp->lock;
	qp->lost = true;
	peer->peer = NULL;
	peer->link = &peer->lock;
	peer->lost = true;
}
