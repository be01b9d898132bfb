// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about the environment of a device: its network interface and the health
 * reporters of its driver. They need neither the companion nor the probe.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

/*
 * While a link is paused for a long time, it receives pause frames at least this often.
 */
#define PAUSES_PER_S	300

static uint64_t per_second(uint64_t count, const struct diag_row *now,
			   const struct diag_row *then)
{
	uint64_t ms = (now->time - then->time) / 1000000;

	return ms ? count * 1000 / ms : 0;
}

static void look_errors(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	static const signed char lost[] = {
		LINK_RX_ERRORS, LINK_RX_MISSED, LINK_TX_ERRORS, -1,
	};

	if (eadm_accuse_growth(j, now, then, lost, 10,
			       "packet was lost at the network interface",
			       "packets were lost at the network interface"))
		eadm_cite(j, DIAG_LINK, now, LINK_NETDEV);
}

static void look_paused(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t pauses = diag_growth(now, then, LINK_RX_PAUSES) +
			  diag_growth(now, then, LINK_RX_PFC);
	char age[32];

	if (per_second(pauses, now, then) < PAUSES_PER_S)
		return;
	eadm_accuse(j, now, "%" PRIu64 " pause %s received within %s; each delays transmission by the device",
		    pauses, eadm_plural(pauses, "frame was", "frames were"),
		    diag_interval(now, then, age, sizeof(age)));
	eadm_cite(j, DIAG_LINK, now, LINK_NETDEV);
	eadm_cite(j, DIAG_LINK, now, LINK_PFC);
	eadm_cite_growth(j, DIAG_LINK, now, then, LINK_RX_PAUSES);
	eadm_cite_growth(j, DIAG_LINK, now, then, LINK_RX_PFC);
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at;

	for (at = words; len && (at = strstr(at, word)); at += len) {
		if ((at == words || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

/*
 * The transition to RTR requires the neighbour's address: without it, the QP stays in
 * INIT.
 */
static bool stays_in_init(struct judge *j, const struct diag_row *qp)
{
	const struct diag_row *then = eadm_judge_earlier(j, DIAG_QP, qp);

	return diag_u64(qp, QP_TYPE) != EADM_QP_TYPE_UD &&
	       diag_u64(qp, QP_STATE) == EADM_QP_STATE_INIT &&
	       diag_has(then, QP_STATE) && diag_same(qp, then, QP_STATE);
}

static void look_neighbours(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	struct diag_rows qps = eadm_diag_of(eadm_judge_now(j), DIAG_QP, now->dev);
	const char *words = diag_text(now, LINK_UNRESOLVED);
	const struct diag_row *lost = NULL, *stays = NULL;
	const char *netdev = diag_text(now, LINK_NETDEV);
	char name[96];
	size_t i;

	(void)then;
	for (i = 0; *words && i < qps.n; i++) {
		if (has_word(words, diag_text(&qps.row[i], QP_PEER_ADDR)))
			lost = &qps.row[i];
		else if (stays_in_init(j, &qps.row[i]))
			stays = &qps.row[i];
	}
	if (lost) {
		eadm_accuse(j, now, "neighbour resolution on %s fails for %s, the peer of %s",
			    netdev, diag_text(lost, QP_PEER_ADDR),
			    eadm_qp_text(lost, name, sizeof(name)));
		eadm_judge_severity(j, EADM_SEVERITY_WARNING);
	} else if (stays) {
		eadm_accuse(j, now, "neighbour resolution on %s fails for %.120s, and %s stays in INIT: ibv_modify_qp to RTR fails with 110 (Connection timed out) for such an address",
			    netdev, words,
			    eadm_qp_text(stays, name, sizeof(name)));
	} else {
		return;
	}
	eadm_cite(j, DIAG_LINK, now, LINK_NETDEV);
	eadm_cite(j, DIAG_LINK, now, LINK_UNRESOLVED);
	eadm_cite(j, DIAG_QP, lost ? lost : stays, QP_STATE);
	eadm_cite(j, DIAG_QP, lost ? lost : stays, QP_PID);
	eadm_cite(j, DIAG_QP, lost ? lost : stays, QP_COMM);
}

static void look_health(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	uint64_t errors = diag_u64(now, HEALTH_ERRORS);

	(void)then;
	if (!diag_has(now, HEALTH_STATE) ||
	    diag_u64(now, HEALTH_STATE) != EADM_HEALTH_STATE_ERROR)
		return;
	eadm_accuse(j, now, "health reporter %s: a fault from which the driver has not recovered (%" PRIu64 " %s, %" PRIu64 " recovered)",
		    diag_text(now, HEALTH_REPORTER), errors,
		    eadm_plural(errors, "fault", "faults"),
		    diag_u64(now, HEALTH_RECOVERIES));
	eadm_cite(j, DIAG_HEALTH, now, HEALTH_ERRORS);
	eadm_cite(j, DIAG_HEALTH, now, HEALTH_RECOVERIES);
	eadm_cite(j, DIAG_HEALTH, now, HEALTH_AUTO);
}

const struct eadm_rule eadm_rules_link[] = {
	{
		.name = "link-errors", .kind = DIAG_LINK, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "The network interface of a device loses packets.",
		.cause = "If there are errors, a cable or port is faulty; if packets are missed, the machine processes them too slowly.",
		.next = "eadm dump link -d {dev}; eadm stat --live link -d {dev}",
		.alike = "Packets of unsupported protocols, which the kernel counts as dropped, do not count. Old errors are ignored; only an increase of at least ten errors counts.",
		.look = look_errors,
	}, {
		.name = "paused", .kind = DIAG_LINK, .two = true,
		.severity = EADM_SEVERITY_WARNING,
		.help = "A switch or the peer uses pause frames or priority flow control to stop a device from sending.",
		.cause = "A receiver, which may be several switches away, processes packets too slowly, or the network is congested.",
		.next = "eadm dump link -d {dev}; follow the pause frames from switch to switch to the port where they begin",
		.alike = "Short bursts of pause frames are normal flow control when many hosts send to one receiver: fewer than 300 frames per second do not count.",
		.look = look_paused,
	}, {
		.name = "neighbour-failed", .kind = DIAG_LINK, .two = true,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "An address in the device's network cannot be resolved while a QP that may need it is waiting; the verdict is a warning if the address is that of a QP's peer.",
		.cause = "The peer's machine is down, its address is wrong or belongs to another network, or ARP or neighbour discovery is blocked.",
		.next = "ip neigh show dev {netdev}; ip route get ADDRESS; eadm diagnose; run the same commands on the peer",
		.alike = "Addresses that are unreachable for other programs do not count unless a QP is in INIT in both samples, and no longer count after ten minutes. A server that keeps QPs in INIT looks the same, because the peers of these QPs are not shown, so the verdict is only a notice.",
		.look = look_neighbours,
	}, {
		.name = "health-reporter", .kind = DIAG_HEALTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "A health reporter of the driver reports a fault from which it has not recovered.",
		.cause = "The firmware or hardware is at fault, or recovery failed or is disabled.",
		.next = "devlink health show; devlink health dump show HANDLE reporter NAME, with the handle and the name that it shows; dmesg | grep {driver}",
		.alike = "A fault from which the driver has recovered is excluded, because the reporter is healthy again.",
		.look = look_health,
	},
	{ 0 }
};
