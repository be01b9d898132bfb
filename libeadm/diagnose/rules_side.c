// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about adapters emulated by programs. Such an adapter connects a guest, whose
 * driver and applications may be at fault, with a backend, which may fail.
 */
#include <inttypes.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

static const struct diag_row *device_of(struct judge *j, const struct diag_row *row)
{
	return eadm_diag_find(eadm_judge_now(j), DIAG_DEV, row->dev, row->dev);
}

/* ---- the adapter ------------------------------------------------------------ */

static void look_backend(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	(void)then;
	if (diag_u64(now, DEV_BACKEND_STATE) != EADM_BACKEND_STATE_GONE)
		return;
	eadm_accuse(j, now, "the backend of the adapter is gone: commands of the guest fail, and its QPs have been stopped");
	eadm_cite(j, DIAG_DEV, now, DEV_BACKEND_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_lost_guest(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	uint64_t ago;
	char age[32];

	if (!diag_lately(now, then, DEV_LOST_SESSIONS, DEV_LAST_LOST, &ago))
		return;
	eadm_accuse(j, now, "the virtual machine monitor disconnected %s ago while the guest's driver was active%s",
		    eadm_age_text(ago, age, sizeof(age)),
		    diag_u64(now, DEV_VMM) ? "; another monitor has connected" : "");
	if (diag_u64(now, DEV_VMM))
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_cite(j, DIAG_DEV, now, DEV_LOST_SESSIONS);
	eadm_cite(j, DIAG_DEV, now, DEV_LAST_LOST);
	eadm_cite(j, DIAG_DEV, now, DEV_VMM);
}

static void look_quota(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char facts[] = {
		DEV_REFUSALS, DEV_LAST_REFUSAL, DEV_QPS, DEV_MAX_QP, DEV_CQS,
		DEV_MAX_CQ, DEV_MRS, DEV_MAX_MR, DEV_PDS, DEV_MAX_PD,
		DEV_PINNED, DEV_MAX_PINNED, -1,
	};
	uint64_t n = diag_u64(now, DEV_REFUSALS), ago;
	char age[32];

	if (!diag_lately(now, then, DEV_REFUSALS, DEV_LAST_REFUSAL, &ago))
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s refused because the guest reached its quota, the last one %s ago",
		    n, eadm_plural(n, "command was", "commands were"),
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite_all(j, DIAG_DEV, now, facts);
}

static void look_pinned(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t pinned = diag_u64(now, DEV_PINNED);
	uint64_t max = diag_u64(now, DEV_MAX_PINNED);
	uint64_t memory = diag_u64(now, DEV_GUEST_MEMORY);

	(void)then;
	if (max && pinned >= max - max / 10) {
		eadm_accuse(j, now, "%" PRIu64 " of %" PRIu64 " bytes of the guest's quota are registered",
			    pinned, max);
	} else if (memory && pinned > memory - memory / 4) {
		eadm_accuse(j, now, "%" PRIu64 " of the guest's %" PRIu64 " bytes of memory are registered, and cannot be reclaimed",
			    pinned, memory);
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	} else {
		return;
	}
	eadm_cite(j, DIAG_DEV, now, DEV_PINNED);
	eadm_cite(j, DIAG_DEV, now, DEV_MAX_PINNED);
	eadm_cite(j, DIAG_DEV, now, DEV_GUEST_MEMORY);
	eadm_cite(j, DIAG_DEV, now, DEV_MRS);
}

/* ---- events and completions that the guest's driver should consume ------------ */

static const signed char eq_facts[] = {
	EQ_ROLE, EQ_VECTOR, EQ_PENDING, EQ_INTERRUPTS, EQ_UNDELIVERED,
	EQ_LAST_UNDELIVERED, EQ_WAITING, -1,
};

static void look_response(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t ago;
	char age[32];

	if (diag_u64(now, EQ_ROLE) != EADM_EQ_ROLE_ADMIN ||
	    !diag_lately(now, then, EQ_UNDELIVERED, EQ_LAST_UNDELIVERED, &ago))
		return;
	eadm_accuse(j, now, "%s ago, the interrupt for a command response was not delivered, so the guest's driver has not read the response",
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_undelivered(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	uint64_t n = diag_u64(now, EQ_UNDELIVERED), ago;
	char age[32];

	if (diag_u64(now, EQ_ROLE) == EADM_EQ_ROLE_ADMIN ||
	    !diag_lately(now, then, EQ_UNDELIVERED, EQ_LAST_UNDELIVERED, &ago))
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s of vector %" PRIu64 " %s not delivered, the last one %s ago",
		    n, eadm_plural(n, "interrupt", "interrupts"),
		    diag_u64(now, EQ_VECTOR), eadm_plural(n, "was", "were"),
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_notifications(struct judge *j, const struct diag_row *now,
			       const struct diag_row *then)
{
	uint64_t n = diag_u64(now, EQ_WAITING);

	if (!n || !diag_u64(then, EQ_WAITING))
		return;
	eadm_accuse(j, now, "the notification ring is full, and notifications of %" PRIu64 " %s wait for free space",
		    n, eadm_plural(n, "CQ", "CQs"));
	eadm_cite_all(j, DIAG_EQ, now, eq_facts);
}

static void look_registrations(struct judge *j, const struct diag_row *now,
			       const struct diag_row *then)
{
	uint64_t n = diag_u64(now, CMDQ_SLOW_REGS), ago;
	char age[32], most[32];

	if (!diag_lately(now, then, CMDQ_SLOW_REGS, CMDQ_LAST_SLOW_REG, &ago))
		return;
	eadm_accuse(j, now, "%" PRIu64 " memory %s took longer than 100 ms to register, the slowest %s, the last one %s ago",
		    n, eadm_plural(n, "region", "regions"),
		    eadm_age_text(diag_u64(now, CMDQ_SLOWEST_REG), most,
				  sizeof(most)),
		    eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_SLOW_REGS);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_SLOWEST_REG);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_LAST_SLOW_REG);
}

/* ---- completions ---------------------------------------------------------------- */

static const signed char cq_facts[] = {
	CQ_DEPTH, CQ_CI, CQ_HW_PI, CQ_MADE, CQ_ARMED, CQ_EVENTS, CQ_USERS, -1,
};

static uint64_t unread(const struct diag_row *cq)
{
	return diag_apart(cq, CQ_HW_PI, CQ_CI);
}

/* A few pending completions are not a fault, however small the CQ is. */
static bool is_left_alone(const struct diag_row *cq)
{
	uint64_t depth = diag_u64(cq, CQ_DEPTH), n = unread(cq);

	return n >= 4 && n >= depth / 2;
}

static void look_unpolled(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	char age[32];

	if (!eadm_diag_is_program(eadm_judge_now(j), now->dev) || !diag_same(now, then, CQ_CI) ||
	    diag_u64(now, CQ_ERRORS) || !is_left_alone(now) ||
	    !is_left_alone(then))
		return;
	eadm_accuse(j, now, "%" PRIu64 " of %" PRIu64 " %s that the guest has not polled for %s",
		    unread(now), diag_u64(now, CQ_DEPTH),
		    eadm_plural(unread(now), "entries is a completion",
				"entries are completions"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/* After a CQ error, no further completions are written. */
static uint64_t missing(const struct diag_row *cq)
{
	if (!diag_has(cq, CQ_MADE) || !diag_has(cq, CQ_HW_PI) ||
	    diag_u64(cq, CQ_ERRORS))
		return 0;
	return diag_distance(diag_u64(cq, CQ_MADE), diag_u64(cq, CQ_HW_PI),
			     diag_bits(cq, CQ_HW_PI));
}

static void look_missing(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t n = missing(now);

	(void)then;
	if (!n)
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s for the guest %s not written", n,
		    eadm_plural(n, "completion", "completions"),
		    eadm_plural(n, "was", "were"));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/* ---- queue pairs ------------------------------------------------------------------ */

static const signed char qp_facts[] = {
	QP_STATE, QP_BACKEND_STATE, QP_WAITS_FOR, QP_SQ_PI, QP_HW_SQ_PI,
	QP_HW_SQ_CI, QP_RETRIES, QP_PEER_ADDR, QP_LAST_COMP_AGE, -1,
};

static bool is_apart(const struct diag_row *qp)
{
	uint64_t state = diag_u64(qp, QP_STATE);

	return diag_u64(qp, QP_BACKEND_STATE) == EADM_QP_STATE_ERR &&
	       diag_has(qp, QP_STATE) && state != EADM_QP_STATE_ERR &&
	       state != EADM_QP_STATE_RESET;
}

static void look_apart(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	char age[32];

	if (!is_apart(now) || !is_apart(then) ||
	    eadm_follows(j, "backend-gone", DIAG_DEV, device_of(j, now), now,
			 "was stopped") ||
	    eadm_follows(j, NULL, DIAG_QP, now, now,
			 "the guest has not stopped it yet"))
		return;
	eadm_accuse(j, now, "in error in the backend for at least %s, but the guest considers it connected",
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite_all(j, DIAG_QP, now, qp_facts);
}

static bool has_work(const struct diag_row *qp)
{
	return diag_u64(qp, QP_BACKEND_STATE) == EADM_QP_STATE_RTS &&
	       diag_apart(qp, QP_HW_SQ_PI, QP_HW_SQ_CI);
}

static void look_held(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t waits = diag_u64(now, QP_WAITS_FOR);
	uint32_t n = diag_apart(now, QP_HW_SQ_PI, QP_HW_SQ_CI);
	const char *wait = eadm_plural(n, "request has waited", "requests have waited");
	bool shown = diag_has(now, QP_WAITS_FOR);
	char age[32];

	if (!has_work(now) || !has_work(then) ||
	    !diag_same(now, then, QP_HW_SQ_CI) ||
	    (shown && !diag_same(now, then, QP_WAITS_FOR)) ||
	    (shown && waits == EADM_QP_WAIT_TURN) ||
	    eadm_follows(j, "link-down", DIAG_DEV, device_of(j, now), now,
			 "sends nothing"))
		return;
	diag_interval(now, then, age, sizeof(age));
	if (!shown) {
		eadm_accuse(j, now, "%u %s for %s; the backend reports no reason",
			    n, wait, age);
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
		eadm_judge_cause(j, "The peer does not respond or has no receive posted, or the adapter throttles the QP.");
		eadm_cite_all(j, DIAG_QP, now, qp_facts);
		return;
	}
	switch (waits) {
	case EADM_QP_WAIT_RECEIVER:
		eadm_accuse(j, now, "%u %s for %s: the peer has no receive posted",
			    n, wait, age);
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
		eadm_judge_cause(j, "The application at the peer posts receives too slowly, or is stopped.");
		break;
	case EADM_QP_WAIT_ANSWER:
		eadm_accuse(j, now, "%u %s for %s: the peer does not respond",
			    n, wait, age);
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
		eadm_judge_cause(j, "The QP of the peer is not connected, or its virtual machine is gone.");
		break;
	default:
		eadm_accuse(j, now, "%u %s posted, but the adapter has passed none to its backend for %s",
			    n, eadm_plural(n, "request was", "requests were"),
			    age);
		break;
	}
	eadm_cite_all(j, DIAG_QP, now, qp_facts);
}

const struct eadm_rule eadm_rules_side[] = {
	{
		.name = "backend-gone", .kind = DIAG_DEV, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "The backend of a virtual adapter is gone.",
		.cause = "The RDMA device of the host was removed or has failed.",
		.next = "eadm list; dmesg; once the host's device works again, restart the program that provides the adapter",
		.alike = "A backend whose port is down is reported by another rule.",
		.look = look_backend,
	}, {
		.name = "guest-lost", .kind = DIAG_DEV, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_WARNING,
		.help = "The virtual machine monitor disconnected from a virtual adapter while the guest's driver was active.",
		.cause = "The virtual machine was killed, its monitor exited, or the adapter was removed without notifying the guest.",
		.next = "eadm info {dev}; check the logs of the virtual machine monitor and of the program that provides the adapter",
		.alike = "A guest that was shut down is excluded, because its driver resets the adapter first. An old disconnection is ignored: only the last half minute counts. If another monitor has connected, the verdict is a notice.",
		.look = look_lost_guest,
	}, {
		.name = "quota-reached", .kind = DIAG_DEV, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_WARNING,
		.help = "A guest was refused an object because it reached its quota.",
		.cause = "An application in the guest leaks objects, or the quota is too low.",
		.next = "eadm dump ctx -d {dev}; eadm trace -d {dev} --state error",
		.alike = "An old refusal is ignored: only the last half minute counts.",
		.look = look_quota,
	}, {
		.name = "memory-pinned", .kind = DIAG_DEV, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_WARNING,
		.help = "A guest has registered nine tenths of its quota, or three quarters of its memory.",
		.cause = "An application in the guest registers large regions, or does not deregister them.",
		.next = "eadm dump mr -d {dev} --sort length:desc",
		.alike = "A guest without a quota may register that much on purpose, so the verdict is only a notice.",
		.look = look_pinned,
	}, {
		.name = "response-not-read", .kind = DIAG_EQ, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "An interrupt for a command response was not delivered to the guest.",
		.cause = "The virtual machine monitor has not enabled the interrupt, or has lost it; the guest's driver waits until it times out.",
		.next = "eadm trace -d {dev}; eadm dump eq -d {dev}",
		.alike = "A driver that masks its interrupts is excluded, because pending interrupts are delivered once it unmasks them.",
		.look = look_response,
	}, {
		.name = "interrupt-undelivered", .kind = DIAG_EQ, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_WARNING,
		.help = "Interrupts for events or notifications were not delivered to a guest.",
		.cause = "The virtual machine monitor has not enabled the interrupt, or has lost it.",
		.next = "eadm dump eq -d {dev}; eadm dump cq -d {dev} --hw",
		.alike = "A driver that masks its interrupts is excluded, because pending interrupts are delivered once it unmasks them.",
		.look = look_undelivered,
	}, {
		.name = "notifications-full", .kind = DIAG_EQ, .two = true, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "A guest leaves no free space for CQ notifications.",
		.cause = "The guest's driver does not consume the notifications: the CPU is busy or stopped, or the interrupt was lost.",
		.next = "eadm dump eq -d {dev}; eadm dump eqe 2 -d {dev}",
		.alike = "A ring that is full for a short time is excluded, because it must be full in both samples.",
		.look = look_notifications,
	}, {
		.name = "registration-slow", .kind = DIAG_CMDQ, .needs = STATE,
		.program = true, .severity = EADM_SEVERITY_WARNING,
		.help = "A guest's registration of memory took longer than 100 ms.",
		.cause = "The region is large and has small pages, or the host is short of memory.",
		.next = "eadm trace -d {dev} --opcode reg-mr --slower-than 100ms; use huge pages for the guest",
		.alike = "Other slow commands do not count. An old registration is ignored: only the last half minute counts.",
		.look = look_registrations,
	}, {
		.name = "guest-not-polling", .kind = DIAG_CQ, .two = true,
		.stuck = true, .program = true,
		.severity = EADM_SEVERITY_WARNING, .needs = STATE | HW,
		.help = "At least half of a guest's CQ holds completions that it does not poll.",
		.cause = "The application in the guest is stopped, blocked or too slow; once the CQ is full, the CQ and its QPs fail.",
		.next = "eadm dump cq {id} -d {dev} --hw; in the guest: eadm diagnose",
		.alike = "An application that is only a few completions behind is not reported: a CQ that is less than half full, or that was polled between the samples, does not count.",
		.look = look_unpolled,
	}, {
		.name = "completion-missing", .kind = DIAG_CQ,
		.program = true, .severity = EADM_SEVERITY_CRITICAL, .needs = STATE | HW,
		.help = "Completions are missing from the guest's CQ.",
		.cause = "The adapter did not write a completion, so the application waits forever.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump cqe {id} -d {dev} --around pi --hw",
		.alike = "Requests that did not request a completion do not count. A CQ that was full is reported by another rule.",
		.look = look_missing,
	}, {
		.name = "backend-qp-error", .kind = DIAG_QP, .two = true,
		.program = true, .severity = EADM_SEVERITY_WARNING, .needs = STATE,
		.help = "A QP has failed in the backend, but the guest considers it connected.",
		.cause = "The guest received no event or completion for the failure, or its application ignored it.",
		.next = "eadm dump qp {id} -d {dev}; eadm dump cqe -d {dev} --hw",
		.alike = "A QP that failed with an error that the guest received is reported by another rule. A QP that has only just failed is excluded, because both samples must show the failure.",
		.look = look_apart,
	}, {
		.name = "requests-held", .kind = DIAG_QP, .two = true,
		.stuck = true, .program = true,
		.severity = EADM_SEVERITY_CRITICAL, .needs = STATE | HW,
		.help = "A guest has outstanding requests, but none completes.",
		.cause = "The adapter throttles the QP.",
		.next = "eadm dump qp {id} -d {dev} --hw -o +waits-for,retries",
		.alike = "Requests that are being executed do not count, however long they take. If the peer has no receive posted, the verdict is a notice; if the peer does not respond, it is a warning.",
		.look = look_held,
	},
	{ 0 }
};
