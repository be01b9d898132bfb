// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: lifetime and states (hw 4.7, 4.8, 6.8). */

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "erdma.h"

#define PAGE_SIZES	(SZ_512K | (SZ_512K - SZ_4K))
/* A contiguous ring is described as one page of this size. */
#define RING_PAGE_SHIFT	20

static int check_attr(struct erdma_dev *dev, const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IB_QPT_RC || attr->srq || attr->create_flags || attr->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (cap->max_send_wr > dev->caps.max_send_wr ||
	    cap->max_recv_wr > dev->caps.max_recv_wr ||
	    cap->max_send_sge > ERDMA_MAX_SEND_SGE || cap->max_recv_sge > ERDMA_MAX_RECV_SGE ||
	    cap->max_inline_data > ERDMA_MAX_INLINE)
		return -EINVAL;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	return 0;
}

static int init_user(struct erdma_dev *dev, struct erdma_qp *qp, struct ib_udata *udata,
		     struct erdma_uresp_create_qp *resp)
{
	size_t sq_size = (size_t)qp->sq_depth * ERDMA_WQEBB_SIZE;
	size_t rq_size = (size_t)qp->rq_depth * ERDMA_RQE_SIZE;
	size_t rq_offset = ALIGN(sq_size, ERDMA_HW_PAGE_SIZE);
	struct erdma_ureq_create_queue req;
	int ret;

	ret = eadm_udata_read(udata, &req, sizeof(req), sizeof(req));
	if (ret)
		return ret;
	if (req.rsvd || req.buf_len < rq_offset + rq_size ||
	    !IS_ALIGNED(req.buf_va, ERDMA_HW_PAGE_SIZE))
		return -EINVAL;
	resp->rq_offset = rq_offset;
	ret = erdma_area_pin(dev, &qp->mem->area[0], req.buf_va, sq_size, 0, PAGE_SIZES,
			     ERDMA_QP_INLINE_MTT);
	if (ret)
		return ret;
	ret = erdma_area_pin(dev, &qp->mem->area[1], req.buf_va + rq_offset, rq_size, 0,
			     PAGE_SIZES, ERDMA_QP_INLINE_MTT);
	if (ret)
		return ret;
	return erdma_dbpage_pin(qp->ctx, qp->mem, req.dbrec_va, 2 * ERDMA_DBREC_SIZE, &qp->db);
}

static int init_kernel(struct erdma_dev *dev, struct erdma_qp *qp,
		       const struct ib_qp_init_attr *attr)
{
	int ret;

	ret = erdma_hostmem_ring(dev, qp->mem, 0, (size_t)qp->sq_depth * ERDMA_WQEBB_SIZE,
				 RING_PAGE_SHIFT);
	if (ret)
		return ret;
	ret = erdma_hostmem_ring(dev, qp->mem, 1, (size_t)qp->rq_depth * ERDMA_RQE_SIZE,
				 RING_PAGE_SHIFT);
	if (ret)
		return ret;
	return erdma_kqp_init(qp, attr);
}

static int qp_init(struct erdma_dev *dev, struct erdma_qp *qp,
		   const struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct erdma_uresp_create_qp resp = {};
	bool done = true;
	int ret;

	qp->mem = erdma_hostmem_alloc(&dev->adapter.qps, qp->obj.epoch);
	if (!qp->mem)
		return -ENOMEM;
	ret = eadm_table_reserve(&dev->adapter.qps, &qp->qpn);
	if (ret)
		goto err;
	qp->mem->id = qp->qpn;
	ret = udata ? init_user(dev, qp, udata, &resp) : init_kernel(dev, qp, attr);
	if (ret)
		goto err;
	ret = erdma_cmd_create_qp(dev, qp, &qp->cookie);
	if (ret) {
		/* The effect of a lost command is unknown. */
		done = ret == -EIO || (ret == -ETIMEDOUT && erdma_qp_end(dev, qp));
		goto err_kqp;
	}
	if (udata) {
		resp.qpn = qp->qpn;
		resp.sq_depth = qp->sq_depth;
		resp.rq_depth = qp->rq_depth;
		ret = eadm_udata_write(udata, &resp, sizeof(resp));
		if (ret) {
			done = erdma_qp_end(dev, qp);
			goto err_kqp;
		}
	}
	return 0;

err_kqp:
	if (qp->kqp)
		erdma_kqp_free(qp);
err:
	erdma_hostmem_retire(dev, qp->mem, done);
	return ret;
}

/**
 * erdma_create_qp() - verb: create a QP
 * @ibqp: the QP
 * @attr: its attributes
 * @udata: NULL for the kernel
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibqp->device);
	struct erdma_qp *qp = to_erdma_qp(ibqp);
	int ret;

	ret = check_attr(dev, attr);
	if (ret)
		goto err;
	qp->ctx = rdma_udata_to_drv_context(udata, struct erdma_ctx, base.ibctx);
	/*
	 * Every QP of the adapter has both queues, so an absent queue is created with the smallest
	 * size.
	 */
	qp->sq_depth = roundup_pow_of_two(max(attr->cap.max_send_wr, 1u) *
					  ERDMA_MAX_SQEBB_PER_WQE);
	qp->rq_depth = roundup_pow_of_two(max(attr->cap.max_recv_wr, 1u));
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	mutex_init(&qp->state_lock);
	spin_lock_init(&qp->conn_lock);
	eadm_object_init(&qp->obj, READ_ONCE(dev->adapter.epoch), &ibqp->res);
	qp->state_since = qp->obj.created;
	ret = -EIO;
	if (qp->ctx && eadm_object_is_dead(&dev->adapter, &qp->ctx->base.obj))
		goto err;
	ret = erdma_cq_revive(to_erdma_cq(attr->send_cq));
	if (!ret)
		ret = erdma_cq_revive(to_erdma_cq(attr->recv_cq));
	if (ret)
		goto err;
	ret = qp_init(dev, qp, attr, udata);
	if (ret)
		goto err;
	ibqp->qp_num = qp->qpn;
	if (qp->ctx) {
		qp->owner = get_pid(task_tgid(current));
		qp->owner_uid = current_euid();
		atomic_inc(&qp->ctx->base.qps);
	}
	eadm_table_publish(&dev->adapter.qps, qp->qpn, &qp->obj);
	eadm_count(&dev->adapter, EADM_CNT_QP_CREATES);
	erdma_debug(dev, qp, "QP %u: created, %u and %u entries, CQs %u and %u\n", qp->qpn,
		    qp->sq_depth, qp->rq_depth, to_erdma_cq(attr->send_cq)->cqn,
		    to_erdma_cq(attr->recv_cq)->cqn);
	if (eadm_adapter_hand_over(&dev->adapter, &qp->obj))
		return 0;
	erdma_destroy_qp(ibqp, udata);
	ret = -EIO;
err:
	eadm_count(&dev->adapter, EADM_CNT_QP_CREATE_FAILURES);
	erdma_debug(dev, qp, "cannot create a QP: %d\n", ret);
	return ret;
}

/*
 * Returns true if the QP is neither connected nor about to be connected; then it need not be
 * stopped, and can no longer be connected.
 */
static bool was_never_used(struct erdma_qp *qp)
{
	bool unused;

	mutex_lock(&qp->state_lock);
	unused = qp->state == ERDMA_QPS_IDLE && !qp->cm_closed && !qp->kqp;
	if (unused)
		WRITE_ONCE(qp->state, ERDMA_QPS_ERROR);
	mutex_unlock(&qp->state_lock);
	return unused;
}

/**
 * erdma_destroy_qp() - verb: destroy a QP
 * @ibqp: the QP
 * @udata: NULL for the kernel
 *
 * Context: process; waits for the connection manager to release the QP.
 * Return: 0; memory that the adapter has not released is kept until a reset.
 */
int erdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibqp->device);
	struct erdma_qp *qp = to_erdma_qp(ibqp);
	bool done;

	/* A refusal by the adapter is ignored because the QP is destroyed anyway. */
	if (!was_never_used(qp))
		erdma_qp_stop(qp, ERDMA_QPS_ERROR);
	/* The work must not refer to a QP that no longer exists in the adapter. */
	if (qp->kqp)
		cancel_delayed_work_sync(&qp->kqp->reflush);
	done = erdma_qp_end(dev, qp);
	eadm_table_unpublish(&dev->adapter.qps, qp->qpn, &qp->obj);
	if (qp->kqp)
		erdma_kqp_free(qp);
	if (qp->ctx) {
		put_pid(qp->owner);
		atomic_dec(&qp->ctx->base.qps);
	}
	erdma_hostmem_retire(dev, qp->mem, done);
	mutex_destroy(&qp->state_lock);
	eadm_count(&dev->adapter, EADM_CNT_QP_DESTROYS);
	erdma_debug(dev, qp, "QP %u: destroyed%s\n", qp->qpn,
		    done ? "" : "; its memory is kept");
	return 0;
}

/* @rts: NULL if the connection has ended. */
static void set_connection(struct erdma_qp *qp, const struct erdma_rts *rts)
{
	lockdep_assert_held(&qp->state_lock);
	spin_lock(&qp->conn_lock);
	qp->connected = rts;
	if (rts)
		qp->conn = *rts;
	spin_unlock(&qp->conn_lock);
}

static const char *const names[] = {
	[ERDMA_QPS_IDLE]	= "idle",
	[ERDMA_QPS_RTR]		= "rtr",
	[ERDMA_QPS_RTS]		= "rts",
	[ERDMA_QPS_CLOSING]	= "closing",
	[ERDMA_QPS_TERMINATE]	= "terminate",
	[ERDMA_QPS_ERROR]	= "error",
};

static void set_state(struct erdma_qp *qp, enum erdma_qp_state state)
{
	lockdep_assert_held(&qp->state_lock);
	if (qp->state != state)
		erdma_debug(to_erdma_dev(qp->ibqp.device), qp, "QP %u: %s to %s\n", qp->qpn,
			    names[qp->state], names[state]);
	WRITE_ONCE(qp->state, state);
	WRITE_ONCE(qp->state_since, local_clock());
	if (state == ERDMA_QPS_IDLE)
		set_connection(qp, NULL);
	if (state > ERDMA_QPS_RTS && qp->kqp)
		erdma_kqp_reflush(qp);
}

/* Changes the state in the adapter, then in the driver. */
static int change_state(struct erdma_qp *qp, enum erdma_qp_state state,
			const struct erdma_rts *rts)
{
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);
	struct eadm_adapter *ad = &dev->adapter;
	int ret;

	if (eadm_object_is_dead(ad, &qp->obj)) {
		if (state <= ERDMA_QPS_RTS)
			return -EIO;
	} else {
		ret = erdma_cmd_modify_qp(dev, qp, state, rts);
		/* A QP that the adapter no longer has is stopped, too. */
		if (ret && (state <= ERDMA_QPS_RTS || !eadm_object_is_dead(ad, &qp->obj)))
			return ret;
	}
	set_state(qp, state);
	return 0;
}

/*
 * Implements the table of hw 6.8, except for the change to RTS, which needs a connection. Sets
 * *closed if the connection manager has to be notified.
 */
static int transition(struct erdma_qp *qp, enum erdma_qp_state state, bool *closed)
{
	int ret;

	lockdep_assert_held(&qp->state_lock);
	*closed = false;
	switch (qp->state) {
	case ERDMA_QPS_IDLE:
	case ERDMA_QPS_RTR:
		if (state == ERDMA_QPS_RTS)
			return -EINVAL;
		if (state == ERDMA_QPS_ERROR) {
			*closed = true;
			return change_state(qp, state, NULL);
		}
		/* These two changes do not involve the adapter. */
		if (state == ERDMA_QPS_IDLE || state == ERDMA_QPS_RTR)
			set_state(qp, state);
		return 0;
	case ERDMA_QPS_RTS:
		if (state <= ERDMA_QPS_RTS)
			return 0;
		ret = change_state(qp, state, NULL);
		*closed = !ret || state == ERDMA_QPS_ERROR;
		return ret;
	case ERDMA_QPS_TERMINATE:
		if (state == ERDMA_QPS_ERROR)
			set_state(qp, state);
		return 0;
	case ERDMA_QPS_CLOSING:
		if (state == ERDMA_QPS_CLOSING)
			return 0;
		if (state == ERDMA_QPS_ERROR)
			return change_state(qp, state, NULL);
		if (state != ERDMA_QPS_IDLE)
			return -ECONNABORTED;
		set_state(qp, state);
		return 0;
	default:
		return state > ERDMA_QPS_RTS ? 0 : -EINVAL;
	}
}

/* Called with the lock held because the endpoint might otherwise be freed before it is notified. */
static void tell_cm(struct erdma_qp *qp)
{
	lockdep_assert_held(&qp->state_lock);
	if (qp->cm_closed)
		qp->cm_closed(qp, qp->cm_data);
	qp->cm_closed = NULL;
	qp->cm_data = NULL;
}

static int modify(struct erdma_qp *qp, enum erdma_qp_state state)
{
	bool closed;
	int ret;

	mutex_lock(&qp->state_lock);
	ret = transition(qp, state, &closed);
	if (closed)
		tell_cm(qp);
	mutex_unlock(&qp->state_lock);
	return ret;
}

/**
 * erdma_qp_stop() - take a QP out of service, or keep it from entering service
 * @qp: the QP, referenced
 * @state: ERDMA_QPS_CLOSING, ERDMA_QPS_TERMINATE or ERDMA_QPS_ERROR
 *
 * Notifies the connection manager if this ends a connection (see erdma_qp_attach_cm()).
 *
 * Context: process.
 * Return: 0 or -errno; after ERDMA_QPS_ERROR, the connection manager is detached even if the
 * adapter refused the change.
 */
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state state)
{
	if (WARN_ON_ONCE(state <= ERDMA_QPS_RTS))
		return -EINVAL;
	return modify(qp, state);
}

/*
 * Stops a QP that may or may not be in RTS in the adapter. If it cannot be stopped now, it is still
 * out of service, in a state from which destruction will stop it.
 */
static void stop_unsure(struct erdma_qp *qp)
{
	lockdep_assert_held(&qp->state_lock);
	if (change_state(qp, ERDMA_QPS_ERROR, NULL))
		set_state(qp, ERDMA_QPS_CLOSING);
}

/**
 * erdma_qp_modify_to_rts() - hand a connection over to the adapter
 * @qp: the QP, referenced
 * @rts: the connection
 *
 * Context: process.
 * Return: 0; -EINVAL in a state other than IDLE and RTR; or the error of the command. After
 * -ETIMEDOUT the QP is stopped.
 */
int erdma_qp_modify_to_rts(struct erdma_qp *qp, const struct erdma_rts *rts)
{
	int ret = -EINVAL;

	mutex_lock(&qp->state_lock);
	if (qp->state == ERDMA_QPS_IDLE || qp->state == ERDMA_QPS_RTR) {
		ret = change_state(qp, ERDMA_QPS_RTS, rts);
		if (!ret)
			set_connection(qp, rts);
		else if (ret == -ETIMEDOUT)
			stop_unsure(qp);
	}
	mutex_unlock(&qp->state_lock);
	return ret;
}

/**
 * erdma_qp_attach_cm() - request notification when a QP's connection ends
 * @qp: the QP, referenced for as long as it is attached
 * @closed: called once, in process context and with the QP's state lock held, when the QP leaves
 *	RTS or enters ERROR before that, is lost with the adapter's state, or is destroyed; never
 *	called after erdma_qp_detach_cm()
 * @cm_data: argument of @closed
 *
 * Context: process.
 * Return: 0; -EINVAL in a state other than IDLE and RTR; -EBUSY if already attached.
 */
int erdma_qp_attach_cm(struct erdma_qp *qp,
		       void (*closed)(struct erdma_qp *qp, void *cm_data), void *cm_data)
{
	int ret = 0;

	mutex_lock(&qp->state_lock);
	if (qp->state != ERDMA_QPS_IDLE && qp->state != ERDMA_QPS_RTR) {
		ret = -EINVAL;
	} else if (qp->cm_closed) {
		ret = -EBUSY;
	} else {
		qp->cm_closed = closed;
		qp->cm_data = cm_data;
	}
	mutex_unlock(&qp->state_lock);
	return ret;
}

/**
 * erdma_qp_detach_cm() - cancel the notification
 * @qp: the QP, referenced
 *
 * Context: process.
 */
void erdma_qp_detach_cm(struct erdma_qp *qp)
{
	mutex_lock(&qp->state_lock);
	qp->cm_closed = NULL;
	qp->cm_data = NULL;
	mutex_unlock(&qp->state_lock);
}

/**
 * erdma_qp_get() - find a QP and reference it
 * @dev: the device
 * @qpn: number of the QP
 *
 * Context: any.
 * Return: the QP or NULL; release it with eadm_object_put(&qp->obj).
 */
struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn)
{
	struct eadm_object *obj = eadm_table_get(&dev->adapter.qps, qpn);

	return obj ? container_of(obj, struct erdma_qp, obj) : NULL;
}

/**
 * erdma_qp_event() - deliver an asynchronous event
 * @qp: the QP, referenced
 * @type: type of the event
 *
 * Context: process.
 */
void erdma_qp_event(struct erdma_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	atomic64_inc(&qp->events);
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/**
 * erdma_qp_died() - notify the owner of a QP that the adapter has lost it
 * @qp: the QP, referenced
 *
 * Context: process.
 */
void erdma_qp_died(struct erdma_qp *qp)
{
	erdma_qp_stop(qp, ERDMA_QPS_ERROR);
	/* If the QP was in ERROR already, the state change did not flush its requests. */
	if (qp->kqp)
		erdma_kqp_reflush(qp);
	erdma_qp_event(qp, IB_EVENT_QP_FATAL);
}

static enum erdma_qp_state from_ib_state(enum ib_qp_state state)
{
	static const u8 states[] = {
		[IB_QPS_RESET]	= ERDMA_QPS_IDLE,
		[IB_QPS_INIT]	= ERDMA_QPS_IDLE,
		[IB_QPS_RTR]	= ERDMA_QPS_RTR,
		[IB_QPS_RTS]	= ERDMA_QPS_RTS,
		[IB_QPS_SQD]	= ERDMA_QPS_CLOSING,
		[IB_QPS_SQE]	= ERDMA_QPS_TERMINATE,
	};

	return state < ARRAY_SIZE(states) ? states[state] : ERDMA_QPS_ERROR;
}

/**
 * erdma_qp_ib_state() - return the state of a QP in verbs terms
 * @qp: the QP
 *
 * Context: any.
 */
enum ib_qp_state erdma_qp_ib_state(const struct erdma_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case ERDMA_QPS_IDLE:
		return IB_QPS_INIT;
	case ERDMA_QPS_RTR:
		return IB_QPS_RTR;
	case ERDMA_QPS_RTS:
		return IB_QPS_RTS;
	default:
		return IB_QPS_ERR;
	}
}

/* Only the state is relevant to the adapter. */
static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (!(mask & IB_QP_STATE))
		return 0;
	return modify(to_erdma_qp(ibqp), from_ib_state(attr->qp_state));
}

/*
 * Resource tracking may query the QP during and after its destruction, until its memory is freed:
 * this function uses nothing that destruction frees.
 */
static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init_attr)
{
	struct erdma_dev *dev = to_erdma_dev(ibqp->device);
	struct erdma_qp *qp = to_erdma_qp(ibqp);

	/* Callers copy the whole structure, in some cases to a process. */
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	attr->qp_state = erdma_qp_ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	/* Capacities are in units of the queues, as the provider expects. */
	attr->cap.max_send_wr = qp->sq_depth;
	attr->cap.max_recv_wr = qp->rq_depth;
	attr->cap.max_send_sge = ERDMA_MAX_SEND_SGE;
	attr->cap.max_recv_sge = ERDMA_MAX_RECV_SGE;
	attr->cap.max_inline_data = ERDMA_MAX_INLINE;
	attr->path_mtu = ib_mtu_int_to_enum(READ_ONCE(dev->netdev->mtu));
	attr->max_rd_atomic = ERDMA_MAX_ORD;
	attr->max_dest_rd_atomic = ERDMA_MAX_IRD;
	attr->qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				IB_ACCESS_REMOTE_READ;
	attr->port_num = ERDMA_PORT;

	init_attr->event_handler = ibqp->event_handler;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->cap = attr->cap;
	init_attr->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init_attr->qp_type = ibqp->qp_type;
	return 0;
}

const struct ib_device_ops erdma_qp_ops = {
	.modify_qp = modify_qp,
	.query_qp = query_qp,
};
