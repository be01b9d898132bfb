/* SPDX-License-Identifier: GPL-2.0-only */
/* Recovery after a lost command or a function reset. */
#ifndef EADM_RECOVERY_H
#define EADM_RECOVERY_H

#include "adapter.h"

void eadm_recovery_work(struct work_struct *work);
bool eadm_adapter_is_gone(struct eadm_adapter *ad);
bool eadm_adapter_give_up(struct eadm_adapter *ad, bool *tell);
bool eadm_adapter_hand_over(struct eadm_adapter *ad, struct eadm_object *qp);
void eadm_adapter_forget(struct eadm_adapter *ad, bool confirmed);

#endif /* EADM_RECOVERY_H */
