// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about devices, their port and its counters, and their users. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "family/family.h"
#include "rules.h"
#include "eadm_nl.h"

/* ---- the device ------------------------------------------------------------- */

static void look_gone(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	(void)then;
	if (!diag_has(now, DEV_STATE) ||
	    diag_u64(now, DEV_STATE) != EADM_DEV_STATE_GONE)
		return;
	eadm_accuse(j, now, "the adapter no longer responds on the bus");
	eadm_cite(j, DIAG_DEV, now, DEV_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_halted(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t orphans = diag_u64(now, DEV_ORPHANS);

	(void)then;
	if (!diag_has(now, DEV_STATE) ||
	    diag_u64(now, DEV_STATE) != EADM_DEV_STATE_HALTED)
		return;
	eadm_accuse(
		j, now,
		"the adapter has not confirmed a reset and is halted; %" PRIu64
		" bytes of %" PRIu64 " destroyed %s have not been released",
		diag_u64(now, DEV_ORPHAN_BYTES), orphans,
		eadm_plural(orphans, "object", "objects"));
	eadm_cite(j, DIAG_DEV, now, DEV_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_ORPHANS);
	eadm_cite(j, DIAG_DEV, now, DEV_ORPHAN_BYTES);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_given_up(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t lost = diag_u64(now, CNT_CMDS_TIMED_OUT);

	(void)then;
	if (!diag_has(now, CNT_HW_ERROR) ||
	    (int64_t)diag_u64(now, CNT_HW_ERROR) == -EINVAL || !lost ||
	    eadm_diag_find(eadm_judge_now(j), DIAG_CMDQ, now->dev, 0))
		return;
	eadm_accuse(j, now, "the adapter did not complete %" PRIu64 " %s in time and no longer responds to the driver",
		    lost, eadm_plural(lost, "command", "commands"));
	eadm_cite(j, DIAG_COUNTERS, now, CNT_CMDS_TIMED_OUT);
	eadm_cite(j, DIAG_COUNTERS, now, CNT_HW_ERROR);
}

static void look_link(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	struct diag_rows ports = eadm_diag_of(eadm_judge_now(j), DIAG_PORT, now->dev);
	bool used = diag_u64(now, DEV_CTXS);
	const struct eadm_family *family = eadm_judge_family(j, now);
	bool infiniband = eadm_judge_is_infiniband(j, now);
	const char *netdev = diag_text(now, DEV_NETDEV);

	(void)then;
	/* The device's row describes port 1 only: port-down examines each port. */
	if (ports.n > 1)
		return;
	if (!diag_has(now, DEV_PORT_STATE) ||
	    diag_u64(now, DEV_PORT_STATE) != EADM_PORT_STATE_DOWN) {
		if (!diag_has(now, DEV_PORT_STATE))
			eadm_judge_hidden(j, now, "the state of the port");
		/* An InfiniBand port in any other state is examined by no-subnet-manager. */
		else if (!infiniband)
			eadm_pass(j, now, "the port is not down");
		return;
	}
	if (ports.n)
		used |= eadm_judge_uses_port(j, &ports.row[0]);
	else
		used |= diag_u64(now, DEV_QPS) != 0;
	if ((family && !eadm_family_has_netdev(family)) ||
	    diag_u64(now, DEV_SIDE) == EADM_DEV_SIDE_PROGRAM) {
		eadm_accuse(j, now, "the port is down");
		eadm_judge_cause(j, "The adapter reports the port as down.");
		eadm_judge_next(j, "eadm info {dev}; dmesg | grep {driver}");
	} else if (*netdev) {
		eadm_accuse(j, now, "the port is down: %s is down or has no carrier",
			    netdev);
	} else {
		eadm_accuse(j, now, "the port is down");
		eadm_judge_port_down(j, netdev, infiniband);
	}
	/* An unused port may be down on purpose. */
	if (!used)
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_cite(j, DIAG_DEV, now, DEV_PORT_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_mac(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	const struct eadm_family *family = eadm_judge_family(j, now);
	/* An interface in a different network namespace has no name in this one. */
	const char *netdev = *diag_text(now, DEV_NETDEV) ?
				     diag_text(now, DEV_NETDEV) :
				     "the network interface";

	(void)then;
	if (family && !eadm_family_has_netdev(family))
		return;
	if (!diag_has(now, DEV_MAC) || !diag_has(now, DEV_NETDEV_MAC)) {
		eadm_judge_hidden(j, now, "the MAC address of the adapter or of its interface");
		return;
	}
	if (!strcmp(diag_text(now, DEV_MAC), diag_text(now, DEV_NETDEV_MAC))) {
		eadm_pass(j, now, "%s uses the adapter's MAC address, %s",
			  netdev, diag_text(now, DEV_MAC));
		return;
	}
	eadm_accuse(j, now,
		    "%s uses the MAC address %s instead of the adapter's, %s",
		    netdev, diag_text(now, DEV_NETDEV_MAC),
		    diag_text(now, DEV_MAC));
	eadm_cite(j, DIAG_DEV, now, DEV_MAC);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV_MAC);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV);
}

/*
 * Returns true if all objects of a kind are counted: RDMA netlink may list only some of
 * the QPs.
 */
static bool counts_all(struct judge *j, const struct diag_row *dev,
		       unsigned int used)
{
	const struct eadm_family *family = eadm_judge_family(j, dev);

	return diag_has(dev, used) &&
	       (used != DEV_QPS || diag_has(dev, DEV_STATE) || !family ||
		!family->no_qp_list);
}

static void look_limits(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	static const struct {
		unsigned char used, max;
		const char *what;
	} limits[] = {
		{ DEV_QPS, DEV_MAX_QP, "QPs" },
		{ DEV_CQS, DEV_MAX_CQ, "CQs" },
		{ DEV_MRS, DEV_MAX_MR, "MRs" },
		{ DEV_PDS, DEV_MAX_PD, "PDs" },
		{ DEV_CTXS, DEV_MAX_CTX, "user contexts" },
		{ DEV_AHS, DEV_MAX_AH, "AHs" },
	};
	bool near = false, known = false, partly = false;
	unsigned int i;

	(void)then;
	for (i = 0; i < EADM_ARRAY_SIZE(limits); i++) {
		uint64_t used = diag_u64(now, limits[i].used);
		uint64_t max = diag_u64(now, limits[i].max);

		known |= max && counts_all(j, now, limits[i].used);
		/* Kinds that are neither limited nor counted are irrelevant. */
		partly |= !max != !counts_all(j, now, limits[i].used);
		if (!max || used < max - max / 10 || max < 10)
			continue;
		eadm_accuse(j, now, "%" PRIu64 " of %" PRIu64 " %s are in use",
			    used, max, limits[i].what);
		if (used >= max)
			eadm_judge_severity(j, EADM_SEVERITY_CRITICAL);
		eadm_cite(j, DIAG_DEV, now, limits[i].used);
		eadm_cite(j, DIAG_DEV, now, limits[i].max);
		near = true;
	}
	if (!known)
		eadm_judge_hidden(j, now, "the usage of the device's limits");
	else if (!near)
		eadm_pass(j, now, "less than nine tenths of every limit%s is in use",
			  partly ? " that is visible" : "");
}

/* ---- counters ------------------------------------------------------------------ */

static void look_rate_limit(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	static const signed char drops[] = {
		CNT_TX_BPS_DROPS, CNT_TX_PPS_DROPS, CNT_RX_BPS_DROPS,
		CNT_RX_PPS_DROPS, -1,
	};

	eadm_accuse_growth(j, now, then, drops, 1,
		    "packet was dropped by the rate limits",
		    "packets were dropped by the rate limits");
}

static void look_disabled(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	static const signed char drops[] = {
		CNT_TX_DISABLED_DROPS, CNT_RX_DISABLED_DROPS, -1,
	};

	eadm_accuse_growth(j, now, then, drops, 1,
		    "packet was dropped because the port is disabled",
		    "packets were dropped because the port is disabled");
}

static const signed char failures[] = {
	CNT_QP_FAILURES, CNT_CQ_FAILURES, CNT_MR_FAILURES, CNT_CTX_FAILURES,
	CNT_PD_FAILURES, CNT_AH_FAILURES, CNT_MMAP_FAILURES, -1,
};

static void look_failures(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	static const struct {
		signed char field;
		const char *one, *many, *cause;
	} kinds[] = {
		{ CNT_QP_FAILURES, "QP could not be created",
		  "QPs could not be created", NULL },
		{ CNT_CQ_FAILURES, "CQ could not be created",
		  "CQs could not be created", NULL },
		{ CNT_MR_FAILURES, "MR could not be registered",
		  "MRs could not be registered", NULL },
		{ CNT_CTX_FAILURES, "user context could not be opened",
		  "user contexts could not be opened", NULL },
		{ CNT_PD_FAILURES, "PD could not be allocated",
		  "PDs could not be allocated", NULL },
		{ CNT_AH_FAILURES, "AH could not be created",
		  "AHs could not be created",
		  "The adapter has no resources for another AH, or cannot reach the peer's address." },
		{ CNT_MMAP_FAILURES, "queue or doorbell could not be mapped",
		  "queues or doorbells could not be mapped", NULL },
	};
	unsigned int i, grown = 0, last = 0;

	for (i = 0; i < EADM_ARRAY_SIZE(kinds); i++) {
		if (!diag_growth(now, then, kinds[i].field))
			continue;
		grown++;
		last = i;
	}
	/* If several kinds grew, the total is at least two. */
	eadm_accuse_growth(j, now, then, failures, 1, kinds[last].one,
			   grown == 1 ? kinds[last].many :
					"objects could not be created");
	if (grown == 1 && kinds[last].cause)
		eadm_judge_cause(j, kinds[last].cause);
	if (grown == 1 && kinds[last].field == CNT_MR_FAILURES)
		eadm_judge_registration(j, now, then,
					diag_growth(now, then, CNT_MR_FAILURES));
}

/* Receivers are occasionally late. */
#define LEAST_RNR 10

/*
 * Both ends count: the sender counts the responses that it receives, and the receiver
 * those that it sends. If both ends are on the same device, each response is in both
 * counters.
 */
static void look_rnr(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	static const signed char rnr[] = {
		CNT_RX_RNR, CNT_TX_RNR, CNT_NO_RECV, CNT_RNR_EXCEEDED, -1,
	};
	uint64_t given_up = diag_growth(now, then, CNT_RNR_EXCEEDED);
	uint64_t there = diag_growth(now, then, CNT_RX_RNR);
	uint64_t here = diag_growth(now, then, CNT_TX_RNR);
	uint64_t dropped = diag_growth(now, then, CNT_NO_RECV);
	char at_peer[48] = "", at_us[48] = "", lost[64] = "", age[32];
	const signed char *f;

	/*
	 * A request that failed after all retries was refused at least once, and a
	 * request that this device refused was dropped.
	 */
	if (there < given_up)
		there = given_up;
	if (here < dropped)
		here = dropped;
	/* A request is retried at most six times unless the number is unlimited. */
	if (!given_up && there < LEAST_RNR && here < LEAST_RNR)
		return;
	if (there)
		snprintf(at_peer, sizeof(at_peer), " %" PRIu64 " %s at the peer", there,
			 eadm_plural(there, "time", "times"));
	if (here)
		snprintf(at_us, sizeof(at_us), " %" PRIu64 " %s here", here,
			 eadm_plural(here, "time", "times"));
	if (given_up)
		snprintf(lost, sizeof(lost), "; %" PRIu64 " %s failed", given_up,
			 eadm_plural(given_up, "request has", "requests have"));
	eadm_accuse(j, now, "requests found no receive posted%s%s%s within %s%s",
		    at_peer, there && here ? " and" : "", at_us,
		    diag_interval(now, then, age, sizeof(age)), lost);
	if (!given_up)
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	for (f = rnr; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

static void look_flaps(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char downs[] = { CNT_LINK_DOWNS, -1 };

	eadm_accuse_growth(j, now, then, downs, 1,
			   "link-down event",
			   "link-down events");
}

static void look_restart(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	static const signed char counters[] = {
		CNT_TX_PACKETS, CNT_TX_BYTES, CNT_RX_PACKETS, CNT_RX_BYTES, -1,
	};
	const signed char *f;

	for (f = counters; *f >= 0; f++) {
		if (diag_has(now, *f) && diag_has(then, *f) &&
		    (diag_u64(now, *f) - diag_u64(then, *f)) >> 63)
			break;
	}
	if (*f < 0)
		return;
	eadm_accuse(j, now, "counters decreased (device or firmware restarted)");
	eadm_cite(j, DIAG_COUNTERS, then, *f);
	eadm_cite(j, DIAG_COUNTERS, now, *f);
}

static void look_answer(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	(void)then;
	/* Drivers report -EINVAL for an invalid response. */
	if (!diag_has(now, CNT_HW_ERROR) ||
	    (int64_t)diag_u64(now, CNT_HW_ERROR) != -EINVAL)
		return;
	eadm_accuse(j, now, "the adapter's response to a counter query is invalid");
	eadm_cite(j, DIAG_COUNTERS, now, CNT_HW_ERROR);
}

/* ---- contexts -------------------------------------------------------------------- */

static void look_leaked(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	static const signed char objects[] = {
		CTX_QPS, CTX_CQS, CTX_MRS, CTX_PDS, CTX_AGE, -1,
	};
	uint64_t qps = diag_u64(now, CTX_QPS), cqs = diag_u64(now, CTX_CQS);
	uint64_t mrs = diag_u64(now, CTX_MRS);
	const struct diag_row *dev;
	char age[32];

	(void)then;
	dev = eadm_diag_find(eadm_judge_now(j), DIAG_DEV, now->dev, now->dev);
	/* Processes of a guest have no PID on this machine. */
	if (diag_u64(dev, DEV_SIDE) == EADM_DEV_SIDE_PROGRAM ||
	    !eadm_judge_now(j)->owners_known || diag_has(now, CTX_PID) ||
	    !diag_has(now, CTX_AGE))
		return;
	eadm_accuse(j, now,
		    "%" PRIu64 " %s, %" PRIu64 " %s and %" PRIu64
		    " %s are left in a context opened %s ago by a process that has ended",
		    qps, eadm_plural(qps, "QP", "QPs"), cqs,
		    eadm_plural(cqs, "CQ", "CQs"), mrs,
		    eadm_plural(mrs, "MR", "MRs"),
		    eadm_age_text(diag_u64(now, CTX_AGE), age, sizeof(age)));
	eadm_cite_all(j, DIAG_CTX, now, objects);
}

#define BOTH	(EADM_GROUP_STATE | EADM_GROUP_SETUP)

const struct eadm_rule eadm_rules_dev[] = {
	{
		.name = "adapter-gone", .kind = DIAG_DEV, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL, .last = true,
		.help = "The adapter no longer responds on the bus.",
		.cause = "The adapter failed, or was removed or reset without involving its driver.",
		.next = "dmesg | grep -e {dev} -e pci; then remove and rescan the PCI function",
		.alike = "An adapter that is being reset is excluded, because it still responds on the bus.",
		.look = look_gone,
	}, {
		.name = "adapter-halted", .kind = DIAG_DEV, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL, .last = true,
		.help = "The adapter has not confirmed a reset, so it is not allowed to access memory.",
		.cause = "The adapter's firmware hangs. Its queues may still contain memory addresses, so it stays out of service until a reset succeeds; the driver retries every 5 seconds.",
		.next = "dmesg | grep -e {dev} -e {driver}; stop its applications; restart the machine if this persists (eadm-diagnose(1))",
		.alike = "An adapter that is being reset, or is gone, is reported by other rules.",
		.look = look_halted,
	}, {
		.name = "adapter-given-up", .kind = DIAG_COUNTERS,
		.severity = EADM_SEVERITY_CRITICAL, .last = true,
		.help = "A command timed out, and the adapter no longer responds to the driver, according to the counters.",
		.cause = "The adapter hangs or no longer responds on the bus. A driver that cannot recover issues no further commands after it has lost one, so no object can be created or destroyed.",
		.next = "dmesg | grep -e {dev} -e {driver}; stop its applications and reload the driver",
		.alike = "A command that was lost long ago is excluded if the adapter has recovered, because the counters of the port can then be read again. If the companion module shows the command queue, the queue is checked instead.",
		.look = look_given_up,
	}, {
		.name = "link-down", .kind = DIAG_DEV,
		.check = "port", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The port is down.",
		.cause = "The network interface is administratively down, or has no carrier.",
		.next = "ip link set {netdev} up; ip -s link show {netdev}; eadm info {dev}",
		.alike = "An unused port that was set down on purpose is reported as a notice. The ports of a device with several ports are checked by the rule port-down.",
		.look = look_link,
	}, {
		.name = "mac-mismatch", .kind = DIAG_DEV, .needs = STATE,
		.check = "mac", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The MAC address of the network interface differs from that of the adapter.",
		.cause = "The MAC address of the interface was changed; the fabric drops RDMA packets from any address except the adapter's own.",
		.next = "eadm info {dev} -o netdev,mac,netdev-mac; ip link set {netdev} address MAC",
		.alike = "A bond or bridge on top of the interface is ignored; only the interface itself is checked.",
		.look = look_mac,
	}, {
		.name = "limit-near", .kind = DIAG_DEV,
		.check = "limits", .groups = BOTH,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than nine tenths of one of the adapter's limits is in use.",
		.cause = "Many applications use the adapter, or one application leaks objects.",
		.next = "eadm dump ctx -d {dev}",
		.alike = "No similar state is known.",
		.look = look_limits,
	}, {
		.name = "rate-limit-drops", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Packets are dropped by the adapter's bit-rate or packet-rate limit.",
		.cause = "The machine exceeds its share of network bandwidth.",
		.next = "eadm stat --live -d {dev}",
		.alike = "Earlier drops are ignored; only drops between the samples count.",
		.look = look_rate_limit,
	}, {
		.name = "port-disabled-drops", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Packets are dropped because the port is disabled.",
		.cause = "The fabric has disabled the port.",
		.next = "eadm info {dev}; eadm stat -d {dev}",
		.alike = "Earlier drops are ignored; only drops between the samples count.",
		.look = look_disabled,
	}, {
		.name = "create-failures", .kind = DIAG_COUNTERS, .two = true,
		.needs = STATE, .instead = failures,
		.severity = EADM_SEVERITY_WARNING,
		.help = "QPs, CQs, MRs or contexts could not be created.",
		.cause = "A limit of the adapter or the process's limit on locked memory was reached, or the application requested too much.",
		.next = "eadm trace -d {dev}; eadm check",
		.alike = "An application that probes for a limit by exceeding it is reported as well. Earlier failures do not count.",
		.look = look_failures,
	}, {
		.name = "receiver-not-ready", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_WARNING,
		.help = "Requests find no receive posted, according to the counters.",
		.cause = "The application at this end or at the peer posts receives too slowly.",
		.next = "eadm stat --live -d {dev}; eadm dump qp -d {dev} --hw",
		.alike = "An application that posts receives late is reported as a notice, unless a request failed because of it.",
		.look = look_rnr,
	}, {
		.name = "link-flapping", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The link went down between the samples.",
		.cause = "A cable or transceiver is bad, or a switch restarted.",
		.next = "ip -s -s link show {netdev}; eadm info {dev}",
		.alike = "A link that went down before the first sample is ignored.",
		.look = look_flaps,
	}, {
		.name = "counters-restarted", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_NOTICE,
		.help = "The adapter's counters decreased.",
		.cause = "The firmware restarted, or it reset its counters.",
		.next = "eadm dump cmdq -d {dev}; eadm trace -d {dev}",
		.alike = "A counter that wraps at 2^64 looks the same, so the verdict is only a notice.",
		.look = look_restart,
	}, {
		.name = "bad-answer", .kind = DIAG_COUNTERS, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter returns invalid data for a query.",
		.cause = "The firmware is at fault, or the response was damaged on its way to memory.",
		.next = "eadm trace -d {dev} --opcode get-stats -o +request,response",
		.alike = "A failed command is a different error and does not count.",
		.look = look_answer,
	}, {
		.name = "leaked-objects", .kind = DIAG_CTX, .needs = STATE | OWNERS,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Objects are left over from a process that has ended.",
		.cause = "Another process inherited the open device file, or the kernel cannot destroy the objects because the adapter does not respond.",
		.next = "eadm dump ctx {id} -d {dev}; find /proc/[0-9]*/fd /proc/[0-9]*/map_files -lname '*infiniband/uverbs*'",
		.alike = "Processes that are not visible to the caller are excluded, because the rule applies only in the PID namespace of the host.",
		.look = look_leaked,
	},
	{ 0 }
};
