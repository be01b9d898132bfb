/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the command queue, and admission of commands. */
#ifndef EADM_QUEUE_H
#define EADM_QUEUE_H

#include "adapter.h"

/**
 * struct eadm_issue - the part of a command that decides whether it may be issued
 * @bound: the command must not be issued if a reset has happened since @epoch
 * @epoch: if @bound, epoch of the objects it refers to; otherwise the epoch in which it was issued
 */
struct eadm_issue {
	bool bound;
	u32 epoch;
};

bool eadm_queue_recover_locked(struct eadm_adapter *ad, enum eadm_reset_reason reason);
void eadm_queue_recover(struct eadm_adapter *ad, enum eadm_reset_reason reason);
bool eadm_queue_is_hopeless(struct eadm_adapter *ad);
int eadm_queue_admit(struct eadm_adapter *ad, struct eadm_issue *issue);
void eadm_queue_set_state(struct eadm_adapter *ad, enum eadm_queue_state state);
void eadm_queue_set_recoverable(struct eadm_adapter *ad, bool recoverable);
void eadm_queue_reset(struct eadm_adapter *ad, int status);
bool eadm_queue_seize(struct eadm_adapter *ad, enum eadm_reset_reason reason);

#endif /* EADM_QUEUE_H */
