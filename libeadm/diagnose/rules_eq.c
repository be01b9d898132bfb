// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about event queues and completion queues. */
#include <inttypes.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

/* Completions written since the consumer last reported its index. */
static uint32_t cq_news(const struct diag_row *cq)
{
	/*
	 * The consumer of a CQ that was never armed has not reported an index, which is
	 * therefore 0.
	 */
	return diag_has(cq, CQ_HW_PI) ?
		       diag_distance(diag_u64(cq, CQ_HW_PI),
				     diag_u64(cq, CQ_CI),
				     diag_bits(cq, CQ_HW_PI)) : 0;
}

/* No event arrived and no notification was requested in the meantime. */
static bool cq_stands(const struct diag_row *now, const struct diag_row *then)
{
	return diag_same(now, then, CQ_EVENTS) &&
	       diag_same(now, then, CQ_NOTIFY_REQUESTS) &&
	       diag_has(now, CQ_HW_PI) && diag_has(then, CQ_HW_PI) &&
	       cq_news(now) && cq_news(then);
}

/*
 * Returns true if the CQ is armed and has completions, but no event has arrived. If
 * only solicited completions raise an event, it is unknown whether an event is due.
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

/* Returns true if a CQ is waiting for an event of this queue that does not arrive. */
static bool is_waited_for(struct judge *j, const struct diag_row *eq)
{
	struct diag_match cqs = eadm_diag_match(eadm_judge_now(j), DIAG_CQS_OF_EQ,
						eq->dev, diag_u64(eq, EQ_EQN));
	const struct diag_row *cq;

	if (!diag_has(eq, EQ_EQN) ||
	    diag_u64(eq, EQ_ROLE) != EADM_EQ_ROLE_COMPLETION)
		return false;
	while ((cq = eadm_diag_next(&cqs)))
		if (misses_event(cq, eadm_judge_earlier(j, DIAG_CQ, cq)))
			return true;
	return false;
}

static void look_overflow(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	bool fresh = then && diag_has(then, EQ_HW_OVERFLOW) &&
		     !diag_u64(then, EQ_HW_OVERFLOW);

	if (!diag_u64(now, EQ_HW_OVERFLOW))
		return;
	eadm_accuse(j, now, "the adapter had no space for an event: the queue of vector %" PRIu64 " overflowed",
		    diag_u64(now, EQ_VECTOR));
	/* The adapter never clears the overflow flag. */
	if (!fresh && !is_waited_for(j, now) && !diag_u64(now, EQ_PENDING)) {
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_cause(j, "The overflow happened at some time since the driver was loaded; no consumer waits for the event now.");
	}
	eadm_cite(j, DIAG_EQ, now, EQ_HW_OVERFLOW);
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

/* Entries are pending and none was consumed in the meantime. */
static bool eq_stands(const struct diag_row *now, const struct diag_row *then)
{
	return diag_u64(now, EQ_PENDING) && diag_u64(then, EQ_PENDING) &&
	       diag_same(now, then, EQ_CI);
}

static void look_lost_interrupt(struct judge *j, const struct diag_row *now,
				const struct diag_row *then)
{
	uint64_t pending = diag_u64(now, EQ_PENDING);
	char age[32];

	if (!eq_stands(now, then) || !diag_same(now, then, EQ_INTERRUPTS))
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s pending in the queue of vector %" PRIu64 ", but no interrupt has arrived for %s",
		    pending, eadm_plural(pending, "event is", "events are"),
		    diag_u64(now, EQ_VECTOR),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_eq_stuck(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t pending = diag_u64(now, EQ_PENDING);
	char age[32];

	if (!eq_stands(now, then) || diag_same(now, then, EQ_INTERRUPTS))
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s pending; interrupts arrive, but no event has been consumed for %s",
		    pending, eadm_plural(pending, "event", "events"),
		    diag_interval(now, then, age, sizeof(age)));
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
		    "%" PRIu64 " of %" PRIu64 " entries %s waiting to be consumed",
		    pending, depth, eadm_plural(pending, "is", "are"));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_unknown(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t n = diag_u64(now, EQ_UNKNOWN), ago;
	char age[32];

	/*
	 * A CQ may be destroyed while an event for it is pending, but an error event
	 * should name an existing object.
	 */
	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_ASYNC ||
	    !diag_lately(now, then, EQ_UNKNOWN, EQ_LAST_UNKNOWN, &ago))
		return;
	eadm_accuse(
		j, now,
		"%" PRIu64
		" asynchronous %s named an object that does not exist, the last one %s ago",
		n, eadm_plural(n, "event", "events"),
		eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_EQ, now, EQ_UNKNOWN);
	eadm_cite(j, DIAG_EQ, now, EQ_LAST_UNKNOWN);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_UNKNOWN);
	eadm_cite(j, DIAG_EQ, now, EQ_EVENTS);
	eadm_cite(j, DIAG_EQ, now, EQ_LAST_EVENT_AGE);
}

/* Reports events other than keep-alives of an adapter that sends keep-alives. */
static void look_adapter_events(struct judge *j, const struct diag_row *now,
				const struct diag_row *then)
{
	uint64_t all = diag_growth(now, then, EQ_EVENTS);
	uint64_t alive = diag_growth(now, then, EQ_KEEP_ALIVES);
	char age[32];

	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_ASYNC ||
	    !diag_has(now, EQ_KEEP_ALIVES) || all <= alive)
		return;
	eadm_accuse(j, now, "the adapter raised %" PRIu64 " %s other than keep-alives within %s",
		    all - alive, eadm_plural(all - alive, "event", "events"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_EVENTS);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_KEEP_ALIVES);
}

/*
 * On a completion EQ, each interrupt has at least one event, except for a few
 * interrupts at the ends of the interval.
 */
static void look_spurious(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t interrupts = diag_growth(now, then, EQ_INTERRUPTS);
	uint64_t events = diag_growth(now, then, EQ_EVENTS);
	char age[32];

	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_COMPLETION ||
	    interrupts < 10 + events + events / 2)
		return;
	eadm_accuse(j, now, "vector %" PRIu64 " raised %" PRIu64 " interrupts within %s, but the queue received %" PRIu64 " %s",
		    diag_u64(now, EQ_VECTOR), interrupts,
		    diag_interval(now, then, age, sizeof(age)), events,
		    eadm_plural(events, "event", "events"));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_INTERRUPTS);
	eadm_cite_growth(j, DIAG_EQ, now, then, EQ_EVENTS);
}

/*
 * Events without an interrupt are found by the driver's periodic check, or while waiting
 * for a command.
 */
static void look_missed(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t n = diag_u64(now, EQ_MISSED), ago;
	char age[32];

	if (!diag_lately(now, then, EQ_MISSED, EQ_LAST_MISSED, &ago))
		return;
	eadm_accuse(j, now, "vector %" PRIu64 ": events without an interrupt were found %" PRIu64 " %s, most recently %s ago",
		    diag_u64(now, EQ_VECTOR), n, eadm_plural(n, "time", "times"),
		    eadm_age_text(ago, age, sizeof(age)));
	/* On an overloaded machine, a response may overtake its event. */
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
	uint64_t errors = diag_u64(now, CQ_ERRORS);

	(void)then;
	if (!over && !errors)
		return;
	if (over)
		eadm_accuse(j, now, "%u completions in a queue of %" PRIu64 ": some are overwritten",
			    cq_news(now), diag_u64(now, CQ_DEPTH));
	else
		eadm_accuse(j, now, "the adapter raised %" PRIu64 " %s for the CQ",
			    errors, eadm_plural(errors, "error", "errors"));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/* Depths are rounded up to powers of two, and a receive may have several entries. */
#define ROUNDED_UP 4

/*
 * This rule is for adapters that do not report overruns. An application may choose such
 * a small CQ on purpose.
 */
static void look_small(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	struct diag_match qps = eadm_diag_match(eadm_judge_now(j), DIAG_QPS_OF_CQ,
						now->dev, now->id);
	uint64_t room = diag_u64(now, CQ_DEPTH), requests = 0;
	const struct diag_row *qp;

	(void)then;
	if (diag_has(now, CQ_SUBS))
		room *= diag_u64(now, CQ_SUBS);
	if (!room || diag_has(now, CQ_ERRORS))
		return;
	while ((qp = eadm_diag_next(&qps))) {
		if (diag_u64(qp, QP_SEND_CQN) == now->id)
			requests += diag_u64(qp, QP_SQ_DEPTH);
		if (diag_u64(qp, QP_RECV_CQN) == now->id)
			requests += diag_u64(qp, QP_RQ_DEPTH);
	}
	if (requests / ROUNDED_UP <= room)
		return;
	eadm_accuse(j, now, "it has room for %" PRIu64 " %s, but its QPs have room for %" PRIu64 " requests",
		    room, eadm_plural(room, "completion", "completions"),
		    requests);
	eadm_cite(j, DIAG_CQ, now, CQ_DEPTH);
	eadm_cite(j, DIAG_CQ, now, CQ_USERS);
}

static const struct diag_row *eq_of(struct judge *j, const struct diag_row *cq)
{
	return eadm_diag_first(eadm_judge_now(j), DIAG_EQS_OF_EQN, cq->dev,
			       diag_u64(cq, CQ_EQN));
}

static void look_missed_event(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	const struct diag_row *eq = eq_of(j, now);
	uint32_t news = cq_news(now);
	char age[32];

	if (!misses_event(now, then) ||
	    eadm_follows(j, NULL, DIAG_EQ, eq, now,
			 "is armed and has completions, but no event has arrived"))
		return;
	/* The event is pending in the EQ. */
	if (diag_u64(eq, EQ_PENDING))
		return;
	eadm_accuse(j, now, "armed with %u %s pending, but no event has arrived for %s",
		    news, eadm_plural(news, "completion", "completions"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

static void look_unarmed(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint32_t news = cq_news(now);
	char age[32];

	if (!diag_has(now, CQ_ARMED) || diag_u64(now, CQ_ARMED) ||
	    diag_u64(then, CQ_ARMED) || !diag_u64(now, CQ_USERS) ||
	    !cq_stands(now, then) || !diag_same(now, then, CQ_HW_PI) ||
	    !diag_same(now, then, CQ_CI) ||
	    eadm_follows(j, NULL, DIAG_CQ, now, now, "has completions"))
		return;
	if (!is_kernel(now) && !diag_u64(now, CQ_CHANNEL))
		return;
	eadm_accuse(j, now, "%u %s pending for %s, but the CQ is not armed",
		    news, eadm_plural(news, "completion has been", "completions have been"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite(j, DIAG_CQ, now, CQ_CHANNEL);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/*
 * The consumer keeps receiving events but makes no progress. As long as the QPs make
 * progress, the consumer may have decided to poll later, as it can with small messages.
 */
static void look_unconsumed(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t events = diag_growth(now, then, CQ_EVENTS);
	uint32_t news = cq_news(now);
	char age[32];

	if (events < 10 || !diag_same(now, then, CQ_CI) ||
	    !diag_has(now, CQ_HW_PI) || !cq_news(now) || !cq_news(then) ||
	    eadm_cq_qps_move(j, now) ||
	    eadm_follows(j, NULL, DIAG_CQ, now, now, "is not consumed"))
		return;
	eadm_accuse(j, now,
		    "%" PRIu64
		    " events within %s, but no completion was consumed; %u %s pending",
		    events, diag_interval(now, then, age, sizeof(age)), news,
		    eadm_plural(news, "is", "are"));
	eadm_judge_consumer(j, diag_u64(now, CQ_PID));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
	eadm_cite_growth(j, DIAG_CQ, now, then, CQ_EVENTS);
}

/* Each request for notification allows at most one event. */
static void look_extra_events(struct judge *j, const struct diag_row *now,
			      const struct diag_row *then)
{
	/* The driver's counter of requests is 32 bits wide. */
	uint64_t ago = diag_u64(now, CQ_LAST_EXTRA);
	char age[32];

	if (!diag_has(now, CQ_LAST_EXTRA) ||
	    (ago >= LATELY_NS && (!then || ago >= now->time - then->time)))
		return;
	eadm_accuse(j, now, "it received more events than were requested, the last one %s ago",
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_CQ, now, CQ_LAST_EXTRA);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

const struct eadm_rule eadm_rules_eq[] = {
	{
		.name = "eq-overflow", .kind = DIAG_EQ,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "An event queue overflowed: events are lost.",
		.cause = "The CPU that handles the interrupt was busy, or interrupts were disabled for too long.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep {irq} /proc/interrupts",
		.alike = "An old overflow is a notice, unless a CQ is waiting for an event.",
		.look = look_overflow,
	}, {
		.name = "lost-interrupt", .kind = DIAG_EQ, .two = true, .needs = STATE,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Events are pending in a queue, but no interrupt arrives.",
		.cause = "An interrupt was lost between adapter and CPU; the adapter raises no more interrupts until the lost one is acknowledged.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep {irq} /proc/interrupts",
		.alike = "Events that are being consumed are excluded: for the whole interval, the queue must not have moved and no interrupt may have arrived.",
		.look = look_lost_interrupt,
	}, {
		.name = "missed-interrupt", .kind = DIAG_EQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "Events were found without an interrupt.",
		.cause = "Interrupts or doorbells of the queue are lost. The driver polls for events, but only periodically, so consumers wait longer.",
		.next = "eadm dump eq {id} -d {dev} -o +last-missed-age; grep {irq} /proc/interrupts",
		.alike = "Interrupts that were lost more than half a minute ago are ignored. On an overloaded machine, a command's completion may overtake its event, so the verdict is only a notice.",
		.look = look_missed,
	}, {
		.name = "eq-stuck", .kind = DIAG_EQ, .two = true, .stuck = true,
		.needs = STATE, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Interrupts arrive, but no events are consumed from the queue.",
		.cause = "The driver's handler is not finishing: the CPU is overloaded, or the driver is at fault.",
		.next = "eadm dump eq {id} -d {dev} --hw; grep -e TASKLET -e HI /proc/softirqs",
		.alike = "A burst of events that is being consumed is excluded: the consumer index must not have moved.",
		.look = look_eq_stuck,
	}, {
		.name = "eq-backlog", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "An event queue is more than half full.",
		.cause = "Events arrive faster than the CPU that handles the interrupt consumes them.",
		.next = "eadm dump eq -d {dev}; grep {irq} /proc/interrupts",
		.alike = "A short burst is excluded, because the queue must be more than half full in both samples.",
		.look = look_backlog,
	}, {
		.name = "unknown-event", .kind = DIAG_EQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "The adapter reported an error for an object that does not exist.",
		.cause = "The object was destroyed in the meantime, or the firmware is at fault.",
		.next = "eadm dump eq {id} -d {dev} -o +last-unknown-age",
		.alike = "An event for an object that was destroyed in the meantime is reported for half a minute only. Completion events of destroyed CQs do not count.",
		.look = look_unknown,
	}, {
		.name = "adapter-event", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_NOTICE,
		.help = "The adapter raises events other than keep-alives.",
		.cause = "The adapter reports a vendor-specific warning or notification.",
		.next = "dmesg | grep {driver}; eadm events -d {dev}; eadm dump eqe {id} -d {dev}",
		.alike = "The meaning of these events is not published and they may be harmless, so the verdict is only a notice. Earlier events are ignored; only events between the samples count.",
		.look = look_adapter_events,
	}, {
		.name = "spurious-interrupt", .kind = DIAG_EQ, .two = true,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "Interrupts for completions arrive without an event.",
		.cause = "The adapter or the interrupt controller is at fault; each interrupt uses CPU time.",
		.next = "eadm dump eq {id} -d {dev}; grep {irq} /proc/interrupts",
		.alike = "Interrupts whose events were already consumed with those of the previous interrupt are excluded: up to ten interrupts, plus half the number of events, do not count.",
		.look = look_spurious,
	},
	{ 0 }
};

const struct eadm_rule eadm_rules_notify[] = {
	{
		.name = "cq-overrun", .kind = DIAG_CQ,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "A CQ was overrun or failed: completions are lost.",
		.cause = "The CQ has fewer entries than its QPs may have outstanding requests, and its consumer is too slow.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump qp -d {dev} -o +sq-depth,rq-depth; make the CQ at least as deep as the queues of its QPs combined",
		.alike = "The CQ of a process that seldom polls looks the same, because its consumer index is unknown. Therefore the CQ of a process is reported only if the adapter reports an error for it.",
		.look = look_overrun,
	}, {
		.name = "cq-too-small", .kind = DIAG_CQ, .needs = STATE,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A CQ has far fewer entries than the queues of its QPs combined, and its adapter does not report overruns.",
		.cause = "The application made the CQ too small: completions that are not consumed in time are overwritten, and their requests never complete.",
		.next = "eadm dump cq {id} -d {dev}; eadm dump qp -d {dev} -o +sq-depth,rq-depth; make the CQ at least as deep as the queues of its QPs combined",
		.alike = "An application with fewer outstanding requests than its QPs allow is not affected. Therefore the verdict is only a notice, and is reported only if the QPs allow four times as many requests as the CQ has entries.",
		.look = look_small,
	}, {
		.name = "missed-event", .kind = DIAG_CQ, .two = true, .needs = STATE | HW,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "A CQ is armed and has completions, but no event has arrived.",
		.cause = "The doorbell that armed the CQ was lost, or the adapter did not raise the event.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump eq -d {dev} --hw",
		.alike = "It does not matter whether the consumer is stopped, or polls in addition to waiting for events: the adapter must raise the event whenever there are completions. A CQ that is armed for solicited events only is skipped.",
		.look = look_missed_event,
	}, {
		.name = "unarmed-cq", .kind = DIAG_CQ, .two = true, .needs = STATE | HW,
		.stuck = true, .severity = EADM_SEVERITY_NOTICE,
		.help = "Completions arrived in a CQ that is not armed, and no QP makes progress; if a process owns the CQ, it may have polled them.",
		.cause = "The consumer sleeps without having requested another notification, or is stopped; this is harmless only if it polls as well.",
		.next = "eadm dump cq {id} -d {dev} --hw",
		.alike = "An application that is stopped, sleeps, or polls as well looks the same, so the verdict is only a notice.",
		.look = look_unarmed,
	}, {
		.name = "cq-not-consumed", .kind = DIAG_CQ, .two = true,
		.needs = STATE | HW, .severity = EADM_SEVERITY_CRITICAL,
		.help = "The consumer of a CQ receives completion events but consumes no completions, and none of its QPs makes progress.",
		.cause = "Either the consumer considers the completion invalid because the CQ entry is damaged, or the consumer does not poll after an event.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump cqe {id} -d {dev}",
		.alike = "A consumer that polls later is excluded, because its QPs make progress. A stopped consumer is excluded, too, because it does not arm the CQ.",
		.look = look_unconsumed,
	}, {
		.name = "extra-events", .kind = DIAG_CQ,
		.needs = STATE, .severity = EADM_SEVERITY_WARNING,
		.help = "A CQ received more events than were requested.",
		.cause = "The adapter wrote an event twice.",
		.next = "eadm dump cq {id} -d {dev} -o +notify-requests,last-extra-age",
		.alike = "A doorbell record can distinguish only 256 requests; further requests are not mistaken for a fault, because the driver counts them. Old events are ignored.",
		.look = look_extra_events,
	},
	{ 0 }
};
