// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work queues: doorbells and entries (hw 6).
 *
 * Drivers ring all kernel QPs at one address, so the doorbell records are used to detect posted
 * requests. A record belongs to the driver from the start and may have any value until it is first
 * written: it is valid only if it contains this QP's number and an index that is valid for the
 * ring.
 */
#include <linux/bitfield.h>

#include "ev.h"

/**
 * ev_wq_record() - read a queue's doorbell record
 * @wq: queue
 *
 * Context: any.
 * Return: its value, or 0 if memory must not be accessed.
 */
u64 ev_wq_record(const struct ev_wq *wq)
{
	return vdev_dma_peek(&wq->cq->ad->vdev, wq->dbrec);
}

/**
 * ev_wq_read() - read building blocks of a queue
 * @wq: queue
 * @index: index of the first building block, free-running
 * @to: destination
 * @size: size in bytes
 *
 * Context: any.
 * Return: false if memory must not be accessed.
 */
bool ev_wq_read(const struct ev_wq *wq, u16 index, void *to, u32 size)
{
	u32 off, part;

	if (!vdev_dma_begin(&wq->cq->ad->vdev))
		return false;
	for (off = 0; off < size; off += part, index++) {
		part = min_t(u32, size - off, ERDMA_WQEBB_SIZE);
		memcpy(to + off, vdev_buf_at(&wq->ring, (u64)(index & (wq->depth - 1)) *
					   ERDMA_WQEBB_SIZE), part);
	}
	vdev_dma_end(&wq->cq->ad->vdev);
	return true;
}

/**
 * ev_wq_advance() - record an index given by the driver
 * @wq: queue
 * @pi: producer index
 *
 * Context: see ev_wq_update().
 * Return: true if the index is newer than the known index, and valid for the ring.
 */
bool ev_wq_advance(struct ev_wq *wq, u16 pi)
{
	if (pi == wq->pi || (u16)(pi - wq->ci) > wq->depth ||
	    (u16)(pi - wq->pi) > wq->depth)
		return false;
	wq->pi = pi;
	return true;
}

/* A lost doorbell stays lost until the next doorbell. */
static bool is_lost(struct ev_qp *qp, struct ev_wq *wq, u16 pi)
{
	enum ev_fault_id id = wq == &qp->sq ? EV_FAULT_SQ_DB_LOST :
			      EV_FAULT_RQ_DB_LOST;

	if (wq->deaf && wq->deaf_pi == pi)
		return true;
	wq->deaf = pi != wq->pi && !ev_qp_is_stopped(qp) &&
		   ev_fault_hit(qp->ad, id, qp->qpn, NULL);
	wq->deaf_pi = pi;
	return wq->deaf;
}

/**
 * ev_wq_update() - read the doorbell record
 * @qp: QP
 * @wq: one of its queues
 *
 * Context: ev_fabric and @qp->link held, or ev_fabric for writing.
 * Return: true if anything was posted.
 */
bool ev_wq_update(struct ev_qp *qp, struct ev_wq *wq)
{
	u64 db = ev_wq_record(wq);
	u32 qpn = wq == &qp->sq ? FIELD_GET(ERDMA_SQ_DB_QPN, db) :
		  FIELD_GET(ERDMA_RQ_DB_QPN, db);
	u16 pi = FIELD_GET(ERDMA_SQ_DB_PI, db);

	if (qpn != qp->qpn || is_lost(qp, wq, pi) || !ev_wq_advance(wq, pi))
		return false;
	atomic64_inc(&qp->ad->vdev.counters.doorbells);
	/* Pairs with the driver's barrier before the record. */
	smp_rmb();
	return true;
}
