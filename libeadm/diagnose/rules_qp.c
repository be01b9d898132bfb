// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about queue pairs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

/*
 * A QP is slow if it has work but sends and receives fewer packets per second than
 * this.
 */
#define SLOW_PACKETS 50
/*
 * A sender that waits for the peer to post a receive sends at most this many packets per
 * second.
 */
#define MOST_KNOCKS 25

/* ---- activity of a QP --------------------------------------------------------- */

static const signed char sq_facts[] = {
	QP_STATE, QP_SQ_PI, QP_SQ_CI, QP_HW_SQ_PI, QP_HW_SQ_CI,
	QP_HW_SEND_CQES, QP_HW_TX_PACKETS, QP_HW_RTO, QP_PEER_ADDR,
	QP_PEER_PORT, QP_LAST_POST_AGE, QP_LAST_COMP_AGE, -1,
};

static const signed char rq_facts[] = {
	QP_STATE, QP_RQ_PI, QP_RQ_CI, QP_HW_RQ_PI, QP_HW_RQ_CI,
	QP_HW_RECV_CQES, QP_HW_RX_PACKETS, QP_RQ_DEPTH, QP_PEER_ADDR,
	QP_PEER_PORT, -1,
};

static bool is_up(const struct diag_row *qp)
{
	return diag_u64(qp, QP_STATE) == EADM_QP_STATE_RTS &&
	       !diag_has(qp, QP_FIRST_EVENT_AGE);
}

static bool is_stopped(const struct diag_row *qp)
{
	return diag_u64(qp, QP_STATE) == EADM_QP_STATE_ERR;
}

static uint32_t to_send(const struct diag_row *qp)
{
	return diag_apart(qp, QP_HW_SQ_PI, QP_HW_SQ_CI);
}

/* The rows of a QP in both snapshots. */
struct end {
	const struct diag_row *now, *then;
};

static struct end end_of(struct judge *j, const struct diag_row *now)
{
	return (struct end){ now, eadm_judge_earlier(j, DIAG_QP, now) };
}

static struct end peer_of(struct judge *j, const struct diag_row *now)
{
	return end_of(j, eadm_qp_peer(eadm_judge_now(j), now));
}

static bool grew_fast(const struct end *e, unsigned int field)
{
	uint64_t ns = e->now->time - e->then->time;

	return diag_growth(e->now, e->then, field) * SECOND >=
	       MOST_KNOCKS * ns;
}

static bool is_retrying(const struct diag_row *now,
			const struct diag_row *then)
{
	return diag_growth(now, then, QP_HW_RTO);
}

/*
 * Returns true if the adapter has requests to send and makes no progress. Incoming
 * packets may be responses to a long read, unless the peer's own requests explain them.
 */
static bool sends_nothing(const struct end *e, const struct end *peer)
{
	return e->now && e->then && is_up(e->now) && is_up(e->then) &&
	       to_send(e->now) && to_send(e->then) &&
	       diag_same(e->now, e->then, QP_HW_SQ_CI) &&
	       diag_same(e->now, e->then, QP_HW_SEND_CQES) &&
	       (!grew_fast(e, QP_HW_RX_PACKETS) ||
		diag_growth(peer->now, peer->then, QP_HW_SQ_CI));
}

/*
 * Returns true if the QP's request arrives at the peer but is not accepted: both ends
 * send a few packets, and none is lost.
 */
static bool knocks(const struct end *e, const struct end *peer)
{
	return sends_nothing(e, peer) && !is_retrying(e->now, e->then) &&
	       diag_growth(e->now, e->then, QP_HW_TX_PACKETS) &&
	       !grew_fast(e, QP_HW_TX_PACKETS) &&
	       (!peer->then ||
		diag_growth(peer->now, peer->then, QP_HW_RX_PACKETS));
}

/*
 * Returns true if the adapter sees no posted receive, and has used none in the
 * meantime.
 */
static bool has_no_receive(const struct end *e)
{
	return e->then && is_up(e->now) && diag_has(e->now, QP_HW_RQ_PI) &&
	       !diag_apart(e->now, QP_HW_RQ_PI, QP_HW_RQ_CI) &&
	       !diag_apart(e->then, QP_HW_RQ_PI, QP_HW_RQ_CI) &&
	       diag_same(e->now, e->then, QP_HW_RQ_CI);
}

/* Returns true if the adapter has not seen all posted receives. */
static bool rq_is_unheard(const struct diag_row *qp)
{
	return diag_apart(qp, QP_RQ_PI, QP_HW_RQ_PI);
}

/*
 * ---- causes that affect several QPs -------------------------------------------------
 */

/* Counters of its port; most devices have one. */
static const struct diag_row *counters_of(const struct diag_snapshot *m,
					  const struct diag_row *qp)
{
	return eadm_diag_find(m, DIAG_COUNTERS, qp->dev,
			      diag_has(qp, QP_PORT) ? diag_u64(qp, QP_PORT) : 1);
}

static const struct diag_row *cq_of(struct judge *j, const struct diag_row *qp,
				    unsigned int field)
{
	return eadm_diag_find(eadm_judge_now(j), DIAG_CQ, qp->dev,
			      diag_u64(qp, field));
}

/* @text: effect on @qp of a device that does not work */
static bool device_explains(struct judge *j, const struct diag_row *at,
			    const struct diag_row *qp, const char *text)
{
	static const char *const device[] = { "adapter-gone", "adapter-halted",
					      "link-down", "mac-mismatch" };
	static const char *const queue[] = { "cmdq-dead", "cmdq-recovering",
					     "cmdq-stalled" };
	const struct diag_snapshot *m = eadm_judge_now(j);
	unsigned int i;

	if (!at)
		return false;
	for (i = 0; i < EADM_ARRAY_SIZE(device); i++) {
		if (eadm_follows(j, device[i], DIAG_DEV,
				 eadm_diag_find(m, DIAG_DEV, at->dev, at->dev),
				 qp, "%s", text))
			return true;
	}
	if (diag_has(at, QP_PORT) &&
	    eadm_follows(j, NULL, DIAG_PORT,
			 eadm_diag_find(m, DIAG_PORT, at->dev,
					diag_u64(at, QP_PORT)), qp, "%s", text))
		return true;
	for (i = 0; i < EADM_ARRAY_SIZE(queue); i++) {
		if (eadm_follows(j, queue[i], DIAG_CMDQ,
				 eadm_diag_find(m, DIAG_CMDQ, at->dev, 0), qp,
				 "%s", text))
			return true;
	}
	return eadm_follows(j, "port-disabled-drops", DIAG_COUNTERS,
			    counters_of(m, at), qp, "%s", text);
}

/*
 * If a CQ of the QP was reported because its consumer makes no progress, lists the QP
 * there.
 */
static bool cq_explains(struct judge *j, const struct diag_row *qp,
			unsigned int field, const char *text)
{
	return eadm_follows(j, NULL, DIAG_CQ, cq_of(j, qp, field), qp, "%s",
			    text);
}

/* A failure of a CQ also stops the QPs that use it. */
static bool stopped_with_cq(struct judge *j, const struct diag_row *qp)
{
	static const char text[] = "was stopped with its CQ";

	return eadm_follows(j, "cq-overrun", DIAG_CQ, cq_of(j, qp, QP_SEND_CQN),
			    qp, "%s", text) ||
	       eadm_follows(j, "cq-overrun", DIAG_CQ, cq_of(j, qp, QP_RECV_CQN),
			    qp, "%s", text);
}

/* If the other end or the device of either end was reported, lists the QP there. */
static bool others_explain(struct judge *j, const struct diag_row *qp,
			   const struct diag_row *peer, const char *text)
{
	return device_explains(j, qp, qp, text) ||
	       device_explains(j, peer, qp, text) ||
	       eadm_follows(j, NULL, DIAG_QP, peer, qp, "%s", text);
}

/*
 * If the counters cannot be read, it is unknown whether packets are dropped at the port
 * or by a limit: the cause may be at the adapter of either end.
 */
static bool drops_are_unknown(struct judge *j, const struct diag_row *qp)
{
	const struct diag_row *counters =
		qp ? counters_of(eadm_judge_now(j), qp) : NULL;

	return diag_has(counters, CNT_HW_ERROR) &&
	       (int64_t)diag_u64(counters, CNT_HW_ERROR) != -EOPNOTSUPP;
}

static void doubt_cause(struct judge *j, const struct diag_row *qp,
			const struct diag_row *peer)
{
	if (!drops_are_unknown(j, qp) && !drops_are_unknown(j, peer))
		return;
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_cause(j, "Unknown: packets may be dropped at the port or by a limit, and the counters that would show these drops cannot be read.");
}

/*
 * ---- faults -----------------------------------------------------------------------
 */

static void look_sq_doorbell(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	uint32_t n = diag_apart(now, QP_SQ_PI, QP_HW_SQ_PI);
	char age[32];

	/*
	 * A busy adapter may not look for more requests until it has finished earlier
	 * ones.
	 */
	if (!is_up(now) || !is_up(then) || !diag_same(now, then, QP_HW_SQ_PI) ||
	    to_send(now) || to_send(then) ||
	    !n || !diag_apart(then, QP_SQ_PI, QP_HW_SQ_PI) ||
	    device_explains(j, now, now, "its requests are not executed"))
		return;
	eadm_accuse(j, now, "the adapter has not seen %u posted send %s for %s",
		    n, eadm_plural(n, "entry", "entries"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_QP, now, sq_facts);
}

/* The sender is not at fault: list it with the receiver. */
static void add_sender(struct judge *j, const struct end *receiver,
		       const struct end *sender)
{
	uint32_t n = to_send(sender->now);

	eadm_cite(j, DIAG_QP, sender->now, QP_HW_SQ_PI);
	eadm_cite(j, DIAG_QP, sender->now, QP_HW_SQ_CI);
	eadm_cite_growth(j, DIAG_QP, receiver->now, receiver->then,
			 QP_HW_RX_PACKETS);
	eadm_follows(j, NULL, DIAG_QP, receiver->now, sender->now,
		     "waits for the peer to post a receive, with %u send queue %s pending", n,
		     eadm_plural(n, "entry", "entries"));
}

static void look_rq_doorbell(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	struct end e = { now, then }, sender = peer_of(j, now);
	uint32_t n = diag_apart(now, QP_RQ_PI, QP_HW_RQ_PI);
	char age[32];

	/* The adapter may not look for receives until a message arrives. */
	if (!has_no_receive(&e) || !rq_is_unheard(now) ||
	    !rq_is_unheard(then) || !knocks(&sender, &e))
		return;
	eadm_accuse(
		j, now,
		"the adapter has not seen %u posted %s for %s, while %s QP %" PRIu64
		" has a message for it",
		n, eadm_plural(n, "receive", "receives"),
		diag_interval(now, then, age, sizeof(age)), sender.now->device,
		sender.now->id);
	eadm_cite_all(j, DIAG_QP, now, rq_facts);
	add_sender(j, &e, &sender);
}

static void look_doorbell(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	look_sq_doorbell(j, now, then);
	look_rq_doorbell(j, now, then);
}

static void look_not_taken(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	struct end e = { now, then }, sender = peer_of(j, now);
	uint32_t n = diag_apart(now, QP_HW_RQ_PI, QP_HW_RQ_CI);
	char age[32];

	if (!is_up(now) || !n ||
	    !diag_apart(then, QP_HW_RQ_PI, QP_HW_RQ_CI) ||
	    !diag_same(now, then, QP_HW_RQ_CI) || !knocks(&sender, &e))
		return;
	eadm_accuse(
		j, now,
		"its adapter sees %u posted %s but has used none for %s, while %s QP %" PRIu64
		" has a message for it",
		n, eadm_plural(n, "receive", "receives"),
		diag_interval(now, then, age, sizeof(age)), sender.now->device,
		sender.now->id);
	eadm_cite_all(j, DIAG_QP, now, rq_facts);
	add_sender(j, &e, &sender);
}

/*
 * Reports the sender that waits for a receive on a different machine; the cause must be
 * examined there.
 */
static void wait_for_peer(struct judge *j, const struct end *e)
{
	uint32_t n = to_send(e->now);
	char age[32];

	eadm_accuse(j, e->now, "%u send %s posted, but the peer %s has accepted none for %s: it has no receive posted",
		    n, eadm_plural(n, "entry is", "entries are"),
		    diag_text(e->now, QP_PEER_ADDR),
		    diag_interval(e->now, e->then, age, sizeof(age)));
	eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_judge_cause(j, "The application at the peer posts no receives, because it is blocked, stopped or slow, or the peer's adapter does not accept them.");
	eadm_cite_all(j, DIAG_QP, e->now, sq_facts);
	eadm_cite_growth(j, DIAG_QP, e->now, e->then, QP_HW_TX_PACKETS);
}

static void look_stalled(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	struct end e = { now, then }, peer = peer_of(j, now);
	uint32_t n = to_send(now);
	char age[32];

	if (!sends_nothing(&e, &peer) || is_retrying(now, then) ||
	    others_explain(j, now, peer.now, "sends nothing") ||
	    eadm_follows(
		    j, "rate-limit-drops", DIAG_COUNTERS,
		    counters_of(eadm_judge_now(j), now), now,
		    "sends nothing: packets are dropped by the rate limits"))
		return;
	if (knocks(&e, &peer)) {
		if (!peer.now)
			wait_for_peer(j, &e);
		return;
	}
	eadm_accuse(j, now, "%u send %s posted, but nothing has been sent or completed for %s",
		    n, eadm_plural(n, "entry is", "entries are"),
		    diag_interval(now, then, age, sizeof(age)));
	if (!peer.now)
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
	else if (!is_up(peer.now))
		eadm_judge_cause(
			j, "The peer's QP is no longer connected.");
	else
		eadm_judge_cause(j, "The adapter does not process this QP: it hangs, or throttles the QP.");
	eadm_cite_all(j, DIAG_QP, now, sq_facts);
	doubt_cause(j, now, peer.now);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_TX_PACKETS);
	if (peer.now)
		eadm_cite_all(j, DIAG_QP, peer.now, rq_facts);
}

static void look_starved(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	struct end e = { now, then }, sender = peer_of(j, now);
	char age[32];
	uint32_t n;

	if (!has_no_receive(&e) || rq_is_unheard(now) ||
	    !knocks(&sender, &e))
		return;
	n = to_send(sender.now);
	/* The owner of the QP waits for something else, which is not the QP's fault. */
	if (cq_explains(j, now, QP_RECV_CQN, "has no receive posted") ||
	    cq_explains(j, now, QP_SEND_CQN, "has no receive posted") ||
	    eadm_follows(j, NULL, DIAG_QP, now, now, "has no receive posted")) {
		eadm_follows(j, NULL, DIAG_QP, now, sender.now,
			     "waits for the peer to post a receive, with %u send queue %s pending", n,
			     eadm_plural(n, "entry", "entries"));
		return;
	}
	eadm_accuse(j, now, "no receive is posted, and the peer, %s QP %" PRIu64 ", has had %u %s to send for %s",
		    sender.now->device, sender.now->id, n,
		    eadm_plural(n, "entry", "entries"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_judge_consumer(j, diag_u64(now, QP_PID));
	eadm_cite_all(j, DIAG_QP, now, rq_facts);
	add_sender(j, &e, &sender);
}

/*
 * Both ends report the same cause: the end that gave up has retransmitted, and the
 * other end was notified by its peer.
 */
static bool gave_up(const struct diag_row *qp)
{
	return diag_has(qp, QP_FIRST_CAUSE) &&
	       diag_u64(qp, QP_FIRST_CAUSE) ==
		       EADM_CAUSE_RETRIES_EXCEEDED &&
	       (!diag_has(qp, QP_HW_RTO) || diag_u64(qp, QP_HW_RTO));
}

static bool was_given_up(const struct diag_row *qp)
{
	return diag_has(qp, QP_FIRST_CAUSE) &&
	       diag_u64(qp, QP_FIRST_CAUSE) ==
		       EADM_CAUSE_RETRIES_EXCEEDED && !gave_up(qp);
}

static void look_silent(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	struct end e = { now, then }, peer = peer_of(j, now);
	uint64_t again = diag_growth(now, then, QP_HW_RTO);
	char age[32];

	if (!gave_up(now) && (!sends_nothing(&e, &peer) ||
			      !is_retrying(now, then)))
		return;
	if (others_explain(j, now, peer.now, "gets no response from its peer"))
		return;
	if (gave_up(now)) {
		eadm_accuse(
			j, now,
			"the connection failed %s ago: the peer %s did not respond after all retries",
			eadm_age_text(diag_u64(now, QP_FIRST_EVENT_AGE), age,
				      sizeof(age)),
			diag_text(now, QP_PEER_ADDR));
		eadm_cite(j, DIAG_QP, now, QP_FIRST_EVENT);
		eadm_cite(j, DIAG_QP, now, QP_FIRST_CAUSE);
		eadm_cite(j, DIAG_QP, now, QP_FIRST_EVENT_AGE);
		if (peer.now && was_given_up(peer.now))
			eadm_follows(
				j, NULL, DIAG_QP, now, peer.now,
				"was stopped: its peer gave up on the connection");
	} else {
		eadm_accuse(j, now, "%" PRIu64 " %s within %s, and nothing was received from %s",
			    again,
			    eadm_plural(again, "retransmission",
					"retransmissions"),
			    diag_interval(now, then, age, sizeof(age)),
			    diag_text(now, QP_PEER_ADDR));
	}
	doubt_cause(j, now, peer.now);
	eadm_cite_all(j, DIAG_QP, now, sq_facts);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_RTO);
}

/*
 * The QP's counter may be narrow, so it is only used if the whole device sent no more
 * packets than fit into it. Otherwise, assume that the QP sent all packets of the
 * device.
 */
static void look_storm(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *all = counters_of(eadm_judge_now(j), now);
	const struct diag_row *before = counters_of(eadm_judge_then(j), now);
	struct end e = { now, then }, peer = peer_of(j, now);
	uint64_t again = diag_growth(now, then, QP_HW_RTO), sent;
	bool few;
	char age[32];

	if (again < 10 || sends_nothing(&e, &peer) || !all || !before ||
	    !diag_has(all, CNT_TX_PACKETS) || !diag_has(before, CNT_TX_PACKETS))
		return;
	sent = diag_growth(all, before, CNT_TX_PACKETS);
	few = diag_has(now, QP_HW_TX_PACKETS) &&
	      sent <= UINT64_MAX >> (64 - diag_bits(now, QP_HW_TX_PACKETS));
	if (few)
		sent = diag_growth(now, then, QP_HW_TX_PACKETS);
	if (again < sent / 100 ||
	    others_explain(j, now, peer.now, "retransmits dropped packets"))
		return;
	eadm_accuse(j, now, "%" PRIu64 " retransmissions to %s within %s",
		    again, diag_text(now, QP_PEER_ADDR),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_RTO);
	if (few)
		eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_TX_PACKETS);
	else
		eadm_cite_growth(j, DIAG_COUNTERS, all, before, CNT_TX_PACKETS);
	eadm_cite_all(j, DIAG_QP, now, sq_facts);
}

/* Messages arrived, but sometimes no receive was posted for the next one. */
static bool receives_late(const struct end *e)
{
	return e->now && e->then &&
	       diag_growth(e->now, e->then, QP_HW_RQ_CI) &&
	       (!diag_apart(e->now, QP_RQ_PI, QP_HW_RQ_CI) ||
		!diag_apart(e->then, QP_RQ_PI, QP_HW_RQ_CI));
}

/*
 * Returns true if the QP almost always has requests to send. A QP that always has only
 * one outstanding request is idle now and then, but not in two of four samples.
 */
static bool always_sends(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	unsigned int idle = eadm_judge_idled(j, now) + !to_send(now) +
			    !to_send(then);

	if (!eadm_judge_between(j) && idle == 1)
		eadm_judge_doubt(j);
	return idle <= (eadm_judge_between(j) > 1);
}

/* Reports a QP that always has requests to send, but sends hardly any packets. */
static void look_slow(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t sent = diag_growth(now, then, QP_HW_TX_PACKETS) +
			diag_growth(now, then, QP_HW_RX_PACKETS);
	uint64_t done = diag_growth(now, then, QP_HW_SQ_CI);
	uint64_t ns = now->time - then->time;
	struct end peer = peer_of(j, now);
	uint32_t n = to_send(now);
	char age[32];

	/*
	 * Without a packet counter, the number of packets is unknown and may be large.
	 */
	if (!diag_has(now, QP_HW_TX_PACKETS))
		return;
	/* The interval is too short, or the QP sends nothing, or fast enough. */
	if (!is_up(now) || !is_up(then) || ns < SECOND / 2 || !done ||
	    sent * SECOND / ns >= SLOW_PACKETS || is_retrying(now, then) ||
	    !always_sends(j, now, then) || receives_late(&peer) ||
	    others_explain(j, now, peer.now, "sends almost nothing") ||
	    eadm_follows(
		    j, "rate-limit-drops", DIAG_COUNTERS,
		    counters_of(eadm_judge_now(j), now), now,
		    "sends almost nothing: packets are dropped by the rate limits"))
		return;
	eadm_accuse(j, now,
		    "%u send %s posted, but only %" PRIu64 " %s completed within %s", n,
		    eadm_plural(n, "entry is", "entries are"), done,
		    eadm_plural(done, "was", "were"),
		    diag_interval(now, then, age, sizeof(age)));
	/* For a remote peer, it is unknown whether it has receives posted. */
	if (!peer.now)
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	doubt_cause(j, now, peer.now);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_SQ_CI);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_TX_PACKETS);
	eadm_cite_all(j, DIAG_QP, now, sq_facts);
}

static void look_drops(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	uint64_t bad = diag_growth(now, then, QP_HW_RX_ERROR_DROPS);
	uint64_t invalid = diag_growth(now, then, QP_HW_RX_INVALID_DROPS);
	char age[32];

	if (!bad && !invalid)
		return;
	eadm_accuse(j, now, "%" PRIu64 " received %s dropped as bad and %" PRIu64 " as invalid within %s",
		    bad, eadm_plural(bad, "packet was", "packets were"),
		    invalid, diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_RX_ERROR_DROPS);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_RX_INVALID_DROPS);
	eadm_cite_growth(j, DIAG_QP, now, then, QP_HW_RX_PACKETS);
	eadm_cite(j, DIAG_QP, now, QP_PEER_ADDR);
}

/* ---- errors ------------------------------------------------------------------------ */

/* Explanations that name the end at fault and the reason. */
static const char *const causes[] = {
	[EADM_CAUSE_GENERAL] = "The adapter could not execute a request, for example because it could not reach the memory by DMA.",
	[EADM_CAUSE_RECV_FORMAT] = "The peer posted an invalid receive.",
	[EADM_CAUSE_RECV_KEY] = "The receiving end does not know the key: the rkey is wrong, or the memory region no longer exists.",
	[EADM_CAUSE_RECV_ADDRESS] = "The access exceeds the memory region at the receiving end or reaches memory that the receiving adapter cannot access, or the message is longer than the receive buffer.",
	[EADM_CAUSE_RECV_ACCESS] = "The memory region at the receiving end does not allow this access.",
	[EADM_CAUSE_RECV_PD] = "The QP and the memory region at the receiving end belong to different protection domains.",
	[EADM_CAUSE_RECV_WRAP] = "The access at the receiving end wraps around the end of memory.",
	[EADM_CAUSE_SEND_FORMAT] = "The sender posted an invalid request.",
	[EADM_CAUSE_SEND_READS] = "The sender has more outstanding reads than were negotiated.",
	[EADM_CAUSE_SEND_KEY] = "The sender's request names a key that does not exist: the lkey is wrong, or the memory region no longer exists.",
	[EADM_CAUSE_SEND_ADDRESS] = "The sender's request exceeds its memory region, or reaches memory that the adapter cannot access.",
	[EADM_CAUSE_SEND_ACCESS] = "The sender's memory region does not allow this access.",
	[EADM_CAUSE_SEND_PD] = "The QP and the memory region at the sender belong to different protection domains.",
	[EADM_CAUSE_SEND_WRAP] = "The sender's request wraps around the end of memory.",
	[EADM_CAUSE_RETRIES_EXCEEDED] = "The peer gave up on the connection, because this end did not respond.",
	[EADM_CAUSE_FLUSHED] = "The QP was stopped before its requests were executed.",
	[EADM_CAUSE_QP_ERROR] = "The adapter could not execute the requests of the QP.",
	[EADM_CAUSE_UNSUPPORTED] = "The adapter does not support the operation.",
	[EADM_CAUSE_ADDRESS_HANDLE] = "The request names an AH that does not exist.",
	[EADM_CAUSE_LOCAL_ACCESS] = "The request names a key that does not exist, or memory that the key does not allow.",
	[EADM_CAUSE_BAD_LENGTH] = "The message is longer than the adapter supports.",
	[EADM_CAUSE_REMOTE_ACCESS] = "The peer's memory region no longer exists or does not allow the access.",
	[EADM_CAUSE_REMOTE_ABORTED] = "The peer lost its state for this end: its process was restarted, or its adapter was reset.",
	[EADM_CAUSE_REMOTE_QP] = "The peer has no such QP, or the QP has a different Q_Key: its process has ended or was restarted.",
	[EADM_CAUSE_RECEIVER_NOT_READY] = "The peer had no receive posted in time.",
	[EADM_CAUSE_RECV_LENGTH] = "The receive buffer that the peer posted is too small.",
	[EADM_CAUSE_REMOTE_STATUS] = "The peer's adapter responded with an unknown status.",
	[EADM_CAUSE_UNRESPONSIVE] = "The peer responded earlier but no longer does: its machine is down or hangs, or the network path failed.",
	[EADM_CAUSE_UNKNOWN_PEER] = "The peer has no AH for this end: its application has not created it yet, or has destroyed it.",
	[EADM_CAUSE_UNREACHABLE] = "The peer never responded: a firewall or security group blocks traffic in at least one direction, there is no route between the two networks, or the peer's machine is down.",
	[EADM_CAUSE_FEATURE_MISMATCH] = "The peer's adapter does not support the request.",
	[EADM_CAUSE_OVERRUN] = "Completions arrived faster than they were consumed, and the CQ became full.",
	[EADM_CAUSE_ADAPTER_RESET] = "The adapter was reset or restarted on its own, and lost the object.",
	[EADM_CAUSE_ADAPTER_GONE] = "The adapter no longer responds on the bus.",
};

const char *eadm_cause_text(uint64_t cause)
{
	return cause < EADM_ARRAY_SIZE(causes) ? causes[cause] : NULL;
}

static const char *name_of(const char *name, uint64_t value, char *buf,
			   size_t size)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find("qp"), name);

	eadm_field_text(field, value, buf, size);
	return buf;
}

/* Returns true if a request of this QP reports the failure in its completion. */
static bool has_failed_request(struct judge *j, const struct diag_row *qp)
{
	struct diag_match cqes = eadm_diag_match(eadm_judge_now(j), DIAG_CQES_OF_QP,
						 qp->dev, qp->id);
	uint64_t cause = diag_u64(qp, QP_FIRST_CAUSE);
	const struct diag_row *cqe;

	while ((cqe = eadm_diag_next(&cqes)))
		if (diag_u64(cqe, CQE_CQN) == diag_u64(qp, QP_SEND_CQN) &&
		    diag_has(cqe, CQE_QUEUE) && diag_has(cqe, CQE_STATUS) &&
		    diag_u64(cqe, CQE_QUEUE) == EADM_CQE_QUEUE_SQ &&
		    diag_u64(cqe, CQE_STATUS) == cause)
			return true;
	return false;
}

/*
 * Returns true if a request of the QP failed: this raises a fatal event, or no event at
 * all.
 */
static bool failed_fatally(const struct diag_row *qp)
{
	return !diag_has(qp, QP_FIRST_EVENT) ||
	       diag_u64(qp, QP_FIRST_EVENT) == EADM_ASYNC_EVENT_QP_FATAL;
}

/*
 * Returns true if @a failed and @b was stopped because of that: both ends report the same
 * cause. The end whose request failed has a completion with the error; the other end got
 * an access or receive error, or was simply notified later.
 */
static bool failed_first(struct judge *j, const struct diag_row *a,
			 const struct diag_row *b)
{
	bool mine, yours;

	if (!a || !diag_has(a, QP_FIRST_EVENT_AGE) ||
	    !diag_has(b, QP_FIRST_EVENT_AGE) ||
	    diag_u64(a, QP_FIRST_CAUSE) != diag_u64(b, QP_FIRST_CAUSE))
		return false;
	mine = failed_fatally(a);
	yours = failed_fatally(b);
	if (mine != yours)
		return mine;
	mine = has_failed_request(j, a);
	yours = has_failed_request(j, b);
	if (mine != yours)
		return mine;
	if (!diag_same(a, b, QP_FIRST_EVENT_AGE))
		return diag_u64(a, QP_FIRST_EVENT_AGE) + b->time >
		       diag_u64(b, QP_FIRST_EVENT_AGE) + a->time;
	return a->dev != b->dev ? a->dev < b->dev : a->id < b->id;
}

static void look_error(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char facts[] = {
		QP_STATE_AGE, QP_EVENTS,
		QP_FIRST_EVENT, QP_FIRST_CAUSE, QP_FIRST_EVENT_AGE,
		QP_PEER_ADDR, QP_PEER_PORT, QP_HW_SQ_PI, QP_HW_SQ_CI,
		QP_HW_RQ_PI, QP_HW_RQ_CI, QP_HW_RTO, -1,
	};
	uint64_t cause = diag_u64(now, QP_FIRST_CAUSE);
	char event[32], what[32], age[32];
	const struct diag_row *peer;

	(void)then;
	if (!diag_has(now, QP_FIRST_EVENT_AGE) || gave_up(now))
		return;
	peer = eadm_qp_peer(eadm_judge_now(j), now);
	if (was_given_up(now) && peer && gave_up(peer))
		return;
	if (failed_first(j, peer, now))
		return;
	if (stopped_with_cq(j, now))
		return;
	eadm_age_text(diag_u64(now, QP_FIRST_EVENT_AGE), age, sizeof(age));
	name_of("first-cause", cause, what, sizeof(what));
	if (diag_has(now, QP_FIRST_EVENT))
		eadm_accuse(j, now, "failed %s ago: %s, %s", age,
			    name_of("first-event",
				    diag_u64(now, QP_FIRST_EVENT), event,
				    sizeof(event)),
			    what);
	else
		eadm_accuse(j, now, "failed %s ago: %s", age, what);
	if (cause < EADM_ARRAY_SIZE(causes) && causes[cause])
		eadm_judge_cause(j, causes[cause]);
	eadm_cite(j, DIAG_QP, now, QP_STATE);
	eadm_cite_family(j, DIAG_QP, now);
	eadm_cite_all(j, DIAG_QP, now, facts);
	if (peer && failed_first(j, now, peer))
		eadm_follows(
			j, NULL, DIAG_QP, now, peer,
			"was stopped because a request of its peer failed");
}

/* This rule is for drivers that report only the state of a QP. */
static void look_plain_error(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	const struct diag_row *port = counters_of(eadm_judge_now(j), now);
	uint64_t given_up = diag_u64(port, CNT_RETRIES_EXCEEDED);
	char age[32], peer[96], text[96] = "";

	if (diag_has(now, QP_EVENTS) ||
	    diag_u64(now, QP_STATE) != EADM_QP_STATE_ERR ||
	    diag_u64(then, QP_STATE) != EADM_QP_STATE_ERR ||
	    device_explains(j, now, now, "is in the error state"))
		return;
	/* If the QP had a peer, failed requests may be the reason. */
	if (given_up && diag_u64(now, QP_DEST_QPN))
		snprintf(text, sizeof(text), "; %" PRIu64 " %s failed after all retries on this port so far",
			 given_up, eadm_plural(given_up, "request", "requests"));
	eadm_accuse(j, now, "in error for at least %s%s%s%s",
		    diag_interval(now, then, age, sizeof(age)),
		    diag_u64(now, QP_DEST_QPN) ? "; its peer is " : "",
		    diag_u64(now, QP_DEST_QPN) ?
			    eadm_peer_text(now, peer, sizeof(peer)) : "",
		    text);
	eadm_cite(j, DIAG_QP, now, QP_STATE);
	eadm_cite(j, DIAG_QP, now, QP_SQ_PI);
	eadm_cite(j, DIAG_QP, now, QP_DEST_QPN);
	if (*text)
		eadm_cite(j, DIAG_COUNTERS, port, CNT_RETRIES_EXCEEDED);
}

static void look_forgotten(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	bool dead = diag_has(now, QP_HW_ERROR) &&
		    (int64_t)diag_u64(now, QP_HW_ERROR) == -ENODEV;

	(void)then;
	/* The event was raised by the driver, not by the adapter. */
	if (!dead && (!diag_u64(now, QP_EVENTS) || !is_stopped(now) ||
		      diag_has(now, QP_FIRST_EVENT_AGE)))
		return;
	eadm_accuse(j, now, "the adapter lost this QP when it was reset");
	eadm_cite(j, DIAG_QP, now, QP_STATE);
	eadm_cite(j, DIAG_QP, now, QP_STATE_AGE);
	eadm_cite(j, DIAG_QP, now, QP_EVENTS);
	eadm_cite(j, DIAG_QP, now, QP_HW_ERROR);
}

/* Returns nonzero if some posted requests were not polled (kernel) or not flushed. */
static uint16_t undrained(const struct diag_row *qp, bool kernel)
{
	if (kernel)
		return diag_apart(qp, QP_SQ_PI, QP_SQ_CI) |
		       diag_apart(qp, QP_RQ_PI, QP_RQ_CI);
	return diag_apart(qp, QP_SQ_PI, QP_HW_SQ_CI) |
	       diag_apart(qp, QP_RQ_PI, QP_HW_RQ_CI) |
	       diag_apart(qp, QP_HW_SQ_PI, QP_HW_SQ_CI) |
	       diag_apart(qp, QP_HW_RQ_PI, QP_HW_RQ_CI);
}

static void look_flush(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char facts[] = {
		QP_STATE, QP_STATE_AGE, QP_SQ_PI, QP_SQ_CI, QP_RQ_PI,
		QP_RQ_CI, QP_HW_SQ_PI, QP_HW_SQ_CI, QP_HW_RQ_PI,
		QP_HW_RQ_CI, QP_SEND_CQN, QP_RECV_CQN, -1,
	};
	bool kernel = diag_has(now, QP_USER) && !diag_u64(now, QP_USER);
	bool flushed = diag_has(now, QP_HW_SQ_PI) && !to_send(now) &&
		       !diag_apart(now, QP_HW_RQ_PI, QP_HW_RQ_CI);
	char age[32];

	if (!is_stopped(now) || !is_stopped(then) || !undrained(now, kernel) ||
	    !undrained(then, kernel) ||
	    eadm_follows(j, "qp-forgotten", DIAG_QP, now, now, "not flushed") ||
	    stopped_with_cq(j, now) ||
	    device_explains(j, now, now, "its requests are not flushed"))
		return;
	/* The adapter or the consumer is still making progress. */
	if ((kernel && (!diag_same(now, then, QP_SQ_CI) ||
			!diag_same(now, then, QP_RQ_CI))) ||
	    (!kernel && (!diag_same(now, then, QP_HW_SQ_CI) ||
			 !diag_same(now, then, QP_HW_RQ_CI))))
		return;
	eadm_accuse(
		j, now,
		"stopped %s ago, and some posted requests have not completed",
		eadm_age_text(diag_u64(now, QP_STATE_AGE), age, sizeof(age)));
	if (kernel && flushed) {
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_cause(j, "The adapter has flushed all requests; the owner of the QP does not poll the CQ.");
	}
	eadm_cite_all(j, DIAG_QP, now, facts);
}

const struct eadm_rule eadm_rules_qp[] = {
	{
		.name = "qp-forgotten", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_CRITICAL, .needs = STATE | HW,
		.help = "The adapter was reset and no longer knows this QP.",
		.cause = "The command queue was recovered by a reset; all earlier objects are lost and must be created again.",
		.next = "eadm trace -d {dev}; restart the application that owns the QP",
		.alike = "A QP that was stopped by its application does not count: the driver raises no event for it.",
		.look = look_forgotten,
	}, {
		.name = "qp-error", .kind = DIAG_QP, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The adapter stopped a QP because of an error; the first one is shown.",
		.cause = "A request from this end or from the peer failed.",
		.next = "eadm dump qp {id} -d {dev} --hw; check the application's log for the status of the first failed completion",
		.alike = "If the other end of the connection stopped because of the same error, it is listed as a consequence. A regular disconnect is not reported, because it raises no event.",
		.look = look_error,
	}, {
		.name = "qp-in-error", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A QP stays in the state ERR, for a reason that the driver does not report.",
		.cause = "The connection has ended, or a request failed; the QP was not destroyed.",
		.next = "eadm dump qp {id} -d {dev}",
		.alike = "An application that keeps the QP of a closed connection looks the same, so the verdict is only a notice.",
		.look = look_plain_error,
	}, {
		.name = "lost-doorbell", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL, .needs = HW,
		.help = "The adapter does not see posted requests.",
		.cause = "The doorbell write was lost, or the process was stopped before the write.",
		.next = "eadm dump qp {id} -d {dev} --hw",
		.alike = "An adapter can delay fetching send requests until it has finished earlier ones, and fetching receive requests until a message arrives. Unfetched sends are therefore reported only if the adapter is idle, and unfetched receives only if a message is waiting.",
		.look = look_doorbell,
	}, {
		.name = "receive-not-taken", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL, .needs = HW,
		.help = "Messages arrive and receives are posted, but the adapter uses none.",
		.cause = "The receiver's adapter does not match messages with receives.",
		.next = "eadm dump qp {id} -d {dev} --hw; eadm dump rqe {id} -d {dev} --around ci --hw",
		.alike = "Receives for which no message has arrived are excluded, because a message must be waiting.",
		.look = look_not_taken,
	}, {
		.name = "sender-stalled", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL, .needs = HW,
		.help = "Requests are posted, but the adapter does not send or complete any.",
		.cause = "The adapter throttles the QP, the path to the peer is blocked, or the receiver has no receive posted.",
		.next = "eadm dump qp {id} -d {dev} --hw; on the peer: eadm diagnose",
		.alike = "A peer that posts receives late or is stopped makes the sender retry. If the peer is on another machine, the verdict is a notice if the sender retries, and a warning if it does not. If packets may be dropped at the port or by a limit, and the counters of such drops cannot be read, the verdict is a notice.",
		.look = look_stalled,
	}, {
		.name = "receiver-starved", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_NOTICE, .needs = HW,
		.help = "No receive is posted while the peer has requests to send.",
		.cause = "The application does not post receives: it is blocked, stopped or slow, or posts fewer than the peer sends.",
		.next = "eadm dump qp {id} -d {dev} --hw; check the state of the QP's process: cat /proc/{pid}/stat /proc/{pid}/wchan",
		.alike = "An application that is stopped, sleeps, or posts late on purpose looks the same, so the verdict is only a notice.",
		.look = look_starved,
	}, {
		.name = "peer-silent", .kind = DIAG_QP, .needs = STATE | HW,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The peer does not respond: everything is retransmitted, or the connection has failed.",
		.cause = "The peer's machine is down or unreachable, or a firewall or security group drops its packets.",
		.next = "eadm dump qp {id} -d {dev} --hw; ping the peer; on the peer: eadm diagnose",
		.alike = "A peer that was stopped with SIGSTOP or polls rarely is excluded, because its adapter still responds. If the peer's QP or device has a verdict, the QP is listed in that verdict. If packets may be dropped at the port, and its counters cannot be read, the verdict is a notice.",
		.look = look_silent,
	}, {
		.name = "sender-slow", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_WARNING, .needs = HW,
		.help = "A QP always has requests to send but transfers almost no data.",
		.cause = "The adapter or the path to the peer is overloaded, or the receiver posts receives too slowly.",
		.next = "eadm stat qp --hw --live -d {dev}; on the peer: eadm diagnose",
		.alike = "A receiver that posts late is excluded, because it runs out of receives only now and then. A sender that posts rarely is excluded, too, because it has nothing to send in one of the samples. If the peer is on another machine, the verdict is a notice.",
		.look = look_slow,
	}, {
		.name = "retransmission-storm", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_WARNING, .needs = HW,
		.help = "More than one packet in a hundred of a QP is retransmitted.",
		.cause = "Packets to this peer are lost in the network.",
		.next = "eadm stat qp --hw --live -d {dev}",
		.alike = "Occasional losses caused by congestion are excluded: fewer than ten, or at most one packet in a hundred, do not count.",
		.look = look_storm,
	}, {
		.name = "bad-packets", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_WARNING, .needs = HW,
		.help = "Received packets of a QP are dropped as bad or invalid.",
		.cause = "The two ends disagree about the state of the connection, or packets are damaged in transit.",
		.next = "eadm stat qp --hw --live -d {dev}",
		.alike = "Packets that were dropped before the first sample are ignored.",
		.look = look_drops,
	}, {
		.name = "flush-not-drained", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_WARNING, .needs = HW,
		.help = "A stopped QP has posted requests that were not flushed.",
		.cause = "The adapter has not finished flushing the queues.",
		.next = "eadm dump qp {id} -d {dev} --hw; eadm dump cq -d {dev} --hw",
		.alike = "A process that has not polled the flushed completions is excluded, because only the adapter's progress counts.",
		.look = look_flush,
	},
	{ 0 }
};
