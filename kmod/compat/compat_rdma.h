/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA core, for drivers. Verbs whose signature differs are in compat_verbs.h. */
#ifndef COMPAT_RDMA_H
#define COMPAT_RDMA_H

#include <linux/err.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/uverbs_ioctl.h>

/* A stable update moved the iterators of user memory out of ib_umem.h. */
#ifdef COMPAT_HAVE_RDMA_ITER_H
#include <rdma/iter.h>
#endif

/* Number of a port. */
#define compat_port_t	typeof(((struct ib_event *)NULL)->element.port_num)

#ifndef COMPAT_HAVE_DRIVER_ERDMA
#define RDMA_DRIVER_ERDMA	((enum rdma_driver_id)19)
#endif

#ifdef COMPAT_HAVE_UMEM_GET_VA
#define ib_umem_get	ib_umem_get_va
#endif

static inline struct scatterlist *compat_umem_sgl(const struct ib_umem *umem)
{
#ifdef COMPAT_HAVE_UMEM_SGT_APPEND
	return umem->sgt_append.sgt.sgl;
#else
	return umem->sg_head.sgl;
#endif
}

/* Pinned buffers of other devices; without them, the verb is not provided. */
#ifndef COMPAT_HAVE_UMEM_DMABUF
struct ib_umem_dmabuf {
	struct ib_umem umem;
};
#endif

#ifndef COMPAT_HAVE_UMEM_DMABUF_PINNED
static inline struct ib_umem_dmabuf *ib_umem_dmabuf_get_pinned(struct ib_device *ibdev,
							       unsigned long offset, size_t size,
							       int fd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

#ifndef COMPAT_HAVE_QP_ATTR_STANDARD_BITS
#define IB_QP_ATTR_STANDARD_BITS	GENMASK(20, 0)
#endif

static inline void compat_has_local_dma_lkey(struct ib_device_attr *attr)
{
#ifdef COMPAT_HAVE_KERNEL_CAP_FLAGS
	attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
#else
	attr->device_cap_flags |= IB_DEVICE_LOCAL_DMA_LKEY;
#endif
}

/* A link speed of newer kernels; older kernels show the highest speed that they support. */
#ifdef COMPAT_HAVE_SPEED_XDR
#define COMPAT_SPEED_XDR	IB_SPEED_XDR
#else
#define COMPAT_SPEED_XDR	IB_SPEED_NDR
#endif

/* Allows user commands on kernels that do not derive them from the ops. */
static inline void compat_allow_commands(struct ib_device *ibdev)
{
#ifdef COMPAT_HAVE_UVERBS_CMD_MASKS
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_GET_CONTEXT) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_DEVICE) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_PORT) |
				  BIT_ULL(IB_USER_VERBS_CMD_ALLOC_PD) |
				  BIT_ULL(IB_USER_VERBS_CMD_DEALLOC_PD) |
				  BIT_ULL(IB_USER_VERBS_CMD_REG_MR) |
				  BIT_ULL(IB_USER_VERBS_CMD_DEREG_MR) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_CQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_CQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_MODIFY_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_QP);
#endif
}

/* Allows the commands for address handles, for drivers that support them. */
static inline void compat_allow_ah(struct ib_device *ibdev)
{
#ifdef COMPAT_HAVE_UVERBS_CMD_MASKS
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_CREATE_AH) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_AH);
	ibdev->uverbs_ex_cmd_mask |= BIT_ULL(IB_USER_VERBS_EX_CMD_QUERY_DEVICE);
#endif
}

/* Allows the commands for shared receive queues. */
static inline void compat_allow_srq(struct ib_device *ibdev)
{
#ifdef COMPAT_HAVE_UVERBS_CMD_MASKS
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_CREATE_SRQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_MODIFY_SRQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_SRQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_SRQ);
#endif
}

#ifdef COMPAT_HAVE_STAT_DESC
static inline struct rdma_hw_stats *compat_alloc_hw_stats(const struct rdma_stat_desc *descs,
							  int count)
{
	return rdma_alloc_hw_stats_struct(descs, count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
#else
/* Contains only a name, so that an array of these is an array of names. */
struct rdma_stat_desc {
	const char *name;
};

static inline struct rdma_hw_stats *compat_alloc_hw_stats(const struct rdma_stat_desc *descs,
							  int count)
{
	return rdma_alloc_hw_stats_struct(&descs->name, count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
#endif

/*
 * Returns true if the ID listens for IPv6 only; on kernels without this flag it listens for both.
 */
static inline bool compat_iw_afonly(const struct iw_cm_id *id)
{
#ifdef COMPAT_HAVE_IW_AFONLY
	return id->afonly;
#else
	return false;
#endif
}

/* Older cores do not track SRQs. */
static inline struct rdma_restrack_entry *compat_srq_res(struct ib_srq *ibsrq)
{
#ifdef COMPAT_HAVE_SRQ_RES
	return &ibsrq->res;
#else
	return NULL;
#endif
}

#endif /* COMPAT_RDMA_H */
