// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stretches a moment of mmap(): a driver has mapped a page of its device, and
 * the kernel is about to make the mapping known, so that unmap_mapping_range()
 * finds it. Knows no driver; /sys/module/latemap/parameters:
 *
 *  device   RDMA device
 *  nth      the nth successful mmap() from when this is written is held up; 0: none
 *  held     1: it is
 *  release  1: it goes on; so it does when somebody waits for its address space
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#define LIMIT_SECS	120

static char *device = "erdma_0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device");

static int nth;
module_param(nth, int, 0644);
MODULE_PARM_DESC(nth, "Which mmap() from now on is held up");

static int held;
module_param(held, int, 0444);
MODULE_PARM_DESC(held, "One is held up");

static int release;
module_param(release, int, 0644);
MODULE_PARM_DESC(release, "Let it go on");

static struct ib_device *found;
static int (*driver_mmap)(struct ib_ucontext *ctx, struct vm_area_struct *vma);

static void hold_up(struct mm_struct *mm)
{
	unsigned long end = jiffies + LIMIT_SECS * HZ;

	WRITE_ONCE(held, 1);
	while (!READ_ONCE(release) && !mmap_lock_is_contended(mm) && time_before(jiffies, end))
		msleep(20);
	WRITE_ONCE(held, 0);
}

/* One process at a time is looked at: no lock. */
static int late_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	int ret = driver_mmap(ctx, vma);

	if (!ret && nth > 0 && !--nth)
		hold_up(vma->vm_mm);
	return ret;
}

static int add(struct ib_device *ibdev)
{
	if (found || strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	found = ibdev;
	driver_mmap = ibdev->ops.mmap;
	ibdev->ops.mmap = late_mmap;
	return 0;
}

static void removed(struct ib_device *ibdev, void *data)
{
	ibdev->ops.mmap = driver_mmap;
	found = NULL;
}

static struct ib_client client = {
	.name	= "latemap",
	.add	= add,
	.remove	= removed,
};

static int __init latemap_init(void)
{
	int ret = ib_register_client(&client);

	if (!ret && !found) {
		ib_unregister_client(&client);
		ret = -ENODEV;
	}
	return ret;
}
module_init(latemap_init);

static void __exit latemap_exit(void)
{
	ib_unregister_client(&client);
}
module_exit(latemap_exit);

MODULE_DESCRIPTION("Holds up mmap() of an RDMA device, for tests");
MODULE_LICENSE("GPL");
