// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about recent failures of objects that no longer exist, which are not current
 * faults. Existing objects are covered by the rules of their kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "eadm_nl.h"

/* Older failures are ignored; "eadm events --past" shows them. */
#define RECENT_NS	(600 * SECOND)
/*
 * Objects that were lost with the adapter are recorded right after the failure of the
 * adapter.
 */
#define ALONG_NS	(30 * SECOND)

static const signed char failure_facts[] = {
	FAIL_TIME, FAIL_AGE, FAIL_CAUSE, FAIL_SYNDROME_RAW, FAIL_ERROR,
	FAIL_TIMES, FAIL_PEER_ADDR, FAIL_PEER_PORT, FAIL_ENDED, -1,
};

static bool is_recent(const struct diag_row *failure)
{
	return diag_has(failure, FAIL_AGE) &&
	       diag_u64(failure, FAIL_AGE) < RECENT_NS;
}

/*
 * Time when an object or a failure began. An age is relative to the time when its row
 * was read. Failures are read after the objects; on a busy machine, the delay may be so
 * long that, judged by its age, the failure of a new object would precede the object.
 */
static uint64_t beginning(const struct diag_row *row, int age)
{
	return row->time - diag_u64(row, age);
}

/*
 * Returns true if the object itself still exists, as opposed to a later object with the
 * same number.
 */
static bool is_there(struct judge *j, const struct diag_row *f)
{
	bool qp = diag_u64(f, FAIL_KIND) == EADM_FAILURE_KIND_QP;
	const struct diag_row *row =
		eadm_diag_find(eadm_judge_now(j), qp ? DIAG_QP : DIAG_CQ,
			       f->dev, diag_u64(f, FAIL_ID));

	return row && beginning(row, qp ? QP_AGE : CQ_AGE) <= beginning(f, FAIL_AGE);
}

/* "ib_write_bw (PID 4711)", "[nvme_rdma]", "the guest" or "an unknown process". */
static const char *owner_of(struct judge *j, const struct diag_row *f,
			    char *buf, size_t size)
{
	bool guest = eadm_diag_is_program(eadm_judge_now(j), f->dev);

	if (diag_u64(f, FAIL_PID))
		snprintf(buf, size, "%s (PID %" PRIu64 ")",
			 diag_text(f, FAIL_COMM), diag_u64(f, FAIL_PID));
	else
		snprintf(buf, size, "%s", diag_has(f, FAIL_COMM) ?
			 diag_text(f, FAIL_COMM) :
			 guest ? "the guest" : "an unknown process");
	return buf;
}

static const char *cause_of(const struct diag_row *f, char *buf, size_t size)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find("failure"), "cause");
	char *at;

	eadm_field_text(field, diag_u64(f, FAIL_CAUSE), buf, size);
	for (at = buf; *at; at++) {
		if (*at == '-')
			*at = ' ';
	}
	return buf;
}

static const char *fate_of(const struct diag_row *f)
{
	if (!diag_has(f, FAIL_ENDED))
		return "";
	return diag_u64(f, FAIL_ENDED) ? "; its process has ended" :
					 "; its process still exists";
}

/*
 * Returns true if two failures have the same kind, cause and owner: one verdict covers
 * them.
 */
static bool is_alike(const struct diag_row *a, const struct diag_row *b)
{
	return a->dev == b->dev && diag_same(a, b, FAIL_KIND) &&
	       diag_same(a, b, FAIL_CAUSE) &&
	       diag_u64(a, FAIL_PID) == diag_u64(b, FAIL_PID) &&
	       !strcmp(diag_text(a, FAIL_COMM), diag_text(b, FAIL_COMM));
}

/* Lists the failure with an earlier, similar failure that was reported. */
static bool is_one_more(struct judge *j, const struct diag_row *now,
			const char *text)
{
	struct diag_match alike = eadm_diag_match(eadm_judge_now(j),
						  DIAG_FAILURES_ALIKE, now->dev,
						  eadm_diag_failure(now));
	const struct diag_row *row;

	while ((row = eadm_diag_next(&alike)) && row < now) {
		if (is_alike(row, now) &&
		    eadm_follows(j, j->rule->name, DIAG_FAILURE, row, now, "%s",
				 text))
			return true;
	}
	return false;
}

/*
 * If the adapter's failure was reported, lists an object that was lost with the adapter
 * there.
 */
static bool device_explains(struct judge *j, const struct diag_row *now,
			    const char *text)
{
	const struct diag_rows rows = eadm_diag_of(eadm_judge_now(j),
						   DIAG_FAILURE, now->dev);
	uint64_t cause = diag_u64(now, FAIL_CAUSE);
	const struct diag_row *row;
	size_t i;

	if (cause != EADM_CAUSE_ADAPTER_RESET &&
	    cause != EADM_CAUSE_ADAPTER_GONE)
		return false;
	for (i = 0; i < rows.n; i++) {
		row = &rows.row[i];
		if (diag_u64(row, FAIL_KIND) == EADM_FAILURE_KIND_DEVICE &&
		    diag_u64(row, FAIL_AGE) >= diag_u64(now, FAIL_AGE) &&
		    diag_u64(row, FAIL_AGE) - diag_u64(now, FAIL_AGE) <
			    ALONG_NS &&
		    eadm_follows(j, "past-device-failure", DIAG_FAILURE, row,
				 now, "%s", text))
			return true;
	}
	return false;
}

static void look_device(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	char age[32], why[32], text[128];

	(void)then;
	if (diag_u64(now, FAIL_KIND) != EADM_FAILURE_KIND_DEVICE ||
	    !is_recent(now))
		return;
	eadm_age_text(diag_u64(now, FAIL_AGE), age, sizeof(age));
	cause_of(now, why, sizeof(why));
	snprintf(text, sizeof(text), "once more %s ago", age);
	if (is_one_more(j, now, text))
		return;
	eadm_accuse(j, now, "%s %s ago", why, age);
	eadm_cite_all(j, DIAG_FAILURE, now, failure_facts);
}

static void look_queue(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	uint64_t kind = diag_u64(now, FAIL_KIND);
	const char *name = kind == EADM_FAILURE_KIND_QP ? "QP" : "CQ";
	char age[32], why[32], who[64], text[160];
	const char *cause;

	(void)then;
	if ((kind != EADM_FAILURE_KIND_QP && kind != EADM_FAILURE_KIND_CQ) ||
	    !is_recent(now) || is_there(j, now))
		return;
	eadm_age_text(diag_u64(now, FAIL_AGE), age, sizeof(age));
	owner_of(j, now, who, sizeof(who));
	snprintf(text, sizeof(text), "%s %" PRIu64 " of %s failed %s ago%s",
		 name, diag_u64(now, FAIL_ID), who, age, fate_of(now));
	if (device_explains(j, now, text) || is_one_more(j, now, text))
		return;
	eadm_accuse(j, now, "%s %" PRIu64 " of %s failed %s ago: %s%s%s%s",
		    name, diag_u64(now, FAIL_ID), who, age,
		    cause_of(now, why, sizeof(why)),
		    diag_has(now, FAIL_PEER_ADDR) ? ", peer " : "",
		    diag_text(now, FAIL_PEER_ADDR), fate_of(now));
	cause = eadm_cause_text(diag_u64(now, FAIL_CAUSE));
	/* It is no longer known which of the two ends did not respond. */
	if (diag_u64(now, FAIL_CAUSE) == EADM_CAUSE_RETRIES_EXCEEDED)
		cause = "The peer did not respond after all retries, or gave up because this end did not respond.";
	if (cause)
		eadm_judge_cause(j, cause);
	eadm_cite_all(j, DIAG_FAILURE, now, failure_facts);
}

/*
 * Returns true if the connection was established later, by another attempt of this
 * process or of its successor.
 */
static bool is_connected_now(struct judge *j, const struct diag_row *f)
{
	const char *addr = diag_text(f, FAIL_PEER_ADDR);
	uint64_t port = diag_u64(f, FAIL_PEER_PORT);
	struct diag_match qps = eadm_diag_match(eadm_judge_now(j), DIAG_QPS_OF_PEER,
						f->dev, eadm_diag_peer(addr, port));
	const struct diag_row *qp;

	while ((qp = eadm_diag_next(&qps)))
		if (diag_u64(qp, QP_PEER_PORT) == port &&
		    !strcmp(diag_text(qp, QP_PEER_ADDR), addr))
			return true;
	return false;
}

static void look_connection(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	char age[32], why[32], who[64], text[160];

	(void)then;
	if (diag_u64(now, FAIL_KIND) != EADM_FAILURE_KIND_CONNECTION ||
	    !is_recent(now) || is_connected_now(j, now))
		return;
	switch (diag_u64(now, FAIL_CAUSE)) {
	case EADM_CAUSE_REJECTED:
	case EADM_CAUSE_REFUSED:
	case EADM_CAUSE_PEER_RESET:
		return;
	}
	eadm_age_text(diag_u64(now, FAIL_AGE), age, sizeof(age));
	owner_of(j, now, who, sizeof(who));
	snprintf(text, sizeof(text), "a connection between %s and %s failed %s ago",
		 who, diag_has(now, FAIL_PEER_ADDR) ?
		 diag_text(now, FAIL_PEER_ADDR) : "an unknown peer", age);
	if (is_one_more(j, now, text))
		return;
	eadm_accuse(j, now, "%s: %s%s", text, cause_of(now, why, sizeof(why)),
		    fate_of(now));
	eadm_cite_all(j, DIAG_FAILURE, now, failure_facts);
}

const struct eadm_rule eadm_rules_failure[] = {
	{
		.name = "past-device-failure", .kind = DIAG_FAILURE,
		.severity = EADM_SEVERITY_NOTICE, .needs = STATE,
		.help = "Within the last ten minutes, the adapter was reset, or it did not respond for a while.",
		.cause = "The adapter lost a command, or it restarted unexpectedly; all earlier objects are lost.",
		.next = "eadm events --past -d {dev}; eadm trace -d {dev}; dmesg",
		.alike = "An adapter that still does not respond is reported by other rules; an adapter whose driver was unbound does not count.",
		.look = look_device,
	}, {
		.name = "past-failure", .kind = DIAG_FAILURE,
		.severity = EADM_SEVERITY_NOTICE, .needs = STATE,
		.help = "A QP or CQ that no longer exists failed within the last ten minutes.",
		.cause = "A request from this end or from the peer failed.",
		.next = "eadm events --past -d {dev}",
		.alike = "A QP that was stopped or destroyed without an error, as when a connection is closed or a process is killed, is excluded, because the driver keeps only failures that the adapter reported. A later object with the same number is excluded, too, because it is newer.",
		.look = look_queue,
	}, {
		.name = "past-connection-failure", .kind = DIAG_FAILURE,
		.severity = EADM_SEVERITY_NOTICE, .needs = STATE,
		.help = "A connection failed, or could not be established, within the last ten minutes.",
		.cause = "The peer's machine is down or unreachable, a firewall drops its packets, or its application does not respond.",
		.next = "eadm events --past -d {dev}; ping the peer",
		.alike = "A peer that rejects the connection, does not listen yet, or has exited does not count. Neither does a failure if a later connection to the same peer and port was established.",
		.look = look_connection,
	},
	{ 0 }
};
