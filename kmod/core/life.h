/* SPDX-License-Identifier: GPL-2.0-only */
/* Life cycle of an adapter. */
#ifndef EADM_LIFE_H
#define EADM_LIFE_H

#include "adapter.h"

extern const struct pci_error_handlers eadm_adapter_resets;

void eadm_adapter_init(struct eadm_adapter *ad, const struct eadm_adapter_ops *ops,
		       const struct eadm_diag_ops *diag, struct pci_dev *pdev);
int eadm_adapter_probe(struct eadm_adapter *ad, const struct eadm_step *step);
void eadm_adapter_remove(struct pci_dev *pdev);
int eadm_pci_start(struct eadm_adapter *ad, int bars, u8 bar);
void eadm_pci_stop(struct eadm_adapter *ad);
int eadm_vectors_alloc(struct eadm_adapter *ad, u32 least, u32 most);
void eadm_vectors_free(struct eadm_adapter *ad);
int eadm_device_register(struct eadm_adapter *ad);
void eadm_device_unregister(struct eadm_adapter *ad);
u64 eadm_counter_read(const struct eadm_adapter *ad, enum eadm_counter counter);
int eadm_adapter_start_work(struct eadm_adapter *ad);
void eadm_adapter_end_work(struct eadm_adapter *ad);
int eadm_adapter_set_master(struct eadm_adapter *ad);
void eadm_adapter_shutdown(struct pci_dev *pdev);

#endif /* EADM_LIFE_H */
