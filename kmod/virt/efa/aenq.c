// SPDX-License-Identifier: GPL-2.0-only
/* The ring of asynchronous events, including keep-alives (hw 3.9). */
#include <linux/log2.h>

#include "efv.h"

#define MAX_DEPTH	4096

/**
 * efv_aenq_init() - latch the ring's registers
 * @ad: adapter that is being started
 *
 * Context: may sleep, the model's turn.
 * Return: 0, or the reason why the device does not start.
 */
int efv_aenq_init(struct efv_adapter *ad)
{
	u32 caps = efv_reg_read(ad, EFA_REG_AENQ_CAPS);
	struct efv_aenq *q = &ad->aenq;

	memset(q, 0, sizeof(*q));
	q->depth = FIELD_GET(EFA_RING_CAPS_DEPTH, caps);
	if (!is_power_of_2(q->depth) || q->depth > MAX_DEPTH ||
	    FIELD_GET(EFA_RING_CAPS_ENTRY, caps) != EFA_AQE_SIZE ||
	    efv_reg_read(ad, EFA_REG_AENQ_BASE_LO) % EFA_AQE_SIZE)
		return -EINVAL;
	return vdev_buf_map(&ad->vdev, &q->ring,
			    (u64)efv_reg_read(ad, EFA_REG_AENQ_BASE_HI) << 32 |
			    efv_reg_read(ad, EFA_REG_AENQ_BASE_LO),
			    q->depth * EFA_AQE_SIZE, GFP_KERNEL);
}

/**
 * efv_aenq_exit() - release the ring
 * @ad: adapter
 */
void efv_aenq_exit(struct efv_adapter *ad)
{
	ad->aenq.groups = 0;
	vdev_buf_unmap(&ad->aenq.ring);
}

/**
 * efv_aenq_post() - add an event
 * @ad: running adapter
 * @group: enum efa_aenq_group
 * @syndrome: syndrome of the event
 *
 * Context: the model's turn.
 * Return: false if the driver has not enabled the event or there is no room.
 */
bool efv_aenq_post(struct efv_adapter *ad, u16 group, u16 syndrome)
{
	struct efv_aenq *q = &ad->aenq;
	u64 us = ktime_us_delta(ktime_get(), ad->booted);
	struct efa_aenqe *to;

	if (group >= 32 || !(q->groups & BIT(group)) ||
	    q->pi - efv_reg_read(ad, EFA_REG_AENQ_CONS_DB) >= q->depth ||
	    !vdev_dma_begin(&ad->vdev))
		return false;
	to = vdev_buf_at(&q->ring, (q->pi & (q->depth - 1)) * EFA_AQE_SIZE);
	to->group = cpu_to_le16(group);
	to->syndrome = cpu_to_le16(syndrome);
	to->time_lo = cpu_to_le32(lower_32_bits(us));
	to->time_hi = cpu_to_le32(upper_32_bits(us));
	/* Pairs with the driver's read. */
	smp_store_release(&to->flags, efv_phase(q->pi, q->depth));
	vdev_dma_end(&ad->vdev);
	q->pi++;
	atomic64_inc(&ad->vdev.counters.events);
	efv_mgmt_raise(ad);
	return true;
}

/**
 * efv_aenq_poll() - send a keep-alive when it is due
 * @ad: running adapter
 *
 * Context: the model's turn.
 * Return: true if an event was written.
 */
bool efv_aenq_poll(struct efv_adapter *ad)
{
	struct efv_aenq *q = &ad->aenq;
	ktime_t now = ktime_get();
	u64 arg;

	if (efv_fault_hit(ad, EFV_FAULT_AENQ_EVENT, -1, &arg))
		return efv_aenq_post(ad, arg, arg >> 16);
	if (!ad->params.keep_alive || ktime_before(now, q->next_alive))
		return false;
	q->next_alive = ktime_add_ms(now, ad->params.keep_alive);
	return !efv_fault_hit(ad, EFV_FAULT_KEEP_ALIVE_LOST, -1, NULL) &&
	       efv_aenq_post(ad, EFA_AENQ_KEEP_ALIVE, 0);
}
