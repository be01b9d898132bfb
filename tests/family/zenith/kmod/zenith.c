// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Driver of an adapter that there is not: what it shows is made of numbers,
 * beside a flight recorder with the commands of /sys/module/zenith/parameters:
 *
 *  command  OP: a command is submitted and answered
 *  lose     OP: a command is submitted and never answered
 *  fail     QPN: this QP fails
 */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "eadm_diag.h"
#include "eadm_failures.h"
#include "eadm_recorder.h"
#include "zenith_classes.h"
#include "zenith_hw.h"
#include "zenith_snap.h"

#define DEPTH		300
#define QPS		2
#define CQS		2
#define SUBS		2
#define LAP_CI		297	/* consumer of the part whose producer is a lap ahead */
#define FRESH		7	/* entries that wait there */
#define LOST_AFTER	(30 * NSEC_PER_SEC)

struct zenith_ibdev {
	struct ib_device ibdev;
};

struct record {
	struct eadm_rec rec;
	bool first_timeout;
};

static struct zenith_ibdev *ib;
static struct eadm_diag_dev diag;
static struct eadm_recorder recorder;
static struct eadm_failures failures;
static DEFINE_SPINLOCK(lock);	/* guards recorder and what follows */
static u64 submitted, answered, lost;

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

static const struct ib_device_ops ib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = port_immutable,
};

/* ----------------------------------------------------------------- objects */

static void *number_next(u32 n, u64 id)
{
	return id < n ? (void *)(unsigned long)(id + 1) : NULL;
}

static u32 number_of(void *obj)
{
	return (unsigned long)obj - 1;
}

static void *one_next(struct eadm_diag_dev *dd, u64 *id)
{
	return number_next(1, *id);
}

static void *two_next(struct eadm_diag_dev *dd, u64 *id)
{
	return number_next(2, *id);
}

static void number_put(struct eadm_diag_dev *dd, void *obj)
{
}

static int dev_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct eadm_snap_dev *s = snap;

	SNAP_STR(s, driver, "zenith");
	SNAP_SET(s, state, EADM_DEV_STATE_READY);
	SNAP_SET(s, port_state, EADM_PORT_STATE_ACTIVE);
	SNAP_SET(s, qps, QPS);
	SNAP_SET(s, cqs, CQS);
	return 0;
}

static int qp_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_qp_zenith *z = own;
	struct eadm_snap_qp *s = snap;

	SNAP_SET(s, qpn, number_of(obj));
	SNAP_SET(s, type, EADM_QP_TYPE_DRIVER);
	SNAP_SET(s, state, EADM_QP_STATE_RTS);
	SNAP_SET(s, send_cqn, 0);
	SNAP_SET(s, recv_cqn, 1);
	SNAP_SET(s, sq_depth, DEPTH);
	SNAP_SET(s, sq_stride, sizeof(struct zenith_sqe));
	SNAP_SET(z, order, EADM_ZENITH_ORDER_SCATTERED);
	if (req->hw) {
		SNAP_SET(s, hw_sq_pi, 2 * DEPTH - 1);
		SNAP_SET(z, hw_paths, 40 + number_of(obj));
	}
	return 0;
}

static int cq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_cq *s = snap;

	SNAP_SET(s, cqn, number_of(obj));
	SNAP_SET(s, depth, DEPTH);
	SNAP_SET(s, eqn, 0);
	SNAP_SET(s, subs, SUBS);
	SNAP_SET(s, events, 17);
	return 0;
}

static int eq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_eq *s = snap;

	SNAP_SET(s, index, 0);
	SNAP_SET(s, role, EADM_EQ_ROLE_ASYNC);
	SNAP_SET(s, depth, DEPTH);
	SNAP_SET(s, ci, 2);
	SNAP_SET((struct eadm_snap_eq_zenith *)own, moderation, 64000);
	return 0;
}

static int mr_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_snap_mr *s = snap;

	SNAP_SET(s, mrn, number_of(obj));
	SNAP_SET(s, iova, 0x5a0000000000ULL);
	SNAP_SET(s, length, 12345);
	return 0;
}

static int cmdq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_cmdq *s = snap;

	spin_lock_irq(&lock);
	SNAP_SET(s, index, 0);
	SNAP_SET(s, state, EADM_CMDQ_STATE_EVENT);
	SNAP_SET(s, submitted, submitted);
	SNAP_SET(s, completed, answered);
	SNAP_SET(s, timeouts, lost);
	SNAP_SET(s, outstanding, 0);
	SNAP_SET(s, recoveries, 0);
	if (req->hw)
		SNAP_SET(s, hw_sq_pi, submitted % (2 * DEPTH));
	spin_unlock_irq(&lock);
	return 0;
}

static void *cmd_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct record *record = kmalloc(sizeof(*record), GFP_KERNEL);
	bool found;

	if (!record)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(&lock);
	found = eadm_recorder_next(&recorder, *id, &record->rec, &record->first_timeout);
	spin_unlock_irq(&lock);
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

static int cmd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	const struct record *record = obj;
	const struct eadm_rec *rec = &record->rec;
	struct eadm_snap_cmd *s = snap;

	SNAP_SET(s, seq, rec->seq);
	SNAP_SET(s, time, rec->time);
	SNAP_SET(s, op, zenith_op_class(rec->op));
	SNAP_SET(s, op_raw, rec->op);
	SNAP_SET(s, state, rec->state == EADM_REC_TIMEOUT ? EADM_CMD_STATE_TIMEOUT :
		 rec->state == EADM_REC_DONE ? EADM_CMD_STATE_DONE : EADM_CMD_STATE_PENDING);
	SNAP_SET(s, status, rec->status);
	SNAP_SET(s, latency, rec->latency);
	SNAP_SET(s, pid, rec->pid);
	SNAP_STR(s, comm, rec->comm);
	SNAP_SET(s, first_timeout, record->first_timeout);
	SNAP_BIN(s, request, rec->request, rec->request_len);
	return 0;
}

#define OBJ(what, type_, next_, put_)							\
	static const struct eadm_diag_obj what##_obj = {				\
		.type = EADM_OBJ_##type_, .next = next_, .put = put_, .fill = what##_fill,	\
	}

OBJ(dev, DEV, one_next, number_put);
OBJ(qp, QP, two_next, number_put);
OBJ(cq, CQ, two_next, number_put);
OBJ(eq, EQ, one_next, number_put);
OBJ(mr, MR, two_next, number_put);
OBJ(cmdq, CMDQ, one_next, number_put);
OBJ(cmd, CMD, cmd_next, cmd_put);

static const struct eadm_diag_obj *const objs[] = {
	&dev_obj, &qp_obj, &cq_obj, &eq_obj, &mr_obj, &cmdq_obj, &cmd_obj, NULL
};

/* ------------------------------------------------------- rings and contexts */

/* Phases of the first lap are 1, those of the second 0. */
static void cqe_write(const struct eadm_diag_ring *ring, u32 place, struct zenith_cqe *cqe)
{
	u32 produced = ring->sub ? LAP_CI + FRESH : 3;
	bool second = place + DEPTH < produced;

	if (!second && place >= produced)
		return;
	cqe->qpn = cpu_to_be32(ring->id);
	cqe->wqe = cpu_to_be32(1000 * ring->sub + place);
	cqe->bytes = cpu_to_le64(4096);
	/* Of the first entries one each was sent, written and received. */
	cqe->hdr = cpu_to_be32((place % 3) << 8 | !second | (place == 1 ? 15 << 16 : 0) |
			       (place % 3 == ZENITH_OP_RECEIVE ? ZENITH_QUEUE_RECEIVE :
				ZENITH_QUEUE_SEND) << 1);
}

static void eqe_write(u32 place, struct zenith_eqe *eqe)
{
	if (place > 2)
		return;
	eqe->hdr = cpu_to_be32((place & 1 ? ZENITH_EVENT_CQ : ZENITH_EVENT_QP) << 24 | 1);
	eqe->qpn = cpu_to_le32(place);
}

static int ring(struct eadm_diag_dev *dd, struct eadm_diag_ring *r, void *buf, size_t room)
{
	u32 i;

	if (r->kind != EADM_RAW_KIND_SQ && r->kind != EADM_RAW_KIND_CQ && r->kind != EADM_RAW_KIND_EQ)
		return -EOPNOTSUPP;
	if (r->id >= (r->kind == EADM_RAW_KIND_EQ ? 1 : 2) ||
	    r->sub >= (r->kind == EADM_RAW_KIND_CQ ? SUBS : 1))
		return -ENOENT;
	if (r->first > DEPTH || r->count > DEPTH - r->first)
		return -ERANGE;
	r->depth = DEPTH;
	r->index = zenith_ring_index(r->kind);
	r->index_bits = zenith_ring_index_bits(r->kind);
	r->memory = EADM_RING_MEMORY_HOST;
	if (r->kind == EADM_RAW_KIND_SQ) {
		r->memory = EADM_RING_MEMORY_DEVICE;
		r->entry_size = sizeof(struct zenith_sqe);
		r->count = 0;
		return 0;
	}
	r->entry_size = r->kind == EADM_RAW_KIND_CQ ? sizeof(struct zenith_cqe) :
			sizeof(struct zenith_eqe);
	r->sw_ci = r->kind == EADM_RAW_KIND_EQ ? 2 : r->sub ? LAP_CI : 1;
	r->valid = EADM_DIAG_RING_SW_CI;
	r->count = min_t(size_t, r->count, room / r->entry_size);
	for (i = 0; i < r->count; i++) {
		if (r->kind == EADM_RAW_KIND_CQ)
			cqe_write(r, r->first + i, buf + i * r->entry_size);
		else
			eqe_write(r->first + i, buf + i * r->entry_size);
	}
	return 0;
}

static int context(struct eadm_diag_dev *dd, u8 kind, u32 id, void *buf)
{
	struct zenith_qpc *qpc = buf;

	if (kind != EADM_RAW_KIND_QPC)
		return -EOPNOTSUPP;
	if (id >= QPS)
		return -ENOENT;
	qpc->qpn = cpu_to_be32(id);
	qpc->paths = cpu_to_be32(40 + id);
	qpc->sprayed = cpu_to_be64(0x123456789aULL);
	qpc->last = cpu_to_le64(640);
	return sizeof(*qpc);
}

static const struct eadm_diag_ops ops = {
	.interface = EADM_DIAG_INTERFACE,
	.family = "zenith",
	.objs = objs,
	.ring = ring,
	.context = context,
	.context_max = sizeof(struct zenith_qpc),
};

/* ---------------------------------------------------------------- commands */

static int submit(const char *val, bool answer)
{
	struct eadm_diag_event ev = { .obj = EADM_OBJ_CMD };
	u32 op, request[] = { 0x5a5a5a5a };
	u64 now = local_clock();
	int ret = kstrtou32(val, 0, &op);

	if (ret)
		return ret;
	spin_lock_irq(&lock);
	ev.id = eadm_recorder_submit(&recorder, now, op, submitted, 1, false, request,
				     sizeof(request));
	submitted++;
	if (answer) {
		eadm_recorder_done(&recorder, ev.id, now + 5000, 0, 0, request, sizeof(request));
		answered++;
	} else {
		eadm_recorder_timeout(&recorder, ev.id, now + LOST_AFTER, -ETIMEDOUT);
		lost++;
	}
	spin_unlock_irq(&lock);
	ev.code = zenith_op_class(op);
	ev.raw = op;
	eadm_diag_notify(&diag, answer ? EADM_DIAG_CMD_DONE : EADM_DIAG_CMD_TIMEOUT, &ev);
	return 0;
}

static int command_set(const char *val, const struct kernel_param *kp)
{
	return submit(val, true);
}

static int lose_set(const char *val, const struct kernel_param *kp)
{
	return submit(val, false);
}

static int fail_set(const char *val, const struct kernel_param *kp)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_QP,
		.has = EADM_FAILURE_SYNDROME | EADM_FAILURE_PEER_QPN,
		.syndrome = 15,
		.cause = zenith_cause_class(15),
		.peer_qpn = 77,
	};
	int ret = kstrtou64(val, 0, &what.id);

	if (ret)
		return ret;
	eadm_failure_set_caller(&what);
	eadm_failures_note(&failures, &what);
	return 0;
}

static const struct kernel_param_ops fail_ops = { .set = fail_set };
module_param_cb(fail, &fail_ops, NULL, 0200);
static const struct kernel_param_ops command_ops = { .set = command_set };
module_param_cb(command, &command_ops, NULL, 0200);
static const struct kernel_param_ops lose_ops = { .set = lose_set };
module_param_cb(lose, &lose_ops, NULL, 0200);

/* ------------------------------------------------------------ come and go */

/* The struct of the auxiliary device is the module's. */
static void adev_release(struct device *dev)
{
}

static int add_diag(void)
{
	int ret;

	diag.ibdev = &ib->ibdev;
	diag.ops = &ops;
	diag.failures = &failures;
	ATOMIC_INIT_NOTIFIER_HEAD(&diag.events);
	diag.adev.name = EADM_DIAG_NAME;
	diag.adev.dev.parent = &ib->ibdev.dev;
	diag.adev.dev.release = adev_release;
	ret = auxiliary_device_init(&diag.adev);
	if (ret)
		return ret;
	ret = __auxiliary_device_add(&diag.adev, "zenith");
	if (ret)
		auxiliary_device_uninit(&diag.adev);
	return ret;
}

static int __init zenith_init(void)
{
	int ret = eadm_recorder_init(&recorder);

	if (ret)
		return ret;
	ret = eadm_failures_init(&failures);
	if (ret)
		goto err_recorder;
	ret = -ENOMEM;
	ib = ib_alloc_device(zenith_ibdev, ibdev);
	if (!ib)
		goto err_failures;
	ib->ibdev.phys_port_cnt = 1;
	ib->ibdev.num_comp_vectors = 1;
	ib_set_device_ops(&ib->ibdev, &ib_ops);
	ret = ib_register_device(&ib->ibdev, "zenith_%d", NULL);
	if (ret)
		goto err_dealloc;
	ret = add_diag();
	if (!ret)
		return 0;
	ib_unregister_device(&ib->ibdev);
err_dealloc:
	ib_dealloc_device(&ib->ibdev);
err_failures:
	eadm_failures_free(&failures);
err_recorder:
	eadm_recorder_free(&recorder);
	return ret;
}
module_init(zenith_init);

static void __exit zenith_exit(void)
{
	auxiliary_device_delete(&diag.adev);
	auxiliary_device_uninit(&diag.adev);
	ib_unregister_device(&ib->ibdev);
	ib_dealloc_device(&ib->ibdev);
	eadm_failures_free(&failures);
	eadm_recorder_free(&recorder);
}
module_exit(zenith_exit);

MODULE_DESCRIPTION("Driver of an adapter that there is not");
MODULE_LICENSE("GPL");
