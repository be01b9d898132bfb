/* SPDX-License-Identifier: GPL-2.0-only */
/* The adapter's numbers in the terms of the specification, which has the same so far. */
#ifndef ERDMA_DIAG_CLASSES_H
#define ERDMA_DIAG_CLASSES_H

#include <linux/types.h>

static inline u32 erdma_op_class(u32 op)
{
	return op;
}

static inline u32 erdma_event_class(u32 type)
{
	return type;
}

static inline u32 erdma_cause_class(u32 syndrome)
{
	return syndrome;
}

#endif /* ERDMA_DIAG_CLASSES_H */
