/* SPDX-License-Identifier: GPL-2.0-only */
/* A copy of the driver's tracepoint erdma:cmd_done that needs no device. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM erdma_bench

#if !defined(ERDMA_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ERDMA_BENCH_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(erdma_bench_cmd,
	    TP_PROTO(u64 seq, u16 op, int status, u8 syndrome, u64 latency),
	    TP_ARGS(seq, op, status, syndrome, latency),
	    TP_STRUCT__entry(__field(u64, seq)
			     __field(u64, latency)
			     __field(int, status)
			     __field(u16, op)
			     __field(u8, syndrome)),
	    TP_fast_assign(__entry->seq = seq;
			   __entry->latency = latency;
			   __entry->status = status;
			   __entry->op = op;
			   __entry->syndrome = syndrome;),
	    TP_printk("seq %llu op %#x status %d syndrome %u latency %llu ns",
		      __entry->seq, __entry->op, __entry->status, __entry->syndrome,
		      __entry->latency)
);

#endif /* ERDMA_BENCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
