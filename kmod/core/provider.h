/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver's side of the interface to the companion: its auxiliary device. */
#ifndef EADM_PROVIDER_H
#define EADM_PROVIDER_H

#include "adapter.h"

int eadm_provider_add(struct eadm_adapter *ad);
void eadm_provider_del(struct eadm_adapter *ad);
void eadm_put_object(struct eadm_diag_dev *dd, void *obj);
struct rdma_restrack_entry *eadm_object_res(void *obj);

#endif /* EADM_PROVIDER_H */
