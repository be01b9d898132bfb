// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic checks for what no command would reveal: an adapter that is gone or
 * has restarted by itself while no command is issued, and events whose
 * interrupt was lost.
 */

#include "erdma.h"

#define PERIOD_MS	500
/* How often to retry an adapter that did not confirm a reset, or did not start. */
#define RETRY_MS	5000

/* Whether the adapter was initialised at the last check, and no longer is. */
static bool has_restarted(struct erdma_dev *dev)
{
	bool was_up = dev->was_up;

	dev->was_up = erdma_hw_is_up(dev);
	return was_up && !dev->was_up;
}

static bool wants_retry(const struct erdma_dev *dev)
{
	return READ_ONCE(dev->halted) &&
	       time_after(jiffies, dev->last_recovery + msecs_to_jiffies(RETRY_MS));
}

static void watch_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(to_delayed_work(work), struct erdma_dev, watch);

	if (erdma_dev_is_gone(dev))
		return;
	if (has_restarted(dev) || wants_retry(dev))
		erdma_cmdq_recover(dev);
	erdma_eqs_kick(dev);
	erdma_cmdq_watch(dev);
	queue_delayed_work(dev->wq, &dev->watch, msecs_to_jiffies(PERIOD_MS));
}

/**
 * erdma_watch_init() - once in a device's life
 * @dev: the device
 */
void erdma_watch_init(struct erdma_dev *dev)
{
	INIT_DELAYED_WORK(&dev->watch, watch_work);
}

/**
 * erdma_watch_start() - start watching the adapter
 * @dev: the device, in service
 *
 * Context: process.
 */
void erdma_watch_start(struct erdma_dev *dev)
{
	queue_delayed_work(dev->wq, &dev->watch, msecs_to_jiffies(PERIOD_MS));
}

/**
 * erdma_watch_stop() - stop watching the adapter
 * @dev: the device; may never have been in service
 *
 * Context: process.
 */
void erdma_watch_stop(struct erdma_dev *dev)
{
	cancel_delayed_work_sync(&dev->watch);
}
