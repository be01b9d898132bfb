// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues and their events (hw 8, 9.3).
 *
 * The consumer index in the doorbell may lag behind, so it is not used to check for room. Processes
 * create CQs as deep as the queues whose completions the CQs receive.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "efv.h"

/**
 * efv_cq_free() - free a CQ that is no longer in any table
 * @cq: CQ
 *
 * Context: efv_fabric held for writing.
 */
void efv_cq_free(struct efv_cq *cq)
{
	list_del(&cq->link);
	vdev_buf_unmap(&cq->ring);
	kfree(cq);
}

/* Sends the event if it is due, see efv.h. */
static bool evaluate(struct efv_cq *cq)
{
	u32 db;

	lockdep_assert_held(&cq->lock);
	if (!cq->events)
		return false;
	db = efv_db_read(cq->ad, cq->db);
	if (!db || FIELD_GET(EFA_CQ_DB_SEQ, db) != (cq->sent & FIELD_MAX(EFA_CQ_DB_SEQ)) ||
	    (s16)(cq->written - FIELD_GET(EFA_CQ_DB_CI, db)) <= 0)
		return false;
	cq->sent++;
	efv_eq_post(cq->ad, cq->eqn, cq->cqn);
	/* The process counts both events, and requests the next event with the resulting number. */
	if (efv_fault_hit(cq->ad, EFV_FAULT_EQE_DUPLICATE, cq->cqn, NULL)) {
		cq->sent++;
		efv_eq_post(cq->ad, cq->eqn, cq->cqn);
	}
	return true;
}

static void damage(struct efv_cq *cq, struct efa_cqe *cqe)
{
	struct efv_adapter *ad = cq->ad;
	u64 arg;

	if (efv_fault_hit(ad, EFV_FAULT_CQE_STATUS, cq->cqn, &arg))
		cqe->status = arg;
	if (efv_fault_hit(ad, EFV_FAULT_CQE_OPCODE, cq->cqn, &arg))
		cqe->flags = (cqe->flags & ~EFA_CQE_OP) |
			     FIELD_PREP(EFA_CQE_OP, arg & FIELD_MAX(EFA_CQE_OP));
	if (efv_fault_hit(ad, EFV_FAULT_CQE_QPN, cq->cqn, &arg))
		cqe->qpn = cpu_to_le16(arg);
	if (efv_fault_hit(ad, EFV_FAULT_CQE_PHASE, cq->cqn, NULL))
		cqe->flags ^= EFA_CQE_PHASE;
}

static void write_entry(struct efv_cq *cq, u16 sub, const struct efa_cqe *from)
{
	u32 pi = cq->pi[sub], place = sub * cq->depth + (pi & (cq->depth - 1));
	void *to = vdev_buf_at(&cq->ring, (u64)place * cq->size);
	struct efa_cqe cqe = *from;

	cqe.flags |= efv_phase(pi, cq->depth);
	damage(cq, &cqe);
	memcpy(to + sizeof(u32), (void *)&cqe + sizeof(u32), cq->size - sizeof(u32));
	/* This word contains the phase; pairs with the process's read. */
	smp_store_release((u32 *)to, *(u32 *)&cqe);
	cq->pi[sub]++;
	cq->written++;
}

/**
 * efv_cq_post() - write a completion
 * @cq: CQ
 * @sub: part of the CQ
 * @cqe: the completion, without the phase
 *
 * Context: efv_fabric held.
 */
void efv_cq_post(struct efv_cq *cq, u16 sub, const struct efa_cqe *cqe)
{
	struct efv_adapter *ad = cq->ad;

	if (!vdev_dma_begin(&ad->vdev))
		return;
	spin_lock(&cq->lock);
	if (efv_fault_hit(ad, EFV_FAULT_CQE_LOST, cq->cqn, NULL))
		goto out;
	if (cq->pi[sub] && efv_fault_hit(ad, EFV_FAULT_CQ_OVERRUN, cq->cqn, NULL))
		cq->pi[sub]--;
	write_entry(cq, sub, cqe);
	if (efv_fault_hit(ad, EFV_FAULT_CQE_DUPLICATE, cq->cqn, NULL))
		write_entry(cq, sub, cqe);
	/*
	 * Write the entry, then read the doorbell: the process writes the doorbell, then reads
	 * entries.
	 */
	smp_mb();
	evaluate(cq);
out:
	spin_unlock(&cq->lock);
	vdev_dma_end(&ad->vdev);
}

/**
 * efv_cq_poll() - poll doorbells of CQs with entries
 * @ad: running adapter
 *
 * Context: efv_fabric held for reading.
 * Return: true if an event was sent.
 */
bool efv_cq_poll(struct efv_adapter *ad)
{
	struct efv_cq *cq;
	bool busy = false;

	list_for_each_entry(cq, &ad->event_cqs, link) {
		spin_lock(&cq->lock);
		busy |= evaluate(cq);
		spin_unlock(&cq->lock);
	}
	return busy;
}

static enum efa_status check(struct efv_adapter *ad, const struct efa_cmd_create_cq *cmd)
{
	u32 words = FIELD_GET(EFA_CREATE_CQ2_ENTRY_WORDS, cmd->caps2) ?: 1;
	u32 depth = le16_to_cpu(cmd->depth);
	u16 eqn = le16_to_cpu(cmd->eqn);

	/* No entry crosses a page. */
	if (!is_power_of_2(depth) || depth > ad->params.max_cq_depth ||
	    le32_to_cpu(cmd->addr_lo) % (words * sizeof(u32)))
		return EFA_ST_ILLEGAL;
	if ((words != EFA_CQE_WORDS && words != EFA_CQE_LONG_WORDS) ||
	    (cmd->caps2 & EFA_CREATE_CQ2_SRC_ADDR && words != EFA_CQE_LONG_WORDS) ||
	    cmd->caps1 & EFA_CREATE_CQ1_VIRT || le16_to_cpu(cmd->sub_cqs) != ad->params.sub_cqs)
		return EFA_ST_ILLEGAL;
	if (cmd->caps1 & EFA_CREATE_CQ1_EVENTS && (eqn >= EFV_MAX_EQ || !ad->eq[eqn].exists))
		return EFA_ST_ILLEGAL;
	return EFA_ST_SUCCESS;
}

static int map(struct efv_cq *cq, const struct efa_cmd_create_cq *cmd)
{
	return vdev_buf_map(&cq->ad->vdev, &cq->ring, efv_addr(cmd->addr_lo, cmd->addr_hi),
			    (u64)cq->depth * cq->size * cq->subs, GFP_KERNEL);
}

enum efa_status efv_cmd_create_cq(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_create_cq *cmd = req;
	struct efa_resp_create_cq *answer = resp;
	enum efa_status status = check(ad, cmd);
	struct efv_cq *cq;
	u32 cqn;

	if (status)
		return status;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return EFA_ST_NO_RESOURCE;
	cq->ad = ad;
	cq->depth = le16_to_cpu(cmd->depth);
	cq->size = FIELD_GET(EFA_CREATE_CQ2_ENTRY_WORDS, cmd->caps2) * sizeof(u32);
	cq->subs = ad->params.sub_cqs;
	cq->uar = le16_to_cpu(cmd->uar);
	cq->eqn = le16_to_cpu(cmd->eqn);
	cq->events = cmd->caps1 & EFA_CREATE_CQ1_EVENTS;
	cq->src_addr = cmd->caps2 & EFA_CREATE_CQ2_SRC_ADDR;
	spin_lock_init(&cq->lock);
	INIT_LIST_HEAD(&cq->link);
	status = efv_status_of(map(cq, cmd));
	if (status)
		goto free_cq;
	status = EFA_ST_NO_RESOURCE;
	cq->db = efv_db_alloc(ad, cq->uar);
	if (cq->db == EFV_NO_SPACE)
		goto free_cq;
	if (xa_alloc_cyclic(&ad->cqs, &cqn, cq, XA_LIMIT(0, ad->params.max_cq - 1), &ad->next_cq,
			    GFP_KERNEL) < 0)
		goto free_db;
	cq->cqn = cqn;
	if (cq->events)
		list_add(&cq->link, &ad->event_cqs);
	answer->cqn = cpu_to_le16(cqn);
	answer->depth = cmd->depth;
	answer->db = cpu_to_le32(cq->db);
	answer->flags = cpu_to_le32(EFA_RESP_CQ_DB_VALID);
	return EFA_ST_SUCCESS;

free_db:
	efv_db_free(ad, cq->uar, cq->db);
free_cq:
	efv_cq_free(cq);
	return status;
}

enum efa_status efv_cmd_destroy_cq(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_number *cmd = req;
	u16 cqn = le16_to_cpu(cmd->number);
	struct efv_cq *cq = xa_load(&ad->cqs, cqn);

	if (!cq)
		return EFA_ST_ILLEGAL;
	if (cq->users)
		return EFA_ST_BUSY;
	xa_erase(&ad->cqs, cqn);
	efv_db_free(ad, cq->uar, cq->db);
	efv_cq_free(cq);
	return EFA_ST_SUCCESS;
}
