// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the device and its counters. */

#include "diag.h"
#include "efa_classes.h"

static void fill_limits(struct efa_dev *dev, struct eadm_snap_dev *s)
{
	const struct efa_queue_attr *q = &dev->caps.queue;

	SNAP_SET(s, caps_raw, dev->caps.flags);
	SNAP_SET(s, max_qp, le32_to_cpu(q->max_qp));
	SNAP_SET(s, max_cq, le32_to_cpu(q->max_cq));
	SNAP_SET(s, max_mr, le32_to_cpu(q->max_mr));
	SNAP_SET(s, max_pd, le32_to_cpu(q->max_pd));
	SNAP_SET(s, max_ah, le32_to_cpu(q->max_ah));
	SNAP_SET(s, ahs, atomic_read(&dev->ahs.count));
	SNAP_SET(s, max_mr_size, le32_to_cpu(q->max_mr_pages) * (u64)PAGE_SIZE);
	SNAP_SET(s, max_send_wr, le32_to_cpu(q->max_sq_depth));
	SNAP_SET(s, max_recv_wr, le32_to_cpu(q->max_rq_depth));
	SNAP_SET(s, max_cqe, le32_to_cpu(q->max_cq_depth));
}

static void fill_own(struct efa_dev *dev, struct eadm_snap_dev_efa *o)
{
	SNAP_SET(o, efa_caps, efa_cap_class(dev->caps.flags));
	SNAP_SET(o, features, dev->caps.features);
	SNAP_BIN(o, gid, dev->caps.network.gid, sizeof(dev->caps.network.gid));
	SNAP_SET(o, message_mtu, le32_to_cpu(dev->caps.network.mtu));
	SNAP_SET(o, max_rdma_size, le32_to_cpu(dev->caps.device.max_rdma));
	SNAP_SET(o, max_inline, le32_to_cpu(dev->caps.queue.max_inline));
	SNAP_SET(o, max_mr_pages, le32_to_cpu(dev->caps.queue.max_mr_pages));
	SNAP_SET(o, last_reset_reason, READ_ONCE(dev->last_reason));
}

static void fill_firmware(struct efa_dev *dev, struct eadm_snap_dev *s)
{
	u32 fw = le32_to_cpu(dev->caps.device.fw_version);

	snprintf(s->fw_version, sizeof(s->fw_version), "%u.%u.%u", fw >> 16, fw >> 8 & 0xff,
		 fw & 0xff);
	s->has.fw_version = 1;
}

static int dev_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		    const struct eadm_diag_req *req)
{
	struct efa_dev *dev = diag_to_dev(dd);
	struct eadm_snap_dev *s = snap;

	eadm_dev_row_fill(&dev->adapter, s);
	SNAP_SET(s, hw_version, dev->pdev->subsystem_device);
	SNAP_SET(s, port_state, eadm_adapter_serves(&dev->adapter) ? IB_PORT_ACTIVE : IB_PORT_DOWN);
	fill_firmware(dev, s);
	fill_limits(dev, s);
	fill_own(dev, own);
	return 0;
}

const struct eadm_diag_obj efa_diag_dev = {
	.type = EADM_OBJ_DEV,
	.next = eadm_dev_row_next,
	.fill = dev_fill,
};

static void fill_hw_writes(struct efa_dev *dev, struct eadm_snap_counters *s, const u64 *v)
{
	if (!(dev->caps.flags & EFA_DEV_CAP_RDMA_WRITE))
		return;
	SNAP_SET(s, write_requests, v[0]);
	SNAP_SET(s, write_bytes, v[1]);
	SNAP_SET(s, write_errors, v[2]);
	SNAP_SET(s, rx_write_bytes, v[3]);
}

/* Reading the adapter's own counters requires commands. */
static void fill_hw(struct efa_dev *dev, struct eadm_snap_counters *s, bool fresh)
{
	struct efa_stats stats = {};
	const u64 *v;
	int ret;

	ret = -ENODEV;
	if (!READ_ONCE(dev->adapter.gone))
		ret = eadm_recent_read(&dev->recent.stats, &stats, fresh);
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	v = stats.value[EFA_STATS_BASIC];
	SNAP_SET(s, tx_bytes, v[0]);
	SNAP_SET(s, tx_packets, v[1]);
	SNAP_SET(s, rx_bytes, v[2]);
	SNAP_SET(s, rx_packets, v[3]);
	SNAP_SET(s, rx_drops, v[4]);
	v = stats.value[EFA_STATS_MESSAGES];
	SNAP_SET(s, send_bytes, v[0]);
	SNAP_SET(s, send_requests, v[1]);
	SNAP_SET(s, receive_bytes, v[2]);
	SNAP_SET(s, receive_requests, v[3]);
	v = stats.value[EFA_STATS_READ];
	SNAP_SET(s, read_requests, v[0]);
	SNAP_SET(s, read_bytes, v[1]);
	SNAP_SET(s, read_errors, v[2]);
	SNAP_SET(s, read_response_bytes, v[3]);
	fill_hw_writes(dev, s, stats.value[EFA_STATS_WRITE]);
	v = stats.value[EFA_STATS_NETWORK];
	SNAP_SET(s, retransmitted_bytes, v[0]);
	SNAP_SET(s, retransmitted_packets, v[1]);
	SNAP_SET(s, ack_timeouts, v[2]);
	SNAP_SET(s, unresponsive_peers, v[3]);
	SNAP_SET(s, impaired_peers, v[4]);
}

static int counters_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
			 const struct eadm_diag_req *req)
{
	struct eadm_snap_counters *s = snap;
	struct efa_dev *dev = diag_to_dev(dd);

	eadm_port_row_fill(&dev->adapter, s);
	if (req->hw)
		fill_hw(dev, s, req->admin);
	SNAP_SET(s, keep_alive_events, READ_ONCE(dev->aenq.keep_alives));
	SNAP_SET(s, pd_alloc_failures,
		 eadm_counter_read(&dev->adapter, EADM_CNT_PD_ALLOC_FAILURES));
	SNAP_SET(s, ah_create_failures,
		 eadm_counter_read(&dev->adapter, EADM_CNT_AH_CREATE_FAILURES));
	SNAP_SET(s, mmap_failures, eadm_counter_read(&dev->adapter, EADM_CNT_MMAP_FAILURES));
	return 0;
}

const struct eadm_diag_obj efa_diag_counters = {
	.type = EADM_OBJ_COUNTERS,
	.next = eadm_port_row_next,
	.fill = counters_fill,
};
