/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of kernel types that the programs read. Their offsets in a given kernel
 * are resolved when the programs are loaded, from the type information (BTF) of the
 * kernel and its modules.
 */
#ifndef EADM_PROBE_KERNEL_H
#define EADM_PROBE_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

struct ns_common {
	unsigned int inum;
} KERNEL_TYPE;

struct net {
	struct ns_common ns;
} KERNEL_TYPE;

struct nsproxy {
	struct net *net_ns;
} KERNEL_TYPE;

#define RLIMIT_MEMLOCK 8
#define CAP_IPC_LOCK 14

struct rlimit {
	unsigned long rlim_cur;
} KERNEL_TYPE;

struct signal_struct {
	struct rlimit rlim[16];
} KERNEL_TYPE;

/* 8 bytes, the lowest first. */
typedef struct { __u64 val; } kernel_cap_t;

struct user_namespace {
	int level;			/* 0: the initial namespace */
} KERNEL_TYPE;

struct cred {
	kernel_cap_t cap_effective;
	struct user_namespace *user_ns;
} KERNEL_TYPE;

typedef struct { __s64 counter; } atomic64_t;

struct mm_struct {
	atomic64_t pinned_vm;
} KERNEL_TYPE;

struct task_struct {
	int tgid;
	unsigned int flags;
	int exit_code;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct cred *cred;
	struct mm_struct *mm;
} KERNEL_TYPE;

/* Only the type names are used: the values are those of verbs. */
enum ib_qp_type { IB_QP_TYPE_ };
enum ib_qp_state { IB_QP_STATE_ };
enum ib_event_type { IB_EVENT_TYPE_ };
enum rdma_cm_event_type { RDMA_CM_EVENT_TYPE_ };

enum rdma_restrack_type {
	RDMA_RESTRACK_PD,
	RDMA_RESTRACK_CQ,
	RDMA_RESTRACK_QP,
	RDMA_RESTRACK_CM_ID,
	RDMA_RESTRACK_MR,
	RDMA_RESTRACK_CTX,
	RDMA_RESTRACK_COUNTER,
	RDMA_RESTRACK_SRQ,
};

struct rdma_restrack_entry {
	bool valid;
	struct task_struct *task;
	const char *kern_name;
	enum rdma_restrack_type type;
	__u32 id;
} KERNEL_TYPE;

struct ib_device {
	char name[64];
	__u32 index;
} KERNEL_TYPE;

union ib_gid {
	__u8 raw[16];
};

struct ib_pd {
	struct ib_device *device;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_cq {
	struct ib_device *device;
	int cqe;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_srq {
	struct ib_device *device;
	struct ib_pd *pd;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_mr {
	struct ib_device *device;
	struct ib_pd *pd;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_ucontext {
	struct ib_device *device;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_mw {
	struct ib_device *device;
} KERNEL_TYPE;

struct ib_ah {
	struct ib_device *device;
	struct ib_pd *pd;
} KERNEL_TYPE;

struct ib_uqp_object;

struct ib_qp {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_srq *srq;
	struct ib_uqp_object *uobject;
	__u32 qp_num;
	enum ib_qp_type qp_type;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct ib_qp_cap {
	__u32 max_send_wr;
	__u32 max_recv_wr;
} KERNEL_TYPE;

struct ib_qp_init_attr {
	struct ib_cq *send_cq;
	struct ib_srq *srq;
	struct ib_qp_cap cap;
	enum ib_qp_type qp_type;
} KERNEL_TYPE;

struct ib_global_route {
	union ib_gid dgid;
	__u8 sgid_index;
} KERNEL_TYPE;

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u32 port_num;
} KERNEL_TYPE;

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	__u32 dest_qp_num;
	struct rdma_ah_attr ah_attr;
	__u8 timeout;
} KERNEL_TYPE;

#define IB_QP_STATE (1 << 0)
#define IB_QP_AV (1 << 7)
#define IB_QP_TIMEOUT (1 << 9)
#define IB_QP_DEST_QPN (1 << 20)

struct ib_srq_attr {
	__u32 max_wr;
} KERNEL_TYPE;

struct ib_srq_init_attr {
	struct ib_srq_attr attr;
} KERNEL_TYPE;

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
		__u32 port_num;
	} element;
	enum ib_event_type event;
} KERNEL_TYPE;

struct ib_gid_attr {
	struct ib_device *device;
	union ib_gid gid;
	__u16 index;
	__u32 port_num;
} KERNEL_TYPE;

struct ib_gid_table_entry {
	struct ib_gid_attr attr;
} KERNEL_TYPE;

struct ib_gid_table {
	struct ib_gid_table_entry **data_vec;
} KERNEL_TYPE;

/* In newer kernels, the entries follow. */
struct ib_gid_table___follow {
	struct ib_gid_table_entry *data_vec[0];
} KERNEL_TYPE;

/* ---- of ib_uverbs ---- */

struct ib_uverbs_device {
	struct ib_device *ib_dev;
} KERNEL_TYPE;

struct ib_uverbs_file {
	struct ib_uverbs_device *device;
} KERNEL_TYPE;

struct ib_udata {
	const void *inbuf;
	__u64 inlen;
} KERNEL_TYPE;

struct uverbs_attr_bundle {
	struct ib_udata ucore;
	struct ib_uverbs_file *ufile;
} KERNEL_TYPE;

struct ib_uobject {
	void *object;
} KERNEL_TYPE;

/* ---- of rdma_cm ---- */

struct __kernel_sockaddr_storage {
	__u16 ss_family;
	char __data[126];
} KERNEL_TYPE;

struct rdma_addr {
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
} KERNEL_TYPE;

struct rdma_route {
	struct rdma_addr addr;
} KERNEL_TYPE;

struct rdma_cm_id {
	struct ib_device *device;
	struct rdma_route route;
	__u32 port_num;
} KERNEL_TYPE;

struct rdma_id_private {
	struct rdma_cm_id id;
	__u32 qp_num;
	struct rdma_restrack_entry res;
} KERNEL_TYPE;

struct rdma_conn_param {
	__u8 private_data_len;
	__u32 qp_num;
} KERNEL_TYPE;

struct rdma_cm_event {
	enum rdma_cm_event_type event;
	int status;
	union {
		struct rdma_conn_param conn;
	} param;
} KERNEL_TYPE;

#endif /* EADM_PROBE_KERNEL_H */
