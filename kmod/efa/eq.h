/* SPDX-License-Identifier: GPL-2.0-only */
/* Event queues for asynchronous events and for completions. */
#ifndef EFA_EQ_H
#define EFA_EQ_H

#include "../core/interrupt.h"
#include "efa_hw.h"

/* The vector in CREATE_EQ has 8 bits; the vectors for completions begin at 1. */
#define EFA_MAX_EQS		U8_MAX

struct efa_dev;

/**
 * struct efa_eq - an event queue
 * @base: common part of all families; number 0 is the queue of asynchronous events
 * @keep_alives: number of keep-alive events
 * @last_keep_alive: local_clock() of the last keep-alive event, 0 = none yet
 */
struct efa_eq {
	struct eadm_eq base;
	u64 keep_alives;
	u64 last_keep_alive;
};

int efa_aenq_init(struct eadm_adapter *ad);
int efa_eqs_init(struct efa_dev *dev);
void efa_eqs_free(struct eadm_adapter *ad);
int efa_eqs_request(struct efa_dev *dev);
int efa_eqs_create(struct efa_dev *dev);
void efa_eqs_stop(struct efa_dev *dev, bool destroy);
int efa_mgmt_request(struct efa_dev *dev);
void efa_eqs_reset(struct efa_dev *dev);
void efa_eqs_kick(struct eadm_adapter *ad);

#endif /* EFA_EQ_H */
