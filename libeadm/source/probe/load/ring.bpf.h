/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe's maps, and the handling of records common to all programs. A call is in
 * the map in_flight until it returns; then it becomes a record of the CPU on which it
 * returns. Programs may be preempted: therefore, a record's slot is reserved first, and
 * its number is written last.
 */
#ifndef EADM_PROBE_RING_H
#define EADM_PROBE_RING_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "eadm_values.h"
#include "../record.h"

/*
 * Reads through an untyped pointer or one of a different type. Some lockdown modes forbid
 * such reads. A kernel's member may be smaller than the one declared here.
 */
#define PEEK(p, member) ({						\
	__typeof__(p) p_ = (p);						\
	__typeof__(p_->member) v_;					\
	__u32 size_ = bpf_core_field_size(p_->member);			\
									\
	__builtin_memset(&v_, 0, sizeof(v_));				\
	bpf_probe_read_kernel(&v_, size_ < sizeof(v_) ? size_ : sizeof(v_), \
			      &p_->member);				\
	v_; })

#define PEEK_U64(p) ({ __u64 v_ = 0; bpf_probe_read_kernel(&v_, 8, (p)); v_; })

/* Typed pointers can be followed without a helper. */
#define FOLLOW(p, member) ((p)->member)
/*
 * Hides from the compiler that the value consists of bytes, each of which it would load
 * separately.
 */
#define FOLLOW_AS(type, p) ({						\
	const type *p_ = (const type *)(p);				\
									\
	asm volatile("" : "+r"(p_));					\
	*p_; })
#define FOLLOW_U64(p) FOLLOW_AS(__u64, p)

#ifdef EADM_PROBE_KPROBE
#define GET PEEK
#define GET_U64 PEEK_U64
#define GET_U32(p) ({ __u32 v_ = 0; bpf_probe_read_kernel(&v_, 4, (p)); v_; })
#define GET_U16(p) ({ __u16 v_ = 0; bpf_probe_read_kernel(&v_, 2, (p)); v_; })
#define PARM_0(ctx) PT_REGS_PARM1(ctx)
#define PARM_1(ctx) PT_REGS_PARM2(ctx)
#define PARM_2(ctx) PT_REGS_PARM3(ctx)
#define PARM_3(ctx) PT_REGS_PARM4(ctx)
/* For a function of whose arguments only the number is known. */
#define ENTER_ANY(symbol)						\
	SEC("kprobe/" #symbol) int enter_##symbol(struct pt_regs *ctx)
#define ENTER(symbol, args...)						\
	SEC("kprobe/" #symbol) int BPF_KPROBE(enter_##symbol, args)
#define LEAVE_(symbol, n_args, ret, pointer)				\
	SEC("kretprobe/" #symbol) int leave_##symbol(struct pt_regs *ctx) \
	{								\
		return leave(CALL(symbol), PT_REGS_RC(ctx) * (ret), pointer); \
	}
#define EVENT(symbol, args...)						\
	SEC("kprobe/" #symbol) int BPF_KPROBE(event_##symbol, args)
#else
#define GET FOLLOW
#define GET_U64 FOLLOW_U64
#define GET_U32(p) FOLLOW_AS(__u32, p)
#define GET_U16(p) FOLLOW_AS(__u16, p)
#define PARM_0(ctx) ((ctx)[0])
#define PARM_1(ctx) ((ctx)[1])
#define PARM_2(ctx) ((ctx)[2])
#define PARM_3(ctx) ((ctx)[3])
#define ENTER_ANY(symbol)						\
	SEC("fentry/" #symbol) int enter_##symbol(unsigned long long *ctx)
#define ENTER(symbol, args...)						\
	SEC("fentry/" #symbol) int BPF_PROG(enter_##symbol, args)
#define LEAVE_(symbol, n_args, ret, pointer)				\
	SEC("fexit/" #symbol) int leave_##symbol(unsigned long long *ctx) \
	{								\
		return leave(CALL(symbol), (ret) ? ctx[n_args] : 0, pointer); \
	}
#define EVENT(symbol, args...)						\
	SEC("fentry/" #symbol) int BPF_PROG(event_##symbol, args)
#endif

/* The end of a call that returns an errno, an object or nothing. */
#define LEAVE(symbol, n_args) LEAVE_(symbol, n_args, 1, false)
#define LEAVE_OBJECT(symbol, n_args) LEAVE_(symbol, n_args, 1, true)
#define LEAVE_VOID(symbol, n_args) LEAVE_(symbol, n_args, 0, false)

/* Number and class of a call. */
#define CALL(symbol) EADM_PROBE_FN_##symbol, OP_##symbol
#define OP_OF(symbol, module, op) OP_##symbol = EADM_CMD_OP_##op,
#define OP_OF_COMMAND(symbol, module, family, n_args) OP_##symbol = EADM_PROBE_COMMAND,
enum {
	EADM_PROBE_CALLS(OP_OF)
	EADM_PROBE_COMMANDS(OP_OF_COMMAND)
};

char LICENSE[] SEC("license") = "GPL";

/* Set before the programs are loaded. */
const volatile __u32 probe_cpus = 1;
const volatile __u32 probe_slots = 1;
const volatile bool probe_may_read;
/* The kernel has types for its own structs, if not for those of modules. */
const volatile bool probe_knows_tasks;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct eadm_probe_rec);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct eadm_probe_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EADM_PROBE_DEVS);
	__type(key, __u32);
	__type(value, struct eadm_probe_dev);
} devs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct eadm_probe_info);
} info SEC(".maps");

/* Keyed by thread and class of call. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EADM_PROBE_IN_FLIGHT);
	__type(key, __u64);
	__type(value, struct eadm_probe_rec);
} in_flight SEC(".maps");

static __always_inline __u64 call_key(__u32 op)
{
	return (bpf_get_current_pid_tgid() << 8) | op;
}

static __always_inline void count_lost(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct eadm_probe_cpu *at = bpf_map_lookup_elem(&cpus, &cpu);

	if (at)
		__sync_fetch_and_add(&at->lost, 1);
}

/* Store a device and its name when it is first seen. */
static __always_inline void meet_device(struct ib_device *dev, __u32 index)
{
	__u32 at = index & (EADM_PROBE_DEVS - 1);
	struct eadm_probe_dev *cell = bpf_map_lookup_elem(&devs, &at);
	__u64 *name;
	int i;

	if (!cell || cell->index == index + 1)
		return;
	name = (__u64 *)cell->name;
#pragma unroll
	for (i = 0; i < EADM_PROBE_NAME / 8; i++)
		name[i] = GET_U64(&dev->name[8 * i]);
	cell->calls = 0;
	cell->events = 0;
	cell->index = index + 1;
}

static __always_inline void of_device(struct eadm_probe_rec *rec,
				      struct ib_device *dev)
{
	if (!dev)
		return;
	rec->dev = GET(dev, index);
	meet_device(dev, rec->dev);
}

static __always_inline void of_nothing(struct eadm_probe_rec *rec, __u8 kind,
				       __u8 function)
{
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->kind = kind;
	rec->function = function;
	rec->start = bpf_ktime_get_boot_ns();
	rec->size = ~0ULL;
	rec->memlock = ~0ULL;
	rec->dev = rec->qpn = rec->cqn = rec->mrn = rec->srqn = rec->pdn =
		rec->cm_id = rec->peer_qpn = rec->entries = rec->recv_entries =
			rec->port = rec->gid_index = EADM_PROBE_NONE;
	rec->access = EADM_PROBE_NONE;
	rec->qp_type = EADM_PROBE_NO_TYPE;
	rec->new_state = EADM_PROBE_NO_STATE;
}

static __always_inline struct task_struct *this_task(void)
{
#ifdef EADM_PROBE_KPROBE
	return (struct task_struct *)bpf_get_current_task();
#else
	return bpf_get_current_task_btf();
#endif
}

/* Defines a function that copies the data about a caller from its task. */
#define OF_TASK(name, GET, GET_U64)					\
static __always_inline void name(struct eadm_probe_rec *rec,		\
				 struct task_struct *task)		\
{									\
	__u64 *comm = (__u64 *)rec->comm;				\
	struct nsproxy *ns;						\
	__u32 flags;							\
									\
	comm[0] = GET_U64(&task->comm[0]);				\
	comm[1] = GET_U64(&task->comm[8]);				\
	flags = GET(task, flags);					\
	if (flags & PF_KTHREAD) {					\
		rec->flags |= EADM_PROBE_KERNEL;			\
		return;							\
	}								\
	/* An exiting process may have left its namespaces already. */	\
	ns = GET(task, nsproxy);					\
	if (ns)								\
		rec->netns = GET(GET(ns, net_ns), ns.inum);		\
	if (flags & PF_EXITING) {					\
		rec->flags |= EADM_PROBE_EXITING;			\
		rec->exit_signal = GET(task, exit_code) & 0x7f;		\
	}								\
}

#ifdef EADM_PROBE_KPROBE
OF_TASK(of_peeked_task, PEEK, PEEK_U64)
#endif
#ifndef EADM_PROBE_NO_FETCH
OF_TASK(of_typed_task, FOLLOW, FOLLOW_U64)
#endif

static __always_inline void of_this_task(struct eadm_probe_rec *rec)
{
#ifndef EADM_PROBE_KPROBE
	of_typed_task(rec, bpf_get_current_task_btf());
#else
#ifndef EADM_PROBE_NO_FETCH
	if (probe_knows_tasks) {
		of_typed_task(rec, bpf_get_current_task_btf());
		return;
	}
#endif
	of_peeked_task(rec, (struct task_struct *)bpf_get_current_task());
#endif
}

/* The running thread is the caller. */
static __always_inline void of_caller(struct eadm_probe_rec *rec)
{
	__u64 id = bpf_get_current_pid_tgid();

	rec->pid = id >> 32;
	rec->tid = id;
	rec->cgroup = bpf_get_current_cgroup_id();
	of_this_task(rec);
}

/*
 * The owner in an event is the process that created the object, which need not be
 * running.
 */
static __always_inline void of_owner(struct eadm_probe_rec *rec,
				     struct task_struct *task)
{
	__u64 *comm = (__u64 *)rec->comm;

	if (!task) {
		rec->flags |= EADM_PROBE_KERNEL;
		return;
	}
	rec->pid = GET(task, tgid);
	comm[0] = GET_U64(&task->comm[0]);
	comm[1] = GET_U64(&task->comm[8]);
}

/* ---- numbers ----------------------------------------------------------------- */

#ifdef EADM_PROBE_NO_FETCH
/*
 * Before Linux 5.12, atomic additions do not return a value. On these kernels, programs
 * run with preemption disabled, and only an interrupt can intervene: records that it
 * would have made in the meantime are lost and counted. x86 keeps the order of stores.
 */
#define barrier() asm volatile("" ::: "memory")

static __always_inline bool begin_record(struct eadm_probe_cpu *here)
{
	if (*(volatile __u64 *)&here->busy) {
		__sync_fetch_and_add(&here->lost, 1);
		return false;
	}
	*(volatile __u64 *)&here->busy = 1;
	barrier();
	return true;
}

static __always_inline void end_record(struct eadm_probe_cpu *here)
{
	barrier();
	*(volatile __u64 *)&here->busy = 0;
}

static __always_inline __u64 next_of_cpu(struct eadm_probe_cpu *here)
{
	__u64 n = *(volatile __u64 *)&here->head;

	*(volatile __u64 *)&here->head = n + 1;
	return n;
}

/*
 * CPUs exclude each other: a CPU that finds only its own addition has the lock until it
 * takes the addition back. Returns 0 if other CPUs were faster each time; the record then
 * has no number.
 */
static __always_inline __u64 next_of_device(struct eadm_probe_dev *cell,
					    __u64 *count)
{
	__u64 n;
	int i;

	for (i = 0; i < 100; i++) {
		__sync_fetch_and_add(&cell->lock, 1);
		if (*(volatile __u32 *)&cell->lock == 1) {
			n = *(volatile __u64 *)count + 1;
			*(volatile __u64 *)count = n;
			__sync_fetch_and_add(&cell->lock, -1);
			return n;
		}
		__sync_fetch_and_add(&cell->lock, -1);
	}
	return 0;
}

static __always_inline void set_number(struct eadm_probe_rec *slot, __u64 number)
{
	barrier();
	*(volatile __u64 *)&slot->number = number;
	barrier();
}
#else
static __always_inline bool begin_record(struct eadm_probe_cpu *here)
{
	return true;
}

static __always_inline void end_record(struct eadm_probe_cpu *here)
{
}

static __always_inline __u64 next_of_cpu(struct eadm_probe_cpu *here)
{
	return __sync_fetch_and_add(&here->head, 1);
}

static __always_inline __u64 next_of_device(struct eadm_probe_dev *cell,
					    __u64 *count)
{
	return 1 + __sync_fetch_and_add(count, 1);
}

static __always_inline void set_number(struct eadm_probe_rec *slot, __u64 number)
{
	__sync_lock_test_and_set(&slot->number, number);
}
#endif

/*
 * Copies all members except the number. For a call's record, the compiler would copy
 * each byte, because it cannot see that the maps' values are aligned. An event's
 * record, which is on the stack, need not even be stored; there, the verifier would
 * refuse a part of a pointer, which ib_dispatch_event() uses as a number.
 */
static __always_inline void copy_record(struct eadm_probe_rec *to,
					const struct eadm_probe_rec *from,
					bool is_call)
{
	typedef __u64 __attribute__((may_alias)) word;
	const word *in = (const word *)from;
	word *out = (word *)to;
	unsigned int i;

	_Static_assert(sizeof(*to) % sizeof(*out) == 0 && sizeof(to->number) == sizeof(*out),
		       "a record consists of words, of which the first is its number");
	if (!is_call) {
		__builtin_memcpy((char *)to + sizeof(to->number),
				 (const char *)from + sizeof(from->number),
				 sizeof(*from) - sizeof(from->number));
		return;
	}
#pragma unroll
	for (i = 1; i < sizeof(*to) / sizeof(*out); i++)
		out[i] = in[i];
}

static __always_inline void emit(struct eadm_probe_rec *rec, bool is_call)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct eadm_probe_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	struct eadm_probe_rec *slot;
	struct eadm_probe_dev *cell;
	__u64 n;

	if (!here || cpu >= probe_cpus || !begin_record(here))
		return;
	n = next_of_cpu(here);
	at = cpu * probe_slots + (n & (probe_slots - 1));
	slot = bpf_map_lookup_elem(&records, &at);
	at = rec->dev & (EADM_PROBE_DEVS - 1);
	cell = bpf_map_lookup_elem(&devs, &at);
	if (!slot || !cell)
		goto end;
	set_number(slot, 0);
	if (rec->dev != EADM_PROBE_NONE)
		rec->seq = next_of_device(cell, is_call ? &cell->calls :
							  &cell->events);
	copy_record(slot, rec, is_call);
	set_number(slot, n + 1);
end:
	end_record(here);
}

/*
 * A call begins. If the call is part of a different call of its class, only the outer
 * call counts.
 */
static __always_inline int enter(struct eadm_probe_rec *rec, __u32 op)
{
	__u64 key = call_key(op);
	struct eadm_probe_rec *outer;

	of_caller(rec);
	if (!bpf_map_update_elem(&in_flight, &key, rec, BPF_NOEXIST))
		return 0;
	/* The return of an earlier call of the same function may have been missed. */
	outer = bpf_map_lookup_elem(&in_flight, &key);
	if (outer && outer->function == rec->function) {
#ifdef EADM_PROBE_KPROBE
		/*
		 * The kernel had no return probe left. Programs that it skips, the only
		 * cause at the other level, are counted by the kernel.
		 */
		count_lost();
#endif
		bpf_map_update_elem(&in_flight, &key, rec, BPF_ANY);
	}
	return 0;
}

static __always_inline int leave(__u8 function, __u32 op, long ret, bool pointer)
{
	__u64 key = call_key(op);
	struct eadm_probe_rec *rec = bpf_map_lookup_elem(&in_flight, &key);

	if (!rec) {
		count_lost();
		return 0;
	}
	/* Part of a different call, which counts. */
	if (rec->function != function)
		return 0;
	if (!pointer || (unsigned long)ret >= (unsigned long)-4095)
		rec->status = ret;
	rec->end = bpf_ktime_get_boot_ns();
	emit(rec, true);
	bpf_map_delete_elem(&in_flight, &key);
	return 0;
}

#endif /* EADM_PROBE_RING_H */
