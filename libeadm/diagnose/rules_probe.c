// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules based on the probe's records of verbs calls and of events of connections and
 * GIDs, for devices of any driver. For each rule, docs/probe.md lists legitimate
 * situations that look similar.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eadm_nl.h"
#include "qp_history.h"
#include "rules.h"

/* Older records are ignored. */
#define RECENT_NS	(600 * SECOND)
/* If a call that destroys an object has not returned for this long, it hangs. */
#define HANG_NS		(2 * SECOND)
/*
 * Registration pins and maps pages, which takes time per byte (in ns). On a busy
 * machine, any call may take a fraction of a second.
 */
#define SLOW_NS		SECOND
#define SLOW_NS_PER_BYTE 20
/* When a process closes a QP, it first moves the QP to the error state. */
#define TEARDOWN_NS	SECOND
/*
 * A process that creates this many regions, and destroys hardly any, over at least this
 * time leaks them.
 */
#define LEAK_LEAST	128
#define LEAK_QUARTER	16
#define LEAK_NS		(4 * SECOND)
/* Reject reason of the InfiniBand and RoCE connection manager: no such service. */
#define REJ_NO_SERVICE	8

static const signed char call_facts[] = {
	CALL_TIME, CALL_OP, CALL_STATUS, CALL_LATENCY, CALL_FUNCTION, CALL_QPN,
	CALL_MRN, CALL_SIZE, CALL_ENTRIES, CALL_RECV_ENTRIES, CALL_NEW_STATE,
	CALL_MEMLOCK, CALL_PINNED, CALL_EXIT, CALL_PEER_GID, CALL_PEER_QPN, -1,
};
static const signed char event_facts[] = {
	EVENT_TIME, EVENT_CM, EVENT_STATUS, EVENT_STEP, EVENT_CM_ID, EVENT_QPN,
	EVENT_PEER_ADDR, EVENT_PEER_PORT, EVENT_PORT, EVENT_GID_INDEX,
	EVENT_GID, -1,
};

/* "rping (PID 4711)", "[nvme_rdma]" or "an unknown process". */
static const char *name_of(const struct diag_row *row, unsigned int pid,
			   unsigned int comm, char *buf, size_t size)
{
	if (diag_u64(row, pid))
		snprintf(buf, size, "%s (PID %" PRIu64 ")",
			 diag_text(row, comm), diag_u64(row, pid));
	else
		snprintf(buf, size, "%s", diag_has(row, comm) ?
			 diag_text(row, comm) : "an unknown process");
	return buf;
}

static const char *caller_of(const struct diag_row *row, char *buf, size_t size)
{
	return name_of(row, CALL_PID, CALL_COMM, buf, size);
}

static bool is_recent(const struct diag_row *row, uint64_t time)
{
	return row->time < time || row->time - time < RECENT_NS;
}

static const char *ago(const struct diag_row *row, uint64_t time, char *buf,
		       size_t size)
{
	return eadm_age_text(row->time > time ? row->time - time : 0, buf, size);
}

static bool has_call(const struct diag_row *row, uint64_t op, uint64_t state)
{
	return diag_u64(row, CALL_OP) == op &&
	       diag_u64(row, CALL_STATE) == state;
}

/* ---- connections --------------------------------------------------------------- */

static bool is_cm(const struct diag_row *row, uint64_t event)
{
	return diag_u64(row, EVENT_TYPE) == EADM_EVENT_TYPE_CM &&
	       diag_has(row, EVENT_CM) && diag_u64(row, EVENT_CM) == event;
}

/*
 * Returns true if a later attempt to reach the same peer succeeded. If the process
 * manages its QP itself, the kernel sees only the peer's response.
 */
static bool succeeded_later(struct judge *j, const struct diag_row *failed)
{
	const char *addr = diag_text(failed, EVENT_PEER_ADDR);
	uint64_t port = diag_u64(failed, EVENT_PEER_PORT);
	struct diag_match events = eadm_diag_match(eadm_judge_now(j),
						   DIAG_EVENTS_OF_PEER, 0,
						   eadm_diag_peer(addr, port));
	const struct diag_row *row;

	while ((row = eadm_diag_next(&events)))
		if ((is_cm(row, EADM_CM_EVENT_ESTABLISHED) ||
		     is_cm(row, EADM_CM_EVENT_CONNECT_RESPONSE)) &&
		    diag_u64(row, EVENT_TIME) > diag_u64(failed, EVENT_TIME) &&
		    diag_u64(row, EVENT_PEER_PORT) == port &&
		    !strcmp(diag_text(row, EVENT_PEER_ADDR), addr))
			return true;
	return false;
}

/*
 * Returns true if a failure of the same process with the same peer was reported by the
 * same rule: one verdict covers all such failures.
 */
static bool is_one_more(struct judge *j, const char *rule,
			const struct diag_row *now)
{
	struct diag_match events = eadm_diag_match(
		eadm_judge_now(j), DIAG_EVENTS_OF_PEER, 0,
		eadm_diag_peer(diag_text(now, EVENT_PEER_ADDR),
			       diag_u64(now, EVENT_PEER_PORT)));
	const struct diag_row *row;

	while ((row = eadm_diag_next(&events)) && row < now) {
		if (diag_u64(row, EVENT_PID) == diag_u64(now, EVENT_PID) &&
		    diag_u64(row, EVENT_PEER_PORT) ==
			    diag_u64(now, EVENT_PEER_PORT) &&
		    !strcmp(diag_text(row, EVENT_PEER_ADDR),
			    diag_text(now, EVENT_PEER_ADDR)) &&
		    eadm_follows(j, rule, DIAG_EVENT, row, now, "once more"))
			return true;
	}
	return false;
}

static void accuse_connection(struct judge *j, const struct diag_row *now,
			      const char *rule, const char *what)
{
	char who[64], age[32], step[32] = "", after[64] = "";

	if (!is_recent(now, diag_u64(now, EVENT_TIME)) ||
	    succeeded_later(j, now) || is_one_more(j, rule, now))
		return;
	if (diag_has(now, EVENT_STEP)) {
		eadm_age_text(diag_u64(now, EVENT_STEP), step, sizeof(step));
		snprintf(after, sizeof(after), ", %s after the previous step", step);
	}
	eadm_accuse(j, now, "connection from %s to %s port %" PRIu64 ": %s%s, %s ago",
		    name_of(now, EVENT_PID, EVENT_COMM, who, sizeof(who)),
		    diag_text(now, EVENT_PEER_ADDR),
		    diag_u64(now, EVENT_PEER_PORT), what, after,
		    ago(now, diag_u64(now, EVENT_TIME), age, sizeof(age)));
	eadm_cite_all(j, DIAG_EVENT, now, event_facts);
}

static void look_refused(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	int64_t status = diag_u64(now, EVENT_STATUS);

	(void)then;
	if (!is_cm(now, EADM_CM_EVENT_REJECTED) ||
	    (status != REJ_NO_SERVICE && status != -ECONNREFUSED))
		return;
	accuse_connection(j, now, "connect-refused",
			  "refused because the port has no listener");
}

/* Returns true if neither the peer nor a router responded. */
static bool is_silence(int64_t status)
{
	return status == -ETIMEDOUT || status == -EHOSTUNREACH ||
	       status == -ENETUNREACH;
}

static void look_timeout(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	static const char rule[] = "connect-timeout";
	int64_t status = diag_u64(now, EVENT_STATUS);

	(void)then;
	if (is_cm(now, EADM_CM_EVENT_UNREACHABLE) && is_silence(status)) {
		accuse_connection(j, now, rule, "the peer did not respond to the request");
	} else if (is_cm(now, EADM_CM_EVENT_ROUTE_ERROR)) {
		accuse_connection(j, now, rule, "no route to the peer was found");
		eadm_judge_cause(j, "The subnet manager does not respond or knows no path to the peer, whose port may be down or in another partition.");
		eadm_judge_next(j, "sminfo -C {dev}; eadm events --past -d {dev}");
	} else if (is_cm(now, EADM_CM_EVENT_ADDR_ERROR) && status == -ENODEV) {
		accuse_connection(j, now, rule, "no RDMA device has the local address from which the peer is reached");
		eadm_judge_cause(j, "The route to the peer uses an interface without an RDMA device, or the device has no GID for the interface's address.");
		eadm_judge_next(j, "ip route get PEER; eadm dump gid");
	} else if (is_cm(now, EADM_CM_EVENT_ADDR_ERROR)) {
		accuse_connection(j, now, rule, "the peer's address could not be resolved");
		if (is_silence(status))
			return;
		eadm_judge_cause(j, "An error on this machine; the status is its errno.");
		eadm_judge_next(j, "dmesg; eadm events --past");
	}
}

/* ---- QPs ------------------------------------------------------------------------- */

static bool has_state(const struct diag_row *change, uint64_t state)
{
	return diag_has(change, CALL_NEW_STATE) &&
	       diag_u64(change, CALL_NEW_STATE) == state;
}

/* Returns false if the values are known to differ. */
static bool may_match(const struct diag_row *a, unsigned int field,
		      const struct diag_row *b, unsigned int other)
{
	return !diag_has(a, field) || !diag_has(b, other) ||
	       diag_u64(a, field) == diag_u64(b, other);
}

/* Reports a connected QP whose process was ended by a signal. */
static void look_killed(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t signal = diag_u64(now, CALL_EXIT), qpn = diag_u64(now, CALL_QPN);
	uint64_t time = diag_u64(now, CALL_TIME);
	struct diag_qp_history qp;
	char who[64], age[32], peer[64] = "";

	(void)then;
	/* SIGHUP, SIGINT, SIGTERM: the process was requested to end. */
	if (diag_u64(now, CALL_OP) != EADM_CMD_OP_DESTROY_QP ||
	    !diag_has(now, CALL_EXIT) || !signal || signal == 1 ||
	    signal == 2 || signal == 15 || !is_recent(now, time))
		return;
	qp = eadm_diag_qp_history(eadm_judge_now(j), now->dev, qpn, time);
	if (!qp.established || qp.disconnected ||
	    has_state(qp.change, EADM_QP_STATE_ERR) ||
	    !may_match(qp.rtr, CALL_PID, now, CALL_PID))
		return;
	if (diag_has(qp.rtr, CALL_PEER_GID))
		snprintf(peer, sizeof(peer), " with QP %" PRIu64 " of %s",
			 diag_u64(qp.rtr, CALL_PEER_QPN),
			 diag_text(qp.rtr, CALL_PEER_GID));
	eadm_accuse(j, now, "%s was killed by signal %" PRIu64 " %s ago while its QP %" PRIu64 " was connected%s",
		    caller_of(now, who, sizeof(who)), signal,
		    ago(now, time, age, sizeof(age)), qpn, peer);
	eadm_cite_all(j, DIAG_CALL, now, call_facts);
}

static void look_forced(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	struct diag_qp_history qp;
	char who[64], age[32];
	uint64_t time;

	(void)then;
	if (diag_u64(now, QP_STATE) != EADM_QP_STATE_ERR)
		return;
	qp = eadm_diag_qp_history(eadm_judge_now(j), now->dev, now->id,
				  UINT64_MAX);
	time = diag_u64(qp.change, CALL_TIME);
	if (!qp.established || qp.disconnected ||
	    !has_state(qp.change, EADM_QP_STATE_ERR) ||
	    !may_match(now, QP_PID, qp.change, CALL_PID) ||
	    now->time - time < TEARDOWN_NS)
		return;
	eadm_accuse(j, now, "%s moved QP %" PRIu64 " to the error state %s ago, and has not destroyed it",
		    caller_of(qp.change, who, sizeof(who)), now->id,
		    ago(now, time, age, sizeof(age)));
	eadm_cite(j, DIAG_QP, now, QP_STATE);
	eadm_cite_all(j, DIAG_CALL, qp.change, call_facts);
}

static struct diag_match events_of_gid(struct judge *j, uint64_t dev,
				       uint64_t port, uint64_t index)
{
	return eadm_diag_match(eadm_judge_now(j), DIAG_EVENTS_OF_GID, dev,
			       port << 32 | index);
}

/*
 * Compares only GIDs at the same index, because the index of the GID from which a QP
 * sends is an attribute of the QP.
 */
static bool was_added_later(struct judge *j, const struct diag_row *removed)
{
	struct diag_match events = events_of_gid(j, removed->dev,
						 diag_u64(removed, EVENT_PORT),
						 diag_u64(removed, EVENT_GID_INDEX));
	const struct diag_row *row;

	while ((row = eadm_diag_next(&events)))
		if (diag_u64(row, EVENT_TYPE) == EADM_EVENT_TYPE_GID_ADDED &&
		    !strcmp(diag_text(row, EVENT_GID),
			    diag_text(removed, EVENT_GID)) &&
		    diag_u64(row, EVENT_TIME) >= diag_u64(removed, EVENT_TIME))
			return true;
	return false;
}

static void look_gid(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	uint64_t state = diag_u64(now, QP_STATE), time;
	const struct diag_row *rtr, *row;
	struct diag_match events;
	char age[32];

	(void)then;
	if (state != EADM_QP_STATE_RTR && state != EADM_QP_STATE_RTS)
		return;
	rtr = eadm_diag_qp_history(eadm_judge_now(j), now->dev, now->id,
				  UINT64_MAX).rtr;
	if (!diag_has(rtr, CALL_GID_INDEX) || !may_match(now, QP_PID, rtr, CALL_PID))
		return;
	events = events_of_gid(j, now->dev, diag_u64(rtr, CALL_PORT),
			       diag_u64(rtr, CALL_GID_INDEX));
	while ((row = eadm_diag_next(&events))) {
		time = diag_u64(row, EVENT_TIME);
		if (diag_u64(row, EVENT_TYPE) != EADM_EVENT_TYPE_GID_REMOVED ||
		    time < diag_u64(rtr, CALL_TIME) || was_added_later(j, row))
			continue;
		eadm_accuse(j, now, "GID %s (index %" PRIu64 "), from which QP %" PRIu64 " sends, was removed %s ago",
			    diag_text(row, EVENT_GID),
			    diag_u64(row, EVENT_GID_INDEX), now->id,
			    ago(now, time, age, sizeof(age)));
		eadm_cite(j, DIAG_QP, now, QP_STATE);
		eadm_cite_all(j, DIAG_EVENT, row, event_facts);
		return;
	}
}

/* ---- objects --------------------------------------------------------------------- */

/*
 * Returns the name of the device limit that a call exceeds, or NULL if it is not known
 * to exceed one.
 */
static const char *exceeds(const struct diag_row *dev,
			   const struct diag_row *call, uint64_t *asked,
			   uint64_t *limit)
{
	static const struct {
		uint64_t op;
		signed char asked, limit;
		const char *name;
	} limits[] = {
		{ EADM_CMD_OP_CREATE_QP, CALL_ENTRIES, DEV_MAX_SEND_WR,
		  "send queue entries" },
		{ EADM_CMD_OP_CREATE_QP, CALL_RECV_ENTRIES, DEV_MAX_RECV_WR,
		  "receive queue entries" },
		{ EADM_CMD_OP_CREATE_CQ, CALL_ENTRIES, DEV_MAX_CQE, "entries" },
	};
	static const struct {
		uint64_t op;
		signed char used, limit;
		const char *name;
	} objects[] = {
		{ EADM_CMD_OP_CREATE_QP, DEV_QPS, DEV_MAX_QP, "QPs" },
		{ EADM_CMD_OP_CREATE_CQ, DEV_CQS, DEV_MAX_CQ, "CQs" },
	};
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(limits); i++) {
		*asked = diag_u64(call, limits[i].asked);
		*limit = diag_u64(dev, limits[i].limit);
		if (diag_u64(call, CALL_OP) == limits[i].op && *limit &&
		    diag_has(call, limits[i].asked) && *asked > *limit)
			return limits[i].name;
	}
	for (i = 0; i < EADM_ARRAY_SIZE(objects); i++) {
		*asked = diag_u64(dev, objects[i].used) + 1;
		*limit = diag_u64(dev, objects[i].limit);
		if (diag_u64(call, CALL_OP) == objects[i].op && *limit &&
		    *asked > *limit)
			return objects[i].name;
	}
	return NULL;
}

/* Returns true if the process retried and succeeded, as it does to find the limit. */
static bool was_made_later(struct judge *j, const struct diag_row *failed)
{
	struct diag_match done = eadm_diag_match(eadm_judge_now(j),
						 DIAG_CALLS_DONE, failed->dev,
						 eadm_diag_call(failed));
	const struct diag_row *row;

	while ((row = eadm_diag_next(&done)))
		if (has_call(row, diag_u64(failed, CALL_OP),
			     EADM_CMD_STATE_DONE) &&
		    diag_same(row, failed, CALL_PID) &&
		    diag_u64(row, CALL_TIME) > diag_u64(failed, CALL_TIME))
			return true;
	return false;
}

static void look_limit(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *dev = eadm_diag_find(eadm_judge_now(j), DIAG_DEV,
						    now->dev, now->dev);
	uint64_t time = diag_u64(now, CALL_TIME), asked, limit;
	char who[64], age[32];
	const char *what;

	(void)then;
	if (diag_u64(now, CALL_STATE) != EADM_CMD_STATE_ERROR || !dev ||
	    !is_recent(now, time))
		return;
	what = exceeds(dev, now, &asked, &limit);
	if (!what || was_made_later(j, now))
		return;
	eadm_accuse(j, now, "%s requested %" PRIu64 " %s %s ago, but the device supports at most %" PRIu64,
		    caller_of(now, who, sizeof(who)), asked, what,
		    ago(now, time, age, sizeof(age)), limit);
	eadm_cite_all(j, DIAG_CALL, now, call_facts);
}

static void look_memlock(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t time = diag_u64(now, CALL_TIME);
	char who[64], age[32];

	(void)then;
	if (!has_call(now, EADM_CMD_OP_REG_MR, EADM_CMD_STATE_ERROR) ||
	    (int64_t)diag_u64(now, CALL_STATUS) != -ENOMEM ||
	    !diag_has(now, CALL_MEMLOCK) || !is_recent(now, time) ||
	    diag_u64(now, CALL_PINNED) <= diag_u64(now, CALL_MEMLOCK))
		return;
	eadm_accuse(j, now, "%s has a locked-memory limit of %" PRIu64 " bytes, and failed to register %" PRIu64 " bytes %s ago, because it would have had %" PRIu64 " bytes pinned",
		    caller_of(now, who, sizeof(who)),
		    diag_u64(now, CALL_MEMLOCK), diag_u64(now, CALL_SIZE),
		    ago(now, time, age, sizeof(age)),
		    diag_u64(now, CALL_PINNED));
	eadm_cite_all(j, DIAG_CALL, now, call_facts);
}

static void look_slow(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t time = diag_u64(now, CALL_TIME), took = diag_u64(now, CALL_LATENCY);
	char who[64], age[32], text[32];

	(void)then;
	if (!has_call(now, EADM_CMD_OP_REG_MR, EADM_CMD_STATE_DONE) ||
	    !diag_has(now, CALL_SIZE) || took < SLOW_NS ||
	    took / SLOW_NS_PER_BYTE < diag_u64(now, CALL_SIZE) ||
	    !is_recent(now, time))
		return;
	eadm_accuse(j, now, "%s took %s to register %" PRIu64 " bytes %s ago",
		    caller_of(now, who, sizeof(who)),
		    eadm_age_text(took, text, sizeof(text)),
		    diag_u64(now, CALL_SIZE), ago(now, time, age, sizeof(age)));
	eadm_cite_all(j, DIAG_CALL, now, call_facts);
}

static bool ends_object(uint64_t op)
{
	return op == EADM_CMD_OP_DESTROY_QP || op == EADM_CMD_OP_DESTROY_CQ ||
	       op == EADM_CMD_OP_DESTROY_SRQ || op == EADM_CMD_OP_DESTROY_AH ||
	       op == EADM_CMD_OP_DEREG_MR || op == EADM_CMD_OP_DEALLOC_PD ||
	       op == EADM_CMD_OP_DEALLOC_MW;
}

static void look_hang(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t time = diag_u64(now, CALL_TIME), op = diag_u64(now, CALL_OP);
	const struct diag_owner *owner;
	char who[64], age[32], what[32], where[96] = "";

	(void)then;
	if (!has_call(now, op, EADM_CMD_STATE_PENDING) || !ends_object(op) ||
	    now->time < time || now->time - time < HANG_NS)
		return;
	owner = eadm_diag_owner(eadm_judge_now(j), diag_u64(now, CALL_PID));
	if (owner && *owner->wchan)
		snprintf(where, sizeof(where), ", in %s", owner->wchan);
	eadm_field_text(eadm_object_find_field(eadm_object_find("cmd"), "op"),
			op, what, sizeof(what));
	eadm_accuse(j, now, "%s of %s has not returned for %s%s", what,
		    caller_of(now, who, sizeof(who)),
		    ago(now, time, age, sizeof(age)), where);
	eadm_cite_all(j, DIAG_CALL, now, call_facts);
}

/* ---- memory regions ---------------------------------------------------------------- */

static bool grows(const struct diag_registrar *sum, uint64_t now)
{
	unsigned int i;

	if (sum->made < sum->destroyed + LEAK_LEAST ||
	    sum->last - sum->first < LEAK_NS ||
	    now - sum->last > sum->last - sum->first)
		return false;
	for (i = 0; i < EADM_ARRAY_SIZE(sum->grown); i++) {
		if (sum->grown[i] < LEAK_QUARTER)
			return false;
	}
	return true;
}

/* The first context of a process represents all contexts of the process. */
static bool is_first(struct judge *j, const struct diag_row *ctx)
{
	const struct diag_row *row = eadm_judge_now(j)->rows[DIAG_CTX].row;

	for (; row < ctx; row++) {
		if (row->dev == ctx->dev && diag_same(row, ctx, CTX_PID))
			return false;
	}
	return true;
}

static void look_leak(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	const struct diag_snapshot *m = eadm_judge_now(j);
	const struct diag_registrar *sum;
	char who[64], span[32];

	(void)then;
	for (sum = m->registrars; sum < m->registrars + m->n_registrars; sum++) {
		if (sum->dev != now->dev ||
		    sum->pid != diag_u64(now, CTX_PID) ||
		    !grows(sum, now->time) || !is_first(j, now))
			continue;
		eadm_accuse(j, now, "%s registered %" PRIu64 " memory regions (%" PRIu64 " bytes) within %s and deregistered %" PRIu64 ", and keeps registering more",
			    name_of(now, CTX_PID, CTX_COMM, who, sizeof(who)),
			    sum->made, sum->bytes,
			    eadm_age_text(sum->last - sum->first, span,
					  sizeof(span)),
			    sum->destroyed);
		eadm_cite(j, DIAG_CTX, now, CTX_AGE);
	}
}

const struct eadm_rule eadm_rules_probe[] = {
	{
		.name = "connect-refused", .kind = DIAG_EVENT,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A connection was refused within the last ten minutes because the port has no listener.",
		.cause = "The peer's application is not running, does not listen yet, or listens on another address or port.",
		.next = "eadm events --past; on the peer: eadm dump cep",
		.alike = "A peer whose application rejects the connection does not count, nor does a failure if a later attempt succeeded.",
		.look = look_refused,
	}, {
		.name = "connect-timeout", .kind = DIAG_EVENT,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A connection could not be established within the last ten minutes because the peer did not respond or there is no path to it.",
		.cause = "The peer's machine is down or unreachable, a firewall drops its packets, or its application does not respond.",
		.next = "ping the peer; eadm trace",
		.alike = "A peer that responds late does not count, nor does a failure if a later attempt succeeded.",
		.look = look_timeout,
	}, {
		.name = "owner-killed", .kind = DIAG_CALL,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A process was killed within the last ten minutes while it had a connected QP.",
		.cause = "The process crashed or was killed, for example by the OOM killer. Its peers see the connection close.",
		.next = "dmesg; coredumpctl list",
		.alike = "A process that exited or was ended by SIGHUP, SIGINT or SIGTERM does not count, nor does a process whose QPs had no peer or were disconnected.",
		.look = look_killed,
	}, {
		.name = "qp-forced-error", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The owner of a connected QP moved it to the error state and did not destroy it.",
		.cause = "The application has given up the connection, and is waiting for outstanding requests or has leaked the QP.",
		.next = "eadm trace --opcode modify-qp -d {dev}",
		.alike = "A QP that is being torn down is excluded, because it was disconnected or is soon destroyed. A QP that the adapter moved to the error state is also excluded, because no call to move it was recorded since it was connected.",
		.look = look_forced,
	}, {
		.name = "gid-removed", .kind = DIAG_QP,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The GID from which a connected QP sends was removed.",
		.cause = "An IP address was removed, or its interface went down, while a connection used it.",
		.next = "ip address; eadm dump gid -d {dev}",
		.alike = "A GID from which no QP sends, or that was added again at the same index, does not count, nor does a QP that was connected afterwards.",
		.look = look_gid,
	}, {
		.name = "limit-exceeded", .kind = DIAG_CALL,
		.severity = EADM_SEVERITY_WARNING,
		.help = "An object could not be created within the last ten minutes because it would exceed a limit of the device.",
		.cause = "The application requests more than the device supports.",
		.next = "eadm info {dev}",
		.alike = "A process that then succeeded with a smaller request, as it does to find the limit, does not count, nor does a call that failed although it exceeded no limit.",
		.look = look_limit,
	}, {
		.name = "memlock-refused", .kind = DIAG_CALL,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A memory registration failed within the last ten minutes because of the process's limit on locked memory.",
		.cause = "RLIMIT_MEMLOCK of the process is too low; registered memory counts as locked, in whole pages.",
		.next = "ulimit -l; raise LimitMEMLOCK= of the service",
		.alike = "A registration that failed for lack of memory does not count if the limit was high enough or absent.",
		.look = look_memlock,
	}, {
		.name = "slow-registration", .kind = DIAG_CALL,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A registration within the last ten minutes took longer than its size can explain.",
		.cause = "The pages had to be read from files, swap or another node first, or allocated while free memory was low.",
		.next = "eadm trace hist; vmstat 1",
		.alike = "A large region does not count if the time is in proportion to its size.",
		.look = look_slow,
	}, {
		.name = "destroy-hangs", .kind = DIAG_CALL,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "A call that destroys an object does not return.",
		.cause = "The adapter does not respond, or the object is still in use.",
		.next = "cat /proc/PID/stack; dmesg",
		.alike = "A call that took a long time but returned does not count.",
		.look = look_hang,
	}, {
		.name = "mr-leak", .kind = DIAG_CTX,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A process keeps registering memory regions and hardly deregisters any.",
		.cause = "The application leaks memory regions.",
		.next = "eadm trace --opcode reg-mr -d {dev}; eadm dump mr",
		.alike = "A process that registers many regions at its start, or keeps a cache of them that has stopped growing, does not count, nor does a process that deregisters as many. Calls before a gap in the records are ignored.",
		.look = look_leak,
	},
	{ 0 }
};
