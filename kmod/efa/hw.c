// SPDX-License-Identifier: GPL-2.0-only
/* Registers, which must not be read with load instructions, and the reset handshake (hw 2). */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>

#include "efa.h"

/* Number of polls for the response to a register read, 1 us apart, before yielding the CPU. */
#define SPINS		20

/* Maximum number of attempts to read a register. */
#define TRIES		3

/* Written to the response's ID before a read: a value that cannot be the next ID. */
#define NO_ID(seq)	((u16)((seq) + 0x9a))

/* Reset timeout in ms until the adapter has reported its own timeout. */
#define RESET_DEFAULT	1000

/**
 * efa_reg_write() - write a register
 * @dev: the device
 * @reg: EFA_REG_*
 * @value: its new value
 *
 * Context: any.
 */
void efa_reg_write(struct efa_dev *dev, u32 reg, u32 value)
{
	writel(value, dev->adapter.bar + reg);
}

/**
 * efa_reg_write_addr() - write an address into a pair of registers
 * @dev: the device
 * @reg_lo: EFA_REG_*_LO
 * @reg_hi: EFA_REG_*_HI
 * @addr: the address
 *
 * Context: any.
 */
void efa_reg_write_addr(struct efa_dev *dev, u32 reg_lo, u32 reg_hi, dma_addr_t addr)
{
	efa_reg_write(dev, reg_lo, lower_32_bits(addr));
	efa_reg_write(dev, reg_hi, upper_32_bits(addr));
}

/**
 * efa_hw_tell_resp() - set the address to which the adapter writes responses
 * @dev: the device
 *
 * Any reset clears this address. The upper half is written first (hw 2.3).
 *
 * Context: any.
 */
void efa_hw_tell_resp(struct efa_dev *dev)
{
	efa_reg_write(dev, EFA_REG_MMIO_RESP_HI, upper_32_bits(dev->hw.resp_dma));
	efa_reg_write(dev, EFA_REG_MMIO_RESP_LO, lower_32_bits(dev->hw.resp_dma));
}

static bool is_answered(const struct efa_hw *hw)
{
	return READ_ONCE(hw->resp->id) == cpu_to_le16(hw->seq);
}

/* The adapter normally responds within microseconds; sleep only if it does not. */
static bool await_answer(struct efa_hw *hw)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(hw->mmio_timeout) + 1;
	int spins = SPINS;

	for (;;) {
		if (is_answered(hw))
			return true;
		if (spins-- > 0) {
			udelay(1);
			continue;
		}
		if (time_after(jiffies, deadline))
			return is_answered(hw);
		usleep_range(50, 200);
	}
}

static u32 try_read(struct efa_dev *dev, u32 reg)
{
	struct efa_hw *hw = &dev->hw;

	lockdep_assert_held(&hw->lock);
	hw->seq++;
	WRITE_ONCE(hw->resp->id, cpu_to_le16(NO_ID(hw->seq)));
	/* The response must not be overwritten; writel() provides the ordering. */
	efa_reg_write(dev, EFA_REG_MMIO_REG_READ, FIELD_PREP(EFA_MMIO_READ_REG, reg) |
						  FIELD_PREP(EFA_MMIO_READ_ID, hw->seq));
	if (!await_answer(hw))
		return EFA_MMIO_NO_VALUE;
	/* Read the ID before the rest of the response. */
	dma_rmb();
	if (le16_to_cpu(hw->resp->reg) != reg)
		return EFA_MMIO_NO_VALUE;
	return le32_to_cpu(hw->resp->value);
}

/**
 * efa_reg_read() - read a register through memory
 * @dev: the device, with bus mastering on
 * @reg: EFA_REG_*
 *
 * Context: process.
 * Return: its value, or EFA_MMIO_NO_VALUE if the adapter does not respond.
 */
u32 efa_reg_read(struct efa_dev *dev, u32 reg)
{
	struct efa_hw *hw = &dev->hw;
	u32 value = EFA_MMIO_NO_VALUE;
	int i;

	mutex_lock(&hw->lock);
	for (i = 0; i < TRIES && value == EFA_MMIO_NO_VALUE && !READ_ONCE(dev->adapter.gone); i++)
		value = try_read(dev, reg);
	mutex_unlock(&hw->lock);
	return value;
}

/* Registers cannot be read by loads, so only config space can show that the function is present. */
static bool function_answers(const struct eadm_function *fn)
{
	return pci_device_is_present(fn->pdev);
}

static int no_answer(const struct efa_dev *dev)
{
	return eadm_function_answers(&dev->adapter.fn) ? -EIO : -ENODEV;
}

/* Waits until the adapter reports that a reset is in progress or, if !@resetting, has ended. */
static int await_resetting(struct efa_dev *dev, bool resetting)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(dev->hw.reset_timeout) + 1;
	unsigned int ms = 1;
	bool last;
	u32 sts;

	do {
		last = time_after(jiffies, deadline);
		sts = efa_reg_read(dev, EFA_REG_DEV_STS);
		if (sts == EFA_MMIO_NO_VALUE)
			return no_answer(dev);
		if (!!(sts & EFA_STS_RESETTING) == resetting)
			return resetting || sts & EFA_STS_READY ? 0 : -EINVAL;
		msleep(ms);
		ms = min_t(unsigned int, 2 * ms, EFA_TIMEOUT_UNIT_MS);
	} while (!last);
	return -ETIME;
}

/**
 * efa_hw_has_forgotten() - check whether the function was reset without notice
 * @dev: the device, in service
 *
 * After such a reset, the adapter has lost the response address, and responds once the address is
 * set again. If it does not respond even then, it is unknown whether it was reset.
 *
 * Context: process; called periodically. As the adapter may merely be slow, this returns true only
 * if the previous call received no response either.
 */
bool efa_hw_has_forgotten(struct efa_dev *dev)
{
	bool suspected = dev->hw.suspected;

	dev->hw.suspected = efa_reg_read(dev, EFA_REG_DEV_STS) == EFA_MMIO_NO_VALUE;
	if (!suspected || !dev->hw.suspected)
		return false;
	efa_hw_tell_resp(dev);
	dev->hw.suspected = efa_reg_read(dev, EFA_REG_DEV_STS) == EFA_MMIO_NO_VALUE;
	return !dev->hw.suspected;
}

/**
 * efa_hw_read_caps() - read the time limits and the width of DMA addresses
 * @dev: the device
 * @dma_bits: set to the width of DMA addresses
 *
 * Context: process.
 * Return: 0, -EIO, or -EINVAL if the values are invalid.
 */
int efa_hw_read_caps(struct efa_dev *dev, u32 *dma_bits)
{
	u32 caps = efa_reg_read(dev, EFA_REG_CAPS);
	struct efa_hw *hw = &dev->hw;
	u32 timeout;

	if (caps == EFA_MMIO_NO_VALUE)
		return -EIO;
	*dma_bits = FIELD_GET(EFA_CAPS_DMA_WIDTH, caps);
	hw->reset_timeout = FIELD_GET(EFA_CAPS_RESET_TIMEOUT, caps) * EFA_TIMEOUT_UNIT_MS;
	timeout = FIELD_GET(EFA_CAPS_CMD_TIMEOUT, caps) * EFA_TIMEOUT_UNIT_MS;
	WRITE_ONCE(dev->adapter.cmd_timeout, timeout ?: EFA_CMD_TIMEOUT_DEFAULT_MS);
	if (!hw->reset_timeout || *dma_bits < 32 || *dma_bits > 64) {
		dev_err(&dev->pdev->dev, "invalid capabilities %#x\n", caps);
		hw->reset_timeout = hw->reset_timeout ?: RESET_DEFAULT;
		return -EINVAL;
	}
	return 0;
}

/**
 * efa_hw_request_reset() - request the adapter to stop and discard all state
 * @dev: the device
 * @reason: reported to the adapter
 *
 * Does not require bus mastering. Once bus mastering is enabled, an adapter with addresses from
 * before the request no longer writes to them, except to the response address.
 *
 * Context: process.
 */
void efa_hw_request_reset(struct efa_dev *dev, enum efa_reset_reason reason)
{
	/* A different driver may have set the address, and a reset clears it. */
	efa_hw_tell_resp(dev);
	WRITE_ONCE(dev->last_reason, reason);
	efa_reg_write(dev, EFA_REG_DEV_CTL, EFA_CTL_RESET | FIELD_PREP(EFA_CTL_REASON, reason));
	efa_hw_tell_resp(dev);
}

/**
 * efa_hw_await_reset() - wait until the adapter has completed a requested reset
 * @dev: the device, with bus mastering on, as it responds in memory
 *
 * Context: process.
 * Return: 0 if the adapter confirmed the reset, otherwise -errno.
 */
int efa_hw_await_reset(struct efa_dev *dev)
{
	int ret = await_resetting(dev, true);

	efa_reg_write(dev, EFA_REG_DEV_CTL, 0);
	if (ret)
		return ret;
	return await_resetting(dev, false);
}

/**
 * efa_hw_check_versions() - check that this driver supports the adapter's versions
 * @dev: the device
 *
 * Context: process.
 * Return: 0, -EIO or -EOPNOTSUPP.
 */
int efa_hw_check_versions(struct efa_dev *dev)
{
	u32 version = efa_reg_read(dev, EFA_REG_VERSION);
	u32 controller = efa_reg_read(dev, EFA_REG_CONTROLLER_VERSION);

	if (version == EFA_MMIO_NO_VALUE || controller == EFA_MMIO_NO_VALUE)
		return -EIO;
	dev->caps.version = version;
	/* Any controller version except 0.0.0 is accepted; the implementation ID is ignored. */
	if (version >= EFA_VERSION_MIN &&
	    controller & (EFA_CONTROLLER_MAJOR | EFA_CONTROLLER_MINOR | EFA_CONTROLLER_SUB_MINOR))
		return 0;
	dev_err(&dev->pdev->dev, "interface %#x of firmware %#x is too old\n", version, controller);
	return -EOPNOTSUPP;
}

/**
 * efa_hw_init() - prepare register reads
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int efa_hw_init(struct efa_dev *dev)
{
	struct efa_hw *hw = &dev->hw;

	dev->adapter.fn.answers = function_answers;
	mutex_init(&hw->lock);
	hw->mmio_timeout = EFA_MMIO_TIMEOUT_DEFAULT_MS;
	hw->reset_timeout = RESET_DEFAULT;
	dev->adapter.cmd_timeout = EFA_CMD_TIMEOUT_DEFAULT_MS;
	hw->resp = dma_alloc_coherent(&dev->pdev->dev, sizeof(*hw->resp), &hw->resp_dma,
				      GFP_KERNEL);
	return hw->resp ? 0 : -ENOMEM;
}

/**
 * efa_hw_exit() - undo efa_hw_init(); registers must no longer be read
 * @dev: the device
 *
 * Context: process.
 */
void efa_hw_exit(struct efa_dev *dev)
{
	struct efa_hw *hw = &dev->hw;

	/* The adapter may keep using this address until it has discarded all state. */
	if (dev->adapter.memory.leaking)
		dev->adapter.memory.leaked += sizeof(*hw->resp);
	else
		dma_free_coherent(&dev->pdev->dev, sizeof(*hw->resp), hw->resp, hw->resp_dma);
	mutex_destroy(&hw->lock);
}
