/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data that the rules of a diagnosis examine. Rows contain only the fields that some
 * rule needs, so that many objects take little memory.
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
	DIAG_CQE,	/* the newest CQEs of some CQs */
	DIAG_FAILURE,
	DIAG_CALL,	/* from the probe: the calls that some rule examines */
	DIAG_EVENT,	/* from the probe */
	DIAG_LINK,	/* network interface of the device */
	DIAG_HEALTH,	/* health reporters of its adapter */
	DIAG_QP_COUNTER, /* counters: one row per name; names of the same counter have the same number */
	DIAG_PORT,	/* none in a capture of an earlier version */
	DIAG_CGROUP,	/* control groups with limits for the device */
	DIAG_USER,	/* processes that have libibverbs loaded */
	DIAG_FALLBACK,	/* reasons why SMC connections use TCP */
	DIAG_MACHINE,	/* this and the following kinds: the setup */
	DIAG_VERBS,
	DIAG_MODULE,
	DIAG_SETUP,
	DIAG_IRQ,
	DIAG_FUNCTION,	/* PCI functions of adapters */
	DIAG_KINDS,
};

/*
 * Commands in the flight recorder that failed or completed late: an adapter usually
 * needs microseconds to milliseconds.
 */
#define DIAG_CMD_FAILED							\
	(1ULL << EADM_CMD_STATE_ERROR | 1ULL << EADM_CMD_STATE_TIMEOUT |	\
	 1ULL << EADM_CMD_STATE_LATE | 1ULL << EADM_CMD_STATE_ABORTED)
#define DIAG_CMD_SLOW_NS	1000000000ULL

/* Fields of each kind: F(name in C, name). Each kind has at most 64. */
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
	F(DEV_AHS, "ahs") F(DEV_MAX_AH, "max-ah")			\
	F(DEV_MAX_SEND_WR, "max-send-wr") F(DEV_MAX_RECV_WR, "max-recv-wr") \
	F(DEV_MAX_CQE, "max-cqe")					\
	F(DEV_SIDE, "side") F(DEV_BACKEND_STATE, "backend-state")	\
	F(DEV_VMM, "vmm-pid") F(DEV_LOST_SESSIONS, "lost-sessions")	\
	F(DEV_LAST_LOST, "last-lost-session-age")			\
	F(DEV_PINNED, "pinned") F(DEV_MAX_PINNED, "max-pinned")		\
	F(DEV_GUEST_MEMORY, "guest-memory")				\
	F(DEV_REFUSALS, "quota-refusals")				\
	F(DEV_LAST_REFUSAL, "last-quota-refusal-age")			\
	F(DEV_ACTIVE_MTU, "active-mtu") F(DEV_MAX_MTU, "max-mtu")

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
	F(CMDQ_LAST_SPURIOUS, "last-spurious-age")			\
	F(CMDQ_SLOW_REGS, "slow-registrations")				\
	F(CMDQ_SLOWEST_REG, "slowest-registration")			\
	F(CMDQ_LAST_SLOW_REG, "last-slow-registration-age")

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
	F(CNT_WRITE_ERRORS, "write-errors")				\
	F(CNT_REMOTE_ACCESS, "remote-access-errors")			\
	F(CNT_REMOTE_INVALID, "remote-invalid-requests")		\
	F(CNT_RX_ACCESS, "rx-access-errors")				\
	F(CNT_RX_LENGTH, "rx-length-errors")				\
	F(CNT_SEQUENCE_NAKS, "rx-sequence-naks")			\
	F(CNT_IMPLIED_NAKS, "implied-naks")

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
	F(EQ_KEEP_ALIVES, "keep-alive-events") F(EQ_AGE, "age")		\
	F(EQ_WAITING, "waiting") F(EQ_UNDELIVERED, "undelivered")	\
	F(EQ_LAST_UNDELIVERED, "last-undelivered-age")

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
	F(CQ_SUBS, "subs") F(CQ_MADE, "made")

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
	F(QP_HW_RTO, "hw-rto-retrans") F(QP_HW_ERROR, "hw-error")	\
	F(QP_BACKEND_STATE, "backend-state")				\
	F(QP_WAITS_FOR, "waits-for") F(QP_RETRIES, "retries")		\
	F(QP_TYPE, "type") F(QP_DEST_QPN, "dest-qpn") F(QP_PORT, "port")

#define DIAG_CQE_FIELDS(F)						\
	F(CQE_CQN, "cqn") F(CQE_PHASE, "phase") F(CQE_OP, "op")		\
	F(CQE_OP_RAW, "op-raw")						\
	F(CQE_QUEUE, "queue") F(CQE_STATUS, "status")			\
	F(CQE_WQE_INDEX, "wqe-index") F(CQE_QPN, "qpn")			\
	F(CQE_BYTES, "bytes")						\
	/* Not a field: number of the part of the CQ. */			\
	F(CQE_SUB, "")

#define DIAG_FAILURE_FIELDS(F)						\
	F(FAIL_AGE, "age") F(FAIL_KIND, "kind") F(FAIL_ID, "id")	\
	F(FAIL_CAUSE, "cause") F(FAIL_SYNDROME_RAW, "syndrome-raw")	\
	F(FAIL_ERROR, "error") F(FAIL_TIMES, "times")			\
	F(FAIL_PID, "pid") F(FAIL_COMM, "comm") F(FAIL_ENDED, "ended")	\
	F(FAIL_PEER_ADDR, "peer-addr") F(FAIL_PEER_PORT, "peer-port")	\
	F(FAIL_TIME, "time") F(FAIL_QPN, "qpn")

#define DIAG_CALL_FIELDS(F)						\
	F(CALL_TIME, "time") F(CALL_OP, "op") F(CALL_STATE, "state")	\
	F(CALL_STATUS, "status") F(CALL_LATENCY, "latency")		\
	F(CALL_PID, "pid") F(CALL_COMM, "comm") F(CALL_TID, "tid")	\
	F(CALL_FUNCTION, "function") F(CALL_QPN, "qpn") F(CALL_CQN, "cqn") \
	F(CALL_MRN, "mrn") F(CALL_CM_ID, "cm-id") F(CALL_SIZE, "size")	\
	F(CALL_ENTRIES, "entries") F(CALL_RECV_ENTRIES, "recv-entries")	\
	F(CALL_NEW_STATE, "new-state") F(CALL_PORT, "port")		\
	F(CALL_GID_INDEX, "gid-index") F(CALL_PEER_GID, "peer-gid")	\
	F(CALL_PEER_QPN, "peer-qpn") F(CALL_EXIT, "exit-signal")	\
	F(CALL_MEMLOCK, "memlock") F(CALL_PINNED, "pinned")		\
	F(CALL_OP_RAW, "op-raw")

#define DIAG_EVENT_FIELDS(F)						\
	F(EVENT_TIME, "time") F(EVENT_TYPE, "type") F(EVENT_CM, "cm-event") \
	F(EVENT_STATUS, "status") F(EVENT_STEP, "step")			\
	F(EVENT_CM_ID, "cm-id") F(EVENT_QPN, "qpn")			\
	F(EVENT_PEER_ADDR, "peer-addr") F(EVENT_PEER_PORT, "peer-port")	\
	F(EVENT_PORT, "port") F(EVENT_GID_INDEX, "gid-index")		\
	F(EVENT_GID, "gid") F(EVENT_PID, "pid") F(EVENT_COMM, "comm")

#define DIAG_LINK_FIELDS(F)						\
	F(LINK_NETDEV, "netdev") F(LINK_RX_ERRORS, "rx-errors")		\
	F(LINK_RX_MISSED, "rx-missed") F(LINK_TX_ERRORS, "tx-errors")	\
	F(LINK_RX_PAUSES, "rx-pauses") F(LINK_RX_PFC, "rx-pfc")		\
	F(LINK_PFC, "pfc") F(LINK_UNRESOLVED, "unresolved")

#define DIAG_HEALTH_FIELDS(F)						\
	F(HEALTH_REPORTER, "reporter") F(HEALTH_STATE, "state")		\
	F(HEALTH_ERRORS, "errors") F(HEALTH_RECOVERIES, "recoveries")	\
	F(HEALTH_AUTO, "auto-recover")

#define DIAG_QP_COUNTER_FIELDS(F)					\
	F(QPC_QPNS, "qpns") F(QPC_NAME, "name") F(QPC_VALUE, "value")

#define DIAG_CGROUP_FIELDS(F)						\
	F(CG_PATH, "path") F(CG_OWN, "own")				\
	F(CG_HANDLES, "handles") F(CG_MAX_HANDLES, "max-handles")	\
	F(CG_OBJECTS, "objects") F(CG_MAX_OBJECTS, "max-objects")

#define DIAG_PORT_FIELDS(F)						\
	F(PORT_STATE, "state") F(PORT_NETDEV, "netdev")			\
	F(PORT_LID, "lid") F(PORT_SM_LID, "sm-lid")

#define DIAG_USER_FIELDS(F)						\
	F(USER_PID, "pid") F(USER_COMM, "comm")				\
	F(USER_LIBRARIES, "libraries") F(USER_FILES, "files")		\
	F(USER_SOCKETS, "sockets") F(USER_TX, "tx-bytes")		\
	F(USER_RX, "rx-bytes") F(USER_HIDDEN, "hidden")			\
	F(USER_REMOVED, "removed-files") F(USER_COPIES, "verbs-copies")	\
	F(USER_UNMATCHED, "unmatched")

#define DIAG_FALLBACK_FIELDS(F)						\
	F(FALLBACK_CODE, "code") F(FALLBACK_CLIENTS, "clients")		\
	F(FALLBACK_SERVERS, "servers")

#define DIAG_MACHINE_FIELDS(F)						\
	F(MACHINE_CPUS, "cpus") F(MACHINE_MEMLOCK, "memlock")		\
	F(MACHINE_NETNS, "netns-mode") F(MACHINE_LOCKDOWN, "lockdown")	\
	F(MACHINE_HUGE, "huge-pages") F(MACHINE_HUGE_FREE, "huge-pages-free") \
	F(MACHINE_COPY_ON_FORK, "copy-on-fork")				\
	F(MACHINE_IPC_LOCK, "ipc-lock")

#define DIAG_VERBS_FIELDS(F)						\
	F(VERBS_INSTALLED, "installed") F(VERBS_PROVIDERS, "providers")	\
	F(VERBS_CM_ERROR, "rdma-cm-error") F(VERBS_DEVICES, "devices")	\
	F(VERBS_CONFIGURED, "configured") F(VERBS_FAULTS, "faults")	\
	F(VERBS_CM_DEVICES, "cm-devices")

#define DIAG_MODULE_FIELDS(F)						\
	F(MOD_NAME, "name") F(MOD_LOADED, "loaded")			\
	F(MOD_VERSION, "version") F(MOD_ORIGIN, "origin")

#define DIAG_SETUP_FIELDS(F)						\
	F(SETUP_DRIVER, "driver") F(SETUP_VERSION, "driver-version")	\
	F(SETUP_NETDEV, "netdev") F(SETUP_MTU, "netdev-mtu")		\
	F(SETUP_IPV4, "netdev-ipv4") F(SETUP_GID_INDEX, "gid-index")	\
	F(SETUP_GID, "gid") F(SETUP_UVERBS, "uverbs")			\
	F(SETUP_UVERBS_ERROR, "uverbs-error") F(SETUP_IOMMU, "iommu")	\
	F(SETUP_IPV6, "netdev-ipv6") F(SETUP_GID_NETDEV, "gid-netdev")	\
	F(SETUP_SUBNET, "subnet") F(SETUP_ARP_ANSWERS, "arp-answers")	\
	F(SETUP_ARP_IGNORE, "arp-ignore")				\
	F(SETUP_ARP_ANNOUNCE, "arp-announce")				\
	F(SETUP_RP_FILTER, "rp-filter")					\
	F(SETUP_ROUTE_NETDEV, "route-netdev") F(SETUP_GID_TYPE, "gid-type") \
	F(SETUP_GID_SCOPE, "gid-scope") F(SETUP_GID_USABLE, "gid-usable") \
	F(SETUP_GID_OTHERS, "gid-others")				\
	F(SETUP_ADDRESS_VLAN, "address-vlan") F(SETUP_BOND, "bond")	\
	F(SETUP_STANDBY, "bond-standby")				\
	F(SETUP_DRIVER_INTERFACE, "driver-interface")			\
	F(SETUP_COMPANION_INTERFACE, "companion-interface")

#define DIAG_IRQ_FIELDS(F)						\
	F(IRQ_ROLE, "role") F(IRQ_CPUS, "affinity")

#define DIAG_FUNCTION_FIELDS(F)						\
	F(FUNC_FAMILY, "family") F(FUNC_ADDRESS, "address")		\
	F(FUNC_DRIVER, "driver") F(FUNC_OVERRIDE, "override")		\
	F(FUNC_DEVICES, "devices") F(FUNC_MODULE, "module")

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
enum { DIAG_CALL_FIELDS(DIAG_FIELD) DIAG_CALL_N };
enum { DIAG_EVENT_FIELDS(DIAG_FIELD) DIAG_EVENT_N };
enum { DIAG_LINK_FIELDS(DIAG_FIELD) DIAG_LINK_N };
enum { DIAG_HEALTH_FIELDS(DIAG_FIELD) DIAG_HEALTH_N };
enum { DIAG_QP_COUNTER_FIELDS(DIAG_FIELD) DIAG_QP_COUNTER_N };
enum { DIAG_CGROUP_FIELDS(DIAG_FIELD) DIAG_CGROUP_N };
enum { DIAG_PORT_FIELDS(DIAG_FIELD) DIAG_PORT_N };
enum { DIAG_USER_FIELDS(DIAG_FIELD) DIAG_USER_N };
enum { DIAG_FALLBACK_FIELDS(DIAG_FIELD) DIAG_FALLBACK_N };
enum { DIAG_MACHINE_FIELDS(DIAG_FIELD) DIAG_MACHINE_N };
enum { DIAG_VERBS_FIELDS(DIAG_FIELD) DIAG_VERBS_N };
enum { DIAG_MODULE_FIELDS(DIAG_FIELD) DIAG_MODULE_N };
enum { DIAG_SETUP_FIELDS(DIAG_FIELD) DIAG_SETUP_N };
enum { DIAG_IRQ_FIELDS(DIAG_FIELD) DIAG_IRQ_N };
enum { DIAG_FUNCTION_FIELDS(DIAG_FIELD) DIAG_FUNCTION_N };
#undef DIAG_FIELD

union diag_value {
	uint64_t u;
	const char *s;		/* text of fields that are not numbers */
};

struct diag_row {
	uint64_t dev;		/* device index */
	uint64_t id;		/* value of its key field */
	uint64_t time;		/* time of reading, ns since 1970 */
	uint64_t has;		/* one bit for each field */
	union diag_value *value;	/* values of the fields that it has, in the
					 * order of the fields */
	const unsigned char *place;	/* index of each field's value */
	const unsigned char *bits;	/* counter width of each field: see diag_bits() */
	const char *device;	/* device name */
};

struct diag_rows {
	struct diag_row *row;	/* sorted by device and id */
	size_t n, max;
};

/* Memory that is freed all at once. */
struct diag_block;

struct diag_pool {
	struct diag_block *blocks;
	size_t used;
};

void *eadm_diag_alloc(struct diag_pool *pool, size_t size);
char *eadm_diag_strdup(struct diag_pool *pool, const char *text);
void eadm_diag_pool_free(struct diag_pool *pool);

/* Inputs of rules besides the rows of their kind. */
enum diag_input {
	DIAG_STATE,	/* the driver's state, from the companion */
	DIAG_HW,	/* the adapter's own contexts */
	DIAG_RINGS,	/* contents of queues */
	DIAG_OWNERS,	/* whether a process exists */
	DIAG_INPUTS,
};

#define DIAG_NEEDS(input) (1u << (input))

/* Reason why a device lacks an input. */
enum diag_lack {
	DIAG_LACK_NONE,
	DIAG_LACK_FAMILY,	/* not supported by the family */
	DIAG_LACK_STOCK,	/* stock driver of a family for which eadm has no driver */
	DIAG_LACK_COMPANION,	/* the companion is not loaded */
	DIAG_LACK_DRIVER,	/* a driver that does not support the companion */
	DIAG_LACK_SILENT,	/* the companion does not respond */
	DIAG_LACK_RIGHT,
	DIAG_LACK_LOCKDOWN,
	DIAG_LACK_ASKED,	/* the input was not requested */
	DIAG_LACK_ADAPTER,	/* the adapter does not respond */
	DIAG_LACK_NODE,		/* no char device */
	DIAG_LACK_PIDNS,
	DIAG_LACK_CAPTURE,	/* not in the capture */
	DIAG_LACK_SNAPSHOT,	/* there is no earlier snapshot */
	DIAG_LACKS,
};

/* Inputs of a device; in a snapshot, in the order in which devices were read. */
struct diag_inputs {
	uint64_t dev;
	const char *device;
	enum diag_lack lack[DIAG_INPUTS];
	const char *why[DIAG_INPUTS];	/* the library's own explanation, or NULL */
};

struct diag_note {
	int error;
	const char *device, *what, *why;
};

/*
 * Findings from the entries of a part of a CQ if the adapter does not report how many
 * it has written.
 */
struct diag_part {
	uint64_t dev, cqn, sub;
	uint64_t place;		/* index of the next entry, plus the depth in every second lap */
	bool has_hole;		/* an entry has the wrong phase, and entries
				 * after it have the right one */
	uint64_t hole;		/* index of that entry */
};

/* State of a process that owns queues. */
struct diag_owner {
	uint64_t pid;
	uint32_t state;		/* EADM_PROCESS_STATE_* */
	bool frozen;		/* together with its control group */
	const char *wchan;	/* function in which it sleeps; "": unknown */
	const char *group;	/* path of its control group; "": unknown */
	bool has_limit;		/* the members below are known */
	bool ipc_lock;		/* the limit does not apply to registration */
	uint64_t memlock, pinned; /* bytes */
	uint64_t files, max_files; /* number of open files, and its limit; 0: unknown */
};

/*
 * Memory regions that a process created and destroyed, as recorded by the probe since
 * its last missing record of the device.
 */
struct diag_registrar {
	uint64_t dev, pid;
	uint64_t made, destroyed;
	uint64_t bytes;			/* total size of created regions */
	uint64_t first, last;		/* first and last record, ns since 1970 */
	int64_t grown[4];		/* created minus destroyed in each quarter of
					 * that time range */
};

/* All data that was read at one time. */
struct diag_snapshot {
	uint64_t time;		/* time of the first row; 0: no rows */
	int64_t clock_step;	/* the machine's clock minus the rows' clock */
	bool owners_known;	/* the process of an owner without a PID has ended */
	uint64_t uptime;	/* uptime of the machine, ns; 0: unknown */
	struct diag_rows rows[DIAG_KINDS];
	struct diag_pool pool;
	struct diag_note *notes;
	unsigned int n_notes;
	size_t max_notes;
	struct diag_inputs *inputs;
	unsigned int n_inputs;
	size_t max_inputs;
	struct diag_part *parts;	/* sorted by device, CQ and number */
	size_t n_parts, max_parts;
	struct diag_owner *owners;	/* sorted by PID */
	size_t n_owners, max_owners;
	uint64_t *qp_pids;		/* PIDs of processes with QPs, sorted */
	size_t n_qp_pids, max_qp_pids;
	struct diag_registrar *registrars;
	size_t n_registrars, max_registrars;
	bool short_of;		/* the probe recorded that an object could not be created */
	struct diag_indexes *indexes;	/* indexes of its rows: index.h */
};

/* The fields above, with their descriptions from the library. */
struct diag_fields {
	const struct eadm_object *object;
	/*
	 * The first n_named are the fields above; the others are states that only one
	 * family has.
	 */
	unsigned int n, n_named;
	const struct eadm_field *field[64];
	unsigned char slot[256];	/* indexed by position in the object; n: none */
	uint64_t wanted[4];	/* bits of the attributes that have a slot */
	unsigned int n_all;
	const struct eadm_field *dev_index, *dev_name;
};

const char *eadm_diag_kind_name(enum diag_kind kind);
const struct diag_fields *eadm_diag_fields(enum diag_kind kind);

int eadm_diag_snapshot_read(struct diag_snapshot *snapshot,
			    struct eadm_ctx *ctx,
			    const struct eadm_sample_opts *opts);
void eadm_diag_snapshot_free(struct diag_snapshot *snapshot);

/*
 * Removes the rows of devices whose index a different device has in a later snapshot. A
 * device that was renamed in between is treated as a different one.
 */
void eadm_diag_forget_replaced(struct diag_snapshot *snapshot,
			       const struct diag_snapshot *later);

const struct diag_row *eadm_diag_find(const struct diag_snapshot *snapshot,
				      enum diag_kind kind, uint64_t dev,
				      uint64_t id);

/*
 * Returns the row of the same object as @row at or after *at, and advances *at to it.
 */
const struct diag_row *eadm_diag_find_next(const struct diag_snapshot *snapshot,
					   enum diag_kind kind,
					   const struct diag_row *row, size_t *at);

/* Returns the rows of one device, which are adjacent. */
struct diag_rows eadm_diag_of(const struct diag_snapshot *snapshot,
			      enum diag_kind kind, uint64_t dev);

/*
 * Returns true if the device is emulated by a program, so that its objects belong to a
 * guest.
 */
bool eadm_diag_is_program(const struct diag_snapshot *snapshot, uint64_t dev);

/*
 * The first part of a CQ, followed by its other parts up to *end; and the same part in
 * a different snapshot, or NULL.
 */
const struct diag_part *eadm_diag_parts_of(const struct diag_snapshot *snapshot,
					   uint64_t dev, uint64_t cqn,
					   const struct diag_part **end);
const struct diag_part *eadm_diag_part(const struct diag_snapshot *snapshot,
				       const struct diag_part *part);

/* owner.c */
int eadm_diag_owners_read(struct diag_snapshot *snapshot, struct eadm_ctx *ctx);
const struct diag_owner *eadm_diag_owner(const struct diag_snapshot *snapshot,
					 uint64_t pid);
bool eadm_diag_has_qps(const struct diag_snapshot *snapshot, uint64_t pid);

static inline bool diag_has(const struct diag_row *row, unsigned int field)
{
	return row && row->has >> field & 1;
}

/* The value of a field that the row has. */
static inline union diag_value *diag_at(const struct diag_row *row,
					unsigned int field)
{
	return &row->value[row->place[field]];
}

/*
 * Returns 0 if the value is unknown; use diag_has() to distinguish this from a value of
 * 0.
 */
static inline uint64_t diag_u64(const struct diag_row *row, unsigned int field)
{
	return diag_has(row, field) ? diag_at(row, field)->u : 0;
}

static inline const char *diag_text(const struct diag_row *row,
				    unsigned int field)
{
	return diag_has(row, field) ? diag_at(row, field)->s : "";
}

static inline bool diag_same(const struct diag_row *a, const struct diag_row *b,
			     unsigned int field)
{
	return diag_has(a, field) && diag_has(b, field) &&
	       diag_at(a, field)->u == diag_at(b, field)->u;
}

/* Width in bits of a counter, or of an index in the device's family; 64 if unknown. */
static inline unsigned int diag_bits(const struct diag_row *row,
				     unsigned int field)
{
	return row->bits[field] ? row->bits[field] : 64;
}

/* Distance between two numbers; the counter may have wrapped in between. */
static inline uint64_t diag_distance(uint64_t to, uint64_t from,
				     unsigned int bits)
{
	uint64_t delta = to - from;

	if (bits < 64)
		return delta & ((1ULL << bits) - 1);
	/*
	 * Even 64-bit counters can wrap, but a distance this large means that the
	 * counter was reset.
	 */
	return delta >> 63 ? 0 : delta;
}

/* Growth of a counter or index; 0 if unknown. */
static inline uint64_t diag_growth(const struct diag_row *now,
				   const struct diag_row *then,
				   unsigned int field)
{
	if (!diag_has(now, field) || !diag_has(then, field))
		return 0;
	return diag_distance(diag_at(now, field)->u, diag_at(then, field)->u,
			     diag_bits(now, field));
}

/* Distance between two indices of a row; 0 if either is unknown. */
static inline uint32_t diag_apart(const struct diag_row *row, unsigned int to,
				  unsigned int from)
{
	if (!diag_has(row, to) || !diag_has(row, from))
		return 0;
	return diag_distance(diag_at(row, to)->u, diag_at(row, from)->u,
			     diag_bits(row, to));
}

#endif /* EADM_DIAG_MODEL_H */
