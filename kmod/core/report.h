/* SPDX-License-Identifier: GPL-2.0-only */
/* State of an adapter, and its reports. */
#ifndef EADM_REPORT_H
#define EADM_REPORT_H

#include "adapter.h"

bool eadm_adapter_serves(const struct eadm_adapter *ad);
u8 eadm_adapter_cause(const struct eadm_adapter *ad);
void eadm_adapter_event(struct eadm_adapter *ad, enum ib_event_type type);
void eadm_adapter_async(struct eadm_adapter *ad, u8 obj, u64 id, u32 code, u32 raw);
bool eadm_object_ended(const struct eadm_adapter *ad, const struct eadm_object *obj, int ret,
		       const char *what, u32 id);
int eadm_res_end(struct sk_buff *msg, struct nlattr *values, bool full);

#endif /* EADM_REPORT_H */
