/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the adapter and of the driver. */
#ifndef EFA_STATS_H
#define EFA_STATS_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "compat_rdma.h"
#include "efa_hw.h"

struct efa_dev;

/* 32-bit registers, indexed by their offset. */
#define EFA_REGS_COUNT	(EFA_REGS_SIZE / sizeof(u32))

/* Values indexed by enum efa_stats_type. */
struct efa_stats {
	u64 value[EFA_STATS_TYPES][EFA_STATS_VALUES];
};

/**
 * struct efa_recent - cached responses of the adapter
 * @stats: cache of the counters
 * @last_stats: the last response
 * @regs: cache of the readable registers, indexed by offset; elements of other registers are 0
 * @last_regs: the last response
 */
struct efa_recent {
	struct eadm_recent stats;
	struct efa_stats last_stats;
	struct eadm_recent regs;
	u32 last_regs[EFA_REGS_COUNT];
};

void efa_recent_init(struct efa_dev *dev);

struct rdma_hw_stats *efa_alloc_device_stats(struct ib_device *ibdev);
struct rdma_hw_stats *efa_alloc_port_stats(struct ib_device *ibdev, compat_port_t port);

#endif /* EFA_STATS_H */
