/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: event descriptors of the client, one for each vector. The client
 * emulates the MSI-X table; what is written to ours is kept and has no effect.
 */
#ifndef VFIO_IRQ_H
#define VFIO_IRQ_H

#include <linux/vfio.h>
#include <pthread.h>
#include <stdbool.h>

#include "channel.h"
#include "vfio.h"

#define IRQ_INDEXES VFIO_PCI_NUM_IRQS
#define IRQ_TABLE_ENTRY 16

struct irqs {
	/* Guards all below: any thread sends interrupts. */
	pthread_mutex_t lock;
	unsigned int vectors;
	bool mastering;
	/* -1: none. */
	int trigger[VFIO_MAX_VECTORS];
	bool masked[VFIO_MAX_VECTORS];
	bool pending[VFIO_MAX_VECTORS];
	/* The client's wish to be asked for the device. */
	int request;
	/* It hears of bus errors by this, of which there are none. */
	int error;
	uint64_t sent;
	unsigned char table[VFIO_MAX_VECTORS * IRQ_TABLE_ENTRY];
};

void irq_init(struct irqs *irqs, unsigned int vectors);
/* As after power-on, with the descriptors closed. */
void irq_clear(struct irqs *irqs);
void irq_exit(struct irqs *irqs);
/* Nothing is pending any more; the client's descriptors stay. */
void irq_reset(struct irqs *irqs);
void irq_set_mastering(struct irqs *irqs, bool mastering);

/* How many interrupts the kind VFIO_PCI_*_IRQ_INDEX has, and VFIO_IRQ_INFO_* */
unsigned int irq_count(const struct irqs *irqs, unsigned int index,
		       uint32_t *flags);
/* The request with @data of @size bytes; takes descriptors from @channel. */
int irq_set(struct irqs *irqs, const struct vfio_irq_set *set,
	    const unsigned char *data, size_t size, struct channel *channel);

int irq_send(struct irqs *irqs, unsigned int vector);
uint64_t irq_sent(struct irqs *irqs);
/* Pending bits, as in the BAR. */
uint64_t irq_pending(struct irqs *irqs);
/* -ENOTCONN: the client does not want to be asked. */
int irq_request(struct irqs *irqs);

#endif /* VFIO_IRQ_H */
