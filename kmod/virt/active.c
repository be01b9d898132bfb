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

/* Returns whether there was progress. */
static bool serve(struct ev_qp *qp)
{
	bool progress;

	mutex_lock(qp->link);
	if (is_stopped(qp)) {
		progress = ev_qp_flush(qp);
	} else {
		progress = ev_wq_update(qp, &qp->sq);
		progress |= ev_sq_run(qp, TURN_BYTES);
	}
	mutex_unlock(qp->link);
	return progress;
}

/*
 * The partner on another adapter is served along: this thread is awake, the
 * other may not be.
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

static void set_active(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	if (qp->active)
		return;
	qp->active = true;
	list_move_tail(&qp->poll, &ad->qp_active);
	ad->qps_idle--;
	ad->qps_active++;
}

static void set_idle(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	qp->active = false;
	list_move_tail(&qp->poll, &ad->qp_idle);
	ad->qps_active--;
	ad->qps_idle++;
}

static bool serve_active(struct ev_adapter *ad, u64 now)
{
	unsigned int n = ad->qps_active;
	bool progress = false;
	struct ev_qp *qp;

	while (n--) {
		qp = list_first_entry(&ad->qp_active, struct ev_qp, poll);
		list_move_tail(&qp->poll, &ad->qp_active);
		if (serve_pair(qp)) {
			progress = true;
			qp->last_work = jiffies;
			if (ktime_get_ns() - now > PASS_NS)
				break;
		} else if (ad->qps_active > ACTIVE_ALWAYS &&
			   time_after(jiffies, qp->last_work +
				      msecs_to_jiffies(ACTIVE_MSECS))) {
			set_idle(qp);
		}
	}
	return progress;
}

/* As many of the idle ones as the time since the last look demands. */
static bool sweep_idle(struct ev_adapter *ad, u64 now)
{
	bool quiet = time_after(jiffies, ad->qp_last_work +
				msecs_to_jiffies(QUIET_MSECS));
	u64 since = now - ad->swept;
	u64 n = min_t(u64, ad->qps_idle, div_u64(since * ad->qps_idle,
				       quiet ? QUIET_SWEEP_NS : SWEEP_NS));
	bool progress = false;
	struct ev_qp *qp;

	if (!n && ad->qps_idle)
		return false;
	ad->swept = now;
	while (n--) {
		qp = list_first_entry(&ad->qp_idle, struct ev_qp, poll);
		list_move_tail(&qp->poll, &ad->qp_idle);
		if (!has_work(qp) || !serve_pair(qp))
			continue;
		progress = true;
		qp->last_work = jiffies;
		set_active(qp);
		if (ktime_get_ns() - now > PASS_NS)
			break;
	}
	return progress;
}

/**
 * ev_qp_poll() - look for doorbells and do the work
 * @ad: running adapter
 *
 * Context: ev_fabric held for reading, by the model's thread.
 * Return: whether there was something to do.
 */
bool ev_qp_poll(struct ev_adapter *ad)
{
	u64 now = ktime_get_ns();
	bool progress;

	if (!ev_model_may_access(ad))
		return false;
	progress = serve_active(ad, now);
	progress |= sweep_idle(ad, now);
	if (progress)
		ad->qp_last_work = jiffies;
	return progress;
}

/**
 * ev_qp_is_served() - is a QP's adapter able to do anything?
 * @qp: QP
 *
 * Context: ev_fabric held.
 */
bool ev_qp_is_served(const struct ev_qp *qp)
{
	const struct ev_adapter *ad = qp->ad;
	ktime_t until = READ_ONCE(ad->stall_until);

	return ev_model_may_access(qp->ad) &&
	       !(until && ktime_before(ktime_get(), until));
}

/**
 * ev_qp_watch() - look at a QP's doorbell records from now on
 * @qp: QP that enters RTS or a stop state
 *
 * Context: ev_fabric held for writing, by the model's thread.
 */
void ev_qp_watch(struct ev_qp *qp)
{
	struct ev_adapter *ad = qp->ad;

	qp->last_work = jiffies;
	if (!list_empty(&qp->poll))
		return;
	qp->active = true;
	list_add_tail(&qp->poll, &ad->qp_active);
	ad->qps_active++;
}

/**
 * ev_qp_unwatch() - do not look any more
 * @qp: QP that goes
 *
 * Context: ev_fabric held for writing.
 */
void ev_qp_unwatch(struct ev_qp *qp)
{
	if (list_empty(&qp->poll))
		return;
	list_del_init(&qp->poll);
	if (qp->active)
		qp->ad->qps_active--;
	else
		qp->ad->qps_idle--;
}
