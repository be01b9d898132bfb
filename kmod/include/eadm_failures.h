/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last failures of a device, each with its time, owner and cause.
 *
 * Failures are kept after their object is destroyed, across recovery and resets, until the driver
 * is unbound. The ring is preallocated and keeps the newest failures. In addition, there is a total
 * for each kind and cause, which includes older failures.
 *
 * The lock is innermost: nothing is locked, called or allocated under it, and it is taken with
 * interrupts disabled, so that a failure can be recorded in any context. This file is independent
 * of the driver: a driver embeds a struct eadm_failures in its device and exports it through
 * eadm_diag_dev.failures.
 */
#ifndef EADM_FAILURES_H
#define EADM_FAILURES_H

#include <linux/cgroup.h>
#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

#include "compat_restrack.h"
#include "eadm_values.h"

#define EADM_FAILURES_KEPT	1024	/* power of two */
#define EADM_FAILURES_RUN	256	/* consecutive records of one kind and cause */
#define EADM_FAILURE_KINDS	8	/* upper limit of the specification's kinds */
#define EADM_FAILURE_CAUSES	64
#define EADM_FAILURE_COMM	24

/* Flags for the members of struct eadm_failure that are set. */
#define EADM_FAILURE_SYNDROME	BIT(0)
#define EADM_FAILURE_ERROR	BIT(1)
#define EADM_FAILURE_ASYNC	BIT(2)
#define EADM_FAILURE_OP		BIT(3)
#define EADM_FAILURE_LOCAL	BIT(4)
#define EADM_FAILURE_PEER	BIT(5)
#define EADM_FAILURE_PEER_QPN	BIT(6)
#define EADM_FAILURE_PROCESS	BIT(7)	/* pid, start_time, comm, cgroup */
#define EADM_FAILURE_KERNEL	BIT(8)	/* comm is the name of a kernel consumer */
#define EADM_FAILURE_QPN	BIT(9)

/**
 * struct eadm_failure - one failure
 * @seq: sequence number, 0 = never used; set by eadm_failures_note()
 * @mono: ktime_get_mono_fast_ns(); set by eadm_failures_note()
 * @real: wall clock, in ns; set by eadm_failures_note()
 * @times: number of failures that the record represents; set by eadm_failures_note()
 * @has: EADM_FAILURE_*
 * @kind: EADM_FAILURE_KIND_*
 * @cause: EADM_CAUSE_*
 * @id: number of the failed object, 0 for the device
 * @syndrome: the cause in the adapter's terms
 * @error: the cause as a negative errno
 * @async: EADM_ASYNC_EVENT_* that reported the failure
 * @async_raw: the adapter's code of the event
 * @op: EADM_CMD_OP_*
 * @op_raw: the adapter's operation code
 * @pid: PID of the owner in the initial PID namespace
 * @start_time: start time of the owner, which distinguishes it from a later process with the same
 *	PID; 0 if the owner had already exited
 * @cgroup: control group of the owner
 * @comm: name of the owner, or of the kernel consumer
 * @addr_len: length of both addresses, 4 or 16
 * @local_port: in the CPU's byte order
 * @peer_port: in the CPU's byte order
 * @local: local address
 * @peer: address of the peer
 * @qpn: the QP of a connection
 * @peer_qpn: the peer's QP
 */
struct eadm_failure {
	u64 seq;
	u64 mono;
	u64 real;
	u32 times;
	u16 has;
	u8 kind;
	u8 cause;
	u64 id;
	u32 syndrome;
	s32 error;
	u32 async;
	u32 async_raw;
	u32 op;
	u32 op_raw;
	u32 pid;
	u64 start_time;
	u64 cgroup;
	char comm[EADM_FAILURE_COMM];
	u8 addr_len;
	u16 local_port;
	u16 peer_port;
	u8 local[16];
	u8 peer[16];
	u32 qpn;
	u32 peer_qpn;
};

/**
 * struct eadm_failure_total - failures of one kind and cause
 * @count: number of failures
 * @mono: monotonic time of the last failure
 * @real: wall clock time of the last failure
 */
struct eadm_failure_total {
	u64 count;
	u64 mono;
	u64 real;
};

/**
 * struct eadm_failures - failures recorded for a device
 * @lock: protects the members below
 * @ring: EADM_FAILURES_KEPT records; number n is at n % EADM_FAILURES_KEPT
 * @next: number of the next record
 * @run: number of consecutive newest records with the same kind and cause
 * @total: totals by kind and cause
 */
struct eadm_failures {
	spinlock_t lock;	/* protects the members below */
	struct eadm_failure *ring;
	u64 next;
	u32 run;
	struct eadm_failure_total total[EADM_FAILURE_KINDS][EADM_FAILURE_CAUSES];
};

/**
 * eadm_failures_init() - allocate the ring
 * @f: the ring, zeroed
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int eadm_failures_init(struct eadm_failures *f)
{
	spin_lock_init(&f->lock);
	f->ring = vzalloc(array_size(EADM_FAILURES_KEPT, sizeof(*f->ring)));
	f->next = 1;
	return f->ring ? 0 : -ENOMEM;
}

/**
 * eadm_failures_free() - free the ring
 * @f: the ring
 *
 * Context: process; the ring is no longer in use.
 */
static inline void eadm_failures_free(struct eadm_failures *f)
{
	vfree(f->ring);
	f->ring = NULL;
}

/**
 * eadm_failures_note() - record a failure
 * @f: the ring
 * @what: the failure; its number and times are set here. If its kind or cause is out of range, it
 *	is recorded as EADM_CAUSE_GENERAL
 *
 * A burst, for example when an adapter loses thousands of QPs, does not displace older records:
 * after EADM_FAILURES_RUN records, further failures are only counted in the last record.
 *
 * Context: any except NMI.
 */
static inline void eadm_failures_note(struct eadm_failures *f, struct eadm_failure *what)
{
	struct eadm_failure_total *total;
	struct eadm_failure *last;
	unsigned long flags;

	if (WARN_ON_ONCE(what->kind >= EADM_FAILURE_KINDS))
		return;
	if (what->cause >= EADM_FAILURE_CAUSES)
		what->cause = EADM_CAUSE_GENERAL;
	what->mono = ktime_get_mono_fast_ns();
	what->real = ktime_get_real_fast_ns();
	what->times = 1;
	spin_lock_irqsave(&f->lock, flags);
	total = &f->total[what->kind][what->cause];
	total->count++;
	total->mono = what->mono;
	total->real = what->real;
	last = &f->ring[(f->next - 1) % EADM_FAILURES_KEPT];
	if (last->seq && last->kind == what->kind && last->cause == what->cause)
		f->run++;
	else
		f->run = 1;
	if (f->run > EADM_FAILURES_RUN) {
		last->times++;
	} else {
		what->seq = f->next++;
		f->ring[what->seq % EADM_FAILURES_KEPT] = *what;
	}
	spin_unlock_irqrestore(&f->lock, flags);
}

/* The task is referenced, but may have exited. */
static inline void eadm_failure_set_task(struct eadm_failure *what, struct task_struct *task)
{
	what->has |= EADM_FAILURE_PROCESS;
	what->pid = task->tgid;
	/* May race with a change of the name; the last byte is always zero. */
	memcpy(what->comm, task->comm, TASK_COMM_LEN);
	rcu_read_lock();
	what->cgroup = cgroup_id(task_dfl_cgroup(task));
	if (pid_alive(task))
		what->start_time = task->group_leader->start_time;
	rcu_read_unlock();
}

/**
 * eadm_failure_set_owner() - set the owner of the failed object
 * @what: the failure
 * @res: the object's entry in resource tracking; the object is referenced
 *
 * Context: process or softirq.
 */
static inline void eadm_failure_set_owner(struct eadm_failure *what,
					  struct rdma_restrack_entry *res)
{
	/* Removing an entry waits for references, but not if the entry was never added. */
	if (!rdma_restrack_is_tracked(res) || !READ_ONCE(res->valid) || !rdma_restrack_get(res))
		return;
	if (!rdma_is_kernel_res(res)) {
		if (res->task)
			eadm_failure_set_task(what, res->task);
	} else if (res->kern_name) {
		strscpy(what->comm, res->kern_name, sizeof(what->comm));
		what->has |= EADM_FAILURE_KERNEL;
	}
	rdma_restrack_put(res);
}

/**
 * eadm_failure_set_caller() - set the current process as the requester of the failed operation
 * @what: the failure
 *
 * Context: process.
 */
static inline void eadm_failure_set_caller(struct eadm_failure *what)
{
	if (!(current->flags & PF_KTHREAD)) {
		eadm_failure_set_task(what, current);
		return;
	}
	memcpy(what->comm, current->comm, TASK_COMM_LEN);
	what->has |= EADM_FAILURE_KERNEL;
}

/**
 * eadm_failure_set_names() - set the addresses of the connection
 * @what: the failure
 * @local: local address and port; ignored if its family is unknown
 * @peer: address and port of the peer
 *
 * Context: any.
 */
static inline void eadm_failure_set_names(struct eadm_failure *what,
					  const struct sockaddr_in *local,
					  const struct sockaddr_in *peer)
{
	what->addr_len = sizeof(local->sin_addr);
	if (local->sin_family == AF_INET) {
		memcpy(what->local, &local->sin_addr, sizeof(local->sin_addr));
		what->local_port = be16_to_cpu(local->sin_port);
		what->has |= EADM_FAILURE_LOCAL;
	}
	if (peer->sin_family == AF_INET) {
		memcpy(what->peer, &peer->sin_addr, sizeof(peer->sin_addr));
		what->peer_port = be16_to_cpu(peer->sin_port);
		what->has |= EADM_FAILURE_PEER;
	}
}

#endif /* EADM_FAILURES_H */
