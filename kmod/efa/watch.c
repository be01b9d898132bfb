// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic checks for what no command would reveal: an adapter that is gone or has
 * restarted by itself while no command is issued, events whose interrupt was lost, and an
 * adapter that may confirm a reset by now, or start.
 */

#include "efa.h"

#define PERIOD_MS	500
#define RETRY_MS	5000
/* Reading a register takes a while if it is not answered, and keeps others from reading. */
#define READ_PERIODS	2

static bool wants_retry(const struct efa_dev *dev)
{
	return READ_ONCE(dev->halted) &&
	       time_after(jiffies, dev->last_recovery + msecs_to_jiffies(RETRY_MS));
}

/* Recovery asks the adapter before it resets it: this may be wrong. */
static bool has_restarted(struct efa_dev *dev)
{
	if (READ_ONCE(dev->aq.state) != EFA_AQ_EVENT || ++dev->watched % READ_PERIODS)
		return false;
	return efa_hw_has_forgotten(dev);
}

static void watch_work(struct work_struct *work)
{
	struct efa_dev *dev = container_of(to_delayed_work(work), struct efa_dev, watch);

	if (efa_dev_is_gone(dev))
		return;
	if (has_restarted(dev) || wants_retry(dev))
		efa_aq_recover(dev, EFA_RESET_CMD_TIMEOUT);
	efa_eqs_kick(dev);
	queue_delayed_work(dev->wq, &dev->watch, msecs_to_jiffies(PERIOD_MS));
}

/**
 * efa_watch_init() - once in a device's life
 * @dev: the device
 */
void efa_watch_init(struct efa_dev *dev)
{
	INIT_DELAYED_WORK(&dev->watch, watch_work);
}

/**
 * efa_watch_start() - start watching the adapter
 * @dev: the device, in service
 *
 * Context: process.
 */
void efa_watch_start(struct efa_dev *dev)
{
	queue_delayed_work(dev->wq, &dev->watch, msecs_to_jiffies(PERIOD_MS));
}

/**
 * efa_watch_stop() - stop watching the adapter
 * @dev: the device; may never have been in service
 *
 * Context: process.
 */
void efa_watch_stop(struct efa_dev *dev)
{
	cancel_delayed_work_sync(&dev->watch);
}
