// SPDX-License-Identifier: GPL-2.0-only
/* The table of bound devices. */
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"

#define MAX_DEVICES	1024

/* Bound devices by index. Lookups run under RCU and enter the devices that they find. */
static DEFINE_XARRAY_ALLOC(devices);

/*
 * Contributions of removed devices to the generation of each type, so that the sum over all devices
 * never returns to an earlier value. Protected by the lock of the table.
 */
static u32 retired[EADM_OBJ_COUNT];

/**
 * eadm_dev_enter() - start using a device
 * @edev: the device, whose memory the caller keeps valid
 * @net: network namespace of the reader
 *
 * Context: any. Ends with eadm_dev_exit().
 * Return: true if the device is bound, registered with RDMA and visible from @net.
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
 * eadm_dev_exit() - stop using a device after eadm_dev_enter()
 * @edev: the device
 */
void eadm_dev_exit(struct eadm_dev *edev)
{
	ib_device_put(edev->dd->ibdev);
	if (refcount_dec_and_test(&edev->users))
		complete(&edev->idle);
}

/**
 * eadm_dev_unfollow() - unregister a reader of commands
 * @edev: the device; the caller keeps the struct, but the driver may be unbound
 *
 * Context: process.
 */
void eadm_dev_unfollow(struct eadm_dev *edev)
{
	if (!refcount_inc_not_zero(&edev->users))
		return;
	atomic_dec(&edev->dd->followers);
	if (refcount_dec_and_test(&edev->users))
		complete(&edev->idle);
}

/**
 * eadm_dev_next() - enter the next device of the table
 * @index: first slot to check; on return the slot of the device
 * @last: last slot to check
 * @net: network namespace of the reader
 *
 * Return: the device, to be released with eadm_dev_exit(), or NULL at the end.
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
 * eadm_dev_generation() - return a number that changes when objects are added or removed
 * @type: EADM_OBJ_*
 * @first: first slot of the table to include
 * @last: last slot to include
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
	/* Devices in the table are bound. Each device also counts itself as an object. */
	xa_for_each_range(&devices, index, edev, first, last)
		sum += atomic_read(&edev->dd->gen[type]) + 1;
	xa_unlock(&devices);
	return sum ?: 1;
}

/**
 * eadm_dev_reserve() - reserve a slot in the table for a device
 * @edev: the device; its index is set
 *
 * Return: 0 or a negative errno.
 */
int eadm_dev_reserve(struct eadm_dev *edev)
{
	return xa_alloc(&devices, &edev->index, NULL, XA_LIMIT(0, MAX_DEVICES - 1), GFP_KERNEL);
}

/**
 * eadm_dev_release() - release a slot that was reserved but not used
 * @edev: the device
 */
void eadm_dev_release(struct eadm_dev *edev)
{
	xa_erase(&devices, edev->index);
}

/**
 * eadm_dev_publish() - make a device visible to readers
 * @edev: the device, with a reserved slot
 */
void eadm_dev_publish(struct eadm_dev *edev)
{
	xa_store(&devices, edev->index, edev, GFP_KERNEL);
}

/**
 * eadm_dev_begin_removal() - refuse new readers
 * @edev: the device
 *
 * A dump that ends early because the device is being removed reads the generation afterwards, under
 * the same lock.
 */
void eadm_dev_begin_removal(struct eadm_dev *edev)
{
	int i;

	xa_lock(&devices);
	WRITE_ONCE(edev->gone, true);
	for (i = 0; i < EADM_OBJ_COUNT; i++)
		retired[i]++;
	xa_unlock(&devices);
}

/**
 * eadm_dev_unpublish() - remove a device from the table
 * @edev: the device, which is no longer in use
 */
void eadm_dev_unpublish(struct eadm_dev *edev)
{
	int i;

	xa_lock(&devices);
	for (i = 0; i < EADM_OBJ_COUNT; i++)
		retired[i] += atomic_read(&edev->dd->gen[i]) + 2;
	__xa_erase(&devices, edev->index);
	xa_unlock(&devices);
}

/**
 * eadm_dev_table_exit() - free the table
 */
void eadm_dev_table_exit(void)
{
	xa_destroy(&devices);
}
