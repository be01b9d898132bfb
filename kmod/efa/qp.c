// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs; all belong to processes (hw 7, 12.6). */

#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "efa.h"

/* Producer counters of receive queues are 16 bits wide. */
#define MAX_RQ_BYTES	((U16_MAX + 1) * EFA_RQE_SIZE)

static int check_limits(const struct efa_dev *dev, const struct ib_qp_cap *cap)
{
	const struct efa_queue_attr *limits = &dev->caps.queue;
	u32 max_inline = max_t(u32, le32_to_cpu(limits->max_inline),
			       le16_to_cpu(dev->caps.queue2.max_inline_ext));

	if (cap->max_send_wr > le32_to_cpu(limits->max_sq_depth) ||
	    cap->max_recv_wr > le32_to_cpu(limits->max_rq_depth) ||
	    cap->max_send_sge > le16_to_cpu(limits->max_send_sge) ||
	    cap->max_recv_sge > le16_to_cpu(limits->max_recv_sge) ||
	    cap->max_inline_data > max_inline)
		return -EINVAL;
	return 0;
}

static int check_request(const struct efa_dev *dev, const struct efa_ureq_create_qp *req)
{
	if (req->mask || req->flags & ~EFA_UQP_UNSOLICITED ||
	    memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return -EINVAL;
	if (req->flags & EFA_UQP_UNSOLICITED && !(dev->caps.flags & EFA_DEV_CAP_UNSOLICITED))
		return -EOPNOTSUPP;
	if (req->rq_bytes > MAX_RQ_BYTES || req->rq_bytes % EFA_RQE_SIZE || !req->sq_bytes ||
	    req->sq_bytes > le32_to_cpu(dev->caps.queue.max_llq))
		return -EINVAL;
	return 0;
}

static int set_type(struct efa_qp *qp, const struct ib_qp_init_attr *attr,
		    const struct efa_ureq_create_qp *req)
{
	if (attr->srq || attr->create_flags)
		return -EOPNOTSUPP;
	if (attr->qp_type == IB_QPT_UD)
		qp->type = EFA_QPT_UD;
	else if (attr->qp_type == IB_QPT_DRIVER && req->type == EFA_UQP_SRD)
		qp->type = EFA_QPT_SRD;
	else
		return -EOPNOTSUPP;
	return 0;
}

static bool end(struct efa_dev *dev, struct efa_qp *qp)
{
	WRITE_ONCE(qp->obj.ending, true);
	return eadm_object_ended(&dev->adapter, &qp->obj, efa_cmd_destroy_qp(dev, qp),
				 "destroy QP", qp->qpn);
}

static void remove_entries(struct efa_qp *qp)
{
	eadm_map_remove(qp->rq_entry);
	efa_mmap_put_db(qp->ctx, qp->rq_db_entry);
	eadm_map_remove(qp->llq_entry);
	efa_mmap_put_db(qp->ctx, qp->sq_db_entry);
}

static int offer_rq(struct efa_qp *qp, struct efa_uresp_create_qp *resp)
{
	qp->rq_db_entry = efa_mmap_db(qp->ctx, qp->rq_db);
	qp->rq_entry = efa_mmap_ring(qp->ctx, &qp->mem);
	if (!qp->rq_db_entry || !qp->rq_entry)
		return -ENOMEM;
	resp->rq_db_offset = offset_in_page(qp->rq_db);
	resp->rq_db_key = eadm_map_key(qp->rq_db_entry);
	resp->rq_key = eadm_map_key(qp->rq_entry);
	resp->rq_size = qp->mem.ring_size;
	return 0;
}

static int offer(struct efa_qp *qp, struct ib_udata *udata)
{
	struct efa_uresp_create_qp resp = {
		.sq_db_offset = offset_in_page(qp->sq_db),
		.llq_offset = offset_in_page(qp->llq),
		.send_sub_cq = qp->send_sub_cq,
		.recv_sub_cq = qp->recv_sub_cq,
	};
	int ret;

	qp->sq_db_entry = efa_mmap_db(qp->ctx, qp->sq_db);
	qp->llq_entry = efa_mmap_llq(qp->ctx, qp->llq, qp->sq_bytes);
	if (!qp->sq_db_entry || !qp->llq_entry)
		return -ENOMEM;
	resp.sq_db_key = eadm_map_key(qp->sq_db_entry);
	resp.llq_key = eadm_map_key(qp->llq_entry);
	if (qp->rq_bytes) {
		ret = offer_rq(qp, &resp);
		if (ret)
			return ret;
	}
	return eadm_udata_write(udata, &resp, sizeof(resp));
}

/* Creates the QP in the adapter; retires the memory on error. */
static int begin(struct efa_dev *dev, struct efa_qp *qp, struct ib_udata *udata)
{
	bool done = true;
	int ret = 0;

	if (qp->rq_bytes)
		ret = efa_mem_ring(dev, &qp->mem, qp->rq_bytes, DMA_TO_DEVICE);
	if (!ret)
		ret = efa_cmd_create_qp(dev, qp, &done);
	if (ret)
		goto err_mem;
	qp->ibqp.qp_num = qp->qpn;
	ret = offer(qp, udata);
	if (!ret)
		ret = eadm_table_add_at(&dev->adapter.qps, qp->qpn, &qp->obj);
	if (!ret)
		return 0;
	remove_entries(qp);
	done = end(dev, qp);
err_mem:
	efa_mem_retire(dev, &qp->mem, done);
	return ret;
}

/**
 * efa_create_qp() - verb: create a QP
 * @ibqp: the QP, with device, PD, CQs and type set
 * @attr: its attributes
 * @udata: sizes of the rings, and the response with the ranges that the process may map
 *
 * Context: process.
 * Return: 0 or -errno; -EOPNOTSUPP for kernel callers.
 */
int efa_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibqp->device);
	struct efa_ureq_create_qp req = {};
	struct efa_qp *qp = to_efa_qp(ibqp);
	int ret;

	ret = eadm_udata_read(udata, &req, EFA_UREQ_CREATE_QP_MIN, sizeof(req));
	if (!ret)
		ret = set_type(qp, attr, &req);
	if (!ret)
		ret = check_limits(dev, &attr->cap);
	if (!ret)
		ret = check_request(dev, &req);
	if (ret)
		goto err;
	qp->ctx = rdma_udata_to_drv_context(udata, struct efa_ctx, base.ibctx);
	qp->cap = attr->cap;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->sq_bytes = req.sq_bytes;
	qp->rq_bytes = req.rq_bytes;
	qp->flags = req.flags & EFA_UQP_UNSOLICITED ? EFA_CREATE_QP_UNSOLICITED : 0;
	qp->sl = req.sl;
	mutex_init(&qp->state_lock);
	qp->state = IB_QPS_RESET;
	qp->rnr_retry = EFA_RNR_RETRY_INFINITE;
	eadm_object_init(&qp->obj, qp->ctx->base.obj.epoch, &ibqp->res);
	qp->state_since = qp->obj.created;
	qp->mem.epoch = qp->obj.epoch;
	ret = begin(dev, qp, udata);
	if (ret)
		goto err;
	atomic_inc(&qp->ctx->base.qps);
	eadm_count(&dev->adapter, EADM_CNT_QP_CREATES);
	efa_debug(dev, qp, "QP %u: created, queues of %u and %u bytes\n", qp->qpn, qp->sq_bytes,
		  qp->rq_bytes);
	if (eadm_adapter_hand_over(&dev->adapter, &qp->obj))
		return 0;
	efa_destroy_qp(ibqp, udata);
	ret = -EIO;
err:
	eadm_count(&dev->adapter, EADM_CNT_QP_CREATE_FAILURES);
	efa_debug(dev, qp, "cannot create a QP: %d\n", ret);
	return ret;
}

/**
 * efa_destroy_qp() - verb: destroy a QP
 * @ibqp: the QP
 * @udata: not used
 *
 * Context: process.
 * Return: 0; memory that the adapter has not released is kept until a reset.
 */
int efa_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibqp->device);
	struct efa_qp *qp = to_efa_qp(ibqp);
	bool done;

	/*
	 * The next QP may reuse this device memory, so processes must no longer be able to write to
	 * it.
	 */
	remove_entries(qp);
	done = end(dev, qp);
	eadm_table_remove(&dev->adapter.qps, qp->qpn, &qp->obj);
	efa_mem_retire(dev, &qp->mem, done);
	mutex_destroy(&qp->state_lock);
	atomic_dec(&qp->ctx->base.qps);
	eadm_count(&dev->adapter, EADM_CNT_QP_DESTROYS);
	efa_debug(dev, qp, "QP %u: destroyed%s\n", qp->qpn, done ? "" : "; its memory is kept");
	return 0;
}
