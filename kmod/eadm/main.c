// SPDX-License-Identifier: GPL-2.0-only
/* Binding to drivers. */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"
#include "eadm_version.h"
#include "generated/ids.h"

/* This may run in interrupt context, so it only wakes readers, which then check the queue. */
static int dev_event(struct notifier_block *nb, unsigned long type, void *data)
{
	struct eadm_dev *edev = container_of(nb, struct eadm_dev, nb);

	eadm_event_note(edev, type, data);
	atomic_inc(&edev->events);
	/* Orders the count before the check of the queue; pairs with prepare_to_wait(). */
	if (wq_has_sleeper(&edev->wait))
		wake_up_all(&edev->wait);
	return NOTIFY_DONE;
}

static void dev_take_sets(struct eadm_dev *edev)
{
	const struct eadm_set *set;
	int i;

	for (i = 0; i < EADM_OBJ_COUNT; i++) {
		for (set = eadm_objects[i].sets; set && set->family; set++) {
			if (!strcmp(set->family, edev->dd->ops->family))
				edev->sets[i] = set;
		}
	}
}

static int dev_take_objs(struct eadm_dev *edev)
{
	const struct eadm_diag_obj *const *obj;

	for (obj = edev->dd->ops->objs; *obj; obj++) {
		if ((*obj)->type >= EADM_OBJ_COUNT || edev->objs[(*obj)->type])
			return -EINVAL;
		edev->objs[(*obj)->type] = *obj;
	}
	if (edev->dd->failures) {
		edev->objs[EADM_OBJ_FAILURE] = &eadm_failure_obj;
		edev->objs[EADM_OBJ_FAILURE_TOTAL] = &eadm_failure_total_obj;
	}
	return 0;
}

/*
 * Until this check has succeeded, only the interface number is at a known offset in the driver's
 * structs.
 */
static bool dev_has_our_interface(struct auxiliary_device *adev)
{
	const u32 theirs = to_eadm_diag_dev(adev)->ops->interface;

	BUILD_BUG_ON(offsetof(struct eadm_diag_ops, interface));
	if (theirs == EADM_DIAG_INTERFACE)
		return true;
	dev_warn(&adev->dev,
		 "not shown: eadm.ko has interface %08x, but the driver has %08x; load both from the same build\n",
		 EADM_DIAG_INTERFACE, theirs);
	return false;
}

static int eadm_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct eadm_dev *edev;
	int ret;

	if (!dev_has_our_interface(adev))
		return -ENODEV;
	edev = kzalloc(sizeof(*edev), GFP_KERNEL);
	if (!edev)
		return -ENOMEM;
	edev->dd = to_eadm_diag_dev(adev);
	refcount_set(&edev->users, 1);
	init_completion(&edev->idle);
	init_waitqueue_head(&edev->wait);
	edev->nb.notifier_call = dev_event;
	eadm_event_init(edev);

	dev_take_sets(edev);
	ret = dev_take_objs(edev);
	if (ret)
		goto err_free;
	ret = eadm_dev_reserve(edev);
	if (ret)
		goto err_free;
	ret = eadm_node_add(edev, &adev->dev);
	if (ret) {
		eadm_dev_release(edev);
		/* After eadm_node_add(), the node owns the struct. */
		put_device(&edev->node);
		return ret;
	}
	atomic_notifier_chain_register(&edev->dd->events, &edev->nb);
	eadm_dev_publish(edev);
	auxiliary_set_drvdata(adev, edev);
	eadm_event_device(edev, EADM_EVENT_TYPE_DEVICE_ADDED);
	return 0;

err_free:
	kfree(edev);
	return ret;
}

/*
 * Refuses new users, then waits for the current users: netlink requests, dumps that are filling a
 * message, and calls on the char device. Files stay open and keep the struct, but not the device.
 */
static void eadm_remove(struct auxiliary_device *adev)
{
	struct eadm_dev *edev = auxiliary_get_drvdata(adev);

	eadm_dev_begin_removal(edev);
	if (!refcount_dec_and_test(&edev->users))
		wait_for_completion(&edev->idle);
	/* Removes the followers of files that stay open. */
	atomic_set(&edev->dd->followers, 0);
	atomic_notifier_chain_unregister(&edev->dd->events, &edev->nb);
	eadm_node_del(edev);
	eadm_dev_unpublish(edev);
	/* No further events can arrive, so the queue has room after this flush. */
	eadm_event_flush(edev);
	eadm_event_device(edev, EADM_EVENT_TYPE_DEVICE_REMOVED);
	eadm_event_flush(edev);
	wake_up_all(&edev->wait);
	put_device(&edev->node);
}

static ssize_t interface_show(struct device_driver *driver, char *buf)
{
	return sysfs_emit(buf, "%08x\n", EADM_DIAG_INTERFACE);
}
static DRIVER_ATTR_RO(interface);

static struct attribute *eadm_attrs[] = { &driver_attr_interface.attr, NULL };
ATTRIBUTE_GROUPS(eadm);

static struct auxiliary_driver eadm_driver = {
	.driver.groups = eadm_groups,
	.probe = eadm_probe,
	.remove = eadm_remove,
	.id_table = eadm_ids,
};

/* The link to the char device under /dev contains the name, so make udev re-create the link. */
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
	ret = eadm_nl_init(eadm_genl_ops, eadm_n_genl_ops);
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
	eadm_dev_table_exit();
}
module_exit(eadm_exit);

MODULE_DESCRIPTION("Diagnosis of RDMA adapters: netlink family and char devices");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
