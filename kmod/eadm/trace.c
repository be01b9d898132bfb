// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the flight recorder through the char device. A reader receives the records in order of
 * their numbers. Commands that are still pending when their turn comes are remembered and returned
 * once they have ended, so that a hung command does not block later commands.
 */
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "eadm.h"
#include "eadm_ioctl.h"

#define MAX_PENDING	256

/**
 * struct eadm_trace - one open file
 * @edev: device of the file
 * @reading: serialises readers; held while the reader's memory is accessed, which may block
 *	indefinitely. Never taken while the device is entered: that would block removal
 * @lock: serialises calls; not held during such accesses. Nests inside @reading
 * @want: position and filters, as set up by EADM_IOC_TRACE
 * @active: the trace was set up
 * @follows: the file is counted among the driver's followers
 * @raw: the reader may see bytes of commands
 * @counting: a gap before @next counts as lost records
 * @have: @rec is waiting to be copied out, and must not be modified
 * @next: number of the next record to check
 * @lost: records lost since the last one returned
 * @n_pending: number of elements in @pending
 * @pending: numbers of pending commands to check again, ascending
 * @snap: memory for the driver's snapshot, including the fields of its family
 * @rec: the current record: a message in the format of a dump of commands
 */
struct eadm_trace {
	struct eadm_dev *edev;
	struct mutex reading;	/* serialises readers */
	struct mutex lock;	/* protects all members below */
	struct eadm_ioc_trace want;
	bool active;
	bool follows;
	bool raw;
	bool counting;
	bool have;
	u64 next;
	u64 lost;
	unsigned int n_pending;
	u64 pending[MAX_PENDING];
	struct eadm_snap_cmd *snap;
	struct sk_buff *rec;
};

/**
 * eadm_trace_new() - allocate the trace of a newly opened file
 * @edev: the device, entered
 *
 * Return: the trace or an ERR_PTR.
 */
struct eadm_trace *eadm_trace_new(struct eadm_dev *edev)
{
	struct eadm_trace *trace = kzalloc(sizeof(*trace), GFP_KERNEL_ACCOUNT);

	if (!trace)
		return ERR_PTR(-ENOMEM);
	trace->snap = kzalloc(eadm_snap_room(EADM_OBJ_CMD), GFP_KERNEL_ACCOUNT);
	trace->rec = alloc_skb(EADM_TRACE_REC_MAX, GFP_KERNEL_ACCOUNT);
	if (!trace->snap || !trace->rec) {
		kfree_skb(trace->rec);
		kfree(trace->snap);
		kfree(trace);
		return ERR_PTR(-ENOMEM);
	}
	trace->edev = edev;
	mutex_init(&trace->reading);
	mutex_init(&trace->lock);
	return trace;
}

/**
 * eadm_trace_free() - free the trace of a closed file
 * @trace: result of eadm_trace_new()
 */
void eadm_trace_free(struct eadm_trace *trace)
{
	if (trace->follows)
		eadm_dev_unfollow(trace->edev);
	mutex_destroy(&trace->lock);
	mutex_destroy(&trace->reading);
	kfree_skb(trace->rec);
	kfree(trace->snap);
	kfree(trace);
}

/*
 * Returns true if there is no filter: with a filter, the reader may never see the record that the
 * driver keeps.
 */
static bool takes_all(const struct eadm_trace *trace)
{
	const struct eadm_ioc_trace *want = &trace->want;

	return want->from != EADM_TRACE_FROM_NOW && !want->min_latency && !want->states &&
	       !(want->flags & EADM_TRACE_BY_OP);
}

/* Reads record *@id or the next existing record. Returns 1, 0 if there is none, or an error. */
static int load(struct eadm_trace *trace, u64 *id)
{
	struct eadm_diag_dev *dd = trace->edev->dd;
	const struct eadm_diag_obj *ops = trace->edev->objs[EADM_OBJ_CMD];
	const struct eadm_diag_req req = { .admin = takes_all(trace) };
	void *row;
	int ret;

	row = ops->next(dd, id);
	if (!row)
		return 0;
	if (IS_ERR(row))
		return PTR_ERR(row);
	memset(trace->snap, 0, sizeof(*trace->snap));
	ret = eadm_snap_fill(trace->edev, EADM_OBJ_CMD, row, trace->snap, &req);
	if (ops->put)
		ops->put(dd, row);
	return ret ?: 1;
}

static bool is_wanted(const struct eadm_trace *trace)
{
	const struct eadm_ioc_trace *want = &trace->want;
	const struct eadm_snap_cmd *snap = trace->snap;

	return snap->latency >= want->min_latency &&
	       (!want->states || (snap->state < 32 && want->states & BIT(snap->state))) &&
	       (!(want->flags & EADM_TRACE_BY_OP) || snap->op == want->op);
}

static bool is_pending(const struct eadm_trace *trace)
{
	return trace->snap->state == EADM_CMD_STATE_PENDING;
}

/* Builds the message for the record in the snapshot. */
static int make_rec(struct eadm_trace *trace)
{
	unsigned int rights = BIT(EADM_PERM_NONE) | (trace->raw ? BIT(EADM_PERM_RAWIO) : 0);
	struct eadm_snap_cmd *snap = trace->snap;
	int ret;

	if (trace->lost)
		SNAP_SET(snap, lost, trace->lost);
	skb_trim(trace->rec, 0);
	ret = eadm_nl_put_row(trace->rec, trace->edev, EADM_OBJ_CMD, snap, rights);
	if (ret)
		return ret;
	trace->lost = 0;
	trace->have = true;
	return 0;
}

/* Checks the remembered commands; leaves the first matching record in @rec. */
static int take_pending(struct eadm_trace *trace)
{
	unsigned int i;
	u64 id;
	int ret;

	for (i = 0; i < trace->n_pending && !trace->have;) {
		id = trace->pending[i];
		ret = load(trace, &id);
		if (ret < 0)
			return ret;
		if (ret && id == trace->pending[i] && is_pending(trace)) {
			i++;
			continue;
		}
		if (!ret || id != trace->pending[i])
			trace->lost++;
		else if (is_wanted(trace))
			ret = make_rec(trace);
		if (ret < 0)
			return ret;
		trace->n_pending--;
		memmove(&trace->pending[i], &trace->pending[i + 1],
			(trace->n_pending - i) * sizeof(trace->pending[0]));
	}
	return 0;
}

/* Continues through the records; leaves a matching record in @rec unless @skip is set. */
static int take_next(struct eadm_trace *trace, bool skip)
{
	u64 id;
	int ret;

	while (!trace->have && !eadm_dev_gone(trace->edev)) {
		cond_resched();
		id = trace->next;
		ret = load(trace, &id);
		if (ret <= 0)
			return ret;
		if (is_pending(trace) && trace->n_pending == MAX_PENDING)
			return 0;
		if (trace->counting && !skip)
			trace->lost += id - trace->next;
		trace->counting = true;
		trace->next = id + 1;
		if (is_pending(trace))
			trace->pending[trace->n_pending++] = id;
		else if (!skip && is_wanted(trace))
			ret = make_rec(trace);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Puts the next record into @rec, if there is one. */
static int take(struct eadm_trace *trace)
{
	int ret = 0;

	if (!eadm_dev_enter(trace->edev, current->nsproxy->net_ns))
		return -ENODEV;
	if (!trace->have)
		ret = take_pending(trace);
	if (!ret)
		ret = take_next(trace, false);
	eadm_dev_exit(trace->edev);
	return ret;
}

/* Sets up position and filters. */
static int start(struct eadm_trace *trace, const struct eadm_ioc_trace *arg, bool raw)
{
	int ret = 0;

	lockdep_assert_held(&trace->lock);
	if (!eadm_dev_enter(trace->edev, current->nsproxy->net_ns))
		return -ENODEV;
	/*
	 * Set this before the first read, so that the reader is notified of commands that end
	 * later.
	 */
	if (!trace->follows)
		atomic_inc(&trace->edev->dd->followers);
	trace->follows = true;
	trace->want = *arg;
	trace->raw = raw;
	/* Record numbers begin at 1. */
	trace->next = arg->seq ?: 1;
	trace->counting = arg->from == EADM_TRACE_FROM_SEQ;
	trace->lost = 0;
	trace->n_pending = 0;
	trace->have = false;
	if (arg->from == EADM_TRACE_FROM_NOW)
		ret = take_next(trace, true);
	trace->active = !ret;
	eadm_dev_exit(trace->edev);
	return ret;
}

/**
 * eadm_trace_start() - set up position and filters
 * @trace: the open file
 * @arg: argument from the caller, not validated yet
 * @raw: the caller may see bytes of commands
 *
 * Enters the device only after waiting for readers, whose access to memory may never complete.
 *
 * Context: may sleep; the device must not be entered.
 * Return: 0 or a negative errno.
 */
int eadm_trace_start(struct eadm_trace *trace, const struct eadm_ioc_trace *arg, bool raw)
{
	int ret;

	if (!trace->edev->objs[EADM_OBJ_CMD])
		return -EOPNOTSUPP;
	if (arg->from > EADM_TRACE_FROM_SEQ || arg->flags & ~EADM_TRACE_BY_OP || arg->reserved ||
	    (arg->seq && arg->from != EADM_TRACE_FROM_SEQ) ||
	    (arg->op && !(arg->flags & EADM_TRACE_BY_OP)))
		return -EINVAL;
	if (mutex_lock_interruptible(&trace->reading))
		return -ERESTARTSYS;
	mutex_lock(&trace->lock);
	ret = start(trace, arg, raw);
	mutex_unlock(&trace->lock);
	mutex_unlock(&trace->reading);
	return ret;
}

/*
 * Puts the next record into @rec, where it stays until drop(). Returns 1, 0 if there is none, or an
 * error.
 */
static int peek(struct eadm_trace *trace)
{
	int ret = -EBADFD;

	lockdep_assert_held(&trace->reading);
	mutex_lock(&trace->lock);
	if (trace->active)
		ret = take(trace) ?: trace->have;
	mutex_unlock(&trace->lock);
	return ret;
}

static void drop(struct eadm_trace *trace)
{
	lockdep_assert_held(&trace->reading);
	mutex_lock(&trace->lock);
	trace->have = false;
	mutex_unlock(&trace->lock);
}

/*
 * Copies out the available records. Exits the device and allows pollers to proceed before accessing
 * the caller's memory.
 */
static ssize_t drain(struct eadm_trace *trace, char __user *buf, size_t count)
{
	const struct sk_buff *rec = trace->rec;
	size_t done = 0;
	int ret;

	while ((ret = peek(trace)) > 0) {
		if (rec->len > count - done) {
			ret = -EINVAL;
			break;
		}
		if (copy_to_user(buf + done, rec->data, rec->len)) {
			ret = -EFAULT;
			break;
		}
		done += rec->len;
		drop(trace);
	}
	return done ?: ret;
}

/**
 * eadm_trace_read() - read records
 * @trace: the open file
 * @buf: destination
 * @count: size of @buf
 * @block: wait for a record if there is none
 *
 * Return: number of bytes of whole records, or a negative errno: -EINVAL if the next record does
 * not fit.
 */
ssize_t eadm_trace_read(struct eadm_trace *trace, char __user *buf, size_t count, bool block)
{
	struct eadm_dev *edev = trace->edev;
	ssize_t ret;
	int seen;

	for (;;) {
		/*
		 * Read the counter before the check, so that an event after the check ends the
		 * wait.
		 */
		seen = atomic_read(&edev->events);
		if (mutex_lock_interruptible(&trace->reading))
			return -ERESTARTSYS;
		ret = drain(trace, buf, count);
		mutex_unlock(&trace->reading);
		if (ret)
			return ret;
		if (!block)
			return -EAGAIN;
		if (wait_event_interruptible(edev->wait, atomic_read(&edev->events) != seen ||
					     eadm_dev_gone(edev)))
			return -ERESTARTSYS;
	}
}

/**
 * eadm_trace_poll() - report whether read() would block
 * @trace: the open file
 * @file: the struct file of @trace
 * @wait: the poll table
 *
 * Return: EPOLL* mask.
 */
__poll_t eadm_trace_poll(struct eadm_trace *trace, struct file *file, poll_table *wait)
{
	__poll_t mask = 0;
	int ret;

	poll_wait(file, &trace->edev->wait, wait);
	mutex_lock(&trace->lock);
	ret = trace->active ? take(trace) : 0;
	if (ret == -ENODEV || eadm_dev_gone(trace->edev))
		mask = EPOLLHUP | EPOLLERR;
	else if (ret)
		mask = EPOLLERR;
	else if (trace->have)
		mask = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&trace->lock);
	return mask;
}
