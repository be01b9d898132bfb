// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about limits that the kernel sets for processes: control groups, pinned memory.
 */
#include <inttypes.h>
#include <stdio.h>

#include "eadm_nl.h"
#include "judge.h"

#define BOTH	(EADM_GROUP_STATE | EADM_GROUP_SETUP)
/* The threshold is nine tenths, as for the limits of devices. */
#define NEARLY(max)	((max) - (max) / 10)
#define PAGE	4096

/* ---- control groups -------------------------------------------------------------- */

static const struct {
	const char *name, *what;
	unsigned int used, max;
} amounts[] = {
	{ "hca_handle", "context", CG_HANDLES, CG_MAX_HANDLES },
	{ "hca_object", "object", CG_OBJECTS, CG_MAX_OBJECTS },
};

/*
 * A limit of 0 denies the device on purpose; this is a fault only if the caller is in
 * that group.
 */
static void look_denied(struct judge *j, const struct diag_row *now, size_t i)
{
	if (!diag_u64(now, CG_OWN))
		return;
	eadm_accuse(j, now, "%s=0 in rdma.max of this process's control group %s: the device cannot be %s",
		    amounts[i].name, diag_text(now, CG_PATH),
		    i ? "used" : "opened (EAGAIN)");
	eadm_judge_severity(j, EADM_SEVERITY_WARNING);
	eadm_cite(j, DIAG_CGROUP, now, amounts[i].max);
}

static void look_cgroup(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t used, max;
	bool near = false;
	size_t i;

	(void)then;
	for (i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		if (!diag_has(now, amounts[i].max))
			continue;
		used = diag_u64(now, amounts[i].used);
		max = diag_u64(now, amounts[i].max);
		if (!max) {
			near |= diag_u64(now, CG_OWN);
			look_denied(j, now, i);
			continue;
		}
		if (used < NEARLY(max))
			continue;
		near = true;
		eadm_accuse(j, now, "control group %s: %" PRIu64 " of %" PRIu64 " %s in use%s%s%s",
			    diag_text(now, CG_PATH), used, max, amounts[i].name,
			    used < max ? "" : ": creating another ",
			    used < max ? "" : amounts[i].what,
			    used < max ? "" : " fails with EAGAIN");
		eadm_cite(j, DIAG_CGROUP, now, amounts[i].used);
		eadm_cite(j, DIAG_CGROUP, now, amounts[i].max);
	}
	if (!near && diag_u64(now, CG_OWN))
		eadm_pass(j, now, "below the limits of control group %s",
			  diag_text(now, CG_PATH));
}

/* ---- pinned memory ----------------------------------------------------------------- */

/*
 * The first context of a process represents all contexts of the process. Returns NULL
 * for the others and if the owner is unknown.
 */
static const struct diag_owner *owner_by_first(struct judge *j, const struct diag_row *ctx)
{
	uint64_t pid = diag_u64(ctx, CTX_PID);

	if (!pid || eadm_diag_first(eadm_judge_now(j), DIAG_CTXS_OF_PID, 0, pid) != ctx)
		return NULL;
	return eadm_diag_owner(eadm_judge_now(j), pid);
}

static void look_pinned(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const struct diag_owner *owner = owner_by_first(j, now);

	(void)then;
	if (!owner || !owner->has_limit || owner->ipc_lock ||
	    owner->memlock == UINT64_MAX || !owner->memlock ||
	    owner->pinned < NEARLY(owner->memlock))
		return;
	eadm_accuse(j, now, "process %s (PID %" PRIu64 ") has pinned %" PRIu64 " KiB; its limit (RLIMIT_MEMLOCK) is %" PRIu64 " KiB%s",
		    diag_text(now, CTX_COMM), owner->pid, owner->pinned / 1024,
		    owner->memlock / 1024,
		    owner->pinned + PAGE > owner->memlock ?
			    ": registering more fails with ENOMEM" : "");
	eadm_cite(j, DIAG_CTX, now, CTX_PID);
}

/* ---- open files ------------------------------------------------------------------- */

static void look_files(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_owner *owner = owner_by_first(j, now);

	(void)then;
	if (!owner || !owner->max_files ||
	    owner->files < NEARLY(owner->max_files))
		return;
	eadm_accuse(j, now, "process %s (PID %" PRIu64 ") has %" PRIu64 " of %" PRIu64 " files open (RLIMIT_NOFILE)%s",
		    diag_text(now, CTX_COMM), owner->pid, owner->files,
		    owner->max_files, owner->files < owner->max_files ? "" :
		    ": opening a device, a completion channel or an rdma_cm event channel fails with EMFILE");
	eadm_cite(j, DIAG_CTX, now, CTX_PID);
}

/* ---- reasons why memory could not be registered ---------------------------------- */

/*
 * Returns the number of registrations that the adapter refused since the earlier
 * snapshot, and sets *@last to the last of them.
 */
static uint64_t refused(struct judge *j, const struct diag_row *then,
			const struct diag_row **last)
{
	const struct diag_snapshot *before = eadm_judge_then(j);
	struct diag_rows cmds = eadm_diag_of(eadm_judge_now(j), DIAG_CMD,
					     then->dev);
	uint64_t since = then->time + before->clock_step, n = 0;
	size_t i;

	*last = NULL;
	for (i = 0; i < cmds.n; i++) {
		const struct diag_row *cmd = &cmds.row[i];

		if (diag_u64(cmd, CMD_OP) != EADM_CMD_OP_REG_MR ||
		    diag_u64(cmd, CMD_STATE) != EADM_CMD_STATE_ERROR ||
		    diag_u64(cmd, CMD_TIME) + diag_u64(cmd, CMD_LATENCY) < since)
			continue;
		*last = cmd;
		n++;
	}
	return n;
}

/* Returns the process closest to its limit among those to which the limit applies. */
static const struct diag_owner *most_limited(struct judge *j, uint64_t dev,
					     const char **comm, bool *all_known)
{
	struct diag_rows ctxs = eadm_diag_of(eadm_judge_now(j), DIAG_CTX, dev);
	const struct diag_owner *owner, *found = NULL;
	size_t i;

	*all_known = ctxs.n;
	for (i = 0; i < ctxs.n; i++) {
		owner = eadm_diag_owner(eadm_judge_now(j),
					diag_u64(&ctxs.row[i], CTX_PID));
		if (!owner || !owner->has_limit) {
			*all_known = false;
			continue;
		}
		if (owner->ipc_lock || owner->memlock == UINT64_MAX ||
		    (found && owner->memlock - owner->pinned >=
			      found->memlock - found->pinned))
			continue;
		found = owner;
		*comm = diag_text(&ctxs.row[i], CTX_COMM);
	}
	return found;
}

static const char blames_adapter[] =
	"The adapter refused the registration, because it has no resources for another region or for that many pages, or is faulty. The limit on locked memory is not the cause.";

static void blame_adapter(struct judge *j, const struct diag_row *cmd)
{
	eadm_judge_cause(j, blames_adapter);
	eadm_judge_next(j, "eadm trace -d {dev} --opcode reg-mr --state error; eadm info {dev}; eadm dump mr -d {dev} --sort length:desc");
	eadm_cite(j, DIAG_CMD, cmd, CMD_OP);
	eadm_cite(j, DIAG_CMD, cmd, CMD_STATUS);
	eadm_cite(j, DIAG_CMD, cmd, CMD_SYNDROME_RAW);
	eadm_cite(j, DIAG_CMD, cmd, CMD_PID);
	eadm_cite(j, DIAG_CMD, cmd, CMD_COMM);
}

static void blame_kernel(struct judge *j, const struct diag_owner *owner,
			 const char *comm, bool all_known, bool sure)
{
	const char *who = sure ? "The request did not reach the adapter" :
			  "Without the companion it is unknown whether the adapter refused the registration";
	char text[400];

	if (owner)
		snprintf(text, sizeof(text), "%s. RLIMIT_MEMLOCK limits a process that has the device open: %s (PID %" PRIu64 ") has pinned %" PRIu64 " of %" PRIu64 " KiB; beyond this limit, registration fails with ENOMEM.",
			 who, comm, owner->pid, owner->pinned / 1024,
			 owner->memlock / 1024);
	else if (all_known)
		snprintf(text, sizeof(text), "%s. RLIMIT_MEMLOCK limits none of the processes that have the device open%s",
			 who, sure ? ": the memory does not exist or is not writable, or the kernel has no pages for it." :
			      ": the adapter has no resources for the region, the memory does not exist, or the kernel has no pages for it.");
	else
		snprintf(text, sizeof(text), "%s. The process has ended, or its limit on locked memory is not visible.",
			 who);
	eadm_judge_cause(j, text);
	eadm_judge_next(j, owner ?
		"set LimitMEMLOCK=infinity in its service or --ulimit memlock=-1 for its container, or run prlimit --memlock=unlimited --pid PID" :
		"eadm dump ctx -d {dev}; run ulimit -l in the environment that starts the process; to record the next failure, run eadm probe start");
}

void eadm_judge_registration(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then, uint64_t times)
{
	const struct diag_row *dev = eadm_diag_find(eadm_judge_now(j), DIAG_DEV,
						    now->dev, now->dev);
	const struct diag_row *last = NULL;
	const struct diag_owner *owner;
	bool sees_commands = diag_has(dev, DEV_STATE), all_known;
	const char *comm = "";

	if (sees_commands && refused(j, then, &last) >= times) {
		blame_adapter(j, last);
		return;
	}
	owner = most_limited(j, now->dev, &comm, &all_known);
	/*
	 * If the adapter also refused registrations, a different rule reports those
	 * commands.
	 */
	blame_kernel(j, owner, comm, all_known, sees_commands && !last);
}

const struct eadm_rule eadm_rules_limits[] = {
	{
		.name = "cgroup-limit", .kind = DIAG_CGROUP, .groups = BOTH,
		.check = "cgroup",
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A control group is near its limit on contexts or objects of a device.",
		.cause = "rdma.max of the control group is too small for the job, or the job leaks objects.",
		.next = "raise the limit in rdma.max of the control group, or let the job create fewer objects; eadm dump cgroup -d {dev}",
		.alike = "A job that needs exactly its limit looks the same, so the verdict is only a notice. A group that is denied the device on purpose (hca_handle=0) is reported only if the caller is in that group.",
		.look = look_cgroup,
	}, {
		.name = "memlock-near", .kind = DIAG_CTX,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A process is near its limit on pinned memory.",
		.cause = "RLIMIT_MEMLOCK of the process is too low for the memory that it registers.",
		.next = "set LimitMEMLOCK=infinity in its service, --ulimit memlock=-1 for its container, or '* - memlock unlimited' in /etc/security/limits.d; eadm dump ctx -d {dev}",
		.alike = "A process with CAP_IPC_LOCK is excluded, because the limit does not apply to it. A process whose buffers fit just below its limit looks the same, so the verdict is only a notice.",
		.look = look_pinned,
	}, {
		.name = "open-files-near", .kind = DIAG_CTX,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A process is near its limit on open files.",
		.cause = "RLIMIT_NOFILE of the process is too low: each context, completion channel and rdma_cm event channel needs a file descriptor, in addition to the process's sockets.",
		.next = "set LimitNOFILE= in its service, --ulimit nofile=N for its container, or '* - nofile N' in /etc/security/limits.d; eadm dump process -o +open-files,max-open-files; ls -l /proc/PID/fd",
		.alike = "A process with many open files below a high limit is excluded. A process that needs no more files looks the same, so the verdict is only a notice.",
		.look = look_files,
	},
	{ 0 }
};
