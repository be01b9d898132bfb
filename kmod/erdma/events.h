/* SPDX-License-Identifier: GPL-2.0-only */
/* All event queues of a device: interrupts, and what entries mean. */
#ifndef ERDMA_EVENTS_H
#define ERDMA_EVENTS_H

struct eadm_adapter;
struct erdma_dev;

int erdma_eqs_init(struct eadm_adapter *ad);
void erdma_eqs_free(struct eadm_adapter *ad);
int erdma_ceqs_start(struct erdma_dev *dev);
int erdma_ceqs_create(struct erdma_dev *dev);
void erdma_ceqs_stop(struct erdma_dev *dev);
int erdma_common_irq_request(struct erdma_dev *dev);
void erdma_common_irq_free(struct erdma_dev *dev);
void erdma_eqs_reset(struct erdma_dev *dev);
void erdma_eqs_kick(struct erdma_dev *dev);
void erdma_eqs_set_live(struct erdma_dev *dev);

#endif /* ERDMA_EVENTS_H */
