/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints; the flight recorder shows the same data without any setup. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM erdma

#if !defined(ERDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ERDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "eadm_trace.h"
#include "erdma_classes.h"

#define erdma_trace_aeqe(type)						\
	__print_symbolic(type,						\
		{ 0, "qp-fatal" }, { 1, "qp-erq-error" },		\
		{ 2, "access-error" }, { 3, "cq-error" }, { 4, "other" })

EADM_TRACE_CMD_SUBMIT(u16, erdma_trace_op, cookie, "%u");
EADM_TRACE_CMD_DONE(u16, u8, erdma_trace_op);

EADM_TRACE_ASYNC(aeq_event, u8, type, erdma_trace_aeqe, u32, id);
EADM_TRACE_COMPLETION(ceq_event, u8, u32);
EADM_TRACE_RECOVERY();

#endif /* ERDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
