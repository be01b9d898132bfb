// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selection of the work queues to poll.
 *
 * Doorbell writes cannot be trapped, so the doorbells of all queues that may have work are polled:
 * those of active queues in every pass, those of idle queues so that each is polled within a fixed
 * time, regardless of their number. A queue becomes idle when it has had no work for a while,
 * unless only a few queues are active.
 *
 * A queue that waits for an event has work without being busy: the model's thread may sleep between
 * two polls of such a queue.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "vdev.h"

/* Maximum time before commands and all other work are served. */
#define PASS_NS		(500 * NSEC_PER_USEC)

/* All idle queues are polled within this time; the longer time applies if there is no traffic. */
#define SWEEP_NS	(8 * NSEC_PER_MSEC)
#define QUIET_SWEEP_NS	(32 * NSEC_PER_MSEC)
#define QUIET_MSECS	100

#define ACTIVE_ALWAYS	8
#define ACTIVE_MSECS	20

static void set_active(struct vdev_sched *sched, struct vdev_queue *queue, bool active)
{
	lockdep_assert_held(&sched->lock);
	if (queue->active == active)
		return;
	queue->active = active;
	list_move_tail(&queue->link, active ? &sched->active : &sched->idle);
	sched->nr_idle += active ? -1 : 1;
	sched->nr_active += active ? 1 : -1;
}

/* Returns the next queue, and moves it to the end of its list. */
static struct vdev_queue *next(struct vdev_sched *sched, struct list_head *list)
{
	struct vdev_queue *queue;

	spin_lock(&sched->lock);
	queue = list_first_entry_or_null(list, struct vdev_queue, link);
	if (queue)
		list_move_tail(&queue->link, list);
	spin_unlock(&sched->lock);
	return queue;
}

static void had_work(struct vdev_sched *sched, struct vdev_queue *queue)
{
	if (queue->active) {
		WRITE_ONCE(queue->last_work, jiffies);
		return;
	}
	spin_lock(&sched->lock);
	queue->last_work = jiffies;
	set_active(sched, queue, true);
	spin_unlock(&sched->lock);
}

static void had_none(struct vdev_sched *sched, struct vdev_queue *queue)
{
	if (!READ_ONCE(queue->active) || READ_ONCE(sched->nr_active) <= ACTIVE_ALWAYS ||
	    !time_after(jiffies, READ_ONCE(queue->last_work) +
			msecs_to_jiffies(ACTIVE_MSECS)))
		return;
	spin_lock(&sched->lock);
	set_active(sched, queue, false);
	spin_unlock(&sched->lock);
}

/* Serves up to @n queues of a list, within a time limit. */
static bool serve_some(struct vdev_sched *sched, struct list_head *list, unsigned int n,
		       vdev_queue_fn *serve, u64 now)
{
	struct vdev_queue *queue;
	bool progress = false;

	while (n--) {
		queue = next(sched, list);
		if (!queue)
			break;
		if (!serve(queue)) {
			had_none(sched, queue);
			continue;
		}
		had_work(sched, queue);
		progress = true;
		if (ktime_get_ns() - now > PASS_NS)
			break;
	}
	return progress;
}

/* Returns the number of idle queues that are due, based on the time since the last poll. */
static unsigned int due(struct vdev_sched *sched, u64 now)
{
	bool quiet = time_after(jiffies, READ_ONCE(sched->last_work) +
				msecs_to_jiffies(QUIET_MSECS));
	unsigned int idle, n = 0;
	s64 since;

	if (!READ_ONCE(sched->nr_idle))
		return 0;
	spin_lock(&sched->lock);
	idle = sched->nr_idle;
	since = now - sched->swept;
	if (since > 0)
		n = min_t(u64, idle, div_u64((u64)since * idle, quiet ?
					     QUIET_SWEEP_NS : SWEEP_NS));
	if (n)
		sched->swept = now;
	spin_unlock(&sched->lock);
	return n;
}

/**
 * vdev_queue_poll() - poll doorbells and do the work
 * @vdev: adapter; only a running adapter has queues
 * @serve: polls a queue and does some of its work; returns whether there was progress. May be
 *	called for the same queue by several threads at once
 *
 * Context: may sleep if @serve does. May be called by several threads; the family has to ensure
 * that no queue is removed in the meantime.
 * Return: true if there was any work.
 */
bool vdev_queue_poll(struct vdev *vdev, vdev_queue_fn *serve)
{
	struct vdev_sched *sched = &vdev->sched;
	u64 now = ktime_get_ns();
	bool progress;

	if (!vdev_is_served(vdev))
		return false;
	progress = serve_some(sched, &sched->active, READ_ONCE(sched->nr_active), serve, now);
	progress |= serve_some(sched, &sched->idle, due(sched, now), serve, now);
	if (progress)
		WRITE_ONCE(sched->last_work, jiffies);
	return progress;
}

/**
 * vdev_queue_init() - initialise a queue, before any other use
 * @queue: queue
 */
void vdev_queue_init(struct vdev_queue *queue)
{
	INIT_LIST_HEAD(&queue->link);
}

/**
 * vdev_queue_watch() - start polling a queue's doorbells
 * @vdev: adapter of the queue
 * @queue: queue; may already be polled
 *
 * Context: any except interrupts.
 */
void vdev_queue_watch(struct vdev *vdev, struct vdev_queue *queue)
{
	struct vdev_sched *sched = &vdev->sched;

	spin_lock(&sched->lock);
	queue->last_work = jiffies;
	if (list_empty(&queue->link)) {
		queue->active = true;
		list_add_tail(&queue->link, &sched->active);
		sched->nr_active++;
	}
	spin_unlock(&sched->lock);
}

/**
 * vdev_queue_unwatch() - stop polling a queue's doorbells
 * @vdev: adapter of the queue
 * @queue: queue that is being removed
 *
 * Context: any except interrupts; vdev_queue_poll() is not running.
 */
void vdev_queue_unwatch(struct vdev *vdev, struct vdev_queue *queue)
{
	struct vdev_sched *sched = &vdev->sched;

	spin_lock(&sched->lock);
	if (!list_empty(&queue->link)) {
		list_del_init(&queue->link);
		if (queue->active)
			sched->nr_active--;
		else
			sched->nr_idle--;
	}
	spin_unlock(&sched->lock);
}

/**
 * vdev_queue_setup() - initialise, once per adapter
 * @vdev: adapter
 */
void vdev_queue_setup(struct vdev *vdev)
{
	spin_lock_init(&vdev->sched.lock);
	INIT_LIST_HEAD(&vdev->sched.active);
	INIT_LIST_HEAD(&vdev->sched.idle);
}
