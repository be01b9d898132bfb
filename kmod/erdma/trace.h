/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints; the flight recorder shows the same without any setup. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM erdma

#if !defined(ERDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ERDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "eadm_trace.h"

/* sub-module * 256 + opcode, as in the specification's cmd-op. */
#define erdma_trace_op(op)						\
	__print_symbolic(op,						\
		{ 0x000, "query-device" }, { 0x001, "create-qp" },	\
		{ 0x002, "destroy-qp" }, { 0x003, "modify-qp" },	\
		{ 0x004, "create-cq" }, { 0x005, "destroy-cq" },	\
		{ 0x006, "reflush" }, { 0x008, "reg-mr" },		\
		{ 0x009, "dereg-mr" }, { 0x00b, "query-qpc" },		\
		{ 0x00c, "query-cqc" }, { 0x100, "create-eq" },		\
		{ 0x101, "destroy-eq" }, { 0x102, "query-fw-info" },	\
		{ 0x103, "conf-mtu" }, { 0x104, "get-stats" },		\
		{ 0x105, "conf-device" }, { 0x106, "query-eqc" },	\
		{ 0x107, "set-retrans-num" }, { 0x108, "alloc-db" },	\
		{ 0x109, "free-db" }, { 0x10a, "set-ext-attr" },	\
		{ 0x10b, "get-ext-attr" })

#define erdma_trace_aeqe(type)						\
	__print_symbolic(type,						\
		{ 0, "qp-fatal" }, { 1, "qp-erq-error" },		\
		{ 2, "access-error" }, { 3, "cq-error" }, { 4, "other" })

EADM_TRACE_CMD_SUBMIT(u16, erdma_trace_op, cookie, "%u");
EADM_TRACE_CMD_DONE(u16, u8, erdma_trace_op);

TRACE_EVENT(aeq_event,
	    TP_PROTO(const struct ib_device *ibdev, u8 type, u32 id),
	    TP_ARGS(ibdev, type, id),
	    TP_STRUCT__entry(__field(u32, dev)
			     __field(u8, type)
			     __field(u32, id)),
	    TP_fast_assign(__entry->dev = ibdev->index;
			   __entry->type = type;
			   __entry->id = id;),
	    TP_printk("dev=%u type=%s id=%u", __entry->dev,
		      erdma_trace_aeqe(__entry->type), __entry->id)
);

EADM_TRACE_COMPLETION(ceq_event, u8, u32);
EADM_TRACE_RECOVERY();

#endif /* ERDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
