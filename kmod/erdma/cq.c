// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues (hw 7). */

#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "erdma.h"

#define MIN_DEPTH	64
#define PAGE_SIZES	(SZ_32M | (SZ_32M - SZ_4K))

/* Completion status by syndrome (hw 7.2). */
static const struct {
	u8 status;
	u8 vendor_err;
} wc_errors[ERDMA_WC_SYNDROMES] = {
	[ERDMA_WC_SUCCESS]		= { IB_WC_SUCCESS, 0 },
	[ERDMA_WC_GENERAL_ERR]		= { IB_WC_GENERAL_ERR, 0 },
	[ERDMA_WC_RECV_WQE_FORMAT_ERR]	= { IB_WC_GENERAL_ERR, 0x01 },
	[ERDMA_WC_RECV_STAG_INVALID_ERR] = { IB_WC_REM_ACCESS_ERR, 0x02 },
	[ERDMA_WC_RECV_ADDR_VIOLATION]	= { IB_WC_REM_ACCESS_ERR, 0x03 },
	[ERDMA_WC_RECV_RIGHT_VIOLATION]	= { IB_WC_REM_ACCESS_ERR, 0x04 },
	[ERDMA_WC_RECV_PDID_ERR]	= { IB_WC_REM_ACCESS_ERR, 0x05 },
	[ERDMA_WC_RECV_WRAPPING_ERR]	= { IB_WC_REM_ACCESS_ERR, 0x06 },
	[ERDMA_WC_SEND_WQE_FORMAT_ERR]	= { IB_WC_LOC_QP_OP_ERR, 0x20 },
	[ERDMA_WC_SEND_WQE_ORD_EXCEED]	= { IB_WC_GENERAL_ERR, 0x21 },
	[ERDMA_WC_SEND_STAG_INVALID_ERR] = { IB_WC_LOC_ACCESS_ERR, 0x30 },
	[ERDMA_WC_SEND_ADDR_VIOLATION]	= { IB_WC_LOC_ACCESS_ERR, 0x31 },
	[ERDMA_WC_SEND_RIGHT_VIOLATION]	= { IB_WC_LOC_ACCESS_ERR, 0x32 },
	[ERDMA_WC_SEND_PDID_ERR]	= { IB_WC_LOC_ACCESS_ERR, 0x33 },
	[ERDMA_WC_SEND_WRAPPING_ERR]	= { IB_WC_LOC_ACCESS_ERR, 0x34 },
	[ERDMA_WC_FLUSH_ERR]		= { IB_WC_WR_FLUSH_ERR, 0 },
	[ERDMA_WC_RETRY_EXC_ERR]	= { IB_WC_RETRY_EXC_ERR, 0 },
};

static const u8 send_opcodes[ERDMA_OP_COUNT] = {
	[ERDMA_OP_WRITE]		= IB_WC_RDMA_WRITE,
	[ERDMA_OP_READ]			= IB_WC_RDMA_READ,
	[ERDMA_OP_SEND]			= IB_WC_SEND,
	[ERDMA_OP_SEND_WITH_IMM]	= IB_WC_SEND,
	[ERDMA_OP_WRITE_WITH_IMM]	= IB_WC_RDMA_WRITE,
	[ERDMA_OP_SEND_WITH_INV]	= IB_WC_SEND,
	[ERDMA_OP_REG_MR]		= IB_WC_REG_MR,
	[ERDMA_OP_LOCAL_INV]		= IB_WC_LOCAL_INV,
	[ERDMA_OP_READ_WITH_INV]	= IB_WC_RDMA_READ,
	[ERDMA_OP_ATOMIC_CAS]		= IB_WC_COMP_SWAP,
	[ERDMA_OP_ATOMIC_FAA]		= IB_WC_FETCH_ADD,
};

/* Returns the next valid entry of a kernel CQ, or NULL. */
static struct erdma_cqe *cqe_peek(const struct erdma_cq *cq, u32 ci)
{
	struct erdma_cqe *ring = cq->mem->ring[0].va;
	struct erdma_cqe *cqe = &ring[ci & (cq->depth - 1)];
	u32 hdr = be32_to_cpu(READ_ONCE(cqe->hdr));

	return erdma_hw_owned(hdr & ERDMA_CQE_OWNER, ci, cq->depth) ? cqe : NULL;
}

static void fill_status(struct ib_wc *wc, u8 syndrome)
{
	if (syndrome >= ERDMA_WC_SYNDROMES)
		syndrome = ERDMA_WC_GENERAL_ERR;
	wc->status = wc_errors[syndrome].status;
	wc->vendor_err = wc_errors[syndrome].vendor_err;
}

/*
 * Removes the request at @index, and all requests before it, from the send queue. Returns false if
 * no such request is outstanding.
 */
static bool take_send(struct erdma_qp *qp, u16 index, struct ib_wc *wc)
{
	struct erdma_sq *sq = &qp->kqp->sq;
	const struct erdma_swr *swr = &sq->wrs[index & (qp->sq_depth - 1)];
	/* Pairs with the release in post_send(). */
	u16 posted = smp_load_acquire(&sq->pi) - sq->ci;

	if ((u16)(index - sq->ci) >= posted || !swr->blocks)
		return false;
	wc->wr_id = swr->wr_id;
	wc->opcode = send_opcodes[swr->opcode];
	/* Pairs with the acquire of the caller that posts the next entry in this slot. */
	smp_store_release(&sq->ci, index + swr->blocks);
	return true;
}

static bool take_recv(struct erdma_qp *qp, u16 index, struct ib_wc *wc)
{
	struct erdma_rq *rq = &qp->kqp->rq;
	/* Pairs with the release in post_recv(). */
	u16 posted = smp_load_acquire(&rq->pi) - rq->ci;

	if ((u16)(index - rq->ci) >= posted)
		return false;
	wc->wr_id = rq->wr_ids[index & (qp->rq_depth - 1)];
	wc->opcode = IB_WC_RECV;
	/* As in take_send(). */
	smp_store_release(&rq->ci, index + 1);
	return true;
}

/* Immediate data is the only little-endian word of a CQE. */
static void fill_recv(struct erdma_dev *dev, struct ib_wc *wc, u8 opcode,
		      const struct erdma_cqe *cqe)
{
	switch (opcode) {
	case ERDMA_OP_RECV_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case ERDMA_OP_RSP_SEND_IMM:
		wc->ex.imm_data = cpu_to_be32(le32_to_cpu(cqe->imm));
		wc->wc_flags |= IB_WC_WITH_IMM;
		break;
	case ERDMA_OP_RECV_INV:
		wc->ex.invalidate_rkey = be32_to_cpu(cqe->inv_stag);
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		erdma_mr_invalidated(dev, wc->ex.invalidate_rkey);
		break;
	}
}

static bool is_send_cq(const struct erdma_cq *cq, const struct erdma_qp *qp)
{
	return qp->ibqp.send_cq == &cq->ibcq;
}

static bool is_recv_cq(const struct erdma_cq *cq, const struct erdma_qp *qp)
{
	return qp->ibqp.recv_cq == &cq->ibcq;
}

/* Returns false for an entry that completes no request. */
static bool poll_one(struct erdma_cq *cq, const struct erdma_cqe *cqe, struct ib_wc *wc)
{
	u32 hdr = be32_to_cpu(cqe->hdr);
	u16 index = be32_to_cpu(cqe->qe_idx);
	struct erdma_kqp *kqp;
	struct erdma_qp *qp;
	bool send;

	lockdep_assert_held(&cq->lock);
	/* The destruction of a QP takes this CQ's lock after removing the QP from this table. */
	kqp = xa_load(&cq->kqps, be32_to_cpu(cqe->qpn));
	if (!kqp)
		return false;
	qp = kqp->qp;
	send = FIELD_GET(ERDMA_CQE_QTYPE, hdr) == ERDMA_CQE_QTYPE_SQ;
	memset(wc, 0, sizeof(*wc));
	if (send ? !is_send_cq(cq, qp) || !take_send(qp, index, wc) :
		   !is_recv_cq(cq, qp) || !take_recv(qp, index, wc))
		return false;
	wc->qp = &qp->ibqp;
	wc->byte_len = be32_to_cpu(cqe->byte_cnt);
	fill_status(wc, FIELD_GET(ERDMA_CQE_SYNDROME, hdr));
	if (!send && wc->status == IB_WC_SUCCESS)
		fill_recv(to_erdma_dev(cq->ibcq.device), wc,
			  FIELD_GET(ERDMA_CQE_OPCODE, hdr), cqe);
	WRITE_ONCE(kqp->last_comp, get_jiffies_64());
	return true;
}

/* Returns the next request of a QP that the adapter has lost, send requests first. */
static bool flush_one(struct erdma_cq *cq, struct erdma_qp *qp, struct ib_wc *wc)
{
	const struct erdma_sq *sq = &qp->kqp->sq;
	const struct erdma_rq *rq = &qp->kqp->rq;
	bool taken = false;

	memset(wc, 0, sizeof(*wc));
	if (is_send_cq(cq, qp))
		taken = take_send(qp, sq->ci, wc);
	if (!taken && is_recv_cq(cq, qp))
		taken = take_recv(qp, rq->ci, wc);
	wc->qp = &qp->ibqp;
	fill_status(wc, ERDMA_WC_FLUSH_ERR);
	return taken;
}

/*
 * Completes requests on QPs that the adapter has lost. Such QPs can only use dead CQs.
 */
static int flush_dead(struct erdma_cq *cq, int num, struct ib_wc *wc)
{
	struct erdma_dev *dev = to_erdma_dev(cq->ibcq.device);
	struct erdma_kqp *kqp;
	unsigned long qpn;
	int n = 0;

	lockdep_assert_held(&cq->lock);
	xa_for_each(&cq->kqps, qpn, kqp) {
		if (!eadm_object_is_dead(&dev->adapter, &kqp->qp->obj))
			continue;
		while (n < num && flush_one(cq, kqp->qp, &wc[n]))
			n++;
	}
	return n;
}

static bool has_flushable(struct erdma_cq *cq)
{
	struct erdma_kqp *kqp;
	unsigned long qpn;

	lockdep_assert_held(&cq->lock);
	xa_for_each(&cq->kqps, qpn, kqp) {
		if (is_send_cq(cq, kqp->qp) && READ_ONCE(kqp->sq.pi) != kqp->sq.ci)
			return true;
		if (is_recv_cq(cq, kqp->qp) && READ_ONCE(kqp->rq.pi) != kqp->rq.ci)
			return true;
	}
	return false;
}

static int poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	const struct eadm_adapter *ad = &to_erdma_dev(ibcq->device)->adapter;
	struct erdma_cq *cq = to_erdma_cq(ibcq);
	const struct erdma_cqe *cqe;
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num) {
		cqe = cqe_peek(cq, cq->ci);
		if (!cqe)
			break;
		/* Read the owner bit before the rest of the entry. */
		dma_rmb();
		cq->ci++;
		if (poll_one(cq, cqe, &wc[n]))
			n++;
	}
	if (n < num && unlikely(eadm_object_is_dead(ad, &cq->obj)))
		n += flush_dead(cq, num - n, wc + n);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/*
 * Returns 1 if the caller requested a report of missed events and there are already entries to
 * poll.
 */
static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct erdma_dev *dev = to_erdma_dev(ibcq->device);
	struct erdma_cq *cq = to_erdma_cq(ibcq);
	unsigned long irq_flags;
	bool missed, dead;
	u64 db;

	spin_lock_irqsave(&cq->lock, irq_flags);
	cq->solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	cq->armed = true;
	db = FIELD_PREP(ERDMA_CQ_DB_IDX, cq->notify_count++ & 0xff) |
	     FIELD_PREP(ERDMA_CQ_DB_CQN, cq->cqn) | ERDMA_CQ_DB_ARM |
	     (cq->solicited ? ERDMA_CQ_DB_SOL : 0) |
	     FIELD_PREP(ERDMA_CQ_DB_CMDSN, cq->cmdsn & 3) |
	     FIELD_PREP(ERDMA_CQ_DB_CI, cq->ci & 0xffffff);
	WRITE_ONCE(*cq->mem->dbrec[0].va, cpu_to_le64(db));
	dead = eadm_object_is_dead(&dev->adapter, &cq->obj);
	if (!dead)
		writeq(db, dev->adapter.bar + ERDMA_BAR_CQDB);
	missed = cqe_peek(cq, cq->ci) || (dead && has_flushable(cq));
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

/**
 * erdma_cq_purge() - discard the completions of a QP that is being destroyed
 * @cq: a kernel CQ
 * @qpn: number of the QP, which may soon be reused
 *
 * On return, pollers no longer use the QP.
 *
 * Context: any.
 */
void erdma_cq_purge(struct erdma_cq *cq, u32 qpn)
{
	struct erdma_cqe *cqe;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < cq->depth; i++) {
		cqe = cqe_peek(cq, cq->ci + i);
		if (!cqe)
			break;
		dma_rmb();
		if (be32_to_cpu(cqe->qpn) == qpn)
			cqe->qpn = 0;	/* matches no QP */
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

static void call_consumer(struct erdma_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/**
 * erdma_cq_requests() - return the number of notifications that a process has requested
 * @cq: the process's CQ
 * @db: current value of the CQ's doorbell record
 *
 * The record contains only the lowest 8 bits of a request's number, so if there were more than 256
 * requests between two events, some are not counted.
 *
 * Context: any.
 * Return: the number of requests, modulo 2^32.
 */
u32 erdma_cq_requests(const struct erdma_cq *cq, u64 db)
{
	/*
	 * Pairs with the release in erdma_cq_event(): @event_db is from the same request or a later
	 * one.
	 */
	u32 seen = smp_load_acquire(&cq->requests);
	u8 more;

	if (!(db & ERDMA_CQ_DB_ARM) || FIELD_GET(ERDMA_CQ_DB_CQN, db) != cq->cqn)
		return seen;
	/* The first request has number 0. */
	more = FIELD_GET(ERDMA_CQ_DB_IDX, db) + 1 - seen;
	/* A different record with the same 8 bits: the number has wrapped around. */
	if (!more && db != READ_ONCE(cq->event_db))
		return seen + 256;
	return seen + more;
}

/* Records an excess of events over requests: each request permits one event. */
static void note_extra(struct erdma_cq *cq, u32 requests, u64 now)
{
	s32 extra = (u32)cq->events - requests;

	if (extra <= cq->extra)
		return;
	cq->extra = extra;
	WRITE_ONCE(cq->last_extra, now);
}

/**
 * erdma_cq_event() - deliver a completion event
 * @cq: the CQ, referenced
 * @now: a recent value of local_clock()
 *
 * Context: softirq, from the CQ's EQ.
 */
void erdma_cq_event(struct erdma_cq *cq, u64 now)
{
	unsigned long flags;
	u32 requests;
	u64 db;

	WRITE_ONCE(cq->events, cq->events + 1);
	WRITE_ONCE(cq->last_event, now);
	if (cq->db.page) {
		db = erdma_dbref_read(&cq->db, 0);
		requests = erdma_cq_requests(cq, db);
		WRITE_ONCE(cq->event_db, db);
		/* Pairs with the acquire of erdma_cq_requests(). */
		smp_store_release(&cq->requests, requests);
	} else {
		spin_lock_irqsave(&cq->lock, flags);
		cq->cmdsn++;
		cq->armed = false;
		requests = cq->notify_count;
		spin_unlock_irqrestore(&cq->lock, flags);
	}
	note_extra(cq, requests, now);
	call_consumer(cq);
}

/**
 * erdma_cq_kick() - prompt the consumer of a dead kernel CQ to poll it
 * @cq: the CQ of a QP that is not destroyed before this call returns
 *
 * Calls the consumer if it has requested an event: otherwise it polls without events, and might not
 * expect one. Waits for the call, because the consumer may free the CQ's resources after it has
 * destroyed its last QP. The CQ's EQ, which delivers its events, is held up meanwhile: calls never
 * overlap, regardless of the QP.
 *
 * Context: process.
 */
void erdma_cq_kick(struct erdma_cq *cq)
{
	struct erdma_dev *dev = to_erdma_dev(cq->ibcq.device);
	struct erdma_eq *eq = &dev->ceqs[cq->vector];
	bool armed;

	if (!eadm_object_is_dead(&dev->adapter, &cq->obj))
		return;
	mutex_lock(&eq->kick_lock);
	tasklet_disable(&eq->tasklet);
	spin_lock_irq(&cq->lock);
	armed = cq->armed;
	cq->armed = false;
	spin_unlock_irq(&cq->lock);
	/* Consumers expect to be called in softirq context. */
	local_bh_disable();
	if (armed)
		call_consumer(cq);
	tasklet_enable(&eq->tasklet);
	local_bh_enable();
	mutex_unlock(&eq->kick_lock);
}

static int init_user(struct erdma_dev *dev, struct erdma_cq *cq, struct ib_udata *udata)
{
	struct erdma_ureq_create_queue req;
	size_t size = (size_t)cq->depth * ERDMA_CQE_SIZE;
	int ret;

	ret = eadm_udata_read(udata, &req, sizeof(req), sizeof(req));
	if (ret)
		return ret;
	if (req.rsvd || req.buf_len < size || !IS_ALIGNED(req.buf_va, ERDMA_HW_PAGE_SIZE))
		return -EINVAL;
	ret = erdma_area_pin(dev, &cq->mem->area[0], req.buf_va, size, IB_ACCESS_LOCAL_WRITE,
			     PAGE_SIZES, 1);
	if (ret)
		return ret;
	return erdma_dbpage_pin(cq->ctx, cq->mem, req.dbrec_va, ERDMA_DBREC_SIZE, &cq->db);
}

static int cq_init(struct erdma_dev *dev, struct erdma_cq *cq, struct ib_udata *udata)
{
	struct erdma_uresp_create_cq resp;
	bool done = true;
	int ret;

	cq->mem = erdma_hostmem_alloc(&dev->adapter.cqs, cq->obj.epoch);
	if (!cq->mem)
		return -ENOMEM;
	ret = eadm_table_reserve(&dev->adapter.cqs, &cq->cqn);
	if (ret)
		goto err;
	cq->mem->id = cq->cqn;
	if (udata)
		ret = init_user(dev, cq, udata);
	else
		ret = erdma_hostmem_ring(dev, cq->mem, 0, (size_t)cq->depth * ERDMA_CQE_SIZE,
					 ilog2(SZ_32M));
	if (ret)
		goto err;
	ret = erdma_cmd_create_cq(dev, cq, cq->obj.epoch);
	if (ret) {
		/* The effect of a lost command is unknown. */
		done = ret == -EIO ||
		       (ret == -ETIMEDOUT && erdma_cq_end(dev, cq, cq->obj.epoch));
		goto err;
	}
	if (udata) {
		resp.cqn = cq->cqn;
		resp.depth = cq->depth;
		ret = eadm_udata_write(udata, &resp, sizeof(resp));
		if (ret) {
			done = erdma_cq_end(dev, cq, cq->obj.epoch);
			goto err;
		}
	}
	return 0;

err:
	erdma_hostmem_retire(dev, cq->mem, done);
	return ret;
}

/* Resets the CQ to its initial state; fails while QPs from before the reset complete through it. */
static bool cq_clear(struct erdma_cq *cq)
{
	unsigned long flags;
	bool unused;

	spin_lock_irqsave(&cq->lock, flags);
	unused = xa_empty(&cq->kqps);
	if (unused) {
		memset(cq->mem->ring[0].va, 0, cq->mem->ring[0].size);
		WRITE_ONCE(*cq->mem->dbrec[0].va, 0);
		cq->ci = 0;
		cq->notify_count = 0;
		cq->cmdsn = 0;
		WRITE_ONCE(cq->events, 0);
		cq->extra = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return unused;
}

/**
 * erdma_cq_revive() - re-create a kernel CQ that the adapter has lost
 * @cq: CQ of a new QP; does nothing unless the CQ is dead
 *
 * The RDMA core keeps CQs in a pool until the device is removed, so consumers that return after a
 * reset get the same CQs.
 *
 * Context: process.
 * Return: 0; -EAGAIN while QPs from before the reset use the CQ; -EIO for a CQ of a process or
 * without an adapter; or the error of the command.
 */
int erdma_cq_revive(struct erdma_cq *cq)
{
	struct erdma_dev *dev = to_erdma_dev(cq->ibcq.device);
	enum ib_cq_notify_flags notify = 0;
	u32 epoch;
	int ret = 0;

	if (!eadm_object_is_dead(&dev->adapter, &cq->obj))
		return 0;
	if (cq->ctx || READ_ONCE(dev->adapter.gone))
		return -EIO;
	mutex_lock(&cq->revival);
	epoch = READ_ONCE(dev->adapter.epoch);
	if (!eadm_object_is_dead(&dev->adapter, &cq->obj))
		goto out;
	ret = cq_clear(cq) ? 0 : -EAGAIN;
	if (ret)
		goto out;
	cq->mem->kept.epoch = epoch;
	ret = erdma_cmd_create_cq(dev, cq, epoch);
	/*
	 * The adapter may have created the CQ; in that case the CQ is not dead, and a command must
	 * destroy it.
	 */
	if (ret == -ETIMEDOUT && !erdma_cq_end(dev, cq, epoch))
		WRITE_ONCE(cq->obj.epoch, epoch);
	else if (ret == -EIO)
		cq->mem->kept.epoch = cq->obj.epoch;
	if (ret)
		goto out;
	spin_lock_irq(&cq->lock);
	WRITE_ONCE(cq->obj.epoch, epoch);
	/* A consumer that requested an event in the meantime will not request it again. */
	if (cq->armed)
		notify = cq->solicited ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	spin_unlock_irq(&cq->lock);
	if (notify)
		req_notify_cq(&cq->ibcq, notify);
out:
	mutex_unlock(&cq->revival);
	return ret;
}

/**
 * erdma_create_cq() - verb: create a CQ
 * @ibcq: the CQ
 * @attr: its attributes
 * @udata: NULL for the kernel
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibcq->device);
	struct erdma_cq *cq = to_erdma_cq(ibcq);
	int ret = -EINVAL;

	if (attr->flags) {
		ret = -EOPNOTSUPP;
		goto err;
	}
	if (!attr->cqe || attr->cqe > dev->caps.max_cqe || attr->comp_vector >= dev->nr_ceqs)
		goto err;
	cq->ctx = rdma_udata_to_drv_context(udata, struct erdma_ctx, base.ibctx);
	if (cq->ctx && eadm_object_is_dead(&dev->adapter, &cq->ctx->base.obj)) {
		ret = -EIO;
		goto err;
	}
	cq->depth = max_t(u32, roundup_pow_of_two(attr->cqe), udata ? 1 : MIN_DEPTH);
	cq->vector = attr->comp_vector;
	mutex_init(&cq->revival);
	spin_lock_init(&cq->lock);
	xa_init(&cq->kqps);
	eadm_object_init(&cq->obj, READ_ONCE(dev->adapter.epoch), &ibcq->res);
	ret = cq_init(dev, cq, udata);
	if (ret)
		goto err;
	ibcq->cqe = cq->depth;
	if (cq->ctx)
		atomic_inc(&cq->ctx->base.cqs);
	atomic_inc(&dev->ceqs[cq->vector].base.cqs);
	eadm_table_publish(&dev->adapter.cqs, cq->cqn, &cq->obj);
	eadm_count(&dev->adapter, EADM_CNT_CQ_CREATES);
	erdma_debug(dev, qp, "CQ %u: created, %u entries, vector %u\n", cq->cqn, cq->depth,
		    cq->vector);
	return 0;

err:
	eadm_count(&dev->adapter, EADM_CNT_CQ_CREATE_FAILURES);
	erdma_debug(dev, qp, "cannot create a CQ: %d\n", ret);
	return ret;
}

/* Memory that the adapter has not released is kept until a reset. */
static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_erdma_dev(ibcq->device);
	struct erdma_cq *cq = to_erdma_cq(ibcq);
	bool done;

	done = erdma_cq_end(dev, cq, cq->obj.epoch);
	eadm_table_unpublish(&dev->adapter.cqs, cq->cqn, &cq->obj);
	atomic_dec(&dev->ceqs[cq->vector].base.cqs);
	if (cq->ctx)
		atomic_dec(&cq->ctx->base.cqs);
	erdma_hostmem_retire(dev, cq->mem, done);
	mutex_destroy(&cq->revival);
	eadm_count(&dev->adapter, EADM_CNT_CQ_DESTROYS);
	erdma_debug(dev, qp, "CQ %u: destroyed%s\n", cq->cqn,
		    done ? "" : "; its memory is kept");
	return 0;
}

const struct ib_device_ops erdma_cq_ops = {
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
};
