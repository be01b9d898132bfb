/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of the kernel consumer. */
#ifndef EADM_SELFTEST_H
#define EADM_SELFTEST_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define DEPTH		32
#define CQ_DEPTH	256
/* Memory of one end. */
#define PAIR_PAGES	16

#define CLAUSE(cond) \
	({ \
		bool _ok = (cond); \
		if (!_ok) \
			pr_err("selftest: %s:%d: does not hold: %s\n", __func__, __LINE__, #cond); \
		_ok; \
	})

/* Cause of a request's failure; the adapter's number for each cause is a parameter. */
enum cause { NO_KEY, BEYOND_END, NO_RIGHT, UNALIGNED, NO_SINK, NR_CAUSES };
extern unsigned int vendor_errors[NR_CAUSES];

/**
 * struct end - one end of a connection
 * @id: the connection manager's ID
 * @pd: PD of this end only
 * @scq: completions of sends, in number and order of the requests
 * @rcq: completions of receives
 * @qp: QP that signals only requests with the signaled flag
 * @mr: MR for fast registration of all the memory
 * @buf: memory, initially zero
 * @dma: its DMA address
 * @scq_callbacks: callbacks of the CQ; rcq_callbacks likewise
 * @by_events: each request has an ib_cqe; completions are polled when an event
 *	reports them
 * @made: all members above exist
 * @established: reported by the connection manager
 */
struct end {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *scq;
	struct ib_cq *rcq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	u8 *buf;
	dma_addr_t dma;
	unsigned int scq_callbacks, rcq_callbacks;
	bool by_events;
	bool made;
	bool established;
};

/* A connection of a device to itself. */
struct pair {
	struct ib_device *ibdev;
	struct rdma_cm_id *listener;
	struct end client, server;
	struct completion connected;
	int status;
};

bool refuses_unannounced(struct ib_qp *qp, struct ib_cq *cq, struct ib_mr *mr);
bool is_iwarp(const struct ib_device *ibdev);

struct pair *pair_make(struct ib_device *ibdev, const char *address);
void pair_destroy(struct pair *p);
bool pair_query(struct pair *p);

struct ib_sge end_sge(const struct end *e, u32 offset, u32 length);
void end_fill(struct end *e, u32 offset, u32 length, u8 seed);
bool end_holds(const struct end *e, u32 offset, u32 length, u8 seed);
bool end_receive(struct end *e, u64 wr_id, u32 offset, u32 length);
bool end_post(struct end *e, const struct ib_send_wr *wr);
bool end_refuses(struct end *e, const struct ib_send_wr *wr, const struct ib_send_wr *first,
		 int err);
bool end_completes(struct end *e, struct ib_cq *cq, u64 wr_id, enum ib_wc_status status,
		   struct ib_wc *wc);
bool end_sent(struct end *e, u64 wr_id, enum ib_wc_opcode opcode, struct ib_wc *wc);
bool end_received(struct end *e, u64 wr_id, enum ib_wc_opcode opcode, struct ib_wc *wc);
bool end_is_quiet(struct end *e);
bool end_map(struct end *e, const u8 *pages, unsigned int count, unsigned int offset);
bool end_register(struct end *e, int access);
bool end_expose(struct end *e, int access);
bool end_invalidate(struct end *e, u32 rkey);

/* Cases: each has its own pair and may leave the pair in any state. */
bool transfer_send(struct pair *p);
bool transfer_send_imm(struct pair *p);
bool transfer_write(struct pair *p);
bool transfer_write_imm(struct pair *p);
bool transfer_read(struct pair *p);
bool transfer_compare_swap(struct pair *p);
bool transfer_fetch_add(struct pair *p);
bool transfer_no_atomics(struct pair *p);
bool transfer_inline(struct pair *p);
bool transfer_no_inline(struct pair *p);
bool transfer_elements(struct pair *p);

bool region_register(struct pair *p);
bool region_invalidate(struct pair *p);
bool region_send_invalidate(struct pair *p);
bool region_read_invalidate(struct pair *p);
bool region_no_read_invalidate(struct pair *p);
bool region_limit(struct pair *p);

bool queue_signals(struct pair *p);
bool queue_chain(struct pair *p);
bool queue_full(struct pair *p);
bool queue_wrap(struct pair *p);
bool queue_solicited(struct pair *p);
bool queue_flush(struct pair *p);
bool queue_flush_error(struct pair *p);
bool queue_outstanding(struct pair *p);
bool queue_lost(struct pair *p);
bool queue_drain(struct pair *p);

#endif
