// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the failures recorded by a driver (eadm_failures.h): the newest failures, and the totals.
 * Common to all drivers.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "eadm.h"
#include "eadm_failures.h"

static u64 age_of(u64 mono)
{
	u64 now = ktime_get_mono_fast_ns();

	return now > mono ? now - mono : 0;
}

static void put_copy(struct eadm_diag_dev *dd, void *obj)
{
	kfree(obj);
}

/* Copies the first failure with a number of at least @seq. Returns false if there is none. */
static bool copy_failure(struct eadm_failures *f, u64 seq, struct eadm_failure *copy)
{
	unsigned long flags;
	u64 oldest;
	bool found;

	spin_lock_irqsave(&f->lock, flags);
	oldest = f->next > EADM_FAILURES_KEPT ? f->next - EADM_FAILURES_KEPT : 1;
	seq = max(seq, oldest);
	found = seq < f->next;
	if (found)
		*copy = f->ring[seq % EADM_FAILURES_KEPT];
	spin_unlock_irqrestore(&f->lock, flags);
	return found;
}

/* The record is copied, because the ring changes concurrently. */
static void *failure_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct eadm_failure *f = kmalloc(sizeof(*f), GFP_KERNEL);

	/* NULL would end the dump. */
	if (!f)
		return ERR_PTR(-ENOMEM);
	if (!copy_failure(dd->failures, *id, f)) {
		kfree(f);
		return NULL;
	}
	*id = f->seq;
	return f;
}

/*
 * Describes the owner process as far as the reader may see it. A later process that has reused the
 * owner's PID is not mistaken for the owner; a process that has exited is named only in the initial
 * PID namespace.
 */
static void fill_process(const struct eadm_failure *f, struct eadm_snap_failure *s)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	u32 nr = ns == &init_pid_ns ? f->pid : 0;
	struct task_struct *task;
	bool ended = true;
	struct pid *pid;

	rcu_read_lock();
	pid = find_pid_ns(f->pid, &init_pid_ns);
	task = pid_task(pid, PIDTYPE_TGID);
	if (task && f->start_time && task->start_time == f->start_time) {
		nr = pid_nr_ns(pid, ns);
		/* A thread group leader that has exited may still have threads. */
		ended = task->exit_state && thread_group_empty(task);
	}
	rcu_read_unlock();
	if (!nr)
		return;
	SNAP_SET(s, pid, nr);
	SNAP_STR(s, comm, f->comm);
	SNAP_SET(s, ended, ended);
	SNAP_SET(s, cgroup_id, f->cgroup);
}

static void fill_names(const struct eadm_failure *f, struct eadm_snap_failure *s)
{
	if (f->has & EADM_FAILURE_LOCAL) {
		SNAP_BIN(s, local_addr, f->local, f->addr_len);
		SNAP_SET(s, local_port, f->local_port);
	}
	if (f->has & EADM_FAILURE_PEER) {
		SNAP_BIN(s, peer_addr, f->peer, f->addr_len);
		SNAP_SET(s, peer_port, f->peer_port);
	}
	if (f->has & EADM_FAILURE_QPN)
		SNAP_SET(s, qpn, f->qpn);
	if (f->has & EADM_FAILURE_PEER_QPN)
		SNAP_SET(s, peer_qpn, f->peer_qpn);
}

static int failure_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
			const struct eadm_diag_req *req)
{
	const struct eadm_failure *f = obj;
	struct eadm_snap_failure *s = snap;

	SNAP_SET(s, seq, f->seq);
	SNAP_SET(s, time, f->real);
	SNAP_SET(s, age, age_of(f->mono));
	SNAP_SET(s, kind, f->kind);
	SNAP_SET(s, cause, f->cause);
	SNAP_SET(s, times, f->times);
	if (f->kind != EADM_FAILURE_KIND_DEVICE)
		SNAP_SET(s, id, f->id);
	if (f->has & EADM_FAILURE_SYNDROME)
		SNAP_SET(s, syndrome_raw, f->syndrome);
	if (f->has & EADM_FAILURE_ERROR)
		SNAP_SET(s, error, f->error);
	if (f->has & EADM_FAILURE_ASYNC) {
		SNAP_SET(s, async, f->async);
		SNAP_SET(s, async_raw, f->async_raw);
	}
	if (f->has & EADM_FAILURE_OP) {
		SNAP_SET(s, op, f->op);
		SNAP_SET(s, op_raw, f->op_raw);
	}
	if (f->has & EADM_FAILURE_KERNEL) {
		snprintf(s->comm, sizeof(s->comm), "[%s]", f->comm);
		s->has.comm = 1;
	} else if (f->has & EADM_FAILURE_PROCESS) {
		fill_process(f, s);
	}
	fill_names(f, s);
	return 0;
}

struct total {
	u64 class;
	struct eadm_failure_total total;
};

/*
 * Copies the first total whose class, kind * EADM_FAILURE_CAUSES + cause, is at least t->class.
 * Returns false if there is none.
 */
static bool copy_total(struct eadm_failures *f, struct total *t)
{
	unsigned long flags;
	u64 i;

	t->total.count = 0;
	spin_lock_irqsave(&f->lock, flags);
	for (i = t->class; i < EADM_FAILURE_KINDS * EADM_FAILURE_CAUSES && !t->total.count; i++) {
		t->total = f->total[i / EADM_FAILURE_CAUSES][i % EADM_FAILURE_CAUSES];
		t->class = i;
	}
	spin_unlock_irqrestore(&f->lock, flags);
	return t->total.count;
}

static void *total_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct total *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return ERR_PTR(-ENOMEM);
	t->class = *id;
	if (!copy_total(dd->failures, t)) {
		kfree(t);
		return NULL;
	}
	*id = t->class;
	return t;
}

static int total_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		      const struct eadm_diag_req *req)
{
	struct eadm_snap_failure_total *s = snap;
	const struct total *t = obj;

	SNAP_SET(s, class, t->class);
	SNAP_SET(s, kind, t->class / EADM_FAILURE_CAUSES);
	SNAP_SET(s, cause, t->class % EADM_FAILURE_CAUSES);
	SNAP_SET(s, count, t->total.count);
	SNAP_SET(s, last_time, t->total.real);
	SNAP_SET(s, last_age, age_of(t->total.mono));
	return 0;
}

const struct eadm_diag_obj eadm_failure_obj = {
	.type = EADM_OBJ_FAILURE,
	.next = failure_next,
	.put = put_copy,
	.fill = failure_fill,
};

const struct eadm_diag_obj eadm_failure_total_obj = {
	.type = EADM_OBJ_FAILURE_TOTAL,
	.next = total_next,
	.put = put_copy,
	.fill = total_fill,
};
