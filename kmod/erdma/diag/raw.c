// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic provider: raw bytes of rings and of the adapter's contexts, and registers. The kernel
 * does not interpret the bytes.
 */
#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>

#include "diag.h"
#include "erdma_classes.h"

/**
 * erdma_diag_may_query() - check whether the adapter can be queried for a context
 * @dev: the device
 * @obj: the object, or NULL for contexts that also exist after a reset
 *
 * Return: 0 or -errno for hw-error.
 */
int erdma_diag_may_query(struct erdma_dev *dev, const struct eadm_object *obj)
{
	if (obj ? eadm_object_is_dead(&dev->adapter, obj) : READ_ONCE(dev->adapter.gone))
		return -ENODEV;
	return dev->caps.flags & ERDMA_FLAG_QUERY_QC ? 0 : -EOPNOTSUPP;
}

static void set_sw(struct eadm_diag_ring *r, u32 pi, u32 ci)
{
	r->sw_pi = pi;
	r->sw_ci = ci;
	r->valid |= EADM_DIAG_RING_SW_PI | EADM_DIAG_RING_SW_CI;
}

static void set_hw(struct eadm_diag_ring *r, u32 pi, u32 ci)
{
	r->hw_pi = pi;
	r->hw_ci = ci;
	r->valid |= EADM_DIAG_RING_HW_PI | EADM_DIAG_RING_HW_CI;
}

/* QP 0 and CQ 0 belong to the command queue. */
static int ask_qp(struct erdma_dev *dev, struct eadm_diag_ring *r, u32 qpn, bool rq)
{
	const struct erdma_qpc_queue *q;
	struct erdma_qpc c;
	int ret = erdma_cmd_query_qpc(dev, qpn, &c, NULL);

	if (ret)
		return ret;
	q = rq ? &c.rq : &c.sq;
	set_hw(r, le16_to_cpu(q->pi), le16_to_cpu(q->ci));
	return 0;
}

static int ask_cq(struct erdma_dev *dev, struct eadm_diag_ring *r, u32 cqn)
{
	struct erdma_cqc c;
	int ret = erdma_cmd_query_cqc(dev, cqn, &c, NULL);

	if (ret)
		return ret;
	r->hw_pi = le32_to_cpu(c.pi);
	r->valid |= EADM_DIAG_RING_HW_PI;
	return 0;
}

static int ask_eq(struct erdma_dev *dev, struct eadm_diag_ring *r, u32 index)
{
	struct erdma_eqc c;
	int ret = erdma_cmd_query_eqc(dev, index, &c);

	if (ret)
		return ret;
	set_hw(r, le32_to_cpu(c.head), le32_to_cpu(c.tail));
	return 0;
}

/**
 * erdma_ask_ring() - query the adapter for indices of a queue, for &eadm_adapter_ops.ask_ring
 * @ad: the adapter
 * @r: the queue
 * @obj: owner of the queue, or NULL
 */
int erdma_ask_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r, const struct eadm_object *obj)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	int ret = erdma_diag_may_query(dev, obj);

	if (ret)
		return ret;
	switch (r->kind) {
	case EADM_RAW_KIND_SQ:
	case EADM_RAW_KIND_RQ:
		return ask_qp(dev, r, r->id, r->kind == EADM_RAW_KIND_RQ);
	case EADM_RAW_KIND_CQ:
		return ask_cq(dev, r, r->id);
	case EADM_RAW_KIND_EQ:
		return ask_eq(dev, r, r->id);
	case EADM_RAW_KIND_CMD_SQ:
		return ask_qp(dev, r, 0, false);
	default:
		return ask_cq(dev, r, 0);
	}
}

static void describe_qp(struct erdma_qp *qp, struct eadm_diag_ring *r,
			struct eadm_ring_bytes *bytes)
{
	bool rq = r->kind == EADM_RAW_KIND_RQ;
	struct erdma_kqp *kqp = qp->kqp;
	u64 db;

	bytes->va = qp->mem->ring[rq].va;
	bytes->umem = qp->mem->area[rq].umem;
	r->depth = rq ? qp->rq_depth : qp->sq_depth;
	r->entry_size = ERDMA_WQEBB_SIZE;
	r->user = !kqp;
	r->memory = r->user ? EADM_RING_MEMORY_USER : EADM_RING_MEMORY_HOST;
	if (!kqp) {
		/* A process passes its producer index directly to the adapter. */
		db = erdma_dbref_read(&qp->db, rq);
		r->sw_pi = rq ? FIELD_GET(ERDMA_RQ_DB_PI, db) : FIELD_GET(ERDMA_SQ_DB_PI, db);
		r->valid |= EADM_DIAG_RING_SW_PI;
	} else if (rq) {
		set_sw(r, READ_ONCE(kqp->rq.pi), READ_ONCE(kqp->rq.ci));
	} else {
		set_sw(r, READ_ONCE(kqp->sq.pi), READ_ONCE(kqp->sq.ci));
	}
}

static void describe_cq(struct erdma_cq *cq, struct eadm_diag_ring *r,
			struct eadm_ring_bytes *bytes)
{
	u64 db;

	bytes->va = cq->mem->ring[0].va;
	bytes->umem = cq->mem->area[0].umem;
	r->depth = cq->depth;
	r->entry_size = sizeof(struct erdma_cqe);
	r->user = !!cq->ctx;
	r->memory = r->user ? EADM_RING_MEMORY_USER : EADM_RING_MEMORY_HOST;
	if (!cq->ctx) {
		r->sw_ci = READ_ONCE(cq->ci);
		r->valid |= EADM_DIAG_RING_SW_CI;
		return;
	}
	/* This is the index at the last notification request. */
	db = erdma_dbref_read(&cq->db, 0);
	if (db & ERDMA_CQ_DB_ARM && FIELD_GET(ERDMA_CQ_DB_CQN, db) == cq->cqn) {
		r->sw_ci = FIELD_GET(ERDMA_CQ_DB_CI, db);
		r->valid |= EADM_DIAG_RING_SW_CI;
	}
}

static void describe_cmdq(struct erdma_dev *dev, struct eadm_diag_ring *r,
			  struct eadm_ring_bytes *bytes)
{
	struct erdma_cmdq *q = &dev->cmdq;

	r->depth = ERDMA_CMDQ_DEPTH;
	spin_lock_irq(&dev->adapter.lock);
	if (r->kind == EADM_RAW_KIND_CMD_SQ) {
		bytes->va = q->sq.va;
		r->entry_size = ERDMA_WQEBB_SIZE;
		set_sw(r, q->sq_pi, q->sq_ci);
	} else {
		bytes->va = q->cq.va;
		r->entry_size = sizeof(struct erdma_cqe);
		r->sw_ci = q->cq_ci;
		r->valid |= EADM_DIAG_RING_SW_CI;
	}
	spin_unlock_irq(&dev->adapter.lock);
}

/**
 * erdma_describe_ring() - &eadm_adapter_ops.describe_ring
 * @ad: the adapter
 * @r: the queue; on return, its description
 * @bytes: set to the location of its bytes
 */
int erdma_describe_ring(struct eadm_adapter *ad, struct eadm_diag_ring *r,
			struct eadm_ring_bytes *bytes)
{
	r->index = erdma_ring_index(r->kind);
	r->index_bits = erdma_ring_index_bits(r->kind);
	if (r->sub)
		return -ENOENT;
	if (r->kind == EADM_RAW_KIND_CQ)
		describe_cq(container_of(bytes->obj, struct erdma_cq, obj), r, bytes);
	else if (bytes->obj)
		describe_qp(container_of(bytes->obj, struct erdma_qp, obj), r, bytes);
	else if (r->kind != EADM_RAW_KIND_EQ)
		describe_cmdq(adapter_to_erdma(ad), r, bytes);
	return 0;
}

/* The reference keeps a QP or CQ alive during the query. */
static int query_object(struct erdma_dev *dev, u8 kind, u32 id, void *buf)
{
	struct eadm_adapter *ad = &dev->adapter;
	struct eadm_table *table = kind == EADM_RAW_KIND_QPC ? &ad->qps : &ad->cqs;
	struct eadm_object *obj = id ? eadm_table_get(table, id) : NULL;
	int ret;

	if (id && !obj)
		return -ENOENT;
	ret = erdma_diag_may_query(dev, obj);
	if (!ret && kind == EADM_RAW_KIND_QPC)
		ret = erdma_cmd_query_qpc(dev, id, buf, NULL);
	else if (!ret)
		ret = erdma_cmd_query_cqc(dev, id, buf, NULL);
	if (obj)
		eadm_object_put(obj);
	return ret;
}

/**
 * erdma_diag_context() - read the adapter's context of a queue
 * @dd: the device
 * @kind: EADM_RAW_KIND_QPC, _CQC or _EQC
 * @id: number of the queue; number 0 of QPs and CQs is the command queue
 * @buf: destination, ERDMA_CONTEXT_MAX bytes
 *
 * Context: process; issues a command.
 * Return: size of the context, or -errno.
 */
int erdma_diag_context(struct eadm_diag_dev *dd, u8 kind, u32 id, void *buf)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	int ret;

	static_assert(sizeof(struct erdma_qpc) <= ERDMA_CONTEXT_MAX);
	switch (kind) {
	case EADM_RAW_KIND_QPC:
		return query_object(dev, kind, id, buf) ?: (int)sizeof(struct erdma_qpc);
	case EADM_RAW_KIND_CQC:
		return query_object(dev, kind, id, buf) ?: (int)sizeof(struct erdma_cqc);
	case EADM_RAW_KIND_EQC:
		if (id >= ERDMA_EQC_INDEX_CEQ(dev->nr_ceqs))
			return -ENOENT;
		ret = erdma_diag_may_query(dev, NULL);
		if (!ret)
			ret = erdma_cmd_query_eqc(dev, id, buf);
		return ret ?: (int)sizeof(struct erdma_eqc);
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * erdma_diag_regs() - read the registers that are safe to read
 * @dd: the device
 * @regs: destination of the values
 * @max: number of elements in @regs
 *
 * Context: process.
 * Return: number of registers; -ENODEV; -EAGAIN while the function is being reset.
 */
int erdma_diag_regs(struct eadm_diag_dev *dd, struct eadm_diag_reg *regs, u32 max)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	u8 __iomem *bar = dev->adapter.bar;
	u32 at, n = 0;
	u8 bits;

	if (READ_ONCE(dev->adapter.gone))
		return -ENODEV;
	for (at = 0; at < ERDMA_REGS_SIZE; at += sizeof(u32)) {
		bits = erdma_reg_bits(at);
		if (!bits)
			continue;
		if (n < max)
			regs[n] = (struct eadm_diag_reg){
				.offset = at,
				.bits = bits,
				.value = bits == 64 ? readq(bar + at) : readl(bar + at),
			};
		n++;
	}
	/* Registers read during a reset return all ones. */
	return eadm_function_is_resetting(&dev->adapter.fn) ? -EAGAIN : n;
}
