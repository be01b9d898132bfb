// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs whose form differs between kernels: each calls the one of the same name,
 * which has the form of 6.1. What a kernel does not ask for is not offered.
 */

#include <linux/slab.h>

#include "erdma.h"

#ifdef COMPAT_HAVE_CREATE_CQ_ATTRS
static int op_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	return erdma_create_cq(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
#define op_create_cq	erdma_create_cq
#endif

#ifdef COMPAT_HAVE_QP_OBJ_SIZE
#define op_create_qp	erdma_create_qp
#define op_destroy_qp	erdma_destroy_qp
#else
/* The core leaves the memory to the driver, and sets these when it is back. */
static struct ib_qp *op_create_qp(struct ib_pd *ibpd, struct ib_qp_init_attr *attr,
				  struct ib_udata *udata)
{
	struct erdma_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int ret;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->ibqp.device = ibpd->device;
	qp->ibqp.pd = ibpd;
	qp->ibqp.real_qp = &qp->ibqp;
	qp->ibqp.qp_type = attr->qp_type;
	qp->ibqp.send_cq = attr->send_cq;
	qp->ibqp.recv_cq = attr->recv_cq;
	qp->ibqp.event_handler = attr->event_handler;
	qp->ibqp.qp_context = attr->qp_context;
	ret = erdma_create_qp(&qp->ibqp, attr, udata);
	if (ret) {
		kfree(qp);
		return ERR_PTR(ret);
	}
	return &qp->ibqp;
}

static int op_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	int ret = erdma_destroy_qp(ibqp, udata);

	if (!ret)
		kfree(to_erdma_qp(ibqp));
	return ret;
}
#endif

#ifdef COMPAT_HAVE_REG_DMAH
/* There are no handles for DMA where no verb makes any. */
static struct ib_mr *op_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
				    int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return erdma_reg_user_mr(ibpd, start, length, virt, access, udata);
}

static struct ib_mr *op_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
					   int fd, int access, struct ib_dmah *dmah,
					   struct uverbs_attr_bundle *attrs)
{
	return erdma_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
					&attrs->driver_udata);
}
#else
#define op_reg_user_mr	erdma_reg_user_mr
#ifdef COMPAT_HAVE_REG_DMABUF_ATTRS
static struct ib_mr *op_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
					   int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return erdma_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
					&attrs->driver_udata);
}
#else
#define op_reg_user_mr_dmabuf	erdma_reg_user_mr_dmabuf
#endif
#endif

#ifdef COMPAT_HAVE_GET_VECTOR_AFFINITY
static const struct cpumask *op_get_vector_affinity(struct ib_device *ibdev, int vector)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);

	return vector < 0 || vector >= dev->nr_ceqs ? NULL : &dev->ceqs[vector].affinity;
}
#endif

static const struct ib_device_ops compat_ops = {
#ifdef COMPAT_HAVE_ALLOC_HW_PORT_STATS
	.alloc_hw_port_stats = erdma_alloc_hw_port_stats,
#else
	.alloc_hw_stats = erdma_alloc_hw_port_stats,
#endif
	.create_cq = op_create_cq,
	.create_qp = op_create_qp,
	.destroy_qp = op_destroy_qp,
#ifdef COMPAT_HAVE_GET_VECTOR_AFFINITY
	.get_vector_affinity = op_get_vector_affinity,
#endif
	.reg_user_mr = op_reg_user_mr,
#if defined(COMPAT_HAVE_REG_DMABUF) && defined(COMPAT_HAVE_UMEM_DMABUF_PINNED)
	.reg_user_mr_dmabuf = op_reg_user_mr_dmabuf,
#endif
#ifdef COMPAT_HAVE_QP_OBJ_SIZE

	INIT_RDMA_OBJ_SIZE(ib_qp, erdma_qp, ibqp),
#endif
};

/**
 * erdma_compat_init() - the verbs of this file
 * @ibdev: the RDMA device, not registered yet
 */
void erdma_compat_init(struct ib_device *ibdev)
{
	ib_set_device_ops(ibdev, &compat_ops);
	compat_allow_commands(ibdev);
}
