// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of commands, their flight recorder, and the companion's rows for the counts and the
 * records.
 */

#include <linux/err.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "adapter.h"
#include "commands.h"
#include "eadm_snap.h"

/*
 * A row holds a copy of a record, because the ring changes concurrently. The record of the first
 * timeout is kept until it has been read.
 */
struct row {
	struct eadm_rec rec;
	bool first_timeout;
};

/**
 * eadm_commands_fill() - fill in the fields of a command queue that all families have
 * @ad: the adapter
 * @s: the row
 * @slots: number of commands that fit into the queue
 * @oldest: local_clock() of the oldest command with a waiter, if any
 *
 * Context: any, with the adapter's lock held.
 */
void eadm_commands_fill(const struct eadm_adapter *ad, struct eadm_snap_cmdq *s, u32 slots,
			u64 oldest)
{
	static const u8 states[] = {
		[EADM_QUEUE_POLLING]	= EADM_CMDQ_STATE_POLLING,
		[EADM_QUEUE_EVENT]	= EADM_CMDQ_STATE_EVENT,
		[EADM_QUEUE_RECOVERING]	= EADM_CMDQ_STATE_RECOVERING,
		[EADM_QUEUE_DEAD]	= EADM_CMDQ_STATE_DEAD,
	};
	const struct eadm_commands *c = &ad->cmds;

	lockdep_assert_held(&ad->lock);
	SNAP_SET(s, state, states[ad->state]);
	SNAP_SET(s, timeout, (u64)READ_ONCE(ad->cmd_timeout) * NSEC_PER_MSEC);
	SNAP_SET(s, credits, slots - c->quarantined);
	SNAP_SET(s, outstanding, c->outstanding);
	SNAP_SET(s, max_outstanding, c->max_outstanding);
	SNAP_SET(s, submitted, c->submitted);
	SNAP_SET(s, completed, c->completed);
	SNAP_SET(s, errors, c->errors);
	SNAP_SET(s, timeouts, c->timeouts);
	SNAP_SET(s, late, c->late);
	SNAP_SET(s, spurious, c->spurious);
	SNAP_SET(s, recoveries, ad->recoveries);
	SNAP_SET(s, failed_recoveries, ad->failed_recoveries);
	if (c->last_spurious)
		SNAP_SET(s, last_spurious_age, eadm_age(c->last_spurious));
	if (c->last_submit)
		SNAP_SET(s, last_submit_age, eadm_age(c->last_submit));
	if (c->last_comp)
		SNAP_SET(s, last_comp_age, eadm_age(c->last_comp));
	if (c->outstanding)
		SNAP_SET(s, oldest_age, eadm_age(oldest));
}

/* The next record: a struct row. */
static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct eadm_adapter *ad = diag_to_adapter(dd);
	struct row *row;
	bool found;

	row = kmalloc(sizeof(*row), GFP_KERNEL);
	/* NULL would end the dump. */
	if (!row)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(&ad->lock);
	found = eadm_recorder_next(&ad->cmds.rec, *id, &row->rec, &row->first_timeout);
	spin_unlock_irq(&ad->lock);
	if (!found) {
		kfree(row);
		return NULL;
	}
	*id = row->rec.seq;
	return row;
}

/* Skips records that the request excludes. */
static u64 cmd_seek(struct eadm_diag_dev *dd, u64 id, const struct eadm_diag_req *req)
{
	struct eadm_adapter *ad = diag_to_adapter(dd);
	bool found;

	do {
		spin_lock_irq(&ad->lock);
		found = eadm_recorder_seek(&ad->cmds.rec, &id, req->among, req->least);
		spin_unlock_irq(&ad->lock);
	} while (!found);
	return id;
}

static void cmd_put(struct eadm_diag_dev *dd, void *row)
{
	kfree(row);
}

/*
 * Returns the PID of the requester in the reader's PID namespace, or 0 if it is not visible there.
 */
static u32 reader_pid(const struct eadm_rec *rec)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct task_struct *task;
	struct pid *pid;
	u32 nr = 0;

	if (ns == &init_pid_ns)
		return rec->pid;
	rcu_read_lock();
	pid = find_pid_ns(rec->pid, &init_pid_ns);
	task = pid_task(pid, PIDTYPE_TGID);
	/* A later process may have reused the PID of the recorded one. */
	if (task && task->start_time == rec->start_time)
		nr = pid_nr_ns(pid, ns);
	rcu_read_unlock();
	return nr;
}

static void fill_requester(const struct eadm_rec *rec, struct eadm_snap_cmd *s)
{
	u32 pid;

	if (rec->flags & EADM_REC_KTHREAD) {
		snprintf(s->comm, sizeof(s->comm), "[%s]", rec->comm);
		s->has.comm = 1;
		return;
	}
	pid = reader_pid(rec);
	if (!pid)
		return;
	SNAP_SET(s, pid, pid);
	SNAP_STR(s, comm, rec->comm);
}

static void fill_outcome(const struct eadm_adapter *ad, const struct eadm_rec *rec,
			 struct eadm_snap_cmd *s)
{
	if (rec->state == EADM_REC_PENDING)
		return;
	SNAP_SET(s, status, rec->status);
	SNAP_SET(s, latency, rec->latency);
	if (rec->state == EADM_REC_TIMEOUT || rec->state == EADM_REC_LATE)
		SNAP_SET(s, cause, EADM_CAUSE_TIMEOUT);
	else if (rec->flags & EADM_REC_ANSWERED)
		SNAP_SET(s, cause, ad->ops->queue->cause_class(rec->syndrome));
}

/* If an administrator reads the record of the first timeout, the record is released. */
static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct eadm_adapter *ad = diag_to_adapter(dd);
	const struct row *row = obj;
	const struct eadm_rec *rec = &row->rec;
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, seq, rec->seq);
	SNAP_SET(s, op, ad->ops->queue->op_class(rec->op));
	SNAP_SET(s, time, rec->time);
	SNAP_SET(s, op_raw, rec->op);
	SNAP_SET(s, state, rec->state);
	SNAP_SET(s, tag, rec->tag);
	SNAP_SET(s, outstanding, rec->outstanding);
	SNAP_SET(s, polled, !!(rec->flags & EADM_REC_POLLED));
	SNAP_SET(s, cpu, rec->cpu);
	SNAP_SET(s, first_timeout, row->first_timeout);
	SNAP_BIN(s, request, rec->request, rec->request_len);
	fill_requester(rec, s);
	fill_outcome(ad, rec, s);
	if (rec->flags & EADM_REC_ANSWERED) {
		SNAP_SET(s, syndrome_raw, rec->syndrome);
		SNAP_BIN(s, response, rec->response, rec->response_len);
	}
	if (row->first_timeout && req->admin) {
		spin_lock_irq(&ad->lock);
		eadm_recorder_release(&ad->cmds.rec, rec->seq);
		spin_unlock_irq(&ad->lock);
	}
	return 0;
}

const struct eadm_diag_obj eadm_diag_cmd = {
	.type = EADM_OBJ_CMD,
	.next = cmd_next,
	.seek = cmd_seek,
	.put = cmd_put,
	.fill = cmd_fill,
};
