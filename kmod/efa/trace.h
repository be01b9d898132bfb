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

TRACE_EVENT(cmd_submit,
	    TP_PROTO(const struct ib_device *ibdev, u64 seq, u8 op, u16 id, u32 outstanding),
	    TP_ARGS(ibdev, seq, op, id, outstanding),
	    TP_STRUCT__entry(__field(u32, dev)
			     __field(u64, seq)
			     __field(u8, op)
			     __field(u16, id)
			     __field(u32, outstanding)),
	    TP_fast_assign(__entry->dev = ibdev->index;
			   __entry->seq = seq;
			   __entry->op = op;
			   __entry->id = id;
			   __entry->outstanding = outstanding;),
	    TP_printk("dev=%u seq=%llu op=%s id=%#x outstanding=%u", __entry->dev,
		      __entry->seq, efa_trace_op(__entry->op), __entry->id,
		      __entry->outstanding)
);

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

TRACE_EVENT(comp_event,
	    TP_PROTO(const struct ib_device *ibdev, u16 eqn, u16 cqn),
	    TP_ARGS(ibdev, eqn, cqn),
	    TP_STRUCT__entry(__field(u32, dev)
			     __field(u16, eqn)
			     __field(u16, cqn)),
	    TP_fast_assign(__entry->dev = ibdev->index;
			   __entry->eqn = eqn;
			   __entry->cqn = cqn;),
	    TP_printk("dev=%u eqn=%u cqn=%u", __entry->dev, __entry->eqn, __entry->cqn)
);

EADM_TRACE_RECOVERY();

#endif /* EFA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
