// SPDX-License-Identifier: GPL-2.0-only
/* Cases: moving data from one end to the other, with each opcode. */

#include "selftest.h"

/* The data is larger than a page and unaligned, with a byte before and after it. */
#define SOURCE	123
#define TARGET	9001
#define LENGTH	5003

#define IMM	0x11223344
#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static bool arrived(const struct end *to, u32 length, u8 seed)
{
	return CLAUSE(end_holds(to, TARGET, length, seed)) && CLAUSE(!to->buf[TARGET - 1]) &&
	       CLAUSE(!to->buf[TARGET + length]);
}

/* Executes an RDMA request: one completion at this end, and none at the other end. */
static bool does(struct pair *p, struct ib_rdma_wr *wr, enum ib_wc_opcode opcode,
		 struct ib_wc *wc)
{
	wr->wr.wr_id = 3;
	wr->wr.send_flags |= IB_SEND_SIGNALED;
	return end_post(&p->client, &wr->wr) && end_sent(&p->client, 3, opcode, wc);
}

/*
 * Posts a request that the other end refuses; it is the last request because it ends the
 * connection.
 */
static bool fails(struct pair *p, struct ib_send_wr *wr, enum ib_wc_status status,
		  enum cause cause)
{
	struct ib_wc wc;

	wr->wr_id = 4;
	return end_post(&p->client, wr) &&
	       end_completes(&p->client, p->client.scq, 4, status, &wc) &&
	       CLAUSE(wc.vendor_err == vendor_errors[cause]);
}

/* A message is delivered to a receive, and both complete. */
static bool deliver(struct pair *p, struct ib_send_wr *wr, struct ib_wc *wc)
{
	struct ib_sge sge = end_sge(&p->client, SOURCE, LENGTH);

	wr->wr_id = 1;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IB_SEND_SIGNALED;
	end_fill(&p->client, SOURCE, LENGTH, 5);
	return end_receive(&p->server, 2, TARGET, LENGTH + 100) && end_post(&p->client, wr) &&
	       end_sent(&p->client, 1, IB_WC_SEND, wc) &&
	       end_received(&p->server, 2, IB_WC_RECV, wc) &&
	       CLAUSE(wc->byte_len == LENGTH) && arrived(&p->server, LENGTH, 5) &&
	       end_is_quiet(&p->client) && end_is_quiet(&p->server);
}

bool transfer_send(struct pair *p)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct ib_wc wc;

	if (!deliver(p, &wr, &wc) || !CLAUSE(!wc.wc_flags))
		return false;
	/* A message without data needs no memory. */
	wr.sg_list = NULL;
	wr.num_sge = 0;
	return end_receive(&p->server, 2, 0, 0) && end_post(&p->client, &wr) &&
	       end_sent(&p->client, 1, IB_WC_SEND, &wc) &&
	       end_received(&p->server, 2, IB_WC_RECV, &wc) && CLAUSE(!wc.byte_len);
}

bool transfer_send_imm(struct pair *p)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_IMM, .ex.imm_data = cpu_to_be32(IMM) };
	struct ib_wc wc;

	return deliver(p, &wr, &wc) && CLAUSE(wc.wc_flags == IB_WC_WITH_IMM) &&
	       CLAUSE(wc.ex.imm_data == cpu_to_be32(IMM));
}

static struct ib_rdma_wr rdma(const struct pair *p, enum ib_wr_opcode opcode,
			      struct ib_sge *sge, u32 offset)
{
	return (struct ib_rdma_wr) {
		.wr = { .opcode = opcode, .sg_list = sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = p->server.mr->iova + offset,
		.rkey = p->server.mr->rkey,
	};
}

bool transfer_write(struct pair *p)
{
	struct ib_sge sge = end_sge(&p->client, SOURCE, LENGTH);
	struct ib_rdma_wr wr;
	struct ib_wc wc;

	if (!end_expose(&p->server, REMOTE))
		return false;
	wr = rdma(p, IB_WR_RDMA_WRITE, &sge, TARGET);
	end_fill(&p->client, SOURCE, LENGTH, 6);
	if (!does(p, &wr, IB_WC_RDMA_WRITE, &wc) || !arrived(&p->server, LENGTH, 6) ||
	    !end_is_quiet(&p->server))
		return false;
	/* A read-only region. */
	if (!end_invalidate(&p->server, p->server.mr->rkey) ||
	    !end_expose(&p->server, IB_ACCESS_REMOTE_READ))
		return false;
	wr = rdma(p, IB_WR_RDMA_WRITE, &sge, TARGET);
	end_fill(&p->client, SOURCE, LENGTH, 7);
	return fails(p, &wr.wr, IB_WC_REM_ACCESS_ERR, NO_RIGHT) &&
	       arrived(&p->server, LENGTH, 6);
}

bool transfer_write_imm(struct pair *p)
{
	struct ib_sge sge = end_sge(&p->client, SOURCE, LENGTH);
	struct ib_rdma_wr wr;
	struct ib_wc wc;
	int i;

	if (!end_expose(&p->server, REMOTE))
		return false;
	wr = rdma(p, IB_WR_RDMA_WRITE_WITH_IMM, &sge, TARGET);
	wr.wr.ex.imm_data = cpu_to_be32(IMM);
	end_fill(&p->client, SOURCE, LENGTH, 8);
	/* The receive is for the immediate data only; the second write has no other data. */
	for (i = 0; i < 2; i++) {
		if (!end_receive(&p->server, 2, 0, 0) || !does(p, &wr, IB_WC_RDMA_WRITE, &wc) ||
		    !end_received(&p->server, 2, IB_WC_RECV_RDMA_WITH_IMM, &wc) ||
		    !CLAUSE(wc.wc_flags == IB_WC_WITH_IMM) ||
		    !CLAUSE(wc.ex.imm_data == wr.wr.ex.imm_data) ||
		    !CLAUSE(wc.byte_len == (i ? 0 : LENGTH)) || !arrived(&p->server, LENGTH, 8))
			return false;
		wr.wr.num_sge = 0;
		wr.wr.ex.imm_data = ~cpu_to_be32(IMM);
	}
	return end_is_quiet(&p->client) && end_is_quiet(&p->server);
}

bool transfer_read(struct pair *p)
{
	struct ib_sge sge = end_sge(&p->client, TARGET, LENGTH);
	struct ib_rdma_wr wr;
	struct ib_wc wc;

	if (!end_expose(&p->server, REMOTE))
		return false;
	wr = rdma(p, IB_WR_RDMA_READ, &sge, SOURCE);
	end_fill(&p->server, SOURCE, LENGTH, 9);
	if (!does(p, &wr, IB_WC_RDMA_READ, &wc) || !CLAUSE(wc.byte_len == LENGTH) ||
	    !arrived(&p->client, LENGTH, 9) || !end_is_quiet(&p->server))
		return false;
	/* A write-only region. */
	if (!end_invalidate(&p->server, p->server.mr->rkey) ||
	    !end_expose(&p->server, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE))
		return false;
	wr = rdma(p, IB_WR_RDMA_READ, &sge, SOURCE);
	end_fill(&p->server, SOURCE, LENGTH, 10);
	return fails(p, &wr.wr, IB_WC_REM_ACCESS_ERR, NO_RIGHT) &&
	       arrived(&p->client, LENGTH, 9);
}

/*
 * Executes an atomic operation: the old value is returned, and the other end's memory contains the
 * new value.
 */
static bool atomic(struct pair *p, struct ib_atomic_wr *wr, enum ib_wc_opcode opcode,
		   u64 before, u64 after)
{
	u64 *result = (u64 *)(p->client.buf + 64), *word = (u64 *)(p->server.buf + 128);
	struct ib_sge sge = end_sge(&p->client, 64, sizeof(*result));
	struct ib_wc wc;

	wr->wr.sg_list = &sge;
	wr->wr.num_sge = 1;
	wr->wr.wr_id = 1;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	*result = 0;
	return end_post(&p->client, &wr->wr) && end_sent(&p->client, 1, opcode, &wc) &&
	       CLAUSE(wc.byte_len == sizeof(*result)) && CLAUSE(*result == before) &&
	       CLAUSE(*word == after) && CLAUSE(!word[-1]) && CLAUSE(!word[1]);
}

/* Tests requests that cannot be encoded in a WQE, then an unaligned address. */
static bool atomic_limits(struct pair *p, struct ib_atomic_wr *wr)
{
	struct ib_sge sge[2] = { end_sge(&p->client, 64, 8), end_sge(&p->client, 72, 8) };

	wr->wr.sg_list = sge;
	wr->wr.num_sge = 2;
	if (!end_refuses(&p->client, &wr->wr, &wr->wr, -EINVAL))
		return false;
	wr->wr.num_sge = 1;
	sge[0].length = 4;
	if (!end_refuses(&p->client, &wr->wr, &wr->wr, -EINVAL))
		return false;
	sge[0].length = 8;
	wr->remote_addr += 4;
	return fails(p, &wr->wr, is_iwarp(p->ibdev) ? IB_WC_REM_ACCESS_ERR :
						      IB_WC_REM_INV_REQ_ERR, UNALIGNED);
}

static bool atomic_begin(struct pair *p, struct ib_atomic_wr *wr, u64 value)
{
	if (!CLAUSE(p->ibdev->attrs.atomic_cap >= IB_ATOMIC_HCA) ||
	    !end_expose(&p->server, REMOTE | IB_ACCESS_REMOTE_ATOMIC))
		return false;
	wr->remote_addr = p->server.mr->iova + 128;
	wr->rkey = p->server.mr->rkey;
	*(u64 *)(p->server.buf + 128) = value;
	return true;
}

bool transfer_compare_swap(struct pair *p)
{
	const u64 first = 0x0123456789abcdef, second = 0xfedcba9876543210;
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .compare_add = first, .swap = second,
	};

	/* The second time, the value differs and therefore stays unchanged. */
	return atomic_begin(p, &wr, first) &&
	       atomic(p, &wr, IB_WC_COMP_SWAP, first, second) &&
	       atomic(p, &wr, IB_WC_COMP_SWAP, second, second) && atomic_limits(p, &wr);
}

bool transfer_fetch_add(struct pair *p)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = 0x100000001,
	};

	/* Tests a carry from the lower to the upper half, then an overflow. */
	return atomic_begin(p, &wr, U64_MAX - 0x100000001) &&
	       atomic(p, &wr, IB_WC_FETCH_ADD, U64_MAX - 0x100000001, U64_MAX) &&
	       atomic(p, &wr, IB_WC_FETCH_ADD, U64_MAX, 0x100000000) && atomic_limits(p, &wr);
}

bool transfer_no_atomics(struct pair *p)
{
	struct ib_sge sge = end_sge(&p->client, 64, sizeof(u64));
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .sg_list = &sge, .num_sge = 1 },
	};
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = p->client.mr,
		.key = p->client.mr->rkey,
		.access = REMOTE | IB_ACCESS_REMOTE_ATOMIC,
	};

	if (!CLAUSE(p->ibdev->attrs.atomic_cap == IB_ATOMIC_NONE) ||
	    !end_refuses(&p->client, &wr.wr, &wr.wr, -EOPNOTSUPP))
		return false;
	wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	return end_refuses(&p->client, &wr.wr, &wr.wr, -EOPNOTSUPP) &&
	       end_refuses(&p->client, &reg.wr, &reg.wr, -EOPNOTSUPP);
}

static bool qp_refused(struct pair *p, u32 sges, u32 receive_sges, u32 inline_data)
{
	struct ib_qp_init_attr attr = {
		.send_cq = p->client.scq, .recv_cq = p->client.rcq, .qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = sges,
			 .max_recv_sge = receive_sges, .max_inline_data = inline_data },
	};
	struct ib_qp *qp = ib_create_qp(p->client.pd, &attr);

	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	return CLAUSE(IS_ERR(qp)) && CLAUSE(PTR_ERR(qp) == -EINVAL);
}

/* Inline data is taken from CPU addresses, before the post returns. */
static bool inlined(struct pair *p, struct ib_send_wr *wr, u32 length,
		    enum ib_wc_opcode opcode, u8 seed)
{
	u8 *from = p->client.buf + SOURCE;
	struct ib_sge sge[3] = {
		{ .addr = (uintptr_t)from, .length = 1 },
		{ .addr = (uintptr_t)from + 1, .length = length / 2 },
		{ .addr = (uintptr_t)from + 1 + length / 2, .length = length - 1 - length / 2 },
	};
	struct ib_wc wc;
	bool posted;

	wr->wr_id = 1;
	wr->sg_list = sge;
	wr->num_sge = 3;
	wr->send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE;
	end_fill(&p->client, SOURCE, length, seed);
	sge[2].length++;
	if (!end_refuses(&p->client, wr, wr, -EINVAL))
		return false;
	sge[2].length--;
	posted = end_post(&p->client, wr);
	memset(from, 0, length);
	return posted && end_sent(&p->client, 1, opcode, &wc);
}

bool transfer_inline(struct pair *p)
{
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct ib_rdma_wr wr;
	struct ib_wc wc;
	u32 most;

	if (!CLAUSE(!ib_query_qp(p->client.qp, &attr, IB_QP_CAP, &init)))
		return false;
	most = init.cap.max_inline_data;
	if (!CLAUSE(most) || !qp_refused(p, 1, 1, most + 1) || !end_expose(&p->server, REMOTE))
		return false;
	wr = rdma(p, IB_WR_RDMA_WRITE, NULL, TARGET);
	if (!inlined(p, &wr.wr, most, IB_WC_RDMA_WRITE, 11) || !arrived(&p->server, most, 11))
		return false;
	return end_receive(&p->server, 2, TARGET, most) &&
	       inlined(p, &send, most, IB_WC_SEND, 12) &&
	       end_received(&p->server, 2, IB_WC_RECV, &wc) &&
	       CLAUSE(wc.byte_len == most) && arrived(&p->server, most, 12);
}

/* For an adapter that does not support inline data. */
bool transfer_no_inline(struct pair *p)
{
	struct ib_sge sge = { .addr = (uintptr_t)p->client.buf, .length = 1 };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
	};
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return CLAUSE(!ib_query_qp(p->client.qp, &attr, IB_QP_CAP, &init)) &&
	       CLAUSE(!init.cap.max_inline_data && !attr.cap.max_inline_data) &&
	       qp_refused(p, 1, 1, 1) && end_refuses(&p->client, &wr, &wr, -EINVAL) &&
	       transfer_send(p);
}

#define MOST_ELEMENTS	64

/* Builds as many SGEs as the device supports, of all sizes; the first one is empty. */
static u32 elements(const struct end *e, struct ib_sge *sge, u32 count)
{
	u32 i, length = 0;

	for (i = 0; i < count; i++) {
		sge[i] = end_sge(e, SOURCE + length, i * 301);
		length += i * 301;
	}
	return length;
}

bool transfer_elements(struct pair *p)
{
	const struct ib_device_attr *attrs = &p->ibdev->attrs;
	u32 most = attrs->max_send_sge, length, i;
	struct ib_sge sge[MOST_ELEMENTS];
	struct ib_recv_wr receive = { .sg_list = sge, .num_sge = attrs->max_recv_sge + 1 };
	const struct ib_recv_wr *bad = NULL;
	struct ib_rdma_wr wr;
	struct ib_wc wc;

	if (!CLAUSE(most > 1 && most < MOST_ELEMENTS) ||
	    !CLAUSE(attrs->max_recv_sge < MOST_ELEMENTS) || !CLAUSE(attrs->max_sge_rd <= most) ||
	    !qp_refused(p, most + 1, 1, 0) || !qp_refused(p, 1, attrs->max_recv_sge + 1, 0) ||
	    !end_expose(&p->server, REMOTE))
		return false;
	wr = rdma(p, IB_WR_RDMA_WRITE, sge, TARGET);
	for (i = 1; i <= most; i++) {
		length = elements(&p->client, sge, i);
		end_fill(&p->client, SOURCE, length, i);
		wr.wr.num_sge = i;
		wr.wr.opcode = IB_WR_RDMA_WRITE;
		if (!does(p, &wr, IB_WC_RDMA_WRITE, &wc) || !arrived(&p->server, length, i))
			return false;
		memset(p->server.buf + TARGET, 0, length);
		wr.wr.opcode = IB_WR_SEND;
		if (!end_receive(&p->server, 2, TARGET, length + 1) ||
		    !does(p, &wr, IB_WC_SEND, &wc) ||
		    !end_received(&p->server, 2, IB_WC_RECV, &wc) ||
		    !CLAUSE(wc.byte_len == length) || !arrived(&p->server, length, i))
			return false;
	}
	elements(&p->client, sge, most + 1);
	wr.wr.num_sge = most + 1;
	if (!end_refuses(&p->client, &wr.wr, &wr.wr, -EINVAL))
		return false;
	wr.wr.opcode = IB_WR_RDMA_READ;
	wr.wr.num_sge = attrs->max_sge_rd + 1;
	return end_refuses(&p->client, &wr.wr, &wr.wr, -EINVAL) &&
	       CLAUSE(ib_post_recv(p->server.qp, &receive, &bad) == -EINVAL) &&
	       CLAUSE(bad == &receive) && end_is_quiet(&p->client) && end_is_quiet(&p->server);
}
