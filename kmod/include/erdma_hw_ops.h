/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the adapter's data layouts. The driver (kmod/erdma) and the device model (kmod/virt)
 * share only these helpers and the layouts, which are generated from spec/families/erdma.yaml.
 *
 * Byte order: registers, command requests, SQEs, RQEs, EQEs and doorbells are little-endian, CQEs
 * are big-endian 32-bit words, except for immediate data.
 */
#ifndef ERDMA_HW_OPS_H
#define ERDMA_HW_OPS_H

#include "erdma_hw.h"

/* Numbers of event queues in commands, and in queries of their contexts (hw 8.4). */
#define ERDMA_EQN_CEQ(n)		((n) + 1)
#define ERDMA_EQC_INDEX_CEQ(n)		((n) + 2)

/* Offset of a queue's doorbell in a mapped page, as used by providers (hw 9.3). */
#define ERDMA_SQDB_SLOT(qpn)		(((qpn) & 0x1f) * 128)
#define ERDMA_RQDB_SLOT(qpn)		(((qpn) & 0x7f) * 32)
#define ERDMA_CQDB_SLOT(cqn)		(((cqn) & 511) * 8)

/*
 * Ownership (hw 3.5): the entry at ci & (depth - 1) of a CQ or EQ is valid if its owner bit differs
 * from the lap bit (ci & depth).
 */
static inline bool erdma_hw_owned(u32 owner_bit, u32 ci, u32 depth)
{
	return !!owner_bit != !!(ci & depth);
}

#endif /* ERDMA_HW_OPS_H */
