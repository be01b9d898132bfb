// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about queue pairs. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "diag_rules.h"
#include "eadm_nl.h"

/* A QP with work that moves fewer packets a second crawls. */
#define SLOW_PACKETS 10

/* ---- what a QP does ----------------------------------------------------------- */

static const signed char sq_facts[] = {
	QP_STATE, QP_SQ_PI, QP_SQ_CI, QP_HW_SQ_PI, QP_HW_SQ_CI,
	QP_HW_SEND_CQES, QP_HW_TX_PACKETS, QP_HW_RTO, QP_PEER_ADDR,
	QP_PEER_PORT, QP_LAST_POST_AGE, QP_LAST_COMP_AGE, -1,
};

static const signed char rq_facts[] = {
	QP_STATE, QP_RQ_PI, QP_RQ_CI, QP_HW_RQ_PI, QP_HW_RQ_CI,
	QP_HW_RECV_CQES, QP_RQ_DEPTH, QP_PEER_ADDR, QP_PEER_PORT, -1,
};

static bool is_up(const struct diag_row *qp)
{
	return diag_has(qp, QP_IWARP_STATE) ?
		       diag_u64(qp, QP_IWARP_STATE) == EADM_IWARP_STATE_RTS :
		       diag_u64(qp, QP_STATE) == EADM_QP_STATE_RTS;
}

static bool is_stopped(const struct diag_row *qp)
{
	return diag_u64(qp, QP_IWARP_STATE) >= EADM_IWARP_STATE_CLOSING ||
	       diag_u64(qp, QP_STATE) == EADM_QP_STATE_ERR;
}

/* From one index of 16 bits to another. */
static uint16_t apart(const struct diag_row *qp, unsigned int to,
		      unsigned int from)
{
	if (!diag_has(qp, to) || !diag_has(qp, from))
		return 0;
	return diag_u64(qp, to) - diag_u64(qp, from);
}

static uint16_t to_send(const struct diag_row *qp)
{
	return apart(qp, QP_HW_SQ_PI, QP_HW_SQ_CI);
}

/* The adapter has something to send and got nowhere. */
static bool sends_nothing(const struct diag_row *now,
			  const struct diag_row *then)
{
	return then && is_up(now) && is_up(then) && to_send(now) &&
	       to_send(then) && same(now, then, QP_HW_SQ_CI) &&
	       same(now, then, QP_HW_SEND_CQES) &&
	       same(now, then, QP_HW_RX_PACKETS);
}

static bool is_retrying(const struct diag_row *now,
			const struct diag_row *then)
{
	return growth(now, then, QP_HW_RTO, 32);
}

/* The other end, where it is on this machine. */
static const struct diag_row *find_peer(const struct diag_moment *m,
					const struct diag_row *qp)
{
	const struct diag_rows *qps = &m->rows[DIAG_QP];
	size_t i;

	if (!diag_has(qp, QP_PEER_PORT) || !diag_has(qp, QP_LOCAL_PORT))
		return NULL;
	for (i = 0; i < qps->n; i++) {
		const struct diag_row *p = &qps->row[i];

		if (diag_has(p, QP_LOCAL_PORT) &&
		    diag_u64(p, QP_LOCAL_PORT) == diag_u64(qp, QP_PEER_PORT) &&
		    diag_u64(p, QP_PEER_PORT) == diag_u64(qp, QP_LOCAL_PORT) &&
		    !strcmp(diag_text(p, QP_LOCAL_ADDR),
			    diag_text(qp, QP_PEER_ADDR)) &&
		    !strcmp(diag_text(p, QP_PEER_ADDR),
			    diag_text(qp, QP_LOCAL_ADDR)))
			return p;
	}
	return NULL;
}

/* What is sent to such a QP writes, reads, or waits for ever. */
static bool never_receives(const struct diag_row *qp)
{
	return diag_has(qp, QP_RQ_PI) && !diag_u64(qp, QP_RQ_PI) &&
	       !diag_u64(qp, QP_HW_RQ_PI);
}

/* No receive is left, and none was taken or posted in the meantime. */
static bool is_starved(const struct diag_row *now, const struct diag_row *then)
{
	return then && is_up(now) && diag_has(now, QP_HW_RQ_PI) &&
	       !never_receives(now) &&
	       !apart(now, QP_HW_RQ_PI, QP_HW_RQ_CI) &&
	       !apart(then, QP_HW_RQ_PI, QP_HW_RQ_CI) &&
	       same(now, then, QP_HW_RQ_CI);
}

/* Posted to the receive queue, and the adapter does not know. */
static bool rq_is_unheard(const struct diag_row *qp)
{
	return apart(qp, QP_RQ_PI, QP_HW_RQ_PI);
}

/* Whoever sends to this QP and gets nowhere. */
static const struct diag_row *stuck_sender(struct judge *j,
					   const struct diag_row *now)
{
	const struct diag_row *peer = find_peer(judge_now(j), now);

	if (!peer)
		return NULL;
	return sends_nothing(peer, diag_find(judge_then(j), DIAG_QP, peer->dev,
					     peer->id)) ? peer : NULL;
}

/* ---- what may be wrong ------------------------------------------------------------ */

static void look_sq_doorbell(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	char age[32];

	if (!is_up(now) || !is_up(then) || !same(now, then, QP_HW_SQ_PI) ||
	    !apart(now, QP_SQ_PI, QP_HW_SQ_PI) ||
	    !apart(then, QP_SQ_PI, QP_HW_SQ_PI))
		return;
	accuse(j, now, "%u blocks were posted to the send queue that the adapter has not heard of for %s",
	       apart(now, QP_SQ_PI, QP_HW_SQ_PI),
	       interval(now, then, age, sizeof(age)));
	cite_all(j, DIAG_QP, now, sq_facts);
}

static void look_rq_doorbell(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	const struct diag_row *sender;
	char age[32];

	/* It may look at the receive queue only when something arrives. */
	if (!is_starved(now, then) || !rq_is_unheard(now) ||
	    !rq_is_unheard(then))
		return;
	sender = stuck_sender(j, now);
	if (!sender)
		return;
	accuse(j, now, "%u receives were posted that the adapter has not heard of for %s, while %s QP %" PRIu64 " waits for one",
	       apart(now, QP_RQ_PI, QP_HW_RQ_PI),
	       interval(now, then, age, sizeof(age)), sender->device,
	       sender->id);
	cite_all(j, DIAG_QP, now, rq_facts);
	cite(j, DIAG_QP, sender, QP_HW_SQ_PI);
	cite(j, DIAG_QP, sender, QP_HW_SQ_CI);
}

static void look_doorbell(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	look_sq_doorbell(j, now, then);
	look_rq_doorbell(j, now, then);
}

static void look_starved(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const struct diag_row *sender;
	char age[32];

	if (!is_starved(now, then) || rq_is_unheard(now))
		return;
	sender = stuck_sender(j, now);
	if (!sender)
		return;
	accuse(j, now, "no receive is posted, and the peer, %s QP %" PRIu64 ", waits with %u blocks to send for %s",
	       sender->device, sender->id, to_send(sender),
	       interval(now, then, age, sizeof(age)));
	cite_all(j, DIAG_QP, now, rq_facts);
	cite(j, DIAG_QP, sender, QP_HW_SQ_PI);
	cite(j, DIAG_QP, sender, QP_HW_SQ_CI);
}

/* Who gives up has sent again; who has not was told by the peer that it did. */
static bool gave_up(const struct diag_row *qp)
{
	return diag_has(qp, QP_FIRST_SYNDROME) &&
	       diag_u64(qp, QP_FIRST_SYNDROME) ==
		       EADM_SYNDROME_RETRIES_EXCEEDED &&
	       (!diag_has(qp, QP_HW_RTO) || diag_u64(qp, QP_HW_RTO));
}

static void look_silent(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	char age[32];

	if (gave_up(now)) {
		accuse(j, now, "the connection was given up %s ago: the peer %s did not answer after all retries",
		       age_text(diag_u64(now, QP_FIRST_EVENT_AGE), age,
				sizeof(age)), diag_text(now, QP_PEER_ADDR));
		cite(j, DIAG_QP, now, QP_FIRST_EVENT);
		cite(j, DIAG_QP, now, QP_FIRST_SYNDROME);
		cite(j, DIAG_QP, now, QP_FIRST_EVENT_AGE);
	} else if (sends_nothing(now, then) && is_retrying(now, then)) {
		accuse(j, now, "%" PRIu64 " retransmissions within %s, and nothing came back from %s",
		       growth(now, then, QP_HW_RTO, 32),
		       interval(now, then, age, sizeof(age)),
		       diag_text(now, QP_PEER_ADDR));
	} else {
		return;
	}
	cite_all(j, DIAG_QP, now, sq_facts);
	cite_growth(j, DIAG_QP, now, then, QP_HW_RTO, 32);
}

static void look_stalled(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const struct diag_row *peer, *before;
	char age[32];

	if (!sends_nothing(now, then) || is_retrying(now, then))
		return;
	peer = find_peer(judge_now(j), now);
	before = peer ? diag_find(judge_then(j), DIAG_QP, peer->dev, peer->id) :
			NULL;
	/* Then the receiver is accused. */
	if (peer && is_starved(peer, before))
		return;
	accuse(j, now, "%u blocks are posted, and none was sent or completed for %s",
	       to_send(now), interval(now, then, age, sizeof(age)));
	if (peer && !is_up(peer))
		judge_cause(j, "The QP of the peer is not connected any more.");
	else if (peer && never_receives(peer))
		judge_cause(j, "The adapter does not work on this QP: it hangs, or holds the QP back; or these are sends to a peer that has never posted a receive.");
	else if (peer && apart(peer, QP_HW_RQ_PI, QP_HW_RQ_CI))
		judge_cause(j, "The adapter does not work on this QP: it hangs, or holds the QP back; or these are sends and the peer's adapter takes none of the receives that are posted there.");
	else if (peer)
		judge_cause(j, "The adapter does not work on this QP: it hangs, or holds the QP back.");
	cite_all(j, DIAG_QP, now, sq_facts);
	if (peer)
		cite_all(j, DIAG_QP, peer, rq_facts);
}

/* What its device counted: it has one port so far. */
static const struct diag_row *counters_of(const struct diag_moment *m,
					  const struct diag_row *qp)
{
	return diag_find(m, DIAG_COUNTERS, qp->dev, 1);
}

/*
 * The counter of a QP has 16 bits, so it tells what was sent only where the
 * device as a whole sent no more than that; else all of that may be its own.
 */
static void look_storm(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *all = counters_of(judge_now(j), now);
	const struct diag_row *before = counters_of(judge_then(j), now);
	uint64_t again = growth(now, then, QP_HW_RTO, 32), sent;
	bool few;
	char age[32];

	if (again < 10 || sends_nothing(now, then) || !all || !before ||
	    !diag_has(all, CNT_TX_PACKETS) || !diag_has(before, CNT_TX_PACKETS))
		return;
	sent = growth(all, before, CNT_TX_PACKETS, 64);
	few = sent <= UINT16_MAX;
	if (few)
		sent = growth(now, then, QP_HW_TX_PACKETS, 16);
	if (again < sent / 100)
		return;
	accuse(j, now, "%" PRIu64 " retransmissions to %s within %s",
	       again, diag_text(now, QP_PEER_ADDR),
	       interval(now, then, age, sizeof(age)));
	cite_growth(j, DIAG_QP, now, then, QP_HW_RTO, 32);
	if (few)
		cite_growth(j, DIAG_QP, now, then, QP_HW_TX_PACKETS, 16);
	else
		cite_growth(j, DIAG_COUNTERS, all, before, CNT_TX_PACKETS, 64);
	cite_all(j, DIAG_QP, now, sq_facts);
}

/* Always something to send, and hardly anything is sent. */
static void look_slow(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t sent = growth(now, then, QP_HW_TX_PACKETS, 16) +
			growth(now, then, QP_HW_RX_PACKETS, 16);
	uint64_t done = growth(now, then, QP_HW_SQ_CI, 16);
	uint64_t ns = now->time - then->time;
	char age[32];

	/* Too short to tell, stalled, or quick. */
	if (!is_up(now) || !is_up(then) || !to_send(now) || !to_send(then) ||
	    ns < SECOND / 2 || !done || sent * SECOND / ns >= SLOW_PACKETS ||
	    is_retrying(now, then))
		return;
	accuse(j, now, "%u blocks are posted, and only %" PRIu64 " were done within %s",
	       to_send(now), done, interval(now, then, age, sizeof(age)));
	cite_growth(j, DIAG_QP, now, then, QP_HW_SQ_CI, 16);
	cite_growth(j, DIAG_QP, now, then, QP_HW_TX_PACKETS, 16);
	cite_all(j, DIAG_QP, now, sq_facts);
}

static void look_drops(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	uint64_t bad = growth(now, then, QP_HW_RX_ERROR_DROPS, 16);
	uint64_t invalid = growth(now, then, QP_HW_RX_INVALID_DROPS, 16);
	char age[32];

	if (!bad && !invalid)
		return;
	accuse(j, now, "%" PRIu64 " received packets were dropped as bad and %" PRIu64 " as invalid within %s",
	       bad, invalid, interval(now, then, age, sizeof(age)));
	cite_growth(j, DIAG_QP, now, then, QP_HW_RX_ERROR_DROPS, 16);
	cite_growth(j, DIAG_QP, now, then, QP_HW_RX_INVALID_DROPS, 16);
	cite_growth(j, DIAG_QP, now, then, QP_HW_RX_PACKETS, 16);
	cite(j, DIAG_QP, now, QP_PEER_ADDR);
}

/* ---- errors ------------------------------------------------------------------------ */

/* Which end is to blame, and for what. */
static const char *const causes[] = {
	[EADM_SYNDROME_GENERAL] = "The adapter could not carry a request out, for example because it could not reach the memory by DMA.",
	[EADM_SYNDROME_RECV_FORMAT] = "The peer posted a receive that makes no sense.",
	[EADM_SYNDROME_RECV_KEY] = "The receiving end does not know the key: a wrong rkey, or the memory region is gone.",
	[EADM_SYNDROME_RECV_ADDRESS] = "The access ends outside of the memory region at the receiving end or in memory that the adapter there cannot reach, or the message is longer than the receive.",
	[EADM_SYNDROME_RECV_ACCESS] = "The memory region at the receiving end does not allow this access.",
	[EADM_SYNDROME_RECV_PD] = "QP and memory region at the receiving end belong to different protection domains.",
	[EADM_SYNDROME_RECV_WRAP] = "The access at the receiving end wraps around the end of memory.",
	[EADM_SYNDROME_SEND_FORMAT] = "The sender posted a request that makes no sense.",
	[EADM_SYNDROME_SEND_READS] = "The sender has more reads under way than were agreed on.",
	[EADM_SYNDROME_SEND_KEY] = "The sender's request names a key that does not exist: a wrong lkey, or the memory region is gone.",
	[EADM_SYNDROME_SEND_ADDRESS] = "The sender's request reaches outside of its memory region, or to memory that the adapter cannot reach.",
	[EADM_SYNDROME_SEND_ACCESS] = "The sender's memory region does not allow this access.",
	[EADM_SYNDROME_SEND_PD] = "QP and memory region at the sender belong to different protection domains.",
	[EADM_SYNDROME_SEND_WRAP] = "The sender's request wraps around the end of memory.",
	[EADM_SYNDROME_RETRIES_EXCEEDED] = "The peer gave the connection up: this end did not answer it.",
	[EADM_SYNDROME_FLUSHED] = "The QP was stopped before its requests were carried out.",
};

static const char *name_of(const char *name, uint64_t value, char *buf,
			   size_t size)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find("qp"), name);

	eadm_field_text(field, value, buf, size);
	return buf;
}

static void look_error(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char facts[] = {
		QP_STATE, QP_IWARP_STATE, QP_STATE_AGE, QP_EVENTS,
		QP_FIRST_EVENT, QP_FIRST_SYNDROME, QP_FIRST_EVENT_AGE,
		QP_PEER_ADDR, QP_PEER_PORT, QP_HW_SQ_PI, QP_HW_SQ_CI,
		QP_HW_RQ_PI, QP_HW_RQ_CI, QP_HW_RTO, -1,
	};
	uint64_t syndrome = diag_u64(now, QP_FIRST_SYNDROME);
	char event[32], what[32], age[32];

	(void)then;
	if (!diag_has(now, QP_FIRST_EVENT) || gave_up(now))
		return;
	accuse(j, now, "failed %s ago: %s, %s",
	       age_text(diag_u64(now, QP_FIRST_EVENT_AGE), age, sizeof(age)),
	       name_of("first-event", diag_u64(now, QP_FIRST_EVENT), event,
		       sizeof(event)),
	       name_of("first-syndrome", syndrome, what, sizeof(what)));
	if (syndrome < EADM_ARRAY_SIZE(causes) && causes[syndrome])
		judge_cause(j, causes[syndrome]);
	cite_all(j, DIAG_QP, now, facts);
}

/* Of a driver that tells no more than the state. */
static void look_plain_error(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	char age[32];

	if (diag_has(now, QP_EVENTS) ||
	    diag_u64(now, QP_STATE) != EADM_QP_STATE_ERR ||
	    diag_u64(then, QP_STATE) != EADM_QP_STATE_ERR)
		return;
	accuse(j, now, "in error for at least %s",
	       interval(now, then, age, sizeof(age)));
	cite(j, DIAG_QP, now, QP_STATE);
	cite(j, DIAG_QP, now, QP_SQ_PI);
}

static void look_forgotten(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	bool dead = diag_has(now, QP_HW_ERROR) &&
		    (int64_t)diag_u64(now, QP_HW_ERROR) == -ENODEV;

	(void)then;
	/* An event without the adapter having raised one: the driver did. */
	if (!dead && (!diag_u64(now, QP_EVENTS) || !is_stopped(now) ||
		      diag_has(now, QP_FIRST_EVENT)))
		return;
	accuse(j, now, "the adapter has forgotten this QP at a reset");
	cite(j, DIAG_QP, now, QP_STATE);
	cite(j, DIAG_QP, now, QP_STATE_AGE);
	cite(j, DIAG_QP, now, QP_EVENTS);
	cite(j, DIAG_QP, now, QP_HW_ERROR);
}

/* Posted and not yet completed to the consumer, or not flushed. */
static uint16_t undrained(const struct diag_row *qp, bool kernel)
{
	if (kernel)
		return apart(qp, QP_SQ_PI, QP_SQ_CI) |
		       apart(qp, QP_RQ_PI, QP_RQ_CI);
	return apart(qp, QP_SQ_PI, QP_HW_SQ_CI) |
	       apart(qp, QP_RQ_PI, QP_HW_RQ_CI) |
	       apart(qp, QP_HW_SQ_PI, QP_HW_SQ_CI) |
	       apart(qp, QP_HW_RQ_PI, QP_HW_RQ_CI);
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
		       !apart(now, QP_HW_RQ_PI, QP_HW_RQ_CI);
	char age[32];

	if (!is_stopped(now) || !is_stopped(then) || !undrained(now, kernel) ||
	    !undrained(then, kernel) || judge_named(j, "qp-forgotten", now->dev,
						    now->id))
		return;
	/* Somebody is at it. */
	if ((kernel && (!same(now, then, QP_SQ_CI) ||
			!same(now, then, QP_RQ_CI))) ||
	    (!kernel && (!same(now, then, QP_HW_SQ_CI) ||
			 !same(now, then, QP_HW_RQ_CI))))
		return;
	accuse(j, now, "stopped %s ago, and not all that was posted has been completed",
	       age_text(diag_u64(now, QP_STATE_AGE), age, sizeof(age)));
	if (kernel && flushed)
		judge_cause(j, "The adapter has flushed everything; its owner does not poll the CQ.");
	cite_all(j, DIAG_QP, now, facts);
}

const struct eadm_rule diag_rules_qp[] = {
	{
		.name = "qp-forgotten", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The adapter was reset and knows nothing of this QP any more.",
		.cause = "The command queue was brought back by a reset; all objects from before are lost and must be made anew.",
		.next = "eadm trace -d {dev}; restart what owns the QP",
		.look = look_forgotten,
	}, {
		.name = "qp-error", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The adapter stopped a QP because of an error; the first one is told.",
		.cause = "A request of this end or of the peer failed.",
		.next = "eadm dump qp {id} -d {dev} --hw; read the status of the first failed completion in the application's log",
		.look = look_error,
	}, {
		.name = "qp-in-error", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A QP stays in the state ERR, for a reason the driver does not tell.",
		.cause = "The connection has ended, or a request failed; the QP was not destroyed.",
		.next = "eadm dump qp {id} -d {dev}",
		.look = look_plain_error,
	}, {
		.name = "peer-silent", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The peer does not answer: everything is sent again and again, or was given up.",
		.cause = "The peer's machine is down or cut off, or a firewall or security group drops its packets.",
		.next = "eadm dump qp {id} -d {dev} --hw; ping the peer; eadm diagnose there",
		.look = look_silent,
	}, {
		.name = "lost-doorbell", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Requests are posted that the adapter does not know of.",
		.cause = "The write to the doorbell was lost, the process was stopped before it, or the adapter does not look at this queue: it hangs, or holds the QP back.",
		.next = "eadm dump qp {id} -d {dev} --hw",
		.look = look_doorbell,
	}, {
		.name = "receiver-starved", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "No receive is posted while the peer has something to send.",
		.cause = "The application does not post receives: it is blocked, too slow, or posts fewer than the peer sends.",
		.next = "eadm dump qp {id} -d {dev} --hw; look what its process does",
		.look = look_starved,
	}, {
		.name = "sender-stalled", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Requests are posted, and the adapter sends and completes none.",
		.cause = "The receiver has no receive posted, the path to it is blocked, or the adapter holds the QP back.",
		.next = "eadm dump qp {id} -d {dev} --hw; eadm diagnose at the peer",
		.look = look_stalled,
	}, {
		.name = "sender-slow", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_WARNING,
		.help = "A QP always has requests to send and moves next to nothing.",
		.cause = "The adapter or the path to the peer is overloaded, or the receiver posts receives too slowly.",
		.next = "eadm stat qp --hw --live -d {dev}; eadm diagnose at the peer",
		.look = look_slow,
	}, {
		.name = "retransmission-storm", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than one packet in a hundred of a QP is sent again.",
		.cause = "Packets get lost on the way to this peer.",
		.next = "eadm stat qp --hw --live -d {dev}",
		.look = look_storm,
	}, {
		.name = "bad-packets", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Received packets of a QP are dropped as bad or invalid.",
		.cause = "A peer with another idea of the connection, or packets that are damaged on the way.",
		.next = "eadm stat qp --hw --live -d {dev}",
		.look = look_drops,
	}, {
		.name = "flush-not-drained", .kind = DIAG_QP, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_WARNING,
		.help = "A stopped QP has requests that were not completed as flushed.",
		.cause = "The adapter has not flushed the queues to their end.",
		.next = "eadm dump qp {id} -d {dev} --hw; eadm dump cq -d {dev} --hw",
		.look = look_flush,
	},
	{ 0 }
};
