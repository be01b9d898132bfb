// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cached answers of the adapter.
 *
 * Counters, which any user may request, cost commands, and commands are scarce: readers
 * without CAP_NET_ADMIN get the last answer until it is STATS_LIFE old, and at most one of
 * them has commands in flight.
 *
 * Registers are read one at a time, and recovery reads them, too. An adapter that does
 * not answer holds it up by all tries of a read: every reader gets the last answer until
 * it is REGS_LIFE old, several times as long.
 */
#include <linux/capability.h>

#include "efa.h"
#include "efa_classes.h"

#define STATS_LIFE	(HZ / 10)
#define REGS_LIFE	HZ

static bool is_recent(const struct efa_recent *recent, unsigned long life)
{
	lockdep_assert_held(&recent->lock);
	return recent->asked && time_before(jiffies, recent->when + life);
}

/* Errors are cached as well: after a timeout the next attempt would probably time out, too. */
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
 * @stats: set to the counters
 * @fresh: ask the adapter now
 *
 * Context: process.
 * Return: 0, -EINTR, or what efa_cmd_get_stats() returned.
 */
int efa_recent_stats(struct efa_dev *dev, struct efa_stats *stats, bool fresh)
{
	struct efa_recent *recent = &dev->recent_stats;
	int ret;

	if (fresh)
		return efa_cmd_get_stats(dev, stats);
	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!is_recent(recent, STATS_LIFE))
		keep(recent, efa_cmd_get_stats(dev, &recent->stats));
	ret = recent->ret;
	if (!ret)
		*stats = recent->stats;
	mutex_unlock(&recent->lock);
	return ret;
}

static int read_regs(struct efa_dev *dev, u32 *value)
{
	u32 i;

	for (i = 0; i < EFA_REGS_COUNT; i++) {
		if (!efa_reg_bits(i * sizeof(u32)))
			continue;
		value[i] = efa_reg_read(dev, i * sizeof(u32));
		if (value[i] == EFA_MMIO_NO_VALUE)
			return -EIO;
	}
	return 0;
}

/**
 * efa_recent_regs() - the registers that may be read
 * @dev: the device
 * @value: set to their values, by offset; the others are 0
 *
 * Context: process.
 * Return: 0; -EINTR; -EIO when the adapter does not answer.
 */
int efa_recent_regs(struct efa_dev *dev, u32 value[EFA_REGS_COUNT])
{
	struct efa_recent *recent = &dev->recent_regs;
	int ret;

	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!is_recent(recent, REGS_LIFE))
		keep(recent, read_regs(dev, recent->regs));
	ret = recent->ret;
	if (!ret)
		memcpy(value, recent->regs, sizeof(recent->regs));
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
	mutex_init(&dev->recent_stats.lock);
	mutex_init(&dev->recent_regs.lock);
}
