// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about limits that the kernel sets to processes: control groups, pinned memory. */
#include <inttypes.h>
#include <stdio.h>

#include "eadm_nl.h"
#include "judge.h"

#define BOTH	(EADM_RULES_STATE | EADM_RULES_SETUP)
/* Nearly all: nine tenths, as for the limits of devices. */
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

/* A limit of 0 denies the device on purpose; it is a fault only for a caller in that group. */
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

/* The first context of a process represents all of them. */
static bool is_first_of(struct judge *j, const struct diag_row *ctx)
{
	const struct diag_rows *ctxs = &eadm_judge_now(j)->rows[DIAG_CTX];
	size_t i;

	for (i = 0; i < ctxs->n; i++) {
		if (diag_same(&ctxs->row[i], ctx, CTX_PID))
			return &ctxs->row[i] == ctx;
	}
	return true;
}

static void look_pinned(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const struct diag_owner *owner;

	(void)then;
	owner = diag_u64(now, CTX_PID) ?
		eadm_diag_owner(eadm_judge_now(j), diag_u64(now, CTX_PID)) : NULL;
	if (!owner || !owner->has_limit || owner->ipc_lock ||
	    owner->memlock == UINT64_MAX || !owner->memlock ||
	    owner->pinned < NEARLY(owner->memlock) || !is_first_of(j, now))
		return;
	eadm_accuse(j, now, "its process %s (PID %" PRIu64 ") has pinned %" PRIu64 " KiB; its limit (RLIMIT_MEMLOCK) is %" PRIu64 " KiB%s",
		    diag_text(now, CTX_COMM), owner->pid, owner->pinned / 1024,
		    owner->memlock / 1024,
		    owner->pinned + PAGE > owner->memlock ?
			    ": registering more fails with ENOMEM" : "");
	eadm_cite(j, DIAG_CTX, now, CTX_PID);
}

const struct eadm_rule eadm_rules_limits[] = {
	{
		.name = "cgroup-limit", .kind = DIAG_CGROUP, .groups = BOTH,
		.check = "cgroup",
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A control group is near its limit of contexts or objects on a device.",
		.cause = "rdma.max of the control group is too small for the job, or the job leaks objects.",
		.next = "raise the limit in rdma.max of the control group, or let the job create fewer; eadm dump cgroup -d {dev}",
		.alike = "A job whose needs match its limit exactly: therefore a notice. A group that is denied the device on purpose (hca_handle=0): reported only to a caller in that group.",
		.look = look_cgroup,
	}, {
		.name = "memlock-near", .kind = DIAG_CTX,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A process is near its limit of pinned memory.",
		.cause = "RLIMIT_MEMLOCK of the process is too low for the memory that it registers.",
		.next = "LimitMEMLOCK=infinity in its service, --ulimit memlock=-1 for its container, or '* - memlock unlimited' in /etc/security/limits.d; eadm dump ctx -d {dev}",
		.alike = "A process with CAP_IPC_LOCK, to which the limit does not apply; a process whose buffers fit just below its limit: therefore a notice.",
		.look = look_pinned,
	},
	{ 0 }
};
