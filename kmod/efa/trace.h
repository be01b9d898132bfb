/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints; the flight recorder shows the same data without any setup. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM efa

#if !defined(EFA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define EFA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "eadm_trace.h"
#include "efa_classes.h"

#define efa_trace_group(group)						\
	__print_symbolic(group,						\
		{ 1, "fatal-error" }, { 2, "warning" },			\
		{ 3, "notification" }, { 4, "keep-alive" })

EADM_TRACE_CMD_SUBMIT(u8, efa_trace_op, id, "%#x");
EADM_TRACE_CMD_DONE(u8, u8, efa_trace_op);

EADM_TRACE_ASYNC(async_event, u16, group, efa_trace_group, u16, syndrome);
EADM_TRACE_COMPLETION(comp_event, u16, u16);
EADM_TRACE_RECOVERY();

#endif /* EFA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
