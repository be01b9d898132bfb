// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probe: programs attached to functions of ib_core, ib_uverbs and rdma_cm that
 * record each call and event. Functions that a kernel lacks are left out when the
 * programs are loaded.
 */
#include "ring.bpf.h"

#include <rdma/ib_user_verbs.h>

#include "source/probe/commands.bpf.h"

#define BEGIN(rec, symbol)						\
	struct eadm_probe_rec rec;					\
									\
	of_nothing(&rec, EADM_PROBE_CALL, EADM_PROBE_FN_##symbol)
#define END(rec, symbol) enter(&(rec), OP_##symbol)

/* ---- devices -------------------------------------------------------------- */

/*
 * Used for a device without a typed pointer. Before registration, the device has
 * neither a name nor a number.
 */
static __always_inline void of_found_device(struct eadm_probe_rec *rec,
					    struct ib_device *dev)
{
	struct eadm_probe_dev *cell;
	__u32 index, at;

	if (!PEEK(dev, name[0]))
		return;
	index = PEEK(dev, index);
	rec->dev = index;
	at = index & (EADM_PROBE_DEVS - 1);
	cell = bpf_map_lookup_elem(&devs, &at);
	if (!cell || cell->index == index + 1)
		return;
	bpf_probe_read_kernel(cell->name, sizeof(cell->name), &dev->name);
	cell->calls = 0;
	cell->events = 0;
	cell->index = index + 1;
}

/* ---- numbers of new objects ------------------------------------------------ */

static __always_inline struct eadm_probe_rec *call_of(__u32 op)
{
	__u64 key = call_key(op);

	return bpf_map_lookup_elem(&in_flight, &key);
}

#define OWNER_OF(res, type)						\
	((struct type *)((char *)(res) - bpf_core_field_offset(struct type, res)))
/* If the call has no pointer to the device, the new object has one. */
#define OF_OWNER(rec, res, type) do {					\
	if (probe_may_read && (rec)->dev == EADM_PROBE_NONE)		\
		of_found_device(rec, PEEK(OWNER_OF(res, type), device));	\
} while (0)

/*
 * Stores the number that RDMA netlink uses for a new object in the record of the call
 * that creates the object.
 */
static __always_inline int numbered(struct rdma_restrack_entry *res)
{
	__u32 id = GET(res, id);
	struct eadm_probe_rec *rec;

	switch (GET(res, type)) {
	case RDMA_RESTRACK_PD:
		rec = call_of(EADM_CMD_OP_ALLOC_PD);
		if (!rec)
			return 0;
		rec->pdn = id;
		OF_OWNER(rec, res, ib_pd);
		return 0;
	case RDMA_RESTRACK_CQ:
		rec = call_of(EADM_CMD_OP_CREATE_CQ);
		if (!rec)
			return 0;
		rec->cqn = id;
		if (probe_may_read)
			rec->entries = PEEK(OWNER_OF(res, ib_cq), cqe);
		OF_OWNER(rec, res, ib_cq);
		return 0;
	case RDMA_RESTRACK_QP:
		rec = call_of(EADM_CMD_OP_CREATE_QP);
		if (!rec)
			return 0;
		rec->qpn = id;
		if (probe_may_read)
			rec->qp_type = PEEK(OWNER_OF(res, ib_qp), qp_type);
		OF_OWNER(rec, res, ib_qp);
		return 0;
	case RDMA_RESTRACK_SRQ:
		rec = call_of(EADM_CMD_OP_CREATE_SRQ);
		if (rec)
			rec->srqn = id;
		return 0;
	case RDMA_RESTRACK_MR:
		rec = call_of(EADM_CMD_OP_REG_MR);
		if (!rec)
			rec = call_of(EADM_CMD_OP_ALLOC_MR);
		if (!rec)
			rec = call_of(EADM_CMD_OP_REREG_MR);
		if (!rec)
			return 0;
		rec->mrn = id;
		OF_OWNER(rec, res, ib_mr);
		return 0;
	case RDMA_RESTRACK_CTX:
		rec = call_of(EADM_CMD_OP_ALLOC_CTX);
		if (rec)
			OF_OWNER(rec, res, ib_ucontext);
		return 0;
	default:
		return 0;
	}
}

#ifdef EADM_PROBE_KPROBE
/*
 * The object that a thread is numbering, until the function returns. The map is not
 * visible to readers.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EADM_PROBE_IN_FLIGHT);
	__type(key, __u64);
	__type(value, __u64);
} numbering SEC(".maps");

SEC("kprobe/rdma_restrack_add")
int BPF_KPROBE(enter_rdma_restrack_add, struct rdma_restrack_entry *res)
{
	__u64 key = bpf_get_current_pid_tgid(), value = (__u64)res;

	bpf_map_update_elem(&numbering, &key, &value, BPF_ANY);
	return 0;
}

SEC("kretprobe/rdma_restrack_add")
int leave_rdma_restrack_add(struct pt_regs *ctx)
{
	__u64 key = bpf_get_current_pid_tgid(), *value;

	value = bpf_map_lookup_elem(&numbering, &key);
	if (!value)
		return 0;
	numbered((struct rdma_restrack_entry *)*value);
	bpf_map_delete_elem(&numbering, &key);
	return 0;
}
#else
SEC("fexit/rdma_restrack_add")
int BPF_PROG(leave_rdma_restrack_add, struct rdma_restrack_entry *res)
{
	return numbered(res);
}
#endif

/* ---- QPs ------------------------------------------------------------------- */

static __always_inline void of_pd(struct eadm_probe_rec *rec, struct ib_pd *pd)
{
	if (!pd)
		return;
	rec->pdn = GET(pd, res.id);
	of_device(rec, GET(pd, device));
}

/* Not all kernels number SRQs. */
static __always_inline __u32 srqn_of(struct ib_srq *srq)
{
	if (!bpf_core_field_exists(struct ib_srq, res))
		return EADM_PROBE_NONE;
	return GET(srq, res.id);
}

struct qp_parts {
	struct ib_device *device;
	struct ib_cq *send_cq;
	struct ib_srq *srq;
	__u32 qpn, type;
};

#ifdef EADM_PROBE_KPROBE
/*
 * Reading a few words more costs less than another call of the helper. Where the members
 * are further apart, they are read one by one; the kernel's offsets are constants by the
 * time the programs are verified.
 */
#define PART(bytes, base, qp, member) ({				\
	__u32 at_ = bpf_core_field_offset(qp->member) - (base);		\
	__typeof__(qp->member) v_;					\
									\
	if (at_ <= sizeof(bytes) - sizeof(v_))				\
		v_ = *(__typeof__(v_) *)((char *)(bytes) + at_);	\
	else								\
		v_ = PEEK(qp, member);					\
	v_; })

static __always_inline void take_parts(struct qp_parts *parts, struct ib_qp *qp)
{
	__u64 head[10], numbers[2];
	__u32 base = bpf_core_field_offset(qp->device);

	bpf_probe_read_kernel(head, sizeof(head), &qp->device);
	parts->device = PART(head, base, qp, device);
	parts->send_cq = PART(head, base, qp, send_cq);
	parts->srq = PART(head, base, qp, srq);
	base = bpf_core_field_offset(qp->qp_num);
	bpf_probe_read_kernel(numbers, sizeof(numbers), &qp->qp_num);
	parts->qpn = PART(numbers, base, qp, qp_num);
	parts->type = PART(numbers, base, qp, qp_type);
}
#else
static __always_inline void take_parts(struct qp_parts *parts, struct ib_qp *qp)
{
	parts->device = qp->device;
	parts->send_cq = qp->send_cq;
	parts->srq = qp->srq;
	parts->qpn = qp->qp_num;
	parts->type = qp->qp_type;
}
#endif

static __always_inline void of_qp(struct eadm_probe_rec *rec, struct ib_qp *qp)
{
	struct qp_parts parts;

	take_parts(&parts, qp);
	of_device(rec, parts.device);
	rec->qpn = parts.qpn;
	rec->qp_type = parts.type;
	if (parts.send_cq)
		rec->cqn = GET(parts.send_cq, res.id);
	if (parts.srq)
		rec->srqn = srqn_of(parts.srq);
}

static __always_inline void of_new_qp(struct eadm_probe_rec *rec,
				      struct ib_qp_init_attr *attr)
{
	struct ib_cq *cq = GET(attr, send_cq);
	struct ib_srq *srq = GET(attr, srq);

	rec->entries = GET(attr, cap.max_send_wr);
	rec->recv_entries = GET(attr, cap.max_recv_wr);
	rec->qp_type = GET(attr, qp_type);
	if (cq)
		rec->cqn = GET(cq, res.id);
	if (srq)
		rec->srqn = srqn_of(srq);
}

ENTER(ib_create_qp_user, struct ib_device *dev, struct ib_pd *pd,
      struct ib_qp_init_attr *attr)
{
	BEGIN(rec, ib_create_qp_user);
	of_pd(&rec, pd);
	of_device(&rec, dev);
	of_new_qp(&rec, attr);
	return END(rec, ib_create_qp_user);
}

ENTER(ib_create_qp_kernel, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	BEGIN(rec, ib_create_qp_kernel);
	of_pd(&rec, pd);
	of_new_qp(&rec, attr);
	return END(rec, ib_create_qp_kernel);
}

ENTER(ib_create_qp, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	BEGIN(rec, ib_create_qp);
	of_pd(&rec, pd);
	of_new_qp(&rec, attr);
	return END(rec, ib_create_qp);
}

static __always_inline void of_modification(struct eadm_probe_rec *rec,
					    struct ib_qp *qp,
					    struct ib_qp_attr *attr, int mask)
{
	of_qp(rec, qp);
	if (mask & IB_QP_STATE)
		rec->new_state = GET(attr, qp_state);
	if (mask & IB_QP_DEST_QPN)
		rec->peer_qpn = GET(attr, dest_qp_num);
	if (mask & IB_QP_TIMEOUT)
		rec->timeout = GET(attr, timeout);
	if (!(mask & IB_QP_AV))
		return;
	rec->port = GET(attr, ah_attr.port_num);
	rec->gid_index = GET(attr, ah_attr.grh.sgid_index);
	rec->peer.family = 6;
	rec->peer.bytes[0] = GET_U64(&attr->ah_attr.grh.dgid.raw[0]);
	rec->peer.bytes[1] = GET_U64(&attr->ah_attr.grh.dgid.raw[8]);
}

ENTER(ib_modify_qp_with_udata, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	BEGIN(rec, ib_modify_qp_with_udata);
	of_modification(&rec, qp, attr, mask);
	return END(rec, ib_modify_qp_with_udata);
}

ENTER(ib_modify_qp, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	BEGIN(rec, ib_modify_qp);
	of_modification(&rec, qp, attr, mask);
	return END(rec, ib_modify_qp);
}

#define QP_CALL(symbol)							\
	ENTER(symbol, struct ib_qp *qp)					\
	{								\
		BEGIN(rec, symbol);					\
		of_qp(&rec, qp);					\
		return END(rec, symbol);				\
	}

QP_CALL(ib_query_qp)
QP_CALL(ib_destroy_qp_user)

LEAVE_OBJECT(ib_create_qp_user, 6)
LEAVE_OBJECT(ib_create_qp_kernel, 3)
LEAVE_OBJECT(ib_create_qp, 2)
LEAVE(ib_modify_qp_with_udata, 4)
LEAVE(ib_modify_qp, 3)
LEAVE(ib_query_qp, 4)
LEAVE(ib_destroy_qp_user, 2)

/* ---- operations of ib_uverbs itself ------------------------------------------ */

static __always_inline void of_file(struct eadm_probe_rec *rec,
				    struct uverbs_attr_bundle *attrs)
{
	/* Kernels whose modules have no types export only those of ib_core. */
	if (bpf_core_type_exists(struct uverbs_attr_bundle) &&
	    bpf_core_type_exists(struct ib_uverbs_file))
		of_device(rec, GET(GET(GET(attrs, ufile), device), ib_dev));
}

/*
 * The request is still in the process's memory. If reading kernel memory is forbidden,
 * libbpf uses a different helper, which reads user memory and is then forbidden, too.
 */
static __always_inline bool read_request(struct uverbs_attr_bundle *attrs,
					 void *request, __u32 size)
{
	return probe_may_read &&
	       bpf_core_type_exists(struct uverbs_attr_bundle) && GET(attrs, ucore.inlen) >= size &&
	       !bpf_probe_read_user(request, size, GET(attrs, ucore.inbuf));
}

#define FILE_CALL(symbol)						\
	ENTER(symbol, struct uverbs_attr_bundle *attrs)			\
	{								\
		BEGIN(rec, symbol);					\
		of_file(&rec, attrs);					\
		return END(rec, symbol);				\
	}								\
	LEAVE(symbol, 1)

FILE_CALL(ib_uverbs_create_qp)
FILE_CALL(ib_uverbs_ex_create_qp)
FILE_CALL(ib_uverbs_handler_UVERBS_METHOD_QP_CREATE)
FILE_CALL(ib_uverbs_create_cq)
FILE_CALL(ib_uverbs_ex_create_cq)
FILE_CALL(ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE)
FILE_CALL(ib_uverbs_resize_cq)
FILE_CALL(ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR)
FILE_CALL(ib_uverbs_modify_srq)
FILE_CALL(ib_uverbs_alloc_pd)
FILE_CALL(ib_uverbs_get_context)
FILE_CALL(ib_uverbs_handler_UVERBS_METHOD_GET_CONTEXT)
FILE_CALL(ib_uverbs_alloc_mw)

/* Set before the programs are loaded. */
const volatile __u64 probe_page_size = 4096;

/* Returns the size of the pages that a registration pins; their address is not kept. */
static __always_inline __u64 size_of_pages(const struct ib_uverbs_reg_mr *request)
{
	__u64 mask = probe_page_size - 1;

	if (request->access_flags & EADM_MR_ACCESS_ON_DEMAND)
		return 0;
	return ((request->start + request->length + mask) & ~mask) -
	       (request->start & ~mask);
}

/*
 * Stores the process's limit on pinned memory, and what the process pins including the
 * registration. The limit does not apply to a process with CAP_IPC_LOCK in the initial
 * user namespace; root in a container may have the capability in another one.
 */
static __always_inline void of_limits(struct eadm_probe_rec *rec,
				      const struct ib_uverbs_reg_mr *request)
{
	struct task_struct *task = this_task();
	struct signal_struct *signal = GET(task, signal);
	struct mm_struct *mm = GET(task, mm);
	struct cred *cred = (struct cred *)GET(task, cred);
	struct user_namespace *ns = GET(cred, user_ns);
	__u64 caps = GET_U64(&cred->cap_effective);
	__u64 pages = 0;

	if (mm)
		pages = GET_U64(&mm->pinned_vm);
	rec->pinned = pages * probe_page_size + size_of_pages(request);
	if (!(caps >> CAP_IPC_LOCK & 1) || GET(ns, level))
		rec->memlock = GET_U64(&signal->rlim[RLIMIT_MEMLOCK].rlim_cur);
}

ENTER(ib_uverbs_reg_mr, struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_reg_mr request = {};
	BEGIN(rec, ib_uverbs_reg_mr);

	of_file(&rec, attrs);
	if (read_request(attrs, &request, sizeof(request))) {
		rec.size = request.length;
		rec.access = request.access_flags;
	}
	of_limits(&rec, &request);
	return END(rec, ib_uverbs_reg_mr);
}

ENTER(ib_uverbs_rereg_mr, struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_rereg_mr request = {};
	BEGIN(rec, ib_uverbs_rereg_mr);

	of_file(&rec, attrs);
	if (read_request(attrs, &request, sizeof(request))) {
		rec.size = request.length;
		rec.access = request.access_flags;
	}
	return END(rec, ib_uverbs_rereg_mr);
}

LEAVE(ib_uverbs_reg_mr, 1)
LEAVE(ib_uverbs_rereg_mr, 1)

/* ---- CQs, MRs, AHs, SRQs, PDs ---------------------------------------------- */

ENTER(__ib_create_cq, struct ib_device *dev)
{
	BEGIN(rec, __ib_create_cq);
	of_device(&rec, dev);
	return END(rec, __ib_create_cq);
}

ENTER(__ib_alloc_cq, struct ib_device *dev, void *private, int entries)
{
	BEGIN(rec, __ib_alloc_cq);
	of_device(&rec, dev);
	rec.entries = entries;
	return END(rec, __ib_alloc_cq);
}

#define CQ_CALL(symbol)							\
	ENTER(symbol, struct ib_cq *cq)					\
	{								\
		BEGIN(rec, symbol);					\
		of_device(&rec, GET(cq, device));			\
		rec.cqn = GET(cq, res.id);				\
		return END(rec, symbol);				\
	}

CQ_CALL(ib_destroy_cq_user)
CQ_CALL(ib_free_cq)
CQ_CALL(ib_resize_cq)

LEAVE_OBJECT(__ib_create_cq, 6)
LEAVE_OBJECT(__ib_alloc_cq, 6)
LEAVE(ib_destroy_cq_user, 2)
LEAVE_VOID(ib_free_cq, 1)
LEAVE(ib_resize_cq, 2)

ENTER(ib_reg_user_mr, struct ib_pd *pd, __u64 start, __u64 length, __u64 iova,
      int access)
{
	BEGIN(rec, ib_reg_user_mr);
	of_pd(&rec, pd);
	rec.size = length;
	rec.access = access;
	return END(rec, ib_reg_user_mr);
}

ENTER(ib_alloc_mr, struct ib_pd *pd, int type, __u32 entries)
{
	BEGIN(rec, ib_alloc_mr);
	of_pd(&rec, pd);
	rec.entries = entries;
	return END(rec, ib_alloc_mr);
}

ENTER(ib_dereg_mr_user, struct ib_mr *mr)
{
	BEGIN(rec, ib_dereg_mr_user);
	of_pd(&rec, GET(mr, pd));
	of_device(&rec, GET(mr, device));
	rec.mrn = GET(mr, res.id);
	return END(rec, ib_dereg_mr_user);
}

ENTER(uverbs_dealloc_mw, struct ib_mw *mw)
{
	BEGIN(rec, uverbs_dealloc_mw);
	of_device(&rec, GET(mw, device));
	return END(rec, uverbs_dealloc_mw);
}

LEAVE_OBJECT(ib_reg_user_mr, 5)
LEAVE_OBJECT(ib_alloc_mr, 3)
LEAVE(ib_dereg_mr_user, 2)
LEAVE(uverbs_dealloc_mw, 1)

static __always_inline void of_ah_attr(struct eadm_probe_rec *rec,
				       struct rdma_ah_attr *attr)
{
	rec->port = GET(attr, port_num);
	rec->gid_index = GET(attr, grh.sgid_index);
	rec->peer.family = 6;
	rec->peer.bytes[0] = GET_U64(&attr->grh.dgid.raw[0]);
	rec->peer.bytes[1] = GET_U64(&attr->grh.dgid.raw[8]);
}

#define NEW_AH_CALL(symbol)						\
	ENTER(symbol, struct ib_pd *pd, struct rdma_ah_attr *attr)	\
	{								\
		BEGIN(rec, symbol);					\
		of_pd(&rec, pd);					\
		of_ah_attr(&rec, attr);					\
		return END(rec, symbol);				\
	}								\
	LEAVE_OBJECT(symbol, 3)

NEW_AH_CALL(rdma_create_user_ah)
NEW_AH_CALL(rdma_create_ah)

ENTER(rdma_destroy_ah_user, struct ib_ah *ah)
{
	BEGIN(rec, rdma_destroy_ah_user);
	of_pd(&rec, GET(ah, pd));
	return END(rec, rdma_destroy_ah_user);
}

LEAVE(rdma_destroy_ah_user, 3)

ENTER(ib_create_srq_user, struct ib_pd *pd, struct ib_srq_init_attr *attr)
{
	BEGIN(rec, ib_create_srq_user);
	of_pd(&rec, pd);
	rec.entries = GET(attr, attr.max_wr);
	return END(rec, ib_create_srq_user);
}

LEAVE_OBJECT(ib_create_srq_user, 4)

#define SRQ_CALL(symbol, n_args)					\
	ENTER(symbol, struct ib_srq *srq)				\
	{								\
		BEGIN(rec, symbol);					\
		of_pd(&rec, GET(srq, pd));				\
		rec.srqn = srqn_of(srq);				\
		return END(rec, symbol);				\
	}								\
	LEAVE(symbol, n_args)

SRQ_CALL(ib_modify_srq, 3)
SRQ_CALL(ib_query_srq, 2)
SRQ_CALL(ib_destroy_srq_user, 2)

ENTER(__ib_alloc_pd, struct ib_device *dev)
{
	BEGIN(rec, __ib_alloc_pd);
	of_device(&rec, dev);
	return END(rec, __ib_alloc_pd);
}

ENTER(ib_dealloc_pd_user, struct ib_pd *pd)
{
	BEGIN(rec, ib_dealloc_pd_user);
	of_pd(&rec, pd);
	return END(rec, ib_dealloc_pd_user);
}

LEAVE_OBJECT(__ib_alloc_pd, 3)
LEAVE(ib_dealloc_pd_user, 2)

/* ---- commands of drivers --------------------------------------------------- */

/* Names of structs describe how to get from an argument to the device. */
#define COMMAND_CALL(symbol, n_args, request, of_device, offset, size)	\
	ENTER_ANY(symbol)						\
	{								\
		BEGIN(rec, symbol);					\
		bpf_probe_read_kernel(&rec.command, size,		\
				      (char *)PARM_##request(ctx) + (offset)); \
		if (knows_device_of_##symbol())				\
			of_found_device(&rec, (void *)PARM_##of_device(ctx) + \
					      device_of_##symbol());	\
		return END(rec, symbol);				\
	}								\
	LEAVE(symbol, n_args)

EADM_PROBE_COMMAND_PROGRAMS(COMMAND_CALL)

/* ---- connections ----------------------------------------------------------- */

#define AF_INET 2
#define AF_INET6 10

static __always_inline void read_addr(struct eadm_probe_addr *addr,
				      struct __kernel_sockaddr_storage *sa)
{
	__u16 family = GET(sa, ss_family);

	addr->port = GET_U16(&sa->__data[0]);
	if (family == AF_INET) {
		addr->family = 4;
		addr->bytes[0] = GET_U32(&sa->__data[2]);
	} else if (family == AF_INET6) {
		addr->family = 6;
		addr->bytes[0] = GET_U64(&sa->__data[6]);
		addr->bytes[1] = GET_U64(&sa->__data[14]);
	}
}

static __always_inline void of_cm_id(struct eadm_probe_rec *rec,
				     struct rdma_cm_id *id)
{
	if (!bpf_core_type_exists(struct rdma_cm_id))
		return;
	of_device(rec, GET(id, device));
	read_addr(&rec->local, &id->route.addr.src_addr);
	read_addr(&rec->peer, &id->route.addr.dst_addr);
}

#define CM_CALL(symbol, n_args)						\
	ENTER(symbol, struct rdma_cm_id *id)				\
	{								\
		BEGIN(rec, symbol);					\
		of_cm_id(&rec, id);					\
		of_cm_number(&rec, id);					\
		return END(rec, symbol);				\
	}								\
	LEAVE(symbol, n_args)

/* The consumer's part of an endpoint is the first member of the whole struct. */
static __always_inline void of_cm_number(struct eadm_probe_rec *rec,
					 struct rdma_cm_id *id)
{
	struct rdma_id_private *whole;

	if (!probe_may_read || !bpf_core_type_exists(struct rdma_id_private))
		return;
	whole = (struct rdma_id_private *)id;
	if (PEEK(whole, res.valid))
		rec->cm_id = PEEK(whole, res.id);
	rec->qpn = PEEK(whole, qp_num);
	if (!rec->qpn)
		rec->qpn = EADM_PROBE_NONE;
}

CM_CALL(rdma_bind_addr, 2)
CM_CALL(rdma_resolve_route, 2)
CM_CALL(rdma_listen, 2)
CM_CALL(rdma_connect, 2)
CM_CALL(rdma_connect_locked, 2)
CM_CALL(rdma_accept, 2)
CM_CALL(rdma_reject, 4)
CM_CALL(rdma_disconnect, 1)

/* The endpoint does not have the peer's address yet. */
ENTER(rdma_resolve_addr, struct rdma_cm_id *id, void *from, void *to)
{
	BEGIN(rec, rdma_resolve_addr);
	of_cm_id(&rec, id);
	of_cm_number(&rec, id);
	if (probe_may_read) {
		struct __kernel_sockaddr_storage *sa = to;
		__u16 family = 0;

		bpf_probe_read_kernel(&family, 2, &sa->ss_family);
		bpf_probe_read_kernel(&rec.peer.port, 2, &sa->__data[0]);
		if (family == AF_INET) {
			rec.peer.family = 4;
			bpf_probe_read_kernel(rec.peer.bytes, 4, &sa->__data[2]);
		} else if (family == AF_INET6) {
			rec.peer.family = 6;
			bpf_probe_read_kernel(rec.peer.bytes, 16, &sa->__data[6]);
		}
	}
	return END(rec, rdma_resolve_addr);
}

LEAVE(rdma_resolve_addr, 4)

static __always_inline int cm_event(struct rdma_id_private *id,
				    struct rdma_cm_event *event)
{
	struct eadm_probe_rec rec;

	/* The verifier assumes that a tracepoint may pass NULL for either argument. */
	if (!id || !event)
		return 0;
	of_nothing(&rec, EADM_PROBE_CM, EADM_PROBE_FN_cm_event_handler);
	of_cm_id(&rec, &id->id);
	if (GET(id, res.valid))
		rec.cm_id = GET(id, res.id);
	rec.qpn = GET(id, qp_num);
	if (!rec.qpn)
		rec.qpn = EADM_PROBE_NONE;
	rec.event = GET(event, event);
	rec.status = GET(event, status);
	rec.private_data = GET(event, param.conn.private_data_len);
	of_owner(&rec, GET(id, res.task));
	emit(&rec, false);
	return 0;
}

#ifdef EADM_PROBE_KPROBE
SEC("raw_tp/cm_event_handler")
int event_cm_event_handler(struct bpf_raw_tracepoint_args *ctx)
{
	return cm_event((void *)ctx->args[0], (void *)ctx->args[1]);
}
#else
SEC("tp_btf/cm_event_handler")
int BPF_PROG(event_cm_event_handler, struct rdma_id_private *id,
	     struct rdma_cm_event *event)
{
	return cm_event(id, event);
}
#endif

/* ---- asynchronous events, GIDs --------------------------------------------- */

static __always_inline void of_peeked_owner(struct eadm_probe_rec *rec,
					    struct task_struct *task)
{
	if (!task) {
		rec->flags |= EADM_PROBE_KERNEL;
		return;
	}
	rec->pid = PEEK(task, tgid);
	bpf_probe_read_kernel(rec->comm, sizeof(rec->comm), &task->comm);
}

/* To the verifier, a union has the type of its first member, here a CQ. */
static __always_inline int qp_event(struct ib_event *event, __u8 function,
				    bool kernel)
{
	struct ib_qp *qp = (struct ib_qp *)(unsigned long)GET(event, element.cq);
	struct eadm_probe_rec rec;

	if (kernel && (!probe_may_read || PEEK(qp, uobject)))
		return 0;
	of_nothing(&rec, EADM_PROBE_ASYNC, function);
	of_device(&rec, GET(event, device));
	rec.event = GET(event, event);
	if (probe_may_read) {
		rec.qpn = PEEK(qp, qp_num);
		rec.qp_type = PEEK(qp, qp_type);
		of_peeked_owner(&rec, PEEK(qp, res.task));
	}
	emit(&rec, false);
	return 0;
}

EVENT(ib_uverbs_qp_event_handler, struct ib_event *event)
{
	return qp_event(event, EADM_PROBE_FN_ib_uverbs_qp_event_handler, false);
}

/* Called for all QPs; calls the ib_uverbs handler for those of processes. */
EVENT(__ib_qp_event_handler, struct ib_event *event)
{
	return qp_event(event, EADM_PROBE_FN___ib_qp_event_handler, true);
}

EVENT(ib_uverbs_cq_event_handler, struct ib_event *event)
{
	struct ib_cq *cq = GET(event, element.cq);
	struct eadm_probe_rec rec;

	of_nothing(&rec, EADM_PROBE_ASYNC,
		   EADM_PROBE_FN_ib_uverbs_cq_event_handler);
	of_device(&rec, GET(cq, device));
	rec.cqn = GET(cq, res.id);
	rec.event = GET(event, event);
	of_owner(&rec, GET(cq, res.task));
	emit(&rec, false);
	return 0;
}

EVENT(ib_uverbs_srq_event_handler, struct ib_event *event)
{
	struct ib_srq *srq = (struct ib_srq *)(unsigned long)GET(event, element.cq);
	struct eadm_probe_rec rec;

	of_nothing(&rec, EADM_PROBE_ASYNC,
		   EADM_PROBE_FN_ib_uverbs_srq_event_handler);
	of_device(&rec, GET(event, device));
	rec.event = GET(event, event);
	if (probe_may_read && bpf_core_field_exists(struct ib_srq, res)) {
		rec.srqn = PEEK(srq, res.id);
		of_peeked_owner(&rec, PEEK(srq, res.task));
	}
	emit(&rec, false);
	return 0;
}

EVENT(ib_dispatch_event, struct ib_event *event)
{
	struct eadm_probe_rec rec;

	of_nothing(&rec, EADM_PROBE_ASYNC, EADM_PROBE_FN_ib_dispatch_event);
	of_device(&rec, GET(event, device));
	rec.event = GET(event, event);
	/*
	 * The port is in the first bytes of the same union, on a little-endian machine.
	 */
	rec.port = (__u32)(unsigned long)GET(event, element.cq);
	emit(&rec, false);
	return 0;
}

EVENT(add_modify_gid, struct ib_gid_table *table, struct ib_gid_attr *attr)
{
	struct eadm_probe_rec rec;

	of_nothing(&rec, EADM_PROBE_GID, EADM_PROBE_FN_add_modify_gid);
	of_device(&rec, GET(attr, device));
	rec.flags = EADM_PROBE_ADDED;
	rec.port = GET(attr, port_num);
	rec.gid_index = GET(attr, index);
	rec.local.family = 6;
	rec.local.bytes[0] = GET_U64(&attr->gid.raw[0]);
	rec.local.bytes[1] = GET_U64(&attr->gid.raw[8]);
	of_caller(&rec);
	emit(&rec, false);
	return 0;
}

EVENT(del_gid, struct ib_device *dev, __u32 port, struct ib_gid_table *table,
      int index)
{
	struct eadm_probe_rec rec;

	of_nothing(&rec, EADM_PROBE_GID, EADM_PROBE_FN_del_gid);
	of_device(&rec, dev);
	rec.port = port;
	rec.gid_index = index;
	if (probe_may_read && bpf_core_type_exists(struct ib_gid_table_entry)) {
		char *places, *entry = 0;

		if (bpf_core_field_exists(struct ib_gid_table___follow, data_vec))
			places = (char *)table + bpf_core_field_offset(
				struct ib_gid_table___follow, data_vec);
		else
			places = (char *)GET(table, data_vec);
		bpf_probe_read_kernel(&entry, 8, places + 8ULL * (__u32)index);
		rec.local.family = 6;
		bpf_probe_read_kernel(rec.local.bytes, 16, entry +
			bpf_core_field_offset(struct ib_gid_table_entry, attr) +
			bpf_core_field_offset(struct ib_gid_attr, gid));
	}
	of_caller(&rec);
	emit(&rec, false);
	return 0;
}
