/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wrappers of verbs whose signature differs between kernels, to be included by one file of a
 * driver: each calls the driver's verb of the same name, which has the signature of 6.1. There are
 * no wrappers of verbs that the kernel does not have. Before the inclusion, the driver defines:
 *
 *   COMPAT_DRIVER(name)	the driver's names of create_cq, create_qp and destroy_qp, and of
 *				qp, a struct that begins with the core's ibqp
 *   COMPAT_AH			if it has create_ah
 *   COMPAT_DMABUF		if its adapter can use memory of other devices
 *   COMPAT_DEVICE_STATS	if it has alloc_device_stats
 *   COMPAT_PORT_STATS		if it has alloc_port_stats
 *   COMPAT_VECTOR_AFFINITY	if it has get_vector_affinity
 *
 * Afterwards, it calls compat_set_verbs().
 */
#ifndef COMPAT_VERBS_H
#define COMPAT_VERBS_H

#include <linux/slab.h>

#include "compat_rdma.h"

#define compat_qp	COMPAT_DRIVER(qp)

#ifdef COMPAT_HAVE_CREATE_CQ_ATTRS
static int compat_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	return COMPAT_DRIVER(create_cq)(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
#define compat_create_cq	COMPAT_DRIVER(create_cq)
#endif

#ifdef COMPAT_HAVE_QP_OBJ_SIZE
#define compat_create_qp	COMPAT_DRIVER(create_qp)
#define compat_destroy_qp	COMPAT_DRIVER(destroy_qp)
#else
/*
 * On these kernels the driver allocates the memory, and the core sets these members only after this
 * function has returned.
 */
static struct ib_qp *compat_create_qp(struct ib_pd *ibpd, struct ib_qp_init_attr *attr,
				      struct ib_udata *udata)
{
	struct compat_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int ret;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->ibqp.device = ibpd->device;
	qp->ibqp.pd = ibpd;
	qp->ibqp.real_qp = &qp->ibqp;
	qp->ibqp.qp_type = attr->qp_type;
	qp->ibqp.send_cq = attr->send_cq;
	qp->ibqp.recv_cq = attr->recv_cq;
	qp->ibqp.srq = attr->srq;
	qp->ibqp.event_handler = attr->event_handler;
	qp->ibqp.qp_context = attr->qp_context;
	ret = COMPAT_DRIVER(create_qp)(&qp->ibqp, attr, udata);
	if (ret) {
		kfree(qp);
		return ERR_PTR(ret);
	}
	return &qp->ibqp;
}

static int compat_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct compat_qp *qp = container_of(ibqp, struct compat_qp, ibqp);
	int ret = COMPAT_DRIVER(destroy_qp)(ibqp, udata);

	if (!ret)
		kfree(qp);
	return ret;
}
#endif

#ifdef COMPAT_HAVE_REG_DMAH
/* There are no DMA handles, because no verb creates any. */
static struct ib_mr *compat_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
					int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return dmah ? ERR_PTR(-EOPNOTSUPP) :
		      eadm_reg_user_mr(ibpd, start, length, virt, access, udata);
}
#else
#define compat_reg_user_mr	eadm_reg_user_mr
#endif

#if defined(COMPAT_DMABUF) && defined(COMPAT_HAVE_REG_DMABUF) && \
	defined(COMPAT_HAVE_UMEM_DMABUF_PINNED)
#define COMPAT_WITH_DMABUF
#ifdef COMPAT_HAVE_REG_DMAH
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				       int fd, int access, struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
{
	return dmah ? ERR_PTR(-EOPNOTSUPP) :
		      eadm_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
					      &attrs->driver_udata);
}
#elif defined(COMPAT_HAVE_REG_DMABUF_ATTRS)
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt,
				       int fd, int access, struct uverbs_attr_bundle *attrs)
{
	return eadm_reg_user_mr_dmabuf(ibpd, offset, length, virt, fd, access,
				       &attrs->driver_udata);
}
#else
#define compat_reg_dmabuf	eadm_reg_user_mr_dmabuf
#endif
#endif

#ifndef COMPAT_HAVE_ALLOC_HW_PORT_STATS
static struct rdma_hw_stats *compat_alloc_stats(struct ib_device *ibdev, compat_port_t port)
{
#ifdef COMPAT_DEVICE_STATS
	if (!port)
		return COMPAT_DRIVER(alloc_device_stats)(ibdev);
#endif
#ifdef COMPAT_PORT_STATS
	return COMPAT_DRIVER(alloc_port_stats)(ibdev, port);
#else
	return NULL;
#endif
}
#endif

static const struct ib_device_ops compat_verbs = {
#ifndef COMPAT_HAVE_ALLOC_HW_PORT_STATS
	.alloc_hw_stats = compat_alloc_stats,
#else
#ifdef COMPAT_DEVICE_STATS
	.alloc_hw_device_stats = COMPAT_DRIVER(alloc_device_stats),
#endif
#ifdef COMPAT_PORT_STATS
	.alloc_hw_port_stats = COMPAT_DRIVER(alloc_port_stats),
#endif
#endif
#ifdef COMPAT_AH
#ifdef COMPAT_HAVE_CREATE_USER_AH
	.create_user_ah = COMPAT_DRIVER(create_ah),
#else
	.create_ah = COMPAT_DRIVER(create_ah),
#endif
#endif
	.create_cq = compat_create_cq,
	.create_qp = compat_create_qp,
	.destroy_qp = compat_destroy_qp,
#if defined(COMPAT_VECTOR_AFFINITY) && defined(COMPAT_HAVE_GET_VECTOR_AFFINITY)
	.get_vector_affinity = COMPAT_DRIVER(get_vector_affinity),
#endif
	.reg_user_mr = compat_reg_user_mr,
#ifdef COMPAT_WITH_DMABUF
	.reg_user_mr_dmabuf = compat_reg_dmabuf,
#endif
#ifdef COMPAT_HAVE_QP_OBJ_SIZE

	INIT_RDMA_OBJ_SIZE(ib_qp, compat_qp, ibqp),
#endif
};

static inline void compat_set_verbs(struct ib_device *ibdev)
{
	ib_set_device_ops(ibdev, &compat_verbs);
	compat_allow_commands(ibdev);
#ifdef COMPAT_AH
	compat_allow_ah(ibdev);
#endif
}

#endif /* COMPAT_VERBS_H */
