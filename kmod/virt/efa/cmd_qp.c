// SPDX-License-Identifier: GPL-2.0-only
/* Commands for QPs (hw 4.2 - 4.4). */
#include <linux/log2.h>
#include <linux/slab.h>

#include "efv.h"

/* Handles differ from QPNs, so that confusing the two is detected. */
#define HANDLE		0x10000

static struct efv_qp *by_handle(struct efv_adapter *ad, __le32 handle)
{
	u32 qpn = le32_to_cpu(handle) - HANDLE;

	return qpn <= U16_MAX ? efv_qp_find(ad, qpn) : NULL;
}

static enum efa_status check(struct efv_adapter *ad, const struct efa_cmd_create_qp *cmd)
{
	u32 depth = le32_to_cpu(cmd->sq_depth), bytes = le32_to_cpu(cmd->sq_bytes);
	u32 wqe = depth ? bytes / depth : 0, rq = le32_to_cpu(cmd->rq_bytes) / EFA_RQE_SIZE;

	if (cmd->type != EFA_QPT_UD && cmd->type != EFA_QPT_SRD)
		return EFA_ST_ILLEGAL;
	if (cmd->flags & (EFA_CREATE_QP_SQ_VIRT | EFA_CREATE_QP_RQ_VIRT))
		return EFA_ST_ILLEGAL;
	if (cmd->flags & EFA_CREATE_QP_UNSOLICITED &&
	    !(ad->params.caps & EFA_DEV_CAP_UNSOLICITED))
		return EFA_ST_ILLEGAL;
	if (!bytes || !is_power_of_2(depth) || depth > ad->params.max_sq_depth ||
	    depth < ad->params.min_sq_depth)
		return EFA_ST_ILLEGAL;
	if (ad->params.any_sq_bytes ? wqe > EFA_WQE_SIZE :
	    bytes != wqe * depth || (wqe != EFA_WQE_SIZE &&
				     (wqe != EFA_WQE_LONG_SIZE || !ad->params.max_inline_ext)))
		return EFA_ST_ILLEGAL;
	if (rq && (!is_power_of_2(rq) || rq > EFA_MAX_INDEX ||
		   le64_to_cpu(cmd->rq_addr) % EFA_RQE_SIZE))
		return EFA_ST_ILLEGAL;
	return EFA_ST_SUCCESS;
}

static int make_queues(struct efv_qp *qp, const struct efa_cmd_create_qp *cmd)
{
	u32 i;

	qp->sq_depth = le32_to_cpu(cmd->sq_depth);
	qp->wqe_size = le32_to_cpu(cmd->sq_bytes) / qp->sq_depth;
	qp->rq_depth = le32_to_cpu(cmd->rq_bytes) / EFA_RQE_SIZE;
	qp->llq_pages = DIV_ROUND_UP(le32_to_cpu(cmd->sq_bytes), SZ_4K);
	qp->wqe = kvcalloc(qp->sq_depth, sizeof(*qp->wqe), GFP_KERNEL);
	if (!qp->wqe)
		return -ENOMEM;
	for (i = 0; i < qp->sq_depth; i++)
		INIT_LIST_HEAD(&qp->wqe[i].link);
	if (!qp->rq_depth)
		return 0;
	return vdev_buf_map(&qp->ad->vdev, &qp->rq, le64_to_cpu(cmd->rq_addr),
			    (u64)qp->rq_depth * EFA_RQE_SIZE, GFP_KERNEL);
}

static enum efa_status place(struct efv_qp *qp)
{
	struct efv_adapter *ad = qp->ad;
	u32 qpn;

	qp->sq_db = efv_db_alloc(ad, qp->uar);
	if (qp->sq_db == EFV_NO_SPACE)
		return EFA_ST_NO_RESOURCE;
	qp->rq_db = qp->sq_db + sizeof(u32);
	qp->llq = efv_llq_alloc(ad, qp->llq_pages);
	if (qp->llq == EFV_NO_SPACE)
		goto free_db;
	if (xa_alloc_cyclic(&ad->qps, &qpn, qp, XA_LIMIT(0, ad->params.max_qp - 1), &ad->next_qp,
			    GFP_KERNEL) < 0)
		goto free_llq;
	qp->qpn = qpn;
	return EFA_ST_SUCCESS;

free_llq:
	efv_llq_free(ad, qp->llq, qp->llq_pages);
free_db:
	efv_db_free(ad, qp->uar, qp->sq_db);
	return EFA_ST_NO_RESOURCE;
}

static u16 next_sub(struct efv_cq *cq)
{
	return cq->next_sub++ % cq->subs;
}

static enum efa_status make(struct efv_qp *qp, struct efv_pd *pd,
			    const struct efa_cmd_create_qp *cmd)
{
	struct efv_adapter *ad = qp->ad;
	enum efa_status status;

	qp->send_cq = xa_load(&ad->cqs, le32_to_cpu(cmd->send_cqn));
	qp->recv_cq = xa_load(&ad->cqs, le32_to_cpu(cmd->recv_cqn));
	if (!qp->send_cq || !qp->recv_cq)
		return EFA_ST_ILLEGAL;
	status = efv_status_of(make_queues(qp, cmd));
	if (!status)
		status = place(qp);
	if (status)
		return status;
	qp->send_sub = next_sub(qp->send_cq);
	qp->recv_sub = next_sub(qp->recv_cq);
	qp->send_cq->users++;
	qp->recv_cq->users++;
	pd->users++;
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_create_qp(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_create_qp *cmd = req;
	struct efv_pd *pd = xa_load(&ad->pds, le16_to_cpu(cmd->pd));
	struct efa_resp_create_qp *answer = resp;
	enum efa_status status = pd ? check(ad, cmd) : EFA_ST_ILLEGAL;
	struct efv_qp *qp;

	if (status)
		return status;
	qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	if (!qp)
		return EFA_ST_NO_RESOURCE;
	qp->ad = ad;
	qp->pd = le16_to_cpu(cmd->pd);
	qp->uar = le16_to_cpu(cmd->uar);
	qp->type = cmd->type;
	qp->state = EFA_QPS_RESET;
	qp->rnr_retry = EFA_RNR_RETRY_INFINITE;
	qp->sq_deaf = EFV_NOT_DEAF;
	qp->rq_deaf = EFV_NOT_DEAF;
	qp->unsolicited = cmd->flags & EFA_CREATE_QP_UNSOLICITED;
	mutex_init(&qp->sq_lock);
	mutex_init(&qp->rq_lock);
	INIT_LIST_HEAD(&qp->todo);
	vdev_queue_init(&qp->queue);
	status = make(qp, pd, cmd);
	if (status) {
		efv_qp_free(qp);
		return status;
	}
	answer->handle = cpu_to_le32(HANDLE + qp->qpn);
	answer->qpn = cpu_to_le16(qp->qpn);
	answer->send_sub_cq = cpu_to_le16(qp->send_sub);
	answer->recv_sub_cq = cpu_to_le16(qp->recv_sub);
	answer->sq_db = cpu_to_le32(qp->sq_db);
	answer->rq_db = cpu_to_le32(qp->rq_db);
	answer->llq = cpu_to_le32(qp->llq);
	return EFA_ST_SUCCESS;
}

/* Permitted state changes (hw 7.2). */
static bool may_follow(const struct efv_qp *qp, u32 next)
{
	static const u8 successors[] = {
		[EFA_QPS_RESET]	= BIT(EFA_QPS_RESET) | BIT(EFA_QPS_INIT),
		[EFA_QPS_INIT]	= BIT(EFA_QPS_INIT) | BIT(EFA_QPS_RTR),
		[EFA_QPS_RTR]	= BIT(EFA_QPS_RTS),
		[EFA_QPS_RTS]	= BIT(EFA_QPS_RTS) | BIT(EFA_QPS_SQD),
		[EFA_QPS_SQD]	= BIT(EFA_QPS_RTS) | BIT(EFA_QPS_SQD),
		[EFA_QPS_SQE]	= BIT(EFA_QPS_RTS),
		[EFA_QPS_ERR]	= 0,
	};

	return next <= EFA_QPS_ERR &&
	       (next == EFA_QPS_RESET || next == EFA_QPS_ERR ||
		successors[qp->state] & BIT(next));
}

static void enter(struct efv_qp *qp, u8 state)
{
	struct vdev *vdev = &qp->ad->vdev;

	WRITE_ONCE(qp->state, state);
	switch (state) {
	case EFA_QPS_RESET:
		vdev_queue_unwatch(vdev, &qp->queue);
		efv_qp_clear(qp);
		break;
	case EFA_QPS_RTS:
		vdev_queue_watch(vdev, &qp->queue);
		break;
	case EFA_QPS_ERR:
		efv_qp_flush(qp);
		vdev_queue_watch(vdev, &qp->queue);
		break;
	default:
		break;
	}
}

enum efa_status efv_cmd_modify_qp(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_modify_qp *cmd = req;
	struct efv_qp *qp = by_handle(ad, cmd->handle);
	u32 mask = le32_to_cpu(cmd->mask), state = le32_to_cpu(cmd->state);

	if (!qp)
		return EFA_ST_ILLEGAL;
	if (mask & EFA_MODIFY_CUR_STATE && le32_to_cpu(cmd->cur_state) != qp->state)
		return EFA_ST_ILLEGAL;
	if (mask & EFA_MODIFY_STATE && !may_follow(qp, state))
		return EFA_ST_ILLEGAL;
	if (mask & EFA_MODIFY_RNR_RETRY && (cmd->rnr_retry > EFA_RNR_RETRY_INFINITE ||
					    !(ad->params.caps & EFA_DEV_CAP_RNR_RETRY)))
		return EFA_ST_ILLEGAL;
	if (mask & EFA_MODIFY_QKEY)
		qp->qkey = le32_to_cpu(cmd->qkey);
	if (mask & EFA_MODIFY_SQ_PSN)
		qp->psn = le32_to_cpu(cmd->sq_psn);
	if (mask & EFA_MODIFY_RNR_RETRY)
		qp->rnr_retry = cmd->rnr_retry;
	if (mask & EFA_MODIFY_STATE)
		enter(qp, state);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_query_qp(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_qp *cmd = req;
	struct efa_resp_query_qp *answer = resp;
	struct efv_qp *qp = by_handle(ad, cmd->handle);

	if (!qp)
		return EFA_ST_ILLEGAL;
	answer->state = cpu_to_le32(qp->state);
	answer->qkey = cpu_to_le32(qp->qkey);
	answer->sq_psn = cpu_to_le32(qp->psn);
	answer->sq_draining = qp->state == EFA_QPS_SQD && !list_empty(&qp->todo);
	answer->rnr_retry = qp->rnr_retry;
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_destroy_qp(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_qp *cmd = req;
	struct efv_qp *qp = by_handle(ad, cmd->handle);
	struct efv_pd *pd;

	if (!qp)
		return EFA_ST_ILLEGAL;
	vdev_queue_unwatch(&ad->vdev, &qp->queue);
	xa_erase(&ad->qps, qp->qpn);
	efv_db_free(ad, qp->uar, qp->sq_db);
	efv_llq_free(ad, qp->llq, qp->llq_pages);
	qp->send_cq->users--;
	qp->recv_cq->users--;
	pd = xa_load(&ad->pds, qp->pd);
	pd->users--;
	efv_qp_free(qp);
	return EFA_ST_SUCCESS;
}
