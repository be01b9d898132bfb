// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network interface of the port (hw 1.5): the one whose permanent address
 * is the adapter's MAC address. It may come and go while the device lives.
 */

#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "erdma.h"

/**
 * erdma_port_state() - port state that follows from a network interface
 * @netdev: the interface, or NULL
 *
 * Context: any.
 */
enum ib_port_state erdma_port_state(const struct net_device *netdev)
{
	return netdev && netif_running(netdev) && netif_carrier_ok(netdev) ? IB_PORT_ACTIVE :
									    IB_PORT_DOWN;
}

/**
 * erdma_netdev_get() - the port's network interface
 * @dev: the device
 *
 * Context: any.
 * Return: the interface, to be let go with dev_put(), or NULL.
 */
struct net_device *erdma_netdev_get(struct erdma_dev *dev)
{
	struct net_device *netdev;

	spin_lock_bh(&dev->netdev_lock);
	netdev = dev->netdev;
	dev_hold(netdev);
	spin_unlock_bh(&dev->netdev_lock);
	return netdev;
}

static bool is_ours(struct erdma_dev *dev, const struct net_device *netdev)
{
	return netdev->addr_len == ETH_ALEN && ether_addr_equal(netdev->perm_addr, dev->mac);
}

static int attach(struct erdma_dev *dev, struct net_device *netdev)
{
	int ret;

	ASSERT_RTNL();
	ret = ib_device_set_netdev(&dev->ibdev, netdev, ERDMA_PORT);
	if (ret)
		return ret;
	netdev_hold(netdev, &dev->netdev_tracker, GFP_KERNEL);
	spin_lock_bh(&dev->netdev_lock);
	dev->netdev = netdev;
	dev->port_state = erdma_port_state(netdev);
	dev->speed_stale = true;
	spin_unlock_bh(&dev->netdev_lock);
	strscpy(dev->ibdev.iw_ifname, netdev->name, sizeof(dev->ibdev.iw_ifname));
	return 0;
}

static void detach(struct erdma_dev *dev)
{
	struct net_device *netdev;

	spin_lock_bh(&dev->netdev_lock);
	netdev = dev->netdev;
	dev->netdev = NULL;
	spin_unlock_bh(&dev->netdev_lock);
	if (!netdev)
		return;
	ib_device_set_netdev(&dev->ibdev, NULL, ERDMA_PORT);
	netdev_put(netdev, &dev->netdev_tracker);
}

/**
 * erdma_netdev_bind() - find the port's network interface
 * @dev: the device; its MAC address is known
 *
 * Context: process.
 * Return: 0; -EPROBE_DEFER when there is none (yet); or -errno.
 */
int erdma_netdev_bind(struct erdma_dev *dev)
{
	struct net_device *netdev;
	int ret = -EPROBE_DEFER;

	rtnl_lock();
	for_each_netdev(&init_net, netdev) {
		if (is_ours(dev, netdev)) {
			ret = attach(dev, netdev);
			break;
		}
	}
	rtnl_unlock();
	if (ret == -EPROBE_DEFER)
		dev_dbg(&dev->pdev->dev, "no network interface with address %pM\n", dev->mac);
	return ret;
}

/**
 * erdma_netdev_unbind() - let the network interface go
 * @dev: the device
 *
 * Context: process.
 */
void erdma_netdev_unbind(struct erdma_dev *dev)
{
	rtnl_lock();
	detach(dev);
	rtnl_unlock();
}

static void dispatch(struct erdma_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = ERDMA_PORT,
		.event = type,
	};

	ib_dispatch_event(&event);
}

/* Tells consumers when the port's state is another one than before. */
static void update_state(struct erdma_dev *dev, enum ib_port_state state)
{
	bool changed;

	spin_lock_bh(&dev->netdev_lock);
	changed = dev->port_state != state;
	dev->port_state = state;
	dev->speed_stale = true;
	spin_unlock_bh(&dev->netdev_lock);
	if (changed)
		dispatch(dev, state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
							IB_EVENT_PORT_ERR);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct erdma_dev *dev = container_of(nb, struct erdma_dev, netdev_nb);
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	if (!is_ours(dev, netdev))
		return NOTIFY_DONE;
	if (event == NETDEV_REGISTER && !dev->netdev) {
		if (attach(dev, netdev))
			ibdev_err(&dev->ibdev, "interface %s cannot be used\n", netdev->name);
		else
			dispatch(dev, IB_EVENT_GID_CHANGE);
		return NOTIFY_DONE;
	}
	if (netdev != dev->netdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		update_state(dev, erdma_port_state(netdev));
		break;
	case NETDEV_GOING_DOWN:
		update_state(dev, IB_PORT_DOWN);
		break;
	case NETDEV_CHANGEMTU:
		WRITE_ONCE(dev->mtu_changed, true);
		queue_work(dev->wq, &dev->mtu_work);
		break;
	case NETDEV_CHANGEADDR:
		dispatch(dev, IB_EVENT_GID_CHANGE);
		break;
	case NETDEV_CHANGENAME:
		strscpy(dev->ibdev.iw_ifname, netdev->name, sizeof(dev->ibdev.iw_ifname));
		break;
	case NETDEV_UNREGISTER:
		detach(dev);
		update_state(dev, IB_PORT_DOWN);
		/* Makes the core let go of the interface too. */
		dispatch(dev, IB_EVENT_GID_CHANGE);
		break;
	}
	return NOTIFY_DONE;
}

/**
 * erdma_mtu_work() - tell the adapter of the interface's MTU
 * @work: dev->mtu_work
 *
 * Not done by the notifier itself, which has the world waiting.
 *
 * Context: process.
 */
void erdma_mtu_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(work, struct erdma_dev, mtu_work);
	struct net_device *netdev = erdma_netdev_get(dev);
	int ret;

	if (!netdev)
		return;
	ret = erdma_cmd_conf_mtu(dev, READ_ONCE(netdev->mtu));
	if (ret)
		ibdev_warn(&dev->ibdev, "the adapter did not take an MTU of %u: %d\n",
			   netdev->mtu, ret);
	dev_put(netdev);
}

/**
 * erdma_netdev_register() - follow the network interface
 * @dev: the device, registered
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_netdev_register(struct erdma_dev *dev)
{
	dev->netdev_nb.notifier_call = netdev_event;
	return register_netdevice_notifier(&dev->netdev_nb);
}

/**
 * erdma_netdev_unregister() - no longer follow it
 * @dev: the device
 *
 * Context: process.
 */
void erdma_netdev_unregister(struct erdma_dev *dev)
{
	unregister_netdevice_notifier(&dev->netdev_nb);
	cancel_work_sync(&dev->mtu_work);
}
