// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for completion event queues (hw 4.3). The command EQ and the AEQ are set up by
 * registers.
 */
#include "ev.h"

enum ev_syndrome ev_cmd_create_eq(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_create_eq *req = (void *)cmd->req;
	u64 dbrec = (u64)le32_to_cpu(req->dbrec_h) << 32 |
		    le32_to_cpu(req->dbrec_l);

	if (req->type != ERDMA_EQ_TYPE_CEQ || req->depth_log2 > 15)
		return EV_INVALID;
	if (req->eqn == ERDMA_EQN_CMDQ || req->eqn >= ad->vdev.vectors ||
	    req->vector >= ad->vdev.vectors)
		return EV_RANGE;
	if (ad->eq[req->eqn].exists)
		return EV_EXISTS;
	return ev_syndrome_of(ev_eq_init(ad, &ad->eq[req->eqn],
					 le64_to_cpu(req->ring_addr),
					 BIT(req->depth_log2), dbrec,
					 req->vector,
					 ERDMA_REG_CEQ_DB(req->eqn)));
}

enum ev_syndrome ev_cmd_destroy_eq(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_destroy_eq *req = (void *)cmd->req;

	if (req->type != ERDMA_EQ_TYPE_CEQ)
		return EV_INVALID;
	if (req->eqn == ERDMA_EQN_CMDQ || req->eqn >= ad->vdev.vectors)
		return EV_RANGE;
	if (!ad->eq[req->eqn].exists)
		return EV_NO_OBJECT;
	ev_eq_exit(&ad->eq[req->eqn]);
	return EV_OK;
}
