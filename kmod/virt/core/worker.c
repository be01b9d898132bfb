// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's threads, and their polling intervals.
 *
 * The first thread of an adapter does all work; the other threads, one per CPU up to a limit, move
 * data as long as there is data to move. A driver may wait for a response without letting any other
 * task run on its CPU, which may be the first thread's CPU; the second thread then does all work.
 * If there is no second thread, because there is only one CPU, or if its CPU is blocked as well,
 * the hard interrupt of a timer does all work that does not sleep. A driver that spins with
 * interrupts disabled, or that waits for work that has to sleep, cannot be served.
 *
 * A thread polls continuously while there is work, then less and less often. Tasks that wait for
 * the device often spin, and would keep the model off the CPU for a whole time slice. So the
 * threads have real-time priority, and therefore have to yield time to other tasks by themselves.
 * They spin only if no other task is waiting for the CPU, neither in this kernel nor, as far as
 * they can detect, on the host: if a pause instruction takes long, a hypervisor or emulator gave
 * the time to a different task. Otherwise they sleep, longer each time. The longest sleep uses
 * the timer wheel, whose ticks all idle adapters share.
 *
 * Steady traffic would leave other tasks almost no time, because breaks are measured by a clock
 * that continues while an emulator runs a different CPU. So while tasks wait for the CPU of a
 * thread that has been busy for a long time, the thread competes with them as a normal task.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched/stat.h>

#include "vdev.h"

/* Longest time without a break; breaks are long enough (5 %) to avoid throttling. */
#define BUSY_MAX_NS		(4 * NSEC_PER_MSEC)
#define BREAK_NS		(400 * NSEC_PER_USEC)
/* Time without work that also counts as a break; shorter gaps may occur between two messages. */
#define BREAK_IDLE_NS		NSEC_PER_MSEC

#define SPIN_NS			(200 * NSEC_PER_USEC)
/* Longer than the time between two commands of a driver under an emulator. */
#define LONG_RELAX_NS		(4 * NSEC_PER_MSEC)
#define NO_SPIN_NS		(50 * NSEC_PER_MSEC)

#define SLEEP_MIN_NS		(20 * NSEC_PER_USEC)
#define SLEEP_MAX_NS		(4 * NSEC_PER_MSEC)
/* A sleep is this fraction of the idle time so far. */
#define SLEEP_SHARE		8

/* After this time without work, only the first thread polls. */
#define PARK_NS			(20 * NSEC_PER_MSEC)

/* The first thread is considered blocked after more than its longest sleep plus one tick. */
#define LATE_NS			(4 * SLEEP_MAX_NS)
/* Interval at which the timer does the first thread's work in that case. */
#define STAND_IN_NS		NSEC_PER_MSEC

static bool is_first(const struct vdev_worker *w)
{
	return w == w->vdev->worker;
}

/* Returns the time since the first thread last polled, in ns, up to LATE_NS. */
static u64 lateness(const struct vdev *vdev)
{
	u64 looked = READ_ONCE(vdev->worker[0].looked);

	return clamp_t(s64, ktime_get_ns() - looked, 0, LATE_NS);
}

static enum hrtimer_restart watch(struct hrtimer *timer)
{
	struct vdev *vdev = container_of(timer, struct vdev, watch);
	u64 late = lateness(vdev);

	/* The timer may have interrupted the holder of the turn on this CPU. */
	if (late == LATE_NS && !test_and_set_bit_lock(0, &vdev->turn)) {
		vdev_pass_atomic(vdev);
		clear_bit_unlock(0, &vdev->turn);
	}
	hrtimer_forward_now(timer, ns_to_ktime(LATE_NS - late + STAND_IN_NS));
	return HRTIMER_RESTART;
}

/* While the thread is idle, the timer does not expire, and is rarely restarted. */
static void sleep_long(struct vdev_worker *w)
{
	if (is_first(w) && hrtimer_get_remaining(&w->vdev->watch) < LATE_NS)
		hrtimer_start(&w->vdev->watch, ns_to_ktime(2 * LATE_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
	schedule_timeout(nsecs_to_jiffies(SLEEP_MAX_NS));
}

static void sleep(struct vdev_worker *w, u64 ns)
{
	ktime_t delay = ns_to_ktime(ns);

	set_current_state(TASK_IDLE);
	if (!READ_ONCE(w->wake) && !kthread_should_stop()) {
		if (ns < SLEEP_MAX_NS)
			schedule_hrtimeout_range(&delay, ns / 4,
						 HRTIMER_MODE_REL);
		else
			sleep_long(w);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(w->wake, false);
}

static void be_fair(struct vdev_worker *w, bool fair)
{
	if (w->fair == fair)
		return;
	w->fair = fair;
	if (fair)
		sched_set_normal(current, 0);
	else
		sched_set_fifo_low(current);
}

static void after_work(struct vdev_worker *w)
{
	w->worked = ktime_get_ns();
	WRITE_ONCE(w->looked, w->worked);
	if (!w->busy_since) {
		w->busy_since = w->worked;
	} else if (w->worked - w->busy_since > BUSY_MAX_NS && !w->fair) {
		if (single_task_running()) {
			sleep(w, BREAK_NS);
			w->busy_since = 0;
		} else {
			be_fair(w, true);
		}
	}
	cond_resched();
}

/* Returns the time since work was last found. */
static u64 without_work(struct vdev_worker *w)
{
	u64 now = ktime_get_ns();
	u64 idle = now - w->worked;
	u64 relaxed;

	WRITE_ONCE(w->looked, now);
	if (idle > BREAK_IDLE_NS) {
		w->busy_since = 0;
		be_fair(w, false);
	}
	if (idle < SPIN_NS && now >= w->no_spin_until &&
	    single_task_running()) {
		cpu_relax();
		relaxed = ktime_get_ns() - now;
		if (relaxed > LONG_RELAX_NS)
			w->no_spin_until = now + relaxed + NO_SPIN_NS;
		return idle;
	}
	sleep(w, clamp_t(u64, idle / SLEEP_SHARE, SLEEP_MIN_NS, SLEEP_MAX_NS));
	return idle;
}

/* Called only by the first thread, which is stopped before the others. */
static void rouse_others(struct vdev *vdev)
{
	unsigned int i;

	if (time_after(jiffies, READ_ONCE(vdev->sched.last_work) + 1))
		return;
	for (i = 1; i < VDEV_MAX_WORKERS; i++)
		if (READ_ONCE(vdev->worker[i].parked))
			wake_up_process(vdev->worker[i].thread);
}

static int do_everything(void *data)
{
	struct vdev_worker *w = data;
	bool busy;

	sched_set_fifo_low(current);
	w->worked = ktime_get_ns();
	hrtimer_start(&w->vdev->watch, ns_to_ktime(LATE_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop()) {
		busy = false;
		/*
		 * Only try to acquire the turn, because a waiting thread could receive the lock and
		 * then be prevented from running.
		 */
		if (vdev_trylock(w->vdev)) {
			busy = vdev_pass(w->vdev);
			vdev_unlock(w->vdev);
		}
		if (busy) {
			rouse_others(w->vdev);
			after_work(w);
		} else {
			without_work(w);
		}
	}
	return 0;
}

static bool is_second(const struct vdev_worker *w)
{
	return w == w->vdev->worker + 1;
}

/* Returns true if there was work that the first thread had not done. */
static bool stand_in(struct vdev_worker *w)
{
	struct vdev *vdev = w->vdev;
	bool busy;

	if (!is_second(w) ||
	    lateness(vdev) < LATE_NS || !vdev_trylock(vdev))
		return false;
	busy = vdev_pass(vdev);
	vdev_unlock(vdev);
	return busy;
}

static void park(struct vdev_worker *w)
{
	long left, most = is_second(w) ? nsecs_to_jiffies(LATE_NS) :
			  MAX_SCHEDULE_TIMEOUT;

	do {
		set_current_state(TASK_IDLE);
		WRITE_ONCE(w->parked, true);
		left = kthread_should_stop() ? 1 : schedule_timeout(most);
	} while (!left && !stand_in(w));
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(w->parked, false);
	w->worked = ktime_get_ns();
}

static int serve(void *data)
{
	struct vdev_worker *w = data;
	bool busy;

	sched_set_fifo_low(current);
	park(w);
	while (!kthread_should_stop()) {
		busy = stand_in(w);
		busy |= w->vdev->family->serve(w->vdev);
		if (busy)
			after_work(w);
		else if (without_work(w) > PARK_NS)
			park(w);
	}
	return 0;
}

/**
 * vdev_worker_wake() - make the model poll its registers now
 * @vdev: adapter
 *
 * Context: any.
 */
void vdev_worker_wake(struct vdev *vdev)
{
	struct task_struct *thread = READ_ONCE(vdev->worker[0].thread);

	if (!thread)
		return;
	WRITE_ONCE(vdev->worker[0].wake, true);
	wake_up_process(thread);
}

static int start(struct vdev *vdev, unsigned int i)
{
	unsigned int cpu = vdev->domain - VDEV_DOMAIN_FIRST + i;
	struct vdev_worker *w = &vdev->worker[i];
	struct task_struct *thread;

	*w = (struct vdev_worker) { .vdev = vdev, .looked = ktime_get_ns() };
	thread = kthread_create(i ? serve : do_everything, w, "%s/%s/%u",
				VDEV_MODULE, config_item_name(&vdev->group.cg_item),
				i);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* Spreads the threads over CPUs, as several threads on one CPU would be pointless. */
	kthread_bind(thread, cpumask_local_spread(cpu % num_online_cpus(),
						  NUMA_NO_NODE));
	WRITE_ONCE(w->thread, thread);
	wake_up_process(thread);
	return 0;
}

/**
 * vdev_worker_start() - start an adapter's threads
 * @vdev: adapter that is ready for them
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int vdev_worker_start(struct vdev *vdev)
{
	unsigned int i, n = min(num_online_cpus(), VDEV_MAX_WORKERS);
	int ret;

	hrtimer_setup(&vdev->watch, watch, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < n; i++) {
		ret = start(vdev, i);
		if (ret) {
			vdev_worker_stop(vdev);
			return ret;
		}
	}
	return 0;
}

/**
 * vdev_worker_stop() - stop an adapter's threads
 * @vdev: adapter
 *
 * Context: may sleep.
 */
void vdev_worker_stop(struct vdev *vdev)
{
	struct task_struct *thread;
	int i;

	for (i = 0; i < VDEV_MAX_WORKERS; i++) {
		thread = vdev->worker[i].thread;
		if (!thread)
			continue;
		WRITE_ONCE(vdev->worker[i].thread, NULL);
		kthread_stop(thread);
	}
	hrtimer_cancel(&vdev->watch);
}
