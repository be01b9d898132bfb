/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints common to all drivers, with the same names and fields: a driver's trace.h uses these
 * macros in addition to its own tracepoints.
 */
#ifndef EADM_TRACE_H
#define EADM_TRACE_H

/* Steps of the tracepoint "recovery". */
enum eadm_recovery_step {
	EADM_RECOVERY_BEGIN,
	EADM_RECOVERY_PROBE,
	EADM_RECOVERY_RESET,
	EADM_RECOVERY_END,
	EADM_RECOVERY_GONE,
};

/* Prints plain numbers, for programs that parse the text and do not know the enum. */
#define eadm_trace_step(step)						\
	__print_symbolic(step,						\
		{ 0, "begin" }, { 1, "probe" }, { 2, "reset" },		\
		{ 3, "end" }, { 4, "gone" })

/*
 * A command is about to be announced. tag is the name of the field that identifies the completion,
 * tag_format its printf format; the other parameters are as below.
 */
#define EADM_TRACE_CMD_SUBMIT(op_type, op_name, tag, tag_format)			\
TRACE_EVENT(cmd_submit,									\
	    TP_PROTO(const struct ib_device *ibdev, u64 seq, op_type op, u16 tag,	\
		     u32 outstanding),							\
	    TP_ARGS(ibdev, seq, op, tag, outstanding),					\
	    TP_STRUCT__entry(__field(u32, dev)						\
			     __field(u64, seq)						\
			     __field(op_type, op)					\
			     __field(u16, tag)						\
			     __field(u32, outstanding)),				\
	    TP_fast_assign(__entry->dev = ibdev->index;					\
			   __entry->seq = seq;						\
			   __entry->op = op;						\
			   __entry->tag = tag;						\
			   __entry->outstanding = outstanding;),			\
	    TP_printk("dev=%u seq=%llu op=%s " #tag "=" tag_format " outstanding=%u",	\
		      __entry->dev, __entry->seq, op_name(__entry->op), __entry->tag,	\
		      __entry->outstanding)						\
)

/* An asynchronous event: its code, a macro that prints the code, and a number with details. */
#define EADM_TRACE_ASYNC(name, code_type, code, code_name, detail_type, detail)		\
TRACE_EVENT(name,									\
	    TP_PROTO(const struct ib_device *ibdev, code_type code, detail_type detail), \
	    TP_ARGS(ibdev, code, detail),						\
	    TP_STRUCT__entry(__field(u32, dev)						\
			     __field(code_type, code)					\
			     __field(detail_type, detail)),				\
	    TP_fast_assign(__entry->dev = ibdev->index;					\
			   __entry->code = code;					\
			   __entry->detail = detail;),					\
	    TP_printk("dev=%u " #code "=%s " #detail "=%u", __entry->dev,		\
		      code_name(__entry->code), __entry->detail)			\
)

/* An event queue has an entry for a CQ. */
#define EADM_TRACE_COMPLETION(name, eqn_type, cqn_type)					\
TRACE_EVENT(name,									\
	    TP_PROTO(const struct ib_device *ibdev, eqn_type eqn, cqn_type cqn),	\
	    TP_ARGS(ibdev, eqn, cqn),							\
	    TP_STRUCT__entry(__field(u32, dev)						\
			     __field(eqn_type, eqn)					\
			     __field(cqn_type, cqn)),					\
	    TP_fast_assign(__entry->dev = ibdev->index;					\
			   __entry->eqn = eqn;						\
			   __entry->cqn = cqn;),					\
	    TP_printk("dev=%u eqn=%u cqn=%u", __entry->dev, __entry->eqn, __entry->cqn)	\
)

/*
 * A command completed, failed or was abandoned. op_type and syndrome_type are the types of the
 * opcode and of the adapter's status, op_name is a macro that prints an opcode.
 */
#define EADM_TRACE_CMD_DONE(op_type, syndrome_type, op_name)				\
TRACE_EVENT(cmd_done,									\
	    TP_PROTO(const struct ib_device *ibdev, u64 seq, op_type op, int status,	\
		     syndrome_type syndrome, u64 latency),				\
	    TP_ARGS(ibdev, seq, op, status, syndrome, latency),				\
	    TP_STRUCT__entry(__field(u32, dev)						\
			     __field(u64, seq)						\
			     __field(op_type, op)					\
			     __field(syndrome_type, syndrome)				\
			     __field(int, status)					\
			     __field(u64, latency)),					\
	    TP_fast_assign(__entry->dev = ibdev->index;					\
			   __entry->seq = seq;						\
			   __entry->op = op;						\
			   __entry->syndrome = syndrome;				\
			   __entry->status = status;					\
			   __entry->latency = latency;),				\
	    TP_printk("dev=%u seq=%llu op=%s status=%d syndrome=%u latency=%llu",	\
		      __entry->dev, __entry->seq, op_name(__entry->op),			\
		      __entry->status, __entry->syndrome, __entry->latency)		\
)

/* A step of recovery from a lost command. */
#define EADM_TRACE_RECOVERY()								\
TRACE_EVENT(recovery,									\
	    TP_PROTO(const struct ib_device *ibdev, u8 step, int status),		\
	    TP_ARGS(ibdev, step, status),						\
	    TP_STRUCT__entry(__field(u32, dev)						\
			     __field(u8, step)						\
			     __field(int, status)),					\
	    TP_fast_assign(__entry->dev = ibdev->index;					\
			   __entry->step = step;					\
			   __entry->status = status;),					\
	    TP_printk("dev=%u step=%s status=%d", __entry->dev,				\
		      eadm_trace_step(__entry->step), __entry->status)			\
)

#endif /* EADM_TRACE_H */
