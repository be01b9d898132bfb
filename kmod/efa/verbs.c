// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs of the device and its port; verbs of objects are in the objects' files. The driver provides
 * no verbs for kernel consumers, so the core does not offer the device to them.
 */

#include <rdma/rdma_netlink.h>

#include "abi.h"
#include "efa.h"

#define DEFAULT_PKEY	0xffff
#define DEFAULT_SPEED	100	/* Gbit/s, for adapters that do not report it */

/* Ordered by speed in Gbit/s, the highest speed first (hw 13). */
static const struct {
	u16 gbps;
	u8 width;
	u16 speed;
} speeds[] = {
	{ 1600, IB_WIDTH_8X, COMPAT_SPEED_XDR },
	{ 800, IB_WIDTH_8X, IB_SPEED_NDR },
	{ 400, IB_WIDTH_8X, IB_SPEED_HDR },
	{ 200, IB_WIDTH_4X, IB_SPEED_HDR },
	{ 120, IB_WIDTH_12X, IB_SPEED_FDR10 },
	{ 100, IB_WIDTH_4X, IB_SPEED_EDR },
	{ 60, IB_WIDTH_12X, IB_SPEED_DDR },
	{ 50, IB_WIDTH_1X, IB_SPEED_HDR },
	{ 40, IB_WIDTH_4X, IB_SPEED_FDR10 },
	{ 30, IB_WIDTH_12X, IB_SPEED_SDR },
	{ 0, IB_WIDTH_1X, IB_SPEED_EDR },
};

static u32 provider_caps(const struct efa_dev *dev)
{
	u32 flags = dev->caps.flags;

	return EFA_UDEV_CQ_SRC_ADDR | (dev->nr_eqs ? EFA_UDEV_CQ_EVENTS : 0) |
	       (flags & EFA_DEV_CAP_RDMA_READ ? EFA_UDEV_RDMA_READ : 0) |
	       (flags & EFA_DEV_CAP_RNR_RETRY ? EFA_UDEV_RNR_RETRY : 0) |
	       (flags & EFA_DEV_CAP_POLLING_128 ? EFA_UDEV_POLLING_128 : 0) |
	       (flags & EFA_DEV_CAP_RDMA_WRITE ? EFA_UDEV_RDMA_WRITE : 0) |
	       (flags & EFA_DEV_CAP_UNSOLICITED ? EFA_UDEV_UNSOLICITED : 0);
}

static int answer_provider(const struct efa_dev *dev, struct ib_udata *udata)
{
	const struct efa_queue_attr *q = &dev->caps.queue;
	struct efa_uresp_query_device resp = {
		.max_sq_wr = le32_to_cpu(q->max_sq_depth),
		.max_rq_wr = le32_to_cpu(q->max_rq_depth),
		.max_sq_sge = le16_to_cpu(q->max_send_sge),
		.max_rq_sge = le16_to_cpu(q->max_recv_sge),
		.max_rdma = le32_to_cpu(dev->caps.device.max_rdma),
		.caps = provider_caps(dev),
	};

	return eadm_udata_write(udata, &resp, sizeof(resp));
}

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibdev);
	const struct efa_queue_attr *q = &dev->caps.queue;

	/* Newer cores pass no udata for queries by the core itself. */
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->max_mr_size = le32_to_cpu(q->max_mr_pages) * (u64)PAGE_SIZE;
	attr->page_size_cap = le64_to_cpu(dev->caps.device.page_sizes);
	attr->vendor_id = dev->pdev->vendor;
	attr->vendor_part_id = dev->pdev->device;
	attr->hw_ver = dev->pdev->subsystem_device;
	attr->max_qp = le32_to_cpu(q->max_qp);
	attr->max_cq = le32_to_cpu(q->max_cq);
	attr->max_pd = le32_to_cpu(q->max_pd);
	attr->max_mr = min_t(u32, le32_to_cpu(q->max_mr), EFA_MAX_OWN_NUMBER);
	attr->max_ah = le32_to_cpu(q->max_ah);
	attr->max_cqe = le32_to_cpu(q->max_cq_depth);
	attr->max_qp_wr = min(le32_to_cpu(q->max_sq_depth), le32_to_cpu(q->max_rq_depth));
	attr->max_send_sge = le16_to_cpu(q->max_send_sge);
	attr->max_recv_sge = le16_to_cpu(q->max_recv_sge);
	attr->max_sge_rd = le16_to_cpu(q->max_rdma_sge);
	attr->max_pkeys = 1;
	return udata && udata->outlen ? answer_provider(dev, udata) : 0;
}

/* Returns the largest verbs MTU that does not exceed the maximum size of a send. */
static enum ib_mtu port_mtu(const struct efa_dev *dev)
{
	return ib_mtu_int_to_enum(le32_to_cpu(dev->caps.network.mtu));
}

static int query_port(struct ib_device *ibdev, compat_port_t port, struct ib_port_attr *attr)
{
	struct efa_dev *dev = to_efa_dev(ibdev);
	u16 speed = le16_to_cpu(dev->caps.device.speed) ?: DEFAULT_SPEED;
	bool serving = eadm_adapter_serves(&dev->adapter);
	int i;

	attr->lmc = 1;
	attr->state = serving ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = serving ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	attr->max_mtu = port_mtu(dev);
	attr->active_mtu = attr->max_mtu;
	attr->max_msg_sz = le32_to_cpu(dev->caps.network.mtu);
	attr->max_vl_num = 1;
	for (i = 0; speed < speeds[i].gbps; i++)
		;
	attr->active_speed = speeds[i].speed;
	attr->active_width = speeds[i].width;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, compat_port_t port,
			      struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, compat_port_t port)
{
	return IB_LINK_LAYER_UNSPECIFIED;
}

static int query_gid(struct ib_device *ibdev, compat_port_t port, int index, union ib_gid *gid)
{
	if (index)
		return -EINVAL;
	memcpy(gid->raw, to_efa_dev(ibdev)->caps.network.gid, sizeof(gid->raw));
	return 0;
}

static int query_pkey(struct ib_device *ibdev, compat_port_t port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = DEFAULT_PKEY;
	return 0;
}

/* Attribute names are as in the specification of rows. */
static int fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct efa_qp *qp = to_efa_qp(ibqp);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "sq_depth", qp->cap.max_send_wr) ||
			    rdma_nl_put_driver_u32(msg, "rq_depth", qp->rq_bytes / EFA_RQE_SIZE) ||
			    rdma_nl_put_driver_u32(msg, "rnr_retry", READ_ONCE(qp->rnr_retry)) ||
			    rdma_nl_put_driver_u32(msg, "handle", qp->handle));
}

static int fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct efa_cq *cq = to_efa_cq(ibcq);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "cqn", cq->cqn) ||
			    rdma_nl_put_driver_u32(msg, "depth", cq->depth) ||
			    rdma_nl_put_driver_u32(msg, "entry_size", cq->entry_size) ||
			    rdma_nl_put_driver_u64(msg, "events", atomic64_read(&cq->events)));
}

static int fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct efa_mr *mr = to_efa_mr(ibmr);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "page_shift", mr->page_shift) ||
			    rdma_nl_put_driver_u32(msg, "pages", mr->pages) ||
			    rdma_nl_put_driver_u32(msg, "dmabuf", mr->dmabuf));
}

/* Verbs whose signature differs between kernel versions. */
#define COMPAT_DRIVER(name)	efa_##name
#define COMPAT_AH
#ifdef EFA_P2P
#define COMPAT_DMABUF
#endif
#define COMPAT_DEVICE_STATS
#define COMPAT_PORT_STATS
#include "compat_verbs.h"

static const struct ib_device_ops efa_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_EFA,
	.uverbs_abi_ver = EFA_ABI_VERSION,

	.alloc_ucontext = eadm_alloc_ucontext,
	.dealloc_ucontext = eadm_dealloc_ucontext,
	.disassociate_ucontext = eadm_ctx_disassociate,
	.fill_res_cq_entry = fill_res_cq_entry,
	.fill_res_mr_entry = fill_res_mr_entry,
	.fill_res_qp_entry = fill_res_qp_entry,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,

	INIT_RDMA_OBJ_SIZE(ib_ah, efa_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, efa_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, efa_pd, base.ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, efa_ctx, base.ibctx),
};

/**
 * efa_verbs_init() - fill in the RDMA device before it is registered
 * @dev: the device, whose capabilities have been read
 *
 * Context: process.
 */
void efa_verbs_init(struct efa_dev *dev)
{
	struct ib_device *ibdev = &dev->adapter.ibdev;

	ib_set_device_ops(ibdev, &efa_ops);
	ib_set_device_ops(ibdev, &efa_pd_ops);
	ib_set_device_ops(ibdev, &efa_cq_ops);
	ib_set_device_ops(ibdev, &efa_qp_ops);
	ib_set_device_ops(ibdev, &efa_mr_ops);
	ib_set_device_ops(ibdev, &efa_mmap_ops);
	ib_set_device_ops(ibdev, &efa_stats_ops);
	compat_set_verbs(ibdev);
	ibdev->node_type = RDMA_NODE_UNSPECIFIED;
	ibdev->num_comp_vectors = dev->nr_eqs ?: 1;
	memcpy(&ibdev->node_guid, dev->caps.device.guid, sizeof(ibdev->node_guid));
}
