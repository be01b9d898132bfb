/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the rules of a diagnosis look at: rows with the fields that some rule
 * needs, and no others, so that many objects take little memory.
 */
#ifndef EADM_DIAG_MODEL_H
#define EADM_DIAG_MODEL_H

#include "eadm.h"

/* In the order in which they are read and judged. */
enum diag_kind {
	DIAG_DEV,
	DIAG_CMDQ,
	DIAG_CMD,
	DIAG_COUNTERS,
	DIAG_EQ,
	DIAG_CTX,
	DIAG_CQ,
	DIAG_QP,
	DIAG_CQE,	/* the newest ones of some CQs */
	DIAG_FAILURE,
	DIAG_MACHINE,	/* from here on: how the machine is set up */
	DIAG_VERBS,
	DIAG_MODULE,
	DIAG_SETUP,
	DIAG_IRQ,
	DIAG_KINDS,
};

/*
 * Of the recorder's commands those that failed, and those that succeeded late: an
 * adapter needs microseconds to milliseconds.
 */
#define DIAG_CMD_FAILED							\
	(1ULL << EADM_CMD_STATE_ERROR | 1ULL << EADM_CMD_STATE_TIMEOUT |	\
	 1ULL << EADM_CMD_STATE_LATE | 1ULL << EADM_CMD_STATE_ABORTED)
#define DIAG_CMD_SLOW_NS	1000000000ULL

/* Fields of each kind: F(name in C, name). At most 64 each. */
#define DIAG_DEV_FIELDS(F)						\
	F(DEV_STATE, "state") F(DEV_DRIVER, "driver")			\
	F(DEV_NETDEV, "netdev")						\
	F(DEV_MAC, "mac") F(DEV_NETDEV_MAC, "netdev-mac")		\
	F(DEV_PORT_STATE, "port-state") F(DEV_MTU, "mtu")		\
	F(DEV_QPS, "qps") F(DEV_MAX_QP, "max-qp")			\
	F(DEV_CQS, "cqs") F(DEV_MAX_CQ, "max-cq")			\
	F(DEV_MRS, "mrs") F(DEV_MAX_MR, "max-mr")			\
	F(DEV_PDS, "pds") F(DEV_MAX_PD, "max-pd")			\
	F(DEV_CTXS, "ctxs") F(DEV_MAX_CTX, "max-ctx")			\
	F(DEV_FW, "fw-version") F(DEV_VECTORS, "vectors")		\
	F(DEV_AGE, "age") F(DEV_ORPHANS, "orphans")			\
	F(DEV_ORPHAN_BYTES, "orphan-bytes")				\
	F(DEV_AHS, "ahs") F(DEV_MAX_AH, "max-ah")

#define DIAG_CMDQ_FIELDS(F)						\
	F(CMDQ_STATE, "state") F(CMDQ_SQ_PI, "sq-pi")			\
	F(CMDQ_SQ_CI, "sq-ci") F(CMDQ_OUTSTANDING, "outstanding")	\
	F(CMDQ_SUBMITTED, "submitted") F(CMDQ_COMPLETED, "completed")	\
	F(CMDQ_ERRORS, "errors") F(CMDQ_TIMEOUTS, "timeouts")		\
	F(CMDQ_LATE, "late") F(CMDQ_SPURIOUS, "spurious")		\
	F(CMDQ_RECOVERIES, "recoveries")				\
	F(CMDQ_FAILED_RECOVERIES, "failed-recoveries")			\
	F(CMDQ_CREDITS, "credits") F(CMDQ_TIMEOUT, "timeout")		\
	F(CMDQ_LAST_SUBMIT_AGE, "last-submit-age")			\
	F(CMDQ_LAST_COMP_AGE, "last-comp-age")				\
	F(CMDQ_OLDEST_AGE, "oldest-age")				\
	F(CMDQ_LAST_SPURIOUS, "last-spurious-age")

#define DIAG_CMD_FIELDS(F)						\
	F(CMD_TIME, "time") F(CMD_OP, "op") F(CMD_STATE, "state")	\
	F(CMD_STATUS, "status") F(CMD_SYNDROME_RAW, "syndrome-raw")		\
	F(CMD_LATENCY, "latency") F(CMD_PID, "pid") F(CMD_COMM, "comm")	\
	F(CMD_FIRST_TIMEOUT, "first-timeout")

#define DIAG_COUNTERS_FIELDS(F)						\
	F(CNT_TX_PACKETS, "tx-packets") F(CNT_TX_BYTES, "tx-bytes")	\
	F(CNT_RX_PACKETS, "rx-packets") F(CNT_RX_BYTES, "rx-bytes")	\
	F(CNT_TX_DISABLED_DROPS, "tx-disabled-drops")			\
	F(CNT_TX_BPS_DROPS, "tx-bps-limit-drops")			\
	F(CNT_TX_PPS_DROPS, "tx-pps-limit-drops")			\
	F(CNT_RX_DISABLED_DROPS, "rx-disabled-drops")			\
	F(CNT_RX_BPS_DROPS, "rx-bps-limit-drops")			\
	F(CNT_RX_PPS_DROPS, "rx-pps-limit-drops")			\
	F(CNT_QP_FAILURES, "qp-create-failures")			\
	F(CNT_CQ_FAILURES, "cq-create-failures")			\
	F(CNT_MR_FAILURES, "mr-register-failures")			\
	F(CNT_CTX_FAILURES, "ctx-alloc-failures")			\
	F(CNT_RETRANS_PACKETS, "retransmitted-packets")			\
	F(CNT_RETRANSMITS, "retransmits")				\
	F(CNT_ACK_TIMEOUTS, "ack-timeouts")				\
	F(CNT_OUT_OF_SEQUENCE, "out-of-sequence")			\
	F(CNT_RX_RNR, "rx-rnr-naks") F(CNT_TX_RNR, "tx-rnr-naks")	\
	F(CNT_NO_RECV, "no-receive-buffer")				\
	F(CNT_RETRIES_EXCEEDED, "retries-exceeded")			\
	F(CNT_RNR_EXCEEDED, "rnr-retries-exceeded")			\
	F(CNT_LINK_DOWNS, "link-downs") F(CNT_HW_ERROR, "hw-error")	\
	F(CNT_KEEP_ALIVES, "keep-alive-events")				\
	F(CNT_PD_FAILURES, "pd-alloc-failures")				\
	F(CNT_AH_FAILURES, "ah-create-failures")			\
	F(CNT_MMAP_FAILURES, "mmap-failures")				\
	F(CNT_CMDS_TIMED_OUT, "cmds-timed-out")				\
	F(CNT_UNRESPONSIVE, "unresponsive-peers")			\
	F(CNT_IMPAIRED, "impaired-peers") F(CNT_RX_DROPS, "rx-drops")	\
	F(CNT_READ_ERRORS, "read-errors")				\
	F(CNT_WRITE_ERRORS, "write-errors")

#define DIAG_EQ_FIELDS(F)						\
	F(EQ_ROLE, "role") F(EQ_EQN, "eqn") F(EQ_VECTOR, "vector")	\
	F(EQ_IRQ, "irq") F(EQ_DEPTH, "depth") F(EQ_CI, "ci")		\
	F(EQ_PENDING, "pending") F(EQ_INTERRUPTS, "interrupts")		\
	F(EQ_EVENTS, "events") F(EQ_UNKNOWN, "unknown")			\
	F(EQ_MISSED, "missed")						\
	F(EQ_LAST_EVENT_AGE, "last-event-age")				\
	F(EQ_HW_SUPPRESSED, "hw-suppressed")				\
	F(EQ_HW_OVERFLOW, "hw-overflow") F(EQ_HW_ERROR, "hw-error")	\
	F(EQ_LAST_MISSED, "last-missed-age")				\
	F(EQ_LAST_UNKNOWN, "last-unknown-age")				\
	F(EQ_LAST_ALIVE, "last-keep-alive-age")				\
	F(EQ_KEEP_ALIVES, "keep-alive-events") F(EQ_AGE, "age")

#define DIAG_CTX_FIELDS(F)						\
	F(CTX_PID, "pid") F(CTX_COMM, "comm") F(CTX_QPS, "qps")		\
	F(CTX_CQS, "cqs") F(CTX_MRS, "mrs") F(CTX_PDS, "pds")		\
	F(CTX_AGE, "age")

#define DIAG_CQ_FIELDS(F)						\
	F(CQ_PID, "pid") F(CQ_COMM, "comm") F(CQ_DEPTH, "depth")	\
	F(CQ_CI, "ci") F(CQ_VECTOR, "vector") F(CQ_EQN, "eqn")		\
	F(CQ_ARMED, "armed") F(CQ_SOLICITED, "solicited")		\
	F(CQ_NOTIFY_REQUESTS, "notify-requests") F(CQ_EVENTS, "events")	\
	F(CQ_ERRORS, "errors") F(CQ_USERS, "users") F(CQ_USER, "user")	\
	F(CQ_CHANNEL, "channel") F(CQ_AGE, "age")			\
	F(CQ_LAST_EVENT_AGE, "last-event-age") F(CQ_HW_PI, "hw-pi")	\
	F(CQ_HW_ERROR, "hw-error") F(CQ_LAST_EXTRA, "last-extra-age")	\
	F(CQ_SUBS, "subs")

#define DIAG_QP_FIELDS(F)						\
	F(QP_PID, "pid") F(QP_COMM, "comm") F(QP_STATE, "state")	\
	F(QP_SEND_CQN, "send-cqn") F(QP_RECV_CQN, "recv-cqn")		\
	F(QP_SQ_DEPTH, "sq-depth") F(QP_SQ_PI, "sq-pi")			\
	F(QP_SQ_CI, "sq-ci") F(QP_RQ_DEPTH, "rq-depth")			\
	F(QP_RQ_PI, "rq-pi") F(QP_RQ_CI, "rq-ci") F(QP_USER, "user")	\
	F(QP_LOCAL_ADDR, "local-addr") F(QP_LOCAL_PORT, "local-port")	\
	F(QP_PEER_ADDR, "peer-addr") F(QP_PEER_PORT, "peer-port")	\
	F(QP_AGE, "age") F(QP_STATE_AGE, "state-age")			\
	F(QP_LAST_POST_AGE, "last-post-age")				\
	F(QP_LAST_COMP_AGE, "last-comp-age") F(QP_EVENTS, "events")	\
	F(QP_FIRST_EVENT, "first-event")				\
	F(QP_FIRST_CAUSE, "first-cause")				\
	F(QP_FIRST_EVENT_AGE, "first-event-age")			\
	F(QP_HW_SQ_PI, "hw-sq-pi") F(QP_HW_SQ_CI, "hw-sq-ci")		\
	F(QP_HW_RQ_PI, "hw-rq-pi") F(QP_HW_RQ_CI, "hw-rq-ci")		\
	F(QP_HW_SEND_CQES, "hw-send-cqes")				\
	F(QP_HW_RECV_CQES, "hw-recv-cqes")				\
	F(QP_HW_TX_PACKETS, "hw-tx-packets")				\
	F(QP_HW_RX_PACKETS, "hw-rx-packets")				\
	F(QP_HW_RX_ERROR_DROPS, "hw-rx-error-drops")			\
	F(QP_HW_RX_INVALID_DROPS, "hw-rx-invalid-drops")		\
	F(QP_HW_RTO, "hw-rto-retrans") F(QP_HW_ERROR, "hw-error")

#define DIAG_CQE_FIELDS(F)						\
	F(CQE_CQN, "cqn") F(CQE_PHASE, "phase") F(CQE_OP, "op")		\
	F(CQE_OP_RAW, "op-raw")						\
	F(CQE_QUEUE, "queue") F(CQE_STATUS, "status")			\
	F(CQE_WQE_INDEX, "wqe-index") F(CQE_QPN, "qpn")			\
	F(CQE_BYTES, "bytes")						\
	/* No field: which part of the CQ it is in. */			\
	F(CQE_SUB, "")

#define DIAG_FAILURE_FIELDS(F)						\
	F(FAIL_AGE, "age") F(FAIL_KIND, "kind") F(FAIL_ID, "id")	\
	F(FAIL_CAUSE, "cause") F(FAIL_SYNDROME_RAW, "syndrome-raw")	\
	F(FAIL_ERROR, "error") F(FAIL_TIMES, "times")			\
	F(FAIL_PID, "pid") F(FAIL_COMM, "comm") F(FAIL_ENDED, "ended")	\
	F(FAIL_PEER_ADDR, "peer-addr") F(FAIL_PEER_PORT, "peer-port")	\
	F(FAIL_TIME, "time") F(FAIL_QPN, "qpn")

#define DIAG_MACHINE_FIELDS(F)						\
	F(MACHINE_CPUS, "cpus") F(MACHINE_MEMLOCK, "memlock")		\
	F(MACHINE_NETNS, "netns-mode") F(MACHINE_LOCKDOWN, "lockdown")	\
	F(MACHINE_HUGE, "huge-pages") F(MACHINE_HUGE_FREE, "huge-pages-free") \
	F(MACHINE_COPY_ON_FORK, "copy-on-fork")

#define DIAG_VERBS_FIELDS(F)						\
	F(VERBS_INSTALLED, "installed") F(VERBS_PROVIDERS, "providers")	\
	F(VERBS_CM_ERROR, "rdma-cm-error")

#define DIAG_MODULE_FIELDS(F)						\
	F(MOD_NAME, "name") F(MOD_LOADED, "loaded")			\
	F(MOD_VERSION, "version") F(MOD_ORIGIN, "origin")

#define DIAG_SETUP_FIELDS(F)						\
	F(SETUP_DRIVER, "driver") F(SETUP_VERSION, "driver-version")	\
	F(SETUP_NETDEV, "netdev") F(SETUP_MTU, "netdev-mtu")		\
	F(SETUP_IPV4, "netdev-ipv4") F(SETUP_GID_INDEX, "gid-index")	\
	F(SETUP_GID, "gid") F(SETUP_UVERBS, "uverbs")			\
	F(SETUP_UVERBS_ERROR, "uverbs-error") F(SETUP_IOMMU, "iommu")

#define DIAG_IRQ_FIELDS(F)						\
	F(IRQ_ROLE, "role") F(IRQ_CPUS, "affinity")

#define DIAG_FIELD(name, text) name,
enum { DIAG_DEV_FIELDS(DIAG_FIELD) DIAG_DEV_N };
enum { DIAG_CMDQ_FIELDS(DIAG_FIELD) DIAG_CMDQ_N };
enum { DIAG_CMD_FIELDS(DIAG_FIELD) DIAG_CMD_N };
enum { DIAG_COUNTERS_FIELDS(DIAG_FIELD) DIAG_COUNTERS_N };
enum { DIAG_EQ_FIELDS(DIAG_FIELD) DIAG_EQ_N };
enum { DIAG_CTX_FIELDS(DIAG_FIELD) DIAG_CTX_N };
enum { DIAG_CQ_FIELDS(DIAG_FIELD) DIAG_CQ_N };
enum { DIAG_QP_FIELDS(DIAG_FIELD) DIAG_QP_N };
enum { DIAG_CQE_FIELDS(DIAG_FIELD) DIAG_CQE_N };
enum { DIAG_FAILURE_FIELDS(DIAG_FIELD) DIAG_FAILURE_N };
enum { DIAG_MACHINE_FIELDS(DIAG_FIELD) DIAG_MACHINE_N };
enum { DIAG_VERBS_FIELDS(DIAG_FIELD) DIAG_VERBS_N };
enum { DIAG_MODULE_FIELDS(DIAG_FIELD) DIAG_MODULE_N };
enum { DIAG_SETUP_FIELDS(DIAG_FIELD) DIAG_SETUP_N };
enum { DIAG_IRQ_FIELDS(DIAG_FIELD) DIAG_IRQ_N };
#undef DIAG_FIELD

union diag_value {
	uint64_t u;
	const char *s;		/* fields that are no numbers, as text */
};

struct diag_row {
	uint64_t dev;		/* index */
	uint64_t id;		/* of its key field */
	uint64_t time;		/* when it was read, ns since 1970 */
	uint64_t has;		/* bit for each field */
	union diag_value *value;
	const unsigned char *bits;	/* of each field: see diag_bits() */
	const char *device;	/* name */
};

struct diag_rows {
	struct diag_row *row;	/* by device and id */
	size_t n, max;
};

/* Memory that is given back all at once. */
struct diag_block;

struct diag_pool {
	struct diag_block *blocks;
	size_t used;
};

void *eadm_diag_alloc(struct diag_pool *pool, size_t size);
char *eadm_diag_strdup(struct diag_pool *pool, const char *text);
void eadm_diag_pool_free(struct diag_pool *pool);

/* What rules look at besides the rows of their kind. */
enum diag_input {
	DIAG_STATE,	/* what the companion shows of the driver */
	DIAG_HW,	/* the adapter's own contexts */
	DIAG_RINGS,	/* bytes of queues */
	DIAG_OWNERS,	/* whether a process is there */
	DIAG_INPUTS,
};

#define DIAG_NEEDS(input) (1u << (input))

/* Why a device does not have one of them. */
enum diag_lack {
	DIAG_LACK_NONE,
	DIAG_LACK_FAMILY,	/* it is not of a kind that has them */
	DIAG_LACK_COMPANION,	/* the module is not loaded */
	DIAG_LACK_DRIVER,	/* a driver that shows nothing */
	DIAG_LACK_SILENT,	/* the module does not answer */
	DIAG_LACK_RIGHT,
	DIAG_LACK_LOCKDOWN,
	DIAG_LACK_ASKED,	/* nobody asked for it */
	DIAG_LACK_ADAPTER,	/* the adapter does not answer */
	DIAG_LACK_NODE,		/* no char device */
	DIAG_LACK_PIDNS,
	DIAG_LACK_CAPTURE,	/* it was not recorded */
	DIAG_LACK_SNAPSHOT,	/* there is no earlier snapshot */
	DIAG_LACKS,
};

/* What there is of a device, in the order in which devices were read. */
struct diag_inputs {
	uint64_t dev;
	const char *device;
	enum diag_lack lack[DIAG_INPUTS];
	const char *why[DIAG_INPUTS];	/* in the library's words, or NULL */
};

struct diag_note {
	int error;
	const char *device, *what, *why;
};

/* What the entries show of a part of a CQ whose adapter does not say how many it wrote. */
struct diag_part {
	uint64_t dev, cqn, sub;
	uint64_t place;		/* of the next one, plus the depth in each other lap */
	bool has_hole;		/* an entry has the phase of another lap, those behind it do not */
	uint64_t hole;		/* which one */
};

/* What a process does that owns queues. */
struct diag_owner {
	uint64_t pid;
	uint32_t state;		/* EADM_PROCESS_STATE_* */
	bool frozen;		/* with its control group */
	const char *wchan;	/* function it sleeps in, "": not known */
	const char *group;	/* path of its control group, "": not known */
};

/* What was read at one time. */
struct diag_snapshot {
	uint64_t time;		/* of the first row, 0: there is none */
	int64_t clock_step;	/* the machine's clock less the time of rows */
	bool owners_known;	/* who has no PID has ended */
	uint64_t uptime;	/* of the machine, ns; 0: not known */
	struct diag_rows rows[DIAG_KINDS];
	struct diag_pool pool;
	struct diag_note *notes;
	unsigned int n_notes;
	size_t max_notes;
	struct diag_inputs *inputs;
	unsigned int n_inputs;
	size_t max_inputs;
	struct diag_part *parts;
	size_t n_parts, max_parts;
	struct diag_owner *owners;	/* by PID */
	size_t n_owners, max_owners;
};

/* The fields above, as the library describes them. */
struct diag_fields {
	const struct eadm_object *object;
	/* Those above, then states that only a family has. */
	unsigned int n, n_named;
	const struct eadm_field *field[64];
	unsigned char slot[256];	/* by position in the object; n: none */
	unsigned int n_all;
	const struct eadm_field *dev_index, *dev_name;
};

const char *eadm_diag_kind_name(enum diag_kind kind);
void eadm_diag_fields_init(struct diag_fields fields[DIAG_KINDS]);

int eadm_diag_snapshot_read(struct diag_snapshot *snapshot,
			    const struct diag_fields fields[DIAG_KINDS],
			    struct eadm_ctx *ctx,
			    const struct eadm_sample_opts *opts);
void eadm_diag_snapshot_free(struct diag_snapshot *snapshot);

const struct diag_row *eadm_diag_find(const struct diag_snapshot *snapshot,
				      enum diag_kind kind, uint64_t dev,
				      uint64_t id);

/* The same part of a CQ in a snapshot, or NULL. */
const struct diag_part *eadm_diag_part(const struct diag_snapshot *snapshot,
				       const struct diag_part *part);

/* owner.c */
int eadm_diag_owners_read(struct diag_snapshot *snapshot, struct eadm_ctx *ctx);
const struct diag_owner *eadm_diag_owner(const struct diag_snapshot *snapshot,
					 uint64_t pid);

static inline bool diag_has(const struct diag_row *row, unsigned int field)
{
	return row && row->has >> field & 1;
}

/* 0 where nobody knows: ask diag_has() where that matters. */
static inline uint64_t diag_u64(const struct diag_row *row, unsigned int field)
{
	return diag_has(row, field) ? row->value[field].u : 0;
}

static inline const char *diag_text(const struct diag_row *row,
				    unsigned int field)
{
	return diag_has(row, field) ? row->value[field].s : "";
}

static inline bool diag_same(const struct diag_row *a, const struct diag_row *b,
			     unsigned int field)
{
	return diag_has(a, field) && diag_has(b, field) &&
	       a->value[field].u == b->value[field].u;
}

/*
 * How wide a counter is, or an index of the device's family: 64 also where that
 * is not known.
 */
static inline unsigned int diag_bits(const struct diag_row *row,
				     unsigned int field)
{
	return row->bits[field] ? row->bits[field] : 64;
}

/* From one number to another, which may have wrapped to 0 in between. */
static inline uint64_t diag_distance(uint64_t to, uint64_t from,
				     unsigned int bits)
{
	uint64_t delta = to - from;

	if (bits < 64)
		return delta & ((1ULL << bits) - 1);
	/* Even 64 bits may wrap, but so much means that it began again. */
	return delta >> 63 ? 0 : delta;
}

/* What a counter or an index grew by; 0 when it is not known. */
static inline uint64_t diag_growth(const struct diag_row *now,
				   const struct diag_row *then,
				   unsigned int field)
{
	if (!diag_has(now, field) || !diag_has(then, field))
		return 0;
	return diag_distance(now->value[field].u, then->value[field].u,
			     diag_bits(now, field));
}

/* From one index of a row to another; 0 when either is not known. */
static inline uint32_t diag_apart(const struct diag_row *row, unsigned int to,
				  unsigned int from)
{
	if (!diag_has(row, to) || !diag_has(row, from))
		return 0;
	return diag_distance(row->value[to].u, row->value[from].u,
			     diag_bits(row, to));
}

#endif /* EADM_DIAG_MODEL_H */
