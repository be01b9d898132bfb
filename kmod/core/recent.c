// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cached responses of the adapter, readable by any user. Each response costs at least one command,
 * and commands are a limited resource: readers without CAP_NET_ADMIN receive the cached response
 * until it expires, and at most one of them queries the adapter at a time.
 */

#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "recent.h"

/**
 * eadm_may_ask() - check whether the caller may query the adapter without a rate limit
 *
 * Context: process.
 */
bool eadm_may_ask(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * eadm_recent_init() - initialise an empty cache
 * @recent: the cache
 * @ad: the adapter
 * @ask: query the adapter
 * @answer: memory of the cached response
 * @size: size of @answer in bytes
 * @life: lifetime of a response, in jiffies
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
 * eadm_recent_read() - get a response, cached or new
 * @recent: the cache
 * @answer: set to the response
 * @fresh: query the adapter now
 *
 * Errors are cached as well: after a timeout the next attempt would probably time out, too.
 *
 * Context: process.
 * Return: 0, -EINTR, or the result of the query.
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
 * eadm_recent_forget() - invalidate a cached response
 * @recent: the cache
 *
 * Context: process.
 */
void eadm_recent_forget(struct eadm_recent *recent)
{
	mutex_lock(&recent->lock);
	recent->asked = false;
	mutex_unlock(&recent->lock);
}
