/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A software adapter: the functions of one process reach each other through memory, those
 * of different processes over links. Ports find each other by GID. A request is executed
 * by the sender's side, in steps of bounded size. Each step looks up the responder again,
 * because QPs never point to each other.
 */
#ifndef SOFT_H
#define SOFT_H

#include <sys/queue.h>

#include "backend.h"
#include "table.h"

#define SOFT_MAX_QP 16384
#define SOFT_MAX_CQ 16384
#define SOFT_MAX_MR 65536
#define SOFT_MAX_PD 16384
#define SOFT_MAX_SRQ 4096
#define SOFT_MAX_WR 16384
#define SOFT_MAX_SGE 16
/*
 * Maximum memory of all posted requests of a port, which also limits the time of a reset.
 * A queue may exceed it as long as it has few requests, so that each queue makes progress.
 */
#define SOFT_MAX_POSTED (16u << 20)
#define SOFT_FEW 16
/* The client's and the allocator's memory for each request. */
#define SOFT_REQUEST_EXTRA 64
#define SOFT_MAX_GIDS 64
#define SOFT_MTU 4096
#define SOFT_MAX_MESSAGE (1u << 30)
#define SOFT_GRH 40
/* Size of a management datagram; QP 1 transfers only these. */
#define SOFT_MAD 256
/* Number of bytes that one QP moves before the next QP is served. */
#define SOFT_STEP (256u << 10)
/* Limits for all QPs in one call of run(). */
#define SOFT_RUN_BYTES (1u << 20)
#define SOFT_RUN_REQUESTS 256

TAILQ_HEAD(soft_qps, soft_qp);
struct soft_link;
struct soft_links;

struct soft {
	struct backend backend;
	TAILQ_HEAD(, soft_port) ports;
	/* Number of ports created so far, which is the number of the next port. */
	uint32_t n_ports;
	/* Links to other programs; NULL: none. */
	struct soft_links *links;
	/* QPs that have work, and those that wait until a certain time. */
	struct soft_qps runnable, waiting;
	uint64_t now;
	/* Remaining budget of this run(). */
	int64_t bytes;
	unsigned int requests;
};

struct soft_gid {
	bool used;
	union ibv_gid gid;
	enum ibv_gid_type type;
};

struct soft_port {
	TAILQ_ENTRY(soft_port) link;
	struct soft *soft;
	/* Identifies the port to other programs. */
	uint32_t number;
	const struct backend_client *client;
	void *ctx;
	struct soft_gid gids[SOFT_MAX_GIDS];
	struct table qps, mrs;
	struct soft_qp *gsi;
	/* Memory of all posted requests. */
	size_t posted;
};

struct backend_pd {
	struct soft_port *port;
};

struct backend_cq {
	struct soft_port *port;
};

struct backend_mr {
	struct backend_pd *pd;
	enum backend_mr_kind kind;
	/* The index in bits 31:8, and the consumer's part. */
	uint32_t key;
	/* For BACKEND_MR_FAST: the MR is registered. */
	bool valid;
	unsigned int access;
	uint64_t start, length;
	/* BACKEND_MR_USER */
	void *const *pages;
	uint32_t max_pages;
	/* BACKEND_MR_FAST: DMA addresses. */
	uint64_t fast[];
};

struct soft_recv {
	TAILQ_ENTRY(soft_recv) link;
	uint64_t wr_id;
	uint32_t n_sge;
	struct ibv_sge sges[];
};

TAILQ_HEAD(soft_recvs, soft_recv);

struct soft_rq {
	struct soft_port *port;
	struct soft_recvs posted;
	/* Number of posted receives; the same with those taken by a request. */
	uint32_t count, held;
	uint32_t depth, max_sge;
};

struct backend_srq {
	struct backend_pd *pd;
	void *client;
	struct soft_rq rq;
	/* 0: no event to report. */
	uint32_t limit;
};

struct soft_send {
	TAILQ_ENTRY(soft_send) link;
	struct ibv_send_wr wr;
	struct ibv_ah_attr ah;
	enum ibv_wc_status refused;
	/* Behind the SGEs, or NULL. */
	struct backend_fast_reg *fast_reg;
	uint32_t n_sge;
	uint64_t length;
	struct ibv_sge sges[];
};

TAILQ_HEAD(soft_sends, soft_send);

enum soft_queue { SOFT_IDLE, SOFT_RUNNABLE, SOFT_WAITING, SOFT_BLOCKED };

/* A request to a responder. */
struct soft_request {
	enum ibv_wr_opcode opcode;
	bool solicited;
	uint32_t length;
	/* Address in the responder's memory. */
	uint64_t addr;
	uint32_t rkey;
	/* Immediate data, or the key to invalidate. */
	uint32_t imm;
	uint64_t compare_add, swap;
};

/*
 * A responder's result is the status of the requester's completion, or this value if
 * there is no receive.
 */
#define SOFT_NOT_READY (-1)

struct soft_qp {
	TAILQ_ENTRY(soft_qp) link;
	enum soft_queue queue;
	struct soft_port *port;
	struct backend_pd *pd;
	void *client;
	uint32_t qpn;
	enum ibv_qp_type type;
	struct backend_srq *srq;
	struct ibv_qp_cap cap;
	/* Includes the state. */
	struct ibv_qp_attr attr;
	struct soft_sends sends;
	uint32_t n_sends;
	struct soft_rq rq;

	/* Requester: progress of the first request, and the time until which it waits. */
	bool begun;
	uint64_t done;
	uint64_t wake;
	unsigned int retries, rnr_retries;
	/* Reason for waiting, if the QP waits; number of times that it has waited. */
	enum backend_wait wait;
	uint64_t waits;
	/*
	 * Requester with a responder in another program: link on which the QP waits for a
	 * response, or on which it is blocked; token of the request; time when the wait
	 * began.
	 */
	struct soft_link *asked;
	uint64_t token, asked_at;
	/* Number of completed pieces: a repeated piece must not be executed twice. */
	uint32_t answered;
	/* Responder: the receive taken by the peer's request. */
	struct soft_recv *taken;
	bool established, last_wqe_sent;
	/*
	 * Number of executed pieces of another program's QP; the last one, and the value
	 * before it if it was an atomic operation.
	 */
	uint32_t served;
	struct {
		uint8_t opcode;
		uint32_t offset, size;
		uint64_t value;
	} last;
};

static inline struct soft_port *soft_port(struct backend_port *port)
{
	return (struct soft_port *)(void *)port;
}

static inline struct soft_qp *soft_qp(struct backend_qp *qp)
{
	return (struct soft_qp *)(void *)qp;
}

/* ---- port.c */
struct soft_port *soft_find_port(struct soft *soft, const union ibv_gid *gid);
bool soft_has_gid(const struct soft_port *port, const union ibv_gid *gid);
void soft_event(struct soft_port *port, enum ibv_event_type type, void *object);
/*
 * Allocates a request for a queue that has @held requests. Returns NULL if the requests of
 * other queues leave no room.
 */
void *soft_request_alloc(struct soft_port *port, uint32_t held, size_t size);
void soft_request_free(struct soft_port *port, void *request, size_t size);

/* ---- mr.c */
int soft_mr_create(struct backend_pd *pd, const struct backend_mr_attr *attr, void *request,
		   struct backend_mr **mr, uint32_t *lkey, uint32_t *rkey);
void soft_mr_destroy(struct backend_mr *mr);
/*
 * Returns true if the whole range may be accessed in this way; @access: IBV_ACCESS_*, 0:
 * local read.
 */
bool soft_mr_check(struct backend_pd *pd, uint32_t key, uint64_t addr, uint64_t length,
		   unsigned int access);
/* Returns the memory at @addr, contiguous for *@size bytes; *@size may be reduced. */
void *soft_mr_at(struct backend_pd *pd, uint32_t key, uint64_t addr,
		 unsigned int access, size_t *size);
enum ibv_wc_status soft_mr_register(struct backend_pd *pd,
				    const struct backend_fast_reg *reg);
bool soft_mr_invalidate(struct backend_pd *pd, uint32_t key);

/* A list of SGEs, seen as a contiguous range of bytes. */
struct soft_list {
	struct backend_pd *pd;
	const struct ibv_sge *sges;
	uint32_t n_sge;
	unsigned int access;
};

uint64_t soft_list_length(const struct soft_list *list);
bool soft_list_check(const struct soft_list *list);
void *soft_list_at(const struct soft_list *list, uint64_t offset, size_t *size);
/*
 * Copies @size bytes. Returns false if the memory is gone, or was removed in the
 * meantime.
 */
bool soft_copy(const struct soft_list *to, uint64_t to_offset,
	       const struct soft_list *from, uint64_t from_offset, size_t size);
bool soft_put(const struct soft_list *to, uint64_t offset, const void *data, size_t size);
bool soft_get(const struct soft_list *from, uint64_t offset, void *data, size_t size);

/* ---- sq.c */
int soft_sq_post(struct soft_qp *qp, const struct backend_send *send);
/* Removes and frees the first request. */
void soft_send_free(struct soft_qp *qp);

/* ---- rq.c */
void soft_rq_init(struct soft_rq *rq, struct soft_port *port, uint32_t depth, uint32_t max_sge);
/* Frees all posted receives. */
void soft_rq_drop(struct soft_rq *rq);
int soft_rq_post(struct soft_rq *rq, const struct ibv_recv_wr *wr);
/*
 * Takes the receive that the QP consumes next, from its SRQ if it has one. Returns NULL
 * if there is none.
 */
struct soft_recv *soft_take(struct soft_qp *qp);
/* Frees a receive that the QP has taken. */
void soft_recv_free(struct soft_qp *qp, struct soft_recv *recv);
int soft_srq_create(struct backend_pd *pd, const struct ibv_srq_attr *attr,
		    void *client, struct backend_srq **srq);
int soft_srq_limit(struct backend_srq *srq, uint32_t limit);
int soft_srq_query(struct backend_srq *srq, uint32_t *limit);
int soft_srq_recv(struct backend_srq *srq, const struct ibv_recv_wr *wr);
void soft_srq_destroy(struct backend_srq *srq);

/* ---- qp.c */
int soft_qp_create(struct backend_port *port, const struct backend_qp_attr *attr,
		   void *client, struct backend_qp **qp, uint32_t *qpn);
int soft_qp_modify(struct backend_qp *qp, const struct ibv_qp_attr *attr, int mask,
		   void *request);
void soft_qp_query(struct backend_qp *qp, struct ibv_qp_attr *attr);
int soft_qp_send(struct backend_qp *qp, const struct backend_send *send);
int soft_qp_recv(struct backend_qp *qp, const struct ibv_recv_wr *wr);
void soft_qp_destroy(struct backend_qp *qp);
void soft_qp_stats(struct backend_qp *qp, struct backend_qp_stats *stats);
/* Does some work. Returns true if there is more to do. */
bool soft_qp_step(struct soft_qp *qp);

/* ---- turn.c */
void soft_qp_schedule(struct soft_qp *qp);
void soft_qp_wait(struct soft_qp *qp, enum backend_wait wait, uint64_t until);
/* Blocks the QP until there is a free slot on the link, or it times out at @until. */
void soft_qp_block(struct soft_qp *qp, struct soft_link *link, uint64_t until);
/* Removes a QP that has no work. */
void soft_qp_leave(struct soft_qp *qp);

/* ---- complete.c */
/* Completes the first request. */
void soft_sent(struct soft_qp *qp, enum ibv_wc_status status);
/* Completes a receive; all members of @wc are set except status, QPN and wr_id. */
void soft_received(struct soft_qp *qp, struct soft_recv *recv,
		   enum ibv_wc_status status, struct backend_wc *wc);
/* Enters the error state, in which all requests are flushed. */
void soft_qp_fail(struct soft_qp *qp);

/* ---- respond.c: effects of a request on the responder @peer */
bool soft_takes_receive(enum ibv_wr_opcode opcode);
bool soft_is_atomic(enum ibv_wr_opcode opcode);
/*
 * Returns the RC QP @qpn if it is connected to @requester; the caller has to compare the
 * GIDs.
 */
struct soft_qp *soft_responder(struct soft_port *port, uint32_t qpn, uint32_t requester);
/* Called when a request has arrived. */
void soft_establish(struct soft_qp *peer);
/*
 * Returns 0 if the request may begin, and a receive was taken if it needs one. Otherwise
 * applies the error's effects to the responder and returns the error.
 */
int soft_respond_begin(struct soft_qp *peer, const struct soft_request *request);
/* Checks the memory of the request, without taking a receive. */
int soft_respond_check(struct soft_qp *peer, const struct soft_request *request);
/* Returns the responder's memory for the data; @sge: storage for the list. */
struct soft_list soft_respond_list(const struct soft_qp *peer,
				   const struct soft_request *request, struct ibv_sge *sge);
/* Called if the memory is gone; returns the requester's status. */
enum ibv_wc_status soft_respond_fail(struct soft_qp *peer, const struct soft_request *request);
/* Called when all data has been moved. */
void soft_respond_end(struct soft_qp *peer, const struct soft_request *request);
enum ibv_wc_status soft_respond_atomic(struct soft_qp *peer,
				       const struct soft_request *request, uint64_t *old);

/* ---- rc.c, ud.c: the first request, in RTS */
bool soft_rc_step(struct soft_qp *qp, struct soft_send *send);
bool soft_ud_step(struct soft_qp *qp, struct soft_send *send);

/* ---- request.c */
/* Return the request to the responder, and the requester's own memory. */
struct soft_request soft_rc_request(const struct soft_send *send);
struct soft_list soft_rc_local(const struct soft_qp *qp, const struct soft_send *send);
/*
 * Results for soft_qp_step(): the request failed; the peer is missing; the peer has no
 * receive.
 */
bool soft_rc_fail(struct soft_qp *qp, enum ibv_wc_status status);
bool soft_rc_no_answer(struct soft_qp *qp);
/* Counts a timeout. Returns false if it was the last one, and the request has failed. */
bool soft_rc_retry(struct soft_qp *qp);
bool soft_rc_not_ready(struct soft_qp *qp, uint8_t timer);
/* Returns the timeout for a response, in ns. */
uint64_t soft_rc_patience(const struct soft_qp *qp);

/* ---- arrive.c */
/* A datagram with its network header. */
struct soft_datagram {
	uint32_t qpn, qkey;
	/* Completion for the receiver, without status, QPN and wr_id. */
	struct backend_wc wc;
	size_t size;
	unsigned char data[SOFT_GRH + SOFT_MTU];
};

void soft_ud_arrive(struct soft_port *port, struct soft_datagram *datagram);
/* Returns the sender's GID, from the network header. */
union ibv_gid soft_ud_source(const struct soft_datagram *datagram);

/* ---- links.c: other programs */
int soft_links_open(struct soft *soft, const struct backend_soft_config *config);
void soft_links_close(struct soft *soft);
/* Handles received messages. Returns the time of the next call. */
uint64_t soft_links_run(struct soft *soft);
/* Sends pending data. */
void soft_links_flush(struct soft *soft);
/*
 * Schedules blocked QPs for the free slots, because a QP that was woken for a slot may not
 * have taken it. Returns the time at which a blocked QP times out.
 */
uint64_t soft_links_wake(struct soft *soft);
int soft_links_fd(const struct soft *soft);
/* A GID was added to a port, or removed. */
void soft_links_gid(struct soft_port *port, const union ibv_gid *gid, bool there);

/* ---- link.c */
/*
 * Returns the link to the program that has the GID, or NULL. The caller has checked that
 * no port of this program has it.
 */
struct soft_link *soft_find_link(struct soft *soft, const union ibv_gid *gid);
/*
 * Returns true if port @number of the other program has the GID: it was the first one, of
 * all programs, to announce it.
 */
bool soft_link_has_gid(struct soft *soft, const struct soft_link *link, uint32_t number,
		       const union ibv_gid *gid);
/* Returns the number of requests that may be queued now. */
unsigned int soft_link_slots(const struct soft_link *link);
/* Records that a request was queued. */
void soft_link_asked(struct soft_link *link);
/* Records a response to a request. Returns false if none was pending. */
bool soft_link_answered(struct soft_link *link);

/* ---- stream.c */
/*
 * Queues a message, in two consecutive parts. Returns false if the link's buffer is full.
 */
bool soft_link_put(struct soft_link *link, uint8_t type, const void *head, size_t head_size,
		   const void *data, size_t size);

/* ---- remote.c: requests and datagrams over links */
/* Executes the first request of @qp, whose responder is in the program at @link. */
bool soft_remote_step(struct soft_qp *qp, struct soft_send *send, struct soft_link *link);
/* The blocked QPs whose time is over fail if the other program has sent nothing since. */
void soft_remote_time_out(struct soft *soft, struct soft_link *link);
void soft_remote_datagram(struct soft_link *link, const union ibv_gid *to,
			  const struct soft_datagram *datagram);
/*
 * Handles a message that does not concern the link itself. Returns false if the message
 * is invalid.
 */
bool soft_remote_take(struct soft *soft, struct soft_link *link, uint8_t type,
		      const unsigned char *data, size_t size);
/* The link is lost: there will be no responses to requests on it. */
void soft_remote_lost(struct soft *soft, struct soft_link *link);

#endif /* SOFT_H */
