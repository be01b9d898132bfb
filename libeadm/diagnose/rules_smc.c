// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about SMC sockets whose connections use TCP instead of RDMA. */
#include <inttypes.h>
#include <stdio.h>

#include "eadm_nl.h"
#include "model/fields.h"
#include "rules.h"

/* Returns NULL for a reason that only a newer kernel defines. */
static const struct eadm_spec_entry *find_reason(uint64_t code)
{
	const struct eadm_spec_enum *names = eadm_object_find_field(
		&eadm_spec_objects[EADM_SPEC_OBJ_SMC_FALLBACK], "reason")->names;
	size_t i;

	for (i = 0; i < names->n_entries; i++) {
		if (names->entries[i].value == code)
			return &names->entries[i];
	}
	return NULL;
}

/* Recommends checks for reasons that an administrator can remove. */
static void advise(struct judge *j, uint64_t code)
{
	switch (code) {
	case EADM_SMC_REASON_NO_DEVICE:
	case EADM_SMC_REASON_NO_RDMA_DEVICE:
		eadm_judge_next(j, "run ip route get PEER: the RDMA device must belong to the interface that this command prints, or have the same PNET ID (smc_pnet -s); smcr device; eadm list");
		return;
	case EADM_SMC_REASON_SUBNET_MISMATCH:
	case EADM_SMC_REASON_PEER_NO_USER_EID:
		eadm_judge_next(j, "set the same enterprise ID on both hosts, for version 2 (smcr ueid add ID); ip addr");
		return;
	case EADM_SMC_REASON_CONFIRM_LINK_TIMEOUT:
	case EADM_SMC_REASON_ADD_LINK_TIMEOUT:
	case EADM_SMC_REASON_LINK_NOT_READY:
		eadm_judge_next(j, "run eadm test between the two hosts, because a firewall may drop RDMA packets; on the peer: eadm diagnose");
		return;
	case EADM_SMC_REASON_PEER_DECLINED:
		eadm_judge_next(j, "run eadm dump smc-fallback on the peer, which reports its own reason");
		return;
	case EADM_SMC_REASON_OUT_OF_MEMORY:
	case EADM_SMC_REASON_REGISTRATION_FAILED:
		eadm_judge_next(j, "check the limits of the device with eadm info; dmesg; sysctl net.smc");
		return;
	}
}

/* The kernel counts since SMC was loaded, and does not record times. */
static void look_fallback(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	uint64_t code = diag_u64(now, FALLBACK_CODE);
	uint64_t clients = diag_u64(now, FALLBACK_CLIENTS);
	uint64_t servers = diag_u64(now, FALLBACK_SERVERS);
	uint64_t recent = diag_growth(now, then, FALLBACK_CLIENTS) +
			  diag_growth(now, then, FALLBACK_SERVERS);
	const struct eadm_spec_entry *reason = find_reason(code);
	char age[32], when[64] = "";

	if (code == EADM_SMC_REASON_PEER_HAS_NO_SMC) {
		eadm_judge_remark(j, "SMC", "%" PRIu64 " %s on TCP because the peer does not support SMC, which is not a fault (eadm dump smc-fallback)",
				  clients + servers,
				  eadm_plural(clients + servers,
					      "connection was", "connections were"));
		return;
	}
	if (recent)
		snprintf(when, sizeof(when), ", %" PRIu64 " of them within %s",
			 recent, diag_interval(now, then, age, sizeof(age)));
	eadm_accuse(j, now, "%" PRIu64 " %s of SMC sockets fell back to TCP for the reason %s (0x%08" PRIx64 "): %" PRIu64 " initiated, %" PRIu64 " accepted%s",
		    clients + servers,
		    eadm_plural(clients + servers, "connection", "connections"),
		    reason ? reason->name : "unknown", code, clients, servers,
		    when);
	if (reason)
		eadm_judge_cause(j, reason->doc);
	advise(j, code);
	eadm_cite(j, DIAG_FALLBACK, now, FALLBACK_CODE);
	eadm_cite(j, DIAG_FALLBACK, now, FALLBACK_CLIENTS);
	eadm_cite(j, DIAG_FALLBACK, now, FALLBACK_SERVERS);
}

const struct eadm_rule eadm_rules_smc[] = {
	{
		.name = "smc-fallback", .kind = DIAG_FALLBACK,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "Connections of SMC sockets, which should use RDMA, fell back to TCP.",
		.cause = "The reason is unknown to this version of eadm.",
		.next = "eadm dump smc; smcss -a; look up the reason in net/smc/smc_clc.h in the kernel's source",
		.alike = "A peer that does not support SMC is not a fault; its connections, which also use TCP, are only counted in a note. Connections that use RDMA or shared memory do not count. The kernel's counts start when SMC is loaded, so the connections may already be closed.",
		.look = look_fallback,
	},
	{ 0 }
};
