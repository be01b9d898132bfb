// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules by counters of what a port met: peers, paths, and the adapter itself. They
 * need no companion, only a driver that counts.
 */
#include <inttypes.h>

#include "rules.h"
#include "eadm_nl.h"

/* So many signs of life in a row are never late for nothing. */
#define ALIVE_MISSED	3
/* No adapter has to give them more often than this. */
#define ALIVE_MIN_NS	SECOND

/* The queue of asynchronous events, where the companion shows it. */
static const struct diag_row *async_eq(struct judge *j, uint64_t dev)
{
	const struct diag_rows *eqs = &eadm_judge_now(j)->rows[DIAG_EQ];
	size_t i;

	for (i = 0; i < eqs->n; i++) {
		if (eqs->row[i].dev == dev &&
		    diag_u64(&eqs->row[i], EQ_ROLE) == EADM_EQ_ROLE_ASYNC)
			return &eqs->row[i];
	}
	return NULL;
}

/*
 * The mean time between signs of life; by the counters alone it may be more, as the
 * driver may have been loaded long after the machine was booted. 0: not known.
 */
static uint64_t alive_period(struct judge *j, const struct diag_row *now)
{
	const struct diag_row *eq = async_eq(j, now->dev);
	uint64_t n = diag_u64(now, CNT_KEEP_ALIVES);

	if (diag_has(eq, EQ_AGE) && diag_u64(eq, EQ_KEEP_ALIVES))
		return diag_u64(eq, EQ_AGE) / diag_u64(eq, EQ_KEEP_ALIVES);
	return n ? eadm_judge_now(j)->uptime / n : 0;
}

/* How long there has been none, as far as that is known. */
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

	/* One that never gave any, as older firmware, or was just started. */
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
	eadm_accuse(j, now, "no sign of life of the adapter for %s; before, one came every %s or sooner",
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
		CNT_ACK_TIMEOUTS, -1,
	};
	const signed char *f;

	for (f = traffic; *f >= 0; f++) {
		if (diag_has(now, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

/* Accuses when one of the counters grew by at least so much. */
void eadm_accuse_growth(struct judge *j, const struct diag_row *now,
			const struct diag_row *then, const signed char *fields,
			uint64_t least, const char *what)
{
	const signed char *f;
	uint64_t sum = 0;
	char age[32];

	for (f = fields; *f >= 0; f++)
		sum += diag_growth(now, then, *f);
	if (sum < least)
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s within %s", sum, what,
		    diag_interval(now, then, age, sizeof(age)));
	for (f = fields; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

/*
 * Packets go out again and again, and none comes in. Who only sends receives none
 * either, but sends each of them once when it is answered.
 */
static bool is_cut_off(const struct diag_row *now, const struct diag_row *then)
{
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);

	return sent && diag_same(now, then, CNT_RX_PACKETS) &&
	       diag_growth(now, then, CNT_RETRANS_PACKETS) >= sent / 2;
}

static void look_unresponsive(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	uint64_t times = diag_growth(now, then, CNT_UNRESPONSIVE);
	char age[32];

	if (!times)
		return;
	diag_interval(now, then, age, sizeof(age));
	if (is_cut_off(now, then)) {
		eadm_accuse(j, now, "%" PRIu64 " times within %s a peer did not answer; most packets are sent again, and none is received",
			    times, age);
		eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
		eadm_judge_cause(j, "What is sent or answered is dropped on the way: a firewall or security group that does not let its members reach each other in both directions, or no path between the networks of the two ends.");
	} else {
		eadm_accuse(j, now, "%" PRIu64 " times within %s a peer did not answer",
			    times, age);
	}
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_UNRESPONSIVE);
	cite_traffic(j, now, then);
}

/* A loss of one packet in a hundred is no accident. */
static void look_retransmissions(struct judge *j, const struct diag_row *now,
				 const struct diag_row *then)
{
	static const signed char retrans[] = {
		CNT_RETRANS_PACKETS, CNT_RETRANSMITS, CNT_ACK_TIMEOUTS,
		CNT_OUT_OF_SEQUENCE, -1,
	};
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);
	uint64_t again = diag_growth(now, then, CNT_RETRANS_PACKETS);
	uint64_t late = diag_growth(now, then, CNT_ACK_TIMEOUTS);
	uint64_t least = 10 + sent / 100;

	/* What is sent to a peer that does not answer is sent again, too. */
	if ((is_cut_off(now, then) || again < late + least) &&
	    eadm_follows(j, "peer-unresponsive", DIAG_COUNTERS, now, now,
			 "what it sends is sent again"))
		return;
	eadm_accuse_growth(j, now, then, retrans, least,
		    "packets were lost, sent again or out of order");
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_TX_PACKETS);
}

static void look_impaired(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t times = diag_growth(now, then, CNT_IMPAIRED);
	char age[32];

	if (!times)
		return;
	eadm_accuse(j, now, "%" PRIu64 " times within %s the path to a peer was found impaired",
		    times, diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_IMPAIRED);
	cite_traffic(j, now, then);
}

/* Of datagrams some may be lost. */
static void look_rx_drops(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t drops = diag_growth(now, then, CNT_RX_DROPS);
	uint64_t received = diag_growth(now, then, CNT_RX_PACKETS);
	char age[32];

	if (drops < 10 + received / 100)
		return;
	eadm_accuse(j, now, "%" PRIu64 " of %" PRIu64 " received packets were dropped within %s",
		    drops, received + drops,
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RX_DROPS);
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_RX_PACKETS);
}

static void look_rdma_errors(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	uint64_t reads = diag_growth(now, then, CNT_READ_ERRORS);
	uint64_t writes = diag_growth(now, then, CNT_WRITE_ERRORS);
	char age[32];

	if (!reads && !writes)
		return;
	/* Not all counters are of the same moment. */
	if (reads + writes <= 2 * diag_growth(now, then, CNT_UNRESPONSIVE) &&
	    eadm_follows(j, "peer-unresponsive", DIAG_COUNTERS, now, now,
			 "its RDMA reads and writes end with an error"))
		return;
	eadm_accuse(j, now, "%" PRIu64 " RDMA reads and %" PRIu64 " writes ended with an error within %s",
		    reads, writes, diag_interval(now, then, age, sizeof(age)));
	if (reads)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_READ_ERRORS);
	if (writes)
		eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_WRITE_ERRORS);
}

const struct eadm_rule eadm_rules_port[] = {
	{
		.name = "keep-alive-lost", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter gives no more signs of life.",
		.cause = "Its firmware hangs, or asynchronous events do not reach the driver.",
		.next = "eadm stat -d {dev}; eadm dump eq -d {dev}; dmesg | grep {driver}",
		.alike = "An adapter that gives none or seldom ones: what it gave so far says how often to expect them, and three must be missing.",
		.look = look_alive,
	}, {
		.name = "peer-unresponsive", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Peers do not answer, by the counters; critical when none does.",
		.cause = "The machine or the application at the other end has gone, or hangs.",
		.next = "check the peer's machine and the security groups and firewalls of both ends; eadm stat --live -d {dev}",
		.alike = "Peers of an earlier job: only growth counts. A sender whose peers have nothing to send: it receives nothing either, but need not send again.",
		.look = look_unresponsive,
	}, {
		.name = "packet-loss", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than one packet in a hundred is sent again, by the counters.",
		.cause = "Packets get lost in the network, or acknowledgements come too late.",
		.next = "eadm stat --live -d {dev}",
		.alike = "Losses of congestion: fewer than ten, or one in a hundred, do not count. What is sent again, by time-out, to a peer that does not answer: it is listed there.",
		.look = look_retransmissions,
	}, {
		.name = "path-impaired", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Paths to peers are found impaired, by the counters.",
		.cause = "Congestion or a fault in the network between the two ends, or an overloaded peer.",
		.next = "eadm stat --live -d {dev}; compare it with the machine's other adapters",
		.alike = "An impairment of long ago: only growth counts.",
		.look = look_impaired,
	}, {
		.name = "receive-drops", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "More than one received packet in a hundred is dropped, by the counters.",
		.cause = "No receive is posted or it is too short, or the sender's Q_Key is wrong.",
		.next = "eadm stat --live -d {dev}; eadm dump qp -d {dev}",
		.alike = "Datagrams, which may be lost: fewer than ten, or one in a hundred, do not count, and it is a notice.",
		.look = look_rx_drops,
	}, {
		.name = "rdma-errors", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "RDMA reads or writes end with an error, by the counters.",
		.cause = "The peer does not allow the access, its region or its process is gone, or it does not know this end.",
		.next = "eadm stat --live -d {dev}; the completions that the application gets say which",
		.alike = "Errors of long ago: only growth counts. A peer that does not answer, where the driver counts that: they are listed there.",
		.look = look_rdma_errors,
	},
	{ 0 }
};
