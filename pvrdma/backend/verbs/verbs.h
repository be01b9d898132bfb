/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ibdevice of the host: each object of the client has a counterpart in the device,
 * created with libibverbs, and the device moves the data. Keys and QPNs are the device's
 * own, so that other machines need no changes.
 *
 * Threads and ownership:
 * - The loop's thread owns everything. It calls the device only for immediate
 *   operations: creation, posting, polling.
 * - Operations that may take longer are jobs: registration of memory, address resolution
 *   (for a QP with an address vector, or for an address handle), destruction of a large
 *   registration or of a QP, for which some devices wait until all requests in flight
 *   have returned. Each port has one worker, which runs its jobs in order. From
 *   worker_submit() until done() the worker owns the job and all data that only the job
 *   refers to, and accesses no other data of this program.
 * - An object with a job is not destroyed until the job ends. It is marked as gone, and
 *   is destroyed by done(). PDs, CQs and SRQs count their users, and stay until the last
 *   user is gone, so that the device has no reason to refuse their destruction.
 *
 * There is one lock for the worker's queue (worker.c), and one for the mappings that are
 * being registered (mapping.c), which is only taken by workers. Neither is held while the
 * other is taken, or during a call to the device.
 *
 * A soft backend handles QP 1, the kernel's memory regions by DMA address, and requests
 * that use them, because the host's own connection manager owns the device's QP 1.
 */
#ifndef VERBS_H
#define VERBS_H

#include <sys/queue.h>

#include "backend.h"
#include "mapping.h"
#include "worker.h"

#define VERBS_GIDS 64
#define VERBS_BUCKETS 1024
/* Completions in one turn: for one CQ, and for all. */
#define VERBS_CQ_TURN 64
#define VERBS_TURN 256
/* Pages of a memory region that are looked up in one turn. */
#define VERBS_PAGES_TURN 2048
/*
 * Pages that the loop deregisters for a port in one turn; deregistration of more is a job.
 * The call itself counts as some pages, too.
 */
#define VERBS_LARGE 1024
#define VERBS_DEREG_PAGES 64
/*
 * Time to wait in one turn for the destruction of regions and QPs, both of which are
 * disabled much sooner.
 */
#define VERBS_END_NS 2000000u
/*
 * Limits on a port's address handles: number, including those that are being created, and
 * age of an unused one.
 */
#define VERBS_AHS 256
#define VERBS_AH_NS (30ull * 1000000000u)

struct verbs {
	struct backend backend;
	struct backend *soft;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_device_attr attr;
	uint8_t port;
	int gid;
	/* Polls all of the following; @wake is for workers. */
	int epoll, wake;
	/* The device is gone and is no longer called. */
	bool dead;
	/* Number of calls of run(), and the time of the last one. */
	uint64_t turn, now;
	LIST_HEAD(, verbs_port) ports;
	LIST_HEAD(, verbs_qp) qps[VERBS_BUCKETS];
	/* CQs that have entries. */
	TAILQ_HEAD(, verbs_cq) ready;
	struct mapping_room room;
};

struct verbs_port {
	LIST_ENTRY(verbs_port) link;
	struct verbs *verbs;
	struct backend_port *soft;
	const struct backend_client *client;
	void *ctx;
	struct {
		bool used;
		union ibv_gid gid;
		enum ibv_gid_type type;
	} gids[VERBS_GIDS];
	struct worker worker;
	/* Turn in which the loop has waited for the worker, and the time left for it. */
	uint64_t wait_turn, wait_left;
	/* Turn in which the loop has deregistered memory, and the number of pages. */
	uint64_t dereg_turn, dereg_pages;
	/* QPs that are gone for the client may still transfer data. */
	bool qps_ending;
	/* Memory regions whose pages are being looked up. */
	TAILQ_HEAD(, verbs_mr) begun;
	TAILQ_HEAD(verbs_ahs, verbs_ah) ahs;
	unsigned int n_ahs;
};

struct verbs_pd {
	struct verbs_port *port;
	struct ibv_pd *pd;
	struct backend_pd *soft;
	unsigned int users;
	/* QPs on the device that the client has not destroyed. */
	unsigned int qps;
	bool gone;
};

struct verbs_cq {
	struct verbs *verbs;
	struct ibv_cq *cq;
	unsigned int users;
	bool gone, ready;
	TAILQ_ENTRY(verbs_cq) link;
};

struct verbs_srq {
	struct verbs_pd *pd;
	struct ibv_srq *srq;
	void *client;
	unsigned int users;
	bool gone;
};

struct verbs_mr {
	struct job job;
	TAILQ_ENTRY(verbs_mr) link;
	struct verbs_pd *pd;
	struct backend_mr *soft;
	uint64_t start, length;
	unsigned int access;
	/* Owned by the client until all have been looked up. */
	const uint64_t *addresses;
	uint32_t n_pages;
	struct mapping mapping;
	void *request;
	uint32_t *lkey, *rkey;
	bool begun, busy, gone;
	/* Owned by the job. */
	struct mapping_room *room;
	struct ibv_pd *device_pd;
	struct ibv_mr *mr;
	int err;
};

/* An address handle for one destination in one PD. */
struct verbs_ah {
	struct job job;
	TAILQ_ENTRY(verbs_ah) link;
	struct verbs_pd *pd;
	/* As given by the client. */
	struct ibv_ah_attr key;
	uint64_t made;
	unsigned int users;
	bool busy;
	/* Owned by the job. */
	struct ibv_pd *device_pd;
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
};

/*
 * A request posted to the device; if @skipped, it is only queued here, in order, and was
 * never passed to the device.
 */
struct verbs_posted {
	uint64_t wr_id;
	enum ibv_wc_status refused;
	bool skipped;
	struct verbs_ah *ah;
};

/* In the order of posting. */
struct verbs_fifo {
	struct verbs_posted *entries;
	uint32_t size, head, count;
};

/* A datagram that waits for its address handle, or for an earlier datagram. */
struct verbs_held {
	STAILQ_ENTRY(verbs_held) link;
	struct verbs_ah *ah;
	struct backend_send send;
	struct ibv_sge sges[];
};

struct verbs_qp {
	struct job job;
	LIST_ENTRY(verbs_qp) link;
	struct verbs_port *port;
	struct verbs_pd *pd;
	struct verbs_cq *send_cq, *recv_cq;
	struct verbs_srq *srq;
	void *client;
	enum ibv_qp_type type;
	/* The QP must not be accessed while the job destroys it. */
	struct ibv_qp *qp;
	uint32_t qpn;
	struct backend_qp *soft;
	struct ibv_qp_cap cap;
	/* As set by the client. */
	uint8_t sgid_index;
	struct verbs_fifo sends, recvs;
	/* Sends since the last signalled one. */
	uint32_t unsignaled;
	STAILQ_HEAD(, verbs_held) held;
	/*
	 * @request is set if the client waits for the job; @over is set if the caller
	 * that destroys the QP waits.
	 */
	void *request;
	bool *over;
	bool busy, gone, fail;
	/* Completions are ignored. */
	bool muted;
	/*
	 * A request failed, or the client has changed the QP to ERR: later requests are
	 * flushed.
	 */
	bool failed;
	/* Owned by the job. */
	struct ibv_qp_attr attr;
	int mask, err;
};

static inline struct verbs *verbs_of(struct backend *backend)
{
	return (struct verbs *)(void *)backend;
}

static inline struct verbs_port *verbs_port(struct backend_port *port)
{
	return (struct verbs_port *)(void *)port;
}

static inline struct verbs_pd *verbs_pd(struct backend_pd *pd)
{
	return (struct verbs_pd *)(void *)pd;
}

static inline struct verbs_cq *verbs_cq(struct backend_cq *cq)
{
	return (struct verbs_cq *)(void *)cq;
}

static inline struct verbs_srq *verbs_srq(struct backend_srq *srq)
{
	return (struct verbs_srq *)(void *)srq;
}

static inline struct verbs_qp *verbs_qp(struct backend_qp *qp)
{
	return (struct verbs_qp *)(void *)qp;
}

/* ---- port.c */
int verbs_port_open(struct backend *backend, const struct backend_client *client, void *ctx,
		    struct backend_port **opened);
void verbs_port_close(struct backend_port *port);
void verbs_port_query(struct backend_port *port, struct ibv_port_attr *attr);
int verbs_gid_add(struct backend_port *port, uint32_t index, const union ibv_gid *gid,
		  enum ibv_gid_type type);
void verbs_gid_del(struct backend_port *port, uint32_t index);

/* ---- address.c */
/*
 * Translates the client's address for the device; -EADDRNOTAVAIL: the device has no such
 * GID.
 */
int verbs_address(struct verbs_port *port, const struct ibv_ah_attr *from,
		  struct ibv_ah_attr *to);

/* ---- log.c */
__attribute__((format(printf, 2, 3)))
void verbs_log(struct verbs_port *port, const char *format, ...);

/* ---- object.c */
/* Waits for the worker's jobs, at most VERBS_END_NS per turn. */
void verbs_wait(struct verbs_port *port);
void verbs_pd_put(struct verbs_pd *pd);
struct verbs_qp *verbs_qp_find(struct verbs *verbs, uint32_t qpn);

/* ---- mr.c: with PDs */
int verbs_pd_create(struct backend_port *port, struct backend_pd **pd);
void verbs_pd_destroy(struct backend_pd *pd);
int verbs_mr_create(struct backend_pd *pd, const struct backend_mr_attr *attr, void *request,
		    struct backend_mr **mr, uint32_t *lkey, uint32_t *rkey);
void verbs_mr_destroy(struct backend_mr *mr);
/* Continues looking up pages. Returns true if there are more pages. */
bool verbs_mr_run(struct verbs_port *port);

/* ---- cq.c: with SRQs */
int verbs_cq_create(struct backend_port *port, uint32_t cqe, struct backend_cq **cq);
void verbs_cq_destroy(struct backend_cq *cq);
void verbs_cq_put(struct verbs_cq *cq);
/* Takes at most @most completions. Returns true if there may be more completions. */
bool verbs_cq_drain(struct verbs_cq *cq, unsigned int *most);
int verbs_srq_create(struct backend_pd *pd, const struct ibv_srq_attr *attr, void *client,
		     struct backend_srq **srq);
int verbs_srq_limit(struct backend_srq *srq, uint32_t limit);
int verbs_srq_query(struct backend_srq *srq, uint32_t *limit);
int verbs_srq_recv(struct backend_srq *srq, const struct ibv_recv_wr *wr);
void verbs_srq_destroy(struct backend_srq *srq);
void verbs_srq_put(struct verbs_srq *srq);

/* ---- qp.c */
int verbs_qp_create(struct backend_port *port, const struct backend_qp_attr *attr, void *client,
		    struct backend_qp **qp, uint32_t *qpn);
int verbs_qp_modify(struct backend_qp *qp, const struct ibv_qp_attr *attr, int mask,
		    void *request);
void verbs_qp_query(struct backend_qp *qp, struct ibv_qp_attr *attr);
void verbs_qp_destroy(struct backend_qp *qp);
/*
 * Disables the QPs of the port that wait to be destroyed, so that they can no longer use
 * memory.
 */
void verbs_qp_disable(struct verbs_port *port);
/* Fails all QPs that use a failed CQ. */
void verbs_qp_cq_failed(struct verbs_cq *cq);
/* Flushes the outstanding requests of all QPs, after the device has disappeared. */
void verbs_qp_flush_all(struct verbs *verbs);

/* ---- work.c */
int verbs_fifo_init(struct verbs_fifo *fifo, uint32_t size);
/* Drops the outstanding requests of the QP. */
void verbs_work_forget(struct verbs_qp *qp);
/* Completes the outstanding requests of the QP with an error. */
void verbs_work_flush(struct verbs_qp *qp);
int verbs_qp_send(struct backend_qp *qp, const struct backend_send *send);
int verbs_qp_recv(struct backend_qp *qp, const struct ibv_recv_wr *wr);
void verbs_work_completed(struct verbs_qp *qp, const struct ibv_wc *wc);
/*
 * Sends the requests that waited for an address handle, after its creation has succeeded
 * or failed.
 */
void verbs_work_continue(struct verbs_port *port);

/* ---- ah.c */
/*
 * Returns the address handle for @attr, which may be busy; NULL if there is no room until
 * another handle is not needed any more. Counts a user.
 */
struct verbs_ah *verbs_ah_get(struct verbs_pd *pd, const struct ibv_ah_attr *attr);
void verbs_ah_put(struct verbs_ah *ah);
/* Destroys unused address handles: all, or only those of one PD. */
void verbs_ah_drop(struct verbs_port *port, const struct verbs_pd *pd);

#endif /* VERBS_H */
