/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an adapter. "hw 4.6" is section 4.6 of docs/hw/pvrdma.md. */
#ifndef MODEL_FUNCTION_H
#define MODEL_FUNCTION_H

#include <sys/queue.h>

#include "backend.h"
#include "fault.h"
#include "hw_user.h"
#include "journal.h"
#include "log_limit.h"
#include "model.h"
#include "pvrdma_hw.h"
#include "table.h"
#include "vfio.h"

#define PAGE (UINT64_C(1) << PVRDMA_PAGE_SHIFT)
#define MAX_UAR 512u
/* The first handle: 0 is not valid. */
#define OBJECT_FIRST 1
/* Maximum number of SGEs of a work request, even if backend and limits allow more. */
#define MAX_SGE 32u
#define GID_TABLE 32u

/*
 * Guest pages listed in a directory. The guest does not change the list while it is in
 * use.
 */
struct pages {
	LIST_ENTRY(pages) link;
	/* Number of pages found so far, and total number. */
	uint32_t count, wanted;
	uint64_t directory;
	uint64_t *addresses;
	void **at;
};

/* hw 5.2 and 5.3 */
struct ring {
	struct pages *pages;
	struct pvrdma_ring_state *state;
	/* Page of the first element. */
	uint32_t first;
	uint32_t count, stride;
};

enum context_kind { CONTEXT_QP, CONTEXT_CQ, CONTEXT_MR, CONTEXT_PD, CONTEXT_KINDS };

struct context {
	uint32_t handle;
	uint32_t uar;
	unsigned int users;
	/* For diagnosis: numbers of its objects. */
	uint32_t objects[CONTEXT_KINDS];
	uint64_t born;
};

struct pd {
	uint32_t handle;
	struct context *context;
	struct backend_pd *backend;
	unsigned int users;
	uint64_t born;
};

struct mr {
	uint32_t handle;
	struct pd *pd;
	struct backend_mr_attr attr;
	/* NULL until all pages have been found. */
	struct backend_mr *backend;
	uint32_t lkey, rkey;
	/* NULL unless it is a user MR. */
	struct pages *pages;
	uint64_t born;
};

struct cq {
	uint32_t handle;
	struct context *context;
	struct backend_cq *backend;
	struct ring ring;
	/* A copy, as the guest may have overwritten the index in the ring. */
	uint32_t prod;
	bool armed, armed_solicited;
	/* No more entries are written. */
	bool failed;
	unsigned int users;
	/* The CQ's notification is waiting for room in the ring. */
	bool unnotified;
	TAILQ_ENTRY(cq) link;
	/* For diagnosis: completions that were due, and completions that were written. */
	uint64_t made, written;
	/* Requests for notification, and whether the last one has been served. */
	uint64_t arms, notified, notified_at;
	bool asked, asked_solicited;
	uint64_t born;
};

/* A work request passed to the backend. */
struct work {
	LIST_ENTRY(work) link;
	struct works *pool;
	uint64_t wr_id;
	/* Opcode of its completion. */
	uint32_t op;
	uint32_t length;
	bool signaled;
};

/* Work requests of one queue. */
struct works {
	LIST_HEAD(, work) used;
	/* Maximum number, and number in use. */
	uint32_t count, n_used;
	bool sends;
};

struct work_block {
	SLIST_ENTRY(work_block) link;
	struct work works[64];
};

/* A queue of the guest: its requests go to the backend when there is room. */
struct queue {
	TAILQ_ENTRY(queue) link;
	struct ring ring;
	struct works works;
	uint32_t max_sge;
	struct qp *qp;
	struct srq *srq;
	/* In the function's list, because requests were left in the ring. */
	bool waits;
	/* The guest has written an invalid index. */
	bool broken;
	/* Time until which requests are left in the ring; 0: not held. */
	uint64_t held_until;
	/*
	 * For diagnosis, free-running: numbers of requests announced by doorbells, passed
	 * to the backend, and completed.
	 */
	uint32_t known, fetched, done;
	/*
	 * The backend had no room for the next request: retry at that time, or when a
	 * request has completed.
	 */
	uint64_t full_until;
};

struct srq {
	uint32_t handle;
	struct pd *pd;
	struct backend_srq *backend;
	struct pages *pages;
	struct queue queue;
	struct pvrdma_srq_attr attr;
	uint32_t limit;		/* as last set */
	unsigned int users;
	uint64_t born;
};

struct qp {
	uint32_t handle;
	uint32_t qpn;
	enum pvrdma_qp_type type;
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	struct srq *srq;
	struct backend_qp *backend;
	struct pages *pages;
	struct queue sq, rq;
	bool sig_all;
	/* Between creation and INIT, and after a reset. */
	bool reset;
	uint32_t qkey;
	struct pvrdma_qp_caps caps;
	/* As set by the guest. */
	struct pvrdma_path path;
	/* For diagnosis: the state known to the guest, and the first failure. */
	uint32_t guest_state;
	uint64_t born, state_since, posted_at, completed_at, events;
	bool failed;
	uint32_t first_status;
	int32_t first_event;
	uint64_t failed_at;
};

/* One of the device's two rings (hw 5.5). */
struct device_ring {
	struct pages *pages;
	struct pvrdma_ring_state *state;
	uint32_t mask, element;
	uint32_t prod;
	/* Number of entries written so far. */
	uint64_t produced;
};

/* The command whose response is still pending; none if @object is NULL. */
struct pending {
	/* An MR, or a QP with the requested change. */
	void *object;
	struct mr *mr;
	/* A fault drops the response. */
	bool drop;
	struct pvrdma_cmd_hdr hdr;
	struct pvrdma_cmd_modify_qp modify;
};

struct model {
	struct model_config config;
	struct vfio *vfio;
	struct backend_port *port;
	const struct backend_ops *ops;
	struct pvrdma_caps caps;

	/* Registers. */
	uint64_t dsr_register;
	uint32_t err, imr, pending_vectors;
	bool active;
	/* Changes whenever objects may have been created or destroyed. */
	uint64_t generation;
	/*
	 * There is a DSR. The members below hold what it contained when it was attached;
	 * writes to the registers do not change them.
	 */
	bool attached;
	uint32_t driver_version, guest_os;
	uint64_t dsr_address, cmd_address, resp_address;
	unsigned char *cmd, *resp;
	uint64_t uar_pfn;
	struct device_ring events, notifications;

	struct pending pending;
	/* Time at which the permitted rate covers all commands so far. */
	uint64_t paid_until;
	/* Total bytes of user memory regions. */
	uint64_t registered;
	LIST_HEAD(, pages) pages;
	struct table contexts, pds, mrs, cqs, srqs, qps;
	struct context *uars[MAX_UAR];
	bool bound[GID_TABLE];
	uint8_t gids[GID_TABLE][16];
	/*
	 * Unused work requests of all queues, and the memory of all work requests, which
	 * is allocated when it is needed, and freed by a reset.
	 */
	LIST_HEAD(, work) free_works;
	SLIST_HEAD(, work_block) work_blocks;
	TAILQ_HEAD(queues, queue) waiting;
	TAILQ_HEAD(, cq) unnotified;
	/* A CQ has failed, but its QPs have not been failed yet. */
	bool cq_failed;

	/* A delayed response, and its time; size 0: there is none. */
	struct {
		unsigned char response[PVRDMA_RESP_SLOT_SIZE];
		size_t size;
		uint64_t until;
	} late;
	struct fault faults[FAULT_COUNT];
	struct journal *journal;
	/* The backend has reported that it is gone. */
	bool backend_gone;

	uint64_t events_lost;
	struct log_limit log_limit;
};

/* Returns the register value that the guest reads, without side effects. */
uint32_t model_register(const struct model *m, uint64_t offset);

/* ---- log.c */
__attribute__((format(printf, 2, 3)))
void model_log(struct model *m, const char *format, ...);

/* ---- interrupt.c */
void model_interrupt(struct model *m, unsigned int vector);
/* Sets the mask register; interrupts that it held back are sent. */
void model_mask(struct model *m, uint32_t value);

/* ---- reset.c */
/* Drops all state of the guest; a new DSR is required. */
void model_reset(struct model *m);

/* ---- dsr.c */
void dsr_fill_caps(struct model *m);
int dsr_attach(struct model *m, uint64_t address);
void dsr_detach(struct model *m);

/* ---- pages.c */
/*
 * Returns the guest's memory at @address, or NULL if there is none. All @size bytes must
 * be in one page.
 */
void *model_dma(struct model *m, uint64_t address, size_t size);
/*
 * Returns -EFAULT if an address in the directory is not in memory, -EINVAL if there are
 * too many.
 */
int pages_map(struct model *m, uint64_t directory, uint32_t count, struct pages **mapped);
/*
 * Like pages_map(), but maps the pages in parts: returns 1 as long as there are more
 * pages.
 */
int pages_begin(struct model *m, uint64_t directory, uint32_t count, struct pages **begun);
int pages_more(struct model *m, struct pages *pages, uint32_t most);
void pages_unmap(struct pages *pages);
/*
 * Reads only the addresses from page @first on, and checks that they are page-aligned,
 * but not that there is memory at these addresses.
 */
int pages_read(struct model *m, uint64_t directory, uint32_t first, uint32_t count,
	       uint64_t *addresses);
/* Returns true if guest memory in use overlaps this range. */
bool pages_within(const struct model *m, uint64_t address, uint64_t size);

/* ---- ring.c */
/* Returns the size of an element with @sges SGEs after @fixed bytes (hw 5.4). */
uint32_t ring_stride(size_t fixed, uint32_t sges);
/*
 * Returns the maximum number of pages for a ring of up to @count elements and its header,
 * about twice the number needed, because libraries round up.
 */
uint32_t ring_max_pages(size_t fixed, uint32_t sges, uint32_t count);
/*
 * Initialises a ring of @count elements in @pages pages from page @first on. Returns
 * -EINVAL if the pages do not suffice.
 */
int ring_init(struct ring *ring, struct pages *map, bool tx, uint32_t first,
	      uint32_t pages, uint32_t count, uint32_t stride);
/*
 * Returns the number of elements produced by the guest and not consumed yet, or -1 if an
 * index is invalid.
 */
int64_t ring_pending(const struct ring *ring);
void *ring_next(const struct ring *ring);
void ring_consume(struct ring *ring);
/* Checks whether a ring that the device writes has room at @prod. */
int ring_room(const struct ring *ring, uint32_t prod);
void *ring_at(const struct ring *ring, uint32_t index);
uint32_t ring_after(const struct ring *ring, uint32_t index);
void ring_produce(struct ring *ring, uint32_t prod);

/* ---- event.c */
int device_ring_init(struct model *m, struct device_ring *ring,
		     const struct pvrdma_ring_info *info, uint32_t element);
void event_send(struct model *m, enum pvrdma_event_type type, uint32_t info);
/* Returns false if there is no room. */
bool event_notify(struct model *m, uint32_t cq);
void event_from_backend(void *ctx, enum ibv_event_type type, void *object);

/* ---- command.c */
/* Returns the new value of ERR. */
uint32_t command_run(struct model *m);
/* Continues the current command. Returns true if there is more to do. */
bool command_continue(struct model *m);
/* Abandons the response. */
void command_abandon(struct model *m);
void command_done(void *ctx, void *request, int err);
/*
 * Sends a delayed response that is due. Returns the time of the next call, or
 * BACKEND_IDLE.
 */
uint64_t command_late(struct model *m, uint64_t now);
/* Drops a delayed response. */
void command_reset(struct model *m);

/* ---- object.c: PDs, user contexts, GIDs, MRs */
int context_create(struct model *m, uint64_t pfn, uint32_t *handle);
int context_destroy(struct model *m, uint32_t handle);
/* Handle 0 stands for the kernel; *@context is then NULL. */
int context_get(struct model *m, uint32_t handle, struct context **context);
void context_put(struct context *context);
/* Records that an object was created (1) or destroyed (-1); NULL: of the kernel. */
void context_count(struct context *context, enum context_kind kind, int change);
int pd_create(struct model *m, uint32_t context, uint32_t *handle);
int pd_destroy(struct model *m, uint32_t handle);
/* -EINPROGRESS: the caller must call mr_continue(), unless the backend continues. */
int mr_create(struct model *m, const struct pvrdma_cmd_create_mr *cmd, struct mr **created);
int mr_continue(struct model *m, struct mr *mr);
/* @err is 0 if the backend has created the MR; otherwise, the MR is freed. */
int mr_finish(struct model *m, struct mr *mr, int err);
/* Abandons an MR that is not finished. */
void mr_abandon(struct model *m, struct mr *mr);
int mr_destroy(struct model *m, uint32_t handle);
int gid_bind(struct model *m, const struct pvrdma_cmd_create_bind *cmd);
int gid_unbind(struct model *m, uint32_t index);

/* ---- cq.c */
int cq_create(struct model *m, const struct pvrdma_cmd_create_cq *cmd, uint32_t *handle);
int cq_destroy(struct model *m, uint32_t handle);
void cq_doorbell(struct model *m, struct cq *cq, uint32_t value);
/* Returns false if the CQ was full, and has failed. */
bool cq_push(struct model *m, struct cq *cq, struct pvrdma_cqe *cqe, bool solicited);
void cq_retry_notifications(struct model *m);

/* ---- qp.c, srq.c */
int qp_create(struct model *m, const struct pvrdma_cmd_create_qp *cmd, struct qp **created);
/* -EINPROGRESS: qp_modified() will follow. */
int qp_modify(struct model *m, const struct pvrdma_cmd_modify_qp *cmd, struct qp **qp);
void qp_modified(struct model *m, struct qp *qp, const struct pvrdma_cmd_modify_qp *cmd);
int qp_query(struct model *m, uint32_t handle, struct pvrdma_qp_attr *attr);
int qp_destroy(struct model *m, uint32_t handle);
/* Fails the QPs of CQs that have failed. */
void qp_fail_with_cqs(struct model *m);
int srq_create(struct model *m, const struct pvrdma_cmd_create_srq *cmd, uint32_t *handle);
int srq_modify(struct model *m, const struct pvrdma_cmd_modify_srq *cmd);
int srq_query(struct model *m, uint32_t handle, struct pvrdma_srq_attr *attr);
int srq_destroy(struct model *m, uint32_t handle);

/* ---- failure.c */
void qp_fail(struct model *m, struct qp *qp);
/*
 * Records that a request of the QP failed with @status, and that @event reported a
 * failure of the QP (-1: no event).
 */
void qp_note_failure(struct model *m, struct qp *qp, uint32_t status, int32_t event);

/* ---- work.c */
void works_init(struct works *works, uint32_t count, bool sends);
/* Drops all requests. */
void works_drop(struct model *m, struct works *works);
/* Frees the memory of all requests, of which none is in use. */
void works_free(struct model *m);
/* Returns true if all requests are in use. */
bool works_full(const struct works *works);
void queue_remove(struct model *m, struct queue *queue);
/* Time until which the queue's requests are left in the ring; 0: not held. */
uint64_t queue_held(const struct model *m, const struct queue *queue);
/* Passes requests in the ring to the backend. */
void queue_fetch(struct model *m, struct queue *queue);
void work_completed(void *ctx, void *qp, const struct backend_wc *wc);

/* ---- send.c */
/*
 * Translates the request @sqe for the backend; @fast_reg is memory that the result may
 * refer to. Returns IBV_WC_SUCCESS, or the status with which the request has to fail.
 */
enum ibv_wc_status send_translate(struct model *m, struct qp *qp, const struct pvrdma_sqe *sqe,
				  struct backend_send *send, struct backend_fast_reg *fast_reg);
/* Returns the opcode of the completion. */
uint32_t send_wc_op(uint32_t opcode);

/* ---- uar.c */
int uar_write(struct model *m, uint64_t offset, uint32_t value);

#endif /* MODEL_FUNCTION_H */
