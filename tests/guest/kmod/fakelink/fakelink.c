// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A network interface "fake0" on an adapter "fakelink.0" of the platform bus, with what only
 * hardware has otherwise: pause frames, priority flow control and a health reporter. Numbers
 * are parameters. Writing the name of an RDMA device to the parameter "counters" gives it
 * counters for QPs.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>
#include <net/devlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

static struct platform_device *adapter;
static struct net_device *netdev;
static struct devlink *devlink;
static struct devlink_health_reporter *reporter;

static ulong rx_pauses, tx_pauses, rx_pfc, tx_pfc, rx_missed, lost;
module_param(rx_pauses, ulong, 0644);
module_param(tx_pauses, ulong, 0644);
module_param(rx_pfc, ulong, 0644);
module_param(tx_pfc, ulong, 0644);
module_param(rx_missed, ulong, 0644);
MODULE_PARM_DESC(lost, "Each QP's number of lost packets.");
module_param(lost, ulong, 0644);
static bool recovers;
module_param(recovers, bool, 0644);

/* ---- the interface ------------------------------------------------------------ */

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static void get_stats(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	stats->rx_missed_errors = rx_missed;
}

static const struct net_device_ops netdev_ops = {
	.ndo_get_stats64 = get_stats,
	.ndo_start_xmit = start_xmit,
};

static void get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *p)
{
	p->rx_pause = 1;
}

static void get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *s)
{
	s->rx_pause_frames = rx_pauses;
	s->tx_pause_frames = tx_pauses;
}

static const struct ethtool_ops ethtool_ops = {
	.get_pauseparam = get_pauseparam,
	.get_pause_stats = get_pause_stats,
};

static int get_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	pfc->pfc_cap = 8;
	pfc->pfc_en = 1 << 3 | 1 << 5;
	pfc->indications[3] = rx_pfc;
	pfc->indications[5] = 1;
	pfc->requests[3] = tx_pfc;
	return 0;
}

static u8 get_dcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getpfc = get_pfc,
	.getdcbx = get_dcbx,
};

static int add_netdev(void)
{
	int ret;

	netdev = alloc_etherdev(0);
	if (!netdev)
		return -ENOMEM;
	strscpy(netdev->name, "fake0", sizeof(netdev->name));
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &ethtool_ops;
	netdev->dcbnl_ops = &dcb_ops;
	SET_NETDEV_DEV(netdev, &adapter->dev);
	eth_hw_addr_random(netdev);
	ret = register_netdev(netdev);
	if (ret)
		free_netdev(netdev);
	return ret;
}

/* ---- the health reporter -------------------------------------------------------- */

static int recover(struct devlink_health_reporter *r, void *context,
		   struct netlink_ext_ack *extack)
{
	return recovers ? 0 : -EIO;
}

static int dump(struct devlink_health_reporter *r, struct devlink_fmsg *fmsg,
		void *context, struct netlink_ext_ack *extack)
{
	return 0;
}

static const struct devlink_health_reporter_ops reporter_ops = {
	.name = "fw",
	.recover = recover,
	.dump = dump,
};

static const struct devlink_ops devlink_ops = { 0 };

static int report(const char *text, const struct kernel_param *param)
{
	if (reporter)
		devlink_health_report(reporter, "fault", NULL);
	return 0;
}

static const struct kernel_param_ops report_ops = { .set = report };
module_param_cb(report, &report_ops, NULL, 0200);

static int add_devlink(void)
{
	devlink = devlink_alloc(&devlink_ops, 0, &adapter->dev);
	if (!devlink)
		return -ENOMEM;
	reporter = devlink_health_reporter_create(devlink, &reporter_ops, 0,
						  NULL);
	if (IS_ERR(reporter)) {
		devlink_free(devlink);
		return PTR_ERR(reporter);
	}
	devlink_register(devlink);
	return 0;
}

/* ---- counters of QPs -------------------------------------------------------------- */

static const struct rdma_stat_desc descs[] = {
	{ .name = "out_of_sequence" }, { .name = "fake_seen" },
};

static struct rdma_hw_stats *alloc_stats(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 0);
}

static int update_stats(struct rdma_counter *counter)
{
	counter->stats->value[0] = lost;
	counter->stats->value[1] = 7;
	return 0;
}

static int bind_qp(struct rdma_counter *counter, struct ib_qp *qp)
{
	if (!counter->id)
		counter->id = 1 + (qp->qp_num & 0xff);
	qp->counter = counter;
	return 0;
}

static int unbind_qp(struct ib_qp *qp)
{
	qp->counter = NULL;
	return 0;
}

static int dealloc(struct rdma_counter *counter)
{
	return 0;
}

static const struct ib_device_ops counter_ops = {
	.counter_alloc_stats = alloc_stats,
	.counter_update_stats = update_stats,
	.counter_bind_qp = bind_qp,
	.counter_unbind_qp = unbind_qp,
	.counter_dealloc = dealloc,
};

/* The device must be gone before this module is. */
static int counters(const char *name, const struct kernel_param *param)
{
	char text[IB_DEVICE_NAME_MAX];
	struct ib_device *dev;

	strscpy(text, name, sizeof(text));
	dev = ib_device_get_by_name(strim(text), RDMA_DRIVER_UNKNOWN);
	if (!dev)
		return -ENODEV;
	ib_set_device_ops(dev, &counter_ops);
	ib_device_put(dev);
	return 0;
}

static const struct kernel_param_ops counters_ops = { .set = counters };
module_param_cb(counters, &counters_ops, NULL, 0200);

/* ---- module --------------------------------------------------------------------- */

static int __init fakelink_init(void)
{
	int ret;

	adapter = platform_device_register_simple("fakelink", 0, NULL, 0);
	if (IS_ERR(adapter))
		return PTR_ERR(adapter);
	ret = add_netdev();
	if (ret)
		goto del_adapter;
	ret = add_devlink();
	if (ret)
		goto del_netdev;
	return 0;

del_netdev:
	unregister_netdev(netdev);
	free_netdev(netdev);
del_adapter:
	platform_device_unregister(adapter);
	return ret;
}

static void __exit fakelink_exit(void)
{
	devlink_unregister(devlink);
	devlink_health_reporter_destroy(reporter);
	devlink_free(devlink);
	unregister_netdev(netdev);
	free_netdev(netdev);
	platform_device_unregister(adapter);
}

module_init(fakelink_init);
module_exit(fakelink_exit);
MODULE_DESCRIPTION("Test: an interface with pause frames, PFC and a health reporter");
MODULE_LICENSE("GPL");
