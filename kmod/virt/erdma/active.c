// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which QPs are looked at, and when.
 *
 * Nobody tells that a doorbell record was written, so the records of all QPs in
 * RTS or stopped are looked at: the active ones in every pass, the others so
 * that each has its turn within a fixed time, however many there are. A QP goes
 * to the others when it was without work for a while, unless there are so few
 * active ones that it does not matter.
 *
 * A QP that waits, for a receive or its partner, has work without being busy:
 * the model's thread may sleep between two looks at it.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sizes.h>

#include "ev.h"

/* What one QP may move before the next has its turn. */
#define TURN_BYTES	SZ_256K
/* Then commands and everything else have theirs. */
#define PASS_NS		(500 * NSEC_PER_USEC)

/* All others are looked at within this time; the longer when all is quiet. */
#define SWEEP_NS	(8 * NSEC_PER_MSEC)
#define QUIET_SWEEP_NS	(32 * NSEC_PER_MSEC)
#define QUIET_MSECS	100

#define ACTIVE_ALWAYS	8
#define ACTIVE_MSECS	20

static bool is_stopped(const struct ev_qp *qp)
{
	return READ_ONCE(qp->state) >= ERDMA_QPS_CLOSING;
}

static bool was_rung(const struct ev_qp *qp, const struct ev_wq *wq)
{
	return (u16)ev_wq_record(wq) != READ_ONCE(wq->pi);
}

/* Without the lock: a change that is missed is seen the next time. */
static bool has_work(const struct ev_qp *qp)
{
	if (is_stopped(qp))
		return was_rung(qp, &qp->sq) || was_rung(qp, &qp->rq);
	return READ_ONCE(qp->sq.ci) != READ_ONCE(qp->sq.pi) ||
	       was_rung(qp, &qp->sq);
}

/**
 * ev_qp_is_stalled() - does a fault keep a QP from working?
 * @qp: QP in RTS
 *
 * Context: @qp->link, or ev_fabric for writing, held.
 */
bool ev_qp_is_stalled(struct ev_qp *qp)
{
	ktime_t now;
	u64 ms;

	if (ev_fault_hit(qp->ad, EV_FAULT_QP_STALL, qp->qpn, &ms))
		qp->stall_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
	if (likely(!qp->stall_until))
		return false;
	now = ktime_get();
	if (ktime_before(now, qp->stall_until))
		return true;
	qp->stall_until = 0;
	return false;
}

/* Returns whether there was progress. One thread at a time is enough. */
static bool serve(struct ev_qp *qp)
{
	bool progress;

	if (!mutex_trylock(qp->link))
		return false;
	if (is_stopped(qp)) {
		progress = ev_qp_flush(qp);
	} else if (ev_qp_is_stalled(qp)) {
		/* It hears what it does not do. */
		progress = ev_wq_update(qp, &qp->sq);
	} else {
		progress = ev_wq_update(qp, &qp->sq);
		progress |= ev_sq_run(qp, TURN_BYTES);
	}
	mutex_unlock(qp->link);
	return progress;
}

/*
 * The partner on another adapter is served along: this thread is awake, the
 * other's may not be.
 */
static bool serve_pair(struct ev_qp *qp)
{
	struct ev_qp *peer = qp->peer;
	bool progress = false;

	if (has_work(qp))
		progress = serve(qp);
	if (peer && peer->ad != qp->ad && ev_qp_is_served(peer) &&
	    has_work(peer))
		progress |= serve(peer);
	return progress;
}

static void set_active(struct ev_qp *qp, bool active)
{
	struct ev_adapter *ad = qp->ad;

	lockdep_assert_held(&ad->qp_lock);
	if (qp->active == active)
		return;
	qp->active = active;
	list_move_tail(&qp->poll, active ? &ad->qp_active : &ad->qp_idle);
	ad->qps_idle += active ? -1 : 1;
	ad->qps_active += active ? 1 : -1;
}

/* Puts the one that is next at the end of its list. */
static struct ev_qp *next(struct ev_adapter *ad, struct list_head *list)
{
	struct ev_qp *qp;

	spin_lock(&ad->qp_lock);
	qp = list_first_entry_or_null(list, struct ev_qp, poll);
	if (qp)
		list_move_tail(&qp->poll, list);
	spin_unlock(&ad->qp_lock);
	return qp;
}

static void had_work(struct ev_qp *qp)
{
	if (qp->active) {
		WRITE_ONCE(qp->last_work, jiffies);
		return;
	}
	spin_lock(&qp->ad->qp_lock);
	qp->last_work = jiffies;
	set_active(qp, true);
	spin_unlock(&qp->ad->qp_lock);
}

static void had_none(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	if (READ_ONCE(ad->qps_active) <= ACTIVE_ALWAYS ||
	    !time_after(jiffies, READ_ONCE(qp->last_work) +
			msecs_to_jiffies(ACTIVE_MSECS)))
		return;
	spin_lock(&ad->qp_lock);
	set_active(qp, false);
	spin_unlock(&ad->qp_lock);
}

static bool serve_active(struct ev_adapter *ad, u64 now)
{
	unsigned int n = READ_ONCE(ad->qps_active);
	bool progress = false;
	struct ev_qp *qp;

	while (n--) {
		qp = next(ad, &ad->qp_active);
		if (!qp)
			break;
		if (!serve_pair(qp)) {
			had_none(qp);
			continue;
		}
		had_work(qp);
		progress = true;
		if (ktime_get_ns() - now > PASS_NS)
			break;
	}
	return progress;
}

/* How many of the idle ones are due after the time since the last look. */
static unsigned int due(struct ev_adapter *ad, u64 now)
{
	bool quiet = time_after(jiffies, READ_ONCE(ad->vdev.served) +
				msecs_to_jiffies(QUIET_MSECS));
	unsigned int idle, n = 0;
	s64 since;

	if (!READ_ONCE(ad->qps_idle))
		return 0;
	spin_lock(&ad->qp_lock);
	idle = ad->qps_idle;
	since = now - ad->swept;
	if (since > 0)
		n = min_t(u64, idle, div_u64((u64)since * idle, quiet ?
					     QUIET_SWEEP_NS : SWEEP_NS));
	if (n)
		ad->swept = now;
	spin_unlock(&ad->qp_lock);
	return n;
}

static bool sweep_idle(struct ev_adapter *ad, u64 now)
{
	unsigned int n = due(ad, now);
	bool progress = false;
	struct ev_qp *qp;

	while (n--) {
		qp = next(ad, &ad->qp_idle);
		if (!qp)
			break;
		if (!serve_pair(qp))
			continue;
		had_work(qp);
		progress = true;
		if (ktime_get_ns() - now > PASS_NS)
			break;
	}
	return progress;
}

/**
 * ev_qp_poll() - look for doorbells and do the work
 * @ad: adapter; without QPs unless it runs
 *
 * Context: ev_fabric held for reading. May be called by several threads.
 * Return: whether there was something to do.
 */
bool ev_qp_poll(struct ev_adapter *ad)
{
	u64 now = ktime_get_ns();
	bool progress;

	if (!vdev_is_served(&ad->vdev))
		return false;
	progress = serve_active(ad, now);
	progress |= sweep_idle(ad, now);
	if (progress)
		WRITE_ONCE(ad->vdev.served, jiffies);
	return progress;
}

/**
 * ev_qp_poll_faults() - stop QPs that a fault strikes
 * @ad: running adapter
 *
 * Also those whose completion queue is in error: nobody would hear of them.
 *
 * Context: ev_fabric held for reading.
 */
void ev_qp_poll_faults(struct ev_adapter *ad)
{
	unsigned long index;
	struct ev_qp *qp;
	u64 syndrome;

	xa_for_each(&ad->qps, index, qp) {
		mutex_lock(qp->link);
		if (qp->state != ERDMA_QPS_RTS)
			;
		else if (qp->sq.cq->dead || qp->rq.cq->dead)
			ev_qp_halt(qp, ERDMA_QPS_ERROR, ERDMA_AE_QP_FATAL,
				   ERDMA_WC_GENERAL_ERR);
		else if (ev_fault_hit(ad, EV_FAULT_AEQ_QP_FATAL, qp->qpn,
				      &syndrome))
			ev_qp_halt(qp, ERDMA_QPS_ERROR, ERDMA_AE_QP_FATAL,
				   syndrome);
		mutex_unlock(qp->link);
	}
}

/**
 * ev_qp_is_served() - is a QP's adapter able to do anything?
 * @qp: QP
 *
 * Context: ev_fabric held.
 */
bool ev_qp_is_served(const struct ev_qp *qp)
{
	return vdev_is_served(&qp->ad->vdev);
}

/**
 * ev_qp_watch() - look at a QP's doorbell records from now on
 * @qp: QP that enters RTS or a stop state
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_watch(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	spin_lock(&ad->qp_lock);
	qp->last_work = jiffies;
	if (list_empty(&qp->poll)) {
		qp->active = true;
		list_add_tail(&qp->poll, &ad->qp_active);
		ad->qps_active++;
	}
	spin_unlock(&ad->qp_lock);
}

/**
 * ev_qp_unwatch() - do not look any more
 * @qp: QP that goes
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_unwatch(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	spin_lock(&ad->qp_lock);
	if (!list_empty(&qp->poll)) {
		list_del_init(&qp->poll);
		if (qp->active)
			ad->qps_active--;
		else
			ad->qps_idle--;
	}
	spin_unlock(&ad->qp_lock);
}
