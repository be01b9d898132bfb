// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about devices, their port and its counters, and who uses them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

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
	eadm_accuse(j, now, "the adapter no longer answers on the bus");
	eadm_cite(j, DIAG_DEV, now, DEV_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_halted(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	(void)then;
	if (!diag_has(now, DEV_STATE) ||
	    diag_u64(now, DEV_STATE) != EADM_DEV_STATE_HALTED)
		return;
	eadm_accuse(
		j, now,
		"the adapter does not confirm a reset and is halted; %" PRIu64
		" bytes of %" PRIu64 " destroyed objects are not given back",
		diag_u64(now, DEV_ORPHAN_BYTES), diag_u64(now, DEV_ORPHANS));
	eadm_cite(j, DIAG_DEV, now, DEV_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_ORPHANS);
	eadm_cite(j, DIAG_DEV, now, DEV_ORPHAN_BYTES);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_link(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	bool used = diag_u64(now, DEV_QPS) || diag_u64(now, DEV_CTXS);

	(void)then;
	if (!diag_has(now, DEV_PORT_STATE) ||
	    diag_u64(now, DEV_PORT_STATE) != EADM_PORT_STATE_DOWN) {
		if (diag_has(now, DEV_PORT_STATE))
			eadm_pass(j, now, "the port is not down");
		else
			eadm_judge_hidden(j, now, "the state of the port");
		return;
	}
	eadm_accuse(j, now, "the port is down: %s is down or has no carrier",
		    *diag_text(now, DEV_NETDEV) ? diag_text(now, DEV_NETDEV) :
					     "its network interface");
	/* A port that nobody uses may be down on purpose. */
	if (!used)
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_cite(j, DIAG_DEV, now, DEV_PORT_STATE);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV);
	eadm_cite(j, DIAG_DEV, now, DEV_QPS);
}

static void look_mac(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	(void)then;
	if (!diag_has(now, DEV_MAC) || !diag_has(now, DEV_NETDEV_MAC)) {
		eadm_judge_hidden(j, now, "whether the MAC addresses agree");
		return;
	}
	if (!strcmp(diag_text(now, DEV_MAC), diag_text(now, DEV_NETDEV_MAC))) {
		eadm_pass(j, now, "%s uses the adapter's MAC address, %s",
			  diag_text(now, DEV_NETDEV), diag_text(now, DEV_MAC));
		return;
	}
	eadm_accuse(j, now,
		    "%s uses the MAC address %s, the adapter belongs to %s",
		    diag_text(now, DEV_NETDEV), diag_text(now, DEV_NETDEV_MAC),
		    diag_text(now, DEV_MAC));
	eadm_cite(j, DIAG_DEV, now, DEV_MAC);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV_MAC);
	eadm_cite(j, DIAG_DEV, now, DEV_NETDEV);
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
	};
	bool near = false, known = false;
	unsigned int i;

	(void)then;
	for (i = 0; i < EADM_ARRAY_SIZE(limits); i++) {
		uint64_t used = diag_u64(now, limits[i].used);
		uint64_t max = diag_u64(now, limits[i].max);

		known |= max;
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
		eadm_judge_hidden(j, now, "how much of its limits is in use");
	else if (!near)
		eadm_pass(j, now, "less than nine tenths of each limit are in use");
}

/* ---- counters ------------------------------------------------------------------ */

/* Accuses when one of the counters grew by at least so much. */
static void look_growth(struct judge *j, const struct diag_row *now,
			const struct diag_row *then, const signed char *fields,
			uint64_t least, const char *what)
{
	const signed char *f;
	uint64_t sum = 0;
	char age[32];

	for (f = fields; *f >= 0; f++)
		sum += diag_growth(now, then, *f);
	if (sum < least)
		return;
	eadm_accuse(j, now, "%" PRIu64 " %s within %s", sum, what,
		    diag_interval(now, then, age, sizeof(age)));
	for (f = fields; *f >= 0; f++) {
		if (diag_growth(now, then, *f))
			eadm_cite_growth(j, DIAG_COUNTERS, now, then, *f);
	}
}

static void look_rate_limit(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	static const signed char drops[] = {
		CNT_TX_BPS_DROPS, CNT_TX_PPS_DROPS, CNT_RX_BPS_DROPS,
		CNT_RX_PPS_DROPS, -1,
	};

	look_growth(j, now, then, drops, 1,
		    "packets were dropped by the rate limits");
}

static void look_disabled(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	static const signed char drops[] = {
		CNT_TX_DISABLED_DROPS, CNT_RX_DISABLED_DROPS, -1,
	};

	look_growth(j, now, then, drops, 1,
		    "packets were dropped because the port is disabled");
}

static void look_failures(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	static const signed char failures[] = {
		CNT_QP_FAILURES, CNT_CQ_FAILURES, CNT_MR_FAILURES,
		CNT_CTX_FAILURES, -1,
	};

	look_growth(j, now, then, failures, 1, "objects could not be created");
}

static void look_rnr(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then)
{
	static const signed char rnr[] = {
		CNT_RX_RNR, CNT_TX_RNR, CNT_NO_RECV, CNT_RNR_EXCEEDED, -1,
	};

	look_growth(j, now, then, rnr, 10,
		    "requests met a receiver that was not ready");
	if (!diag_growth(now, then, CNT_RNR_EXCEEDED))
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
}

static void look_flaps(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	static const signed char downs[] = { CNT_LINK_DOWNS, -1 };

	look_growth(j, now, then, downs, 1, "times the link went down");
}

/* A loss of one packet in a hundred is no accident. */
static void look_retransmissions(struct judge *j, const struct diag_row *now,
				 const struct diag_row *then)
{
	static const signed char retrans[] = {
		CNT_RETRANS_PACKETS, CNT_RETRANSMITS, CNT_ACK_TIMEOUTS,
		CNT_OUT_OF_SEQUENCE, -1,
	};
	uint64_t sent = diag_growth(now, then, CNT_TX_PACKETS);

	look_growth(j, now, then, retrans, 10 + sent / 100,
		    "packets were lost, sent again or out of order");
	eadm_cite_growth(j, DIAG_COUNTERS, now, then, CNT_TX_PACKETS);
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
		    (now->value[*f].u - then->value[*f].u) >> 63)
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
	/* What a driver says of an answer that makes no sense. */
	if (!diag_has(now, CNT_HW_ERROR) ||
	    (int64_t)diag_u64(now, CNT_HW_ERROR) != -EINVAL)
		return;
	eadm_accuse(j, now, "the adapter's answer to a query for its counters is invalid");
	eadm_cite(j, DIAG_COUNTERS, now, CNT_HW_ERROR);
}

/* ---- contexts -------------------------------------------------------------------- */

static void look_leaked(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	static const signed char objects[] = {
		CTX_QPS, CTX_CQS, CTX_MRS, CTX_PDS, CTX_AGE, -1,
	};
	char age[32];

	(void)then;
	if (!eadm_judge_now(j)->owners_known || diag_has(now, CTX_PID) ||
	    !diag_has(now, CTX_AGE))
		return;
	eadm_accuse(j, now,
		    "%" PRIu64 " QPs, %" PRIu64 " CQs and %" PRIu64
		    " MRs of an ended process, opened %s ago",
		    diag_u64(now, CTX_QPS), diag_u64(now, CTX_CQS),
		    diag_u64(now, CTX_MRS),
		    eadm_age_text(diag_u64(now, CTX_AGE), age, sizeof(age)));
	eadm_cite_all(j, DIAG_CTX, now, objects);
}

#define BOTH	(EADM_RULES_STATE | EADM_RULES_SETUP)

const struct eadm_rule eadm_rules_dev[] = {
	{
		.name = "adapter-gone", .kind = DIAG_DEV, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL, .last = true,
		.help = "The adapter no longer answers on the bus.",
		.cause = "It was removed or reset beneath its driver, or failed.",
		.next = "dmesg | grep -e {dev} -e pci; then remove and rescan the PCI function",
		.alike = "An adapter that is being reset: it answers on the bus.",
		.look = look_gone,
	}, {
		.name = "adapter-halted", .kind = DIAG_DEV, .needs = STATE,
		.severity = EADM_SEVERITY_CRITICAL, .last = true,
		.help = "The adapter does not confirm a reset, so it may not reach memory.",
		.cause = "Its firmware hangs. Its queues may still know addresses of memory, so it stays out of service until a reset succeeds, which is tried every 5 seconds.",
		.next = "dmesg | grep -e {dev} -e {driver}; stop its applications; restart the machine if this persists (eadm-diagnose(1))",
		.alike = "An adapter that is being reset, or is gone: those are other states.",
		.look = look_halted,
	}, {
		.name = "link-down", .kind = DIAG_DEV,
		.check = "port", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The port is down.",
		.cause = "The network interface was set down, or lost its carrier.",
		.next = "ip link set {netdev} up; ip -s link show {netdev}; eadm info {dev}",
		.alike = "A port that is not used and was set down on purpose: a notice.",
		.look = look_link,
	}, {
		.name = "mac-mismatch", .kind = DIAG_DEV, .needs = STATE,
		.check = "mac", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "The network interface does not use the adapter's MAC address.",
		.cause = "The interface got another address; the fabric drops RDMA packets that do not come from the adapter's own.",
		.next = "eadm info {dev} -o netdev,mac,netdev-mac; ip link set {netdev} address MAC",
		.alike = "A bond or bridge on top of the interface: only the interface itself counts.",
		.look = look_mac,
	}, {
		.name = "limit-near", .kind = DIAG_DEV,
		.check = "limits", .groups = BOTH,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than nine tenths of a limit of the adapter are in use.",
		.cause = "Many applications, or one that does not destroy what it makes.",
		.next = "eadm dump ctx -d {dev}",
		.alike = "Nothing known.",
		.look = look_limits,
	}, {
		.name = "rate-limit-drops", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Packets are dropped by the adapter's bit-rate or packet-rate limit.",
		.cause = "The machine sends or receives more than its share of the network.",
		.next = "eadm stat --live -d {dev}",
		.alike = "Earlier drops: only growth counts.",
		.look = look_rate_limit,
	}, {
		.name = "port-disabled-drops", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_CRITICAL,
		.help = "Packets are dropped because the port is disabled.",
		.cause = "The fabric has switched the port off.",
		.next = "eadm info {dev}; eadm stat -d {dev}",
		.alike = "Earlier drops: only growth counts.",
		.look = look_disabled,
	}, {
		.name = "create-failures", .kind = DIAG_COUNTERS, .two = true, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "QPs, CQs, MRs or contexts could not be created.",
		.cause = "A limit of the adapter or of the process (locked memory) is reached, or the application asks for too much.",
		.next = "eadm trace -d {dev}; eadm check",
		.alike = "An application that asks for more than is offered, to find out: that is what it shows; earlier failures do not count.",
		.look = look_failures,
	}, {
		.name = "receiver-not-ready", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_WARNING,
		.help = "Requests arrive where no receive is posted, by the counters.",
		.cause = "An application here or at the peer posts receives too slowly.",
		.next = "eadm stat --live -d {dev}; eadm dump qp -d {dev} --hw",
		.alike = "An application that posts receives late: therefore a notice, unless a request was given up for it.",
		.look = look_rnr,
	}, {
		.name = "packet-loss", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "More than one packet in a hundred is sent again, by the counters.",
		.cause = "Packets get lost in the network, or acknowledgements come too late.",
		.next = "eadm stat --live -d {dev}",
		.alike = "Losses of congestion: fewer than ten, or one in a hundred, do not count.",
		.look = look_retransmissions,
	}, {
		.name = "link-flapping", .kind = DIAG_COUNTERS, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The link went down meanwhile.",
		.cause = "A bad cable or transceiver, or a switch that restarts.",
		.next = "ip -s link show; eadm info {dev}",
		.alike = "A link that went down before: only growth counts.",
		.look = look_flaps,
	}, {
		.name = "counters-restarted", .kind = DIAG_COUNTERS,
		.two = true, .severity = EADM_SEVERITY_NOTICE,
		.help = "The adapter's counters decreased.",
		.cause = "The firmware was reset, or has set its counters.",
		.next = "eadm dump cmdq -d {dev}; eadm trace -d {dev}",
		.alike = "A counter that goes over 2^64: therefore a notice.",
		.look = look_restart,
	}, {
		.name = "bad-answer", .kind = DIAG_COUNTERS, .needs = STATE,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The adapter answers a query with invalid data.",
		.cause = "The firmware is at fault, or the answer was damaged on its way to memory.",
		.next = "eadm trace -d {dev} --opcode get-stats -o +request,response",
		.alike = "A command that failed: that is another error.",
		.look = look_answer,
	}, {
		.name = "leaked-objects", .kind = DIAG_CTX, .needs = STATE | OWNERS,
		.severity = EADM_SEVERITY_WARNING,
		.help = "Objects are left over from a process that has ended.",
		.cause = "Another process got the open device from it, or the kernel cannot take the objects away because the adapter does not answer.",
		.next = "eadm dump ctx {id} -d {dev}; grep -l infiniband/uverbs /proc/*/maps",
		.alike = "A process that cannot be seen from here: only the PID namespace of the host is judged.",
		.look = look_leaked,
	},
	{ 0 }
};
