// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers: readless reads and the reset handshake (hw 2.3, 2.4).
 *
 * A read may be processed in a hard interrupt, but objects are freed by a thread. In the meantime,
 * DEV_CTL may be cleared again, because the response already reports that the reset is in progress.
 * So the code that detects the request sets @reset_pending. While a knob delays a request, the
 * request is ignored.
 */
#include "efv.h"

#define RESET_TIMEOUT	20		/* in units of 100 ms */

/**
 * efv_regs_is_reset_asked() - check whether a requested reset is still pending
 * @ad: adapter
 *
 * Context: any.
 */
bool efv_regs_is_reset_asked(const struct efv_adapter *ad)
{
	return READ_ONCE(ad->reset_pending) ||
	       (efv_reg_read(ad, EFA_REG_DEV_CTL) & EFA_CTL_RESET && !READ_ONCE(ad->in_reset) &&
		!READ_ONCE(ad->reset_at));
}

/* Returns true if a knob delays the request in DEV_CTL. The model's turns are never concurrent. */
static bool is_late(struct efv_adapter *ad)
{
	u64 ms;

	if (!ad->reset_at && efv_fault_hit(ad, EFV_FAULT_RESET_LATE, -1, &ms))
		WRITE_ONCE(ad->reset_at, ktime_add_ms(ktime_get(), ms));
	return ad->reset_at && ktime_before(ktime_get(), ad->reset_at);
}

/* Records a request that was not present at the last check. */
static void note_request(struct efv_adapter *ad, u32 ctl)
{
	if (ad->in_reset || ad->reset_pending || is_late(ad))
		return;
	WRITE_ONCE(ad->reset_reason, FIELD_GET(EFA_CTL_REASON, ctl));
	WRITE_ONCE(ad->reset_pending, true);
	WRITE_ONCE(ad->reset_at, 0);
}

/* A request that a knob delays may be withdrawn. */
static void note_release(struct efv_adapter *ad)
{
	WRITE_ONCE(ad->reset_at, 0);
	if (ad->in_reset && !efv_fault_hit(ad, EFV_FAULT_RESET_STUCK, -1, NULL))
		WRITE_ONCE(ad->in_reset, false);
}

/**
 * efv_regs_reset_due() - check DEV_CTL
 * @ad: adapter
 *
 * Context: the model's turn, also in a hard interrupt.
 * Return: true if a reset is due; efv_regs_reset_done() is called once it is done.
 */
bool efv_regs_reset_due(struct efv_adapter *ad)
{
	u32 ctl = efv_reg_read(ad, EFA_REG_DEV_CTL);

	if (ctl & EFA_CTL_RESET)
		note_request(ad, ctl);
	else
		note_release(ad);
	return ad->reset_pending;
}

/**
 * efv_regs_reset_done() - record that a requested reset has been performed
 * @ad: adapter
 *
 * Context: the model's turn.
 */
void efv_regs_reset_done(struct efv_adapter *ad)
{
	WRITE_ONCE(ad->in_reset, true);
	WRITE_ONCE(ad->reset_pending, false);
}

/**
 * efv_regs_clear() - clear doorbells, which would otherwise replay old commands
 * @ad: adapter
 *
 * Keeps the response address, which already belongs to the next initialisation.
 */
void efv_regs_clear(struct efv_adapter *ad)
{
	efv_reg_write(ad, EFA_REG_AQ_PROD_DB, 0);
	efv_reg_write(ad, EFA_REG_AENQ_CONS_DB, 0);
	efv_reg_write(ad, EFA_REG_EQ_DB, 0);
	efv_reg_write(ad, EFA_REG_INTR_MASK, 0);
	efv_reg_write(ad, EFA_REG_AQ_CAPS, 0);
	efv_reg_write(ad, EFA_REG_ACQ_CAPS, 0);
	efv_reg_write(ad, EFA_REG_AENQ_CAPS, 0);
}

static u32 value_of(const struct efv_adapter *ad, u32 reg)
{
	const struct efv_params *p = &ad->params;

	switch (reg) {
	case EFA_REG_VERSION:
		return p->version;
	case EFA_REG_CONTROLLER_VERSION:
		return p->fw_version;
	case EFA_REG_CAPS:
		return EFA_CAPS_CONTIGUOUS | FIELD_PREP(EFA_CAPS_RESET_TIMEOUT, RESET_TIMEOUT) |
		       FIELD_PREP(EFA_CAPS_DMA_WIDTH, 48) |
		       FIELD_PREP(EFA_CAPS_CMD_TIMEOUT, p->cmd_timeout);
	case EFA_REG_DEV_STS:
		return EFA_STS_READY | (ad->reset_pending || ad->in_reset ? EFA_STS_RESETTING : 0);
	default:
		return 0;
	}
}

/**
 * efv_regs_answer() - respond to a readless read
 * @ad: adapter whose @attached is set
 *
 * Context: the model's turn, also in a hard interrupt.
 * Return: true if there was a read request.
 */
bool efv_regs_answer(struct efv_adapter *ad)
{
	u32 ask = vdev_take32(&ad->vdev, EFA_REGS_BAR, EFA_REG_MMIO_REG_READ);
	u32 reg = FIELD_GET(EFA_MMIO_READ_REG, ask);
	struct efa_mmio_resp resp;

	if (!ask || efv_fault_hit(ad, EFV_FAULT_READ_LOST, reg, NULL))
		return ask;
	/* Orders the following reads after the driver's writes that precede the request. */
	smp_rmb();
	efv_regs_reset_due(ad);
	resp = (struct efa_mmio_resp) {
		.id = cpu_to_le16(FIELD_GET(EFA_MMIO_READ_ID, ask)),
		.reg = cpu_to_le16(reg),
		.value = cpu_to_le32(value_of(ad, reg)),
	};
	vdev_dma_answer(&ad->vdev, (u64)efv_reg_read(ad, EFA_REG_MMIO_RESP_HI) << 32 |
			efv_reg_read(ad, EFA_REG_MMIO_RESP_LO), &resp);
	return true;
}
