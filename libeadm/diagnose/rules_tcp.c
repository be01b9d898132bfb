// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about jobs that could use RDMA but transfer their data by TCP. */
#include <inttypes.h>
#include <stdio.h>

#include "eadm_nl.h"
#include "rules.h"

/* Connections for control transfer fewer bytes per second than this. */
#define BUSY		(1ULL << 20)

/*
 * Returns true if this machine has an adapter; rows of userspace adapters describe
 * other machines.
 */
static bool has_adapter(struct judge *j)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	size_t i;

	for (i = 0; i < devs->n; i++) {
		if (diag_u64(&devs->row[i], DEV_SIDE) != EADM_DEV_SIDE_PROGRAM)
			return true;
	}
	return false;
}

/* The number is unknown if /proc is mounted with hidepid. */
static void remark_hidden(struct judge *j, const struct diag_row *now)
{
	if (diag_has(now, USER_HIDDEN))
		eadm_judge_remark(j, "processes", "%" PRIu64 " could not be checked: permission denied (run as root)",
				  diag_u64(now, USER_HIDDEN));
	else
		eadm_judge_remark(j, "processes", "those hidden by /proc could not be checked (run as root)");
}

static void look_tcp(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	uint64_t tx = diag_growth(now, then, USER_TX);
	uint64_t rx = diag_growth(now, then, USER_RX);
	uint64_t time = now->time - then->time;
	const char *libraries = diag_text(now, USER_LIBRARIES);
	char age[32];

	if (!diag_u64(now, USER_PID)) {
		remark_hidden(j, now);
		return;
	}
	if (!time || (double)(tx + rx) * SECOND / time < BUSY ||
	    eadm_diag_has_qps(eadm_judge_now(j), diag_u64(now, USER_PID)) || !has_adapter(j))
		return;
	eadm_accuse(j, now, "%s (PID %" PRIu64 ") uses TCP: it has libibverbs%s%s loaded and no QP, and moved %" PRIu64 " KiB (%" PRIu64 " sent, %" PRIu64 " received) by %" PRIu64 " TCP %s within %s",
		    diag_text(now, USER_COMM), diag_u64(now, USER_PID),
		    *libraries ? " and " : "", libraries, (tx + rx) >> 10,
		    tx >> 10, rx >> 10, diag_u64(now, USER_SOCKETS),
		    eadm_plural(diag_u64(now, USER_SOCKETS), "connection",
				"connections"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite(j, DIAG_USER, now, USER_PID);
	eadm_cite(j, DIAG_USER, now, USER_LIBRARIES);
	eadm_cite(j, DIAG_USER, now, USER_FILES);
	eadm_cite(j, DIAG_USER, now, USER_SOCKETS);
	eadm_cite_growth(j, DIAG_USER, now, then, USER_TX);
	eadm_cite_growth(j, DIAG_USER, now, then, USER_RX);
}

const struct eadm_rule eadm_rules_tcp[] = {
	{
		.name = "on-tcp", .kind = DIAG_USER, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A process has loaded libibverbs but has no QPs, and transfers its data over TCP.",
		.cause = "Its library found no usable RDMA device, was set to use TCP, or fell back to it without an error.",
		.next = "eadm check; run it again as the user of the job; to make the job print its transport, set NCCL_DEBUG=INFO, FI_LOG_LEVEL=info or UCX_LOG_LEVEL=info in its environment; eadm top",
		.alike = "A process that has libibverbs loaded and is idle does not count, nor does a process that has QPs and uses TCP connections for control, nor traffic over the loopback interface. Programs that load libibverbs and are meant to use TCP look the same, so the verdict is only a notice. Processes in other network namespaces are skipped.",
		.look = look_tcp,
	},
	{ 0 }
};
