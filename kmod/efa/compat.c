// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs whose form differs between kernels: each calls the one of the same name,
 * which has the form of 6.1. What a kernel does not ask for is not offered.
 */

#include <linux/slab.h>

#include "efa.h"

#ifdef COMPAT_HAVE_CREATE_CQ_ATTRS
static int op_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	return efa_create_cq(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
#define op_create_cq	efa_create_cq
#endif

#ifdef COMPAT_HAVE_QP_OBJ_SIZE
#define op_create_qp	efa_create_qp
#define op_destroy_qp	efa_destroy_qp
#else
/* The core leaves the memory to the driver, and sets these when it is back. */
static struct ib_qp *op_create_qp(struct ib_pd *ibpd, struct ib_qp_init_attr *attr,
				  struct ib_udata *udata)
{
	struct efa_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
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
	ret = efa_create_qp(&qp->ibqp, attr, udata);
	if (ret) {
		kfree(qp);
		return ERR_PTR(ret);
	}
	return &qp->ibqp;
}

static int op_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	int ret = efa_destroy_qp(ibqp, udata);

	if (!ret)
		kfree(to_efa_qp(ibqp));
	return ret;
}
#endif

#ifdef COMPAT_HAVE_REG_DMAH
/* There are no handles for DMA where no verb makes any. */
static struct ib_mr *op_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
				    int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return dmah ? ERR_PTR(-EOPNOTSUPP) :
		      efa_reg_user_mr(ibpd, start, length, virt, access, udata);
}

static struct ib_mr *op_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
					   int fd, int access, struct ib_dmah *dmah,
					   struct uverbs_attr_bundle *attrs)
{
	return dmah ? ERR_PTR(-EOPNOTSUPP) :
		      efa_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
					     &attrs->driver_udata);
}
#else
#define op_reg_user_mr	efa_reg_user_mr
#ifdef COMPAT_HAVE_REG_DMABUF_ATTRS
static struct ib_mr *op_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
					   int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return efa_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
				      &attrs->driver_udata);
}
#else
#define op_reg_user_mr_dmabuf	efa_reg_user_mr_dmabuf
#endif
#endif

#ifndef COMPAT_HAVE_ALLOC_HW_PORT_STATS
static struct rdma_hw_stats *op_alloc_hw_stats(struct ib_device *ibdev, compat_port_t port)
{
	return port ? efa_alloc_port_stats(ibdev, port) : efa_alloc_device_stats(ibdev);
}
#endif

static const struct ib_device_ops compat_ops = {
#ifdef COMPAT_HAVE_ALLOC_HW_PORT_STATS
	.alloc_hw_device_stats = efa_alloc_device_stats,
	.alloc_hw_port_stats = efa_alloc_port_stats,
#else
	.alloc_hw_stats = op_alloc_hw_stats,
#endif
#ifdef COMPAT_HAVE_CREATE_USER_AH
	.create_user_ah = efa_create_ah,
#else
	.create_ah = efa_create_ah,
#endif
	.create_cq = op_create_cq,
	.create_qp = op_create_qp,
	.destroy_qp = op_destroy_qp,
	.reg_user_mr = op_reg_user_mr,
#if defined(EFA_P2P) && defined(COMPAT_HAVE_REG_DMABUF) && \
	defined(COMPAT_HAVE_UMEM_DMABUF_PINNED)
	.reg_user_mr_dmabuf = op_reg_user_mr_dmabuf,
#endif
#ifdef COMPAT_HAVE_QP_OBJ_SIZE

	INIT_RDMA_OBJ_SIZE(ib_qp, efa_qp, ibqp),
#endif
};

/**
 * efa_compat_init() - the verbs of this file
 * @ibdev: the RDMA device, not registered yet
 */
void efa_compat_init(struct ib_device *ibdev)
{
	ib_set_device_ops(ibdev, &compat_ops);
	compat_allow_commands(ibdev);
	compat_allow_ah(ibdev);
}
