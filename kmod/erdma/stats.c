// SPDX-License-Identifier: GPL-2.0-only
/* The adapter's counters for "rdma statistic". */

#include "erdma.h"

/* The counters, in the order used by the adapter (hw 11). */
static const struct rdma_stat_desc descs[ERDMA_STATS_COUNT] = {
	{ .name = "tx_reqs_cnt" },
	{ .name = "tx_packets_cnt" },
	{ .name = "tx_bytes_cnt" },
	{ .name = "tx_disable_drop_cnt" },
	{ .name = "tx_bps_limit_drop_cnt" },
	{ .name = "tx_pps_limit_drop_cnt" },
	{ .name = "rx_packets_cnt" },
	{ .name = "rx_bytes_cnt" },
	{ .name = "rx_disable_drop_cnt" },
	{ .name = "rx_bps_limit_drop_cnt" },
	{ .name = "rx_pps_limit_drop_cnt" },
};

/**
 * erdma_alloc_port_stats() - verb: list the counters
 * @ibdev: the device
 * @port: its port
 *
 * Context: process.
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *erdma_alloc_port_stats(struct ib_device *ibdev, compat_port_t port)
{
	return compat_alloc_hw_stats(descs, ERDMA_STATS_COUNT);
}

static int get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, compat_port_t port,
			int index)
{
	int ret;

	if (!port)
		return 0;
	ret = eadm_recent_read(&to_erdma_dev(ibdev)->recent.stats, stats->value, eadm_may_ask());
	/*
	 * The core reads the counters once when it registers the device, and any other error would
	 * fail the registration.
	 */
	if (ret == -EIO)
		return -EOPNOTSUPP;
	return ret ? ret : stats->num_counters;
}

const struct ib_device_ops erdma_stats_ops = {
	.get_hw_stats = get_hw_stats,
};
