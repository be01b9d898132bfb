// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about event queues and completion queues. */
#include <inttypes.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

/* Completions that were written after the consumer last told where it is. */
static uint32_t cq_news(const struct diag_row *cq)
{
	/* A CQ that was never armed told nothing: it is at its beginning. */
	return diag_has(cq, CQ_HW_PI) ?
		       diag_distance(diag_u64(cq, CQ_HW_PI),
				     diag_u64(cq, CQ_CI),
				     diag_bits(cq, CQ_HW_PI)) : 0;
}

/* Nothing came and nothing was asked for in the meantime. */
static bool cq_stands(const struct diag_row *now, const struct diag_row *then)
{
	return diag_same(now, then, CQ_EVENTS) &&
	       diag_same(now, then, CQ_NOTIFY_REQUESTS) &&
	       diag_has(now, CQ_HW_PI) && diag_has(then, CQ_HW_PI) &&
	       cq_news(now) && cq_news(then);
}

/*
 * Armed, with completions, and no event. Of a solicited one nobody knows whether
 * there is one to announce.
 */
static bool misses_event(const struct diag_row *now, const struct diag_row *then)
{
	return diag_u64(now, CQ_ARMED) && diag_u64(then, CQ_ARMED) &&
	       !diag_u64(now, CQ_SOLICITED) && diag_has(now, CQ_CI) &&
	       diag_same(now, then, CQ_CI) && cq_stands(now, then);
}

/* ---- event queues ------------------------------------------------------------- */

static const signed char eq_facts[] = {
	EQ_ROLE, EQ_VECTOR, EQ_IRQ, EQ_DEPTH, EQ_CI, EQ_PENDING, EQ_INTERRUPTS,
	EQ_EVENTS, EQ_LAST_EVENT_AGE, EQ_HW_SUPPRESSED, -1,
};

static bool eq_of_cq(const struct diag_row *eq, const struct diag_row *cq)
{
	return eq->dev == cq->dev && diag_has(eq, EQ_EQN) &&
	       diag_u64(eq, EQ_ROLE) == EADM_EQ_ROLE_COMPLETION &&
	       diag_u64(eq, EQ_EQN) == diag_u64(cq, CQ_EQN);
}

/* A CQ waits for an event of this queue that does not come. */
static bool is_waited_for(struct judge *j, const struct diag_row *eq)
{
	const struct diag_rows *cqs = &eadm_judge_now(j)->rows[DIAG_CQ];
	size_t i;

	for (i = 0; i < cqs->n; i++) {
		const struct diag_row *cq = &cqs->row[i];

		if (eq_of_cq(eq, cq) &&
		    misses_event(cq, eadm_diag_find(eadm_judge_then(j), DIAG_CQ,
						    cq->dev, cq->id)))
			return true;
	}
	return false;
}

static void look_overflow(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	bool fresh = then && diag_has(then, EQ_HW_OVERFLOW) &&
		     !diag_u64(then, EQ_HW_OVERFLOW);

	if (!diag_u64(now, EQ_HW_OVERFLOW))
		return;
	eadm_accuse(j, now, "the adapter had no room for an event: the queue of vector %" PRIu64 " overflowed",
		    diag_u64(now, EQ_VECTOR));
	/* The adapter never takes that back. */
	if (!fresh && !is_waited_for(j, now) && !diag_u64(now, EQ_PENDING)) {
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_cause(j, "At some time since the driver was loaded; no consumer waits for the event now.");
	}
	eadm_cite(j, DIAG_EQ, now, EQ_HW_OVERFLOW);
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

/* Entries lie there and none was taken in the meantime. */
static bool eq_stands(const struct diag_row *now, const struct diag_row *then)
{
	return diag_u64(now, EQ_PENDING) && diag_u64(then, EQ_PENDING) &&
	       diag_same(now, then, EQ_CI);
}

static void look_lost_interrupt(struct judge *j, const struct diag_row *now,
				const struct diag_row *then)
{
	char age[32];

	if (!eq_stands(now, then) || !diag_same(now, then, EQ_INTERRUPTS))
		return;
	eadm_accuse(j, now, "%" PRIu64 " events wait in the queue of vector %" PRIu64 ", and no interrupt came for %s",
		    diag_u64(now, EQ_PENDING), diag_u64(now, EQ_VECTOR),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_eq_stuck(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	char age[32];

	if (!eq_stands(now, then) || diag_same(now, then, EQ_INTERRUPTS))
		return;
	eadm_accuse(j, now, "%" PRIu64 " events pending; interrupts arrive but none is consumed for %s",
		    diag_u64(now, EQ_PENDING), diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_INTERRUPTS);
}

static void look_backlog(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t pending = diag_u64(now, EQ_PENDING);
	uint64_t depth = diag_u64(now, EQ_DEPTH);

	if (!depth || pending < depth / 2 || !pending ||
	    diag_u64(then, EQ_PENDING) < depth / 2)
		return;
	eadm_accuse(j, now,
		    "%" PRIu64 " of %" PRIu64 " entries wait to be taken",
		    pending, depth);
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_unknown(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t ago;
	char age[32];

	/* CQs may go while an event is under way, an error names what is there. */
	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_ASYNC ||
	    !diag_lately(now, then, EQ_UNKNOWN, EQ_LAST_UNKNOWN, &ago))
		return;
	eadm_accuse(
		j, now,
		"%" PRIu64
		" asynchronous events named an object that does not exist, the last one %s ago",
		diag_u64(now, EQ_UNKNOWN),
		eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_EQ, now, EQ_UNKNOWN);
	eadm_cite(j, DIAG_EQ, now, EQ_LAST_UNKNOWN);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_UNKNOWN);
	eadm_cite(j, DIAG_EQ, now, EQ_EVENTS);
	eadm_cite(j, DIAG_EQ, now, EQ_LAST_EVENT_AGE);
}

/* Events of an adapter that gives signs of life, besides those. */
static void look_adapter_events(struct judge *j, const struct diag_row *now,
				const struct diag_row *then)
{
	uint64_t all = diag_growth(now, then, EQ_EVENTS);
	uint64_t alive = diag_growth(now, then, EQ_KEEP_ALIVES);
	char age[32];

	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_ASYNC ||
	    !diag_has(now, EQ_KEEP_ALIVES) || all <= alive)
		return;
	eadm_accuse(j, now, "the adapter raised %" PRIu64 " events within %s besides its signs of life",
		    all - alive, diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_EVENTS);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_KEEP_ALIVES);
}

/* Of a completion EQ each interrupt has an event, but for a few at the seams. */
static void look_spurious(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t interrupts = diag_growth(now, then, EQ_INTERRUPTS);
	uint64_t events = diag_growth(now, then, EQ_EVENTS);
	char age[32];

	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_COMPLETION ||
	    interrupts < 10 + events + events / 2)
		return;
	eadm_accuse(j, now, "%" PRIu64 " interrupts of vector %" PRIu64 " within %s, and only %" PRIu64 " events",
		    interrupts, diag_u64(now, EQ_VECTOR),
		    diag_interval(now, then, age, sizeof(age)), events);
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_INTERRUPTS);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_EVENTS);
}

/* The driver looks for itself now and then, and whoever waits for a command. */
static void look_missed(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t ago;
	char age[32];

	if (!diag_lately(now, then, EQ_MISSED, EQ_LAST_MISSED, &ago))
		return;
	eadm_accuse(j, now, "%" PRIu64 " times events of vector %" PRIu64 " were found that no interrupt had announced, the last time %s ago",
		    diag_u64(now, EQ_MISSED), diag_u64(now, EQ_VECTOR),
		    eadm_age_text(ago, age, sizeof(age)));
	/* On an overloaded machine an answer may overtake its event. */
	if (diag_u64(now, EQ_ROLE) == EADM_EQ_ROLE_ADMIN)
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_cite(j, DIAG_EQ, now, EQ_MISSED);
	eadm_cite(j, DIAG_EQ, now, EQ_LAST_MISSED);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_MISSED);
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

/* ---- completion queues ----------------------------------------------------------- */

static const signed char cq_facts[] = {
	CQ_DEPTH, CQ_CI, CQ_HW_PI, CQ_ARMED, CQ_NOTIFY_REQUESTS, CQ_EVENTS,
	CQ_ERRORS, CQ_EQN, CQ_LAST_EVENT_AGE, -1,
};

static bool is_kernel(const struct diag_row *cq)
{
	return diag_has(cq, CQ_USER) && !diag_u64(cq, CQ_USER);
}

static void look_overrun(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	bool over = is_kernel(now) && diag_has(now, CQ_HW_PI) &&
		    diag_has(now, CQ_CI) && cq_news(now) < UINT64_MAX >> (65 - diag_bits(now, CQ_CI)) &&
		    cq_news(now) > diag_u64(now, CQ_DEPTH);

	(void)then;
	if (!over && !diag_u64(now, CQ_ERRORS))
		return;
	if (over)
		eadm_accuse(j, now, "%u completions in a queue of %" PRIu64 ": some are overwritten",
			    cq_news(now), diag_u64(now, CQ_DEPTH));
	else
		eadm_accuse(j, now, "the adapter raised %" PRIu64 " errors for the CQ",
			    diag_u64(now, CQ_ERRORS));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/* Depths are rounded up to powers of two, and receives have several entries. */
#define ROUNDED_UP 4

/* An adapter that reports no overrun; a process that lets it come so far is its own fault. */
static void look_small(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_rows *qps = &eadm_judge_now(j)->rows[DIAG_QP];
	uint64_t room = diag_u64(now, CQ_DEPTH), requests = 0;
	size_t i;

	(void)then;
	if (diag_has(now, CQ_SUBS))
		room *= diag_u64(now, CQ_SUBS);
	if (!room || diag_has(now, CQ_ERRORS))
		return;
	for (i = 0; i < qps->n; i++) {
		const struct diag_row *qp = &qps->row[i];

		if (qp->dev != now->dev)
			continue;
		if (diag_u64(qp, QP_SEND_CQN) == now->id)
			requests += diag_u64(qp, QP_SQ_DEPTH);
		if (diag_u64(qp, QP_RECV_CQN) == now->id)
			requests += diag_u64(qp, QP_RQ_DEPTH);
	}
	if (requests / ROUNDED_UP <= room)
		return;
	eadm_accuse(j, now, "it has room for %" PRIu64 " completions, and its QPs for %" PRIu64 " requests",
		    room, requests);
	eadm_cite(j, DIAG_CQ, now, CQ_DEPTH);
	eadm_cite(j, DIAG_CQ, now, CQ_USERS);
}

static const struct diag_row *eq_of(struct judge *j, const struct diag_row *cq)
{
	const struct diag_rows *eqs = &eadm_judge_now(j)->rows[DIAG_EQ];
	size_t i;

	for (i = 0; i < eqs->n; i++) {
		if (eq_of_cq(&eqs->row[i], cq))
			return &eqs->row[i];
	}
	return NULL;
}

static void look_missed_event(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	const struct diag_row *eq = eq_of(j, now);
	char age[32];

	if (!misses_event(now, then) ||
	    eadm_follows(j, NULL, DIAG_EQ, eq, now,
			 "is armed, has completions, and waits for the event"))
		return;
	/* It is on its way. */
	if (diag_u64(eq, EQ_PENDING))
		return;
	eadm_accuse(j, now, "armed, %u completions were written since, and no event came for %s",
		    cq_news(now), diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

static void look_unarmed(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	char age[32];

	if (!diag_has(now, CQ_ARMED) || diag_u64(now, CQ_ARMED) ||
	    diag_u64(then, CQ_ARMED) || !diag_u64(now, CQ_USERS) ||
	    !cq_stands(now, then) || !diag_same(now, then, CQ_HW_PI) ||
	    !diag_same(now, then, CQ_CI) ||
	    eadm_follows(j, NULL, DIAG_CQ, now, now, "has completions"))
		return;
	if (!is_kernel(now) && !diag_u64(now, CQ_CHANNEL))
		return;
	eadm_accuse(j, now, "%u completions pending, CQ not armed, no progress for %s",
		    cq_news(now), diag_interval(now, then, age, sizeof(age)));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite(j, DIAG_CQ, now, CQ_CHANNEL);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/*
 * Told again and again, and it does not get on. While its QPs do, a consumer may
 * be content to look later, as it is with small messages of its own.
 */
static void look_unconsumed(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t events = diag_growth(now, then, CQ_EVENTS);
	char age[32];

	if (events < 10 || !diag_same(now, then, CQ_CI) ||
	    !diag_has(now, CQ_HW_PI) || !cq_news(now) || !cq_news(then) ||
	    eadm_cq_qps_move(j, now) ||
	    eadm_follows(j, NULL, DIAG_CQ, now, now, "is not consumed"))
		return;
	eadm_accuse(j, now,
		    "%" PRIu64
		    " events within %s, and none of %u completions was taken",
		    events, diag_interval(now, then, age, sizeof(age)),
		    cq_news(now));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
	eadm_cite_growth(j, DIAG_CQ, now, then, CQ_EVENTS);
}

/* One request for notification gives one event at most. */
static void look_extra_events(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	/* The driver counts requests in 32 bits. */
	uint64_t ago = diag_u64(now, CQ_LAST_EXTRA);
	char age[32];

	if (!diag_has(now, CQ_LAST_EXTRA) ||
	    (ago >= LATELY_NS && (!then || ago >= now->time - then->time)))
		return;
	eadm_accuse(j, now, "it got more events than it had asked for, the last one %s ago",
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_CQ, now, CQ_LAST_EXTRA);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

const struct eadm_rule eadm_rules_eq[] = {
	{
		.name = "eq-overflow", .kind = DIAG_EQ,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "An event queue overflowed: events are lost.",
		.cause = "The CPU of its interrupt was busy or its interrupts were held back for too long.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep {irq} /proc/interrupts",
		.alike = "An overflow of long ago: unless it is new, or a CQ waits for an event, it is a notice.",
		.look = look_overflow,
	}, {
		.name = "lost-interrupt", .kind = DIAG_EQ, .two = true, .needs = STATE,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Events wait in a queue and no interrupt comes.",
		.cause = "An interrupt was lost between adapter and CPU; the adapter raises no other one until it is answered.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep {irq} /proc/interrupts",
		.alike = "Events that are being taken: their queue must not have moved, nor an interrupt come, for the whole time.",
		.look = look_lost_interrupt,
	}, {
		.name = "missed-interrupt", .kind = DIAG_EQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "Events were found that no interrupt had announced.",
		.cause = "Interrupts or doorbells of the queue get lost; the driver polls for events, but late: consumers wait.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep {irq} /proc/interrupts",
		.alike = "An interrupt that was lost long ago: what counts is the last half minute. On an overloaded machine a command's answer may overtake its event: a notice.",
		.look = look_missed,
	}, {
		.name = "eq-stuck", .kind = DIAG_EQ, .two = true, .stuck = true,
		.needs = STATE, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Interrupts come, but events are not taken from their queue.",
		.cause = "The driver's handler does not run to its end: an overloaded CPU, or a fault of the driver.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep -e TASKLET -e HI /proc/softirqs",
		.alike = "A burst of events that is being taken: the consumer index must not have moved.",
		.look = look_eq_stuck,
	}, {
		.name = "eq-backlog", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "An event queue is more than half full.",
		.cause = "Events come faster than the CPU of its interrupt takes them.",
		.next = "eadm dump eq -d {dev}; grep {irq} /proc/interrupts",
		.alike = "A burst: both samples must show it.",
		.look = look_backlog,
	}, {
		.name = "unknown-event", .kind = DIAG_EQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "The adapter reported an error of an object that does not exist.",
		.cause = "The object was destroyed meanwhile, or the firmware is at fault.",
		.next = "eadm dump eq {id} -d {dev}; dmesg | grep {dev}",
		.alike = "An event for an object that was destroyed meanwhile, which is history after half a minute; completion events of destroyed CQs do not count.",
		.look = look_unknown,
	}, {
		.name = "adapter-event", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_NOTICE,
		.help = "The adapter raises events besides its signs of life.",
		.cause = "The adapter has something to say that only its vendor can explain: a warning or a notification.",
		.next = "dmesg | grep {driver}; eadm events -d {dev}; eadm dump eqe {id} -d {dev}",
		.alike = "Events that mean no harm: what they mean is not published, therefore a notice. Earlier ones: only growth counts.",
		.look = look_adapter_events,
	}, {
		.name = "spurious-interrupt", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "Interrupts for completions come without an event.",
		.cause = "A fault of the adapter or of the interrupt controller; each costs CPU time.",
		.next = "eadm dump eq {id} -d {dev}; grep {irq} /proc/interrupts",
		.alike = "Interrupts whose events were taken along with those of the one before: ten, and half as many as events, are free.",
		.look = look_spurious,
	},
	{ 0 }
};

const struct eadm_rule eadm_rules_notify[] = {
	{
		.name = "cq-overrun", .kind = DIAG_CQ,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "A CQ was overrun or failed: completions are lost.",
		.cause = "The CQ has fewer entries than requests that may be under way on its QPs, and its consumer is too slow.",
		.next = "eadm dump cq {id} -d {dev} --hw; make the CQ as deep as its queues together",
		.alike = "A process that polls rarely: how far it has polled is not known, so only the adapter's own error counts, or a CQ of the kernel.",
		.look = look_overrun,
	}, {
		.name = "cq-too-small", .kind = DIAG_CQ, .needs = STATE,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A CQ has far less room than its QPs have for requests, and its adapter reports no overrun.",
		.cause = "The application made the CQ too small: completions that are not taken in time are overwritten, and their requests never end.",
		.next = "eadm dump cq {id} -d {dev}; make the CQ as deep as its queues together",
		.alike = "An application that has fewer requests under way than its QPs have room for: therefore a notice, and only of four times as many.",
		.look = look_small,
	}, {
		.name = "missed-event", .kind = DIAG_CQ, .two = true, .needs = STATE | HW,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "A CQ is armed, has completions, and no event comes.",
		.cause = "The doorbell that armed it was lost, or the adapter did not make the event.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump eq -d {dev} --hw",
		.alike = "A consumer that is stopped or polls besides: the event is the adapter's to make, and must have come when there are completions. Solicited events only are not judged.",
		.look = look_missed_event,
	}, {
		.name = "unarmed-cq", .kind = DIAG_CQ, .two = true, .needs = STATE | HW,
		.stuck = true, .severity = EADM_SEVERITY_NOTICE,
		.help = "Completions came to a CQ that is not armed, and nothing happens; of a process's CQ they may have been polled.",
		.cause = "The consumer sleeps without having asked for notification again, or is stopped; all is well only if it polls besides.",
		.next = "eadm dump cq {id} -d {dev} --hw",
		.alike = "An application that is stopped, sleeps, or polls besides: therefore a notice.",
		.look = look_unarmed,
	}, {
		.name = "cq-not-consumed", .kind = DIAG_CQ, .two = true,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "The consumer of a CQ gets events of completions but consumes none, and none of its QPs makes progress.",
		.cause = "It does not find the completion valid (a damaged entry of the CQ), or does not poll after an event.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump cqe {id} -d {dev}",
		.alike = "A consumer that polls later: its QPs make progress. One that is stopped does not ask for events.",
		.look = look_unconsumed,
	}, {
		.name = "extra-events", .kind = DIAG_CQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "A CQ got more events than were asked for.",
		.cause = "The adapter wrote an event twice.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump eq -d {dev}",
		.alike = "Requests beyond the 256 that a doorbell record can distinguish: the driver counts them; and history is not judged.",
		.look = look_extra_events,
	},
	{ 0 }
};
