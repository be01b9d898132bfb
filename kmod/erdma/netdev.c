// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network interface of the port (hw 1.5): its permanent address is the adapter's MAC address.
 *
 * The RDMA core cannot handle an iWARP port that has lost its interface. When the interface is
 * unregistered, the device is removed, too: the driver is rebound, and its probe waits for the
 * interface to come back. A move to a different network namespace has no effect.
 */

#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "erdma.h"

/* Outlives all devices, so that it can rebind a device. */
static struct workqueue_struct *rebind_wq;

/* @ad is only compared, never dereferenced: the adapter may be freed already. */
struct rebind {
	struct work_struct work;
	struct pci_dev *pdev;
	const struct eadm_adapter *ad;
};

static void rebind_work(struct work_struct *work)
{
	struct rebind *rebind = container_of(work, struct rebind, work);
	struct device *dev = &rebind->pdev->dev;
	bool ours;

	/*
	 * The device may have been bound to a different driver in the meantime. If it is bound
	 * after this test, it is probed again, which is harmless: no kernel function tests and
	 * detaches atomically, and unbinding through sysfs has the same race.
	 */
	device_lock(dev);
	ours = dev->driver && dev->driver->owner == THIS_MODULE &&
	       pci_get_drvdata(rebind->pdev) == rebind->ad;
	device_unlock(dev);
	if (ours && device_reprobe(dev))
		pci_err(rebind->pdev, "cannot rebind the device\n");
	pci_dev_put(rebind->pdev);
	kfree(rebind);
}

/* Until removal is complete, the core and the driver hold references to the interface. */
static void start_rebind(struct erdma_dev *dev)
{
	struct rebind *rebind;

	rebind = kmalloc(sizeof(*rebind), GFP_KERNEL | __GFP_NOFAIL);
	INIT_WORK(&rebind->work, rebind_work);
	rebind->pdev = pci_dev_get(dev->pdev);
	rebind->ad = &dev->adapter;
	queue_work(rebind_wq, &rebind->work);
}

/**
 * erdma_netdev_init() - initialise when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int erdma_netdev_init(void)
{
	rebind_wq = alloc_workqueue("erdma-rebind", WQ_UNBOUND, 0);
	return rebind_wq ? 0 : -ENOMEM;
}

/**
 * erdma_netdev_exit() - clean up when the module is unloaded; no device is left
 */
void erdma_netdev_exit(void)
{
	destroy_workqueue(rebind_wq);
}

/**
 * erdma_port_state() - derive the port state from the network interface
 * @dev: the device, registered
 *
 * Context: any.
 */
enum ib_port_state erdma_port_state(const struct erdma_dev *dev)
{
	if (READ_ONCE(dev->adapter.gone))
		return IB_PORT_DOWN;
	return netif_running(dev->netdev) && netif_carrier_ok(dev->netdev) ? IB_PORT_ACTIVE :
									     IB_PORT_DOWN;
}

/**
 * erdma_netdev_bind() - find the port's network interface
 * @ad: the adapter, whose MAC address is known
 *
 * Context: process.
 * Return: 0; -EPROBE_DEFER if there is no such interface yet; -EINVAL if the address is invalid; or
 * -errno.
 */
int erdma_netdev_bind(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct ib_device *ibdev = &ad->ibdev;
	struct net_device *netdev;
	int ret = -EPROBE_DEFER;

	/* The permanent address of interfaces without one is all zeros. */
	if (!is_valid_ether_addr(dev->mac)) {
		pci_err(dev->pdev, "the adapter reports no valid MAC address (%pM)\n", dev->mac);
		return -EINVAL;
	}
	rtnl_lock();
	for_each_netdev(&init_net, netdev) {
		if (netdev->addr_len != ETH_ALEN ||
		    !ether_addr_equal(netdev->perm_addr, dev->mac))
			continue;
		ret = ib_device_set_netdev(ibdev, netdev, ERDMA_PORT);
		if (ret)
			break;
		netdev_hold(netdev, &dev->netdev_tracker, GFP_KERNEL);
		dev->netdev = netdev;
		dev->port_state = erdma_port_state(dev);
		dev->speed_stale = true;
		strscpy(ibdev->iw_ifname, netdev->name, sizeof(ibdev->iw_ifname));
		break;
	}
	rtnl_unlock();
	if (ret == -EPROBE_DEFER)
		pci_dbg(dev->pdev, "no network interface with address %pM\n", dev->mac);
	return ret;
}

/**
 * erdma_netdev_unbind() - release the network interface
 * @ad: the adapter
 *
 * Context: process.
 */
void erdma_netdev_unbind(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	/* Recovery may have queued this work, but has ended by now. */
	cancel_work_sync(&dev->mtu_work);
	ib_device_set_netdev(&dev->adapter.ibdev, NULL, ERDMA_PORT);
	netdev_put(dev->netdev, &dev->netdev_tracker);
}

/* Notifies consumers when the port's state has changed. */
static void update_state(struct erdma_dev *dev, enum ib_port_state state)
{
	WRITE_ONCE(dev->speed_stale, true);
	if (dev->port_state == state)
		return;
	dev->port_state = state;
	erdma_debug(dev, dev, "port %s\n", state == IB_PORT_ACTIVE ? "active" : "down");
	eadm_adapter_event(&dev->adapter,
			   state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct erdma_dev *dev = container_of(nb, struct erdma_dev, netdev_nb);
	struct ib_device *ibdev = &dev->adapter.ibdev;
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	ASSERT_RTNL();
	/* Unregistering a notifier sends it events as if all interfaces were removed. */
	if (netdev != dev->netdev || READ_ONCE(dev->removing))
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		update_state(dev, erdma_port_state(dev));
		break;
	case NETDEV_GOING_DOWN:
		update_state(dev, IB_PORT_DOWN);
		break;
	case NETDEV_CHANGEMTU:
		WRITE_ONCE(dev->mtu_changed, true);
		queue_work(dev->adapter.wq, &dev->mtu_work);
		break;
	case NETDEV_CHANGEADDR:
		eadm_adapter_event(&dev->adapter, IB_EVENT_GID_CHANGE);
		break;
	case NETDEV_CHANGENAME:
		strscpy(ibdev->iw_ifname, netdev->name, sizeof(ibdev->iw_ifname));
		break;
	case NETDEV_UNREGISTER:
		/*
		 * This event is also sent for a move between namespaces, which the device survives.
		 */
		if (netdev->reg_state != NETREG_REGISTERED)
			start_rebind(dev);
		break;
	}
	return NOTIFY_DONE;
}

static int inetaddr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct erdma_dev *dev = container_of(nb, struct erdma_dev, inetaddr_nb);
	const struct in_ifaddr *ifa = ptr;

	if (ifa->ifa_dev->dev == dev->netdev)
		erdma_cm_addresses_changed(&dev->cm);
	return NOTIFY_DONE;
}

/**
 * erdma_mtu_work() - set the interface's MTU in the adapter
 * @work: dev->mtu_work
 *
 * The notifier itself cannot do this because it holds the RTNL.
 *
 * Context: process.
 */
void erdma_mtu_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(work, struct erdma_dev, mtu_work);
	u32 mtu = READ_ONCE(dev->netdev->mtu);
	int ret;

	ret = erdma_cmd_conf_mtu(dev, mtu);
	if (ret)
		ibdev_warn(&dev->adapter.ibdev, "cannot set an MTU of %u: %d\n", mtu, ret);
}

/**
 * erdma_netdev_register() - start following the network interface
 * @ad: the adapter, registered
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_netdev_register(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	int ret;

	dev->netdev_nb.notifier_call = netdev_event;
	ret = register_netdevice_notifier(&dev->netdev_nb);
	if (ret)
		return ret;
	dev->inetaddr_nb.notifier_call = inetaddr_event;
	register_inetaddr_notifier(&dev->inetaddr_nb);
	/* The interface was removed before the notifier was registered. */
	if (!compat_netdev_is_registered(dev->netdev)) {
		erdma_netdev_unregister(ad);
		return -EPROBE_DEFER;
	}
	return 0;
}

/**
 * erdma_netdev_unregister() - stop following the network interface
 * @ad: the adapter
 *
 * Context: process.
 */
void erdma_netdev_unregister(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	WRITE_ONCE(dev->removing, true);
	unregister_inetaddr_notifier(&dev->inetaddr_nb);
	unregister_netdevice_notifier(&dev->netdev_nb);
	cancel_work_sync(&dev->mtu_work);
}
