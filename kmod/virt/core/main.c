// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual ERDMA adapters, made through configfs: see configfs.c.
 */
#include <linux/module.h>

#include "eadm_version.h"
#include "../erdma/ev.h"

static int __init ev_init(void)
{
	int ret;

	ret = ev_bus_init();
	if (ret)
		return ret;
	ret = ev_configfs_init();
	if (ret)
		ev_bus_exit();
	return ret;
}

/* Adapters hold a reference on the module: none is left here. */
static void __exit ev_exit(void)
{
	ev_configfs_exit();
	ev_bus_exit();
}

module_init(ev_init);
module_exit(ev_exit);
MODULE_DESCRIPTION("Virtual Elastic RDMA adapter");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
