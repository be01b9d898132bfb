// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues (hw 7).
 *
 * All kernel CQs ring one doorbell address, so only the doorbell record is used. It is read
 * whenever an entry has been written: the model writes the entry, then reads the record; the driver
 * writes the record, then reads entries; so one of the two sees the other's write. In addition, CQs
 * with unannounced entries are polled, because there may be no room for the event yet, and because
 * drivers may arm late, or arm for more kinds of entries, without polling again.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "ev.h"

/* Number of records read per pass of the model. */
#define WATCH_BATCH	64

/**
 * ev_cq_find() - look up a CQ
 * @ad: adapter
 * @cqn: number, any value
 *
 * Context: ev_fabric held.
 * Return: the CQ or NULL.
 */
struct ev_cq *ev_cq_find(struct ev_adapter *ad, u32 cqn)
{
	return xa_load(&ad->cqs, cqn);
}

/**
 * ev_cq_free() - free a CQ that is no longer in any table
 * @cq: CQ
 *
 * Context: ev_fabric held for writing.
 */
void ev_cq_free(struct ev_cq *cq)
{
	list_del(&cq->watch);
	vdev_buf_unmap(&cq->ring);
	kfree(cq);
}

static void note_sequence(struct ev_cq *cq, u64 db)
{
	u8 step = FIELD_GET(ERDMA_CQ_DB_IDX, db) -
		  FIELD_GET(ERDMA_CQ_DB_IDX, cq->db);

	if (!(cq->db & ERDMA_CQ_DB_ARM) || (step && step < 0x80))
		return;
	cq->out_of_order_last = step;
	cq->bad_db_ci = FIELD_GET(ERDMA_CQ_DB_CI, db);
	if (step)
		cq->out_of_order++;
	else
		cq->duplicate++;
}

/* Extends the consumer index, which has 24 bits in the doorbell, to a free-running index. */
static u32 full_index(const struct ev_cq *cq, u64 db)
{
	return cq->pi + sign_extend32(FIELD_GET(ERDMA_CQ_DB_CI, db) - cq->pi,
				      23);
}

static bool has_news(const struct ev_cq *cq, u32 pi)
{
	return (s32)(pi - cq->arm_ci) > 0;
}

/* Reads the doorbell record; sends the event of an armed CQ with new entries. */
static bool evaluate(struct ev_cq *cq)
{
	u64 db;

	lockdep_assert_held(&cq->lock);
	if (!vdev_dma_begin(&cq->ad->vdev))
		return false;
	db = le64_to_cpu(READ_ONCE(*cq->dbrec));
	vdev_dma_end(&cq->ad->vdev);
	if (db != cq->db && db & ERDMA_CQ_DB_ARM &&
	    FIELD_GET(ERDMA_CQ_DB_CQN, db) == cq->cqn) {
		note_sequence(cq, db);
		if (!ev_fault_hit(cq->ad, EV_FAULT_CQ_ARM_LOST, cq->cqn, NULL)) {
			cq->armed = true;
			cq->solicited = db & ERDMA_CQ_DB_SOL;
			cq->arm_ci = full_index(cq, db);
		}
	}
	cq->db = db;
	if (!cq->armed || !has_news(cq, cq->solicited ? cq->sol_pi : cq->pi) ||
	    !ev_eq_post(cq->ad, &cq->ad->eq[cq->eqn],
			FIELD_PREP(ERDMA_CEQE_PI, cq->pi) |
			FIELD_PREP(ERDMA_CEQE_CQN, cq->cqn), 0))
		return false;
	cq->armed = false;
	return true;
}

static void watch(struct ev_cq *cq)
{
	struct ev_adapter *ad = cq->ad;

	/* Without new entries, a check at the next entry is sufficient. */
	if (cq->armed && !has_news(cq, cq->pi))
		return;
	spin_lock(&ad->watch_lock);
	if (list_empty(&cq->watch))
		list_add_tail(&cq->watch, &ad->cq_watch);
	spin_unlock(&ad->watch_lock);
}

/* Puts the CQ into the error state: it receives no more entries, and its QPs are stopped soon. */
static void die(struct ev_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	cq->dead = true;
	WRITE_ONCE(cq->ad->cq_died, true);
	ev_eq_post_async(cq->ad, cq->cqn, ERDMA_AE_CQ_ERR, 0);
}

/* Applies the knobs that corrupt the first word of an entry. */
static u32 damage(struct ev_cq *cq, u32 hdr)
{
	u64 arg;

	if (ev_fault_hit(cq->ad, EV_FAULT_CQE_OWNER, cq->cqn, NULL))
		hdr ^= ERDMA_CQE_OWNER;
	if (ev_fault_hit(cq->ad, EV_FAULT_CQE_OPCODE, cq->cqn, &arg))
		hdr = (hdr & ~ERDMA_CQE_OPCODE) |
		      FIELD_PREP(ERDMA_CQE_OPCODE,
				 arg & FIELD_MAX(ERDMA_CQE_OPCODE));
	return hdr;
}

static void write_entry(struct ev_cq *cq, const struct ev_wc *wc)
{
	struct erdma_cqe *cqe;
	u64 qpn;
	u32 hdr;

	cqe = vdev_buf_at(&cq->ring, (u64)(cq->pi & (cq->depth - 1)) *
			ERDMA_CQE_SIZE);
	cqe->qe_idx = cpu_to_be32(wc->index);
	if (!ev_fault_hit(cq->ad, EV_FAULT_CQE_QPN, cq->cqn, &qpn))
		qpn = wc->qpn;
	cqe->qpn = cpu_to_be32(qpn);
	/* Immediate data is the only little-endian word. */
	if (wc->opcode == ERDMA_OP_RECV_INV)
		cqe->inv_stag = cpu_to_be32(wc->data);
	else
		cqe->imm = cpu_to_le32(wc->data);
	cqe->byte_cnt = cpu_to_be32(wc->bytes);
	hdr = FIELD_PREP(ERDMA_CQE_OPCODE, wc->opcode) |
	      FIELD_PREP(ERDMA_CQE_QTYPE, wc->qtype) |
	      FIELD_PREP(ERDMA_CQE_SYNDROME, wc->syndrome);
	if (!(cq->pi & cq->depth))
		hdr |= ERDMA_CQE_OWNER;
	hdr = damage(cq, hdr);
	/* The owner bit makes the entry valid; pairs with the driver's read. */
	smp_store_release(&cqe->hdr, cpu_to_be32(hdr));
	cq->pi++;
	if (wc->solicited || wc->syndrome)
		cq->sol_pi = cq->pi;
}

/**
 * ev_cq_post() - write a completion
 * @cq: CQ
 * @wc: the completion
 *
 * Context: ev_fabric held.
 */
void ev_cq_post(struct ev_cq *cq, const struct ev_wc *wc)
{
	struct ev_adapter *ad = cq->ad;

	if (!vdev_dma_begin(&ad->vdev))
		return;
	spin_lock(&cq->lock);
	if (cq->dead || ev_fault_hit(ad, EV_FAULT_CQE_LOST, cq->cqn, NULL))
		goto out;
	if (ev_fault_hit(ad, EV_FAULT_CQ_OVERRUN, cq->cqn, NULL)) {
		die(cq);
		goto out;
	}
	write_entry(cq, wc);
	if (ev_fault_hit(ad, EV_FAULT_CQE_DUPLICATE, cq->cqn, NULL))
		write_entry(cq, wc);
	/* Write the entry, then read the record: see above. */
	smp_mb();
	evaluate(cq);
	watch(cq);
out:
	spin_unlock(&cq->lock);
	vdev_dma_end(&ad->vdev);
}

/**
 * ev_cq_poll_faults() - put CQs that a fault affects into the error state
 * @ad: running adapter
 *
 * Context: ev_fabric held for reading.
 */
void ev_cq_poll_faults(struct ev_adapter *ad)
{
	unsigned long index;
	struct ev_cq *cq;

	xa_for_each(&ad->cqs, index, cq) {
		spin_lock(&cq->lock);
		if (!cq->dead && ev_fault_hit(ad, EV_FAULT_AEQ_CQ_ERROR,
					      cq->cqn, NULL))
			die(cq);
		spin_unlock(&cq->lock);
	}
}

/**
 * ev_cq_poll() - poll for late arms of CQs
 * @ad: running adapter
 *
 * Context: ev_fabric held for reading.
 * Return: true if an event was sent.
 */
bool ev_cq_poll(struct ev_adapter *ad)
{
	struct ev_cq *cq, *first = NULL;
	bool busy = false;
	unsigned int n;

	if (!vdev_may_access(&ad->vdev))
		return false;
	for (n = 0; n < WATCH_BATCH; n++) {
		spin_lock(&ad->watch_lock);
		cq = list_first_entry_or_null(&ad->cq_watch, struct ev_cq,
					      watch);
		if (cq && cq != first)
			list_del_init(&cq->watch);
		spin_unlock(&ad->watch_lock);
		if (!cq || cq == first)
			break;
		if (!first)
			first = cq;
		spin_lock(&cq->lock);
		busy |= evaluate(cq);
		watch(cq);
		spin_unlock(&cq->lock);
	}
	return busy;
}
