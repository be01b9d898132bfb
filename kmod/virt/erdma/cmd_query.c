// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands whose response is written to a buffer of the driver (hw 4.13).
 */
#include <linux/bitfield.h>
#include <linux/random.h>

#include "ev.h"

#define VERSION		1

/* Every response fits into the buffer that drivers provide. */
union answer {
	struct erdma_query_hdr hdr;
	struct erdma_stats stats;
	struct erdma_qpc qpc;
	struct erdma_cqc cqc;
	struct erdma_eqc eqc;
	struct erdma_ext_attr attr;
};

static_assert(sizeof(union answer) <= ERDMA_QUERY_BUF_SIZE);

static u32 index_of(const struct ev_cmd *cmd)
{
	const struct erdma_cmd_query *req = (void *)cmd->req;

	return le32_to_cpu(req->index);
}

static enum ev_syndrome reply(struct ev_adapter *ad, const struct ev_cmd *cmd,
			      union answer *answer, u32 len)
{
	const struct erdma_cmd_query *req = (void *)cmd->req;

	s64 target = cmd->sub_mod << 8 | cmd->opcode;

	if (le32_to_cpu(req->buf_len) < len)
		return EV_INVALID;
	answer->hdr.magic = cpu_to_le16(ERDMA_QUERY_MAGIC);
	answer->hdr.version = VERSION;
	answer->hdr.length = len - sizeof(answer->hdr);
	if (ev_fault_hit(ad, EV_FAULT_ANSWER_GARBAGE, target, NULL)) {
		get_random_bytes(answer, len);
		answer->hdr.magic = cpu_to_le16((u16)~ERDMA_QUERY_MAGIC);
	}
	return ev_syndrome_of(vdev_dma_write(&ad->vdev, le64_to_cpu(req->buf_addr),
					     answer, len));
}

enum ev_syndrome ev_cmd_get_stats(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	union answer a = {};
	unsigned int i;

	for (i = 0; i < ERDMA_STATS_COUNT; i++)
		a.stats.value[i] = cpu_to_le64(atomic64_read(&ad->stats[i]));
	return reply(ad, cmd, &a, sizeof(a.stats));
}

enum ev_syndrome ev_cmd_get_ext_attr(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	union answer a = {};

	a.attr.cap_mask = cpu_to_le32(EV_EXT_ATTRS);
	a.attr.attr_mask = cpu_to_le32(ad->ext_attrs);
	a.attr.delayed_ack = ad->delayed_ack;
	return reply(ad, cmd, &a, sizeof(a.attr));
}

static void fill_queue(struct erdma_qpc_queue *queue, const struct ev_wq *wq)
{
	queue->enabled = 1;
	queue->page_offset = wq->page_offset >> ERDMA_HW_PAGE_SHIFT;
	queue->page_size = wq->page_shift - ERDMA_HW_PAGE_SHIFT;
	queue->depth = ilog2(wq->depth);
	queue->pi = cpu_to_le16(wq->pi);
	queue->ci = cpu_to_le16(wq->ci);
}

static void fill_qpc(struct erdma_qpc *qpc, const struct ev_qp *qp)
{
	bool stopped = qp->state >= ERDMA_QPS_CLOSING;

	fill_queue(&qpc->sq, &qp->sq);
	fill_queue(&qpc->rq, &qp->rq);
	qpc->last_sqe = cpu_to_le16(qp->sq.last);
	qpc->last_rqe = cpu_to_le16(qp->rq.last);
	qpc->send_cqes = cpu_to_le16(qp->sq.cqes);
	qpc->recv_cqes = cpu_to_le16(qp->rq.cqes);
	qpc->tx_packets = cpu_to_le16(qp->tx_packets);
	qpc->rx_packets = cpu_to_le16(qp->rx_packets);
	qpc->rto_retrans = cpu_to_le32(qp->retransmits);
	qpc->remote_qpn = cpu_to_le32(qp->remote_cookie & ERDMA_CREATE_QP0_QPN);
	qpc->pd = cpu_to_le32(qp->pd);
	qpc->fw_sq_pi = cpu_to_le16(qp->sq.pi);
	qpc->fw_sq_ci = cpu_to_le16(qp->sq.ci);
	qpc->fw_rq_ci = cpu_to_le16(qp->rq.ci);
	qpc->sq_flushing = stopped;
	qpc->rq_flushing = stopped;
	qpc->flushed_sq_pi = cpu_to_le16(qp->sq.flushed_pi);
	qpc->flushed_rq_pi = cpu_to_le16(qp->rq.flushed_pi);
	qpc->send_cqn = cpu_to_le32(qp->sq.cq->cqn);
	qpc->recv_cqn = cpu_to_le32(qp->rq.cq->cqn);
	qpc->sq_addr = cpu_to_le64(qp->sq.addr);
	qpc->rq_addr = cpu_to_le64(qp->rq.addr);
	qpc->sq_dbrec_addr = cpu_to_le64(qp->sq.dbrec_addr);
	qpc->rq_dbrec_addr = cpu_to_le64(qp->rq.dbrec_addr);
	qpc->sq_dbrec = cpu_to_le64(ev_wq_record(&qp->sq));
	qpc->rq_dbrec = cpu_to_le64(ev_wq_record(&qp->rq));
	qpc->sip = qp->sip;
	qpc->dip = qp->dip;
	qpc->sport = qp->sport;
	qpc->dport = qp->dport;
}

static u64 read_record(struct ev_adapter *ad, u64 addr)
{
	__le64 value;

	if (vdev_dma_read(&ad->vdev, addr, &value, sizeof(value)))
		return 0;
	return le64_to_cpu(value);
}

/* Index 0 is the command queue, which only has a send queue. */
static void fill_cmdq_qpc(struct erdma_qpc *qpc, struct ev_adapter *ad)
{
	const struct ev_cmdq *q = &ad->cmdq;

	qpc->sq.enabled = 1;
	qpc->sq.depth = ilog2(q->depth);
	qpc->sq.pi = cpu_to_le16(q->sq_pi);
	qpc->sq.ci = cpu_to_le16(q->ci);
	qpc->last_sqe = cpu_to_le16(q->last);
	qpc->send_cqes = cpu_to_le16(q->cq_pi);
	qpc->fw_sq_pi = qpc->sq.pi;
	qpc->fw_sq_ci = qpc->sq.ci;
	qpc->sq_addr = cpu_to_le64(q->sq_addr);
	qpc->sq_dbrec_addr = cpu_to_le64(q->sq_dbrec_addr);
	qpc->sq_dbrec = cpu_to_le64(read_record(ad, q->sq_dbrec_addr));
}

enum ev_syndrome ev_cmd_query_qpc(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	u32 qpn = index_of(cmd);
	union answer a = {};
	struct ev_qp *qp;

	if (!(ad->params.flags & ERDMA_FLAG_QUERY_QC))
		return EV_UNKNOWN;
	a.hdr.index = cpu_to_le32(qpn);
	if (!qpn) {
		fill_cmdq_qpc(&a.qpc, ad);
	} else {
		qp = ev_qp_find(ad, qpn);
		if (!qp)
			return EV_NO_OBJECT;
		fill_qpc(&a.qpc, qp);
	}
	return reply(ad, cmd, &a, sizeof(a.qpc));
}

static u64 bar_address(struct ev_adapter *ad, u32 offset)
{
	return vdev_window_phys(&ad->vdev, ERDMA_FUNC_BAR) + offset;
}

static void fill_cqc(struct erdma_cqc *cqc, struct ev_cq *cq)
{
	u32 db = ERDMA_BAR_CQDB;

	if (cq->db_page)
		db = cq->db_page << cq->ad->page_shift;
	spin_lock(&cq->lock);
	cqc->pi = cpu_to_le32(cq->pi);
	cqc->enabled = 1;
	cqc->depth_log2 = ilog2(cq->depth);
	cqc->owner = !(cq->pi & cq->depth);
	cqc->bad_db_type = cq->out_of_order_last;
	cqc->bad_db_ci = cpu_to_le32(cq->bad_db_ci);
	cqc->out_of_order = cq->out_of_order;
	cqc->duplicate = cq->duplicate;
	cqc->db_addr = cpu_to_le64(bar_address(cq->ad, db));
	cqc->dbrec = cpu_to_le64(vdev_dma_peek(&cq->ad->vdev, cq->dbrec));
	spin_unlock(&cq->lock);
}

static void fill_cmdq_cqc(struct erdma_cqc *cqc, struct ev_adapter *ad)
{
	const struct ev_cmdq *q = &ad->cmdq;

	cqc->pi = cpu_to_le32(q->cq_pi);
	cqc->enabled = 1;
	cqc->depth_log2 = ilog2(q->depth);
	cqc->owner = !(q->cq_pi & q->depth);
	cqc->db_addr = cpu_to_le64(bar_address(ad, ERDMA_REG_CMDQ_CQ_DB));
	cqc->dbrec = cpu_to_le64(read_record(ad, q->cq_dbrec_addr));
}

enum ev_syndrome ev_cmd_query_cqc(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	u32 cqn = index_of(cmd);
	union answer a = {};
	struct ev_cq *cq;

	if (!(ad->params.flags & ERDMA_FLAG_QUERY_QC))
		return EV_UNKNOWN;
	a.hdr.index = cpu_to_le32(cqn);
	if (!cqn) {
		fill_cmdq_cqc(&a.cqc, ad);
	} else {
		cq = ev_cq_find(ad, cqn);
		if (!cq)
			return EV_NO_OBJECT;
		fill_cqc(&a.cqc, cq);
	}
	return reply(ad, cmd, &a, sizeof(a.cqc));
}

enum ev_syndrome ev_cmd_query_eqc(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	u32 index = index_of(cmd);
	union answer a = {};
	unsigned long flags;
	struct ev_eq *eq;

	if (index > ERDMA_MAX_VECTORS)
		return EV_RANGE;
	eq = index == ERDMA_EQC_INDEX_AEQ ? &ad->aeq :
	     &ad->eq[index - ERDMA_EQC_INDEX_CMDQ];
	if (!eq->exists)
		return EV_NO_OBJECT;
	a.hdr.index = cpu_to_le32(index);
	spin_lock_irqsave(&eq->lock, flags);
	a.eqc.depth = cpu_to_le16(eq->depth);
	a.eqc.vector = cpu_to_le16(eq->vector);
	a.eqc.suppressed = !eq->armed;
	a.eqc.tail_owner = !(eq->pi & eq->depth);
	a.eqc.head_owner = !(eq->ci & eq->depth);
	a.eqc.overflow = eq->overflow;
	a.eqc.head = cpu_to_le32(eq->ci);
	a.eqc.tail = cpu_to_le32(eq->pi);
	a.eqc.ring_addr = cpu_to_le64(eq->ring_addr);
	a.eqc.db_addr = cpu_to_le64(bar_address(ad, eq->reg));
	a.eqc.dbrec = cpu_to_le64(read_record(ad, eq->dbrec_addr));
	spin_unlock_irqrestore(&eq->lock, flags);
	return reply(ad, cmd, &a, sizeof(a.eqc));
}
