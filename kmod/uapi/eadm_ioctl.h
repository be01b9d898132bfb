/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The char device /dev/eadm/N, one per RDMA device: bulk bytes.
 *
 * Every argument begins with its own size. A newer program may pass a larger
 * struct to an older kernel as long as the part unknown there is zero (else
 * E2BIG), an older program a smaller one to a newer kernel. Members named
 * reserved must be zero. An unknown command gives ENOTTY. After the device was
 * removed every call gives ENODEV, and poll() tells POLLHUP.
 */
#ifndef _UAPI_EADM_IOCTL_H
#define _UAPI_EADM_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EADM_IOC_MAGIC		0xEA

#define EADM_IOC_INFO		_IO(EADM_IOC_MAGIC, 0x00)
#define EADM_IOC_TRACE		_IO(EADM_IOC_MAGIC, 0x01)

/**
 * struct eadm_ioc_info - what this node belongs to (EADM_IOC_INFO)
 * @size: in: size of the struct; out: size the kernel knows
 * @dev_index: out: index of the RDMA device, as in netlink
 * @trace_rec_size: out: bytes of one trace record
 * @features: out: EADM_FEATURE_*
 * @dev_name: out: name of the RDMA device
 *
 * All members but @size must be zero on input.
 */
struct eadm_ioc_info {
	__u32 size;
	__u32 dev_index;
	__u32 trace_rec_size;
	__u32 features;
	__u8 dev_name[64];
};

#define EADM_FEATURE_TRACE	0x1	/* EADM_IOC_TRACE works */

/* Where a trace begins. */
#define EADM_TRACE_FROM_OLDEST	0	/* with the oldest record kept */
#define EADM_TRACE_FROM_NOW	1	/* with what ends from now on */
#define EADM_TRACE_FROM_SEQ	2	/* with record number @seq */

/**
 * struct eadm_ioc_trace - begin to read flight records (EADM_IOC_TRACE)
 * @size: size of the struct
 * @from: EADM_TRACE_FROM_*
 * @seq: for EADM_TRACE_FROM_SEQ, else zero
 * @min_latency: only commands that took at least so many ns
 * @states: only records in one of these states: mask of 1 << EADM_CMD_STATE_*,
 *	0 for all
 * @op: with EADM_TRACE_BY_OP: only this command (EADM_CMD_OP_*), else zero
 * @flags: EADM_TRACE_BY_OP
 * @reserved: zero
 *
 * read() then gives whole struct eadm_trace_rec, as many as there are and fit,
 * in order of @seq except that a command which was still pending when its turn
 * came follows once it has ended; it waits for one unless the file is
 * non-blocking. May be called again to begin anew. read() before this gives
 * EBADFD.
 */
struct eadm_ioc_trace {
	__u32 size;
	__u32 from;
	__u64 seq;
	__u64 min_latency;
	__u32 states;
	__u32 op;
	__u32 flags;
	__u32 reserved;
};

#define EADM_TRACE_BY_OP	0x1

/**
 * struct eadm_trace_rec - one flight record as read() gives it
 * @seq: running number of the command
 * @time: wall-clock time of submission in ns
 * @latency: ns from submission to the answer or to giving up
 * @lost: records that were overwritten before they could be read, since the
 *	record read before this one
 * @op: EADM_CMD_OP_*
 * @state: EADM_CMD_STATE_*
 * @status: result for the caller, 0 or a negative errno
 * @syndrome: syndrome of the answer
 * @cookie: slot of the command
 * @outstanding: commands outstanding when it was submitted
 * @cpu: CPU that submitted it
 * @pid: process that caused it; 0 when unknown or not for this reader
 * @flags: EADM_TRACE_REC_*
 * @request_len: valid bytes of @request
 * @response_len: valid bytes of @response
 * @comm: command name of the process, ends with a zero
 * @request: first bytes of the request. Needs CAP_SYS_RAWIO and a kernel that
 *	is not locked down, as does @response
 * @response: response words of the answer
 */
struct eadm_trace_rec {
	__u64 seq;
	__u64 time;
	__u64 latency;
	__u64 lost;
	__u32 op;
	__u32 state;
	__s32 status;
	__u32 syndrome;
	__u32 cookie;
	__u32 outstanding;
	__u32 cpu;
	__u32 pid;
	__u32 flags;
	__u16 request_len;
	__u16 response_len;
	__u8 comm[32];
	__u8 request[64];
	__u8 response[16];
};

#define EADM_TRACE_REC_POLLED		0x1	/* its answer was polled for */
#define EADM_TRACE_REC_FIRST_TIMEOUT	0x2	/* kept: the first time-out */

#endif /* _UAPI_EADM_IOCTL_H */
