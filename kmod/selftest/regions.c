// SPDX-License-Identifier: GPL-2.0-only
/* Cases: regions that work requests register and invalidate. */

#include <linux/sizes.h>

#include "selftest.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define LENGTH	3000

/* What the client does with memory of the server. */
static bool access(struct pair *p, enum ib_wr_opcode opcode, u64 addr, u32 length, u32 rkey,
		   enum ib_wc_status status, u32 vendor_err)
{
	struct ib_sge sge = end_sge(&p->client, 0, length);
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 1, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = addr,
		.rkey = rkey,
	};
	struct ib_wc wc;

	return end_post(&p->client, &wr.wr) &&
	       end_completes(&p->client, p->client.scq, 1, status, &wc) &&
	       CLAUSE(wc.vendor_err == vendor_err);
}

static bool writes(struct pair *p, u64 addr, u32 length)
{
	return access(p, IB_WR_RDMA_WRITE, addr, length, p->server.mr->rkey, IB_WC_SUCCESS, 0);
}

/* A key that names nothing. */
static bool is_dead(struct pair *p, u32 rkey)
{
	return access(p, IB_WR_RDMA_WRITE, p->server.mr->iova, 1, rkey, IB_WC_REM_ACCESS_ERR, 2);
}

/* One registration: some pages in some order, seen as one range. */
static bool scatter(struct pair *p, const u8 *pages, unsigned int count, unsigned int offset,
		    u64 base)
{
	u32 length = count * PAGE_SIZE - offset, i, at;
	struct end *to = &p->server;

	if (!end_map(to, pages, count, offset))
		return false;
	/* Consumers may choose what it is called, but for the offset. */
	to->mr->iova = base ?: to->mr->iova;
	memset(to->buf, 0, PAIR_PAGES * PAGE_SIZE);
	end_fill(&p->client, 0, length, count);
	if (!end_register(to, REMOTE) || !writes(p, to->mr->iova, length))
		return false;
	for (i = 0; i < length; i++) {
		at = pages[(offset + i) / PAGE_SIZE] * PAGE_SIZE + (offset + i) % PAGE_SIZE;
		if (!CLAUSE(to->buf[at] == p->client.buf[i]))
			return false;
		to->buf[at] = 0;
	}
	return CLAUSE(!memchr_inv(to->buf, 0, PAIR_PAGES * PAGE_SIZE)) &&
	       end_invalidate(to, to->mr->rkey);
}

bool region_register(struct pair *p)
{
	static const u8 pages[] = { 7, 2, 9, 4, 13, 3, 11, 15, 0 };
	struct ib_mr *mr = p->server.mr;
	unsigned int offset;
	u32 old;

	/* Few pages are in the request itself, more in a table. */
	for (offset = 0; offset < PAGE_SIZE; offset += 2731)
		if (!scatter(p, pages, 1, offset, 0) || !scatter(p, pages, 3, offset, 0) ||
		    !scatter(p, pages, 4, offset, 0) || !scatter(p, pages, 5, offset, 0) ||
		    !scatter(p, pages, ARRAY_SIZE(pages), offset, SZ_4G * 5 + SZ_1M + offset))
			return false;
	/* The key of before is dead, and so is what is beyond the end. */
	old = mr->rkey;
	return end_map(&p->server, pages, 3, 100) && end_register(&p->server, REMOTE) &&
	       CLAUSE(mr->rkey != old) && CLAUSE(mr->lkey == mr->rkey) &&
	       writes(p, mr->iova + 1, mr->length - 1) &&
	       access(p, IB_WR_RDMA_WRITE, mr->iova + 1, mr->length, mr->rkey,
		      IB_WC_REM_ACCESS_ERR, 3);
}

bool region_invalidate(struct pair *p)
{
	u32 old;

	if (!end_expose(&p->server, REMOTE) || !writes(p, p->server.mr->iova, LENGTH))
		return false;
	old = p->server.mr->rkey;
	return end_invalidate(&p->server, old) && end_expose(&p->server, REMOTE) &&
	       writes(p, p->server.mr->iova, LENGTH) && is_dead(p, old);
}

bool region_send_invalidate(struct pair *p)
{
	struct ib_send_wr wr = {
		.wr_id = 1, .opcode = IB_WR_SEND_WITH_INV, .send_flags = IB_SEND_SIGNALED,
		.num_sge = 1,
	};
	struct ib_sge sge = end_sge(&p->client, 50, LENGTH);
	struct ib_wc wc;

	if (!end_expose(&p->server, REMOTE) || !writes(p, p->server.mr->iova, LENGTH))
		return false;
	wr.sg_list = &sge;
	wr.ex.invalidate_rkey = p->server.mr->rkey;
	end_fill(&p->client, 50, LENGTH, 21);
	if (!end_receive(&p->server, 2, 7000, LENGTH) || !end_post(&p->client, &wr) ||
	    !end_sent(&p->client, 1, IB_WC_SEND, &wc) ||
	    !end_received(&p->server, 2, IB_WC_RECV, &wc) ||
	    !CLAUSE(wc.wc_flags == IB_WC_WITH_INVALIDATE) ||
	    !CLAUSE(wc.ex.invalidate_rkey == wr.ex.invalidate_rkey) ||
	    !CLAUSE(wc.byte_len == LENGTH) || !CLAUSE(end_holds(&p->server, 7000, LENGTH, 21)))
		return false;
	/* It can be registered again, with another key. */
	return end_expose(&p->server, REMOTE) && writes(p, p->server.mr->iova, LENGTH) &&
	       is_dead(p, wr.ex.invalidate_rkey);
}

bool region_read_invalidate(struct pair *p)
{
	struct ib_mr *sink = p->client.mr;
	struct ib_sge sge = { .length = LENGTH };
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 1, .opcode = IB_WR_RDMA_READ_WITH_INV, .sg_list = &sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED },
	};
	struct ib_wc wc;
	int i;

	if (!end_expose(&p->server, REMOTE))
		return false;
	wr.remote_addr = p->server.mr->iova + 77;
	wr.rkey = p->server.mr->rkey;
	for (i = 0; i < 2; i++) {
		if (!end_expose(&p->client, REMOTE))
			return false;
		sge.addr = sink->iova + 200;
		sge.lkey = sink->lkey;
		wr.wr.ex.invalidate_rkey = sink->rkey;
		end_fill(&p->server, 77, LENGTH, 31 + i);
		if (!end_post(&p->client, &wr.wr) ||
		    !end_sent(&p->client, 1, IB_WC_RDMA_READ, &wc) ||
		    !CLAUSE(wc.byte_len == LENGTH) ||
		    !CLAUSE(end_holds(&p->client, 200, LENGTH, 31 + i)))
			return false;
	}
	/* Nothing can be read into it any more. */
	return end_post(&p->client, &wr.wr) &&
	       end_completes(&p->client, p->client.scq, 1, IB_WC_LOC_ACCESS_ERR, &wc) &&
	       CLAUSE(wc.vendor_err == 0x30);
}
