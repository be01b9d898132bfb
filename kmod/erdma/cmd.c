// SPDX-License-Identifier: GPL-2.0-only
/*
 * One typed function for each command (hw 4).
 *
 * All functions may sleep and return the result of eadm_cmd_exec(); a refused command returns -EIO.
 * Request fields that are not set here are zero.
 */

#include <linux/bitfield.h>

#include "erdma.h"

static void cmd_init(struct erdma_cmd *cmd, u8 sub_mod, u8 opcode, size_t len)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->base.op = sub_mod << 8 | opcode;
	cmd->base.len = len;
}

/*
 * Binds a command to the epoch of its object, so that the command fails if a reset happens while
 * its issuer waits. Recovery relies on this: when the queue is back in service, no command for an
 * object from before the reset is in flight.
 */
static void cmd_bind(struct erdma_cmd *cmd, u32 epoch)
{
	cmd->base.issue.bound = true;
	cmd->base.issue.epoch = epoch;
}

#define cmd_init_rdma(cmd, opcode, body) \
	cmd_init(cmd, ERDMA_SUB_RDMA, opcode, sizeof((cmd)->req.body))
#define cmd_init_common(cmd, opcode, body) \
	cmd_init(cmd, ERDMA_SUB_COMMON, opcode, sizeof((cmd)->req.body))

/**
 * erdma_cmd_query_device() - read the capability words
 * @dev: the device
 * @caps: set to both capability words
 */
int erdma_cmd_query_device(struct erdma_dev *dev, u64 caps[2])
{
	struct erdma_cmd cmd;
	int ret;

	cmd_init_rdma(&cmd, ERDMA_CMD_QUERY_DEVICE, hdr);
	ret = erdma_cmdq_exec(dev, &cmd);
	caps[0] = cmd.resp[0];
	caps[1] = cmd.resp[1];
	return ret;
}

/**
 * erdma_cmd_query_fw() - read the firmware version
 * @dev: the device
 * @version: set to the version in the adapter's format
 */
int erdma_cmd_query_fw(struct erdma_dev *dev, u64 *version)
{
	struct erdma_cmd cmd;
	int ret;

	cmd_init_common(&cmd, ERDMA_CMD_QUERY_FW_INFO, hdr);
	ret = erdma_cmdq_exec(dev, &cmd);
	*version = cmd.resp[0];
	return ret;
}

/**
 * erdma_cmd_create_eq() - create a CEQ in the adapter
 * @dev: the device
 * @eq: the CEQ
 */
int erdma_cmd_create_eq(struct erdma_dev *dev, const struct erdma_eq *eq)
{
	struct erdma_cmd_create_eq *req;
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_CREATE_EQ, create_eq);
	req = &cmd.req.create_eq;
	req->ring_addr = cpu_to_le64(eq->base.ring.dma);
	req->vector = eq->base.vector;
	req->eqn = eq->base.eqn;
	req->depth_log2 = ilog2(eq->base.depth);
	req->type = ERDMA_EQ_TYPE_CEQ;
	req->dbrec_l = cpu_to_le32(lower_32_bits(eq->rec.dma));
	req->dbrec_h = cpu_to_le32(upper_32_bits(eq->rec.dma));
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_destroy_eq() - destroy a CEQ in the adapter
 * @dev: the device
 * @eq: the CEQ
 */
int erdma_cmd_destroy_eq(struct erdma_dev *dev, const struct erdma_eq *eq)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_DESTROY_EQ, destroy_eq);
	cmd.req.destroy_eq.vector = eq->base.vector;
	cmd.req.destroy_eq.eqn = eq->base.eqn;
	cmd.req.destroy_eq.type = ERDMA_EQ_TYPE_CEQ;
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_conf_device() - set the unit of doorbell page numbers
 * @dev: the device
 */
int erdma_cmd_conf_device(struct erdma_dev *dev)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_CONF_DEVICE, conf_device);
	cmd.req.conf_device.cfg = cpu_to_le32(ERDMA_CONF_DEVICE_PS_EN |
					      FIELD_PREP(ERDMA_CONF_DEVICE_PAGE_SHIFT,
							 PAGE_SHIFT));
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_conf_mtu() - set the MTU of the network interface
 * @dev: the device
 * @mtu: the MTU in bytes
 */
int erdma_cmd_conf_mtu(struct erdma_dev *dev, u32 mtu)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_CONF_MTU, conf_mtu);
	cmd.req.conf_mtu.mtu = cpu_to_le32(mtu);
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_set_retrans_num() - set the retransmission limit
 * @dev: the device
 * @num: number of retransmissions, at least 1
 */
int erdma_cmd_set_retrans_num(struct erdma_dev *dev, u8 num)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_SET_RETRANS_NUM, set_retrans_num);
	cmd.req.set_retrans_num.retrans_num = cpu_to_le32(num);
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_set_delayed_ack() - set the delay of acknowledgments
 * @dev: the device
 * @count: number of packets after which to acknowledge
 */
int erdma_cmd_set_delayed_ack(struct erdma_dev *dev, u8 count)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_SET_EXT_ATTR, set_ext_attr);
	cmd.req.set_ext_attr.mask = cpu_to_le32(ERDMA_EXT_ATTR_DELAYED_ACK);
	cmd.req.set_ext_attr.delayed_ack = count;
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_create_cq() - create a CQ
 * @dev: the device
 * @cq: the CQ
 * @epoch: see eadm_object_init()
 */
int erdma_cmd_create_cq(struct erdma_dev *dev, const struct erdma_cq *cq, u32 epoch)
{
	const struct erdma_area *area = &cq->mem->area[0];
	struct erdma_cmd_create_cq *req;
	u64 addr = erdma_mtt_addr(&area->mtt);
	struct erdma_cmd cmd;
	u32 cfg1;

	cmd_init_rdma(&cmd, ERDMA_CMD_CREATE_CQ, create_cq);
	cmd_bind(&cmd, epoch);
	req = &cmd.req.create_cq;
	req->cfg0 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_CQ0_DEPTH, ilog2(cq->depth)) |
				FIELD_PREP(ERDMA_CREATE_CQ0_PAGE_SIZE,
					   area->mtt.page_shift - ERDMA_HW_PAGE_SHIFT) |
				FIELD_PREP(ERDMA_CREATE_CQ0_CQN, cq->cqn));
	req->addr_l = cpu_to_le32(lower_32_bits(addr));
	req->addr_h = cpu_to_le32(upper_32_bits(addr));
	cfg1 = FIELD_PREP(ERDMA_CREATE_CQ1_MTT_CNT, area->mtt.count) |
	       FIELD_PREP(ERDMA_CREATE_CQ1_EQN, ERDMA_EQN_CEQ(cq->vector));
	if (area->mtt.level)
		cfg1 |= ERDMA_CREATE_CQ1_MTT_TABLE;
	req->dbrec = cpu_to_le64(cq->mem->dbrec[0].dma);
	req->first_page_offset = cpu_to_le32(area->offset);
	if (cq->ctx && cq->ctx->db_allocated) {
		u16 page = FIELD_GET(ERDMA_ALLOC_DB_CDB, cq->ctx->db_pages);

		cfg1 |= ERDMA_CREATE_CQ1_DB_CFG;
		req->cfg2 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_CQ2_DB_PAGE, page));
	}
	req->cfg1 = cpu_to_le32(cfg1);
	return erdma_cmdq_exec(dev, &cmd);
}

/*
 * Retries once if the command that ends an object is lost: the object's memory cannot be freed
 * before the adapter has confirmed the command.
 */
static int exec_again(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	int ret = erdma_cmdq_exec(dev, cmd);

	return ret == -ETIMEDOUT ? erdma_cmdq_exec(dev, cmd) : ret;
}

/**
 * erdma_cmd_destroy_cq() - destroy a CQ
 * @dev: the device
 * @cqn: number of the CQ
 * @epoch: dev->adapter.epoch when the CQ was created
 */
int erdma_cmd_destroy_cq(struct erdma_dev *dev, u32 cqn, u32 epoch)
{
	struct erdma_cmd cmd;

	cmd_init_rdma(&cmd, ERDMA_CMD_DESTROY_CQ, destroy_cq);
	cmd_bind(&cmd, epoch);
	cmd.req.destroy_cq.cqn = cpu_to_le32(cqn);
	return exec_again(dev, &cmd);
}

static __le32 qp_cqn(const struct erdma_mtt *mtt, u32 cqn, u32 flags)
{
	return cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP_PAGE_SIZE,
				      mtt->page_shift - ERDMA_HW_PAGE_SHIFT) |
			   FIELD_PREP(ERDMA_CREATE_QP_CQN, cqn) | flags);
}

/* The offset in the first page is a multiple of 4096 and not shifted (hw 4.7). */
static __le32 qp_mtt(const struct erdma_area *area)
{
	return cpu_to_le32((area->offset & ERDMA_CREATE_QP_MTT_OFFSET) |
			   FIELD_PREP(ERDMA_CREATE_QP_MTT_CNT, area->mtt.count) |
			   (area->mtt.level ? ERDMA_CREATE_QP_MTT_LEVEL : 0));
}

/**
 * erdma_cmd_create_qp() - create a QP
 * @dev: the device
 * @qp: the QP
 * @cookie: set to the cookie to send to the peer's adapter
 */
int erdma_cmd_create_qp(struct erdma_dev *dev, const struct erdma_qp *qp, u32 *cookie)
{
	const struct erdma_area *sq = &qp->mem->area[0], *rq = &qp->mem->area[1];
	struct erdma_cmd_create_qp *req;
	struct erdma_cmd cmd;
	u32 flags = 0;
	int ret;

	cmd_init_rdma(&cmd, ERDMA_CMD_CREATE_QP, create_qp);
	cmd_bind(&cmd, qp->obj.epoch);
	req = &cmd.req.create_qp;
	req->cfg0 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP0_SQ_DEPTH, ilog2(qp->sq_depth)) |
				FIELD_PREP(ERDMA_CREATE_QP0_QPN, qp->qpn));
	req->cfg1 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP1_RQ_DEPTH, ilog2(qp->rq_depth)) |
				FIELD_PREP(ERDMA_CREATE_QP1_PD,
					   to_eadm_pd(qp->ibqp.pd)->pdn));
	if (qp->ctx && qp->ctx->db_allocated) {
		u64 pages = qp->ctx->db_pages;

		flags = ERDMA_CREATE_QP_DB_CFG;
		req->db_cfg = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP_SQDB_PAGE,
						     FIELD_GET(ERDMA_ALLOC_DB_SDB, pages)) |
					  FIELD_PREP(ERDMA_CREATE_QP_RQDB_PAGE,
						     FIELD_GET(ERDMA_ALLOC_DB_RDB, pages)));
	}
	req->sq_cqn = qp_cqn(&sq->mtt, to_erdma_cq(qp->ibqp.send_cq)->cqn, flags);
	req->rq_cqn = qp_cqn(&rq->mtt, to_erdma_cq(qp->ibqp.recv_cq)->cqn, 0);
	req->sq_addr = cpu_to_le64(erdma_mtt_addr(&sq->mtt));
	req->rq_addr = cpu_to_le64(erdma_mtt_addr(&rq->mtt));
	req->sq_mtt = qp_mtt(sq);
	req->rq_mtt = qp_mtt(rq);
	req->sq_dbrec = cpu_to_le64(qp->mem->dbrec[0].dma);
	req->rq_dbrec = cpu_to_le64(qp->mem->dbrec[1].dma);
	if (!sq->mtt.level)
		memcpy(req->sq_inline_mtt, &sq->mtt.direct[1], sizeof(req->sq_inline_mtt));
	if (!rq->mtt.level)
		memcpy(req->rq_inline_mtt, &rq->mtt.direct[1], sizeof(req->rq_inline_mtt));
	ret = erdma_cmdq_exec(dev, &cmd);
	*cookie = lower_32_bits(cmd.resp[0]);
	return ret;
}

/**
 * erdma_cmd_destroy_qp() - destroy a QP
 * @dev: the device
 * @qp: the QP
 */
int erdma_cmd_destroy_qp(struct erdma_dev *dev, const struct erdma_qp *qp)
{
	struct erdma_cmd cmd;

	cmd_init_rdma(&cmd, ERDMA_CMD_DESTROY_QP, destroy_qp);
	cmd_bind(&cmd, qp->obj.epoch);
	cmd.req.destroy_qp.qpn = cpu_to_le32(qp->qpn);
	return exec_again(dev, &cmd);
}

/**
 * erdma_cmd_modify_qp() - change the state of a QP
 * @dev: the device
 * @qp: the QP
 * @state: new state
 * @rts: the connection, for a change to RTS
 *
 * A command that takes the QP out of service is repeated if it was lost, because consumers then
 * free the memory that the adapter uses.
 */
int erdma_cmd_modify_qp(struct erdma_dev *dev, const struct erdma_qp *qp,
			enum erdma_qp_state state, const struct erdma_rts *rts)
{
	struct erdma_cmd_modify_qp *req;
	struct erdma_cmd cmd;
	u8 cc = 0;

	cmd_init_rdma(&cmd, ERDMA_CMD_MODIFY_QP, modify_qp);
	cmd_bind(&cmd, qp->obj.epoch);
	req = &cmd.req.modify_qp;
	if (rts) {
		cc = rts->cc;
		req->remote_cookie = cpu_to_le32(rts->remote_cookie);
		req->dip = rts->dip;
		req->sip = rts->sip;
		req->sport = rts->sport;
		req->dport = rts->dport;
		req->send_nxt = cpu_to_le32(rts->send_nxt);
		req->recv_nxt = cpu_to_le32(rts->recv_nxt);
	}
	req->cfg = cpu_to_le32(FIELD_PREP(ERDMA_MODIFY_QP_STATE, state) |
			       FIELD_PREP(ERDMA_MODIFY_QP_CC, cc) |
			       FIELD_PREP(ERDMA_MODIFY_QP_QPN, qp->qpn));
	return state > ERDMA_QPS_RTS ? exec_again(dev, &cmd) : erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_reflush() - flush requests posted after flushing began
 * @dev: the device
 * @qp: the QP
 * @sq_pi: producer index of the SQ
 * @rq_pi: producer index of the RQ
 */
int erdma_cmd_reflush(struct erdma_dev *dev, const struct erdma_qp *qp, u16 sq_pi, u16 rq_pi)
{
	struct erdma_cmd cmd;

	cmd_init_rdma(&cmd, ERDMA_CMD_REFLUSH, reflush);
	cmd_bind(&cmd, qp->obj.epoch);
	cmd.req.reflush.qpn = cpu_to_le32(qp->qpn);
	cmd.req.reflush.sq_pi = cpu_to_le32(sq_pi);
	cmd.req.reflush.rq_pi = cpu_to_le32(rq_pi);
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_reg_mr() - register an MR
 * @dev: the device
 * @mr: the MR; if it has no PD, it gets a PD number that no QP uses
 */
int erdma_cmd_reg_mr(struct erdma_dev *dev, const struct erdma_mr *mr)
{
	const struct erdma_mtt *mtt = &mr->mem->area[0].mtt;
	struct erdma_cmd_reg_mr *req;
	struct erdma_cmd cmd;
	u32 cfg0, cfg2, pdn;

	/* The adapter counts PDs from 1. */
	pdn = mr->ibmr.pd ? to_eadm_pd(mr->ibmr.pd)->pdn : 0;
	cmd_init_rdma(&cmd, ERDMA_CMD_REG_MR, reg_mr);
	cmd_bind(&cmd, mr->obj.epoch);
	req = &cmd.req.reg_mr;
	cfg0 = FIELD_PREP(ERDMA_REG_MR0_MPT, mr->mpt) |
	       FIELD_PREP(ERDMA_REG_MR0_KEY, FIELD_GET(ERDMA_STAG_KEY, mr->ibmr.lkey));
	if (mr->type == ERDMA_MR_NORMAL)
		cfg0 |= ERDMA_REG_MR0_VALID;
	req->cfg1 = cpu_to_le32(FIELD_PREP(ERDMA_REG_MR1_PD, pdn) |
				FIELD_PREP(ERDMA_REG_MR1_TYPE, mr->type) |
				FIELD_PREP(ERDMA_REG_MR1_RIGHTS, erdma_mr_rights(mr->access)));
	if (mr->type != ERDMA_MR_DMA) {
		req->start_va = cpu_to_le64(mr->iova);
		req->size = cpu_to_le32(lower_32_bits(mr->length));
		cfg2 = FIELD_PREP(ERDMA_REG_MR2_PAGE_SIZE, mtt->page_shift) |
		       FIELD_PREP(ERDMA_REG_MR2_MTT_LEVEL, mtt->level) |
		       FIELD_PREP(ERDMA_REG_MR2_MTT_CNT,
				  mtt->count & GENMASK(ERDMA_REG_MR2_MTT_CNT_BITS - 1, 0));
		if (!mtt->level)
			memcpy(req->phy_addr, mtt->direct, sizeof(req->phy_addr));
		else
			req->table = cpu_to_le64(erdma_mtt_addr(mtt));
		if (mtt->scattered) {
			cfg0 |= FIELD_PREP(ERDMA_REG_MR0_VERSION, 1);
			cfg2 |= FIELD_PREP(ERDMA_REG_MR2_MTT_PAGE_SIZE,
					   PAGE_SHIFT - ERDMA_HW_PAGE_SHIFT);
			req->size_h = cpu_to_le32(upper_32_bits(mr->length));
			req->mtt_cnt_h = cpu_to_le32(mtt->count >> ERDMA_REG_MR2_MTT_CNT_BITS);
		}
		req->cfg2 = cpu_to_le32(cfg2);
	}
	req->cfg0 = cpu_to_le32(cfg0);
	return erdma_cmdq_exec(dev, &cmd);
}

/**
 * erdma_cmd_dereg_mr() - deregister an MR
 * @dev: the device
 * @lkey: its current key
 * @epoch: dev->adapter.epoch when the MR was registered
 */
int erdma_cmd_dereg_mr(struct erdma_dev *dev, u32 lkey, u32 epoch)
{
	struct erdma_cmd cmd;

	cmd_init_rdma(&cmd, ERDMA_CMD_DEREG_MR, dereg_mr);
	cmd_bind(&cmd, epoch);
	cmd.req.dereg_mr.cfg =
		cpu_to_le32(FIELD_PREP(ERDMA_REG_MR0_MPT, FIELD_GET(ERDMA_STAG_INDEX, lkey)) |
			    FIELD_PREP(ERDMA_REG_MR0_KEY, FIELD_GET(ERDMA_STAG_KEY, lkey)));
	return exec_again(dev, &cmd);
}

/**
 * erdma_cmd_alloc_db() - allocate doorbell pages for a user context
 * @dev: the device
 * @ctx: the context; set to the response and its epoch
 *
 * Doorbells do not depend on objects that a reset ends, so they are allocated again after a reset.
 */
int erdma_cmd_alloc_db(struct erdma_dev *dev, struct erdma_ctx *ctx)
{
	struct erdma_cmd cmd;
	int ret, tries = 2;

	do {
		cmd_init_common(&cmd, ERDMA_CMD_ALLOC_DB, db);
		cmd.req.db.cfg = cpu_to_le32(ERDMA_DB_SQ | ERDMA_DB_RQ | ERDMA_DB_CQ);
		ret = erdma_cmdq_exec(dev, &cmd);
	} while (ret == -ECANCELED && --tries);
	if (ret)
		return ret;
	ctx->db_pages = cmd.resp[0];
	ctx->base.obj.epoch = cmd.base.issue.epoch;
	return 0;
}

/**
 * erdma_cmd_free_db() - return the doorbell pages of a user context
 * @dev: the device
 * @ctx: the context
 */
int erdma_cmd_free_db(struct erdma_dev *dev, const struct erdma_ctx *ctx)
{
	struct erdma_cmd cmd;

	cmd_init_common(&cmd, ERDMA_CMD_FREE_DB, db);
	/* After a reset, these pages belong to a different context. */
	cmd_bind(&cmd, ctx->base.obj.epoch);
	cmd.req.db.cfg = cpu_to_le32(ERDMA_DB_SQ | ERDMA_DB_RQ | ERDMA_DB_CQ);
	cmd.req.db.sdb = cpu_to_le16(FIELD_GET(ERDMA_ALLOC_DB_SDB, ctx->db_pages));
	cmd.req.db.rdb = cpu_to_le16(FIELD_GET(ERDMA_ALLOC_DB_RDB, ctx->db_pages));
	cmd.req.db.cdb = cpu_to_le16(FIELD_GET(ERDMA_ALLOC_DB_CDB, ctx->db_pages));
	return erdma_cmdq_exec(dev, &cmd);
}

/* Commands whose response is written to host memory (hw 4.13). */
static int query(struct erdma_dev *dev, u8 sub_mod, u8 opcode, u32 index, void *dst,
		 size_t size, u8 *syndrome)
{
	const struct erdma_query_hdr *hdr;
	struct erdma_cmd cmd;
	int ret;

	cmd_init(&cmd, sub_mod, opcode, sizeof(cmd.req.query));
	cmd.buf = dma_pool_zalloc(dev->resp_pool, GFP_KERNEL, &cmd.buf_dma);
	if (!cmd.buf)
		return -ENOMEM;
	cmd.req.query.index = cpu_to_le32(index);
	cmd.req.query.buf_addr = cpu_to_le64(cmd.buf_dma);
	cmd.req.query.buf_len = cpu_to_le32(ERDMA_QUERY_BUF_SIZE);
	ret = erdma_cmdq_exec(dev, &cmd);
	if (syndrome)
		*syndrome = cmd.base.syndrome;
	if (!ret) {
		hdr = cmd.buf;
		if (le16_to_cpu(hdr->magic) == ERDMA_QUERY_MAGIC)
			memcpy(dst, cmd.buf, size);
		else
			ret = -EINVAL;
	}
	/* After a timeout the command queue owns the buffer. */
	if (cmd.buf)
		dma_pool_free(dev->resp_pool, cmd.buf, cmd.buf_dma);
	return ret;
}

/**
 * erdma_cmd_get_stats() - read the port's counters
 * @ad: the adapter
 * @answer: a u64 for each counter, in the order of hw 11
 */
int erdma_cmd_get_stats(struct eadm_adapter *ad, void *answer)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_stats stats;
	u64 *value = answer;
	int ret, i;

	ret = query(dev, ERDMA_SUB_COMMON, ERDMA_CMD_GET_STATS, 0, &stats, sizeof(stats),
		    NULL);
	if (ret == -EIO)
		WRITE_ONCE(dev->caps.stats, false);
	if (ret)
		return ret;
	for (i = 0; i < ERDMA_STATS_COUNT; i++)
		value[i] = le64_to_cpu(stats.value[i]);
	return 0;
}

/**
 * erdma_cmd_query_qpc() - read the adapter's context of a QP
 * @dev: the device
 * @qpn: number of the QP, 0 for the command queue
 * @qpc: the context
 * @syndrome: syndrome of the completion; may be NULL
 */
int erdma_cmd_query_qpc(struct erdma_dev *dev, u32 qpn, struct erdma_qpc *qpc, u8 *syndrome)
{
	return query(dev, ERDMA_SUB_RDMA, ERDMA_CMD_QUERY_QPC, qpn, qpc, sizeof(*qpc), syndrome);
}

/**
 * erdma_cmd_query_cqc() - read the adapter's context of a CQ
 * @dev: the device
 * @cqn: number of the CQ, 0 for the command queue
 * @cqc: the context
 * @syndrome: syndrome of the completion; may be NULL
 */
int erdma_cmd_query_cqc(struct erdma_dev *dev, u32 cqn, struct erdma_cqc *cqc, u8 *syndrome)
{
	return query(dev, ERDMA_SUB_RDMA, ERDMA_CMD_QUERY_CQC, cqn, cqc, sizeof(*cqc), syndrome);
}

/**
 * erdma_cmd_query_eqc() - read the adapter's context of an event queue
 * @dev: the device
 * @index: ERDMA_EQC_INDEX_*
 * @eqc: the context
 */
int erdma_cmd_query_eqc(struct erdma_dev *dev, u32 index, struct erdma_eqc *eqc)
{
	return query(dev, ERDMA_SUB_COMMON, ERDMA_CMD_QUERY_EQC, index, eqc, sizeof(*eqc),
		     NULL);
}

/**
 * erdma_cmd_get_ext_attr() - read the extended attributes
 * @ad: the adapter
 * @answer: struct erdma_ext_attr
 */
int erdma_cmd_get_ext_attr(struct eadm_adapter *ad, void *answer)
{
	return query(adapter_to_erdma(ad), ERDMA_SUB_COMMON, ERDMA_CMD_GET_EXT_ATTR, 0, answer,
		     sizeof(struct erdma_ext_attr), NULL);
}
