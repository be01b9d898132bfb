// SPDX-License-Identifier: GPL-2.0-or-later
#include "function.h"

/* If the VMM has not enabled the vector, the interrupt is lost. */
static void send_interrupt(struct model *m, unsigned int vector)
{
	if (fault_hit(m, FAULT_IRQ_LOST, vector, NULL) || vfio_interrupt(m->vfio, vector))
		journal_count(&m->journal->undelivered[vector]);
	else
		m->journal->interrupts[vector]++;
}

void model_interrupt(struct model *m, unsigned int vector)
{
	if (m->imr)
		m->pending_vectors |= 1u << vector;
	else
		send_interrupt(m, vector);
}

void model_mask(struct model *m, uint32_t value)
{
	unsigned int vector;

	m->imr = value;
	for (vector = 0; !m->imr && vector < PVRDMA_MAX_VECTORS; vector++)
		if (m->pending_vectors & 1u << vector)
			send_interrupt(m, vector);
	if (!m->imr)
		m->pending_vectors = 0;
}
