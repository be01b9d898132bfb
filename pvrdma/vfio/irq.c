// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "irq.h"
#include "notify.h"

#define VECTOR_MASKED 1
#define VECTOR_CONTROL 12

static void power_on(struct irqs *irqs)
{
	unsigned int i;

	memset(irqs->masked, 0, sizeof(irqs->masked));
	memset(irqs->pending, 0, sizeof(irqs->pending));
	memset(irqs->table, 0, sizeof(irqs->table));
	for (i = 0; i < irqs->vectors; i++)
		irqs->table[i * IRQ_TABLE_ENTRY + VECTOR_CONTROL] = VECTOR_MASKED;
	irqs->mastering = false;
}

void irq_init(struct irqs *irqs, unsigned int vectors)
{
	unsigned int i;

	memset(irqs, 0, sizeof(*irqs));
	pthread_mutex_init(&irqs->lock, NULL);
	irqs->vectors = vectors;
	irqs->request = -1;
	irqs->error = -1;
	for (i = 0; i < VFIO_MAX_VECTORS; i++)
		irqs->trigger[i] = -1;
	power_on(irqs);
}

static void assign(int *slot, int fd)
{
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

void irq_clear(struct irqs *irqs)
{
	unsigned int i;

	pthread_mutex_lock(&irqs->lock);
	for (i = 0; i < VFIO_MAX_VECTORS; i++)
		assign(&irqs->trigger[i], -1);
	assign(&irqs->request, -1);
	assign(&irqs->error, -1);
	power_on(irqs);
	pthread_mutex_unlock(&irqs->lock);
}

void irq_exit(struct irqs *irqs)
{
	irq_clear(irqs);
	pthread_mutex_destroy(&irqs->lock);
}

void irq_reset(struct irqs *irqs)
{
	pthread_mutex_lock(&irqs->lock);
	power_on(irqs);
	pthread_mutex_unlock(&irqs->lock);
}

void irq_set_mastering(struct irqs *irqs, bool mastering)
{
	pthread_mutex_lock(&irqs->lock);
	irqs->mastering = mastering;
	pthread_mutex_unlock(&irqs->lock);
}

unsigned int irq_count(const struct irqs *irqs, unsigned int index,
		       uint32_t *flags)
{
	*flags = 0;
	switch (index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		*flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE;
		return irqs->vectors;
	case VFIO_PCI_ERR_IRQ_INDEX:
	case VFIO_PCI_REQ_IRQ_INDEX:
		*flags = VFIO_IRQ_INFO_EVENTFD;
		return 1;
	default:
		return 0;
	}
}

/* Only event descriptors can be signalled. */
static bool is_event(int fd)
{
	char path[64], target[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	size = readlink(path, target, sizeof(target) - 1);
	if (size < 0)
		return false;
	target[size] = '\0';
	return !strcmp(target, "anon_inode:[eventfd]");
}

static int deliver(struct irqs *irqs, unsigned int vector)
{
	if (irqs->trigger[vector] < 0 || !irqs->mastering)
		return -ENOTCONN;
	if (irqs->masked[vector]) {
		irqs->pending[vector] = true;
		return 0;
	}
	irqs->pending[vector] = false;
	irqs->sent++;
	notify(irqs->trigger[vector]);
	return 0;
}

int irq_send(struct irqs *irqs, unsigned int vector)
{
	int ret;

	if (vector >= irqs->vectors)
		return -EINVAL;
	pthread_mutex_lock(&irqs->lock);
	ret = deliver(irqs, vector);
	pthread_mutex_unlock(&irqs->lock);
	return ret;
}

uint64_t irq_sent(struct irqs *irqs)
{
	uint64_t sent;

	pthread_mutex_lock(&irqs->lock);
	sent = irqs->sent;
	pthread_mutex_unlock(&irqs->lock);
	return sent;
}

uint64_t irq_pending(struct irqs *irqs)
{
	uint64_t bits = 0;
	unsigned int i;

	pthread_mutex_lock(&irqs->lock);
	for (i = 0; i < irqs->vectors; i++)
		bits |= (uint64_t)irqs->pending[i] << i;
	pthread_mutex_unlock(&irqs->lock);
	return bits;
}

int irq_request(struct irqs *irqs)
{
	int ret = -ENOTCONN;

	pthread_mutex_lock(&irqs->lock);
	if (irqs->request >= 0) {
		notify(irqs->request);
		ret = 0;
	}
	pthread_mutex_unlock(&irqs->lock);
	return ret;
}

/* Returns the slot for the descriptor of interrupt @number, which must exist. */
static int *slot_of(struct irqs *irqs, unsigned int index, unsigned int number)
{
	switch (index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return &irqs->trigger[number];
	case VFIO_PCI_ERR_IRQ_INDEX:
		return &irqs->error;
	default:
		return &irqs->request;
	}
}

/* A request without descriptors removes the existing ones. */
static int set_events(struct irqs *irqs, const struct vfio_irq_set *set,
		      struct channel *channel)
{
	unsigned int i;

	if ((set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -ENOTSUP;
	if (channel->fd_count && channel->fd_count != set->count)
		return -EINVAL;
	for (i = 0; i < channel->fd_count; i++) {
		if (!is_event(channel->fds[i]))
			return -EINVAL;
	}
	for (i = 0; i < set->count; i++)
		assign(slot_of(irqs, set->index, set->start + i),
		       channel->fd_count ? channel_take_fd(channel, i) : -1);
	return 0;
}

static void act(struct irqs *irqs, uint32_t action, unsigned int vector)
{
	switch (action) {
	case VFIO_IRQ_SET_ACTION_MASK:
		irqs->masked[vector] = true;
		break;
	case VFIO_IRQ_SET_ACTION_UNMASK:
		irqs->masked[vector] = false;
		if (irqs->pending[vector])
			deliver(irqs, vector);
		break;
	default:
		deliver(irqs, vector);
	}
}

static int set_state(struct irqs *irqs, const struct vfio_irq_set *set,
		     const unsigned char *data, unsigned int count)
{
	uint32_t action = set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	unsigned int i;

	if (!set->count && (set->flags & VFIO_IRQ_SET_DATA_NONE) && !set->start &&
	    action == VFIO_IRQ_SET_ACTION_TRIGGER) {
		for (i = 0; i < count; i++)
			assign(slot_of(irqs, set->index, i), -1);
		return 0;
	}
	if (set->index != VFIO_PCI_MSIX_IRQ_INDEX)
		return -ENOTSUP;
	for (i = 0; i < set->count; i++) {
		if (!data || data[i])
			act(irqs, action, set->start + i);
	}
	return 0;
}

static bool one_bit(uint32_t bits)
{
	return bits && !(bits & (bits - 1));
}

int irq_set(struct irqs *irqs, const struct vfio_irq_set *set,
	    const unsigned char *data, size_t size, struct channel *channel)
{
	uint32_t kind = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	uint32_t flags;
	unsigned int count = irq_count(irqs, set->index, &flags);
	int ret;

	if (!one_bit(kind) || !one_bit(set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) ||
	    set->flags & ~(VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK) ||
	    set->start > count || set->count > count - set->start ||
	    size != (kind == VFIO_IRQ_SET_DATA_BOOL ? set->count : 0) ||
	    (channel->fd_count && kind != VFIO_IRQ_SET_DATA_EVENTFD))
		return -EINVAL;
	pthread_mutex_lock(&irqs->lock);
	ret = kind == VFIO_IRQ_SET_DATA_EVENTFD ?
		      set_events(irqs, set, channel) :
		      set_state(irqs, set, kind == VFIO_IRQ_SET_DATA_BOOL ? data : NULL, count);
	pthread_mutex_unlock(&irqs->lock);
	return ret;
}
