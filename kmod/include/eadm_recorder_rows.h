/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a flight recorder for the companion: object cmd of a driver's provider. A
 * driver adds the lock that guards its recorder and the names of operations.
 */
#ifndef EADM_RECORDER_ROWS_H
#define EADM_RECORDER_ROWS_H

#include <linux/err.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "eadm_diag.h"
#include "eadm_recorder.h"
#include "eadm_snap.h"

/**
 * struct eadm_cmd_row - a copy of a record, as the ring continues to change
 * @rec: the copy
 * @first_timeout: it is the record of the first timeout, which is kept until it has been
 *	read
 */
struct eadm_cmd_row {
	struct eadm_rec rec;
	bool first_timeout;
};

/**
 * eadm_cmd_row_next() - the next record, for &eadm_diag_obj.next
 * @r: the recorder
 * @lock: guards it; taken with interrupts off
 * @id: lowest number; on return that of the record
 *
 * Context: process.
 * Return: a struct eadm_cmd_row for eadm_cmd_row_put(), NULL for no more, or ERR_PTR(-ENOMEM).
 */
static inline void *eadm_cmd_row_next(struct eadm_recorder *r, spinlock_t *lock, u64 *id)
{
	struct eadm_cmd_row *row;
	bool found;

	row = kmalloc(sizeof(*row), GFP_KERNEL);
	/* NULL would mean that there are no more. */
	if (!row)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(lock);
	found = eadm_recorder_next(r, *id, &row->rec, &row->first_timeout);
	spin_unlock_irq(lock);
	if (!found) {
		kfree(row);
		return NULL;
	}
	*id = row->rec.seq;
	return row;
}

/**
 * eadm_cmd_row_seek() - skip records that were not asked for, for &eadm_diag_obj.seek
 * @r: the recorder
 * @lock: guards it; released in between
 * @id: lowest number
 * @req: what was asked for
 *
 * Context: process.
 * Return: number to continue from.
 */
static inline u64 eadm_cmd_row_seek(struct eadm_recorder *r, spinlock_t *lock, u64 id,
				    const struct eadm_diag_req *req)
{
	bool found;

	do {
		spin_lock_irq(lock);
		found = eadm_recorder_seek(r, &id, req->among, req->least);
		spin_unlock_irq(lock);
	} while (!found);
	return id;
}

/**
 * eadm_cmd_row_put() - free a row, for &eadm_diag_obj.put
 * @dd: not used
 * @row: from eadm_cmd_row_next()
 */
static inline void eadm_cmd_row_put(struct eadm_diag_dev *dd, void *row)
{
	kfree(row);
}

/* The requester in the reader's PID namespace, 0 when it cannot be seen there. */
static inline u32 eadm_rec_reader_pid(const struct eadm_rec *rec)
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

static inline void eadm_rec_fill_requester(const struct eadm_rec *rec, struct eadm_snap_cmd *s)
{
	u32 pid;

	if (rec->flags & EADM_REC_KTHREAD) {
		snprintf(s->comm, sizeof(s->comm), "[%s]", rec->comm);
		s->has.comm = 1;
		return;
	}
	pid = eadm_rec_reader_pid(rec);
	if (!pid)
		return;
	SNAP_SET(s, pid, pid);
	SNAP_STR(s, comm, rec->comm);
}

static inline void eadm_rec_fill_outcome(const struct eadm_rec *rec, struct eadm_snap_cmd *s,
					 u32 (*cause_class)(u32 syndrome))
{
	if (rec->state == EADM_REC_PENDING)
		return;
	SNAP_SET(s, status, rec->status);
	SNAP_SET(s, latency, rec->latency);
	if (rec->state == EADM_REC_TIMEOUT || rec->state == EADM_REC_LATE)
		SNAP_SET(s, cause, EADM_CAUSE_TIMEOUT);
	else if (rec->flags & EADM_REC_ANSWERED)
		SNAP_SET(s, cause, cause_class(rec->syndrome));
}

/**
 * eadm_cmd_row_fill() - fill in a row, except for the class of its operation
 * @r: the recorder
 * @lock: guards it
 * @row: the row
 * @s: what is filled in
 * @req: the request; an administrator's read of the first timeout releases that
 *	record
 * @cause_class: the cause, EADM_CAUSE_*, of a syndrome: <family>_cmd_cause_class()
 *
 * Context: process, as the reader.
 */
static inline void eadm_cmd_row_fill(struct eadm_recorder *r, spinlock_t *lock,
				     const struct eadm_cmd_row *row, struct eadm_snap_cmd *s,
				     const struct eadm_diag_req *req,
				     u32 (*cause_class)(u32 syndrome))
{
	const struct eadm_rec *rec = &row->rec;

	SNAP_SET(s, seq, rec->seq);
	SNAP_SET(s, time, rec->time);
	SNAP_SET(s, op_raw, rec->op);
	SNAP_SET(s, state, rec->state);
	SNAP_SET(s, tag, rec->tag);
	SNAP_SET(s, outstanding, rec->outstanding);
	SNAP_SET(s, polled, !!(rec->flags & EADM_REC_POLLED));
	SNAP_SET(s, cpu, rec->cpu);
	SNAP_SET(s, first_timeout, row->first_timeout);
	SNAP_BIN(s, request, rec->request, rec->request_len);
	eadm_rec_fill_requester(rec, s);
	eadm_rec_fill_outcome(rec, s, cause_class);
	if (rec->flags & EADM_REC_ANSWERED) {
		SNAP_SET(s, syndrome_raw, rec->syndrome);
		SNAP_BIN(s, response, rec->response, rec->response_len);
	}
	if (row->first_timeout && req->admin) {
		spin_lock_irq(lock);
		eadm_recorder_release(r, rec->seq);
		spin_unlock_irq(lock);
	}
}

#endif /* EADM_RECORDER_ROWS_H */
