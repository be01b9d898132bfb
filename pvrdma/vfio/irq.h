/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: event descriptors of the client, one for each vector. The client emulates
 * the MSI-X table; writes to our table are stored and have no effect.
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
	/* Protects the members below, because any thread may send interrupts. */
	pthread_mutex_t lock;
	unsigned int vectors;
	bool mastering;
	/* -1: none. */
	int trigger[VFIO_MAX_VECTORS];
	bool masked[VFIO_MAX_VECTORS];
	bool pending[VFIO_MAX_VECTORS];
	/* Descriptor for requests to the client to release the device. */
	int request;
	/* Descriptor for bus errors, which never happen. */
	int error;
	uint64_t sent;
	unsigned char table[VFIO_MAX_VECTORS * IRQ_TABLE_ENTRY];
};

void irq_init(struct irqs *irqs, unsigned int vectors);
/* Resets all interrupts to the power-on state, and closes the descriptors. */
void irq_clear(struct irqs *irqs);
void irq_exit(struct irqs *irqs);
/* Clears pending interrupts; the client's descriptors stay in use. */
void irq_reset(struct irqs *irqs);
void irq_set_mastering(struct irqs *irqs, bool mastering);

/*
 * Returns the number of interrupts of kind @index (VFIO_PCI_*_IRQ_INDEX). Sets @flags to
 * VFIO_IRQ_INFO_*.
 */
unsigned int irq_count(const struct irqs *irqs, unsigned int index,
		       uint32_t *flags);
/* Handles the request with @data of @size bytes; takes descriptors from @channel. */
int irq_set(struct irqs *irqs, const struct vfio_irq_set *set,
	    const unsigned char *data, size_t size, struct channel *channel);

int irq_send(struct irqs *irqs, unsigned int vector);
uint64_t irq_sent(struct irqs *irqs);
/* Returns the pending bits, as in the BAR. */
uint64_t irq_pending(struct irqs *irqs);
/* Returns -ENOTCONN if the client has not set up a descriptor for requests. */
int irq_request(struct irqs *irqs);

#endif /* VFIO_IRQ_H */
