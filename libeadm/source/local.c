// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests for rows about this machine, which are served from its files. */
#include <errno.h>

#include "local.h"
#include "model/fields.h"

static const struct {
	enum eadm_spec_obj object;
	eadm_local_reader *read;
} readers[] = {
	{ EADM_SPEC_OBJ_CGROUP, eadm_local_cgroups },
	{ EADM_SPEC_OBJ_CMD, eadm_local_probe_calls },
	{ EADM_SPEC_OBJ_DEV, eadm_local_device },
	{ EADM_SPEC_OBJ_EVENT, eadm_local_probe_events },
	{ EADM_SPEC_OBJ_FAILURE, eadm_local_probe_failures },
	{ EADM_SPEC_OBJ_FUNCTION, eadm_local_functions },
	{ EADM_SPEC_OBJ_GID, eadm_local_gids },
	{ EADM_SPEC_OBJ_HEALTH, eadm_local_health },
	{ EADM_SPEC_OBJ_IRQ, eadm_local_irq },
	{ EADM_SPEC_OBJ_LINK, eadm_local_link },
	{ EADM_SPEC_OBJ_MACHINE, eadm_local_machine },
	{ EADM_SPEC_OBJ_MODULE, eadm_local_module },
	{ EADM_SPEC_OBJ_PORT, eadm_local_ports },
	{ EADM_SPEC_OBJ_PORT_COUNTER, eadm_local_counters },
	{ EADM_SPEC_OBJ_PROBE, eadm_local_probe },
	{ EADM_SPEC_OBJ_PROCESS, eadm_local_process },
	{ EADM_SPEC_OBJ_QP_COUNTER, eadm_local_qp_counters },
	{ EADM_SPEC_OBJ_SETUP, eadm_local_setup },
	{ EADM_SPEC_OBJ_SMC, eadm_local_smc },
	{ EADM_SPEC_OBJ_SMC_FALLBACK, eadm_local_smc_fallbacks },
	{ EADM_SPEC_OBJ_VERBS, eadm_local_verbs },
	{ EADM_SPEC_OBJ_VERBS_USER, eadm_local_verbs_users },
};

int eadm_local_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
{
	struct eadm_answer answer = {
		.ctx = ctx, .type = query->type, .cmd = query->cmd, .seq = seq,
	};
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(readers); i++) {
		if (eadm_spec_objects[readers[i].object].cmd == query->cmd)
			break;
	}
	if (i == EADM_ARRAY_SIZE(readers))
		return eadm_fail(ctx, -EOPNOTSUPP, "no such kind of object");
	readers[i].read(&answer, query);
	return eadm_answer_stream(&answer, stream);
}
