// SPDX-License-Identifier: GPL-2.0-only
/* Cases: regions that work requests register and invalidate. */

#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "selftest.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define LENGTH	3000

/* Lets the client access memory of the server; the access must fail if a cause is given. */
static bool access(struct pair *p, enum ib_wr_opcode opcode, u64 addr, u32 length, u32 rkey,
		   const enum cause *cause)
{
	struct ib_sge sge = end_sge(&p->client, 0, length);
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 1, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = addr,
		.rkey = rkey,
	};
	enum ib_wc_status status = cause ? IB_WC_REM_ACCESS_ERR : IB_WC_SUCCESS;
	struct ib_wc wc;

	return end_post(&p->client, &wr.wr) &&
	       end_completes(&p->client, p->client.scq, 1, status, &wc) &&
	       CLAUSE(wc.vendor_err == (cause ? vendor_errors[*cause] : 0));
}

static bool writes(struct pair *p, u64 addr, u32 length)
{
	return access(p, IB_WR_RDMA_WRITE, addr, length, p->server.mr->rkey, NULL);
}

/* Checks that a key is not valid. */
static bool is_dead(struct pair *p, u32 rkey)
{
	static const enum cause cause = NO_KEY;

	return access(p, IB_WR_RDMA_WRITE, p->server.mr->iova, 1, rkey, &cause);
}

/* Tests one registration of some pages, in some order, mapped as one range. */
static bool scatter(struct pair *p, const u8 *pages, unsigned int count, unsigned int offset,
		    u64 base)
{
	u32 length = count * PAGE_SIZE - offset, i, at;
	struct end *to = &p->server;

	if (!end_map(to, pages, count, offset))
		return false;
	/* Consumers may choose the iova, except for the offset. */
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
	static const enum cause cause = BEYOND_END;
	struct ib_mr *mr = p->server.mr;
	unsigned int offset;
	u32 old;

	/* The request itself contains a few pages; more pages are in a table. */
	for (offset = 0; offset < PAGE_SIZE; offset += 2731)
		if (!scatter(p, pages, 1, offset, 0) || !scatter(p, pages, 3, offset, 0) ||
		    !scatter(p, pages, 4, offset, 0) || !scatter(p, pages, 5, offset, 0) ||
		    !scatter(p, pages, ARRAY_SIZE(pages), offset, SZ_4G * 5 + SZ_1M + offset))
			return false;
	/* The previous key is invalid, and so is memory beyond the end. */
	old = mr->rkey;
	return end_map(&p->server, pages, 3, 100) && end_register(&p->server, REMOTE) &&
	       CLAUSE(mr->rkey != old) && CLAUSE(mr->lkey == mr->rkey) &&
	       writes(p, mr->iova + 1, mr->length - 1) &&
	       access(p, IB_WR_RDMA_WRITE, mr->iova + 1, mr->length, mr->rkey, &cause);
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
	/* The region can be registered again, with a different key. */
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
	/* The region can no longer be the target of a read. */
	return end_post(&p->client, &wr.wr) &&
	       end_completes(&p->client, p->client.scq, 1, IB_WC_LOC_ACCESS_ERR, &wc) &&
	       CLAUSE(wc.vendor_err == vendor_errors[NO_SINK]);
}

/* For a transport that does not support read with invalidate. */
bool region_no_read_invalidate(struct pair *p)
{
	struct ib_sge sge = end_sge(&p->client, 0, LENGTH);
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 1, .opcode = IB_WR_RDMA_READ_WITH_INV, .sg_list = &sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED },
	};

	if (!end_expose(&p->server, REMOTE) || !end_expose(&p->client, REMOTE))
		return false;
	wr.remote_addr = p->server.mr->iova;
	wr.rkey = p->server.mr->rkey;
	wr.wr.ex.invalidate_rkey = p->client.mr->rkey;
	return end_refuses(&p->client, &wr.wr, &wr.wr, -EOPNOTSUPP) &&
	       writes(p, p->server.mr->iova, LENGTH) && end_is_quiet(&p->client);
}

/*
 * Registers the maximum number of pages of the device, all with the same memory; one more is
 * refused.
 */
bool region_limit(struct pair *p)
{
	u32 most = p->ibdev->attrs.max_fast_reg_page_list_len, i;
	struct ib_mr *former = p->server.mr, *mr;
	struct scatterlist *sg;
	bool ok;

	mr = ib_alloc_mr(p->server.pd, IB_MR_TYPE_MEM_REG, most + 1);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	if (!CLAUSE(IS_ERR(mr)))
		return false;
	mr = ib_alloc_mr(p->server.pd, IB_MR_TYPE_MEM_REG, most);
	sg = kcalloc(most, sizeof(*sg), GFP_KERNEL);
	ok = CLAUSE(!IS_ERR(mr)) && CLAUSE(sg);
	if (ok)
		sg_init_table(sg, most);
	for (i = 0; ok && i < most; i++) {
		sg_dma_address(&sg[i]) = p->server.dma + i % PAIR_PAGES * PAGE_SIZE;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	ok = ok && CLAUSE(ib_map_mr_sg(mr, sg, most, NULL, PAGE_SIZE) == most);
	if (ok) {
		mr->iova = SZ_1M;
		p->server.mr = mr;
		end_fill(&p->client, 0, LENGTH, 51);
		ok = end_register(&p->server, REMOTE) &&
		     writes(p, mr->iova + mr->length - LENGTH, LENGTH) &&
		     CLAUSE(end_holds(&p->server, (most - 1) % PAIR_PAGES * PAGE_SIZE +
						  PAGE_SIZE - LENGTH, LENGTH, 51));
		p->server.mr = former;
	}
	kfree(sg);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	return ok;
}
