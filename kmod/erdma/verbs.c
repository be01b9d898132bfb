// SPDX-License-Identifier: GPL-2.0-only
/* Verbs of the device and its port; verbs of objects are in the objects' files. */

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/etherdevice.h>
#include <linux/security.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_netlink.h>

#include "abi.h"
#include "erdma.h"

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);
	const struct erdma_caps *caps = &dev->caps;

	/* Newer cores pass no udata for queries by the core itself. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	/* The version is in the format that the provider decodes for display. */
	attr->fw_ver = FIELD_GET(ERDMA_FW_MAJOR, (u64)caps->fw) << 32 |
		       FIELD_GET(ERDMA_FW_MEDIUM, caps->fw) << 16 |
		       FIELD_GET(ERDMA_FW_MINOR, caps->fw);
	attr->sys_image_guid = ibdev->node_guid;
	attr->max_mr_size = caps->max_mr_size;
	/* Page sizes supported by the adapter's translations. */
	attr->page_size_cap = 0x7ffff000;
	attr->vendor_id = dev->pdev->vendor;
	attr->vendor_part_id = dev->pdev->device;
	attr->hw_ver = dev->pdev->revision;
	attr->max_qp = caps->max_qp - 1;
	attr->max_qp_wr = min(caps->max_send_wr, caps->max_recv_wr);
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	compat_has_local_dma_lkey(attr);
	attr->max_send_sge = ERDMA_MAX_SEND_SGE;
	attr->max_recv_sge = ERDMA_MAX_RECV_SGE;
	attr->max_sge_rd = ERDMA_MAX_SGE_RD;
	attr->max_cq = caps->max_cq - 1;
	attr->max_cqe = caps->max_cqe;
	attr->max_mr = caps->max_mr - 1;
	attr->max_pd = ERDMA_MAX_PD;
	attr->max_qp_rd_atom = ERDMA_MAX_ORD;
	attr->max_qp_init_rd_atom = ERDMA_MAX_IRD;
	attr->max_res_rd_atom = ERDMA_MAX_IRD * caps->max_qp;
	attr->atomic_cap = caps->flags & ERDMA_FLAG_ATOMIC ? IB_ATOMIC_GLOB : IB_ATOMIC_NONE;
	attr->max_mw = caps->max_mw;
	attr->max_fast_reg_page_list_len = ERDMA_MAX_FRMR_PAGES;
	return 0;
}

/* Queries the interface only after a change, because the query needs the RTNL. */
static void update_speed(struct erdma_dev *dev)
{
	u16 speed;
	u8 width;

	if (!READ_ONCE(dev->speed_stale))
		return;
	WRITE_ONCE(dev->speed_stale, false);
	if (ib_get_eth_speed(&dev->adapter.ibdev, ERDMA_PORT, &speed, &width)) {
		WRITE_ONCE(dev->speed_stale, true);
		return;
	}
	WRITE_ONCE(dev->speed, speed);
	WRITE_ONCE(dev->width, width);
}

static int query_port(struct ib_device *ibdev, compat_port_t port, struct ib_port_attr *attr)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);
	const struct net_device *netdev = dev->netdev;

	attr->gid_tbl_len = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP;
	attr->max_msg_sz = U32_MAX;
	attr->state = erdma_port_state(dev);
	attr->phys_state = attr->state == IB_PORT_ACTIVE ? IB_PORT_PHYS_STATE_LINK_UP :
							   IB_PORT_PHYS_STATE_DISABLED;
	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	attr->max_mtu = ib_mtu_int_to_enum(netdev->max_mtu);
	update_speed(dev);
	attr->active_speed = READ_ONCE(dev->speed) ?: IB_SPEED_SDR;
	attr->active_width = READ_ONCE(dev->width) ?: IB_WIDTH_1X;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, compat_port_t port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/* The GID of an iWARP port is the interface's address, padded with zeros. */
static int query_gid(struct ib_device *ibdev, compat_port_t port, int index, union ib_gid *gid)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);

	if (index)
		return -EINVAL;
	memset(gid, 0, sizeof(*gid));
	ether_addr_copy(gid->raw, dev->netdev->dev_addr);
	return 0;
}

static void get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u32 fw = to_erdma_dev(ibdev)->caps.fw;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%lu.%lu.%lu", FIELD_GET(ERDMA_FW_MAJOR, fw),
		 FIELD_GET(ERDMA_FW_MEDIUM, fw), FIELD_GET(ERDMA_FW_MINOR, fw));
}

static int fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct erdma_qp *qp = to_erdma_qp(ibqp);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "sq_depth", qp->sq_depth) ||
			    rdma_nl_put_driver_u32(msg, "rq_depth", qp->rq_depth) ||
			    rdma_nl_put_driver_u32(msg, "hw_state", READ_ONCE(qp->state)) ||
			    rdma_nl_put_driver_u32_hex(msg, "cookie", qp->cookie));
}

static int fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct erdma_cq *cq = to_erdma_cq(ibcq);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "depth", cq->depth) ||
			    rdma_nl_put_driver_u32(msg, "vector", cq->vector) ||
			    rdma_nl_put_driver_u64(msg, "events", READ_ONCE(cq->events)));
}

static int fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct erdma_mr *mr = to_erdma_mr(ibmr);
	const struct erdma_mtt *mtt = &mr->mem->area[0].mtt;
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return eadm_res_end(msg, table, !table ||
			    rdma_nl_put_driver_u32(msg, "type", mr->type) ||
			    rdma_nl_put_driver_u32(msg, "page_shift", mtt->page_shift) ||
			    rdma_nl_put_driver_u32(msg, "pages", mtt->count) ||
			    rdma_nl_put_driver_u32(msg, "level", mtt->level));
}

/*
 * The adapter's raw contexts contain memory addresses, but the RDMA core requires only
 * CAP_NET_ADMIN.
 */
static bool may_see_contexts(void)
{
	return capable(CAP_SYS_RAWIO) && !security_locked_down(LOCKDOWN_PCI_ACCESS);
}

static int fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct erdma_qpc qpc;
	int ret;

	if (!may_see_contexts())
		return -EPERM;
	ret = erdma_cmd_query_qpc(to_erdma_dev(ibqp->device), to_erdma_qp(ibqp)->qpn, &qpc, NULL);
	return ret ? ret : nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(qpc), &qpc);
}

static int fill_res_cq_entry_raw(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct erdma_cqc cqc;
	int ret;

	if (!may_see_contexts())
		return -EPERM;
	ret = erdma_cmd_query_cqc(to_erdma_dev(ibcq->device), to_erdma_cq(ibcq)->cqn, &cqc, NULL);
	return ret ? ret : nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(cqc), &cqc);
}

/* Unused on kernels without this verb. */
static __maybe_unused const struct cpumask *
erdma_get_vector_affinity(struct ib_device *ibdev, int vector)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);

	return vector < 0 || vector >= dev->nr_ceqs ? NULL : &dev->ceqs[vector].base.affinity;
}

/* Verbs whose signature differs between kernel versions. */
#define COMPAT_DRIVER(name)	erdma_##name
#define COMPAT_DMABUF
#define COMPAT_PORT_STATS
#define COMPAT_VECTOR_AFFINITY
#include "compat_verbs.h"

static const struct ib_device_ops erdma_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_ERDMA,
	.uverbs_abi_ver = ERDMA_ABI_VERSION,

	.alloc_ucontext = eadm_alloc_ucontext,
	.dealloc_ucontext = eadm_dealloc_ucontext,
	.disassociate_ucontext = eadm_ctx_disassociate,
	.fill_res_cq_entry = fill_res_cq_entry,
	.fill_res_cq_entry_raw = fill_res_cq_entry_raw,
	.fill_res_mr_entry = fill_res_mr_entry,
	.fill_res_qp_entry = fill_res_qp_entry,
	.fill_res_qp_entry_raw = fill_res_qp_entry_raw,
	.get_dev_fw_str = get_dev_fw_str,
	.get_port_immutable = get_port_immutable,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_port = query_port,

	INIT_RDMA_OBJ_SIZE(ib_cq, erdma_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, eadm_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, erdma_ctx, base.ibctx),
};

/**
 * erdma_verbs_init() - fill in the RDMA device before it is registered
 * @dev: the device, whose capabilities and MAC address have been read
 *
 * Context: process.
 */
void erdma_verbs_init(struct erdma_dev *dev)
{
	struct ib_device *ibdev = &dev->adapter.ibdev;

	ib_set_device_ops(ibdev, &erdma_ops);
	ib_set_device_ops(ibdev, &erdma_pd_ops);
	ib_set_device_ops(ibdev, &erdma_cq_ops);
	ib_set_device_ops(ibdev, &erdma_qp_ops);
	ib_set_device_ops(ibdev, &erdma_wr_ops);
	ib_set_device_ops(ibdev, &erdma_mr_ops);
	ib_set_device_ops(ibdev, &erdma_mmap_ops);
	ib_set_device_ops(ibdev, &erdma_stats_ops);
	ib_set_device_ops(ibdev, &erdma_iw_ops);
	compat_set_verbs(ibdev);
	ibdev->node_type = RDMA_NODE_RNIC;
	ibdev->num_comp_vectors = dev->nr_ceqs;
	/* The driver listens on TCP sockets, so a port reserved by iwpmd would be in use. */
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	ibdev->local_dma_lkey = dev->caps.local_dma_key;
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->mac);
}
