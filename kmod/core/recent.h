/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers of the adapter, cached briefly. */
#ifndef EADM_RECENT_H
#define EADM_RECENT_H

#include <linux/mutex.h>
#include <linux/types.h>

struct eadm_adapter;

/**
 * struct eadm_recent - an answer
 * @lock: guards what follows @life, and @answer; held while the adapter is asked
 * @ad: the adapter
 * @ask: asks it for an answer of @size bytes; returns 0 or -errno
 * @answer: the answer
 * @size: its size
 * @life: how long it is good enough, in jiffies
 * @asked: there was an answer, or an error, at @when (jiffies)
 * @when: see there
 * @ret: what @ask returned; 0: the answer is valid
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

/* Most answers cost a command. */
#define EADM_RECENT_LIFE	(HZ / 10)

void eadm_recent_init(struct eadm_recent *recent, struct eadm_adapter *ad,
		      int (*ask)(struct eadm_adapter *ad, void *answer), void *answer,
		      size_t size, unsigned long life);
int eadm_recent_read(struct eadm_recent *recent, void *answer, bool fresh);
void eadm_recent_forget(struct eadm_recent *recent);
bool eadm_may_ask(void);

#endif /* EADM_RECENT_H */
