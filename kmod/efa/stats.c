// SPDX-License-Identifier: GPL-2.0-only
/* Counters for "rdma statistic", named as in the in-tree driver (hw 14). */

#include "efa.h"
#include "efa_classes.h"

/* In the order of device_values(). */
static const struct rdma_stat_desc device_descs[] = {
	{ .name = "submitted_cmds" },
	{ .name = "completed_cmds" },
	{ .name = "cmds_err" },
	{ .name = "no_completion_cmds" },
	{ .name = "keep_alive_rcvd" },
	{ .name = "alloc_pd_err" },
	{ .name = "create_qp_err" },
	{ .name = "create_cq_err" },
	{ .name = "reg_mr_err" },
	{ .name = "alloc_ucontext_err" },
	{ .name = "create_ah_err" },
	{ .name = "mmap_err" },
};

/* The RDMA write counters come last because some adapters lack them. */
static const struct rdma_stat_desc port_descs[] = {
	{ .name = "tx_bytes" },
	{ .name = "tx_pkts" },
	{ .name = "rx_bytes" },
	{ .name = "rx_pkts" },
	{ .name = "rx_drops" },
	{ .name = "send_bytes" },
	{ .name = "send_wrs" },
	{ .name = "recv_bytes" },
	{ .name = "recv_wrs" },
	{ .name = "rdma_read_wrs" },
	{ .name = "rdma_read_bytes" },
	{ .name = "rdma_read_wr_err" },
	{ .name = "rdma_read_resp_bytes" },
	{ .name = "retrans_bytes" },
	{ .name = "retrans_pkts" },
	{ .name = "retrans_timeout_events" },
	{ .name = "unresponsive_remote_events" },
	{ .name = "impaired_remote_conn_events" },
	{ .name = "rdma_write_wrs" },
	{ .name = "rdma_write_bytes" },
	{ .name = "rdma_write_wr_err" },
	{ .name = "rdma_write_recv_bytes" },
};

/* Maps entries of the list above to statistics types. */
static const struct {
	u8 type;
	u8 count;
} port_order[] = {
	{ EFA_STATS_BASIC, 5 },
	{ EFA_STATS_MESSAGES, 4 },
	{ EFA_STATS_READ, 4 },
	{ EFA_STATS_NETWORK, 5 },
	{ EFA_STATS_WRITE, 4 },
};

#define WRITE_VALUES	4

/**
 * efa_alloc_device_stats() - verb: list the driver's counters
 * @ibdev: the device
 *
 * Context: process.
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *efa_alloc_device_stats(struct ib_device *ibdev)
{
	return compat_alloc_hw_stats(device_descs, ARRAY_SIZE(device_descs));
}

/**
 * efa_alloc_port_stats() - verb: list the adapter's counters
 * @ibdev: the device
 * @port: its port
 *
 * Context: process.
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *efa_alloc_port_stats(struct ib_device *ibdev, compat_port_t port)
{
	bool writes = to_efa_dev(ibdev)->caps.flags & EFA_DEV_CAP_RDMA_WRITE;

	return compat_alloc_hw_stats(port_descs,
				     ARRAY_SIZE(port_descs) - (writes ? 0 : WRITE_VALUES));
}

static void device_values(struct efa_dev *dev, u64 *value)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	int i;

	spin_lock_irq(&dev->adapter.lock);
	*value++ = cmds->submitted;
	*value++ = cmds->completed;
	*value++ = cmds->errors;
	*value++ = cmds->timeouts;
	spin_unlock_irq(&dev->adapter.lock);
	*value++ = READ_ONCE(dev->aenq.keep_alives);
	for (i = EADM_CNT_PD_ALLOC_FAILURES; i <= EADM_CNT_MMAP_FAILURES; i++)
		*value++ = eadm_counter_read(&dev->adapter, i);
}

static int port_values(struct efa_dev *dev, u64 *value, int count)
{
	struct efa_stats stats = {};
	int ret, i, n = 0, k;

	ret = eadm_recent_read(&dev->recent.stats, &stats, eadm_may_ask());
	for (i = 0; !ret && i < ARRAY_SIZE(port_order); i++)
		for (k = 0; k < port_order[i].count && n < count; k++)
			value[n++] = stats.value[port_order[i].type][k];
	return ret;
}

static int get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, compat_port_t port,
			int index)
{
	struct efa_dev *dev = to_efa_dev(ibdev);
	int ret = 0;

	static_assert(ARRAY_SIZE(device_descs) == 5 + EADM_CNT_MMAP_FAILURES + 1);
	if (port)
		ret = port_values(dev, stats->value, stats->num_counters);
	else
		device_values(dev, stats->value);
	/*
	 * The core reads the counters once when it registers the device, and any other error would
	 * fail the registration.
	 */
	if (ret == -EINVAL)
		return -EOPNOTSUPP;
	return ret ? ret : stats->num_counters;
}

/* ---- cached responses of the adapter (core/recent.c) ------------------------ */

/*
 * Registers are read one at a time, also by recovery. If the adapter does not respond, all attempts
 * of a read delay recovery, so the lifetime of cached values is several times that delay.
 */
#define REGS_LIFE	HZ

static int ask_regs(struct eadm_adapter *ad, void *answer)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 *value = answer, i;

	for (i = 0; i < EFA_REGS_COUNT; i++) {
		if (!efa_reg_bits(i * sizeof(u32)))
			continue;
		value[i] = efa_reg_read(dev, i * sizeof(u32));
		if (value[i] == EFA_MMIO_NO_VALUE)
			return -EIO;
	}
	return 0;
}

/**
 * efa_recent_init() - initialise empty caches
 * @dev: the device
 */
void efa_recent_init(struct efa_dev *dev)
{
	struct efa_recent *recent = &dev->recent;

	eadm_recent_init(&recent->stats, &dev->adapter, efa_cmd_get_stats,
			 &recent->last_stats, sizeof(recent->last_stats), EADM_RECENT_LIFE);
	eadm_recent_init(&recent->regs, &dev->adapter, ask_regs, recent->last_regs,
			 sizeof(recent->last_regs), REGS_LIFE);
}

const struct ib_device_ops efa_stats_ops = {
	.get_hw_stats = get_hw_stats,
};
