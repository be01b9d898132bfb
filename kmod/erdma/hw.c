// SPDX-License-Identifier: GPL-2.0-only
/* The adapter as a whole: registers, start and reset (hw 2). */

#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>

#include "erdma.h"

/* Time to wait for RESET_DONE after INIT_DONE has been cleared. */
#define SAY_SO_MS	100

static u32 reg_read(struct erdma_dev *dev, u32 reg)
{
	return readl(dev->adapter.bar + reg);
}

static void reg_write(struct erdma_dev *dev, u32 reg, u32 value)
{
	writel(value, dev->adapter.bar + reg);
}

/* Addresses are written high word first (hw 2.2). */
static void reg_write_addr(struct erdma_dev *dev, u32 reg_low, u32 reg_high, dma_addr_t addr)
{
	reg_write(dev, reg_high, upper_32_bits(addr));
	reg_write(dev, reg_low, lower_32_bits(addr));
}

/**
 * erdma_hw_answers() - check whether the adapter responds now, for &eadm_function.answers
 * @fn: PCI function of the adapter
 *
 * Context: any.
 */
bool erdma_hw_answers(const struct eadm_function *fn)
{
	struct erdma_dev *dev = container_of(fn, struct erdma_dev, adapter.fn);

	return reg_read(dev, ERDMA_REG_VERSION) != ERDMA_REG_GONE;
}

/**
 * erdma_hw_is_up() - check whether the adapter reports that it is initialised
 * @dev: the device
 *
 * Context: any.
 */
bool erdma_hw_is_up(struct erdma_dev *dev)
{
	return reg_read(dev, ERDMA_REG_DEV_ST) & ERDMA_ST_INIT_DONE;
}

static void announce_rings(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;

	reg_write_addr(dev, ERDMA_REG_AEQ_ADDR_L, ERDMA_REG_AEQ_ADDR_H, dev->aeq.base.ring.dma);
	reg_write(dev, ERDMA_REG_AEQ_DEPTH, dev->aeq.base.depth);
	writeq(dev->aeq.rec.dma, dev->adapter.bar + ERDMA_REG_AEQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_SQ_ADDR_L, ERDMA_REG_CMDQ_SQ_ADDR_H, q->sq.dma);
	reg_write(dev, ERDMA_REG_CMDQ_DEPTH, ERDMA_CMDQ_DEPTH);
	writeq(q->sq_rec.dma, dev->adapter.bar + ERDMA_REG_CMDQ_SQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_CQ_ADDR_L, ERDMA_REG_CMDQ_CQ_ADDR_H, q->cq.dma);
	writeq(q->cq_rec.dma, dev->adapter.bar + ERDMA_REG_CMDQ_CQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_EQ_ADDR_L, ERDMA_REG_CMDQ_EQ_ADDR_H,
		       dev->cmdq_eq.base.ring.dma);
	reg_write(dev, ERDMA_REG_CMDQ_EQ_DEPTH, dev->cmdq_eq.base.depth);
	writeq(dev->cmdq_eq.rec.dma, dev->adapter.bar + ERDMA_REG_CMDQ_EQ_DBREC);
}

static int wait_status(struct erdma_dev *dev, u32 bit, unsigned int timeout_ms)
{
	u32 status;
	int ret;

	ret = readx_poll_timeout(readl, dev->adapter.bar + ERDMA_REG_DEV_ST, status,
				 status & bit, 1000, timeout_ms * 1000ul);
	/* The registers of a function that is gone read as all ones. */
	return status == ERDMA_REG_GONE ? -ENODEV : ret;
}

/**
 * erdma_hw_start() - pass the rings to the adapter and start it
 * @dev: the device; rings are empty
 * @timeout_ms: start timeout
 *
 * After this call the adapter may access memory, so it must be known to have discarded all previous
 * state (erdma_hw_halt()).
 *
 * Context: process.
 * Return: 0, -ETIMEDOUT or -ENODEV.
 */
int erdma_hw_start(struct erdma_dev *dev, unsigned int timeout_ms)
{
	int ret;

	announce_rings(dev);
	eadm_memory_expose(&dev->adapter);
	ret = eadm_adapter_set_master(&dev->adapter);
	if (ret)
		return ret;
	reg_write(dev, ERDMA_REG_DEV_CTRL, ERDMA_CTRL_INIT);
	ret = wait_status(dev, ERDMA_ST_INIT_DONE, timeout_ms);
	dev->came_up = !ret;
	return ret;
}

/*
 * Requests a reset and returns whether the adapter is known to have performed it: the adapter sets
 * RESET_DONE or clears INIT_DONE. Not all generations set RESET_DONE (hw 2.1).
 */
static bool reset_is_confirmed(struct erdma_dev *dev, unsigned int timeout_ms)
{
	u32 before = reg_read(dev, ERDMA_REG_DEV_ST), now;
	bool was_up = dev->came_up || before & ERDMA_ST_INIT_DONE;
	/* RESET_DONE was set before the current INIT. */
	bool old = before & ERDMA_ST_RESET_DONE && before & ERDMA_ST_INIT_DONE;
	unsigned long deadline;
	bool down = false;

	if (!was_up)
		timeout_ms = min(timeout_ms, ERDMA_HALT_MS);
	deadline = jiffies + msecs_to_jiffies(timeout_ms);
	reg_write(dev, ERDMA_REG_DEV_CTRL, ERDMA_CTRL_RESET);
	do {
		now = reg_read(dev, ERDMA_REG_DEV_ST);
		if (now == ERDMA_REG_GONE)
			return false;
		if (now & ERDMA_ST_RESET_DONE && !old)
			return true;
		if (was_up && !down && !(now & ERDMA_ST_INIT_DONE)) {
			/* Give the adapter time to set RESET_DONE before the next request. */
			down = true;
			deadline = jiffies + msecs_to_jiffies(SAY_SO_MS);
		}
		usleep_range(500, 1000);
	} while (time_before(jiffies, deadline));
	return down;
}

/**
 * erdma_hw_halt() - stop the adapter and make it discard all state
 * @dev: the device
 * @timeout_ms: timeout of the confirmation
 *
 * Bus mastering is always off afterwards. That alone does not make it safe to free memory: any
 * state that the adapter has kept would become active again when bus mastering is enabled, by
 * another driver or by this one at its next probe.
 *
 * Context: process.
 * Return: true if the adapter is known to have discarded all state: it confirmed the request, its
 * function was reset, or the function is absent.
 */
bool erdma_hw_halt(struct erdma_dev *dev, unsigned int timeout_ms)
{
	bool confirmed = reset_is_confirmed(dev, timeout_ms);

	pci_clear_master(dev->pdev);
	if (!confirmed)
		confirmed = eadm_function_find(&dev->adapter.fn) == EADM_ABSENT ||
			    eadm_function_reset(&dev->adapter.fn);
	if (confirmed)
		dev->came_up = false;
	return confirmed;
}

/**
 * erdma_hw_end_former_life() - make the adapter discard the state of a previous driver
 * @dev: the device, none of whose memory has been passed to the adapter yet
 *
 * A driver stopped by kexec or a crash does not stop the adapter. Its queues and memory regions
 * could write to memory that has a new owner by now.
 *
 * Context: process.
 * Return: 0 or -EBUSY.
 */
int erdma_hw_end_former_life(struct erdma_dev *dev)
{
	pci_clear_master(dev->pdev);
	if (erdma_hw_halt(dev, ERDMA_STOP_MS))
		return 0;
	if (erdma_hw_is_up(dev)) {
		dev_err(&dev->pdev->dev,
			"adapter not used: it is still initialised by a previous driver and did not confirm a reset, so it could write to memory that has a new owner\n");
		return -EBUSY;
	}
	dev_warn(&dev->pdev->dev, "reset not confirmed; adapter used anyway, because it was not initialised\n");
	return 0;
}

/**
 * erdma_hw_read_mac() - read the MAC address that identifies the network interface
 * @dev: the device
 */
void erdma_hw_read_mac(struct erdma_dev *dev)
{
	u64 mac = (u64)(reg_read(dev, ERDMA_REG_MAC_H) & 0xffff) << 32 |
		  reg_read(dev, ERDMA_REG_MAC_L);

	u64_to_ether_addr(mac, dev->mac);
}
