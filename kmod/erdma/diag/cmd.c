// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the command queue and the flight recorder. */

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "erdma_classes.h"
#include "diag.h"

static const u8 states[] = {
	[ERDMA_CMDQ_POLLING]	= EADM_CMDQ_STATE_POLLING,
	[ERDMA_CMDQ_EVENT]	= EADM_CMDQ_STATE_EVENT,
	[ERDMA_CMDQ_RECOVERING]	= EADM_CMDQ_STATE_RECOVERING,
	[ERDMA_CMDQ_DEAD]	= EADM_CMDQ_STATE_DEAD,
};

static const u8 rec_states[] = {
	[EADM_REC_PENDING]	= EADM_CMD_STATE_PENDING,
	[EADM_REC_DONE]		= EADM_CMD_STATE_DONE,
	[EADM_REC_ERROR]	= EADM_CMD_STATE_ERROR,
	[EADM_REC_TIMEOUT]	= EADM_CMD_STATE_TIMEOUT,
	[EADM_REC_LATE]		= EADM_CMD_STATE_LATE,
	[EADM_REC_ABORTED]	= EADM_CMD_STATE_ABORTED,
};

static void *cmdq_next(struct eadm_diag_dev *dd, u64 *id)
{
	return *id ? NULL : diag_to_dev(dd);
}

static void fill_cmdq(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u16 oldest;

	spin_lock_irq(&q->lock);
	SNAP_SET(s, state, states[q->state]);
	SNAP_SET(s, sq_pi, q->sq_pi);
	SNAP_SET(s, sq_ci, q->sq_ci);
	SNAP_SET(s, cq_ci, q->cq_ci);
	SNAP_SET(s, credits, ERDMA_CMDQ_MAX_OUTSTANDING - q->quarantined);
	SNAP_SET(s, outstanding, q->outstanding);
	SNAP_SET(s, max_outstanding, q->max_outstanding);
	SNAP_SET(s, submitted, q->submitted);
	SNAP_SET(s, completed, q->completed);
	SNAP_SET(s, errors, q->errors);
	SNAP_SET(s, timeouts, q->timeouts);
	SNAP_SET(s, late, q->late);
	SNAP_SET(s, spurious, q->spurious);
	if (q->last_spurious)
		SNAP_SET(s, last_spurious_age, diag_age(q->last_spurious));
	SNAP_SET(s, recoveries, dev->recoveries);
	SNAP_SET(s, failed_recoveries, dev->failed_recoveries);
	if (q->last_submit)
		SNAP_SET(s, last_submit_age, diag_age(q->last_submit));
	if (q->last_comp)
		SNAP_SET(s, last_comp_age, diag_age(q->last_comp));
	if (q->outstanding) {
		oldest = q->sq_ci / ERDMA_CMDQ_SLOT_WQEBB % ERDMA_CMDQ_MAX_OUTSTANDING;
		SNAP_SET(s, oldest_age, diag_age(q->slots[oldest].submit));
	}
	spin_unlock_irq(&q->lock);
}

static void fill_cmdq_hw(struct erdma_dev *dev, struct eadm_snap_cmdq *s)
{
	struct erdma_qpc qpc;
	struct erdma_cqc cqc;
	int ret;

	/* Number 0 is the command queue's, of both kinds. */
	ret = erdma_diag_may_query(dev, NULL);
	if (!ret)
		ret = erdma_cmd_query_qpc(dev, 0, &qpc);
	if (!ret)
		ret = erdma_cmd_query_cqc(dev, 0, &cqc);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, hw_sq_pi, le16_to_cpu(qpc.sq.pi));
	SNAP_SET(s, hw_sq_ci, le16_to_cpu(qpc.sq.ci));
	SNAP_SET(s, hw_cq_pi, le32_to_cpu(cqc.pi));
}

static int cmdq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_cmdq *s = snap;
	struct erdma_dev *dev = obj;

	SNAP_SET(s, index, 0);
	SNAP_SET(s, sq_depth, ERDMA_CMDQ_DEPTH);
	SNAP_SET(s, sq_stride, ERDMA_WQEBB_SIZE);
	SNAP_SET(s, eq_ci, READ_ONCE(dev->cmdq_eq.ci));
	SNAP_SET(s, timeout, (u64)erdma_cmd_timeout_ms(dev) * NSEC_PER_MSEC);
	fill_cmdq(dev, s);
	if (req->hw)
		fill_cmdq_hw(dev, s);
	return 0;
}

const struct eadm_diag_obj erdma_diag_cmdq = {
	.type = EADM_OBJ_CMDQ,
	.next = cmdq_next,
	.put = erdma_diag_put_none,
	.fill = cmdq_fill,
};

/* A record is copied out at once: the ring goes on. */
struct record {
	struct eadm_rec rec;
	bool first_timeout;
};

static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct erdma_cmdq *q = &diag_to_dev(dd)->cmdq;
	struct record *record;
	bool found;

	record = kmalloc(sizeof(*record), GFP_KERNEL);
	/* NULL would say that there are no more. */
	if (!record)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(&q->lock);
	found = eadm_recorder_next(&q->rec, *id, &record->rec, &record->first_timeout);
	spin_unlock_irq(&q->lock);
	if (!found) {
		kfree(record);
		return NULL;
	}
	*id = record->rec.seq;
	return record;
}

static void cmd_put(struct eadm_diag_dev *dd, void *obj)
{
	kfree(obj);
}

/* The requester in the reader's PID namespace, 0 when it cannot be seen there. */
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
	/* A later process may have the number of the recorded one. */
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

static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct erdma_cmdq *q = &diag_to_dev(dd)->cmdq;
	const struct record *record = obj;
	const struct eadm_rec *rec = &record->rec;
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, seq, rec->seq);
	SNAP_SET(s, time, rec->time);
	SNAP_SET(s, op, erdma_op_class(rec->op));
	SNAP_SET(s, op_raw, rec->op);
	SNAP_SET(s, state, rec_states[rec->state]);
	SNAP_SET(s, tag, rec->tag);
	SNAP_SET(s, outstanding, rec->outstanding);
	SNAP_SET(s, polled, !!(rec->flags & EADM_REC_POLLED));
	SNAP_SET(s, cpu, rec->cpu);
	SNAP_SET(s, first_timeout, record->first_timeout);
	SNAP_BIN(s, request, rec->request, rec->request_len);
	fill_requester(rec, s);
	if (rec->state != EADM_REC_PENDING) {
		SNAP_SET(s, status, rec->status);
		SNAP_SET(s, latency, rec->latency);
	}
	if (rec->flags & EADM_REC_ANSWERED) {
		SNAP_SET(s, syndrome_raw, rec->syndrome);
		SNAP_BIN(s, response, rec->response, rec->response_len);
	}
	if (record->first_timeout && req->admin) {
		spin_lock_irq(&q->lock);
		eadm_recorder_release(&q->rec, rec->seq);
		spin_unlock_irq(&q->lock);
	}
	return 0;
}

const struct eadm_diag_obj erdma_diag_cmd = {
	.type = EADM_OBJ_CMD,
	.next = cmd_next,
	.put = cmd_put,
	.fill = cmd_fill,
};
