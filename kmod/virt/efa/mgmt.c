// SPDX-License-Identifier: GPL-2.0-only
/* The interrupt vector for command completions and asynchronous events (hw 3.4). */
#include "efv.h"

/**
 * efv_mgmt_raise() - raise the vector of both rings that the device writes
 * @ad: adapter that has written an entry
 *
 * Context: the model's turn.
 */
void efv_mgmt_raise(struct efv_adapter *ad)
{
	ad->mgmt_pending = true;
	efv_mgmt_poll(ad);
}

/**
 * efv_mgmt_poll() - raise the interrupt held back by the mask
 * @ad: adapter
 *
 * Context: the model's turn.
 * Return: true if an interrupt was raised.
 */
bool efv_mgmt_poll(struct efv_adapter *ad)
{
	if (!ad->mgmt_pending || efv_reg_read(ad, EFA_REG_INTR_MASK) & EFA_INTR_MASKED)
		return false;
	ad->mgmt_pending = false;
	vdev_msi_raise(&ad->vdev, EFA_MGMT_VECTOR);
	return true;
}
