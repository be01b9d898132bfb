// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues; all belong to processes (hw 8, 12.5). */

#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "efa.h"

static int check(struct efa_dev *dev, const struct ib_cq_init_attr *attr,
		 const struct efa_ureq_create_cq *req)
{
	const struct efa_queue_attr *limits = &dev->caps.queue;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > le32_to_cpu(limits->max_cq_depth))
		return -EINVAL;
	if (req->mask || memchr_inv(req->rsvd, 0, sizeof(req->rsvd)) ||
	    req->flags & ~(EFA_UCQ_CHANNEL | EFA_UCQ_SRC_ADDR))
		return -EINVAL;
	if (req->entry_size != EFA_CQE_LONG_WORDS * sizeof(u32) &&
	    (req->entry_size != EFA_CQE_WORDS * sizeof(u32) || req->flags & EFA_UCQ_SRC_ADDR))
		return -EINVAL;
	if (req->sub_cqs != le16_to_cpu(limits->sub_cqs))
		return -EINVAL;
	if (req->flags & EFA_UCQ_CHANNEL && attr->comp_vector >= dev->nr_eqs)
		return -EOPNOTSUPP;
	return 0;
}

/* Destroys the CQ in the adapter; returns whether the adapter is known to be done with it. */
static bool end(struct efa_dev *dev, struct efa_cq *cq)
{
	WRITE_ONCE(cq->obj.ending, true);
	return eadm_object_ended(&dev->adapter, &cq->obj, efa_cmd_destroy_cq(dev, cq),
				 "destroy CQ", cq->cqn);
}

static void remove_entries(struct efa_cq *cq)
{
	efa_mmap_put_db(cq->ctx, cq->db_entry);
	eadm_map_remove(cq->ring_entry);
}

static int offer(struct efa_cq *cq, struct ib_udata *udata)
{
	struct efa_uresp_create_cq resp = { .cqn = cq->cqn };

	cq->ring_entry = efa_mmap_ring(cq->ctx, &cq->mem);
	if (!cq->ring_entry)
		return -ENOMEM;
	resp.ring_key = eadm_map_key(cq->ring_entry);
	resp.ring_size = cq->mem.ring_size;
	if (cq->has_db) {
		cq->db_entry = efa_mmap_db(cq->ctx, cq->db);
		if (!cq->db_entry)
			return -ENOMEM;
		resp.mask = EFA_UCQ_DB;
		resp.db_offset = offset_in_page(cq->db);
		resp.db_key = eadm_map_key(cq->db_entry);
	}
	return eadm_udata_write(udata, &resp, sizeof(resp));
}

/* Creates the CQ in the adapter; retires the memory on error. */
static int begin(struct efa_dev *dev, struct efa_cq *cq, struct ib_udata *udata)
{
	bool done = true;
	int ret;

	ret = efa_mem_ring(dev, &cq->mem, (size_t)cq->entry_size * cq->depth *
			   le16_to_cpu(dev->caps.queue.sub_cqs), DMA_FROM_DEVICE);
	if (!ret)
		ret = efa_cmd_create_cq(dev, cq, &done);
	if (ret)
		goto err_mem;
	ret = eadm_table_add_at(&dev->adapter.cqs, cq->cqn, &cq->obj);
	if (ret)
		goto err_cq;
	ret = offer(cq, udata);
	if (!ret)
		return 0;
	remove_entries(cq);
	WRITE_ONCE(cq->obj.ending, true);
	eadm_table_remove(&dev->adapter.cqs, cq->cqn, &cq->obj);
err_cq:
	done = end(dev, cq);
err_mem:
	efa_mem_retire(dev, &cq->mem, done);
	return ret;
}

/**
 * efa_create_cq() - verb: create a CQ
 * @ibcq: the CQ
 * @attr: depth of the CQ, and the completion vector of its events
 * @udata: the provider's request, and the response with the ranges it may map
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibcq->device);
	struct efa_ureq_create_cq req = {};
	struct efa_cq *cq = to_efa_cq(ibcq);
	int ret;

	ret = eadm_udata_read(udata, &req, EFA_UREQ_CREATE_CQ_MIN, sizeof(req));
	if (!ret)
		ret = check(dev, attr, &req);
	if (ret)
		goto err;
	cq->ctx = rdma_udata_to_drv_context(udata, struct efa_ctx, base.ibctx);
	cq->depth = attr->cqe;
	cq->entry_size = req.entry_size;
	cq->src_addr = req.flags & EFA_UCQ_SRC_ADDR;
	if (req.flags & EFA_UCQ_CHANNEL)
		cq->eq = &dev->eqs[attr->comp_vector];
	eadm_object_init(&cq->obj, cq->ctx->base.obj.epoch, &ibcq->res);
	ibcq->cqe = attr->cqe;
	cq->mem.epoch = cq->obj.epoch;
	ret = begin(dev, cq, udata);
	if (ret)
		goto err;
	if (cq->eq)
		atomic_inc(&cq->eq->base.cqs);
	atomic_inc(&cq->ctx->base.cqs);
	eadm_count(&dev->adapter, EADM_CNT_CQ_CREATES);
	efa_debug(dev, qp, "CQ %u: created, %u entries of %u bytes\n", cq->cqn, cq->depth,
		  cq->entry_size);
	return 0;

err:
	eadm_count(&dev->adapter, EADM_CNT_CQ_CREATE_FAILURES);
	efa_debug(dev, qp, "cannot create a CQ: %d\n", ret);
	return ret;
}

/* Memory that the adapter has not released is kept until a reset. */
static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibcq->device);
	struct efa_cq *cq = to_efa_cq(ibcq);
	bool done;

	remove_entries(cq);
	done = end(dev, cq);
	eadm_table_remove(&dev->adapter.cqs, cq->cqn, &cq->obj);
	efa_mem_retire(dev, &cq->mem, done);
	if (cq->eq)
		atomic_dec(&cq->eq->base.cqs);
	atomic_dec(&cq->ctx->base.cqs);
	eadm_count(&dev->adapter, EADM_CNT_CQ_DESTROYS);
	efa_debug(dev, qp, "CQ %u: destroyed%s\n", cq->cqn, done ? "" : "; its memory is kept");
	return 0;
}

/**
 * efa_cq_event() - deliver a completion event
 * @cq: the CQ, referenced
 * @now: a recent value of local_clock()
 *
 * Context: any.
 */
void efa_cq_event(struct efa_cq *cq, u64 now)
{
	atomic64_inc(&cq->events);
	WRITE_ONCE(cq->last_event, now);
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

const struct ib_device_ops efa_cq_ops = {
	.destroy_cq = destroy_cq,
};
