// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about peers, paths and the adapter, based on port counters. They need only a
 * driver with counters, not the companion.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "read/counters.h"
#include "rules.h"
#include "eadm_nl.h"

/* This many consecutive missing keep-alives indicate a fault. */
#define ALIVE_MISSED	3
/* No adapter is expected to send keep-alives more often than this. */
#define ALIVE_MIN_NS	SECOND

/* The queue of asynchronous events, if the companion shows it. */
static const struct diag_row *async_eq(struct judge *j, uint64_t dev)
{
	const struct diag_rows eqs = eadm_diag_of(eadm_judge_now(j), DIAG_EQ, dev);
	size_t i;

	for (i = 0; i < eqs.n; i++) {
		if (diag_u64(&eqs.row[i], EQ_ROLE) == EADM_EQ_ROLE_ASYNC)
			return &eqs.row[i];
	}
	return NULL;
}

/*
 * Mean time between keep-alives; 0: unknown. A value derived from the counters alone
 * may be too long, because the driver may have been loaded long after boot.
 */
static uint64_t alive_period(struct judge *j, const struct diag_row *now)
{
	const struct diag_row *eq = async_eq(j, now->dev);
	uint64_t n = diag_u64(now, CNT_KEEP_ALIVES);

	if (diag_has(eq, EQ_AGE) && diag_u64(eq, EQ_KEEP_ALIVES))
		return diag_u64(eq, EQ_AGE) / diag_u64(eq, EQ_KEEP_ALIVES);
	return n ? eadm_judge_now(j)->uptime / n : 0;
}

/* Time since the last keep-alive, if known. */
static uint64_t silent_for(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	const struct diag_row *eq = async_eq(j, now->dev);

	if (diag_has(eq, EQ_LAST_ALIVE))
		return diag_u64(eq, EQ_LAST_ALIVE);
	return diag_same(now, then, CNT_KEEP_ALIVES) ? now->time - then->time :
						       0;
}

static void look_alive(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *eq = async_eq(j, now->dev);
	uint64_t period = alive_period(j, now), least = ALIVE_MISSED * period;
	uint64_t silent = silent_for(j, now, then);
	char age[32], usual[32];

	/*
	 * The adapter has never sent a keep-alive (older firmware), or was just
	 * started.
	 */
	if (!period || diag_u64(now, CNT_KEEP_ALIVES) < ALIVE_MISSED ||
	    now->id != 1)
		return;
	if (least < ALIVE_MIN_NS)
		least = ALIVE_MIN_NS;
	if (silent < least) {
		if (silent && !diag_has(eq, EQ_LAST_ALIVE))
			eadm_judge_doubt(j);
		return;
	}
	eadm_accuse(j, now, "no keep-alive from the adapter for %s; previously, one arrived at least every %s",
		    eadm_age_text(silent, age, sizeof(age)),
		    eadm_age_text(period, usual, sizeof(usual)));
	eadm_cite(j, DIAG_COUNTERS, now, CNT_KEEP_ALIVES);
	eadm_cite(j, DIAG_EQ, eq, EQ_LAST_ALIVE);
}

static void cite_traffic(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	static const signed char traffic[] = {
		CNT_TX_PACKETS, CNT_RX_PACKETS, CNT_RETRANS_PACKETS,
		CNT_RETRANSMITS, CNT_ACK_TIMEOUTS, -1,
	};
	const signed char *f;

	for (f = traffic; *f >= 0; f++) {
		if (diag_has(now, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

/*
 * Packets are retransmitted repeatedly, and none is received. A port that only sends
 * may also receive none, but it sends each packet once, because the packets are
 * acknowledged.
 */
static bool is_cut_off(const struct diag_row *now, const struct diag_row *then)
{
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);

	return sent && diag_same(now, then, CNT_RX_PACKETS) &&
	       diag_growth(now, then, CNT_RETRANS_PACKETS) >= sent / 2;
}

/* Number of times that requests were retransmitted because of a timeout. */
static uint64_t repetitions(const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t late = diag_growth(now, then, CNT_ACK_TIMEOUTS);
	uint64_t again = diag_growth(now, then, CNT_RETRANSMITS);

	return again > late ? again : late;
}

/*
 * Nothing is received, not even a request to retransmit: every retransmission is due to
 * a timeout.
 */
static bool is_unanswered(const struct diag_row *now,
			  const struct diag_row *then)
{
	return diag_growth(now, then, CNT_TX_PACKETS) &&
	       diag_same(now, then, CNT_RX_PACKETS) &&
	       repetitions(now, then);
}

/* Returns true if a QP has one peer, whose acknowledgements it needs. */
static bool is_connected(const struct diag_row *qp)
{
	uint64_t type = diag_u64(qp, QP_TYPE);

	return diag_has(qp, QP_TYPE) &&
	       (type == EADM_QP_TYPE_RC || type == EADM_QP_TYPE_XRC_INI);
}

/*
 * Returns true if a QP may need acknowledgements. Those of a driver's own types may:
 * dynamically connected ones, and those of reliable datagrams.
 */
static bool may_retransmit(const struct diag_row *qp)
{
	return is_connected(qp) || !diag_has(qp, QP_TYPE) ||
	       diag_u64(qp, QP_TYPE) == EADM_QP_TYPE_DRIVER;
}

/* Returns true if a QP waits for acknowledgements. */
static bool is_waiting(struct judge *j, const struct diag_row *qp)
{
	(void)j;
	return may_retransmit(qp) && diag_u64(qp, QP_STATE) == EADM_QP_STATE_RTS;
}

/* Returns true if a QP has failed, or may have failed, since the earlier snapshot. */
static bool has_failed(struct judge *j, const struct diag_row *qp)
{
	const struct diag_row *then = eadm_judge_earlier(j, DIAG_QP, qp);

	return may_retransmit(qp) &&
	       diag_u64(qp, QP_STATE) == EADM_QP_STATE_ERR &&
	       (!diag_has(then, QP_STATE) ||
		diag_u64(then, QP_STATE) != EADM_QP_STATE_ERR);
}

typedef bool (*is_one)(struct judge *j, const struct diag_row *qp);

/* The port of a QP may be unknown. */
static bool uses_port(const struct diag_row *qp, const struct diag_row *port)
{
	return !diag_has(qp, QP_PORT) || diag_u64(qp, QP_PORT) == port->id;
}

/*
 * Returns the first QP at or after *at that could send over a port in the earlier
 * snapshot and has been destroyed since then, and sets *at to the index that follows.
 */
static const struct diag_row *next_lost(struct judge *j, const struct diag_row *port,
					size_t *at)
{
	struct diag_rows qps = eadm_diag_of(eadm_judge_then(j), DIAG_QP, port->dev);
	const struct diag_row *qp, *now;

	while (*at < qps.n) {
		qp = &qps.row[(*at)++];
		if (!uses_port(qp, port) || !is_waiting(j, qp))
			continue;
		now = eadm_diag_first(eadm_judge_now(j), DIAG_QPS_OF_ID, qp->dev,
				      qp->id);
		if (eadm_judge_earlier(j, DIAG_QP, now) != qp)
			return qp;
	}
	return NULL;
}

/*
 * Returns the QP of a port for which @is returns true, if no other QP can be the one
 * that the counters of the port concern.
 */
static const struct diag_row *only_qp(struct judge *j, const struct diag_row *port,
				      is_one is)
{
	struct diag_rows qps = eadm_diag_of(eadm_judge_now(j), DIAG_QP, port->dev);
	const struct diag_row *only = NULL;
	size_t i, at = 0;

	for (i = 0; i < qps.n; i++) {
		if (!uses_port(&qps.row[i], port) || !is(j, &qps.row[i]))
			continue;
		if (only)
			return NULL;
		only = &qps.row[i];
	}
	return only && is_connected(only) && !next_lost(j, port, &at) ? only : NULL;
}

/* Cites the QPs that the counters may concern. The evidence has room for only a few. */
static void cite_qps_that(struct judge *j, const struct diag_row *port, is_one is)
{
	static const signed char fields[] = {
		QP_PID, QP_COMM, QP_DEST_QPN, QP_PEER_ADDR, -1,
	};
	struct diag_rows qps = eadm_diag_of(eadm_judge_now(j), DIAG_QP, port->dev);
	const struct diag_row *lost;
	size_t i, at = 0;

	for (i = 0; i < qps.n; i++) {
		if (uses_port(&qps.row[i], port) && is(j, &qps.row[i]))
			eadm_cite_all(j, DIAG_QP, &qps.row[i], fields);
	}
	while ((lost = next_lost(j, port, &at)))
		eadm_cite_all(j, DIAG_QP, lost, fields);
}

/* Counters of the port do not show which QP is concerned unless there is only one. */
static void accuse_silence(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);
	uint64_t times = repetitions(now, then);
	uint64_t given_up = diag_growth(now, then, CNT_RETRIES_EXCEEDED);
	/* QPs that gave up are no longer waiting. */
	is_one is = given_up ? has_failed : is_waiting;
	char age[32], who[256], name[96], peer[96], end[96] = "";
	const struct diag_row *qp;
	bool is_known;

	qp = only_qp(j, now, is);
	is_known = diag_has(qp, QP_DEST_QPN);
	if (qp)
		snprintf(who, sizeof(who), "the peer of %s%s%s%s does not respond",
			 eadm_qp_text(qp, name, sizeof(name)),
			 is_known ? ", " : "",
			 is_known ? eadm_peer_text(qp, peer, sizeof(peer)) : "",
			 is_known ? "," : "");
	else
		snprintf(who, sizeof(who), "no peer responds");
	if (given_up)
		snprintf(end, sizeof(end), "; %" PRIu64 " %s failed (completion status 12)",
			 given_up, eadm_plural(given_up, "request has", "requests have"));
	eadm_accuse(j, now, "%s: within %s, %" PRIu64 " %s sent and none received, and requests were sent again %" PRIu64 " %s%s",
		    who, diag_interval(now, then, age, sizeof(age)), sent,
		    eadm_plural(sent, "packet was", "packets were"), times,
		    eadm_plural(times, "time", "times"), end);
	eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
	eadm_judge_cause(j, "The peer's process, machine or adapter is gone, or packets or their acknowledgements are dropped in transit.");
	cite_traffic(j, now, then);
	cite_qps_that(j, now, is);
}

static void look_unresponsive(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	uint64_t times = diag_growth(now, then, CNT_UNRESPONSIVE);
	char age[32];

	if (!times && is_unanswered(now, then)) {
		/*
		 * A single retransmission may be accidental: a longer interval shows
		 * whether there are more.
		 */
		if (repetitions(now, then) < 2)
			eadm_judge_doubt(j);
		else
			accuse_silence(j, now, then);
		return;
	}
	if (!times)
		return;
	diag_interval(now, then, age, sizeof(age));
	if (is_cut_off(now, then)) {
		eadm_accuse(j, now, "a peer did not respond %" PRIu64 " %s within %s; most packets are retransmitted, and none is received",
			    times, eadm_plural(times, "time", "times"), age);
		eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
		eadm_judge_cause(j, "Packets or their acknowledgements are dropped in transit: a firewall or security group blocks traffic in at least one direction, or there is no route between the two networks.");
	} else {
		eadm_accuse(j, now, "a peer did not respond %" PRIu64 " %s within %s",
			    times, eadm_plural(times, "time", "times"), age);
	}
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_UNRESPONSIVE);
	cite_traffic(j, now, then);
}

/* Returns true if each QP that failed has a peer on this machine with a verdict. */
static bool peers_explain(struct judge *j, const struct diag_row *now)
{
	struct diag_rows qps = eadm_diag_of(eadm_judge_now(j), DIAG_QP, now->dev);
	unsigned int explained = 0;
	const struct diag_row *peer;
	size_t i;

	for (i = 0; i < qps.n; i++) {
		if (!uses_port(&qps.row[i], now) || !has_failed(j, &qps.row[i]))
			continue;
		peer = eadm_qp_peer(eadm_judge_now(j), &qps.row[i]);
		if (!eadm_follows(j, NULL, DIAG_QP, peer, now,
				  "requests to it failed after all retries"))
			return false;
		explained++;
	}
	return explained;
}

/* Reports requests that ended with an error; the port counts them. */
static void look_given_up(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t n = diag_growth(now, then, CNT_RETRIES_EXCEEDED);
	char age[32], name[96], peer[96], who[224] = "";
	const struct diag_row *qp;

	if (!n)
		return;
	qp = only_qp(j, now, has_failed);
	if (qp)
		snprintf(who, sizeof(who), "; %s is in the state ERR, and its peer is %s",
			 eadm_qp_text(qp, name, sizeof(name)),
			 eadm_peer_text(qp, peer, sizeof(peer)));
	/*
	 * Both ends are on this machine, and the fault of the other end was reported.
	 */
	if (peers_explain(j, now))
		return;
	/* If no peer responds at all, a different rule reports this. */
	if (is_unanswered(now, then) &&
	    eadm_follows(j, "peer-unresponsive", DIAG_COUNTERS, now, now,
			 "its requests failed after all retries"))
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s failed after all retries (completion status 12) within %s%s",
		    n, eadm_plural(n, "request", "requests"),
		    diag_interval(now, then, age, sizeof(age)), who);
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RETRIES_EXCEEDED);
	cite_traffic(j, now, then);
	cite_qps_that(j, now, has_failed);
}

/*
 * Returns the same counter of the same QPs; all counters of a set have the same number.
 */
static const struct diag_row *same_counter(const struct diag_snapshot *m,
					   const struct diag_row *row)
{
	struct diag_match set = eadm_diag_match(m, DIAG_COUNTERS_OF_ID, row->dev,
						row->id);
	const struct diag_row *same;

	while ((same = eadm_diag_next(&set)))
		if (!strcmp(diag_text(same, QPC_NAME), diag_text(row, QPC_NAME)) &&
		    !strcmp(diag_text(same, QPC_QPNS), diag_text(row, QPC_QPNS)))
			break;
	return same;
}

static bool counts_losses(const char *name)
{
	switch (eadm_counter_attr(name)) {
	case EADM_A_COUNTERS_RETRANSMITTED_PACKETS:
	case EADM_A_COUNTERS_RETRANSMITS:
	case EADM_A_COUNTERS_ACK_TIMEOUTS:
	case EADM_A_COUNTERS_OUT_OF_SEQUENCE:
	case EADM_A_COUNTERS_RX_SEQUENCE_NAKS:
	case EADM_A_COUNTERS_IMPLIED_NAKS:
		return true;
	default:
		return false;
	}
}

/* If some QPs have counters, adds the QPs whose packets were affected. */
static void cite_qps(struct judge *j, uint64_t dev)
{
	const struct diag_rows *all = &eadm_judge_now(j)->rows[DIAG_QP_COUNTER];
	const struct diag_row *row, *then;
	size_t i;

	for (i = 0; i < all->n; i++) {
		row = &all->row[i];
		if (row->dev != dev || !counts_losses(diag_text(row, QPC_NAME)))
			continue;
		then = same_counter(eadm_judge_then(j), row);
		if (!then || !diag_growth(row, then, QPC_VALUE))
			continue;
		eadm_cite(j, DIAG_QP_COUNTER, row, QPC_QPNS);
		eadm_cite(j, DIAG_QP_COUNTER, row, QPC_NAME);
		eadm_cite_growth(j, DIAG_QP_COUNTER, row, then, QPC_VALUE);
	}
}

/*
 * Returns true if @n packets are more than an accident: at least ten, and more than one
 * in a hundred of those that the field @all counts, which must be known.
 */
static bool are_many(const struct diag_row *now, const struct diag_row *then,
		     uint64_t n, unsigned int all)
{
	return diag_has(now, all) && diag_has(then, all) &&
	       n >= 10 + diag_growth(now, then, all) / 100;
}

static void accuse_losses(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then, uint64_t lost,
			  uint64_t disordered)
{
	static const signed char losses[] = {
		CNT_RETRANS_PACKETS, CNT_RETRANSMITS, CNT_ACK_TIMEOUTS,
		CNT_SEQUENCE_NAKS, CNT_IMPLIED_NAKS, CNT_OUT_OF_SEQUENCE, -1,
	};
	char out[64] = "", in[64] = "", age[32];
	const signed char *f;

	if (lost)
		snprintf(out, sizeof(out), "%" PRIu64 " %s lost or retransmitted", lost,
			 eadm_plural(lost, "packet was", "packets were"));
	if (disordered)
		snprintf(in, sizeof(in), "%" PRIu64 " %s received out of order",
			 disordered,
			 eadm_plural(disordered, "packet was", "packets were"));
	eadm_accuse(j, now, "%s%s%s within %s", out, *out && *in ? " and " : "", in,
		    diag_interval(now, then, age, sizeof(age)));
	for (f = losses; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
	if (lost)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_TX_PACKETS);
	if (disordered)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RX_PACKETS);
	cite_qps(j, now->dev);
}

static void look_retransmissions(struct judge *j, const struct diag_row *now,
				 const struct diag_row *then)
{
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);
	uint64_t again = diag_growth(now, then, CNT_RETRANS_PACKETS);
	uint64_t late = diag_growth(now, then, CNT_ACK_TIMEOUTS);
	uint64_t times = diag_growth(now, then, CNT_RETRANSMITS);
	uint64_t disordered = diag_growth(now, then, CNT_OUT_OF_SEQUENCE);
	/*
	 * A sender notices each loss by a timeout or a NAK, and then retransmits, which
	 * some drivers count instead or as well.
	 */
	uint64_t lost = late + diag_growth(now, then, CNT_SEQUENCE_NAKS) +
			diag_growth(now, then, CNT_IMPLIED_NAKS);

	if (lost < again)
		lost = again;
	if (lost < times)
		lost = times;
	/* Packets to a peer that does not respond are retransmitted, too. */
	if ((is_cut_off(now, then) || is_unanswered(now, then) ||
	     again < late + 10 + sent / 100) &&
	    eadm_follows(j, "peer-unresponsive", DIAG_COUNTERS, now, now,
			 "its packets are retransmitted"))
		return;
	if (!are_many(now, then, lost, CNT_TX_PACKETS))
		lost = 0;
	if (!are_many(now, then, disordered, CNT_RX_PACKETS))
		disordered = 0;
	if (lost || disordered)
		accuse_losses(j, now, then, lost, disordered);
}

static void look_impaired(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t times = diag_growth(now, then, CNT_IMPAIRED);
	char age[32];

	if (!times)
		return;
	eadm_accuse(j, now, "the path to a peer was reported impaired %" PRIu64 " %s within %s",
		    times, eadm_plural(times, "time", "times"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_IMPAIRED);
	cite_traffic(j, now, then);
}

/* A loss of some datagrams is normal. */
static void look_rx_drops(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t drops = diag_growth(now, then, CNT_RX_DROPS);
	uint64_t received = diag_growth(now, then, CNT_RX_PACKETS);
	char age[32];

	if (!are_many(now, then, drops, CNT_RX_PACKETS))
		return;
	eadm_accuse(j, now, "%" PRIu64 " of %" PRIu64 " received packets were dropped within %s",
		    drops, received + drops,
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RX_DROPS);
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RX_PACKETS);
}

/*
 * Each end counts: the sender of a request, and the end that refuses it. Completions with
 * an error do not count, because they include the requests that are flushed when a
 * connection is closed.
 */
static void look_refused(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	static const signed char refused[] = {
		CNT_REMOTE_ACCESS, CNT_REMOTE_INVALID, CNT_RX_ACCESS,
		CNT_RX_LENGTH, -1,
	};
	uint64_t there = diag_growth(now, then, CNT_REMOTE_ACCESS) +
			 diag_growth(now, then, CNT_REMOTE_INVALID);
	uint64_t here = diag_growth(now, then, CNT_RX_ACCESS) +
			diag_growth(now, then, CNT_RX_LENGTH);
	char at_peer[48] = "", at_us[48] = "", age[32];
	const signed char *f;

	if (!there && !here)
		return;
	if (there)
		snprintf(at_peer, sizeof(at_peer), " %" PRIu64 " %s by the peer", there,
			 eadm_plural(there, "time", "times"));
	if (here)
		snprintf(at_us, sizeof(at_us), " %" PRIu64 " %s here", here,
			 eadm_plural(here, "time", "times"));
	eadm_accuse(j, now, "requests were refused%s%s%s within %s", at_peer,
		    there && here ? " and" : "", at_us,
		    diag_interval(now, then, age, sizeof(age)));
	eadm_judge_cause(j, "The key, address, length or access right of a request does not match the memory region or the receive at the other end, or the region no longer exists.");
	for (f = refused; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

static void look_rdma_errors(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	uint64_t reads = diag_growth(now, then, CNT_READ_ERRORS);
	uint64_t writes = diag_growth(now, then, CNT_WRITE_ERRORS);
	char age[32];

	/* No driver counts both kinds. */
	if (!reads && !writes) {
		look_refused(j, now, then);
		return;
	}
	/* Allow for counters that were read at slightly different times. */
	if (reads + writes <= 2 * diag_growth(now, then, CNT_UNRESPONSIVE) &&
	    eadm_follows(j, "peer-unresponsive", DIAG_COUNTERS, now, now,
			 "its RDMA reads and writes fail"))
		return;
	eadm_accuse(j, now, "%" PRIu64 " RDMA %s and %" PRIu64 " %s failed within %s",
		    reads, eadm_plural(reads, "read", "reads"), writes,
		    eadm_plural(writes, "write", "writes"), diag_interval(now, then, age, sizeof(age)));
	if (reads)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_READ_ERRORS);
	if (writes)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_WRITE_ERRORS);
}

const struct eadm_rule eadm_rules_port[] = {
	{
		.name = "keep-alive-lost", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter no longer sends keep-alives.",
		.cause = "The adapter's firmware hangs, or asynchronous events do not reach the driver.",
		.next = "eadm stat -d {dev}; eadm dump eq -d {dev}; dmesg | grep {driver}",
		.alike = "An adapter that sends few keep-alives or none is excluded: the expected rate is the average so far, and at least three keep-alives must be missing.",
		.look = look_alive,
	}, {
		.name = "peer-unresponsive", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Peers do not respond, according to the counters; this is critical if no peer responds.",
		.cause = "The machine or the application at the other end is stopped or hangs.",
		.next = "check the peer's process and machine, and the security groups and firewalls at both ends; eadm dump qp -d {dev} -o wide",
		.alike = "Peers of an earlier job are ignored; only new failures count. A sender that receives nothing because its peers have nothing to send is excluded, because it does not retransmit.",
		.look = look_unresponsive,
	}, {
		.name = "packet-loss", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than one packet in a hundred is retransmitted or received out of order, according to the counters.",
		.cause = "Packets are lost in the network, or acknowledgements arrive too late.",
		.next = "eadm stat --live -d {dev}",
		.alike = "Occasional losses caused by congestion are excluded: fewer than ten, or at most one packet in a hundred, do not count, nor does a port whose driver does not count all packets. Retransmissions after timeouts, to a peer that does not respond, are reported by peer-unresponsive.",
		.look = look_retransmissions,
	}, {
		.name = "path-impaired", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter reports impaired paths to peers, according to its counters.",
		.cause = "The network between the two ends is congested or faulty, or the peer is overloaded.",
		.next = "eadm stat --live -d {dev}; compare it with the machine's other adapters",
		.alike = "Impairments reported before the first sample are ignored.",
		.look = look_impaired,
	}, {
		.name = "receive-drops", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "More than one received packet in a hundred is dropped, according to the counters.",
		.cause = "No receive is posted, the receive buffer is too small, or the sender's Q_Key is wrong.",
		.next = "eadm stat --live -d {dev}; eadm dump qp -d {dev}",
		.alike = "Datagrams may be lost in normal operation: fewer than ten, or at most one packet in a hundred, do not count, and more are only a notice. A port whose driver does not count all packets is excluded.",
		.look = look_rx_drops,
	}, {
		.name = "rdma-errors", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "RDMA reads or writes fail, or requests are refused, according to the counters.",
		.cause = "The peer does not allow the access, the peer's region or process no longer exists, or the peer has no AH for this end.",
		.next = "eadm stat --live -d {dev}; check the application's completions for the failed requests",
		.alike = "Errors before the first sample are ignored, and so are the requests that are flushed when a connection is closed. If the driver counts unresponsive peers, their errors are reported by peer-unresponsive.",
		.look = look_rdma_errors,
	},
	{ 0 }
};

/* Applied after the rules about QPs. */
const struct eadm_rule eadm_rules_given_up[] = {
	{
		.name = "retries-exceeded", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Requests failed after all retries, according to the counters.",
		.cause = "The peer's process, machine or adapter is gone or too slow, packets are dropped in transit, or the peer's address leads to a different machine.",
		.next = "eadm dump qp -d {dev}; ip neigh show dev {netdev}; ip route get ADDRESS; eadm diagnose; run the same commands on the peer",
		.alike = "Requests that failed before the first sample are ignored. If none of a port's peers responds, peer-unresponsive reports the port. If a peer is on this machine, the verdict on that peer covers the failure. RDMA netlink does not show the retry count or timeout of a QP.",
		.look = look_given_up,
	},
	{ 0 }
};
