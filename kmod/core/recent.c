// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers of the adapter that any user may request. Each costs a command or more, and these
 * are scarce: readers without CAP_NET_ADMIN get the last answer as long as it is good enough,
 * and at most one of them asks at a time.
 */

#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "recent.h"

/**
 * eadm_may_ask() - whether the caller may ask the adapter as often as it likes
 *
 * Context: process.
 */
bool eadm_may_ask(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * eadm_recent_init() - begin without an answer
 * @recent: the answer
 * @ad: the adapter
 * @ask: asks it
 * @answer: where the answer is kept, @size bytes
 * @size: see there
 * @life: how long an answer is good enough, in jiffies
 */
void eadm_recent_init(struct eadm_recent *recent, struct eadm_adapter *ad,
		      int (*ask)(struct eadm_adapter *ad, void *answer), void *answer,
		      size_t size, unsigned long life)
{
	mutex_init(&recent->lock);
	recent->ad = ad;
	recent->ask = ask;
	recent->answer = answer;
	recent->size = size;
	recent->life = life;
	recent->asked = false;
}

/**
 * eadm_recent_read() - get an answer, a recent one or a new one
 * @recent: the answer
 * @answer: set to it
 * @fresh: ask the adapter now
 *
 * Errors are kept as well: after a timeout the next attempt would probably time out, too.
 *
 * Context: process.
 * Return: 0, -EINTR, or what asking returned.
 */
int eadm_recent_read(struct eadm_recent *recent, void *answer, bool fresh)
{
	int ret;

	if (fresh)
		return recent->ask(recent->ad, answer);
	if (mutex_lock_killable(&recent->lock))
		return -EINTR;
	if (!recent->asked || time_after_eq(jiffies, recent->when + recent->life)) {
		recent->ret = recent->ask(recent->ad, recent->answer);
		recent->when = jiffies;
		recent->asked = true;
	}
	ret = recent->ret;
	if (!ret)
		memcpy(answer, recent->answer, recent->size);
	mutex_unlock(&recent->lock);
	return ret;
}

/**
 * eadm_recent_forget() - the next answer must be a new one
 * @recent: the answer
 *
 * Context: process.
 */
void eadm_recent_forget(struct eadm_recent *recent)
{
	mutex_lock(&recent->lock);
	recent->asked = false;
	mutex_unlock(&recent->lock);
}
