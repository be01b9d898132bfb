// SPDX-License-Identifier: GPL-2.0-only
/* Binding to drivers, and the table of bound devices. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"
#include "eadm_version.h"

#define MAX_DEVICES	1024

/* Bound devices by index. Lookups go under RCU and enter what they find. */
static DEFINE_XARRAY_ALLOC(devices);

/*
 * What devices that left or leave had added to the generation of each type, so
 * that the sum over all devices never comes back to a former value. Guarded by
 * the lock of the table.
 */
static u32 retired[EADM_OBJ_COUNT];

/**
 * eadm_dev_enter() - begin to use a device
 * @edev: the device, kept in memory by the caller
 * @net: network namespace of the reader
 *
 * Context: any. Ends with eadm_dev_exit().
 * Return: true if it is bound, registered with RDMA and to be seen from @net.
 */
bool eadm_dev_enter(struct eadm_dev *edev, const struct net *net)
{
	struct ib_device *ibdev;

	if (!refcount_inc_not_zero(&edev->users))
		return false;
	ibdev = edev->dd->ibdev;
	if (!READ_ONCE(edev->gone) && ib_device_try_get(ibdev)) {
		if (rdma_dev_access_netns(ibdev, net))
			return true;
		ib_device_put(ibdev);
	}
	if (refcount_dec_and_test(&edev->users))
		complete(&edev->idle);
	return false;
}

/**
 * eadm_dev_exit() - end what eadm_dev_enter() began
 * @edev: the device
 */
void eadm_dev_exit(struct eadm_dev *edev)
{
	ib_device_put(edev->dd->ibdev);
	if (refcount_dec_and_test(&edev->users))
		complete(&edev->idle);
}

/**
 * eadm_dev_next() - enter the next device of the table
 * @index: place to begin with; place of the device on return
 * @last: last place to look at
 * @net: network namespace of the reader
 *
 * Return: the device, to be left with eadm_dev_exit(), or NULL at the end.
 */
struct eadm_dev *eadm_dev_next(unsigned long *index, unsigned long last, const struct net *net)
{
	struct eadm_dev *edev;

	rcu_read_lock();
	edev = xa_find(&devices, index, last, XA_PRESENT);
	while (edev && !eadm_dev_enter(edev, net))
		edev = xa_find_after(&devices, index, last, XA_PRESENT);
	rcu_read_unlock();
	return edev;
}

/**
 * eadm_dev_generation() - a number that changes when objects come or go
 * @type: EADM_OBJ_*
 * @first: first place of the table to look at
 * @last: last place
 *
 * Return: the number, never 0.
 */
u32 eadm_dev_generation(u8 type, unsigned long first, unsigned long last)
{
	struct eadm_dev *edev;
	unsigned long index;
	u32 sum;

	xa_lock(&devices);
	sum = retired[type];
	/* A device in the table is bound. One more for the device itself. */
	xa_for_each_range(&devices, index, edev, first, last)
		sum += atomic_read(&edev->dd->gen[type]) + 1;
	xa_unlock(&devices);
	return sum ?: 1;
}

static void dev_publish(struct eadm_dev *edev)
{
	xa_store(&devices, edev->index, edev, GFP_KERNEL);
}

/*
 * A dump that ends early because the device goes looks at the generation after
 * that, under the same lock.
 */
static void dev_begin_removal(struct eadm_dev *edev)
{
	int i;

	xa_lock(&devices);
	WRITE_ONCE(edev->gone, true);
	for (i = 0; i < EADM_OBJ_COUNT; i++)
		retired[i]++;
	xa_unlock(&devices);
}

static void dev_unpublish(struct eadm_dev *edev)
{
	int i;

	xa_lock(&devices);
	for (i = 0; i < EADM_OBJ_COUNT; i++)
		retired[i] += atomic_read(&edev->dd->gen[i]) + 2;
	__xa_erase(&devices, edev->index);
	xa_unlock(&devices);
}

/* May run in interrupts: readers look for themselves what there is. */
static int dev_event(struct notifier_block *nb, unsigned long type, void *data)
{
	struct eadm_dev *edev = container_of(nb, struct eadm_dev, nb);

	eadm_event_note(edev, type, data);
	atomic_inc(&edev->events);
	/* Orders the count before the look at the queue; pairs with prepare_to_wait(). */
	if (wq_has_sleeper(&edev->wait))
		wake_up_all(&edev->wait);
	return NOTIFY_DONE;
}

static int dev_take_objs(struct eadm_dev *edev)
{
	const struct eadm_diag_obj *const *obj;

	for (obj = edev->dd->ops->objs; *obj; obj++) {
		if ((*obj)->type >= EADM_OBJ_COUNT || edev->objs[(*obj)->type])
			return -EINVAL;
		edev->objs[(*obj)->type] = *obj;
	}
	return 0;
}

static int eadm_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct eadm_dev *edev;
	int ret;

	edev = kzalloc(sizeof(*edev), GFP_KERNEL);
	if (!edev)
		return -ENOMEM;
	edev->dd = to_eadm_diag_dev(adev);
	refcount_set(&edev->users, 1);
	init_completion(&edev->idle);
	init_waitqueue_head(&edev->wait);
	edev->nb.notifier_call = dev_event;
	eadm_event_init(edev);

	ret = dev_take_objs(edev);
	if (ret)
		goto err_free;
	ret = xa_alloc(&devices, &edev->index, NULL, XA_LIMIT(0, MAX_DEVICES - 1), GFP_KERNEL);
	if (ret)
		goto err_free;
	ret = eadm_node_add(edev, &adev->dev);
	if (ret) {
		xa_erase(&devices, edev->index);
		/* The node owns the struct from eadm_node_add() on. */
		put_device(&edev->node);
		return ret;
	}
	atomic_notifier_chain_register(&edev->dd->events, &edev->nb);
	dev_publish(edev);
	auxiliary_set_drvdata(adev, edev);
	eadm_event_device(edev, EADM_EVENT_TYPE_DEVICE_ADDED);
	return 0;

err_free:
	kfree(edev);
	return ret;
}

/*
 * Whoever comes now is turned away; then those at work are waited for: netlink
 * requests and dumps filling a message, and calls on the node. Files stay open
 * and keep the struct, not the device.
 */
static void eadm_remove(struct auxiliary_device *adev)
{
	struct eadm_dev *edev = auxiliary_get_drvdata(adev);

	dev_begin_removal(edev);
	if (!refcount_dec_and_test(&edev->users))
		wait_for_completion(&edev->idle);
	atomic_notifier_chain_unregister(&edev->dd->events, &edev->nb);
	eadm_node_del(edev);
	dev_unpublish(edev);
	/* Nobody else tells events any more: after this there is room. */
	eadm_event_flush(edev);
	eadm_event_device(edev, EADM_EVENT_TYPE_DEVICE_REMOVED);
	eadm_event_flush(edev);
	wake_up_all(&edev->wait);
	put_device(&edev->node);
}

static const struct auxiliary_device_id eadm_ids[] = {
	{ .name = "erdma." EADM_DIAG_NAME },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, eadm_ids);
COMPAT_AUX_ALIAS("erdma." EADM_DIAG_NAME);

static struct auxiliary_driver eadm_driver = {
	.probe = eadm_probe,
	.remove = eadm_remove,
	.id_table = eadm_ids,
};

/* The node's link under /dev carries the name: let udev make it anew. */
static void tell_name(struct ib_device *ibdev)
{
	const struct net *net = read_pnet(&ibdev->coredev.rdma_net);
	struct eadm_dev *edev;
	unsigned long index;

	for (index = 0; (edev = eadm_dev_next(&index, ULONG_MAX, net)); index++) {
		if (edev->dd->ibdev == ibdev)
			eadm_node_changed(edev);
		eadm_dev_exit(edev);
	}
}

static int client_add(struct ib_device *ibdev)
{
	tell_name(ibdev);
	return 0;
}

static void client_rename(struct ib_device *ibdev, void *data)
{
	tell_name(ibdev);
}

static struct ib_client eadm_client = {
	.name = "eadm",
	.add = client_add,
	.rename = client_rename,
	.no_kverbs_req = 1,
};

static int __init eadm_init(void)
{
	int ret;

	ret = eadm_node_init();
	if (ret)
		return ret;
	ret = ib_register_client(&eadm_client);
	if (ret)
		goto err_node;
	ret = eadm_nl_init();
	if (ret)
		goto err_client;
	ret = auxiliary_driver_register(&eadm_driver);
	if (ret)
		goto err_nl;
	return 0;

err_nl:
	eadm_nl_exit();
err_client:
	ib_unregister_client(&eadm_client);
err_node:
	eadm_node_exit();
	return ret;
}
module_init(eadm_init);

static void __exit eadm_exit(void)
{
	auxiliary_driver_unregister(&eadm_driver);
	eadm_nl_exit();
	ib_unregister_client(&eadm_client);
	eadm_node_exit();
	xa_destroy(&devices);
}
module_exit(eadm_exit);

MODULE_DESCRIPTION("Diagnosis of RDMA adapters: netlink family and char devices");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
