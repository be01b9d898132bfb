// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A driver without a device, for tests of the companion: an RDMA device that
 * can do nothing, with a diagnostic device in the name of a family's driver. Its
 * objects are made of numbers and obey module parameters under
 * /sys/module/fakediag/parameters:
 *
 *  live    1/0: the device is there
 *  interface  number of the interface that the driver was built with
 *  rows    QPs 1 to N; even ones belong to the kernel, odd ones to the process
 *	    that wrote "owner"
 *  owner   any number: the writing process owns the odd QPs
 *  touch   type: an object of this type came or went
 *  hold    N: fill() of QPs N and above waits, 0: goes on
 *  held    how many wait
 *  cmds    records 1 to N exist, a new one is pending
 *  oldest  records below that number are overwritten
 *  end     this record ends
 *  fail    "KIND CAUSE N": so many failures are noted, of the writing process
 *  fail_irq any number: that the adapter is gone is noted in an interrupt
 */
#include <linux/auxiliary_bus.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "eadm_diag.h"
#include "eadm_failures.h"
#include "family.h"	/* FAKE_FAMILY, fake_qp_own() */

#define MAX_CMDS	4096

struct fake_ibdev {
	struct ib_device ibdev;
};

struct fake {
	struct fake_ibdev *ib;
	struct eadm_diag_dev dd;
};

static DEFINE_MUTEX(live_lock);	/* one coming or going at a time */
static DEFINE_MUTEX(lock);	/* guards fake */
static DECLARE_WAIT_QUEUE_HEAD(release);
static atomic_t held;
static unsigned int hold;
static struct fake *fake;
static unsigned int rows = 10;
static unsigned int cmds;
static unsigned int oldest = 1;
static unsigned int no_memory;	/* first record that there is no memory for, 0: none */
static u8 cmd_state[MAX_CMDS + 1];
static struct eadm_failures failures;
static struct rdma_restrack_entry kernel_res = {
	.kern_name = "fake", .type = RDMA_RESTRACK_QP, .kref = KREF_INIT(1), .id = 2, .valid = true,
};

static struct rdma_restrack_entry user_res = {
	.user = true, .type = RDMA_RESTRACK_QP, .kref = KREF_INIT(1), .id = 1, .valid = true,
};

/* ------------------------------------------------------------- RDMA device */

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	return 0;
}

static int port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *imm)
{
	imm->core_cap_flags = RDMA_CORE_PORT_USNIC;
	return 0;
}

/* Only a device that can be taken from its users can change its namespace. */
static void disassociate(struct ib_ucontext *ucontext)
{
}

static const struct ib_device_ops ib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.disassociate_ucontext = disassociate,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = port_immutable,
};

/* ----------------------------------------------------------------- objects */

static void *number_next(unsigned int first, unsigned int last, u64 *id)
{
	if (*id < first)
		*id = first;
	return *id <= last ? (void *)(unsigned long)*id : NULL;
}

static void number_put(struct eadm_diag_dev *dd, void *obj)
{
}

static void *dev_next(struct eadm_diag_dev *dd, u64 *id)
{
	return number_next(1, 1, id);
}

static int dev_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct eadm_snap_dev *s = snap;

	SNAP_STR(s, driver, "fakediag");
	SNAP_SET(s, state, EADM_DEV_STATE_READY);
	SNAP_SET(s, numa_node, -1);
	SNAP_BIN(s, mac, "\x02\x00\x00\x00\x00\x01", 6);
	SNAP_SET(s, caps, EADM_DEV_CAP_QUERY_CONTEXTS | EADM_DEV_CAP_STATS);
	SNAP_SET(s, max_mr_size, 1ULL << 40);
	SNAP_SET(s, qps, rows);
	return 0;
}

static void *qp_next(struct eadm_diag_dev *dd, u64 *id)
{
	return number_next(1, READ_ONCE(rows), id);
}

static struct rdma_restrack_entry *qp_res(void *obj)
{
	return (unsigned long)obj & 1 ? &user_res : &kernel_res;
}

static bool is_held(unsigned long qpn)
{
	unsigned int from = READ_ONCE(hold);

	return from && qpn >= from;
}

static int qp_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_qp *s = snap;

	if (is_held((unsigned long)obj)) {
		atomic_inc(&held);
		wait_event(release, !is_held((unsigned long)obj));
		atomic_dec(&held);
	}
	SNAP_SET(s, qpn, (unsigned long)obj);
	SNAP_SET(s, type, EADM_QP_TYPE_RC);
	SNAP_SET(s, state, EADM_QP_STATE_RTS);
	SNAP_SET(s, sq_depth, 128);
	SNAP_SET(s, sq_pi, (unsigned long)obj & 0xffff);
	SNAP_BIN(s, peer_addr, "\x0a\x00\x00\x01", 4);
	fake_qp_own(own);
	SNAP_SET(s, age, (unsigned long)obj * 1000000000ULL);
	SNAP_SET(s, events, 7);
	if (req->hw) {
		SNAP_SET(s, hw_sq_pi, 5);
		SNAP_SET(s, hw_sq_addr, 0x123456789000ULL);
	}
	return 0;
}

static void *mr_next(struct eadm_diag_dev *dd, u64 *id)
{
	return number_next(1, 1, id);
}

static int mr_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_mr *s = snap;

	SNAP_SET(s, mrn, 1);
	SNAP_SET(s, lkey, 0x100);
	SNAP_SET(s, rkey, 0x100);
	SNAP_SET(s, iova, 0x7f0000000000ULL);
	SNAP_SET(s, length, 1ULL << 33);
	SNAP_SET(s, access, EADM_MR_ACCESS_LOCAL_WRITE | EADM_MR_ACCESS_REMOTE_READ);
	return 0;
}

static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	if (READ_ONCE(no_memory) && *id >= READ_ONCE(no_memory))
		return ERR_PTR(-ENOMEM);
	return number_next(READ_ONCE(oldest), READ_ONCE(cmds), id);
}

static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	unsigned long seq = (unsigned long)obj;
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, seq, seq);
	SNAP_SET(s, time, 1000000000ULL * seq);
	SNAP_SET(s, op, seq & 1 ? EADM_CMD_OP_CREATE_QP : EADM_CMD_OP_REG_MR);
	SNAP_SET(s, state, cmd_state[seq]);
	SNAP_SET(s, status, 0);
	if (!(seq % 5))
		SNAP_SET(s, syndrome_raw, 3);
	SNAP_SET(s, latency, cmd_state[seq] == EADM_CMD_STATE_PENDING ? 0 : 1000 * seq);
	SNAP_SET(s, pid, 1);
	SNAP_STR(s, comm, "init");
	SNAP_BIN(s, request, "secret!", 7);
	return 0;
}

static const struct eadm_diag_obj dev_obj = {
	.type = EADM_OBJ_DEV, .next = dev_next, .put = number_put, .fill = dev_fill,
};

static const struct eadm_diag_obj qp_obj = {
	.type = EADM_OBJ_QP, .next = qp_next, .put = number_put, .res = qp_res, .fill = qp_fill,
};

static const struct eadm_diag_obj mr_obj = {
	.type = EADM_OBJ_MR, .next = mr_next, .put = number_put, .fill = mr_fill,
};

static const struct eadm_diag_obj cmd_obj = {
	.type = EADM_OBJ_CMD, .next = cmd_next, .put = number_put, .fill = cmd_fill,
};

static const struct eadm_diag_obj *const objs[] = {
	&dev_obj, &qp_obj, &mr_obj, &cmd_obj, NULL
};

/*
 * A CQ that completions overtake: whoever looks again finds its pointer far
 * from where it was.
 */
#define RING_DEPTH	256
#define RING_STEP	100

static int fake_ring(struct eadm_diag_dev *dd, struct eadm_diag_ring *ring, void *buf,
		     size_t room)
{
	static atomic_t looks = ATOMIC_INIT(0);

	if (ring->kind != EADM_RAW_KIND_CQ)
		return -EOPNOTSUPP;
	if (ring->first > RING_DEPTH || ring->count > RING_DEPTH - ring->first)
		return -ERANGE;
	ring->entry_size = FAKE_CQE_SIZE;
	ring->depth = RING_DEPTH;
	ring->count = min_t(size_t, ring->count, room / ring->entry_size);
	ring->sw_ci = atomic_add_return(RING_STEP, &looks);
	ring->valid = EADM_DIAG_RING_SW_CI;
	ring->index = fake_ring_index(ring->kind);
	ring->index_bits = fake_ring_index_bits(ring->kind);
	return 0;
}

static struct eadm_diag_ops ops = {
	.interface = EADM_DIAG_INTERFACE, .family = FAKE_FAMILY, .objs = objs, .ring = fake_ring,
};

/* ------------------------------------------------------------ come and go */

static ssize_t interface_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%08x\n", ops.interface);
}
static DEVICE_ATTR_RO(interface);

static struct attribute *fake_attrs[] = { &dev_attr_interface.attr, NULL };
ATTRIBUTE_GROUPS(fake);

/* The struct of the auxiliary device lives in ours, freed by fake_remove(). */
static void adev_release(struct device *dev)
{
}

static int fake_add(void)
{
	struct fake *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!f)
		return ret;
	f->ib = ib_alloc_device(fake_ibdev, ibdev);
	if (!f->ib)
		goto err_free;
	f->ib->ibdev.phys_port_cnt = 1;
	f->ib->ibdev.num_comp_vectors = 1;
	ib_set_device_ops(&f->ib->ibdev, &ib_ops);
	ret = ib_register_device(&f->ib->ibdev, "fake%d", NULL);
	if (ret)
		goto err_dealloc;

	f->dd.ibdev = &f->ib->ibdev;
	f->dd.ops = &ops;
	f->dd.failures = &failures;
	ATOMIC_INIT_NOTIFIER_HEAD(&f->dd.events);
	f->dd.adev.name = EADM_DIAG_NAME;
	f->dd.adev.id = f->ib->ibdev.index;
	f->dd.adev.dev.parent = &f->ib->ibdev.dev;
	f->dd.adev.dev.release = adev_release;
	f->dd.adev.dev.groups = fake_groups;
	ret = auxiliary_device_init(&f->dd.adev);
	if (ret)
		goto err_unregister;
	ret = __auxiliary_device_add(&f->dd.adev, FAKE_FAMILY);
	if (ret) {
		auxiliary_device_uninit(&f->dd.adev);
		goto err_unregister;
	}
	mutex_lock(&lock);
	fake = f;
	mutex_unlock(&lock);
	return 0;

err_unregister:
	ib_unregister_device(&f->ib->ibdev);
err_dealloc:
	ib_dealloc_device(&f->ib->ibdev);
err_free:
	kfree(f);
	return ret;
}

static void fake_remove(void)
{
	struct fake *f = fake;

	mutex_lock(&lock);
	fake = NULL;
	mutex_unlock(&lock);
	auxiliary_device_delete(&f->dd.adev);
	auxiliary_device_uninit(&f->dd.adev);
	ib_unregister_device(&f->ib->ibdev);
	ib_dealloc_device(&f->ib->ibdev);
	kfree(f);
}

/* -------------------------------------------------------------- parameters */

static int number_of(const char *val, unsigned int max, unsigned int *number)
{
	int ret = kstrtouint(val, 0, number);

	if (ret)
		return ret;
	return *number > max ? -ERANGE : 0;
}

static int live_set(const char *val, const struct kernel_param *kp)
{
	unsigned int on;
	int ret = number_of(val, 1, &on);

	if (ret)
		return ret;
	/* Removal may wait for "hold", which takes the same lock. */
	kernel_param_unlock(THIS_MODULE);
	mutex_lock(&live_lock);
	if (on && !fake)
		ret = fake_add();
	else if (!on && fake)
		fake_remove();
	mutex_unlock(&live_lock);
	kernel_param_lock(THIS_MODULE);
	return ret;
}

static int owner_set(const char *val, const struct kernel_param *kp)
{
	if (user_res.task)
		put_task_struct(user_res.task);
	user_res.task = get_task_struct(current);
	return 0;
}

static int touch_set(const char *val, const struct kernel_param *kp)
{
	unsigned int type;
	int ret = number_of(val, EADM_OBJ_COUNT - 1, &type);

	mutex_lock(&lock);
	if (!ret && fake)
		eadm_diag_changed(&fake->dd, type);
	mutex_unlock(&lock);
	return ret;
}

static int hold_set(const char *val, const struct kernel_param *kp)
{
	unsigned int from;
	int ret = number_of(val, UINT_MAX, &from);

	if (ret)
		return ret;
	WRITE_ONCE(hold, from);
	wake_up_all(&release);
	return 0;
}

static int held_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&held));
}

static int cmds_set(const char *val, const struct kernel_param *kp)
{
	unsigned int number;
	int ret = number_of(val, MAX_CMDS, &number);

	if (ret)
		return ret;
	while (cmds < number) {
		cmd_state[cmds + 1] = EADM_CMD_STATE_PENDING;
		WRITE_ONCE(cmds, cmds + 1);
	}
	return 0;
}

static int end_set(const char *val, const struct kernel_param *kp)
{
	struct eadm_diag_event ev = { .obj = EADM_OBJ_CMD };
	unsigned int seq;
	int ret = number_of(val, MAX_CMDS, &seq);

	if (ret)
		return ret;
	WRITE_ONCE(cmd_state[seq], EADM_CMD_STATE_DONE);
	ev.id = seq;
	mutex_lock(&lock);
	if (fake && eadm_diag_is_followed(&fake->dd))
		eadm_diag_notify(&fake->dd, EADM_DIAG_CMD_DONE, &ev);
	mutex_unlock(&lock);
	return 0;
}

static int followers_get(char *buf, const struct kernel_param *kp)
{
	int n;

	mutex_lock(&lock);
	n = fake ? atomic_read(&fake->dd.followers) : 0;
	mutex_unlock(&lock);
	return sysfs_emit(buf, "%d\n", n);
}

static int fail_set(const char *val, const struct kernel_param *kp)
{
	const struct sockaddr_in local = { 0 }, peer = {
		.sin_family = AF_INET, .sin_port = htons(7174), .sin_addr.s_addr = htonl(0x0a000001),
	};
	unsigned int kind, cause, n, i;

	if (sscanf(val, "%u %u %u", &kind, &cause, &n) != 3)
		return -EINVAL;
	for (i = 1; i <= n; i++) {
		struct eadm_failure what = { .kind = kind, .cause = cause, .id = i };

		eadm_failure_set_caller(&what);
		eadm_failure_set_names(&what, &local, &peer);
		eadm_failures_note(&failures, &what);
	}
	return 0;
}

static void fail_in_irq(struct irq_work *work)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_DEVICE, .cause = EADM_CAUSE_ADAPTER_GONE,
	};

	eadm_failures_note(&failures, &what);
}

static int fail_irq_set(const char *val, const struct kernel_param *kp)
{
	struct irq_work work;

	init_irq_work(&work, fail_in_irq);
	irq_work_queue(&work);
	irq_work_sync(&work);
	return 0;
}

#define PARAM_SET(name)							\
	static const struct kernel_param_ops name##_ops = { .set = name##_set };	\
	module_param_cb(name, &name##_ops, NULL, 0200)

PARAM_SET(live);
PARAM_SET(owner);
PARAM_SET(touch);
PARAM_SET(hold);
PARAM_SET(cmds);
PARAM_SET(end);
PARAM_SET(fail);
PARAM_SET(fail_irq);
static const struct kernel_param_ops held_ops = { .get = held_get };
module_param_cb(held, &held_ops, NULL, 0400);
static const struct kernel_param_ops followers_ops = { .get = followers_get };
module_param_cb(followers, &followers_ops, NULL, 0400);
module_param(rows, uint, 0600);
module_param(oldest, uint, 0600);
module_param_named(interface, ops.interface, uint, 0600);
module_param(no_memory, uint, 0600);

static int __init fake_init(void)
{
	return eadm_failures_init(&failures);
}
module_init(fake_init);

static void __exit fake_exit(void)
{
	if (fake)
		fake_remove();
	if (user_res.task)
		put_task_struct(user_res.task);
	eadm_failures_free(&failures);
}
module_exit(fake_exit);

MODULE_DESCRIPTION("A diagnostic device without a device");
MODULE_LICENSE("GPL");
