// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds processes, their objects on RDMA devices, and the transport of their data.
 * Objects of devices name their owners; processes that use libibverbs are found even if
 * they have no objects, and their TCP connections as well.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "top.h"

/*
 * Control connections move fewer bytes per second than this. The rule on-tcp uses the
 * same value.
 */
#define BUSY_TCP (1 << 20)

static int by_pid(const void *a, const void *b)
{
	const struct top_proc *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct top_proc *find(const struct proc_set *set, uint32_t pid)
{
	const struct top_proc key = { .pid = pid };

	return set->n ? bsearch(&key, set->proc, set->n, sizeof(key), by_pid) :
			NULL;
}

static bool is_wanted(const struct filter *filter, uint32_t pid,
		      const char *comm)
{
	return (!filter->has_pid || filter->pid == pid) &&
	       (!filter->comm || !fnmatch(filter->comm, comm, 0));
}

/*
 * Returns NULL if the process is not shown or memory is exhausted. Rows of the same
 * process are mostly adjacent.
 */
static struct top_proc *get_proc(struct top *top, uint32_t pid,
				 const char *comm)
{
	struct proc_set *set = &top->procs;
	struct top_proc *proc = find(set, pid);
	size_t at;

	if (proc || !is_wanted(&top->filter, pid, comm))
		return proc;
	if (!grow(set->proc, set->n, set->max)) {
		top->failed = true;
		return NULL;
	}
	for (at = set->n++; at && set->proc[at - 1].pid > pid; at--)
		set->proc[at] = set->proc[at - 1];
	proc = &set->proc[at];
	*proc = (struct top_proc){
		.pid = pid, .sq_rate = -1, .rq_rate = -1,
	};
	for (at = 0; at < N_MOVED; at++)
		proc->moved[at].rate = -1;
	snprintf(proc->comm, sizeof(proc->comm), "%s", comm);
	return proc;
}

static void add_device(struct top_proc *proc, const char *name)
{
	size_t len = strlen(proc->devices), n = name ? strlen(name) : 0;
	const char *at = n ? strstr(proc->devices, name) : proc->devices;

	for (; n && at; at = strstr(at + 1, name)) {
		if ((at == proc->devices || at[-1] == ' ') &&
		    (!at[n] || at[n] == ' '))
			return;
	}
	if (n && len + n + 2 <= sizeof(proc->devices))
		snprintf(proc->devices + len, sizeof(proc->devices) - len,
			 "%s%s", len ? " " : "", name);
}

/* Returns the owner of an object, or NULL, because kernel objects have no owner. */
static struct top_proc *owner_of(struct top *top,
				 const struct eadm_record *record,
				 const char *object)
{
	const struct eadm_object *of = eadm_object_find(object);
	const char *comm;
	struct top_proc *proc;
	uint64_t pid;

	if (eadm_record_u64(record, eadm_object_find_field(of, "pid"), &pid) ||
	    !pid)
		return NULL;
	comm = eadm_record_string(record, eadm_object_find_field(of, "comm"));
	proc = get_proc(top, pid, comm ? comm : "");
	if (proc && eadm_object_class(of) == EADM_CLASS_ROWS)
		add_device(proc, eadm_record_string(record, eadm_object_find_field(
							    of, "dev-name")));
	return proc;
}

static void take_ctx(struct top *top, const struct eadm_record *record)
{
	owner_of(top, record, "ctx");
}

static void take_cq(struct top *top, const struct eadm_record *record)
{
	struct top_proc *proc = owner_of(top, record, "cq");

	if (proc)
		proc->cqs++;
}

static void take_mr(struct top *top, const struct eadm_record *record)
{
	struct top_proc *proc = owner_of(top, record, "mr");

	if (proc)
		proc->mrs++;
}

static void take_text(const struct eadm_record *record, const char *object,
		      const char *name, char *text, size_t size)
{
	const char *value = eadm_record_string(record, eadm_object_find_field(
					       eadm_object_find(object), name));

	if (value)
		snprintf(text, size, "%s", value);
}

static void take_place(struct top_proc *proc, const struct eadm_record *record,
		       const char *object)
{
	take_text(record, object, "pod", proc->pod, sizeof(proc->pod));
	take_text(record, object, "container", proc->container,
		  sizeof(proc->container));
}

static void take_moved(struct moved *moved, const struct eadm_record *record,
		       uint64_t value)
{
	moved->time = eadm_record_time(record);
	moved->value += value;
}

/* Returns true if the row represents processes that cannot be read. */
static bool take_hidden(struct top *top, const struct eadm_record *record,
			const struct eadm_object *of)
{
	uint64_t pid;

	if (eadm_record_u64(record, eadm_object_find_field(of, "pid"), &pid) || pid)
		return false;
	top->hides_more = eadm_record_u64(record, eadm_object_find_field(of, "hidden"),
					  &top->hidden);
	return true;
}

static void take_user(struct top *top, const struct eadm_record *record)
{
	const struct eadm_object *of = eadm_object_find("verbs-user");
	struct top_proc *proc;
	uint64_t value;

	if (take_hidden(top, record, of))
		return;
	proc = owner_of(top, record, "verbs-user");
	if (!proc)
		return;
	proc->is_user = true;
	take_text(record, "verbs-user", "libraries", proc->libraries,
		  sizeof(proc->libraries));
	take_place(proc, record, "verbs-user");
	if (!eadm_record_u64(record, eadm_object_find_field(of, "tx-bytes"),
			     &value))
		take_moved(&proc->moved[TCP_TX], record, value);
	if (!eadm_record_u64(record, eadm_object_find_field(of, "rx-bytes"),
			     &value))
		take_moved(&proc->moved[TCP_RX], record, value);
}

/* Adds the container in which a process runs if the process is already in the list. */
static void take_process(struct top *top, const struct eadm_record *record)
{
	const struct eadm_object *of = eadm_object_find("process");
	struct top_proc *proc;
	uint64_t pid;

	if (eadm_record_u64(record, eadm_object_find_field(of, "pid"), &pid))
		return;
	proc = find(&top->procs, pid);
	if (proc)
		take_place(proc, record, "process");
}

/* ---- QPs ---------------------------------------------------------------------------- */

static void add_rate(double *sum, double rate)
{
	if (rate >= 0)
		*sum = (*sum > 0 ? *sum : 0) + rate;
}

/* Adds the QPs that were just read, with their rates, to their processes. */
static void take_qps(struct top *top)
{
	const struct top_qp *qp;
	struct top_proc *proc;
	size_t i;

	for (i = 0; i < top->qps.n; i++) {
		qp = &top->qps.qp[i];
		proc = qp->has_pid && qp->pid ? get_proc(top, qp->pid, qp->comm) :
						NULL;
		if (!proc)
			continue;
		add_device(proc, top_dev_name(top, qp->dev));
		proc->qps++;
		proc->connected |= qp->connected;
		add_rate(&proc->sq_rate, qp->sq_rate);
		add_rate(&proc->rq_rate, qp->rq_rate);
	}
}

/*
 * Returns the process that owns the QPs of a counter, and sets *@n to their number.
 * Returns NULL if the QPs belong to several processes or their owner is unknown.
 */
static struct top_proc *counted_of(struct top *top, uint32_t dev,
				   const char *qpns, unsigned int *n)
{
	const struct top_qp *qp;
	uint64_t pid = 0;
	char *end;

	*n = 0;
	for (; *qpns; qpns = end) {
		qp = top_qp_find(top, dev, strtoul(qpns, &end, 10));
		if (end == qpns)
			break;
		if (!qp || !qp->has_pid || (pid && pid != qp->pid))
			return NULL;
		pid = qp->pid;
		++*n;
	}
	return pid ? find(&top->procs, pid) : NULL;
}

/* Adds the bytes of a counter that is bound to QPs; drivers use one of these names. */
static void take_counter(struct top *top, const struct eadm_record *record)
{
	static const struct {
		const char *name;
		unsigned int moved;
	} bytes[] = {
		{ "tx_bytes", RDMA_TX }, { "rdma_tx_bytes", RDMA_TX },
		{ "rx_bytes", RDMA_RX }, { "rdma_rx_bytes", RDMA_RX },
	};
	const struct eadm_object *of = eadm_object_find("qp-counter");
	const char *name = eadm_record_string(
		record, eadm_object_find_field(of, "name"));
	const char *qpns = eadm_record_string(
		record, eadm_object_find_field(of, "qpns"));
	uint64_t dev, value;
	struct top_proc *proc;
	unsigned int n;
	size_t i;

	if (!name || !qpns ||
	    eadm_record_u64(record, eadm_object_find_field(of, "dev-index"),
			    &dev) ||
	    eadm_record_u64(record, eadm_object_find_field(of, "value"), &value))
		return;
	for (i = 0; i < ARRAY_SIZE(bytes) && strcmp(bytes[i].name, name); i++)
		;
	proc = i < ARRAY_SIZE(bytes) ? counted_of(top, dev, qpns, &n) : NULL;
	if (!proc)
		return;
	take_moved(&proc->moved[bytes[i].moved], record, value);
	proc->moved[bytes[i].moved].qps += n;
}

/* ---- rates -------------------------------------------------------------------------- */

/* Returns false if the sum lacks a QP and is therefore too low. */
static bool is_whole(const struct top_proc *proc, unsigned int which)
{
	return proc->moved[which].time &&
	       (which == TCP_TX || which == TCP_RX ||
		proc->moved[which].qps == proc->qps);
}

static void set_rates(struct top_proc *proc, const struct top_proc *old)
{
	unsigned int i;

	for (i = 0; i < N_MOVED; i++) {
		struct moved *now = &proc->moved[i];
		const struct moved *then = &old->moved[i];

		/*
		 * There is no rate if a connection or QP has ended, because its bytes
		 * are lost.
		 */
		if (is_whole(proc, i) && is_whole(old, i) &&
		    now->qps == then->qps && now->time > then->time &&
		    now->value >= then->value)
			now->rate = (now->value - then->value) * 1e9 /
				    (now->time - then->time);
	}
}

/* Returns 1 if data is moving, 0 if not, -1 if unknown. */
static int moves(double a, double b, double least)
{
	if ((a > 0 ? a : 0) + (b > 0 ? b : 0) >= least)
		return 1;
	return a < 0 || b < 0 ? -1 : 0;
}

/*
 * If the traffic of QPs is not counted, a connected QP is regarded as traffic. TCP
 * traffic is unknown until the second refresh.
 */
static enum top_on what_moves(const struct top *top,
			      const struct top_proc *proc)
{
	int tcp = moves(proc->moved[TCP_TX].rate, proc->moved[TCP_RX].rate,
			BUSY_TCP);
	int rdma = moves(proc->moved[RDMA_TX].rate, proc->moved[RDMA_RX].rate,
			 1);

	if (rdma < 0)
		rdma = moves(proc->sq_rate, proc->rq_rate, 1e-9);
	if (rdma < 0)
		rdma = proc->connected;
	if (!rdma && top->no_qps)
		return ON_UNKNOWN;
	if (rdma)
		return tcp > 0 ? ON_BOTH : ON_RDMA;
	return tcp > 0 ? ON_TCP : tcp < 0 ? ON_UNKNOWN : ON_IDLE;
}

static void judge(struct top *top)
{
	const struct top_proc *old;
	struct top_proc *proc;
	size_t i;

	for (i = 0; i < top->procs.n; i++) {
		proc = &top->procs.proc[i];
		old = find(&top->old_procs, proc->pid);
		/* The PID may now belong to a different process. */
		if (old && !strcmp(old->comm, proc->comm))
			set_rates(proc, old);
		proc->on = what_moves(top, proc);
	}
}

/* Explains missing data once, because later refreshes would repeat the explanation. */
static void explain(struct top *top)
{
	bool uncounted = false;
	char why[80];
	size_t i;

	for (i = 0; i < top->procs.n; i++)
		uncounted |= top->procs.proc[i].qps &&
			     !is_whole(&top->procs.proc[i], RDMA_TX);
	if (top->hidden && !top->said_hidden) {
		snprintf(why, sizeof(why), "%lu that may use RDMA cannot be read (run as root)",
			 (unsigned long)top->hidden);
		top_note(top, &top->once, "", "processes", why);
	} else if (top->hides_more && !top->said_hidden) {
		top_note(top, &top->once, "", "processes",
			 "those hidden by /proc cannot be read (run as root)");
	}
	if (uncounted && !top->said_uncounted)
		top_note(top, &top->once, "", "TXB/s and RXB/s",
			 "unknown without counters bound to QPs (rdma statistic qp set)");
	top->said_hidden |= top->hidden || top->hides_more;
	top->said_uncounted |= uncounted;
}

/*
 * Returns true if the number of objects is unknown, because reading them is not
 * permitted or not supported.
 */
static bool lacks(struct top *top, const char *name,
		  void (*take)(struct top *top,
			       const struct eadm_record *record))
{
	int ret = top_each(top, &top->row_notes, name, take);

	if (ret >= 0 || ret == -ENODEV)
		return false;
	if (!means_no_objects(ret))
		top_note_error(top, &top->row_notes, name, ret);
	return true;
}

/* Called after the QPs have been read. */
int top_procs_look(struct top *top)
{
	struct proc_set spare = top->old_procs;
	size_t i;

	top->old_procs = top->procs;
	top->procs = spare;
	top->procs.n = 0;
	top->hidden = 0;
	top->hides_more = false;
	take_qps(top);
	top_each(top, NULL, "ctx", take_ctx);
	top->no_cqs = lacks(top, "cq", take_cq);
	top->no_mrs = lacks(top, "mr", take_mr);
	top_each(top, NULL, "qp-counter", take_counter);
	top_each(top, NULL, "verbs-user", take_user);
	for (i = 0; i < top->procs.n && top->procs.proc[i].is_user; i++)
		;
	if (i < top->procs.n)
		top_each(top, NULL, "process", take_process);
	judge(top);
	explain(top);
	return top->failed ? -ENOMEM : 0;
}
