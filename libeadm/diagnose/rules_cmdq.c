// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about the command queue, based on the state of the queue and on the flight
 * recorder.
 */
#include <inttypes.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

/* Older commands in the flight recorder are ignored. */
#define RECENT_NS	(600 * SECOND)

static void look_dead(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	static const signed char facts[] = {
		CMDQ_STATE, CMDQ_TIMEOUTS, CMDQ_RECOVERIES,
		CMDQ_FAILED_RECOVERIES, CMDQ_LAST_COMP_AGE, -1,
	};
	uint64_t failed;

	(void)then;
	if (diag_u64(now, CMDQ_STATE) != EADM_CMDQ_STATE_DEAD)
		return;
	failed = diag_u64(now, CMDQ_FAILED_RECOVERIES);
	eadm_accuse(j, now, "the command queue is dead, %" PRIu64
		    " %s failed: no object can be created or changed", failed,
		    eadm_plural(failed, "recovery", "recoveries"));
	eadm_cite_all(j, DIAG_CMDQ, now, facts);
}

static const signed char waiting[] = {
	CMDQ_STATE, CMDQ_OUTSTANDING, CMDQ_OLDEST_AGE, CMDQ_LAST_COMP_AGE,
	CMDQ_TIMEOUTS, CMDQ_SQ_PI, CMDQ_SQ_CI, -1,
};

static void look_recovering(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	(void)then;
	if (diag_u64(now, CMDQ_STATE) != EADM_CMDQ_STATE_RECOVERING)
		return;
	eadm_accuse(j, now, "the queue is being recovered after a lost command");
	eadm_cite_all(j, DIAG_CMDQ, now, waiting);
}

static void look_stalled(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t oldest = diag_u64(now, CMDQ_OLDEST_AGE);
	uint64_t n = diag_u64(now, CMDQ_OUTSTANDING);
	char age[32];

	(void)then;
	if (oldest < DIAG_CMD_SLOW_NS || !n ||
	    diag_u64(now, CMDQ_STATE) >= EADM_CMDQ_STATE_RECOVERING)
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s for completion, the oldest for %s",
		    n, eadm_plural(n, "command has been waiting", "commands have been waiting"),
		    eadm_age_text(oldest, age, sizeof(age)));
	eadm_cite_all(j, DIAG_CMDQ, now, waiting);
}

/* ---- the flight recorder ----------------------------------------------------- */

/*
 * Sets *ago to the time from the submission of the command to the reading of its row.
 * Returns false if the time is unknown or too long ago. The kernel converts it with the
 * clock setting at the time of reading.
 */
static bool is_recent(const struct diag_snapshot *m, const struct diag_row *cmd,
		      uint64_t *ago)
{
	uint64_t time = diag_u64(cmd, CMD_TIME);
	uint64_t now = cmd->time + m->clock_step;

	*ago = now > time ? now - time : 0;
	return diag_has(cmd, CMD_TIME) && *ago < RECENT_NS;
}

struct found {
	const struct diag_row *first, *last;
	unsigned int n;
};

/* Find recent commands of a device for which @is returns true. */
static void search(const struct diag_snapshot *m, uint64_t dev,
		   bool (*is)(const struct diag_row *), struct found *found)
{
	const struct diag_rows *rows = &m->rows[DIAG_CMD];
	uint64_t ago;
	size_t i;

	memset(found, 0, sizeof(*found));
	for (i = 0; i < rows->n; i++) {
		const struct diag_row *cmd = &rows->row[i];

		if (cmd->dev != dev || !is_recent(m, cmd, &ago) || !is(cmd))
			continue;
		if (!found->first)
			found->first = cmd;
		found->last = cmd;
		found->n++;
	}
}

static void cite_command(struct judge *j, const struct diag_row *cmd)
{
	static const signed char facts[] = {
		CMD_OP, CMD_STATE, CMD_STATUS, CMD_SYNDROME_RAW, CMD_LATENCY,
		CMD_TIME, CMD_PID, CMD_COMM, -1,
	};

	eadm_cite_all(j, DIAG_CMD, cmd, facts);
}

static const char *op_name(const struct diag_row *cmd, char *buf, size_t size)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find("cmd"), "op");

	eadm_field_text(field, diag_u64(cmd, CMD_OP), buf, size);
	return buf;
}

static bool is_lost(const struct diag_row *cmd)
{
	uint64_t state = diag_u64(cmd, CMD_STATE);

	return state == EADM_CMD_STATE_TIMEOUT ||
	       state == EADM_CMD_STATE_LATE;
}

static void look_lost(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	uint64_t recoveries = diag_u64(now, CMDQ_RECOVERIES);
	uint64_t lost = diag_growth(now, then, CMDQ_TIMEOUTS), ago;
	char op[32], age[32];
	struct found found;

	search(eadm_judge_now(j), now->dev, is_lost, &found);
	if (!found.n && !lost)
		return;
	if (found.n) {
		is_recent(eadm_judge_now(j), found.first, &ago);
		eadm_accuse(j, now, "%u %s timed out (the first was %s, %s ago); the queue was recovered %" PRIu64 " %s",
			    found.n,
			    eadm_plural(found.n, "command", "commands"),
			    op_name(found.first, op, sizeof(op)),
			    eadm_age_text(ago, age, sizeof(age)),
			    recoveries, eadm_plural(recoveries, "time", "times"));
		cite_command(j, found.first);
	} else {
		eadm_accuse(j, now, "%" PRIu64 " %s timed out", lost,
			    eadm_plural(lost, "command", "commands"));
	}
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_TIMEOUTS);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_LATE);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_RECOVERIES);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_CREDITS);
}

static bool is_slow(const struct diag_row *cmd)
{
	uint64_t state = diag_u64(cmd, CMD_STATE);

	return (state == EADM_CMD_STATE_DONE ||
		state == EADM_CMD_STATE_ERROR) &&
	       diag_u64(cmd, CMD_LATENCY) >= DIAG_CMD_SLOW_NS;
}

static void look_slow(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	char op[32], age[32], took[32];
	struct found found;
	uint64_t ago;

	(void)then;
	search(eadm_judge_now(j), now->dev, is_slow, &found);
	if (!found.n)
		return;
	is_recent(eadm_judge_now(j), found.last, &ago);
	eadm_accuse(
		j, now,
		"%u %s took more than a second; the last was %s with %s, %s ago",
		found.n, eadm_plural(found.n, "command", "commands"),
		op_name(found.last, op, sizeof(op)),
		eadm_age_text(diag_u64(found.last, CMD_LATENCY), took,
			      sizeof(took)),
		eadm_age_text(ago, age, sizeof(age)));
	cite_command(j, found.last);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_OUTSTANDING);
}

/*
 * Queries about objects that are being destroyed are also refused in normal operation.
 */
static bool is_refused(const struct diag_row *cmd)
{
	switch (diag_u64(cmd, CMD_OP)) {
	case EADM_CMD_OP_QUERY_QPC:
	case EADM_CMD_OP_QUERY_CQC:
	case EADM_CMD_OP_QUERY_EQC:
	case EADM_CMD_OP_QUERY_QP:
		return false;
	default:
		return diag_u64(cmd, CMD_STATE) == EADM_CMD_STATE_ERROR;
	}
}

static void look_refused(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	char op[32], age[32];
	struct found found;
	uint64_t ago;

	(void)then;
	search(eadm_judge_now(j), now->dev, is_refused, &found);
	if (!found.n)
		return;
	is_recent(eadm_judge_now(j), found.last, &ago);
	eadm_accuse(j, now, "%u %s refused by the adapter; the last was %s with syndrome %" PRIu64 ", %s ago",
		    found.n,
		    eadm_plural(found.n, "command was", "commands were"),
		    op_name(found.last, op, sizeof(op)),
		    diag_u64(found.last, CMD_SYNDROME_RAW),
		    eadm_age_text(ago, age, sizeof(age)));
	cite_command(j, found.last);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_ERRORS);
}

static void look_spurious(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t n = diag_u64(now, CMDQ_SPURIOUS), ago;
	char age[32];

	if (!diag_lately(now, then, CMDQ_SPURIOUS, CMDQ_LAST_SPURIOUS, &ago))
		return;
	eadm_accuse(
		j, now,
		"%" PRIu64
		" %s of the command queue matched no command, the last one %s ago",
		n, eadm_plural(n, "completion", "completions"),
		eadm_age_text(ago, age, sizeof(age)));
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_LAST_SPURIOUS);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_SPURIOUS);
	eadm_cite_growth(j, DIAG_CMDQ, now, then, CMDQ_SPURIOUS);
	eadm_cite(j, DIAG_CMDQ, now, CMDQ_COMPLETED);
}

const struct eadm_rule eadm_rules_cmdq[] = {
	{
		.name = "cmdq-dead", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The command queue could not be recovered.",
		.cause = "The adapter's firmware hangs and does not recover after a reset.",
		.next = "eadm trace -d {dev}; reload the driver or restart the machine",
		.alike = "A queue that is being recovered is reported by another rule.",
		.look = look_dead,
	}, {
		.name = "cmdq-recovering", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The command queue is being recovered after a lost command.",
		.cause = "The adapter did not complete a command; the driver retries it or resets the adapter.",
		.next = "eadm trace -d {dev} --follow",
		.alike = "No similar state is known.",
		.look = look_recovering,
	}, {
		.name = "cmdq-stalled", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "Commands have been outstanding for more than a second.",
		.cause = "The adapter hangs, or the interrupt for the completion was lost; the command will time out.",
		.next = "eadm trace -d {dev}; eadm dump eq -d {dev}",
		.alike = "After the machine was paused for a second, the state looks the same, even if the adapter was paused as well.",
		.look = look_stalled,
	}, {
		.name = "command-lost", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A command timed out within the last ten minutes.",
		.cause = "The adapter dropped the command or hung; the flight recorder shows the outcome of the command.",
		.next = "eadm trace -d {dev} --state timeout,late,aborted",
		.alike = "Commands older than ten minutes are ignored; the age is shown.",
		.look = look_lost,
	}, {
		.name = "command-slow", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A command took more than a second within the last ten minutes.",
		.cause = "The adapter is overloaded, or it hung for a while.",
		.next = "eadm trace -d {dev} --slower-than 1s",
		.alike = "If the machine was paused for a second, the command looks the same. Commands older than ten minutes are ignored; the age is shown.",
		.look = look_slow,
	}, {
		.name = "command-failed", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter refused a command within the last ten minutes.",
		.cause = "The request was invalid, a resource of the adapter was exhausted, or its firmware is at fault.",
		.next = "eadm trace -d {dev} --state error -o +request,response",
		.alike = "Queries for objects that are being destroyed do not count, because a healthy adapter also refuses them.",
		.look = look_refused,
	}, {
		.name = "spurious-completion", .kind = DIAG_CMDQ, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter completed a command twice, or completed one that was never submitted.",
		.cause = "The adapter's firmware is at fault.",
		.next = "eadm dump cmdq -d {dev} -o +last-spurious-age",
		.alike = "Completions older than half a minute are ignored.",
		.look = look_spurious,
	},
	{ 0 }
};
