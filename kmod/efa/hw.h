/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers and the reset handshake. */
#ifndef EFA_REGS_H
#define EFA_REGS_H

#include <linux/mutex.h>
#include <linux/pci.h>

#include "efa_hw.h"

struct efa_dev;

/**
 * struct efa_hw - registers of the adapter
 * @lock: serialises register reads; protects @seq and @resp
 * @seq: sequence number of the last read
 * @resp: memory to which the adapter writes responses
 * @resp_dma: DMA address of @resp
 * @suspected: the adapter may have lost @resp_dma; used by the watch only
 * @mmio_timeout: timeout of a register read, ms
 * @reset_timeout: timeout of each half of a reset, ms
 */
struct efa_hw {
	struct mutex lock;	/* protects seq and resp */
	u16 seq;
	struct efa_mmio_resp *resp;
	dma_addr_t resp_dma;
	bool suspected;
	u32 mmio_timeout;
	u32 reset_timeout;
};

int efa_hw_init(struct efa_dev *dev);
void efa_hw_exit(struct efa_dev *dev);
u32 efa_reg_read(struct efa_dev *dev, u32 reg);
void efa_reg_write(struct efa_dev *dev, u32 reg, u32 value);
void efa_reg_write_addr(struct efa_dev *dev, u32 reg_lo, u32 reg_hi, dma_addr_t addr);
void efa_hw_tell_resp(struct efa_dev *dev);
bool efa_hw_has_forgotten(struct efa_dev *dev);
void efa_hw_request_reset(struct efa_dev *dev, enum efa_reset_reason reason);
int efa_hw_await_reset(struct efa_dev *dev);
int efa_hw_read_caps(struct efa_dev *dev, u32 *dma_bits);
int efa_hw_check_versions(struct efa_dev *dev);

#endif /* EFA_REGS_H */
