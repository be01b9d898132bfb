/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints; the flight recorder shows the same without any setup. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM efa

#if !defined(EFA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define EFA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "eadm_trace.h"

/* enum efa_opcode, as in the specification's cmd-op. */
#define efa_trace_op(op)						\
	__print_symbolic(op,						\
		{ 1, "create-qp" }, { 2, "modify-qp" },			\
		{ 3, "query-qp" }, { 4, "destroy-qp" },			\
		{ 5, "create-ah" }, { 6, "destroy-ah" },		\
		{ 7, "reg-mr" }, { 8, "dereg-mr" },			\
		{ 9, "create-cq" }, { 10, "destroy-cq" },		\
		{ 11, "get-feature" }, { 12, "set-feature" },		\
		{ 13, "get-stats" }, { 14, "alloc-pd" },		\
		{ 15, "dealloc-pd" }, { 16, "alloc-uar" },		\
		{ 17, "dealloc-uar" }, { 18, "create-eq" },		\
		{ 19, "destroy-eq" })

#define efa_trace_group(group)						\
	__print_symbolic(group,						\
		{ 1, "fatal-error" }, { 2, "warning" },			\
		{ 3, "notification" }, { 4, "keep-alive" })

EADM_TRACE_CMD_SUBMIT(u8, efa_trace_op, id, "%#x");
EADM_TRACE_CMD_DONE(u8, u8, efa_trace_op);

TRACE_EVENT(async_event,
	    TP_PROTO(const struct ib_device *ibdev, u16 group, u16 syndrome),
	    TP_ARGS(ibdev, group, syndrome),
	    TP_STRUCT__entry(__field(u32, dev)
			     __field(u16, group)
			     __field(u16, syndrome)),
	    TP_fast_assign(__entry->dev = ibdev->index;
			   __entry->group = group;
			   __entry->syndrome = syndrome;),
	    TP_printk("dev=%u group=%s syndrome=%u", __entry->dev,
		      efa_trace_group(__entry->group), __entry->syndrome)
);

EADM_TRACE_COMPLETION(comp_event, u16, u16);
EADM_TRACE_RECOVERY();

#endif /* EFA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
