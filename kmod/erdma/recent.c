// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cached answers of the adapter that any user may request. Each costs a
 * command, and commands are scarce: readers without CAP_NET_ADMIN get the last
 * answer until it is ERDMA_RECENT_LIFE old, and at most one command is in
 * flight for all of them.
 */
#include <linux/capability.h>

#include "erdma.h"

#define ERDMA_RECENT_LIFE	(HZ / 10)

static bool is_recent(const struct erdma_recent *recent)
{
	lockdep_assert_held(&recent->lock);
	return recent->asked && time_before(jiffies, recent->when + ERDMA_RECENT_LIFE);
}

/* Errors are cached as well: after a timeout the next command would probably time out, too. */
static void keep(struct erdma_recent *recent, int ret)
{
	lockdep_assert_held(&recent->lock);
	recent->asked = true;
	recent->when = jiffies;
	recent->ret = ret;
}

/**
 * erdma_may_ask() - whether the caller may ask the adapter as often as it likes
 *
 * Context: process.
 */
bool erdma_may_ask(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * erdma_recent_stats() - the port's counters
 * @dev: the device
 * @value: set to the counters
 * @fresh: ask the adapter now
 *
 * Context: process.
 * Return: 0, -EINTR, or what erdma_cmd_get_stats() returned.
 */
int erdma_recent_stats(struct erdma_dev *dev, u64 value[ERDMA_STATS_COUNT], bool fresh)
{
	struct erdma_recent *recent = &dev->recent_stats;
	int ret;

	if (fresh)
		return erdma_cmd_get_stats(dev, value);
	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!is_recent(recent))
		keep(recent, erdma_cmd_get_stats(dev, recent->stats));
	ret = recent->ret;
	if (!ret)
		memcpy(value, recent->stats, sizeof(recent->stats));
	mutex_unlock(&recent->lock);
	return ret;
}

/**
 * erdma_recent_ext_attr() - the extended attributes
 * @dev: the device
 * @ext: set to the attributes
 * @fresh: ask the adapter now
 *
 * Context: process.
 * Return: 0, -EINTR, or what erdma_cmd_get_ext_attr() returned.
 */
int erdma_recent_ext_attr(struct erdma_dev *dev, struct erdma_ext_attr *ext, bool fresh)
{
	struct erdma_recent *recent = &dev->recent_ext;
	int ret;

	if (fresh)
		return erdma_cmd_get_ext_attr(dev, ext);
	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!is_recent(recent))
		keep(recent, erdma_cmd_get_ext_attr(dev, &recent->ext));
	ret = recent->ret;
	if (!ret)
		*ext = recent->ext;
	mutex_unlock(&recent->lock);
	return ret;
}

/**
 * erdma_recent_forget() - the settings have changed
 * @dev: the device
 *
 * Context: process.
 */
void erdma_recent_forget(struct erdma_dev *dev)
{
	mutex_lock(&dev->recent_ext.lock);
	dev->recent_ext.asked = false;
	mutex_unlock(&dev->recent_ext.lock);
}

/**
 * erdma_recent_init() - begin without answers
 * @dev: the device
 *
 * Context: process.
 */
void erdma_recent_init(struct erdma_dev *dev)
{
	mutex_init(&dev->recent_stats.lock);
	mutex_init(&dev->recent_ext.lock);
}
