// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of an object, under the same rules as in RDMA netlink: an object is visible wherever
 * its device is visible, but its owner process is named only in PID namespaces in which it has a
 * PID.
 */
#include <linux/cgroup.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "compat_restrack.h"
#include "eadm.h"

static void *set_field(const struct eadm_field *field, void *snap)
{
	*(u8 *)(snap + field->has) = 1;
	return snap + field->off;
}

static u64 task_cgroup_id(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

/* Returns 0 for a task that has exited. */
static u32 task_netns(struct task_struct *task)
{
	u32 inum = 0;

	task_lock(task);
	if (task->nsproxy)
		inum = task->nsproxy->net_ns->ns.inum;
	task_unlock(task);
	return inum;
}

static void fill_task(const struct eadm_object *obj, struct task_struct *task, pid_t pid,
		      void *snap, unsigned int rights)
{
	const struct eadm_field *const *f = obj->owner;
	char comm[TASK_COMM_LEN];
	u32 inum;

	if (f[EADM_OWNER_PID])
		*(u32 *)set_field(f[EADM_OWNER_PID], snap) = pid;
	if (f[EADM_OWNER_COMM]) {
		get_task_comm(comm, task);
		strscpy(set_field(f[EADM_OWNER_COMM], snap), comm, f[EADM_OWNER_COMM]->len);
	}
	if (!(rights & BIT(EADM_PERM_ADMIN)))
		return;
	if (f[EADM_OWNER_CGROUP_ID])
		*(u64 *)set_field(f[EADM_OWNER_CGROUP_ID], snap) = task_cgroup_id(task);
	inum = f[EADM_OWNER_NETNS] ? task_netns(task) : 0;
	if (inum)
		*(u32 *)set_field(f[EADM_OWNER_NETNS], snap) = inum;
}

/* The entry is referenced, so its task and name stay valid. */
static void fill_entry(const struct eadm_object *obj, const struct rdma_restrack_entry *res,
		       void *snap, unsigned int rights)
{
	const struct eadm_field *const *f = obj->owner;
	pid_t pid;

	if (f[EADM_OWNER_RES_ID])
		*(u32 *)set_field(f[EADM_OWNER_RES_ID], snap) = res->id;
	if (rdma_is_kernel_res(res)) {
		if (f[EADM_OWNER_COMM] && res->kern_name)
			snprintf(set_field(f[EADM_OWNER_COMM], snap), f[EADM_OWNER_COMM]->len,
				 "[%s]", res->kern_name);
		return;
	}
	/* The PID is 0 if the task has exited or is not visible to the reader. */
	pid = res->task ? task_pid_vnr(res->task) : 0;
	if (pid)
		fill_task(obj, res->task, pid, snap, rights);
}

static void fill_maker(const struct eadm_object *obj, struct pid *owner, void *snap,
		       unsigned int rights)
{
	struct task_struct *task = get_pid_task(owner, PIDTYPE_TGID);
	pid_t pid = task ? task_tgid_vnr(task) : 0;

	if (pid)
		fill_task(obj, task, pid, snap, rights);
	if (task)
		put_task_struct(task);
}

/**
 * eadm_owner_fill() - set the owner fields of a row
 * @obj: kind of object
 * @ops: the driver's operations for it
 * @row: the driver's object
 * @snap: snapshot struct of the object, zeroed
 * @rights: BIT(EADM_PERM_*) of the reader
 *
 * An object unknown to resource tracking (a region inside a PD, an object that is being created or
 * destroyed) has no owner.
 *
 * Context: may sleep; runs in the reader's context.
 */
void eadm_owner_fill(const struct eadm_object *obj, const struct eadm_diag_obj *ops,
		     void *row, void *snap, unsigned int rights)
{
	struct rdma_restrack_entry *res = ops->res ? ops->res(row) : NULL;

	if (!res && ops->owner)
		fill_maker(obj, ops->owner(row), snap, rights);
	/*
	 * Removing an entry waits for references, but not if the entry could not be added. Hold
	 * this reference only briefly.
	 */
	if (!res || !rdma_restrack_is_tracked(res) || !READ_ONCE(res->valid) ||
	    !rdma_restrack_get(res))
		return;
	fill_entry(obj, res, snap, rights);
	rdma_restrack_put(res);
}
