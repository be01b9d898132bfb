// SPDX-License-Identifier: GPL-2.0-only
/* Starting, restarting and stopping the adapter (hw 2.4 - 2.6). */

#include <linux/bitfield.h>

#include "efa.h"

static u32 ring_caps(u32 depth)
{
	return FIELD_PREP(EFA_RING_CAPS_DEPTH, depth) |
	       FIELD_PREP(EFA_RING_CAPS_ENTRY, EFA_AQE_SIZE) |
	       FIELD_PREP(EFA_RING_CAPS_VECTOR, EFA_MGMT_VECTOR);
}

static void announce_rings(struct efa_dev *dev)
{
	efa_reg_write_addr(dev, EFA_REG_AQ_BASE_LO, EFA_REG_AQ_BASE_HI, dev->aq.sq.dma);
	efa_reg_write(dev, EFA_REG_AQ_CAPS, FIELD_PREP(EFA_AQ_CAPS_DEPTH, EFA_AQ_DEPTH) |
					    FIELD_PREP(EFA_AQ_CAPS_ENTRY, EFA_AQE_SIZE));
	efa_reg_write_addr(dev, EFA_REG_ACQ_BASE_LO, EFA_REG_ACQ_BASE_HI, dev->aq.cq.dma);
	efa_reg_write(dev, EFA_REG_ACQ_CAPS, ring_caps(EFA_AQ_DEPTH));
	efa_reg_write_addr(dev, EFA_REG_AENQ_BASE_LO, EFA_REG_AENQ_BASE_HI, dev->aenq.ring.dma);
	efa_reg_write(dev, EFA_REG_AENQ_CAPS, ring_caps(EFA_AENQ_DEPTH));
	efa_reg_write(dev, EFA_REG_AENQ_CONS_DB, 0);
}

/* From now on it may reach memory: it has forgotten everything from before (efa_halt()). */
static int let_begin(struct efa_dev *dev)
{
	u32 sts = efa_reg_read(dev, EFA_REG_DEV_STS);

	if (sts == EFA_MMIO_NO_VALUE || !(sts & EFA_STS_READY)) {
		if (!dev->halted)
			dev_err(&dev->pdev->dev, "not ready (state %#x)\n", sts);
		return -ENODEV;
	}
	efa_eqs_reset(dev);
	efa_reg_write(dev, EFA_REG_INTR_MASK, EFA_INTR_MASKED);
	efa_mem_expose(dev);
	announce_rings(dev);
	return 0;
}

/* Unless the adapter is gone: then bus mastering stays off for good. */
static int let_master(struct efa_dev *dev)
{
	int ret = 0;

	spin_lock_irq(&dev->aq.lock);
	if (dev->gone)
		ret = -ENODEV;
	else
		pci_set_master(dev->pdev);
	spin_unlock_irq(&dev->aq.lock);
	return ret;
}

/**
 * efa_halt() - make the adapter stop and forget everything
 * @dev: the device
 * @reason: EFA_RESET_*
 *
 * Bus mastering is off afterwards unless that succeeded. That alone does not make it safe
 * to free memory: what the adapter has not forgotten would become active again when bus
 * mastering is enabled, by another driver or by this one at its next probe.
 *
 * Context: process.
 * Return: whether it is known that it has forgotten everything: it confirmed the
 * request, its function was reset, or there is no function.
 */
bool efa_halt(struct efa_dev *dev, enum efa_reset_reason reason)
{
	int ret;

	/* It may have been off, as the adapter did not confirm the last request. */
	efa_hw_request_reset(dev, reason);
	ret = let_master(dev);
	if (!ret)
		ret = efa_hw_await_reset(dev);
	if (!ret)
		return true;
	pci_clear_master(dev->pdev);
	if (eadm_function_find(&dev->fn) == EADM_ABSENT)
		return true;
	if (!eadm_function_reset(&dev->fn))
		return false;
	/* It has to be able to answer when it is started again, and has forgotten where. */
	let_master(dev);
	efa_hw_tell_resp(dev);
	return true;
}

/**
 * efa_start() - bring the adapter into service for the first time
 * @dev: the device, which has forgotten everything from before
 *
 * Context: process.
 * Return: 0 or -errno; efa_stop() undoes it in any case.
 */
int efa_start(struct efa_dev *dev)
{
	int ret;

	ret = let_begin(dev);
	if (ret)
		return ret;
	ret = efa_mgmt_request(dev);
	if (ret)
		return ret;
	efa_reg_write(dev, EFA_REG_INTR_MASK, 0);
	efa_aq_set_state(dev, EFA_AQ_EVENT);
	ret = efa_read_features(dev);
	if (ret)
		return ret;
	ret = efa_eqs_init(dev);
	if (ret)
		return ret;
	ret = efa_enable_events(dev);
	if (ret)
		return ret;
	ret = efa_eqs_request(dev);
	if (ret)
		return ret;
	ret = efa_eqs_create(dev);
	if (!ret)
		efa_tell_host_info(dev);
	return ret;
}

/**
 * efa_start_again() - bring the adapter back after a reset
 * @dev: the device; the rings are empty
 *
 * Context: process; called by recovery.
 * Return: 0 or -errno.
 */
int efa_start_again(struct efa_dev *dev)
{
	int ret;

	ret = let_begin(dev);
	if (ret)
		return ret;
	efa_reg_write(dev, EFA_REG_INTR_MASK, 0);
	ret = efa_enable_events(dev);
	if (ret)
		return ret;
	ret = efa_eqs_create(dev);
	if (!ret)
		efa_tell_host_info(dev);
	return ret;
}

/**
 * efa_stop() - take the adapter out of service
 * @dev: the device
 * @reason: EFA_RESET_*
 *
 * Memory that it may still know of is not freed afterwards.
 *
 * Context: process.
 */
void efa_stop(struct efa_dev *dev, enum efa_reset_reason reason)
{
	efa_eqs_stop(dev, reason == EFA_RESET_NORMAL);
	dev->leaking = !efa_halt(dev, reason) && efa_mem_is_exposed(dev);
	efa_mgmt_free(dev);
	pci_clear_master(dev->pdev);
	efa_aq_reset(dev, -ENODEV);
	if (!dev->leaking) {
		efa_mem_confirm(dev);
		efa_aq_lists_free(dev);
	}
}
