// SPDX-License-Identifier: GPL-2.0-only
/* Work requests of kernel consumers (hw 6.2-6.7). */

#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "erdma.h"

#define WQE_SIZE	(ERDMA_MAX_SQEBB_PER_WQE * ERDMA_WQEBB_SIZE)
/* The adapter may miss requests that are posted when it begins to flush. */
#define REFLUSH_DELAY	usecs_to_jiffies(100)

/* A WQE under construction; copied into the ring block by block. */
struct wqe {
	union {
		__le64 hdr;
		struct erdma_send_sqe send;
		struct erdma_write_sqe write;
		struct erdma_read_sqe read;
		struct erdma_atomic_sqe atomic;
		struct erdma_reg_mr_sqe reg_mr;
		u8 raw[WQE_SIZE];
	};
	u8 opcode;
	u8 sgl_len;
	u8 len;
};

static const struct {
	u8 opcode;
	bool valid;
} opcodes[] = {
	[IB_WR_RDMA_WRITE]		= { ERDMA_OP_WRITE, true },
	[IB_WR_RDMA_WRITE_WITH_IMM]	= { ERDMA_OP_WRITE_WITH_IMM, true },
	[IB_WR_SEND]			= { ERDMA_OP_SEND, true },
	[IB_WR_SEND_WITH_IMM]		= { ERDMA_OP_SEND_WITH_IMM, true },
	[IB_WR_SEND_WITH_INV]		= { ERDMA_OP_SEND_WITH_INV, true },
	[IB_WR_RDMA_READ]		= { ERDMA_OP_READ, true },
	[IB_WR_RDMA_READ_WITH_INV]	= { ERDMA_OP_READ_WITH_INV, true },
	[IB_WR_ATOMIC_CMP_AND_SWP]	= { ERDMA_OP_ATOMIC_CAS, true },
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= { ERDMA_OP_ATOMIC_FAA, true },
	[IB_WR_REG_MR]			= { ERDMA_OP_REG_MR, true },
	[IB_WR_LOCAL_INV]		= { ERDMA_OP_LOCAL_INV, true },
};

static void set_sge(struct erdma_sge *dst, u64 addr, u32 length, u32 key)
{
	dst->addr = cpu_to_le64(addr);
	dst->length = cpu_to_le32(length);
	dst->key = cpu_to_le32(key);
}

/* Sets the payload after the fixed part: inline data or SGEs. */
static int set_payload(struct wqe *wqe, const struct ib_send_wr *wr, u8 offset, __le32 *length)
{
	struct erdma_sge *sgl = (struct erdma_sge *)(wqe->raw + offset);
	u32 total = 0;
	int i;

	if (wr->send_flags & IB_SEND_INLINE) {
		for (i = 0; i < wr->num_sge; i++) {
			if (wr->sg_list[i].length > ERDMA_MAX_INLINE - total)
				return -EINVAL;
			memcpy(wqe->raw + offset + total,
			       (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
			total += wr->sg_list[i].length;
		}
		wqe->sgl_len = total;
		wqe->len = offset + total;
	} else {
		if (wr->num_sge > ERDMA_MAX_SEND_SGE)
			return -EINVAL;
		for (i = 0; i < wr->num_sge; i++) {
			if (check_add_overflow(total, wr->sg_list[i].length, &total))
				return -EINVAL;
			set_sge(&sgl[i], wr->sg_list[i].addr, wr->sg_list[i].length,
				wr->sg_list[i].lkey);
		}
		wqe->sgl_len = wr->num_sge;
		wqe->len = offset + wr->num_sge * sizeof(*sgl);
	}
	*length = cpu_to_le32(total);
	return 0;
}

static int make_send(struct wqe *wqe, const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_SEND_WITH_INV)
		wqe->send.inv_stag = cpu_to_le32(wr->ex.invalidate_rkey);
	else if (wr->opcode == IB_WR_SEND_WITH_IMM)
		wqe->send.imm = wr->ex.imm_data;
	return set_payload(wqe, wr, offsetof(struct erdma_send_sqe, sgl), &wqe->send.length);
}

static int make_write(struct wqe *wqe, const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		wqe->write.imm = wr->ex.imm_data;
	wqe->write.rkey = cpu_to_le32(rdma_wr(wr)->rkey);
	wqe->write.raddr_l = cpu_to_le32(lower_32_bits(rdma_wr(wr)->remote_addr));
	wqe->write.raddr_h = cpu_to_le32(upper_32_bits(rdma_wr(wr)->remote_addr));
	return set_payload(wqe, wr, offsetof(struct erdma_write_sqe, sgl), &wqe->write.length);
}

/*
 * The kernel's read/write API identifies the sink by the key that the sink had before its
 * registration, one request earlier on the same queue.
 */
static u32 read_inv_stag(const struct ib_send_wr *wr, const struct ib_sge *sink)
{
	u32 stag = wr->ex.invalidate_rkey;

	if (FIELD_GET(ERDMA_STAG_INDEX, stag) == FIELD_GET(ERDMA_STAG_INDEX, sink->lkey))
		return sink->lkey;
	return stag;
}

/* The fixed part contains the sink, the SGE contains the remote source. */
static int make_read(struct erdma_dev *dev, struct wqe *wqe, const struct ib_send_wr *wr)
{
	struct ib_sge none = {}, *sink = wr->num_sge ? wr->sg_list : &none;

	if (wr->num_sge > ERDMA_MAX_SGE_RD || wr->send_flags & IB_SEND_INLINE)
		return -EINVAL;
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV) {
		wqe->read.inv_stag = cpu_to_le32(read_inv_stag(wr, sink));
		erdma_mr_invalidated(dev, sink->lkey);
	}
	wqe->read.length = cpu_to_le32(sink->length);
	wqe->read.lkey = cpu_to_le32(sink->lkey);
	wqe->read.laddr_l = cpu_to_le32(lower_32_bits(sink->addr));
	wqe->read.laddr_h = cpu_to_le32(upper_32_bits(sink->addr));
	set_sge(&wqe->read.remote, rdma_wr(wr)->remote_addr, sink->length, rdma_wr(wr)->rkey);
	wqe->len = sizeof(wqe->read);
	return 0;
}

static int make_atomic(struct erdma_dev *dev, struct wqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *awr = atomic_wr(wr);

	if (!(dev->caps.flags & ERDMA_FLAG_ATOMIC))
		return -EOPNOTSUPP;
	if (wr->num_sge != 1 || wr->sg_list[0].length != sizeof(u64) ||
	    wr->send_flags & IB_SEND_INLINE)
		return -EINVAL;
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		wqe->atomic.swap_add = cpu_to_le64(awr->swap);
		wqe->atomic.compare = cpu_to_le64(awr->compare_add);
	} else {
		wqe->atomic.swap_add = cpu_to_le64(awr->compare_add);
	}
	set_sge(&wqe->atomic.remote, awr->remote_addr, sizeof(u64), awr->rkey);
	set_sge(&wqe->atomic.local, wr->sg_list[0].addr, sizeof(u64), wr->sg_list[0].lkey);
	wqe->len = sizeof(wqe->atomic);
	return 0;
}

static int make_reg_mr(struct erdma_dev *dev, struct wqe *wqe, const struct ib_send_wr *wr)
{
	struct erdma_mr *mr = to_erdma_mr(reg_wr(wr)->mr);
	const struct erdma_mtt *mtt = &mr->mem->area[0].mtt;
	bool direct = mr->filled <= ERDMA_MR_INLINE_MTT;
	u32 i;

	if (mr->type != ERDMA_MR_FRMR || wr->num_sge || wr->send_flags & IB_SEND_INLINE ||
	    mr->ibmr.length > U32_MAX)
		return -EINVAL;
	/* On an adapter without atomics, this right is a bit of a different field (hw 6.5). */
	if (reg_wr(wr)->access & IB_ACCESS_REMOTE_ATOMIC &&
	    !(dev->caps.flags & ERDMA_FLAG_ATOMIC))
		return -EOPNOTSUPP;
	wqe->reg_mr.addr = cpu_to_le64(mr->ibmr.iova);
	wqe->reg_mr.length = cpu_to_le32(mr->ibmr.length);
	wqe->reg_mr.stag = cpu_to_le32(reg_wr(wr)->key);
	wqe->reg_mr.attr0 =
		cpu_to_le32(FIELD_PREP(ERDMA_SQE_MR_MTT_CNT, mr->filled) |
			    FIELD_PREP(ERDMA_SQE_MR_MTT_TYPE,
				       direct ? ERDMA_SQE_MR_MTT_INLINE :
						ERDMA_SQE_MR_MTT_TABLE) |
			    FIELD_PREP(ERDMA_SQE_MR_RIGHTS,
				       erdma_mr_rights(reg_wr(wr)->access)));
	wqe->len = sizeof(wqe->reg_mr);
	for (i = 0; direct && i < mr->filled; i++) {
		wqe->reg_mr.mtt[i] = cpu_to_le64(erdma_mtt_get(mtt, i));
		wqe->len = sizeof(wqe->reg_mr) + ERDMA_MR_INLINE_MTT * sizeof(__le64);
	}
	/*
	 * For consumers, the registration takes effect when it is posted, because requests execute
	 * in order.
	 */
	mr->access = reg_wr(wr)->access;
	mr->iova = mr->ibmr.iova;
	mr->length = mr->ibmr.length;
	WRITE_ONCE(mr->valid, true);
	return 0;
}

static int make_local_inv(struct erdma_dev *dev, struct wqe *wqe, const struct ib_send_wr *wr)
{
	if (wr->num_sge || wr->send_flags & IB_SEND_INLINE)
		return -EINVAL;
	wqe->reg_mr.stag = cpu_to_le32(wr->ex.invalidate_rkey);
	wqe->len = sizeof(wqe->reg_mr);
	erdma_mr_invalidated(dev, wr->ex.invalidate_rkey);
	return 0;
}

static int make_wqe(struct erdma_dev *dev, struct wqe *wqe, const struct ib_send_wr *wr)
{
	memset(wqe, 0, sizeof(*wqe));
	if (wr->opcode >= ARRAY_SIZE(opcodes) || !opcodes[wr->opcode].valid)
		return -EOPNOTSUPP;
	wqe->opcode = opcodes[wr->opcode].opcode;
	switch (wqe->opcode) {
	case ERDMA_OP_WRITE:
	case ERDMA_OP_WRITE_WITH_IMM:
		return make_write(wqe, wr);
	case ERDMA_OP_READ:
	case ERDMA_OP_READ_WITH_INV:
		return make_read(dev, wqe, wr);
	case ERDMA_OP_ATOMIC_CAS:
	case ERDMA_OP_ATOMIC_FAA:
		return make_atomic(dev, wqe, wr);
	case ERDMA_OP_REG_MR:
		return make_reg_mr(dev, wqe, wr);
	case ERDMA_OP_LOCAL_INV:
		return make_local_inv(dev, wqe, wr);
	default:
		return make_send(wqe, wr);
	}
}

static u64 make_header(const struct erdma_qp *qp, const struct wqe *wqe,
		       const struct ib_send_wr *wr, u8 blocks, u16 pi)
{
	u64 hdr = FIELD_PREP(ERDMA_SQE_SGL_LEN, wqe->sgl_len) |
		  FIELD_PREP(ERDMA_SQE_WQEBB_CNT, blocks - 1) |
		  FIELD_PREP(ERDMA_SQE_QPN, qp->qpn) |
		  FIELD_PREP(ERDMA_SQE_OPCODE, wqe->opcode) |
		  FIELD_PREP(ERDMA_SQE_WQEBB_INDEX, pi);

	if (wr->send_flags & IB_SEND_INLINE)
		hdr |= ERDMA_SQE_INLINE;
	if (wr->send_flags & IB_SEND_FENCE)
		hdr |= ERDMA_SQE_FENCE;
	if (wr->send_flags & IB_SEND_SOLICITED)
		hdr |= ERDMA_SQE_SE;
	if (wr->send_flags & IB_SEND_SIGNALED || qp->signal_all)
		hdr |= ERDMA_SQE_CE;
	return hdr;
}

static int post_one_send(struct erdma_qp *qp, const struct ib_send_wr *wr)
{
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);
	struct erdma_sq *sq = &qp->kqp->sq;
	u16 mask = qp->sq_depth - 1, pi = sq->pi;
	void *ring = qp->mem->ring[0].va;
	struct wqe wqe;
	__le64 *hdr;
	u8 blocks, i;
	int ret;

	lockdep_assert_held(&sq->lock);
	/* Pairs with the release by the poller that has read the entries. */
	if ((u16)(pi - smp_load_acquire(&sq->ci)) + ERDMA_MAX_SQEBB_PER_WQE > qp->sq_depth)
		return -ENOMEM;
	ret = make_wqe(dev, &wqe, wr);
	if (ret)
		return ret;
	blocks = DIV_ROUND_UP(wqe.len, ERDMA_WQEBB_SIZE);

	/* Any block may be the last one in the ring. */
	for (i = 0; i < blocks; i++)
		memcpy(ring + ((pi + i) & mask) * ERDMA_WQEBB_SIZE,
		       wqe.raw + i * ERDMA_WQEBB_SIZE, ERDMA_WQEBB_SIZE);
	/* Write the header only after the rest of the entry. */
	dma_wmb();
	hdr = ring + (pi & mask) * ERDMA_WQEBB_SIZE;
	WRITE_ONCE(*hdr, cpu_to_le64(make_header(qp, &wqe, wr, blocks, pi + blocks)));

	sq->wrs[pi & mask] = (struct erdma_swr) {
		.wr_id = wr->wr_id,
		.opcode = wqe.opcode,
		.blocks = blocks,
	};
	for (i = 1; i < blocks; i++)
		sq->wrs[(pi + i) & mask].blocks = 0;
	/* Publishes the entry of wrs to the poller of its completion. */
	smp_store_release(&sq->pi, pi + blocks);
	return 0;
}

static bool stopped(const struct erdma_qp *qp)
{
	return READ_ONCE(qp->state) > ERDMA_QPS_RTS ||
	       eadm_object_is_dead(&to_erdma_dev(qp->ibqp.device)->adapter, &qp->obj);
}

/**
 * erdma_kqp_reflush() - schedule a flush of requests posted after flushing began
 * @qp: a kernel QP in a stop state
 *
 * Requests posted in the meantime do not postpone the flush.
 *
 * Context: any.
 */
void erdma_kqp_reflush(struct erdma_qp *qp)
{
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);

	queue_delayed_work(dev->adapter.wq, &qp->kqp->reflush, REFLUSH_DELAY);
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad_wr)
{
	struct erdma_dev *dev = to_erdma_dev(ibqp->device);
	struct erdma_qp *qp = to_erdma_qp(ibqp);
	struct erdma_sq *sq;
	unsigned long flags;
	u16 before;
	int ret = 0;
	u64 db;

	if (!qp->kqp) {
		*bad_wr = wr;
		return -EINVAL;
	}
	sq = &qp->kqp->sq;
	spin_lock_irqsave(&sq->lock, flags);
	before = sq->pi;
	for (; wr; wr = wr->next) {
		ret = post_one_send(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (sq->pi != before) {
		WRITE_ONCE(qp->kqp->last_post, get_jiffies_64());
		db = FIELD_PREP(ERDMA_SQ_DB_QPN, qp->qpn) | FIELD_PREP(ERDMA_SQ_DB_PI, sq->pi);
		/* Write the entries before the doorbell record that announces them. */
		dma_wmb();
		WRITE_ONCE(*qp->mem->dbrec[0].va, cpu_to_le64(db));
		if (!eadm_object_is_dead(&dev->adapter, &qp->obj))
			writeq(db, dev->adapter.bar + ERDMA_BAR_SQDB_SHARED);
	}
	spin_unlock_irqrestore(&sq->lock, flags);
	if (unlikely(stopped(qp)))
		erdma_kqp_reflush(qp);
	return ret;
}

static int post_one_recv(struct erdma_qp *qp, const struct ib_recv_wr *wr)
{
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);
	struct erdma_rq *rq = &qp->kqp->rq;
	struct erdma_rqe *ring = qp->mem->ring[1].va, *rqe;
	u16 pi = rq->pi;
	u64 db;

	lockdep_assert_held(&rq->lock);
	if (wr->num_sge > ERDMA_MAX_RECV_SGE)
		return -EINVAL;
	/* Pairs with the release by the poller that has read the entry of wr_ids. */
	if ((u16)(pi - smp_load_acquire(&rq->ci)) >= qp->rq_depth)
		return -ENOMEM;
	rqe = &ring[pi & (qp->rq_depth - 1)];
	memset(rqe, 0, sizeof(*rqe));
	rqe->qe_idx = cpu_to_le16(pi + 1);
	rqe->qpn = cpu_to_le32(qp->qpn);
	if (wr->num_sge) {
		rqe->addr = cpu_to_le64(wr->sg_list[0].addr);
		rqe->length = cpu_to_le32(wr->sg_list[0].length);
		rqe->lkey = cpu_to_le32(wr->sg_list[0].lkey);
	}
	rq->wr_ids[pi & (qp->rq_depth - 1)] = wr->wr_id;
	/* Publishes the entry of wr_ids to the poller of its completion. */
	smp_store_release(&rq->pi, pi + 1);

	/* The doorbell value is the beginning of the entry. */
	db = FIELD_PREP(ERDMA_RQ_DB_QPN, qp->qpn) | FIELD_PREP(ERDMA_RQ_DB_PI, rq->pi);
	dma_wmb();
	WRITE_ONCE(*qp->mem->dbrec[1].va, cpu_to_le64(db));
	if (!eadm_object_is_dead(&dev->adapter, &qp->obj))
		writeq(db, dev->adapter.bar + ERDMA_BAR_RQDB);
	return 0;
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad_wr)
{
	struct erdma_qp *qp = to_erdma_qp(ibqp);
	struct erdma_rq *rq;
	unsigned long flags;
	int ret = 0;
	u16 before;

	if (!qp->kqp) {
		*bad_wr = wr;
		return -EINVAL;
	}
	rq = &qp->kqp->rq;
	spin_lock_irqsave(&rq->lock, flags);
	before = rq->pi;
	for (; wr; wr = wr->next) {
		ret = post_one_recv(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (rq->pi != before)
		WRITE_ONCE(qp->kqp->last_post, get_jiffies_64());
	spin_unlock_irqrestore(&rq->lock, flags);
	if (unlikely(stopped(qp)))
		erdma_kqp_reflush(qp);
	return ret;
}

static void reflush_work(struct work_struct *work)
{
	struct erdma_kqp *kqp = container_of(to_delayed_work(work), struct erdma_kqp, reflush);
	struct erdma_qp *qp = kqp->qp;
	struct erdma_dev *dev = to_erdma_dev(qp->ibqp.device);
	int ret;

	if (!eadm_object_is_dead(&dev->adapter, &qp->obj)) {
		ret = erdma_cmd_reflush(dev, qp, READ_ONCE(kqp->sq.pi), READ_ONCE(kqp->rq.pi));
		/*
		 * If the command was lost, a consumer could wait for these completions forever.
		 */
		if (ret && ret != -EIO)
			erdma_kqp_reflush(qp);
		return;
	}
	/* If the adapter has lost the QP, the driver completes its requests. */
	erdma_cq_kick(to_erdma_cq(qp->ibqp.send_cq));
	erdma_cq_kick(to_erdma_cq(qp->ibqp.recv_cq));
}

/* Pollers that have found the QP hold the lock of their CQ. */
static void unlink_cq(struct erdma_cq *cq, struct erdma_qp *qp)
{
	xa_erase(&cq->kqps, qp->qpn);
	erdma_cq_purge(cq, qp->qpn);
}

/**
 * erdma_kqp_init() - initialise the part of a QP used by kernel consumers
 * @qp: the QP
 * @attr: its attributes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_kqp_init(struct erdma_qp *qp, const struct ib_qp_init_attr *attr)
{
	struct erdma_cq *scq = to_erdma_cq(attr->send_cq), *rcq = to_erdma_cq(attr->recv_cq);
	struct erdma_kqp *kqp;
	int ret = -ENOMEM;

	kqp = kzalloc(sizeof(*kqp), GFP_KERNEL);
	if (!kqp)
		return ret;
	kqp->sq.wrs = vcalloc(qp->sq_depth, sizeof(*kqp->sq.wrs));
	kqp->rq.wr_ids = vcalloc(qp->rq_depth, sizeof(*kqp->rq.wr_ids));
	if (!kqp->sq.wrs || !kqp->rq.wr_ids)
		goto err;
	kqp->qp = qp;
	spin_lock_init(&kqp->sq.lock);
	spin_lock_init(&kqp->rq.lock);
	INIT_DELAYED_WORK(&kqp->reflush, reflush_work);
	qp->kqp = kqp;
	ret = xa_err(xa_store(&scq->kqps, qp->qpn, kqp, GFP_KERNEL));
	if (ret)
		goto err;
	ret = xa_err(xa_store(&rcq->kqps, qp->qpn, kqp, GFP_KERNEL));
	if (ret)
		goto err_scq;
	return 0;

err_scq:
	unlink_cq(scq, qp);
err:
	qp->kqp = NULL;
	vfree(kqp->sq.wrs);
	vfree(kqp->rq.wr_ids);
	kfree(kqp);
	return ret;
}

/**
 * erdma_kqp_free() - undo erdma_kqp_init()
 * @qp: the QP, which can no longer be found by number
 *
 * Context: process.
 */
void erdma_kqp_free(struct erdma_qp *qp)
{
	struct erdma_cq *scq = to_erdma_cq(qp->ibqp.send_cq);
	struct erdma_cq *rcq = to_erdma_cq(qp->ibqp.recv_cq);
	struct erdma_kqp *kqp = qp->kqp;

	cancel_delayed_work_sync(&kqp->reflush);
	unlink_cq(scq, qp);
	if (rcq != scq)
		unlink_cq(rcq, qp);
	vfree(kqp->sq.wrs);
	vfree(kqp->rq.wr_ids);
	kfree(kqp);
	qp->kqp = NULL;
}

const struct ib_device_ops erdma_wr_ops = {
	.post_recv = post_recv,
	.post_send = post_send,
};
