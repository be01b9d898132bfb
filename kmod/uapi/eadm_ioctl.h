/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The char device /dev/eadm/N, one per RDMA device: bulk bytes.
 *
 * Every argument begins with its own size. A newer program may pass a larger struct to an older
 * kernel if the part unknown to the kernel is zero (otherwise E2BIG); an older program may pass a
 * smaller struct to a newer kernel. Members named reserved must be zero. An unknown command fails
 * with ENOTTY. After the device was removed, every call fails with ENODEV, and poll() reports
 * POLLHUP.
 */
#ifndef _UAPI_EADM_IOCTL_H
#define _UAPI_EADM_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "eadm_values.h"

#define EADM_IOC_MAGIC		0xEA

#define EADM_IOC_INFO		_IO(EADM_IOC_MAGIC, 0x00)
#define EADM_IOC_TRACE		_IO(EADM_IOC_MAGIC, 0x01)
#define EADM_IOC_RING		_IO(EADM_IOC_MAGIC, 0x02)
#define EADM_IOC_HWCTX		_IO(EADM_IOC_MAGIC, 0x03)
#define EADM_IOC_REGS		_IO(EADM_IOC_MAGIC, 0x04)

/**
 * struct eadm_ioc_info - the device that this node belongs to (EADM_IOC_INFO)
 * @size: in: size of the struct; out: size that the kernel supports
 * @dev_index: out: index of the RDMA device, as in netlink
 * @trace_rec_max: out: maximum size of one flight record in bytes
 * @features: out: EADM_FEATURE_*
 * @dev_name: out: name of the RDMA device
 *
 * All members except @size must be zero on input.
 */
struct eadm_ioc_info {
	__u32 size;
	__u32 dev_index;
	__u32 trace_rec_max;
	__u32 features;
	__u8 dev_name[64];
};

#define EADM_FEATURE_TRACE	0x1	/* EADM_IOC_TRACE works */
#define EADM_FEATURE_RING	0x2	/* EADM_IOC_RING works */
#define EADM_FEATURE_HWCTX	0x4	/* EADM_IOC_HWCTX works */
#define EADM_FEATURE_REGS	0x8	/* EADM_IOC_REGS works */

/* Start of a trace. */
#define EADM_TRACE_FROM_OLDEST	0	/* with the oldest record kept */
#define EADM_TRACE_FROM_NOW	1	/* with commands that end after this call */
#define EADM_TRACE_FROM_SEQ	2	/* with record number @seq */

/**
 * struct eadm_ioc_trace - start reading flight records (EADM_IOC_TRACE)
 * @size: size of the struct
 * @from: EADM_TRACE_FROM_*
 * @seq: for EADM_TRACE_FROM_SEQ, otherwise zero
 * @min_latency: only commands that took at least this many ns
 * @states: only records in one of these states: mask of 1 << EADM_CMD_STATE_*,
 *	0 for all
 * @op: with EADM_TRACE_BY_OP: only this command (EADM_CMD_OP_*), otherwise zero
 * @flags: EADM_TRACE_BY_OP
 * @reserved: zero
 *
 * read() then returns whole netlink messages, in the format of a dump of the object cmd: as many as
 * are available and fit, ordered by number, except that a command that is still pending when its
 * turn comes is returned once it has ended. It blocks until a record is available, unless the file
 * is non-blocking, and fails with EINVAL if the next record does not fit; EADM_TRACE_REC_MAX bytes
 * are always enough. Bytes of commands require that the process that opened the node has
 * CAP_SYS_RAWIO and that the kernel is not locked down. EADM_IOC_TRACE may be called again to
 * restart. Before the first call, read() fails with EBADFD.
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

#define EADM_TRACE_REC_MAX	4096

/*
 * The following three commands require that the process that opened the node has CAP_SYS_RAWIO and
 * that the kernel is not locked down; otherwise they fail with EPERM. They fail with ENOENT if the
 * queue does not exist.
 */

/**
 * struct eadm_ioc_ring - read entries of a queue (EADM_IOC_RING)
 * @size: in: size of the struct; out: size that the kernel supports
 * @kind: in: EADM_RAW_KIND_* of a queue
 * @id: in: number of the queue: QPN, CQN, number of the event queue; 0 for
 *	the command queue
 * @flags: in: EADM_RING_HW
 * @first: in: position of the first entry in the ring
 * @count: in: number of entries; out: number of entries read
 * @data: in: destination of the entries
 * @data_len: in: size of the buffer, of which at most EADM_RING_MAX_BYTES are used;
 *	out: bytes written
 * @sub: in: part of the queue, for adapters whose queues have parts
 * @reserved0: zero on input, like all following members
 * @entry_size: out: distance between entries in bytes
 * @depth: out: number of entries in the ring, not always a power of two
 * @valid: out: EADM_RING_*: indices that are known
 * @sw_pi: out: producer index of the software, as counted by the software
 * @sw_ci: out: consumer index of the software
 * @hw_pi: out: producer index of the adapter
 * @hw_ci: out: consumer index of the adapter
 * @hw_error: out: 0, or a negative errno if the adapter could not be queried
 * @index: out: EADM_RING_INDEX_*: format of indices and marking of new entries
 * @index_bits: out: width of indices of EADM_RING_INDEX_FREE
 * @memory: out: EADM_RING_MEMORY_*; entries behind a BAR cannot be read
 * @reserved: zero
 *
 * Fails with EINVAL if @kind is not a queue, and with EOPNOTSUPP if this adapter does not show it.
 * The range does not wrap around: if it exceeds the ring, the call fails with ERANGE. With a @count
 * of 0 only the properties of the ring are returned. Entries that the adapter or a process is
 * writing at the same time may be torn.
 */
struct eadm_ioc_ring {
	__u32 size;
	__u32 kind;
	__u32 id;
	__u32 flags;
	__u32 first;
	__u32 count;
	__u64 data;
	__u32 data_len;
	__u32 sub;
	__u32 reserved0;
	__u32 entry_size;
	__u32 depth;
	__u32 valid;
	__u32 sw_pi;
	__u32 sw_ci;
	__u32 hw_pi;
	__u32 hw_ci;
	__s32 hw_error;
	__u32 index;
	__u32 index_bits;
	__u32 memory;
	__u32 reserved[2];
};

#define EADM_RING_MAX_BYTES	65536

#define EADM_RING_HW		0x1	/* flags: query the adapter, too */

#define EADM_RING_SW_PI		0x1	/* valid: sw_pi is known */
#define EADM_RING_SW_CI		0x2
#define EADM_RING_HW_PI		0x4
#define EADM_RING_HW_CI		0x8
#define EADM_RING_USER		0x80000000	/* a process uses the queue directly */

/**
 * struct eadm_ioc_hwctx - read the adapter's context of a queue
 *	(EADM_IOC_HWCTX)
 * @size: in: size of the struct; out: size that the kernel supports
 * @kind: in: EADM_RAW_KIND_* of a context
 * @id: in: number of the queue
 * @data_len: in: size of the buffer @data; out: length of the context
 * @data: in: destination; truncated to the size of the buffer
 * @reserved: zero
 */
struct eadm_ioc_hwctx {
	__u32 size;
	__u32 kind;
	__u32 id;
	__u32 data_len;
	__u64 data;
	__u64 reserved;
};

/**
 * struct eadm_ioc_reg - a register of the adapter
 * @offset: offset of the register
 * @bits: width of the register
 * @value: value read
 */
struct eadm_ioc_reg {
	__u32 offset;
	__u32 bits;
	__u64 value;
};

/**
 * struct eadm_ioc_regs - read registers (EADM_IOC_REGS)
 * @size: in: size of the struct; out: size that the kernel supports
 * @count: in: size of @data in registers; out: number of registers
 * @data: in: destination, an array of struct eadm_ioc_reg; only as many as fit
 * @reserved: zero
 *
 * Reads only registers that can be read without side effects.
 */
struct eadm_ioc_regs {
	__u32 size;
	__u32 count;
	__u64 data;
	__u64 reserved;
};

#endif /* _UAPI_EADM_IOCTL_H */
