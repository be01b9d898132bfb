// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues (hw 9). All event queues share a doorbell in which the last write wins, so they
 * always count as armed; an extra interrupt is harmless.
 */
#include <linux/log2.h>

#include "efv.h"

/**
 * efv_eq_setup() - initialise, once per adapter
 * @eq: event queue
 */
void efv_eq_setup(struct efv_eq *eq)
{
	spin_lock_init(&eq->lock);
}

/**
 * efv_eq_init() - set up an event queue
 * @ad: adapter
 * @eq: event queue that does not exist yet
 * @addr: DMA address of the ring
 * @depth: number of entries
 * @vector: MSI-X vector
 *
 * Context: may sleep, efv_fabric held for writing.
 * Return: 0, -EFAULT or -ENOMEM.
 */
int efv_eq_init(struct efv_adapter *ad, struct efv_eq *eq, u64 addr, u32 depth, u8 vector)
{
	int ret = vdev_buf_map(&ad->vdev, &eq->ring, addr, (u64)depth * EFA_EQE_SIZE, GFP_KERNEL);

	if (ret)
		return ret;
	eq->depth = depth;
	eq->vector = vector;
	eq->pi = 0;
	eq->exists = true;
	return 0;
}

/**
 * efv_eq_exit() - tear down an event queue
 * @eq: event queue; need not exist
 *
 * Context: efv_fabric held for writing.
 */
void efv_eq_exit(struct efv_eq *eq)
{
	eq->exists = false;
	vdev_buf_unmap(&eq->ring);
}

/**
 * efv_eq_post() - post a completion event
 * @ad: adapter
 * @eqn: event queue, which need not exist
 * @cqn: the CQ with the completion
 *
 * Context: efv_fabric held.
 */
void efv_eq_post(struct efv_adapter *ad, u16 eqn, u16 cqn)
{
	struct efv_eq *eq = &ad->eq[eqn];
	struct efa_eqe *to;

	if (efv_fault_hit(ad, EFV_FAULT_EQE_LOST, cqn, NULL))
		return;
	spin_lock(&eq->lock);
	if (eq->exists && vdev_dma_begin(&ad->vdev)) {
		to = vdev_buf_at(&eq->ring, (eq->pi & (eq->depth - 1)) * EFA_EQE_SIZE);
		to->cqn = cpu_to_le16(cqn);
		/* Pairs with the driver's read. */
		smp_store_release(&to->hdr, cpu_to_le32(efv_phase(eq->pi, eq->depth)));
		vdev_dma_end(&ad->vdev);
		eq->pi++;
		atomic64_inc(&ad->vdev.counters.events);
		vdev_msi_raise(&ad->vdev, eq->vector);
	}
	spin_unlock(&eq->lock);
}

enum efa_status efv_cmd_create_eq(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_create_eq *cmd = req;
	struct efa_resp_number *answer = resp;
	u32 depth = le16_to_cpu(cmd->depth), i;
	int ret;

	if (!is_power_of_2(depth) || depth > EFA_EQ_MAX_DEPTH ||
	    FIELD_GET(EFA_CREATE_EQ_ENTRY_WORDS, cmd->caps) * sizeof(u32) != EFA_EQE_SIZE ||
	    cmd->vector >= ad->vdev.vectors || le32_to_cpu(cmd->addr_lo) % EFA_EQE_SIZE ||
	    le32_to_cpu(cmd->events) & ~EFA_EQ_EVENT_COMPLETION)
		return EFA_ST_ILLEGAL;
	for (i = 0; i < efv_max_eq(ad) && ad->eq[i].exists; i++)
		;
	if (i == efv_max_eq(ad))
		return EFA_ST_NO_RESOURCE;
	ret = efv_eq_init(ad, &ad->eq[i], efv_addr(cmd->addr_lo, cmd->addr_hi), depth,
			  cmd->vector);
	answer->number = cpu_to_le16(i);
	return efv_status_of(ret);
}

enum efa_status efv_cmd_destroy_eq(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_number *cmd = req;
	u16 eqn = le16_to_cpu(cmd->number);
	struct efv_cq *cq;

	if (eqn >= EFV_MAX_EQ || !ad->eq[eqn].exists)
		return EFA_ST_ILLEGAL;
	list_for_each_entry(cq, &ad->event_cqs, link)
		if (cq->eqn == eqn)
			return EFA_ST_BUSY;
	efv_eq_exit(&ad->eq[eqn]);
	return EFA_ST_SUCCESS;
}
