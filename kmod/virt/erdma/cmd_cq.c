// SPDX-License-Identifier: GPL-2.0-only
/* Commands for completion queues (hw 4.6). */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "ev.h"

static enum ev_syndrome map_ring(struct ev_adapter *ad, struct ev_cq *cq,
				 const struct erdma_cmd_create_cq *req)
{
	u32 cfg1 = le32_to_cpu(req->cfg1);
	u32 count = FIELD_GET(ERDMA_CREATE_CQ1_MTT_CNT, cfg1);
	u8 shift = FIELD_GET(ERDMA_CREATE_CQ0_PAGE_SIZE,
			     le32_to_cpu(req->cfg0)) + ERDMA_HW_PAGE_SHIFT;
	u32 off = le32_to_cpu(req->first_page_offset);
	u64 len = (u64)cq->depth * ERDMA_CQE_SIZE;
	__le64 entry = cpu_to_le64(cq->addr);
	int ret;

	if (off % ERDMA_CQE_SIZE)
		return EV_INVALID;
	/* A single page is direct, regardless of the table bit (hw 4.6). */
	if (count == 1) {
		if (cq->addr % ERDMA_CQE_SIZE)
			return EV_INVALID;
		ret = ev_mtt_map_ring(ad, &cq->ring, &entry, 1, shift, off,
				      len);
	} else if (cfg1 & ERDMA_CREATE_CQ1_MTT_TABLE) {
		ret = ev_mtt_map_ring_table(ad, &cq->ring, cq->addr, count,
					    shift, off, len);
	} else {
		ret = -EINVAL;
	}
	return ev_syndrome_of(ret);
}

static enum ev_syndrome cq_setup(struct ev_adapter *ad, struct ev_cq *cq,
				 const struct erdma_cmd_create_cq *req)
{
	u32 cfg0 = le32_to_cpu(req->cfg0);
	u32 cfg1 = le32_to_cpu(req->cfg1);
	u32 log2 = FIELD_GET(ERDMA_CREATE_CQ0_DEPTH, cfg0);

	cq->ad = ad;
	cq->cqn = FIELD_GET(ERDMA_CREATE_CQ0_CQN, cfg0);
	cq->eqn = FIELD_GET(ERDMA_CREATE_CQ1_EQN, cfg1);
	if (log2 > ad->params.max_cqe)
		return EV_RANGE;
	if (cq->eqn == ERDMA_EQN_CMDQ || cq->eqn >= ERDMA_MAX_VECTORS)
		return EV_RANGE;
	if (!ad->eq[cq->eqn].exists)
		return EV_NO_OBJECT;
	cq->depth = BIT(log2);
	cq->addr = (u64)le32_to_cpu(req->addr_h) << 32 |
		   le32_to_cpu(req->addr_l);
	cq->dbrec_addr = le64_to_cpu(req->dbrec);
	cq->dbrec = vdev_dma_record(&ad->vdev, cq->dbrec_addr);
	if (!cq->dbrec)
		return EV_BAD_ADDRESS;
	/*
	 * The record may have any value until the driver receives our response, even the value of a
	 * later arm. A stale arm that is still present at the first entry causes an extra event,
	 * which is harmless.
	 */
	cq->db = 0;
	if (cfg1 & ERDMA_CREATE_CQ1_DB_CFG)
		cq->db_page = FIELD_GET(ERDMA_CREATE_CQ2_DB_PAGE,
					le32_to_cpu(req->cfg2));
	return map_ring(ad, cq, req);
}

enum ev_syndrome ev_cmd_create_cq(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_create_cq *req = (void *)cmd->req;
	u32 cqn = FIELD_GET(ERDMA_CREATE_CQ0_CQN, le32_to_cpu(req->cfg0));
	enum ev_syndrome ret;
	struct ev_cq *cq;

	if (!cqn || cqn >= ev_max_cq(ad))
		return EV_RANGE;
	if (ev_cq_find(ad, cqn))
		return EV_EXISTS;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return EV_NO_MEMORY;
	INIT_LIST_HEAD(&cq->watch);
	spin_lock_init(&cq->lock);
	ret = cq_setup(ad, cq, req);
	if (!ret && xa_is_err(xa_store(&ad->cqs, cqn, cq, GFP_KERNEL)))
		ret = EV_NO_MEMORY;
	if (ret)
		ev_cq_free(cq);
	return ret;
}

enum ev_syndrome ev_cmd_destroy_cq(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_destroy_cq *req = (void *)cmd->req;
	u32 cqn = le32_to_cpu(req->cqn);
	struct ev_cq *cq;

	if (cqn >= ev_max_cq(ad))
		return EV_RANGE;
	cq = ev_cq_find(ad, cqn);
	if (!cq)
		return EV_NO_OBJECT;
	if (cq->users)
		return EV_BUSY;
	xa_erase(&ad->cqs, cqn);
	ev_cq_free(cq);
	return EV_OK;
}
