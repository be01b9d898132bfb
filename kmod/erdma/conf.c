// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the adapter. Changed settings are restored after a reset. */

#include "erdma.h"

/**
 * erdma_conf_init() - initialise settings to the adapter's defaults
 * @dev: the device, whose capabilities have been read
 *
 * Context: process.
 */
void erdma_conf_init(struct erdma_dev *dev)
{
	struct erdma_recent *recent = &dev->recent;

	mutex_init(&dev->conf.lock);
	eadm_recent_init(&recent->stats, &dev->adapter, erdma_cmd_get_stats, recent->last_stats,
			 sizeof(recent->last_stats), EADM_RECENT_LIFE);
	eadm_recent_init(&recent->ext_attr, &dev->adapter, erdma_cmd_get_ext_attr,
			 &recent->last_ext_attr, sizeof(recent->last_ext_attr), EADM_RECENT_LIFE);
	dev->conf.cc = dev->caps.cc;
	dev->conf.delayed_ack = -1;
}

/**
 * erdma_conf_restore() - restore the adapter's settings
 * @dev: the device, after a reset
 *
 * Does not take the lock: its holder may be waiting for the end of recovery.
 *
 * Context: process.
 * Return: 0, even if the adapter refused a setting, or -errno.
 */
int erdma_conf_restore(struct erdma_dev *dev)
{
	int delayed_ack = READ_ONCE(dev->conf.delayed_ack);
	u8 retrans_num = READ_ONCE(dev->conf.retrans_num);
	int ret = 0;

	if (retrans_num)
		ret = erdma_cmd_set_retrans_num(dev, retrans_num);
	if ((!ret || ret == -EIO) && delayed_ack >= 0)
		ret = erdma_cmd_set_delayed_ack(dev, delayed_ack);
	return ret == -EIO ? 0 : ret;
}
