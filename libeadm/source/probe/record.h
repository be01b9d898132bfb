/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data that the probe's kernel programs store in their maps for readers. Programs and
 * readers come from the same build: a reader refuses maps with a different
 * EADM_PROBE_ABI. The maps contain no kernel addresses, keys, memory addresses or
 * payload.
 */
#ifndef EADM_PROBE_RECORD_H
#define EADM_PROBE_RECORD_H

#include <linux/types.h>

#include "source/probe/commands.h"

#define EADM_PROBE_ABI 3
#define EADM_PROBE_DIR "/sys/fs/bpf/eadm"
#define EADM_PROBE_NONE 0xffffffffU	/* unknown number */
#define EADM_PROBE_DEVS 1024		/* a power of 2 */
#define EADM_PROBE_IN_FLIGHT 4096
#define EADM_PROBE_NAME 64

/*
 * Functions that programs are attached to: f(symbol, module, class of command). The first
 * functions are calls, whose start and end are recorded. Calls of the same class may call
 * each other; then only the outer call counts.
 */
#define EADM_PROBE_CALLS(f)						\
	f(ib_create_qp_user, ib_core, CREATE_QP)			\
	f(ib_create_qp_kernel, ib_core, CREATE_QP)			\
	f(ib_modify_qp_with_udata, ib_core, MODIFY_QP)			\
	f(ib_modify_qp, ib_core, MODIFY_QP)				\
	f(ib_query_qp, ib_core, QUERY_QP)				\
	f(ib_destroy_qp_user, ib_core, DESTROY_QP)			\
	f(ib_uverbs_create_cq, ib_uverbs, CREATE_CQ)			\
	f(ib_uverbs_ex_create_cq, ib_uverbs, CREATE_CQ)			\
	f(ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE, ib_uverbs, CREATE_CQ) \
	f(__ib_create_cq, ib_core, CREATE_CQ)				\
	f(__ib_alloc_cq, ib_core, CREATE_CQ)				\
	f(ib_destroy_cq_user, ib_core, DESTROY_CQ)			\
	f(ib_free_cq, ib_core, DESTROY_CQ)				\
	f(ib_uverbs_resize_cq, ib_uverbs, RESIZE_CQ)			\
	f(ib_resize_cq, ib_core, RESIZE_CQ)				\
	f(ib_uverbs_reg_mr, ib_uverbs, REG_MR)				\
	f(ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR, ib_uverbs, REG_MR) \
	f(ib_reg_user_mr, ib_core, REG_MR)				\
	f(ib_uverbs_rereg_mr, ib_uverbs, REREG_MR)			\
	f(ib_alloc_mr, ib_core, ALLOC_MR)				\
	f(ib_dereg_mr_user, ib_core, DEREG_MR)				\
	f(rdma_create_user_ah, ib_core, CREATE_AH)			\
	f(rdma_create_ah, ib_core, CREATE_AH)				\
	f(rdma_destroy_ah_user, ib_core, DESTROY_AH)			\
	f(ib_create_srq_user, ib_core, CREATE_SRQ)			\
	f(ib_uverbs_modify_srq, ib_uverbs, MODIFY_SRQ)			\
	f(ib_modify_srq, ib_core, MODIFY_SRQ)				\
	f(ib_query_srq, ib_core, QUERY_SRQ)				\
	f(ib_destroy_srq_user, ib_core, DESTROY_SRQ)			\
	f(ib_uverbs_alloc_pd, ib_uverbs, ALLOC_PD)			\
	f(__ib_alloc_pd, ib_core, ALLOC_PD)				\
	f(ib_dealloc_pd_user, ib_core, DEALLOC_PD)			\
	f(ib_uverbs_get_context, ib_uverbs, ALLOC_CTX)			\
	f(ib_uverbs_handler_UVERBS_METHOD_GET_CONTEXT, ib_uverbs, ALLOC_CTX) \
	f(ib_uverbs_alloc_mw, ib_uverbs, ALLOC_MW)			\
	f(uverbs_dealloc_mw, ib_uverbs, DEALLOC_MW)			\
	f(rdma_bind_addr, rdma_cm, CM_BIND)				\
	f(rdma_resolve_addr, rdma_cm, CM_RESOLVE_ADDR)			\
	f(rdma_resolve_route, rdma_cm, CM_RESOLVE_ROUTE)		\
	f(rdma_listen, rdma_cm, CM_LISTEN)				\
	f(rdma_connect, rdma_cm, CM_CONNECT)				\
	f(rdma_connect_locked, rdma_cm, CM_CONNECT)			\
	f(rdma_accept, rdma_cm, CM_ACCEPT)				\
	f(rdma_reject, rdma_cm, CM_REJECT)				\
	f(rdma_disconnect, rdma_cm, CM_DISCONNECT)			\
	EADM_PROBE_STAND_INS(f)

/* Older kernels call these instead of ib_create_qp_user and ib_create_qp_kernel. */
#define EADM_PROBE_STAND_INS(f)						\
	f(ib_uverbs_create_qp, ib_uverbs, CREATE_QP)			\
	f(ib_uverbs_ex_create_qp, ib_uverbs, CREATE_QP)			\
	f(ib_uverbs_handler_UVERBS_METHOD_QP_CREATE, ib_uverbs, CREATE_QP) \
	f(ib_create_qp, ib_core, CREATE_QP)

/* Of these functions, only the call itself is recorded, not its end. */
#define EADM_PROBE_EVENTS(f)						\
	f(cm_event_handler, rdma_cm, OTHER)				\
	f(ib_uverbs_qp_event_handler, ib_uverbs, OTHER)			\
	f(ib_uverbs_cq_event_handler, ib_uverbs, OTHER)			\
	f(ib_uverbs_srq_event_handler, ib_uverbs, OTHER)		\
	f(__ib_qp_event_handler, ib_core, OTHER)			\
	f(ib_dispatch_event, ib_core, OTHER)				\
	f(add_modify_gid, ib_core, OTHER)				\
	f(del_gid, ib_core, OTHER)

/*
 * EADM_PROBE_COMMANDS(f) are drivers' functions that run one command of the adapter.
 * Their calls are recorded in addition to the verb that caused them, in a separate
 * class.
 */
#define EADM_PROBE_COMMAND 0xff

#define EADM_PROBE_ID(symbol, module, ...) EADM_PROBE_FN_##symbol,
enum eadm_probe_function {
	EADM_PROBE_CALLS(EADM_PROBE_ID)
	EADM_PROBE_N_CALLS,
	EADM_PROBE_BEFORE_EVENTS = EADM_PROBE_N_CALLS - 1,
	EADM_PROBE_EVENTS(EADM_PROBE_ID)
	EADM_PROBE_FIRST_COMMAND,
	EADM_PROBE_BEFORE_COMMANDS = EADM_PROBE_FIRST_COMMAND - 1,
	EADM_PROBE_COMMANDS(EADM_PROBE_ID)
	EADM_PROBE_N_FUNCTIONS,
};

_Static_assert(EADM_PROBE_N_FUNCTIONS <= 64, "one bit for each function, see eadm_probe_info");

enum eadm_probe_kind {
	EADM_PROBE_CALL,
	EADM_PROBE_CM,
	EADM_PROBE_ASYNC,
	EADM_PROBE_GID,
};

#define EADM_PROBE_KERNEL 1		/* the caller or owner is the kernel */
#define EADM_PROBE_ADDED 2		/* a GID was added */
#define EADM_PROBE_EXITING 4		/* the process was ending */
#define EADM_PROBE_NO_TYPE 0xff
#define EADM_PROBE_NO_STATE 0xff

struct eadm_probe_addr {
	__u8 family;			/* 0: none, 4 or 6; 6 for a GID */
	__u8 pad;
	__u16 port;			/* in network byte order */
	__u32 pad2;
	__u64 bytes[2];			/* in network byte order */
};

struct eadm_probe_rec {
	__u64 number;			/* record number on the CPU, from 1; 0: being written */
	__u64 seq;			/* number per device and kind, from 1 */
	__u64 start;			/* CLOCK_BOOTTIME */
	__u64 end;			/* calls only; 0: has not returned yet */
	__u64 cgroup;
	__u64 size;			/* bytes; ~0: unknown */
	__u64 memlock;			/* bytes; ~0: unlimited or unknown */
	__u64 pinned;			/* bytes, including those of this call */
	__u64 command;			/* word of a request with its number */
	__u32 dev;
	__u32 netns;			/* 0: unknown */
	__u32 pid;			/* PID in the initial namespace; 0: unknown */
	__u32 tid;
	__s32 status;
	__u32 qpn;
	__u32 cqn;
	__u32 mrn;
	__u32 srqn;
	__u32 pdn;
	__u32 cm_id;
	__u32 peer_qpn;
	__u32 entries;
	__u32 recv_entries;
	__u32 access;
	__u32 port;
	__u32 gid_index;
	__u32 event;			/* the kernel's number of the event */
	__u8 kind;
	__u8 function;
	__u8 flags;
	__u8 qp_type;
	__u8 new_state;
	__u8 timeout;
	__u8 private_data;
	__u8 exit_signal;		/* if the caller is exiting; 0: not killed */
	char comm[16];
	struct eadm_probe_addr local;
	struct eadm_probe_addr peer;
};

/* One for each CPU, padded so that they do not share cache lines. */
struct eadm_probe_cpu {
	__u64 head;			/* records made so far */
	__u64 lost;			/* calls and events without a record */
	__u64 busy;			/* a record is being written, see ring.bpf.h */
	__u64 pad[5];
};

/* One for each device, at its index modulo the number of cells. */
struct eadm_probe_dev {
	__u32 index;			/* index + 1; 0: unused */
	__u32 lock;			/* lock of the numbers, see ring.bpf.h */
	__u64 calls;			/* last seq assigned */
	__u64 events;
	__u64 pad2;
	char name[EADM_PROBE_NAME];
};

/* The only instance; written before the programs are attached. */
struct eadm_probe_info {
	__u32 abi;
	__u32 level;			/* enum probe-level of spec/eadm.yaml */
	__u32 cpus;
	__u32 slots;			/* records per CPU, a power of 2 */
	__u64 start;			/* CLOCK_BOOTTIME */
	__u64 attached;			/* bitmap of attached functions */
	__u32 functions;
	__u32 may_read;			/* may read untyped kernel memory, see lockdown */
	__u64 expected;			/* functions that should exist */
	__u32 runner;			/* PID of the process with which the probe ends and which
					 * locks EADM_PROBE_DIR, in its PID namespace; or 0 */
	__u32 pad;
};

#endif /* EADM_PROBE_RECORD_H */
