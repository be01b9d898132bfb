// SPDX-License-Identifier: GPL-2.0-only
/* The adapter as a whole: registers, start and reset (hw 2). */

#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>

#include "erdma.h"

static u32 reg_read(struct erdma_dev *dev, u32 reg)
{
	return readl(dev->bar + reg);
}

static void reg_write(struct erdma_dev *dev, u32 reg, u32 value)
{
	writel(value, dev->bar + reg);
}

/* Addresses are written high word first (hw 2.2). */
static void reg_write_addr(struct erdma_dev *dev, u32 reg_low, u32 reg_high, dma_addr_t addr)
{
	reg_write(dev, reg_high, upper_32_bits(addr));
	reg_write(dev, reg_low, lower_32_bits(addr));
}

/**
 * erdma_hw_is_gone() - whether the adapter no longer answers on the bus
 * @dev: the device
 *
 * Context: any.
 */
bool erdma_hw_is_gone(struct erdma_dev *dev)
{
	return pci_channel_offline(dev->pdev) ||
	       reg_read(dev, ERDMA_REG_VERSION) == ERDMA_REG_GONE;
}

/**
 * erdma_hw_is_up() - whether the adapter says that it was initialised
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

	reg_write_addr(dev, ERDMA_REG_AEQ_ADDR_L, ERDMA_REG_AEQ_ADDR_H, dev->aeq.ring.dma);
	reg_write(dev, ERDMA_REG_AEQ_DEPTH, dev->aeq.depth);
	writeq(dev->aeq.rec.dma, dev->bar + ERDMA_REG_AEQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_SQ_ADDR_L, ERDMA_REG_CMDQ_SQ_ADDR_H, q->sq.dma);
	reg_write(dev, ERDMA_REG_CMDQ_DEPTH, ERDMA_CMDQ_DEPTH);
	writeq(q->sq_rec.dma, dev->bar + ERDMA_REG_CMDQ_SQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_CQ_ADDR_L, ERDMA_REG_CMDQ_CQ_ADDR_H, q->cq.dma);
	writeq(q->cq_rec.dma, dev->bar + ERDMA_REG_CMDQ_CQ_DBREC);

	reg_write_addr(dev, ERDMA_REG_CMDQ_EQ_ADDR_L, ERDMA_REG_CMDQ_EQ_ADDR_H,
		       dev->cmdq_eq.ring.dma);
	reg_write(dev, ERDMA_REG_CMDQ_EQ_DEPTH, dev->cmdq_eq.depth);
	writeq(dev->cmdq_eq.rec.dma, dev->bar + ERDMA_REG_CMDQ_EQ_DBREC);
}

static int wait_status(struct erdma_dev *dev, u32 bit, unsigned int timeout_ms)
{
	u32 status;
	int ret;

	ret = readx_poll_timeout(readl, dev->bar + ERDMA_REG_DEV_ST, status,
				 status & bit, 1000, timeout_ms * 1000ul);
	/* A function that is gone has all bits set. */
	return status == ERDMA_REG_GONE ? -ENODEV : ret;
}

/**
 * erdma_hw_start() - hand the rings over and let the adapter begin
 * @dev: the device; rings are empty
 * @timeout_ms: how long to wait for it
 *
 * Context: process.
 * Return: 0, -ETIMEDOUT or -ENODEV.
 */
int erdma_hw_start(struct erdma_dev *dev, unsigned int timeout_ms)
{
	announce_rings(dev);
	/* Not before: what it knew before a reset that it has not noticed works until INIT. */
	pci_set_master(dev->pdev);
	reg_write(dev, ERDMA_REG_DEV_CTRL, ERDMA_CTRL_INIT);
	return wait_status(dev, ERDMA_ST_INIT_DONE, timeout_ms);
}

/**
 * erdma_hw_halt() - make the adapter stop and forget everything
 * @dev: the device
 * @wait: give it time to report that
 *
 * Memory may be given back afterwards whether the adapter reported it or not:
 * without bus mastering it cannot reach any.
 *
 * Context: process.
 */
void erdma_hw_halt(struct erdma_dev *dev, bool wait)
{
	reg_write(dev, ERDMA_REG_DEV_CTRL, ERDMA_CTRL_RESET);
	if (wait && wait_status(dev, ERDMA_ST_RESET_DONE, 300) == -ETIMEDOUT)
		dev_warn(&dev->pdev->dev, "reset was not confirmed\n");
	pci_clear_master(dev->pdev);
}

/**
 * erdma_hw_read_mac() - read the MAC address the adapter is paired by
 * @dev: the device
 */
void erdma_hw_read_mac(struct erdma_dev *dev)
{
	u64 mac = (u64)(reg_read(dev, ERDMA_REG_MAC_H) & 0xffff) << 32 |
		  reg_read(dev, ERDMA_REG_MAC_L);

	u64_to_ether_addr(mac, dev->mac);
}

/**
 * erdma_hw_grp_num() - read how many groups of direct work requests there are
 * @dev: the device
 */
u32 erdma_hw_grp_num(struct erdma_dev *dev)
{
	return reg_read(dev, ERDMA_REG_GRP_NUM);
}
