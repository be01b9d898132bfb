// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers of the adapter that everybody may ask for. Each costs commands, of which there
 * are not many at a time: readers without CAP_NET_ADMIN get the last answer until it is
 * LIFE old, and one of them at most has commands under way.
 */
#include <linux/capability.h>

#include "efa.h"

#define LIFE	(HZ / 10)

static bool is_recent(const struct efa_recent *recent)
{
	lockdep_assert_held(&recent->lock);
	return recent->asked && time_before(jiffies, recent->when + LIFE);
}

/* An error is an answer as well: after a time-out the next one would only wait, too. */
static void keep(struct efa_recent *recent, int ret)
{
	lockdep_assert_held(&recent->lock);
	recent->asked = true;
	recent->when = jiffies;
	recent->ret = ret;
}

/**
 * efa_may_ask() - whether the caller may ask the adapter as often as it likes
 *
 * Context: process.
 */
bool efa_may_ask(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * efa_recent_stats() - the port's counters
 * @dev: the device
 * @stats: what they are
 * @fresh: ask now
 *
 * Context: process.
 * Return: 0, -EINTR, or what efa_cmd_get_stats() returned.
 */
int efa_recent_stats(struct efa_dev *dev, struct efa_stats *stats, bool fresh)
{
	struct efa_recent *recent = &dev->recent;
	int ret;

	if (fresh)
		return efa_cmd_get_stats(dev, stats);
	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!is_recent(recent))
		keep(recent, efa_cmd_get_stats(dev, &recent->stats));
	ret = recent->ret;
	if (!ret)
		*stats = recent->stats;
	mutex_unlock(&recent->lock);
	return ret;
}

/**
 * efa_recent_init() - begin without answers
 * @dev: the device
 *
 * Context: process.
 */
void efa_recent_init(struct efa_dev *dev)
{
	mutex_init(&dev->recent.lock);
}
