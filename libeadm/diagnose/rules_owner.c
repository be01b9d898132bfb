// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about processes that own queues. If such a process is not running, this
 * explains many symptoms that would otherwise look like faults.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eadm_nl.h"
#include "judge.h"

/*
 * Describes why a process cannot serve its queues; the text completes "process ... is
 * ...".
 */
static bool says(const struct diag_owner *owner, char *buf, size_t size)
{
	switch (owner->state) {
	case EADM_PROCESS_STATE_STOPPED:
		snprintf(buf, size, "stopped by SIGSTOP or another stop signal");
		return true;
	case EADM_PROCESS_STATE_TRACED:
		snprintf(buf, size, "stopped by a debugger or tracer");
		return true;
	case EADM_PROCESS_STATE_ZOMBIE:
		snprintf(buf, size, "a zombie: it has exited, and its parent has not reaped it");
		return true;
	case EADM_PROCESS_STATE_UNINTERRUPTIBLE:
		snprintf(buf, size, "in uninterruptible sleep in the kernel%s%s",
			 *owner->wchan ? ", in " : "", owner->wchan);
		return true;
	default:
		snprintf(buf, size, "frozen with its control group %s, as in a paused container",
			 owner->group);
		return owner->frozen;
	}
}

/*
 * The state must be the same in both snapshots, because many processes are briefly in
 * such a state.
 */
static bool is_kept(struct judge *j, uint64_t pid, char *buf, size_t size)
{
	const struct diag_owner *now = eadm_diag_owner(eadm_judge_now(j), pid);
	const struct diag_owner *then = eadm_diag_owner(eadm_judge_then(j), pid);

	if (!now || !then || now->state != then->state ||
	    now->frozen != then->frozen || strcmp(now->wchan, then->wchan) != 0)
		return false;
	return says(now, buf, size);
}

/*
 * For rules that report a queue whose process does not serve it: if the process is in
 * such a state, this is the cause.
 */
void eadm_judge_consumer(struct judge *j, uint64_t pid)
{
	char what[256], text[400];

	if (!pid || !is_kept(j, pid, what, sizeof(what)))
		return;
	snprintf(text, sizeof(text), "The owning process is %s.", what);
	eadm_judge_cause(j, text);
}

/* The first QP of a process represents all QPs of the process. */
static const struct diag_row *first_of(struct judge *j,
				       const struct diag_row *qp)
{
	return eadm_diag_first(eadm_judge_now(j), DIAG_QPS_OF_PID, 0,
			       diag_u64(qp, QP_PID));
}

/* SIGCONT resumes only processes that a signal has stopped. */
static void advise(struct judge *j, const struct diag_owner *owner)
{
	switch (owner->state) {
	case EADM_PROCESS_STATE_TRACED:
		eadm_judge_cause(j, "A debugger or tracer, such as gdb or strace, is attached to the process and has stopped it.");
		eadm_judge_next(j, "grep TracerPid /proc/{pid}/status; if it was not stopped on purpose, detach the tracer with this PID; eadm dump qp {id} -d {dev}");
		break;
	case EADM_PROCESS_STATE_ZOMBIE:
		/* All its threads have ended: the kernel closes their files before that. */
		eadm_judge_cause(j, "All threads of the process have ended. Another process, usually its child, inherited the open device file, so the kernel keeps the QPs.");
		eadm_judge_next(j, "find /proc/[0-9]*/fd /proc/[0-9]*/map_files -lname '*infiniband/uverbs*', and end the process that inherited the file; eadm dump qp {id} -d {dev}");
		break;
	case EADM_PROCESS_STATE_UNINTERRUPTIBLE:
		eadm_judge_next(j, "dmesg; as root, run cat /proc/{pid}/stack");
		break;
	default:
		if (owner->frozen)
			eadm_judge_next(j, "resume the container, or write 0 to cgroup.freeze of its control group; eadm dump qp {id} -d {dev}");
	}
}

static void look_stopped(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	const struct diag_row *first;
	const struct diag_owner *owner;
	char what[256];

	if (!diag_u64(now, QP_PID) || !diag_same(now, then, QP_PID) ||
	    !is_kept(j, diag_u64(now, QP_PID), what, sizeof(what)))
		return;
	first = first_of(j, now);
	if (first != now) {
		eadm_follows(j, j->rule->name, DIAG_QP, first, now,
			     "belongs to the same process");
		return;
	}
	owner = eadm_diag_owner(eadm_judge_now(j), diag_u64(now, QP_PID));
	eadm_accuse(j, now, "process %s (PID %" PRIu64 ") is %s%s%s",
		    diag_text(now, QP_COMM), diag_u64(now, QP_PID), what,
		    *owner->group && !owner->frozen ? "; control group " : "",
		    owner->frozen ? "" : owner->group);
	advise(j, owner);
	eadm_cite(j, DIAG_QP, now, QP_STATE);
	eadm_cite(j, DIAG_QP, now, QP_PEER_ADDR);
}

const struct eadm_rule eadm_rules_owner[] = {
	{
		.name = "owner-stopped", .kind = DIAG_QP, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The process that owns a QP is not running: it is stopped by a signal or a debugger, frozen, blocked in the kernel, or a zombie.",
		.cause = "A user, a debugger, a job scheduler or a container runtime stopped the process, or it is blocked in the kernel.",
		.next = "kill -CONT {pid}, if it was not stopped on purpose; eadm dump qp {id} -d {dev}",
		.alike = "A process that sleeps until data arrives, or is only briefly in one of these states, is excluded, because both samples must show the same state. A process that was stopped on purpose looks the same, so the verdict is only a notice.",
		.look = look_stopped,
	},
	{ 0 }
};
