// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution of work requests (hw 11). A request is checked again whenever it is resumed, because
 * any object may have been deregistered between two parts of a transfer.
 *
 * A request may have to wait for a receive or for its peer. It waits for a receive indefinitely, or
 * for the QP's number of retries. A peer that does not respond may come back, so the message is
 * retransmitted a few times and then abandoned.
 */
#include "efv.h"

/* Interval between two retries for a receive, if retries are limited. */
#define RNR_MSECS	10

#define RETRY_MSECS	50
#define RETRIES		4

static const u8 zeroes[EFA_UD_PREFIX];

static_assert(sizeof(struct efa_rdma_wqe) + EFA_WQE_LONG_INLINE <= EFA_WQE_LONG_SIZE);

/* State of one turn of a work request. */
struct xfer {
	struct efv_qp *qp;
	struct efv_wqe *w;
	const struct efa_wqe_meta *meta;
	struct efv_ah *ah;
	struct efv_adapter *peer;
	struct efv_qp *target;
	struct vdev_sgl local;		/* memory of the request itself */
	u32 length;
	u8 op;
	u8 data;			/* offset of the data in the entry */
};

static bool is_inline(const struct xfer *x)
{
	return x->meta->ctrl1 & EFA_WQE1_INLINE;
}

/* Returns the maximum size of an entry's inline data. */
static u32 inline_room(const struct xfer *x)
{
	if (x->qp->wqe_size == EFA_WQE_LONG_SIZE)
		return x->qp->ad->params.max_inline_ext;
	return x->op == EFA_OP_SEND ? EFA_WQE_INLINE : 0;
}

/* Finds the local memory of the work request. */
static int load_local(struct xfer *x, u8 right)
{
	u16 n = le16_to_cpu(x->meta->length), i;
	const struct efa_sge *sge = (const struct efa_sge *)(x->w->raw + x->data);

	if (is_inline(x)) {
		if (n > inline_room(x))
			return EFA_WC_BAD_LENGTH;
		if (n)
			x->local.span[x->local.count++] = (struct vdev_span) {
				.direct = x->w->raw + x->data, .len = n,
			};
		x->length = n;
		return 0;
	}
	if (efv_fault_hit(x->qp->ad, EFV_FAULT_DMA_FAULT, x->qp->qpn, NULL))
		return EFA_WC_INVALID_LKEY;
	if (n > EFA_MAX_SEND_SGE || x->data + n * sizeof(*sge) > EFA_WQE_SIZE)
		return EFA_WC_BAD_LENGTH;
	for (i = 0; i < n; i++) {
		u32 len = le32_to_cpu(sge[i].length);

		if (!efv_sgl_add(&x->local, x->qp->ad, x->qp->pd,
				 FIELD_GET(EFA_KEY_LKEY, le32_to_cpu(sge[i].key)),
				 le64_to_cpu(sge[i].addr), len, right))
			return EFA_WC_INVALID_LKEY;
		if (x->length + len < x->length)
			return EFA_WC_BAD_LENGTH;
		x->length += len;
	}
	return 0;
}

/* The peer did not respond: retry a limited number of times. */
static int lose(struct xfer *x)
{
	struct efv_adapter *ad = x->qp->ad;

	if (x->qp->type == EFA_QPT_UD)
		return EFA_WC_SUCCESS;
	if (x->w->lost++ < RETRIES) {
		x->w->not_before = ktime_add_ms(ktime_get(), RETRY_MSECS);
		efv_count(ad, EFV_RETRANS_TIMEOUTS, 1);
		efv_count(ad, EFV_RETRANS_PACKETS, 1);
		efv_count(ad, EFV_RETRANS_BYTES, x->length);
		return EFV_WAIT;
	}
	efv_count(ad, EFV_UNRESPONSIVE, 1);
	return READ_ONCE(x->ah->answered) ? EFA_WC_UNRESPONSIVE : EFA_WC_UNREACHABLE;
}

/* No receive is posted: retry later, up to the QP's limit. */
static int knock(struct xfer *x)
{
	if (x->qp->type == EFA_QPT_UD) {
		efv_count(x->peer, EFV_RX_DROPS, 1);
		return EFA_WC_SUCCESS;
	}
	if (x->qp->rnr_retry == EFA_RNR_RETRY_INFINITE)
		return EFV_WAIT;
	if (x->w->rnr++ >= x->qp->rnr_retry)
		return EFA_WC_REMOTE_RNR;
	x->w->not_before = ktime_add_ms(ktime_get(), RNR_MSECS);
	return EFV_WAIT;
}

static int refuse(struct xfer *x, u8 status)
{
	if (x->qp->type != EFA_QPT_UD)
		return status;
	efv_count(x->peer, EFV_RX_DROPS, 1);
	return EFA_WC_SUCCESS;
}

/* Finds the target QP. Returns EFV_MORE on success. */
static int find_target(struct xfer *x)
{
	u8 state;

	x->peer = efv_adapter_find(x->ah->gid);
	if (!x->peer || !vdev_is_served(&x->peer->vdev) ||
	    efv_fault_hit(x->qp->ad, EFV_FAULT_PEER_SILENT, x->qp->qpn, NULL))
		return lose(x);
	if (!READ_ONCE(x->ah->answered))
		WRITE_ONCE(x->ah->answered, true);
	x->target = efv_qp_find(x->peer, le16_to_cpu(x->meta->dest_qpn));
	state = x->target ? READ_ONCE(x->target->state) : EFA_QPS_RESET;
	if (!x->target || x->target->type != x->qp->type || state < EFA_QPS_RTR ||
	    state == EFA_QPS_ERR)
		return refuse(x, EFA_WC_REMOTE_BAD_QPN);
	if (x->target->qkey != le32_to_cpu(x->meta->qkey)) {
		efv_count(x->peer, EFV_QKEY_VIOLATIONS, 1);
		return refuse(x, EFA_WC_REMOTE_BAD_QPN);
	}
	return EFV_MORE;
}

/* Counts a request when it is first sent, and delays it if a knob requires that. */
static int begin(struct xfer *x)
{
	struct efv_adapter *ad = x->qp->ad;
	u64 arg;

	if (x->w->begun)
		return 0;
	x->w->begun = true;
	efv_count(ad, EFV_TX_PACKETS, 1);
	if (x->op != EFA_OP_READ)
		efv_count(ad, EFV_TX_BYTES, x->length);
	if (efv_fault_hit(ad, EFV_FAULT_RETRANSMIT, x->qp->qpn, &arg)) {
		efv_count(ad, EFV_RETRANS_PACKETS, arg);
		efv_count(ad, EFV_RETRANS_BYTES, arg * x->length);
	}
	if (efv_fault_hit(ad, EFV_FAULT_IMPAIRED, x->qp->qpn, &arg)) {
		efv_count(ad, EFV_IMPAIRED, 1);
		x->w->not_before = ktime_add_ms(ktime_get(), arg);
	} else if (efv_fault_hit(ad, EFV_FAULT_WR_SLOW, x->qp->qpn, &arg)) {
		x->w->not_before = ktime_add_us(ktime_get(), vdev_fault_latency(arg));
	}
	return x->w->not_before ? EFV_WAIT : 0;
}

static void received(struct xfer *x, u32 length)
{
	efv_count(x->peer, EFV_RX_PACKETS, 1);
	efv_count(x->peer, EFV_RX_BYTES, length);
}

/* Writes the receiver's completion. */
static void tell(struct xfer *x, const struct efv_recv *recv, u32 length)
{
	struct efv_qp *target = x->target;
	u16 ah = efv_ah_number(x->peer, target->pd, x->qp->ad->params.gid);
	bool imm = x->meta->ctrl1 & EFA_WQE1_IMM;
	struct efa_cqe cqe = {
		.req_id = cpu_to_le16(recv ? recv->req_id : 0),
		.status = recv && recv->bad ? EFA_WC_INVALID_LKEY : EFA_WC_SUCCESS,
		.flags = FIELD_PREP(EFA_CQE_QTYPE, EFA_QTYPE_RQ) |
			 FIELD_PREP(EFA_CQE_OP, x->op) | FIELD_PREP(EFA_CQE_IMM, imm) |
			 (recv ? 0 : EFA_CQE_UNSOLICITED),
		.qpn = cpu_to_le16(target->qpn),
		.length = cpu_to_le16(length),
		.ah = cpu_to_le16(ah),
		.src_qpn = cpu_to_le16(x->qp->qpn),
		.imm = imm ? x->meta->imm : 0,
	};

	if (x->op == EFA_OP_WRITE)
		cqe.length_hi = cpu_to_le16(length >> 16);
	else if (ah == EFA_AH_NONE && target->recv_cq->src_addr)
		memcpy(cqe.src_gid, x->qp->ad->params.gid, sizeof(cqe.src_gid));
	efv_cq_post(target->recv_cq, target->recv_sub, &cqe);
}

static int copied(enum vdev_copy copy)
{
	switch (copy) {
	case VDEV_COPIED:
		return 0;
	case VDEV_NO_SOURCE:
		return EFA_WC_INVALID_LKEY;
	case VDEV_NO_TARGET:
		return EFA_WC_REMOTE_BAD_STATUS;
	default:
		return EFV_WAIT;
	}
}

/* Delivers the whole message; the caller holds the target's rq_lock. */
static int deliver(struct xfer *x)
{
	struct efv_recv recv;
	u32 length = x->length;
	int ret;

	if (!efv_rq_peek(x->target, &recv))
		return knock(x);
	if (x->qp->type == EFA_QPT_UD)
		length += EFA_UD_PREFIX;
	if (length > recv.length)
		return refuse(x, EFA_WC_REMOTE_BAD_LENGTH);
	ret = recv.bad ? EFA_WC_REMOTE_BAD_STATUS :
	      copied(vdev_sgl_copy(&recv.sgl, &x->local, 0, length));
	if (ret == EFV_WAIT || ret == EFA_WC_INVALID_LKEY)
		return ret;
	efv_rq_take(x->target, &recv);
	recv.bad = ret;
	tell(x, &recv, length);
	received(x, x->length);
	efv_count(x->peer, EFV_RECV_WRS, 1);
	efv_count(x->peer, EFV_RECV_BYTES, x->length);
	return ret ? refuse(x, ret) : EFA_WC_SUCCESS;
}

static int run_send(struct xfer *x, u32 *budget)
{
	int ret;

	x->data = sizeof(struct efa_wqe_meta);
	if (x->qp->type == EFA_QPT_UD)
		x->local.span[x->local.count++] = (struct vdev_span) {
			.direct = (void *)zeroes, .len = sizeof(zeroes),
		};
	ret = load_local(x, 0);
	if (ret)
		return ret;
	if (x->length > x->qp->ad->params.mtu)
		return EFA_WC_BAD_LENGTH;
	ret = begin(x);
	if (ret)
		return ret;
	ret = find_target(x);
	if (ret == EFV_MORE) {
		mutex_lock(&x->target->rq_lock);
		ret = deliver(x);
		mutex_unlock(&x->target->rq_lock);
	}
	*budget -= min(*budget, x->length);
	if (ret == EFA_WC_SUCCESS) {
		efv_count(x->qp->ad, EFV_SEND_WRS, 1);
		efv_count(x->qp->ad, EFV_SEND_BYTES, x->length);
	}
	return ret;
}

/* Completes a write with immediate data at the receiver. */
static int announce(struct xfer *x)
{
	struct efv_recv recv;
	int ret = 0;

	if (x->target->unsolicited) {
		tell(x, NULL, x->length);
		return 0;
	}
	mutex_lock(&x->target->rq_lock);
	if (efv_rq_peek(x->target, &recv)) {
		efv_rq_take(x->target, &recv);
		recv.bad = false;
		tell(x, &recv, x->length);
		efv_count(x->peer, EFV_RECV_WRS, 1);
	} else {
		ret = knock(x);
	}
	mutex_unlock(&x->target->rq_lock);
	return ret;
}

static int move(struct xfer *x, const struct efa_remote *remote, u32 *budget)
{
	bool read = x->op == EFA_OP_READ;
	struct vdev_sgl there = { .count = 0 };
	u32 part = min(x->length - x->w->done, *budget);
	int ret;

	if (!efv_sgl_add(&there, x->peer, x->target->pd, le32_to_cpu(remote->rkey),
			 le64_to_cpu(remote->addr), x->length,
			 read ? EFA_MR_REMOTE_READ : EFA_MR_REMOTE_WRITE))
		return EFA_WC_REMOTE_ACCESS;
	ret = copied(read ? vdev_sgl_copy(&x->local, &there, x->w->done, part) :
			    vdev_sgl_copy(&there, &x->local, x->w->done, part));
	if (ret > 0 && read)
		ret = ret == EFA_WC_INVALID_LKEY ? EFA_WC_REMOTE_ACCESS : EFA_WC_INVALID_LKEY;
	if (ret)
		return ret;
	x->w->done += part;
	*budget -= part;
	return x->w->done < x->length ? EFV_MORE : 0;
}

static void count_rdma(struct xfer *x, int ret)
{
	struct efv_adapter *ad = x->qp->ad;
	bool read = x->op == EFA_OP_READ;

	if (ret < 0)
		return;
	efv_count(ad, read ? EFV_READ_WRS : EFV_WRITE_WRS, 1);
	if (ret) {
		efv_count(ad, read ? EFV_READ_ERRORS : EFV_WRITE_ERRORS, 1);
		return;
	}
	efv_count(ad, read ? EFV_READ_BYTES : EFV_WRITE_BYTES, x->length);
	efv_count(x->peer, read ? EFV_READ_RESP_BYTES : EFV_WRITE_RECV_BYTES, x->length);
	if (read) {
		efv_count(x->peer, EFV_TX_BYTES, x->length);
		efv_count(ad, EFV_RX_BYTES, x->length);
	} else {
		received(x, x->length);
	}
}

static int run_rdma(struct xfer *x, u32 *budget)
{
	const struct efa_remote *remote = (const void *)(x->w->raw + sizeof(struct efa_wqe_meta));
	bool read = x->op == EFA_OP_READ;
	int ret;

	x->data = sizeof(struct efa_rdma_wqe);
	if (x->qp->type != EFA_QPT_SRD || (read && is_inline(x)))
		return EFA_WC_UNSUPPORTED;
	ret = load_local(x, read ? EFA_MR_LOCAL_WRITE : 0);
	if (ret)
		return ret;
	if (x->length > x->qp->ad->params.max_rdma || x->length != le32_to_cpu(remote->length))
		return EFA_WC_BAD_LENGTH;
	ret = begin(x);
	if (ret)
		return ret;
	ret = find_target(x);
	if (ret != EFV_MORE)
		return ret;
	if (efv_ah_number(x->peer, x->target->pd, x->qp->ad->params.gid) == EFA_AH_NONE)
		return EFA_WC_UNKNOWN_PEER;
	ret = x->w->done < x->length ? move(x, remote, budget) : 0;
	if (!ret && !read && x->meta->ctrl1 & EFA_WQE1_IMM)
		ret = announce(x);
	return ret;
}

static bool is_supported(const struct efv_adapter *ad, u8 op)
{
	u32 caps = ad->params.caps;

	return op == EFA_OP_SEND || (op == EFA_OP_READ && caps & EFA_DEV_CAP_RDMA_READ) ||
	       (op == EFA_OP_WRITE && caps & EFA_DEV_CAP_RDMA_WRITE);
}

/**
 * efv_xfer() - continue a work request
 * @qp: QP of the request
 * @w: the request
 * @budget: maximum bytes to move, reduced by the bytes moved
 *
 * Context: @qp->sq_lock held, efv_fabric for reading.
 * Return: enum efa_comp_status, EFV_WAIT or EFV_MORE.
 */
int efv_xfer(struct efv_qp *qp, struct efv_wqe *w, u32 *budget)
{
	struct xfer x = { .qp = qp, .w = w, .meta = (const struct efa_wqe_meta *)w->raw };
	u64 status;
	int ret;

	if (!w->begun && efv_fault_hit(qp->ad, EFV_FAULT_WR_ERROR, qp->qpn, &status))
		return status & U8_MAX;
	x.op = FIELD_GET(EFA_WQE1_OP, x.meta->ctrl1);
	if (!is_supported(qp->ad, x.op))
		return EFA_WC_UNSUPPORTED;
	x.ah = efv_ah_find(qp->ad, qp->pd, le16_to_cpu(x.meta->ah));
	if (!x.ah)
		return EFA_WC_INVALID_AH;
	if (x.op == EFA_OP_SEND)
		return run_send(&x, budget);
	ret = run_rdma(&x, budget);
	count_rdma(&x, ret);
	return ret;
}
