/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA core, for drivers. Verbs whose form differs are in their compat.c. */
#ifndef COMPAT_RDMA_H
#define COMPAT_RDMA_H

#include <linux/err.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/uverbs_ioctl.h>

/* Iterators of user memory left ib_umem.h in a stable update. */
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

/* Pinned buffers of other devices; without them, the verb is not offered. */
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

/* A link speed of newer kernels; others show the highest they know. */
#ifdef COMPAT_HAVE_SPEED_XDR
#define COMPAT_SPEED_XDR	IB_SPEED_XDR
#else
#define COMPAT_SPEED_XDR	IB_SPEED_NDR
#endif

/* Where the core does not go by the ops alone: the commands of user space. */
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

/* The same for address handles of processes, where a driver has them. */
static inline void compat_allow_ah(struct ib_device *ibdev)
{
#ifdef COMPAT_HAVE_UVERBS_CMD_MASKS
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_CREATE_AH) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_AH);
	ibdev->uverbs_ex_cmd_mask |= BIT_ULL(IB_USER_VERBS_EX_CMD_QUERY_DEVICE);
#endif
}

#ifdef COMPAT_HAVE_STAT_DESC
static inline struct rdma_hw_stats *compat_alloc_hw_stats(const struct rdma_stat_desc *descs,
							  int count)
{
	return rdma_alloc_hw_stats_struct(descs, count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
#else
/* Nothing but a name: an array of these is one of names. */
struct rdma_stat_desc {
	const char *name;
};

static inline struct rdma_hw_stats *compat_alloc_hw_stats(const struct rdma_stat_desc *descs,
							  int count)
{
	return rdma_alloc_hw_stats_struct(&descs->name, count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}
#endif

/* Listens for IPv6 only; kernels that do not tell have it listen for both. */
static inline bool compat_iw_afonly(const struct iw_cm_id *id)
{
#ifdef COMPAT_HAVE_IW_AFONLY
	return id->afonly;
#else
	return false;
#endif
}

#endif /* COMPAT_RDMA_H */
