/* SPDX-License-Identifier: GPL-2.0-only */
/* Event queues: the one of asynchronous events, and those of completions. */
#ifndef EFA_EQ_H
#define EFA_EQ_H

#include "../core/interrupt.h"
#include "efa_hw.h"

/* For completions: CREATE_EQ names a vector by 8 bits, and theirs begin at 1. */
#define EFA_MAX_EQS		U8_MAX

struct efa_dev;

/**
 * struct efa_eq - an event queue
 * @base: as in any family; number 0 is that of asynchronous events
 * @shift: log2 of the size of an entry
 * @keep_alives: keep-alive events
 * @last_keep_alive: local_clock(), 0 = none yet
 */
struct efa_eq {
	struct eadm_eq base;
	u8 shift;
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
void efa_mgmt_free(struct efa_dev *dev);
void efa_eqs_reset(struct efa_dev *dev);
void efa_eqs_kick(struct eadm_adapter *ad);
u32 efa_eq_pending(struct efa_eq *eq);

#endif /* EFA_EQ_H */
