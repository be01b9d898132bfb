/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend of an adapter model: it implements the protocol and moves the data. Each
 * object of the model has a counterpart in the backend.
 *
 * The interface uses the structures of libibverbs for requests and results, whether or
 * not a backend uses libibverbs.
 *
 * Threads: all calls, and all calls of a client's operations, are made by the thread that
 * runs the event loop. A client's operation must not call the backend. No call blocks for
 * longer than 10 ms: where stated, it returns -EINPROGRESS instead, and completes with
 * the client's done(), called from run().
 *
 * Errors: 0 or -errno.
 */
#ifndef EADM_BACKEND_H
#define EADM_BACKEND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKEND_PAGE 4096u
/* Maximum pages of a memory region registered by a work request. */
#define BACKEND_MAX_FAST_REG 128

/* The backend's state of one PCI function. */
struct backend_port;

struct backend_pd;
struct backend_mr;
struct backend_cq;
struct backend_srq;
struct backend_qp;

/* There is no work until the next event. */
#define BACKEND_IDLE UINT64_MAX

enum backend_mr_kind {
	BACKEND_MR_USER,
	/* The guest's whole memory, addressed by DMA addresses, for local use. */
	BACKEND_MR_DMA,
	/* Registered by work requests, BACKEND_WR_FAST_REG. */
	BACKEND_MR_FAST,
};

struct backend_mr_attr {
	enum backend_mr_kind kind;
	/* IBV_ACCESS_* */
	unsigned int access;
	/* BACKEND_MR_USER: addresses used in work requests. */
	uint64_t start, length;
	/*
	 * BACKEND_MR_USER: the guest's pages; @start is in the first page. Otherwise
	 * NULL. The pages stay valid until the memory region is destroyed.
	 */
	void *const *pages;
	/* The DMA addresses of these pages. */
	const uint64_t *addresses;
	/* Number of pages; BACKEND_MR_FAST: maximum. */
	uint32_t n_pages;
};

struct backend_qp_attr {
	/* IBV_QPT_RC, IBV_QPT_UD */
	enum ibv_qp_type type;
	/* The port's QP 1: a UD QP. */
	bool gsi;
	struct backend_pd *pd;
	struct backend_cq *send_cq, *recv_cq;
	struct backend_srq *srq;
	struct ibv_qp_cap cap;
	/* The QPN has to be below this; 0: no limit. */
	uint32_t qpn_limit;
};

/* Opcodes that neither libibverbs nor the kernel defines. */
#define BACKEND_WR_FAST_REG ((enum ibv_wr_opcode)0x10000)

/*
 * A work request. Each request gets a completion, even if it is unsignalled; its
 * completion may then come together with that of the next signalled request. The client
 * decides which completions the guest sees.
 */
struct backend_send {
	/*
	 * "next" is not used; wr_id is chosen by the client, and even. For UD, "ah" is
	 * not used.
	 */
	struct ibv_send_wr wr;
	struct ibv_ah_attr ah;
	/*
	 * If this is not success, the request must fail with this status when its turn
	 * comes, and the QP must fail with it.
	 */
	enum ibv_wc_status refused;
	/* Used by BACKEND_WR_FAST_REG; the backend copies it. */
	struct backend_fast_reg {
		uint64_t iova;
		uint32_t length, key, n_pages;
		unsigned int access;
		/* DMA addresses; the memory is not checked before it is accessed. */
		uint64_t pages[BACKEND_MAX_FAST_REG];
	} *fast_reg;
};

struct backend_wc {
	/* Opcode and length are valid if the status is success. */
	struct ibv_wc wc;
	/* A receive with the solicited event flag. */
	bool solicited;
	/* Type of the network header before a datagram. */
	enum { BACKEND_NET_ROCE_V1, BACKEND_NET_IPV4, BACKEND_NET_IPV6 } net_type;
};

/* File that backs a part of the guest's memory; the client owns the descriptor. */
struct backend_run {
	uint64_t size, offset;
	int fd;
	bool writable;
};

/* Reason why the first send request of a QP waits. */
enum backend_wait {
	BACKEND_WAIT_NOTHING,
	BACKEND_WAIT_TURN,
	BACKEND_WAIT_RECEIVER,
	BACKEND_WAIT_ANSWER,
};

struct backend_qp_stats {
	enum backend_wait wait;
	/* Number of times that the peer did not respond, or had no receive. */
	uint64_t retries;
};

struct backend_client {
	/* Returns the guest's memory at a DMA address, or NULL if there is none. */
	void *(*dma)(void *ctx, uint64_t address, size_t size, bool write);
	/* Describes the first part of the range that is contiguous in one file. */
	int (*backing)(void *ctx, uint64_t address, uint64_t size, struct backend_run *run);
	/*
	 * A work request has completed; @qp is the client's, or NULL if it has been
	 * destroyed after it took a receive from an SRQ that still exists.
	 */
	void (*completed)(void *ctx, void *qp, const struct backend_wc *wc);
	/* @object is the client's QP or SRQ, or NULL for the port. */
	void (*event)(void *ctx, enum ibv_event_type type, void *object);
	/* A call that returned -EINPROGRESS has completed; @request was its argument. */
	void (*done)(void *ctx, void *request, int err);
	/* One line without a newline, for the log. */
	void (*log)(void *ctx, const char *line);
};

struct backend {
	const struct backend_ops *ops;
};

struct backend_ops {
	const char *name;
	void (*close)(struct backend *backend);
	/* Readable if run() has work to do; -1: there is no descriptor. */
	int (*fd)(const struct backend *backend);
	/*
	 * Continues pending work, for a bounded time. Returns the time of the next call,
	 * in ns of CLOCK_MONOTONIC (@now: immediately); or BACKEND_IDLE.
	 */
	uint64_t (*run)(struct backend *backend, uint64_t now);
	void (*limits)(struct backend *backend, struct ibv_device_attr *attr);

	int (*port_open)(struct backend *backend, const struct backend_client *client,
			 void *ctx, struct backend_port **port);
	/* All objects of the port must already be destroyed. */
	void (*port_close)(struct backend_port *port);
	/* state, max_mtu, active_mtu, max_msg_sz, active_width, active_speed */
	void (*port_query)(struct backend_port *port, struct ibv_port_attr *attr);
	/* -EADDRINUSE: another port has this GID; -EINVAL: no such index. */
	int (*gid_add)(struct backend_port *port, uint32_t index,
		       const union ibv_gid *gid, enum ibv_gid_type type);
	void (*gid_del)(struct backend_port *port, uint32_t index);

	int (*pd_create)(struct backend_port *port, struct backend_pd **pd);
	void (*pd_destroy)(struct backend_pd *pd);
	/*
	 * The lowest 8 bits of the keys of BACKEND_MR_FAST are 0. -EINPROGRESS: @mr
	 * exists, and the keys are written when it is done; if that fails, @mr is
	 * destroyed.
	 */
	int (*mr_create)(struct backend_pd *pd, const struct backend_mr_attr *attr,
			 void *request, struct backend_mr **mr, uint32_t *lkey,
			 uint32_t *rkey);
	/* If creation is still in progress, done() is not called. */
	void (*mr_destroy)(struct backend_mr *mr);
	int (*cq_create)(struct backend_port *port, uint32_t cqe, struct backend_cq **cq);
	void (*cq_destroy)(struct backend_cq *cq);
	int (*srq_create)(struct backend_pd *pd, const struct ibv_srq_attr *attr,
			  void *client, struct backend_srq **srq);
	/* The limit becomes 0 when the event has been raised. */
	int (*srq_limit)(struct backend_srq *srq, uint32_t limit);
	int (*srq_query)(struct backend_srq *srq, uint32_t *limit);
	int (*srq_recv)(struct backend_srq *srq, const struct ibv_recv_wr *wr);
	void (*srq_destroy)(struct backend_srq *srq);

	int (*qp_create)(struct backend_port *port, const struct backend_qp_attr *attr,
			 void *client, struct backend_qp **qp, uint32_t *qpn);
	/*
	 * The client has checked the transition. On a change to RESET, and on
	 * destruction, work requests are dropped without completions. May return
	 * -EINPROGRESS; until that change is done, a further call returns -EBUSY unless
	 * it changes the QP to ERR.
	 */
	int (*qp_modify)(struct backend_qp *qp, const struct ibv_qp_attr *attr, int mask,
			 void *request);
	void (*qp_query)(struct backend_qp *qp, struct ibv_qp_attr *attr);
	/*
	 * -ENOMEM: there is no room until another request completes; the client then
	 * retries. -EAGAIN: there is no room because of other queues; the client retries
	 * later. Any other error breaks the queue, as does -ENOMEM if no request is in
	 * flight.
	 */
	int (*qp_send)(struct backend_qp *qp, const struct backend_send *send);
	int (*qp_recv)(struct backend_qp *qp, const struct ibv_recv_wr *wr);
	void (*qp_destroy)(struct backend_qp *qp);
	/* NULL: not available. */
	void (*qp_stats)(struct backend_qp *qp, struct backend_qp_stats *stats);
};

/* Maximum number of programs that the backend may be linked with, in both directions. */
#define BACKEND_MAX_LINKS 64

/*
 * An address is the path of a UNIX socket, which contains a slash, or a numeric
 * HOST:PORT, with an IPv6 address in brackets. The caller has checked the addresses, and
 * keeps them as long as the backend is open.
 */
struct backend_soft_config {
	/* Address at which other programs may connect, or NULL. */
	const char *listen;
	/* Addresses to connect to, with retries until this succeeds. */
	const char *join[BACKEND_MAX_LINKS];
	unsigned int n_join;
	/* Logs changes of links, one line without a newline, or NULL. */
	void (*log)(const char *address, const char *line);
};

/* Returns true if @address is a valid address. */
bool backend_soft_address(const char *address);

/*
 * Connects the functions of this process with each other and with those of linked
 * programs. @config: NULL for no links.
 */
int backend_soft_open(const struct backend_soft_config *config, struct backend **backend);

struct backend_verbs_config {
	const char *device;
	uint8_t port;
	/* Index of the GID for all QPs; -1: the GID that the guest has bound. */
	int gid;
};

/* Backend that uses libibverbs. @why: NULL, or details about the error. */
int backend_verbs_open(const struct backend_verbs_config *config, struct backend **backend,
		       const char **why);

#endif /* EADM_BACKEND_H */
