// SPDX-License-Identifier: GPL-2.0-only
/* A connected pair of QPs, and operations of test cases on its ends. */

#include <linux/dma-mapping.h>
#include <linux/inet.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "selftest.h"

#define PAIR_BYTES	(PAIR_PAGES * PAGE_SIZE)
#define CM_LIMIT_MS	10000
#define LIMIT		(10 * HZ)
/* Number of retries, on transports that support them, for receives that are posted late. */
#define RETRIES		7

/* Calls the callbacks of completions if the end works by events. */
static void process(struct end *e, struct ib_cq *cq)
{
	if (!e->by_events)
		return;
	do {
		ib_process_cq_direct(cq, -1);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static void on_send(struct ib_cq *cq, void *context)
{
	struct end *e = context;

	WRITE_ONCE(e->scq_callbacks, e->scq_callbacks + 1);
	process(e, cq);
}

static void on_receive(struct ib_cq *cq, void *context)
{
	struct end *e = context;

	WRITE_ONCE(e->rcq_callbacks, e->rcq_callbacks + 1);
	process(e, cq);
}

/* Events of the QP are ignored: cases check the completions. */
static void on_event(struct ib_event *event, void *context)
{
}

static int make_qp(struct end *e)
{
	struct ib_qp_init_attr attr = {
		.event_handler = on_event,
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = e->id->device->attrs.max_send_sge,
			 .max_recv_sge = e->id->device->attrs.max_recv_sge },
	};
	int ret = rdma_create_qp(e->id, e->pd, &attr);

	if (!ret)
		e->qp = e->id->qp;
	return ret;
}

static int end_make(struct end *e, struct rdma_cm_id *id)
{
	struct ib_cq_init_attr cq_attr = { .cqe = CQ_DEPTH };
	struct ib_device *ibdev = id->device;
	int ret;

	e->id = id;
	e->made = true;
	e->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(e->pd))
		return PTR_ERR(e->pd);
	e->scq = ib_create_cq(ibdev, on_send, on_event, e, &cq_attr);
	if (IS_ERR(e->scq))
		return PTR_ERR(e->scq);
	e->rcq = ib_create_cq(ibdev, on_receive, on_event, e, &cq_attr);
	if (IS_ERR(e->rcq))
		return PTR_ERR(e->rcq);
	ret = make_qp(e);
	if (ret)
		return ret;
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, PAIR_PAGES);
	if (IS_ERR(e->mr))
		return PTR_ERR(e->mr);
	e->buf = dma_alloc_coherent(ibdev->dma_device, PAIR_BYTES, &e->dma, GFP_KERNEL);
	return e->buf ? 0 : -ENOMEM;
}

static void end_destroy(struct end *e)
{
	if (e->qp)
		rdma_destroy_qp(e->id);
	if (!IS_ERR_OR_NULL(e->mr))
		ib_dereg_mr(e->mr);
	if (!IS_ERR_OR_NULL(e->rcq))
		ib_destroy_cq(e->rcq);
	if (!IS_ERR_OR_NULL(e->scq))
		ib_destroy_cq(e->scq);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->buf)
		dma_free_coherent(e->id->device->dma_device, PAIR_BYTES, e->buf, e->dma);
	if (e->id)
		rdma_destroy_id(e->id);
}

/* Handles events of all three IDs; the server's ID is a child of the listener's ID. */
static int on_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = RETRIES, .rnr_retry_count = RETRIES,
	};
	struct pair *p = id->context;
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = rdma_resolve_route(id, CM_LIMIT_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = end_make(&p->client, id) ?: rdma_connect_locked(id, &param);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/* No connection is expected, so the connection manager destroys the ID. */
		if (p->server.made)
			return -EBUSY;
		ret = end_make(&p->server, id) ?: rdma_accept(id, &param);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		(id == p->client.id ? &p->client : &p->server)->established = true;
		complete(&p->connected);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		ret = event->status ?: -ECONNREFUSED;
	}
	if (ret) {
		p->status = ret;
		complete(&p->connected);
	}
	return 0;
}

static struct rdma_cm_id *make_id(struct pair *p)
{
	return rdma_create_id(&init_net, on_cm_event, p, RDMA_PS_TCP, IB_QPT_RC);
}

static int pair_connect(struct pair *p, const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct rdma_cm_id *id;
	int ret;

	if (!in4_pton(address, -1, (u8 *)&to.sin_addr, -1, NULL))
		return -EINVAL;
	id = make_id(p);
	if (IS_ERR(id))
		return PTR_ERR(id);
	p->listener = id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&to) ?: rdma_listen(id, 1);
	if (ret)
		return ret;
	/* The port was chosen by the system. */
	to.sin_port = ((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port;
	id = make_id(p);
	if (IS_ERR(id))
		return PTR_ERR(id);
	p->client.id = id;
	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, CM_LIMIT_MS);
	while (!ret && !(p->client.established && p->server.established)) {
		if (!wait_for_completion_timeout(&p->connected, msecs_to_jiffies(CM_LIMIT_MS)))
			return -ETIMEDOUT;
		ret = p->status;
	}
	return ret;
}

/**
 * pair_make() - connect a device to itself
 * @ibdev: the device
 * @address: its IPv4 address
 *
 * Return: the pair, or NULL, with the reason in the log.
 */
struct pair *pair_make(struct ib_device *ibdev, const char *address)
{
	struct pair *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int ret;

	if (!p)
		return NULL;
	p->ibdev = ibdev;
	init_completion(&p->connected);
	ret = pair_connect(p, address);
	if (!ret && p->client.id->device == ibdev && p->server.id->device == ibdev)
		return p;
	pr_err("selftest: cannot connect to %s: %d\n", address, ret);
	pair_destroy(p);
	return NULL;
}

/**
 * pair_destroy() - destroy a pair
 * @p: the pair, in any state
 */
void pair_destroy(struct pair *p)
{
	/* Once the listener is gone, no new child can be created. */
	if (p->listener)
		rdma_destroy_id(p->listener);
	if (p->client.qp)
		rdma_disconnect(p->client.id);
	end_destroy(&p->client);
	end_destroy(&p->server);
	kfree(p);
}

/**
 * pair_query() - case: a query returns the attributes of a connected QP
 * @p: the pair
 */
bool pair_query(struct pair *p)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	memset(&init, 0xff, sizeof(init));
	if (!CLAUSE(!ib_query_qp(p->client.qp, &attr, IB_QP_STATE | IB_QP_CAP, &init)) ||
	    !CLAUSE(attr.qp_state == IB_QPS_RTS && attr.cap.max_send_wr >= DEPTH) ||
	    !CLAUSE(init.send_cq == p->client.scq && init.recv_cq == p->client.rcq) ||
	    !CLAUSE(init.sq_sig_type == IB_SIGNAL_REQ_WR))
		return false;
	return is_iwarp(p->ibdev) ||
	       (CLAUSE(attr.dest_qp_num == p->server.qp->qp_num && attr.port_num == 1) &&
		CLAUSE(attr.rnr_retry == RETRIES && attr.max_rd_atomic == 4) &&
		CLAUSE(attr.ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE) &&
		CLAUSE(attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE) &&
		CLAUSE(!attr.alt_port_num && !attr.alt_timeout && !attr.qkey));
}

/**
 * end_sge() - return an SGE for a part of an end's memory
 * @e: the end
 * @offset: into it
 * @length: bytes
 */
struct ib_sge end_sge(const struct end *e, u32 offset, u32 length)
{
	return (struct ib_sge) {
		.addr = e->dma + offset,
		.length = length,
		.lkey = e->pd->local_dma_lkey,
	};
}

/**
 * end_fill() - fill memory with a pattern that end_holds() recognises
 * @e: the end
 * @offset: into its memory
 * @length: bytes
 * @seed: selects the pattern
 */
void end_fill(struct end *e, u32 offset, u32 length, u8 seed)
{
	u32 i;

	for (i = 0; i < length; i++)
		e->buf[offset + i] = i * 7 + (i >> 8) + seed;
}

/**
 * end_holds() - check for a pattern of end_fill()
 * @e: the end
 * @offset: into its memory
 * @length: bytes
 * @seed: as passed to end_fill()
 */
bool end_holds(const struct end *e, u32 offset, u32 length, u8 seed)
{
	u32 i;

	for (i = 0; i < length; i++)
		if (e->buf[offset + i] != (u8)(i * 7 + (i >> 8) + seed))
			return false;
	return true;
}

/**
 * end_receive() - post a receive
 * @e: the end
 * @wr_id: its number
 * @offset: offset into the end's memory
 * @length: bytes; 0: the receive has no SGE
 *
 * Return: true if the receive was accepted.
 */
bool end_receive(struct end *e, u64 wr_id, u32 offset, u32 length)
{
	struct ib_sge sge = end_sge(e, offset, length);
	struct ib_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = !!length,
	};

	return CLAUSE(!ib_post_recv(e->qp, &wr, NULL));
}

/**
 * end_post() - post to the send queue
 * @e: the end
 * @wr: list of requests
 *
 * Return: true if all were accepted.
 */
bool end_post(struct end *e, const struct ib_send_wr *wr)
{
	return CLAUSE(!ib_post_send(e->qp, wr, NULL));
}

/**
 * end_refuses() - post requests that must be refused
 * @e: the end
 * @wr: list of requests
 * @first: the first request that is refused
 * @err: expected error
 *
 * Return: true if the request was refused with this error.
 */
bool end_refuses(struct end *e, const struct ib_send_wr *wr, const struct ib_send_wr *first,
		 int err)
{
	const struct ib_send_wr *bad = NULL;
	int ret = ib_post_send(e->qp, wr, &bad);

	return CLAUSE(ret == err) && CLAUSE(bad == first);
}

/**
 * end_completes() - wait for the next completion
 * @e: the end
 * @cq: one of its CQs
 * @wr_id: expected number
 * @status: expected status
 * @wc: set to the completion
 *
 * Return: true if the completion arrived and is as expected.
 */
bool end_completes(struct end *e, struct ib_cq *cq, u64 wr_id, enum ib_wc_status status,
		   struct ib_wc *wc)
{
	unsigned long end = jiffies + LIMIT;
	int n;

	while (!(n = ib_poll_cq(cq, 1, wc)) && time_before(jiffies, end))
		usleep_range(50, 100);
	if (n == 1 && wc->wr_id == wr_id && wc->status == status && wc->qp == e->qp)
		return true;
	if (n == 1)
		pr_err("selftest: request %llu: %s (vendor %#x) instead of request %llu: %s\n",
		       wc->wr_id, ib_wc_status_msg(wc->status), wc->vendor_err, wr_id,
		       ib_wc_status_msg(status));
	else
		pr_err("selftest: request %llu: %d completions\n", wr_id, n);
	return false;
}

/**
 * end_sent() - wait for the completion of a send
 * @e: the end
 * @wr_id: number of the request
 * @opcode: expected opcode of the completion
 * @wc: set to the completion
 */
bool end_sent(struct end *e, u64 wr_id, enum ib_wc_opcode opcode, struct ib_wc *wc)
{
	return end_completes(e, e->scq, wr_id, IB_WC_SUCCESS, wc) &&
	       CLAUSE(wc->opcode == opcode) && CLAUSE(!wc->wc_flags) &&
	       CLAUSE(!wc->vendor_err);
}

/**
 * end_received() - wait for the completion of a receive
 * @e: the end
 * @wr_id: number of the request
 * @opcode: expected opcode of the completion
 * @wc: set to the completion
 */
bool end_received(struct end *e, u64 wr_id, enum ib_wc_opcode opcode, struct ib_wc *wc)
{
	return end_completes(e, e->rcq, wr_id, IB_WC_SUCCESS, wc) &&
	       CLAUSE(wc->opcode == opcode) && CLAUSE(!wc->vendor_err);
}

/**
 * end_is_quiet() - check that there are no completions
 * @e: the end
 */
bool end_is_quiet(struct end *e)
{
	struct ib_wc wc;

	return CLAUSE(!ib_poll_cq(e->scq, 1, &wc)) && CLAUSE(!ib_poll_cq(e->rcq, 1, &wc));
}

/**
 * end_map() - set the memory that an end's MR will cover
 * @e: the end
 * @pages: pages of its memory, in this order
 * @count: number of pages
 * @offset: into the first page
 *
 * Return: true if that worked.
 */
bool end_map(struct end *e, const u8 *pages, unsigned int count, unsigned int offset)
{
	struct scatterlist sg[PAIR_PAGES];
	unsigned int i, begin = offset;

	sg_init_table(sg, count);
	for (i = 0; i < count; i++) {
		sg_dma_address(&sg[i]) = e->dma + pages[i] * PAGE_SIZE;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	return CLAUSE(ib_map_mr_sg(e->mr, sg, count, &begin, PAGE_SIZE) == count) &&
	       CLAUSE(e->mr->length == count * PAGE_SIZE - offset);
}

/**
 * end_register() - register a mapped MR, with a new key
 * @e: the end
 * @access: access flags
 *
 * Return: true if that worked.
 */
bool end_register(struct end *e, int access)
{
	struct ib_reg_wr wr = {
		.wr = { .wr_id = 100, .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED },
		.mr = e->mr,
		.access = access,
	};
	struct ib_wc wc;

	ib_update_fast_reg_key(e->mr, ib_inc_rkey(e->mr->rkey));
	wr.key = e->mr->rkey;
	return end_post(e, &wr.wr) && end_sent(e, 100, IB_WC_REG_MR, &wc);
}

/**
 * end_expose() - register all of an end's memory, with its pages in order
 * @e: the end
 * @access: access flags
 *
 * Return: true if that worked; the MR's iova is the end's dma.
 */
bool end_expose(struct end *e, int access)
{
	u8 pages[PAIR_PAGES];
	unsigned int i;

	for (i = 0; i < PAIR_PAGES; i++)
		pages[i] = i;
	return end_map(e, pages, PAIR_PAGES, 0) && CLAUSE(e->mr->iova == e->dma) &&
	       end_register(e, access);
}

/**
 * end_invalidate() - invalidate an MR
 * @e: the end
 * @rkey: its key
 */
bool end_invalidate(struct end *e, u32 rkey)
{
	struct ib_send_wr wr = {
		.wr_id = 101, .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = rkey,
	};
	struct ib_wc wc;

	return end_post(e, &wr) && end_sent(e, 101, IB_WC_LOCAL_INV, &wc);
}
