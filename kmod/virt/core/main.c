// SPDX-License-Identifier: GPL-2.0-only
/* Virtual adapters, created through configfs: see configfs.c. */
#include <linux/module.h>

#include "eadm_version.h"
#include "vdev.h"

static int __init vdev_init(void)
{
	int ret;

	ret = vdev_bus_init();
	if (ret)
		return ret;
	ret = vdev_configfs_init();
	if (ret)
		vdev_bus_exit();
	return ret;
}

/* Each adapter holds a reference to the module, so no adapter is left at this point. */
static void __exit vdev_exit(void)
{
	vdev_configfs_exit();
	vdev_bus_exit();
}

module_init(vdev_init);
module_exit(vdev_exit);
MODULE_DESCRIPTION("Virtual RDMA adapters");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
