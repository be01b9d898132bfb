// SPDX-License-Identifier: GPL-2.0-only
/* Cases: how queues accept requests and return completions. */

#include <linux/delay.h>
#include <linux/slab.h>

#include "selftest.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define SIZE	40

/* A list of sends, numbered from 0; each has its own SIZE bytes. */
struct list {
	struct ib_send_wr *wr;
	struct ib_sge *sge;
	unsigned int count;
};

static void list_free(struct list *l)
{
	kfree(l->wr);
	kfree(l->sge);
}

static bool list_make(struct list *l, const struct end *e, unsigned int count)
{
	unsigned int i;

	l->count = count;
	l->wr = kcalloc(count, sizeof(*l->wr), GFP_KERNEL);
	l->sge = kcalloc(count, sizeof(*l->sge), GFP_KERNEL);
	if (!l->wr || !l->sge) {
		list_free(l);
		return CLAUSE(false);
	}
	for (i = 0; i < count; i++) {
		l->sge[i] = end_sge(e, i * SIZE, SIZE);
		l->wr[i] = (struct ib_send_wr) {
			.next = i + 1 < count ? &l->wr[i + 1] : NULL,
			.wr_id = i,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &l->sge[i],
			.num_sge = 1,
		};
	}
	return true;
}

/* Posts receives for the messages from @first up to @end, each at its own place. */
static bool receive(struct end *e, unsigned int first, unsigned int end)
{
	for (; first < end; first++)
		if (!end_receive(e, first, first * SIZE, SIZE))
			return false;
	return true;
}

static bool received(struct end *e, unsigned int first, unsigned int end)
{
	struct ib_wc wc;

	for (; first < end; first++)
		if (!end_received(e, first, IB_WC_RECV, &wc) || !CLAUSE(wc.byte_len == SIZE))
			return false;
	return true;
}

/* Checks that all of these requests completed, in order, and no others. */
static bool sent(struct end *e, unsigned int first, unsigned int end)
{
	struct ib_wc wc;

	for (; first < end; first++)
		if (!end_sent(e, first, IB_WC_SEND, &wc))
			return false;
	return true;
}

static bool flushed(struct end *e, struct ib_cq *cq, unsigned int first, unsigned int end)
{
	struct ib_wc wc;

	for (; first < end; first++)
		if (!end_completes(e, cq, first, IB_WC_WR_FLUSH_ERR, &wc))
			return false;
	return true;
}

bool queue_signals(struct pair *p)
{
	unsigned int i, n = DEPTH / 2;
	struct list l;
	struct ib_wc wc;
	bool ok;

	if (!list_make(&l, &p->client, n))
		return false;
	for (i = 0; i < n; i++)
		l.wr[i].send_flags = i % 4 == 3 ? IB_SEND_SIGNALED : 0;
	end_fill(&p->client, 0, n * SIZE, 41);
	ok = receive(&p->server, 0, n) && end_post(&p->client, l.wr) &&
	     received(&p->server, 0, n) && CLAUSE(end_holds(&p->server, 0, n * SIZE, 41));
	for (i = 3; ok && i < n; i += 4)
		ok = end_sent(&p->client, i, IB_WC_SEND, &wc);
	list_free(&l);
	return ok && end_is_quiet(&p->client) && end_is_quiet(&p->server);
}

/* A bad request is reported; earlier requests are executed, and later requests are not. */
bool queue_chain(struct pair *p)
{
	unsigned int n = DEPTH / 2, bad = DEPTH / 4;
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, n))
		return false;
	end_fill(&p->client, 0, n * SIZE, 42);
	ok = receive(&p->server, 0, n) && end_post(&p->client, l.wr) &&
	     received(&p->server, 0, n) && sent(&p->client, 0, n) &&
	     CLAUSE(end_holds(&p->server, 0, n * SIZE, 42));
	l.wr[bad].opcode = IB_WR_LOCAL_INV;
	ok = ok && receive(&p->server, 0, bad) &&
	     end_refuses(&p->client, l.wr, &l.wr[bad], -EINVAL) &&
	     received(&p->server, 0, bad) && sent(&p->client, 0, bad) &&
	     end_refuses(&p->client, &l.wr[bad], &l.wr[bad], -EINVAL);
	/* An unknown opcode is refused, too. */
	l.wr[bad].opcode = IB_WR_RESERVED10;
	ok = ok && end_refuses(&p->client, &l.wr[bad], &l.wr[bad], -EOPNOTSUPP) &&
	     receive(&p->server, bad + 1, n) && end_post(&p->client, &l.wr[bad + 1]) &&
	     received(&p->server, bad + 1, n) && sent(&p->client, bad + 1, n);
	list_free(&l);
	return ok && end_is_quiet(&p->client) && end_is_quiet(&p->server);
}

/* Requests of maximum size: there is room for as many as requested. */
static bool largest(struct pair *p, struct list *l)
{
	unsigned int i, j, most = p->ibdev->attrs.max_send_sge;
	struct ib_rdma_wr *wr;
	struct ib_sge *sge;
	struct ib_wc wc;
	bool ok;

	wr = kcalloc(DEPTH, sizeof(*wr), GFP_KERNEL);
	sge = kcalloc(most, sizeof(*sge), GFP_KERNEL);
	ok = CLAUSE(wr && sge);
	for (j = 0; ok && j < most; j++)
		sge[j] = end_sge(&p->client, j, 1);
	for (i = 0; ok && i < DEPTH; i++)
		wr[i] = (struct ib_rdma_wr) {
			.wr = { .next = i + 1 < DEPTH ? &wr[i + 1].wr : NULL, .wr_id = i,
				.opcode = IB_WR_RDMA_WRITE_WITH_IMM, .sg_list = sge,
				.num_sge = most, .send_flags = IB_SEND_SIGNALED },
			.remote_addr = p->server.mr->iova + i * most,
			.rkey = p->server.mr->rkey,
		};
	ok = ok && end_post(&p->client, &wr[0].wr) &&
	     end_refuses(&p->client, l->wr, l->wr, -ENOMEM) && receive(&p->server, 0, DEPTH);
	for (i = 0; ok && i < DEPTH; i++)
		ok = end_received(&p->server, i, IB_WC_RECV_RDMA_WITH_IMM, &wc) &&
		     CLAUSE(wc.byte_len == most) &&
		     end_sent(&p->client, i, IB_WC_RDMA_WRITE, &wc);
	kfree(sge);
	kfree(wr);
	return ok;
}

/* A list that is too long: all requests that fit are executed, and the next request is reported. */
static bool overfill(struct pair *p, struct list *l, unsigned int *taken)
{
	const struct ib_send_wr *bad = NULL;
	unsigned int i, n;

	end_fill(&p->client, 0, l->count * SIZE, 43);
	memset(p->server.buf, 0, PAIR_PAGES * PAGE_SIZE);
	if (!CLAUSE(ib_post_send(p->client.qp, l->wr, &bad) == -ENOMEM) || !CLAUSE(bad))
		return false;
	*taken = bad - l->wr;
	if (!CLAUSE(*taken >= DEPTH) || !CLAUSE(*taken < l->count) ||
	    !end_refuses(&p->client, bad, bad, -ENOMEM))
		return false;
	for (i = 0; i < *taken; i = n) {
		n = min(i + DEPTH, *taken);
		if (!receive(&p->server, i, n) || !received(&p->server, i, n))
			return false;
	}
	return sent(&p->client, 0, *taken) && end_is_quiet(&p->client) &&
	       CLAUSE(end_holds(&p->server, 0, *taken * SIZE, 43)) &&
	       CLAUSE(!memchr_inv(p->server.buf + *taken * SIZE, 0, SIZE));
}

bool queue_full(struct pair *p)
{
	unsigned int first, second;
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, 8 * DEPTH))
		return false;
	ok = end_expose(&p->server, REMOTE) && overfill(p, &l, &first) && largest(p, &l) &&
	     overfill(p, &l, &second) && CLAUSE(first == second);
	list_free(&l);
	return ok;
}

/*
 * Posts more requests than a queue index can count, of sizes that do not divide the queue's length.
 */
bool queue_wrap(struct pair *p)
{
	unsigned int i, j, n = DEPTH / 2, round;
	struct ib_sge sge[4];
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, n))
		return false;
	for (j = 0; j < ARRAY_SIZE(sge); j++)
		sge[j] = end_sge(&p->client, j * SIZE / 4, SIZE / 4);
	for (i = 0; i < n; i++) {
		l.wr[i].send_flags = i + 1 < n ? 0 : IB_SEND_SIGNALED;
		if (i % 3) {
			l.wr[i].sg_list = sge;
			l.wr[i].num_sge = ARRAY_SIZE(sge);
		}
	}
	ok = true;
	for (round = 0; ok && round < 65536 / n + 2; round++) {
		end_fill(&p->client, 0, n * SIZE, round);
		ok = receive(&p->server, 0, n) && end_post(&p->client, l.wr) &&
		     received(&p->server, 0, n) && sent(&p->client, n - 1, n);
		for (i = 0; ok && i < n; i++)
			ok = CLAUSE(!memcmp(p->server.buf + i * SIZE,
					    p->client.buf + (i % 3 ? 0 : i * SIZE), SIZE));
	}
	list_free(&l);
	return ok && end_is_quiet(&p->client) && end_is_quiet(&p->server);
}

static bool called_back(const unsigned int *callbacks)
{
	unsigned long end = jiffies + 10 * HZ;

	while (!READ_ONCE(*callbacks) && time_before(jiffies, end))
		usleep_range(50, 100);
	return CLAUSE(READ_ONCE(*callbacks) == 1);
}

/*
 * Events of CQs with the same vector arrive in the order of their completions,
 * so a later one shows that there was no earlier one.
 */
bool queue_solicited(struct pair *p)
{
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, 2))
		return false;
	l.wr[0].next = NULL;
	l.wr[1].send_flags |= IB_SEND_SOLICITED;
	ok = CLAUSE(!ib_req_notify_cq(p->server.rcq, IB_CQ_SOLICITED)) &&
	     CLAUSE(!ib_req_notify_cq(p->client.scq, IB_CQ_NEXT_COMP)) &&
	     receive(&p->server, 0, 2) && end_post(&p->client, &l.wr[0]) &&
	     received(&p->server, 0, 1) && called_back(&p->client.scq_callbacks) &&
	     CLAUSE(!READ_ONCE(p->server.rcq_callbacks)) &&
	     end_post(&p->client, &l.wr[1]) && received(&p->server, 1, 2) &&
	     called_back(&p->server.rcq_callbacks) && sent(&p->client, 0, 2);
	list_free(&l);
	return ok;
}

static bool stop(struct end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return CLAUSE(!ib_modify_qp(e->qp, &attr, IB_QP_STATE));
}

/* Checks that requests posted to a stopped end are flushed. */
static bool flushes_late(struct end *e, struct list *l)
{
	return end_post(e, l->wr) && receive(e, 0, 3) && flushed(e, e->scq, 0, l->count) &&
	       flushed(e, e->rcq, 0, 3) && end_is_quiet(e);
}

/* The consumer stops: all outstanding requests are flushed, signaled or not. */
bool queue_flush(struct pair *p)
{
	const unsigned int n = 12, done = 5;
	struct list l, server;
	unsigned int i;
	bool ok;

	if (!list_make(&l, &p->client, n))
		return false;
	if (!list_make(&server, &p->server, 4)) {
		list_free(&l);
		return false;
	}
	for (i = 0; i < n; i++)
		l.wr[i].send_flags = i % 3 ? 0 : IB_SEND_SIGNALED;
	/* The first requests have receives; only requests 0 and 3 of these are signaled. */
	ok = receive(&p->server, 0, done) && end_post(&p->client, l.wr) &&
	     received(&p->server, 0, done) && sent(&p->client, 0, 1) && sent(&p->client, 3, 4) &&
	     end_post(&p->server, server.wr) && receive(&p->client, 0, 9);
	/* Four of the receives are for messages from the server. */
	ok = ok && received(&p->client, 0, 4) && sent(&p->server, 0, 4) && stop(&p->client) &&
	     flushed(&p->client, p->client.scq, done, n) &&
	     flushed(&p->client, p->client.rcq, 4, 9) && end_is_quiet(&p->client) &&
	     flushes_late(&p->client, &l);
	list_free(&server);
	list_free(&l);
	return ok;
}

/* A request fails: its completion reports the cause, and both ends are flushed. */
bool queue_flush_error(struct pair *p)
{
	struct ib_rdma_wr bad = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .num_sge = 1 },
		.remote_addr = p->server.dma,
		.rkey = p->server.mr->rkey,
	};
	struct list l, server;
	struct ib_wc wc;
	bool ok;

	if (!list_make(&l, &p->client, 6))
		return false;
	if (!list_make(&server, &p->server, 4)) {
		list_free(&l);
		return false;
	}
	/* The region was never registered. Failures are reported even if unsignaled. */
	bad.wr.sg_list = &l.sge[0];
	bad.wr.wr_id = 1;
	bad.wr.next = &l.wr[2];
	l.wr[0].next = &bad.wr;
	ok = receive(&p->server, 0, 4) && receive(&p->client, 0, 4) &&
	     end_post(&p->client, l.wr) && sent(&p->client, 0, 1) &&
	     end_completes(&p->client, p->client.scq, 1, IB_WC_REM_ACCESS_ERR, &wc) &&
	     CLAUSE(wc.vendor_err == vendor_errors[NO_KEY]) &&
	     flushed(&p->client, p->client.scq, 2, 6) &&
	     flushed(&p->client, p->client.rcq, 0, 4) && received(&p->server, 0, 1) &&
	     flushed(&p->server, p->server.rcq, 1, 4) && flushes_late(&p->server, &server);
	l.wr[0].next = &l.wr[1];
	ok = ok && flushes_late(&p->client, &l);
	list_free(&server);
	list_free(&l);
	return ok;
}

#define DONE		4
#define OUTSTANDING	12

/**
 * queue_outstanding() - first part of queue_lost()
 * @p: the pair
 */
bool queue_outstanding(struct pair *p)
{
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, OUTSTANDING))
		return false;
	l.wr[OUTSTANDING / 2].send_flags = 0;
	ok = receive(&p->server, 0, DONE) && end_post(&p->client, l.wr) &&
	     received(&p->server, 0, DONE) && receive(&p->client, 0, 5);
	list_free(&l);
	return ok;
}

/* Checks that no handler was called: a consumer that polls by itself may not have one. */
static bool not_called(struct end *e)
{
	msleep(100);
	return CLAUSE(!READ_ONCE(e->scq_callbacks)) && CLAUSE(!READ_ONCE(e->rcq_callbacks));
}

/*
 * In the meantime, the adapter has lost its state: executed requests stay executed, all other
 * requests are flushed, and a consumer that requests an event gets one.
 */
bool queue_lost(struct pair *p)
{
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, OUTSTANDING))
		return false;
	ok = sent(&p->client, 0, DONE) &&
	     flushed(&p->client, p->client.scq, DONE, OUTSTANDING) &&
	     flushed(&p->client, p->client.rcq, 0, 5) && end_is_quiet(&p->client) &&
	     not_called(&p->client) &&
	     CLAUSE(!ib_req_notify_cq(p->client.scq, IB_CQ_NEXT_COMP)) &&
	     flushes_late(&p->client, &l) && called_back(&p->client.scq_callbacks) &&
	     CLAUSE(!READ_ONCE(p->client.rcq_callbacks)) && end_is_quiet(&p->server);
	list_free(&l);
	return ok;
}

/* A request whose completion is reported. */
struct task {
	struct ib_cqe cqe;
	unsigned int number, *next;
};

static void on_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct task *task = container_of(wc->wr_cqe, struct task, cqe);

	if (CLAUSE(task->number == *task->next) && CLAUSE(wc->status == IB_WC_WR_FLUSH_ERR))
		++*task->next;
}

static bool drains(struct end *e, struct list *l, struct task *tasks)
{
	unsigned int i, sends = 0, receives = 0;
	struct ib_recv_wr wr = {};

	for (i = 0; i < l->count; i++) {
		tasks[2 * i] = (struct task) { { on_done }, i, &sends };
		tasks[2 * i + 1] = (struct task) { { on_done }, i, &receives };
		l->wr[i].wr_cqe = &tasks[2 * i].cqe;
		wr.wr_cqe = &tasks[2 * i + 1].cqe;
		if (!CLAUSE(!ib_post_recv(e->qp, &wr, NULL)))
			return false;
	}
	if (!end_post(e, l->wr))
		return false;
	ib_drain_qp(e->qp);
	return CLAUSE(sends == l->count) && CLAUSE(receives == l->count) && end_is_quiet(e);
}

/* The RDMA core's own drain: all requests are completed when it returns. */
bool queue_drain(struct pair *p)
{
	struct task *tasks;
	struct list l;
	bool ok;

	if (!list_make(&l, &p->client, DEPTH / 2))
		return false;
	tasks = kcalloc(2 * l.count, sizeof(*tasks), GFP_KERNEL);
	p->client.by_events = true;
	/* Drain twice: the second time, the QP is in the error state before anything is posted. */
	ok = CLAUSE(tasks) && CLAUSE(!ib_req_notify_cq(p->client.scq, IB_CQ_NEXT_COMP)) &&
	     CLAUSE(!ib_req_notify_cq(p->client.rcq, IB_CQ_NEXT_COMP)) &&
	     drains(&p->client, &l, tasks) && drains(&p->client, &l, tasks);
	kfree(tasks);
	list_free(&l);
	return ok;
}
