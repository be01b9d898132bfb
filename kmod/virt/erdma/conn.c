// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is connected to whom (hw 10.9).
 *
 * Drivers make a connection on TCP sockets of their own and then tell each of
 * the two devices addresses, ports and the other end's cookie. Both ends are in
 * this module, possibly on the same adapter: a QP that enters RTS looks for the
 * one that waits for it, or waits itself.
 */
#include "ev.h"

/* QPs in RTS that never had a partner; guarded by ev_fabric, for writing. */
static LIST_HEAD(waiting);

static bool is_source(const struct ev_qp *qp, const struct ev_qp *other)
{
	return qp->sip == other->dip && qp->sport == other->dport;
}

/* The cookie is the other end's QPN; drivers may put flags above it. */
static bool names(const struct ev_qp *qp, const struct ev_qp *other)
{
	return (qp->remote_cookie & ERDMA_CREATE_QP0_QPN) == other->qpn;
}

/*
 * How well two QPs fit together, 0: not at all. Both ends know the same
 * addresses, but for translation on the way, which leaves one end's alone; the
 * cookies, then necessary, also tell connections of network namespaces apart
 * that happen to use equal addresses.
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
	/* One lock for both from now on. */
	qp->link = &peer->lock;
	peer->link = &peer->lock;
}

/**
 * ev_conn_open() - connect a QP that has entered RTS, as soon as its partner has
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
 * ev_conn_close() - part a QP from its partner, or end its wait for one
 * @qp: QP that stops or goes, connected or not
 *
 * The partner finds out by itself: its driver sees the TCP connection end, and
 * work that needs the other end times out.
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
