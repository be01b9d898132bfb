// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the device and its counters. */

#include "diag.h"
#include "erdma_classes.h"

static u32 dev_caps(const struct erdma_caps *caps)
{
	/*
	 * The adapter reports no flag for statistics; a command shows whether they are supported.
	 */
	return erdma_dev_cap_class(caps->flags) |
	       (READ_ONCE(caps->stats) ? EADM_DEV_CAP_STATS : 0);
}

static void fill_limits(struct erdma_dev *dev, struct eadm_snap_dev *s)
{
	const struct erdma_caps *caps = &dev->caps;

	SNAP_SET(s, max_qp, caps->max_qp - 1);
	SNAP_SET(s, max_cq, caps->max_cq - 1);
	SNAP_SET(s, max_mr, caps->max_mr - 1);
	SNAP_SET(s, max_pd, ERDMA_MAX_PD - 1);
	SNAP_SET(s, max_ctx, ERDMA_MAX_CONTEXT);
	SNAP_SET(s, max_mr_size, caps->max_mr_size);
	SNAP_SET(s, max_send_wr, caps->max_send_wr);
	SNAP_SET(s, max_recv_wr, caps->max_recv_wr);
	SNAP_SET(s, max_cqe, caps->max_cqe);
}

static void fill_port(struct erdma_dev *dev, struct eadm_snap_dev *s,
		      const struct eadm_diag_req *req)
{
	const struct net_device *netdev = dev->netdev;

	SNAP_BIN(s, mac, dev->mac, ETH_ALEN);
	SNAP_BIN(s, netdev_mac, netdev->dev_addr, ETH_ALEN);
	SNAP_SET(s, port_state, erdma_port_state(dev));
	SNAP_SET(s, mtu, READ_ONCE(netdev->mtu));
	if (!eadm_diag_sees(req, netdev))
		return;
	SNAP_STR(s, netdev, netdev->name);
	SNAP_SET(s, netdev_index, netdev->ifindex);
}

static int dev_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	char fw[IB_FW_VERSION_NAME_MAX];
	struct erdma_dev *dev = diag_to_dev(dd);
	struct eadm_snap_dev_erdma *o = own;
	struct eadm_snap_dev *s = snap;

	eadm_dev_row_fill(&dev->adapter, s);
	SNAP_SET(s, hw_version, dev->pdev->revision);
	ib_get_device_fw_str(&dev->adapter.ibdev, fw);
	SNAP_STR(s, fw_version, fw);
	SNAP_SET(s, caps, dev_caps(&dev->caps));
	SNAP_SET(s, caps_raw, dev->caps.flags);
	SNAP_SET(o, cc, READ_ONCE(dev->conf.cc));
	fill_port(dev, s, req);
	fill_limits(dev, s);
	erdma_diag_count_ceps(dev, s);
	return 0;
}

const struct eadm_diag_obj erdma_diag_dev = {
	.type = EADM_OBJ_DEV,
	.next = eadm_dev_row_next,
	.fill = dev_fill,
};

/* Reading the adapter's own counters requires a command. */
static void fill_hw(struct erdma_dev *dev, struct eadm_snap_counters *s, bool fresh)
{
	u64 v[ERDMA_STATS_COUNT];
	int ret;

	ret = eadm_recent_read(&dev->recent.stats, v, fresh);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, tx_requests, v[0]);
	SNAP_SET(s, tx_packets, v[1]);
	SNAP_SET(s, tx_bytes, v[2]);
	SNAP_SET(s, tx_disabled_drops, v[3]);
	SNAP_SET(s, tx_bps_limit_drops, v[4]);
	SNAP_SET(s, tx_pps_limit_drops, v[5]);
	SNAP_SET(s, rx_packets, v[6]);
	SNAP_SET(s, rx_bytes, v[7]);
	SNAP_SET(s, rx_disabled_drops, v[8]);
	SNAP_SET(s, rx_bps_limit_drops, v[9]);
	SNAP_SET(s, rx_pps_limit_drops, v[10]);
}

static int counters_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
			 const struct eadm_diag_req *req)
{
	struct eadm_snap_counters *s = snap;
	struct erdma_dev *dev = diag_to_dev(dd);

	eadm_port_row_fill(&dev->adapter, s);
	if (req->hw)
		fill_hw(dev, s, req->admin);
	erdma_diag_count_connections(dev, s);
	return 0;
}

const struct eadm_diag_obj erdma_diag_counters = {
	.type = EADM_OBJ_COUNTERS,
	.next = eadm_port_row_next,
	.fill = counters_fill,
};
