// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for objects (hw 4), one function per command. All functions may sleep and return the
 * result of eadm_cmd_exec(). Request fields that are not set here are zero.
 */

#include <linux/bitfield.h>

#include "efa.h"

static void cmd_init(struct efa_cmd *cmd, enum efa_opcode op, u8 len)
{
	/* The response has the same size and overwrites the request. */
	memset(&cmd->req, 0, sizeof(cmd->req));
	cmd->req.hdr.opcode = op;
	cmd->base.len = len;
	cmd->base.issue.bound = false;
	cmd->base.seq = 0;
	cmd->list = NULL;
	cmd->mem = NULL;
	cmd->creates = false;
}

/* The object numbers in the command are valid in this epoch only. */
static void cmd_bind(struct efa_cmd *cmd, enum efa_opcode op, u8 len, u32 epoch)
{
	cmd_init(cmd, op, len);
	cmd->base.issue.bound = true;
	cmd->base.issue.epoch = epoch;
}

/*
 * Issues a destroy command whose only argument is an object number. @mem: memory of the object, or
 * NULL.
 */
static int end_number(struct efa_dev *dev, enum efa_opcode op, u16 number, u32 epoch,
		      struct efa_mem *mem)
{
	struct efa_cmd cmd;

	cmd_bind(&cmd, op, sizeof(cmd.req.number), epoch);
	cmd.mem = mem;
	cmd.req.number.number = cpu_to_le16(number);
	return efa_aq_exec(dev, &cmd);
}

/**
 * efa_cmd_create_eq() - create an event queue for completions
 * @dev: the device
 * @eq: the queue; its number is set
 */
int efa_cmd_create_eq(struct efa_dev *dev, struct efa_eq *eq)
{
	struct efa_cmd_create_eq *req;
	struct efa_cmd cmd;
	int ret;

	cmd_init(&cmd, EFA_CMD_CREATE_EQ, sizeof(*req));
	req = &cmd.req.create_eq;
	req->depth = cpu_to_le16(eq->base.depth);
	req->vector = eq->base.vector;
	req->caps = FIELD_PREP(EFA_CREATE_EQ_ENTRY_WORDS, EFA_EQE_SIZE / sizeof(u32));
	req->addr_lo = cpu_to_le32(lower_32_bits(eq->base.ring.dma));
	req->addr_hi = cpu_to_le32(upper_32_bits(eq->base.ring.dma));
	req->events = cpu_to_le32(EFA_EQ_EVENT_COMPLETION);
	ret = efa_aq_exec(dev, &cmd);
	if (!ret)
		eq->base.eqn = le16_to_cpu(cmd.resp.number.number);
	return ret;
}

/**
 * efa_cmd_destroy_eq() - destroy an event queue
 * @dev: the device
 * @eq: the queue
 */
int efa_cmd_destroy_eq(struct efa_dev *dev, const struct efa_eq *eq)
{
	return end_number(dev, EFA_CMD_DESTROY_EQ, eq->base.eqn, READ_ONCE(dev->adapter.epoch),
			  NULL);
}

/**
 * efa_cmd_alloc_uar() - allocate doorbells for a context
 * @dev: the device
 * @ctx: the context; set to the number of the doorbells
 * @epoch: set to the epoch in which the adapter allocated them
 *
 * Doorbells do not depend on objects that a reset ends, so they are allocated again after a reset.
 */
int efa_cmd_alloc_uar(struct efa_dev *dev, struct efa_ctx *ctx, u32 *epoch)
{
	struct efa_cmd cmd;
	int ret, tries = 2;

	do {
		cmd_init(&cmd, EFA_CMD_ALLOC_UAR, sizeof(cmd.req.hdr));
		ret = efa_aq_exec(dev, &cmd);
	} while (ret == -ECANCELED && --tries);
	if (ret)
		return ret;
	ctx->uar = le16_to_cpu(cmd.resp.number.number);
	*epoch = cmd.base.issue.epoch;
	return 0;
}

/**
 * efa_cmd_dealloc_uar() - free the doorbells of a context
 * @dev: the device
 * @ctx: the context
 */
int efa_cmd_dealloc_uar(struct efa_dev *dev, const struct efa_ctx *ctx)
{
	return end_number(dev, EFA_CMD_DEALLOC_UAR, ctx->uar, ctx->base.obj.epoch, NULL);
}

/**
 * efa_cmd_alloc_pd() - allocate a PD
 * @dev: the device
 * @pd: the PD; its number is set
 */
int efa_cmd_alloc_pd(struct efa_dev *dev, struct eadm_pd *pd)
{
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_ALLOC_PD, sizeof(cmd.req.hdr), pd->obj.epoch);
	ret = efa_aq_exec(dev, &cmd);
	if (!ret)
		pd->pdn = le16_to_cpu(cmd.resp.number.number);
	return ret;
}

/**
 * efa_cmd_dealloc_pd() - deallocate a PD
 * @dev: the device
 * @pd: the PD
 */
int efa_cmd_dealloc_pd(struct efa_dev *dev, const struct eadm_pd *pd)
{
	return end_number(dev, EFA_CMD_DEALLOC_PD, pd->pdn, pd->obj.epoch, NULL);
}

/**
 * efa_cmd_create_ah() - create an AH
 * @dev: the device
 * @pd: its PD
 * @gid: the peer's address
 * @ahn: set to its number
 */
int efa_cmd_create_ah(struct efa_dev *dev, struct eadm_pd *pd, const u8 gid[16], u16 *ahn)
{
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_CREATE_AH, sizeof(cmd.req.create_ah), pd->obj.epoch);
	memcpy(cmd.req.create_ah.gid, gid, sizeof(cmd.req.create_ah.gid));
	cmd.req.create_ah.pd = cpu_to_le16(pd->pdn);
	ret = efa_aq_exec(dev, &cmd);
	if (!ret)
		*ahn = le16_to_cpu(cmd.resp.number.number);
	return ret;
}

/**
 * efa_cmd_destroy_ah() - destroy an AH
 * @dev: the device
 * @pd: its PD
 * @ahn: its number
 */
int efa_cmd_destroy_ah(struct efa_dev *dev, const struct eadm_pd *pd, u16 ahn)
{
	struct efa_cmd cmd;

	cmd_bind(&cmd, EFA_CMD_DESTROY_AH, sizeof(cmd.req.destroy_ah), pd->obj.epoch);
	cmd.req.destroy_ah.ah = cpu_to_le16(ahn);
	cmd.req.destroy_ah.pd = cpu_to_le16(pd->pdn);
	return efa_aq_exec(dev, &cmd);
}

/*
 * For commands that pass memory of an object to the adapter: after an error, @done is set to
 * whether the adapter is known not to use the memory.
 */
static int exec_with_memory(struct efa_dev *dev, struct efa_cmd *cmd, struct efa_mem *mem,
			    bool *done)
{
	int ret;

	cmd->mem = mem;
	cmd->creates = true;

	/* A command without a sequence number was not issued. */
	ret = efa_aq_exec(dev, cmd);
	*done = !cmd->base.seq || cmd->base.answered;
	return ret;
}

/**
 * efa_cmd_create_cq() - create a CQ
 * @dev: the device
 * @cq: the CQ; set to the values that the adapter returns
 * @done: after an error, whether the adapter is known not to use the ring
 */
int efa_cmd_create_cq(struct efa_dev *dev, struct efa_cq *cq, bool *done)
{
	struct efa_resp_create_cq *resp;
	struct efa_cmd_create_cq *req;
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_CREATE_CQ, sizeof(*req), cq->obj.epoch);
	req = &cmd.req.create_cq;
	req->caps2 = FIELD_PREP(EFA_CREATE_CQ2_ENTRY_WORDS, cq->entry_size / sizeof(u32));
	if (cq->src_addr)
		req->caps2 |= EFA_CREATE_CQ2_SRC_ADDR;
	if (cq->eq) {
		req->caps1 = EFA_CREATE_CQ1_EVENTS;
		req->eqn = cpu_to_le16(cq->eq->base.eqn);
	}
	req->depth = cpu_to_le16(cq->depth);
	req->addr_lo = cpu_to_le32(lower_32_bits(cq->mem.ring_dma));
	req->addr_hi = cpu_to_le32(upper_32_bits(cq->mem.ring_dma));
	req->sub_cqs = dev->caps.queue.sub_cqs;
	req->uar = cpu_to_le16(cq->ctx->uar);
	ret = exec_with_memory(dev, &cmd, &cq->mem, done);
	if (ret)
		return ret;
	resp = &cmd.resp.create_cq;
	cq->cqn = le16_to_cpu(resp->cqn);
	cq->db = le32_to_cpu(resp->db);
	cq->has_db = resp->flags & cpu_to_le32(EFA_RESP_CQ_DB_VALID);
	return 0;
}

/**
 * efa_cmd_destroy_cq() - destroy a CQ
 * @dev: the device
 * @cq: the CQ
 */
int efa_cmd_destroy_cq(struct efa_dev *dev, struct efa_cq *cq)
{
	return end_number(dev, EFA_CMD_DESTROY_CQ, cq->cqn, cq->obj.epoch, &cq->mem);
}

/**
 * efa_cmd_create_qp() - create a QP
 * @dev: the device
 * @qp: the QP; set to the values that the adapter returns
 * @done: after an error, whether the adapter is known not to use the ring
 */
int efa_cmd_create_qp(struct efa_dev *dev, struct efa_qp *qp, bool *done)
{
	struct efa_resp_create_qp *resp;
	struct efa_cmd_create_qp *req;
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_CREATE_QP, sizeof(*req), qp->obj.epoch);
	req = &cmd.req.create_qp;
	req->pd = cpu_to_le16(to_eadm_pd(qp->ibqp.pd)->pdn);
	req->type = qp->type;
	req->flags = qp->flags;
	req->rq_addr = cpu_to_le64(qp->rq_bytes ? qp->mem.ring_dma : 0);
	req->send_cqn = cpu_to_le32(to_efa_cq(qp->ibqp.send_cq)->cqn);
	req->recv_cqn = cpu_to_le32(to_efa_cq(qp->ibqp.recv_cq)->cqn);
	req->sq_bytes = cpu_to_le32(qp->sq_bytes);
	req->sq_depth = cpu_to_le32(qp->cap.max_send_wr);
	req->rq_bytes = cpu_to_le32(qp->rq_bytes);
	req->rq_depth = cpu_to_le32(qp->cap.max_recv_wr);
	req->uar = cpu_to_le16(qp->ctx->uar);
	req->sl = qp->sl;
	ret = exec_with_memory(dev, &cmd, &qp->mem, done);
	if (ret)
		return ret;
	resp = &cmd.resp.create_qp;
	qp->handle = le32_to_cpu(resp->handle);
	qp->qpn = le16_to_cpu(resp->qpn);
	qp->send_sub_cq = le16_to_cpu(resp->send_sub_cq);
	qp->recv_sub_cq = le16_to_cpu(resp->recv_sub_cq);
	qp->sq_db = le32_to_cpu(resp->sq_db);
	qp->rq_db = le32_to_cpu(resp->rq_db);
	qp->llq = le32_to_cpu(resp->llq);
	return 0;
}

/**
 * efa_cmd_destroy_qp() - destroy a QP
 * @dev: the device
 * @qp: the QP
 */
int efa_cmd_destroy_qp(struct efa_dev *dev, struct efa_qp *qp)
{
	struct efa_cmd cmd;

	cmd_bind(&cmd, EFA_CMD_DESTROY_QP, sizeof(cmd.req.qp), qp->obj.epoch);
	cmd.mem = &qp->mem;
	cmd.req.qp.handle = cpu_to_le32(qp->handle);
	return efa_aq_exec(dev, &cmd);
}

/**
 * efa_cmd_modify_qp() - change a QP
 * @dev: the device
 * @qp: the QP
 * @req: the requested change; header and handle are filled in here
 */
int efa_cmd_modify_qp(struct efa_dev *dev, const struct efa_qp *qp,
		      struct efa_cmd_modify_qp *req)
{
	struct efa_cmd cmd;

	cmd_bind(&cmd, EFA_CMD_MODIFY_QP, sizeof(*req), qp->obj.epoch);
	req->hdr = cmd.req.hdr;
	req->handle = cpu_to_le32(qp->handle);
	cmd.req.modify_qp = *req;
	return efa_aq_exec(dev, &cmd);
}

/**
 * efa_cmd_query_qp() - query a QP
 * @dev: the device
 * @qp: the QP
 * @resp: the response
 */
int efa_cmd_query_qp(struct efa_dev *dev, const struct efa_qp *qp,
		     struct efa_resp_query_qp *resp)
{
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_QUERY_QP, sizeof(cmd.req.qp), qp->obj.epoch);
	cmd.req.qp.handle = cpu_to_le32(qp->handle);
	ret = efa_aq_exec(dev, &cmd);
	if (!ret)
		*resp = cmd.resp.query_qp;
	return ret;
}

static u8 mr_rights(int access)
{
	return (access & IB_ACCESS_LOCAL_WRITE ? EFA_MR_LOCAL_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_WRITE ? EFA_MR_REMOTE_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_READ ? EFA_MR_REMOTE_READ : 0);
}

static void fill_pages(struct efa_cmd *cmd, const struct efa_mr *mr)
{
	struct ib_block_iter block;
	u32 i = 0;

	if (cmd->list) {
		efa_list_ctrl(cmd->list, &cmd->req.reg_mr.list, &cmd->req.hdr.flags);
		return;
	}
	rdma_umem_for_each_dma_block(mr->mem.umem, &block, BIT(mr->page_shift))
		cmd->req.reg_mr.pages[i++] = cpu_to_le64(rdma_block_iter_dma_address(&block));
}

/**
 * efa_cmd_reg_mr() - register an MR
 * @dev: the device
 * @mr: the MR; its keys are set
 * @list: mapped addresses of the pages; NULL if all fit into the command. Set to NULL if the admin
 *	queue takes ownership
 * @done: after an error, whether the adapter is known not to use the pages
 */
int efa_cmd_reg_mr(struct efa_dev *dev, struct efa_mr *mr, struct efa_list **list,
		   bool *done)
{
	struct efa_cmd_reg_mr *req;
	struct efa_cmd cmd;
	int ret;

	cmd_bind(&cmd, EFA_CMD_REG_MR, sizeof(*req), mr->obj.epoch);
	cmd.list = *list;
	req = &cmd.req.reg_mr;
	req->pd = cpu_to_le16(to_eadm_pd(mr->ibmr.pd)->pdn);
	req->length = cpu_to_le64(mr->length);
	req->flags = FIELD_PREP(EFA_REG_MR_PAGE_SHIFT, mr->page_shift);
	req->rights = mr_rights(mr->access);
	req->iova = cpu_to_le64(mr->iova);
	fill_pages(&cmd, mr);
	ret = exec_with_memory(dev, &cmd, &mr->mem, done);
	*list = cmd.list;
	if (ret)
		return ret;
	mr->ibmr.lkey = le32_to_cpu(cmd.resp.reg_mr.lkey);
	mr->ibmr.rkey = le32_to_cpu(cmd.resp.reg_mr.rkey);
	mr->ic_valid = cmd.resp.reg_mr.ic_valid;
	mr->recv_ic = cmd.resp.reg_mr.recv_ic;
	mr->read_ic = cmd.resp.reg_mr.read_ic;
	mr->rdma_recv_ic = cmd.resp.reg_mr.rdma_recv_ic;
	return 0;
}

/**
 * efa_cmd_dereg_mr() - deregister an MR
 * @dev: the device
 * @mr: the MR
 */
int efa_cmd_dereg_mr(struct efa_dev *dev, struct efa_mr *mr)
{
	struct efa_cmd cmd;

	cmd_bind(&cmd, EFA_CMD_DEREG_MR, sizeof(cmd.req.dereg_mr), mr->obj.epoch);
	cmd.mem = &mr->mem;
	cmd.req.dereg_mr.lkey = cpu_to_le32(mr->ibmr.lkey);
	return efa_aq_exec(dev, &cmd);
}

/**
 * efa_cmd_get_stats() - read the port's counters
 * @ad: the adapter
 * @answer: struct efa_stats; RDMA write counters are read only if the adapter supports them
 */
int efa_cmd_get_stats(struct eadm_adapter *ad, void *answer)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	struct efa_stats *stats = answer;
	struct efa_cmd cmd;
	int ret, type, i;

	for (type = 0; type < EFA_STATS_TYPES; type++) {
		if (type == EFA_STATS_WRITE && !(dev->caps.flags & EFA_DEV_CAP_RDMA_WRITE))
			continue;
		cmd_init(&cmd, EFA_CMD_GET_STATS, sizeof(cmd.req.get_stats));
		cmd.req.get_stats.type = type;
		ret = efa_aq_exec(dev, &cmd);
		if (ret)
			return ret;
		for (i = 0; i < EFA_STATS_VALUES; i++)
			stats->value[type][i] = le64_to_cpu(cmd.resp.get_stats.value[i]);
	}
	return 0;
}
