/* SPDX-License-Identifier: GPL-2.0-only */
/* Briefly cached responses of the adapter. */
#ifndef EADM_RECENT_H
#define EADM_RECENT_H

#include <linux/mutex.h>
#include <linux/types.h>

struct eadm_adapter;

/**
 * struct eadm_recent - a cached response
 * @lock: protects the members after @life and the contents of @answer; held during a query
 * @ad: the adapter
 * @ask: query the adapter for a response of @size bytes; return 0 or -errno
 * @answer: the response
 * @size: size of the response
 * @life: lifetime of the response, in jiffies
 * @asked: the adapter was queried, and @when and @ret are valid
 * @when: time of the last response, in jiffies
 * @ret: return value of @ask; if 0, the response is valid
 */
struct eadm_recent {
	struct mutex lock;	/* see above */
	struct eadm_adapter *ad;
	int (*ask)(struct eadm_adapter *ad, void *answer);
	void *answer;
	size_t size;
	unsigned long life;
	bool asked;
	unsigned long when;
	int ret;
};

/* Lifetime of a response whose query requires a command, in jiffies. */
#define EADM_RECENT_LIFE	(HZ / 10)

void eadm_recent_init(struct eadm_recent *recent, struct eadm_adapter *ad,
		      int (*ask)(struct eadm_adapter *ad, void *answer), void *answer,
		      size_t size, unsigned long life);
int eadm_recent_read(struct eadm_recent *recent, void *answer, bool fresh);
void eadm_recent_forget(struct eadm_recent *recent);
bool eadm_may_ask(void);

#endif /* EADM_RECENT_H */
