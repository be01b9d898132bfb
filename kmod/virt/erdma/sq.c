// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send queues: executes work requests one after the other (hw 6.2 - 6.5).
 *
 * A request is finished at both ends before the next request begins, so that fences, the order of
 * completions and "a READ completes when its data is there" are satisfied automatically. A request
 * is checked again whenever it is resumed, because any object may have been deregistered between
 * two slices of a message.
 *
 * Errors. Syndromes SEND_* are errors detected by this side, RECV_* errors detected by the other
 * side; both complete the work request. A message that a receive cannot accept completes that
 * receive with the same syndrome. In either case the connection ends, as after iWARP's Terminate:
 * this QP enters ERROR with the event QP_FATAL. The partner enters TERMINATE with ACC_ERR if it
 * refused an access, with QP_ERQ_ERR if a receive caused the error, otherwise with QP_FATAL. Both
 * QPs are flushed. The sub type of an event is the syndrome.
 *
 * A request waits without limit for a partner that is not in RTS yet, and for a receive. A sender
 * that waits for a receive requests one from time to time, as TCP probes a closed window: this
 * counts as a packet at both ends. A transmission without a response is repeated until the limit of
 * retransmissions is reached, and then fails with RETRY_EXC_ERR.
 */
#include <linux/bitfield.h>
#include <linux/jiffies.h>

#include "ev.h"

/* Timeout of one retransmission as counted by SET_RETRANS_NUM. */
#define RETRY_MSECS	200

/* Interval between two requests for a receive. */
#define KNOCK_MSECS	100

/* Overhead of a work request, in bytes. */
#define WQE_COST	512

static int local(enum ev_violation violation)
{
	return violation ? ERDMA_WC_SEND_STAG_INVALID_ERR - 1 + violation : 0;
}

static int remote(enum ev_violation violation)
{
	return violation ? ERDMA_WC_RECV_STAG_INVALID_ERR - 1 + violation : 0;
}

static bool is_remote(int syndrome)
{
	return syndrome >= ERDMA_WC_RECV_WQE_FORMAT_ERR &&
	       syndrome <= ERDMA_WC_RECV_WRAPPING_ERR;
}

static int wait(struct ev_wqe *wqe, u64 ms)
{
	wqe->not_before = ktime_add_ms(ktime_get(), ms);
	return EV_WAIT;
}

/* Handles a transmission without a response: retries it a limited number of times. */
static int lose(struct ev_qp *qp, u64 ms)
{
	if (qp->wqe.lost++ >= qp->ad->retrans_num)
		return ERDMA_WC_RETRY_EXC_ERR;
	qp->retransmits++;
	return wait(&qp->wqe, ms);
}

static u32 packets(const struct ev_qp *qp, u32 bytes)
{
	u32 mtu = READ_ONCE(qp->ad->mtu);

	return bytes ? DIV_ROUND_UP(bytes, mtu ? mtu : EV_DEFAULT_MTU) : 1;
}

static void count_lost(struct ev_qp *qp, struct ev_adapter *ad,
		       enum ev_stat stat)
{
	atomic64_add(packets(qp, qp->wqe.length - qp->wqe.done),
		     &ad->stats[stat]);
}

/* Applies network faults to the next message. Returns 0, EV_WAIT or a syndrome. */
static int cross_wire(struct ev_qp *qp, struct ev_qp *peer)
{
	struct ev_adapter *ad = qp->ad;
	u64 ms;

	if (ev_fault_hit(ad, EV_FAULT_LINK_DOWN, -1, NULL)) {
		count_lost(qp, ad, EV_STAT_TX_DISABLE_DROPS);
		return lose(qp, RETRY_MSECS);
	}
	if (ev_fault_hit(ad, EV_FAULT_BPS_LIMIT, qp->qpn, &ms)) {
		count_lost(qp, ad, EV_STAT_TX_BPS_DROPS);
		return wait(&qp->wqe, ms);
	}
	if (ev_fault_hit(ad, EV_FAULT_PPS_LIMIT, qp->qpn, &ms)) {
		count_lost(qp, ad, EV_STAT_TX_PPS_DROPS);
		return wait(&qp->wqe, ms);
	}
	if (ev_fault_hit(ad, EV_FAULT_RETRANSMIT, qp->qpn, &ms)) {
		qp->tx_packets += packets(qp, qp->wqe.length);
		count_lost(qp, ad, EV_STAT_TX_PACKETS);
		return lose(qp, ms);
	}
	if (peer->ad != ad && ev_fault_hit(peer->ad, EV_FAULT_LINK_DOWN, -1, NULL)) {
		count_lost(qp, peer->ad, EV_STAT_RX_DISABLE_DROPS);
		return lose(qp, RETRY_MSECS);
	}
	if (ev_fault_hit(peer->ad, EV_FAULT_PEER_SILENT, peer->qpn, NULL))
		return lose(qp, RETRY_MSECS);
	qp->wqe.lost = 0;
	return 0;
}

/* Finds the other end if it is reachable; otherwise returns how to proceed. */
static int find_peer(struct ev_qp *qp, struct ev_qp **peer)
{
	*peer = qp->peer;
	if (!*peer)
		return qp->lost ? lose(qp, RETRY_MSECS) : EV_WAIT;
	/*
	 * A QP that was stopped by an error remains the partner until its driver reacts; a QP of a
	 * hung adapter remains the partner until the adapter is reset.
	 */
	if ((*peer)->state != ERDMA_QPS_RTS || READ_ONCE((*peer)->ad->vdev.hung))
		return lose(qp, RETRY_MSECS);
	return vdev_is_served(&(*peer)->ad->vdev) ? cross_wire(qp, *peer) : EV_WAIT;
}

/* Counts a message at both ends. */
static void count(struct ev_qp *from, struct ev_qp *to, u32 bytes)
{
	u32 n = packets(from, bytes);

	from->tx_packets += n;
	to->rx_packets += n;
	atomic64_add(n, &from->ad->stats[EV_STAT_TX_PACKETS]);
	atomic64_add(bytes, &from->ad->stats[EV_STAT_TX_BYTES]);
	atomic64_add(n, &to->ad->stats[EV_STAT_RX_PACKETS]);
	atomic64_add(bytes, &to->ad->stats[EV_STAT_RX_BYTES]);
}

/* Requests a receive if such a request is due. */
static void knock(struct ev_qp *qp, struct ev_qp *peer)
{
	struct ev_wqe *wqe = &qp->wqe;
	ktime_t now = ktime_get();

	if (wqe->knock_at && ktime_before(now, wqe->knock_at))
		return;
	if (wqe->knock_at)
		count(qp, peer, 0);
	wqe->knock_at = ktime_add_ms(now, KNOCK_MSECS);
}

/* Finds the receive for a message. */
static int find_receive(struct ev_qp *qp, struct ev_qp *peer,
			struct erdma_rqe *rqe)
{
	int ret = ev_rq_peek(peer, rqe);
	u64 ms;

	if (!ret && ev_fault_hit(peer->ad, EV_FAULT_RNR, peer->qpn, &ms))
		ret = wait(&qp->wqe, ms);
	if (ret == EV_WAIT)
		knock(qp, peer);
	return ret;
}

/* Returns the offset of the scatter/gather list or of the inline data. */
static u32 sgl_offset(const struct ev_wqe *wqe)
{
	return wqe->opcode == ERDMA_OP_WRITE ||
	       wqe->opcode == ERDMA_OP_WRITE_WITH_IMM ?
	       sizeof(struct erdma_write_sqe) : sizeof(struct erdma_send_sqe);
}

static const struct erdma_sge *sge_at(const struct ev_wqe *wqe, u32 i)
{
	return (void *)wqe->raw + sgl_offset(wqe) + i * sizeof(struct erdma_sge);
}

/* Collects the payload of a SEND or WRITE. */
static int gather(struct ev_qp *qp, struct vdev_sgl *src)
{
	struct ev_wqe *wqe = &qp->wqe;
	enum ev_violation ret;
	u32 i;

	if (wqe->hdr & ERDMA_SQE_INLINE) {
		src->span[0] = (struct vdev_span) {
			.direct = (void *)wqe->raw + sgl_offset(wqe),
			.len = wqe->length,
		};
		src->count = 1;
		return 0;
	}
	for (i = 0; i < wqe->sges; i++) {
		const struct erdma_sge *sge = sge_at(wqe, i);

		ret = ev_sgl_add(src, qp, le32_to_cpu(sge->key),
				 le64_to_cpu(sge->addr),
				 le32_to_cpu(sge->length), ERDMA_MR_LR);
		if (ret)
			return local(ret);
	}
	return 0;
}

/* Copies as much as this turn allows. */
static int transfer(struct ev_qp *qp, struct ev_xfer *x, bool reading)
{
	struct ev_wqe *wqe = &qp->wqe;
	u32 len = min(wqe->length - wqe->done, x->budget);
	int target = reading ? ERDMA_WC_SEND_ADDR_VIOLATION :
		     ERDMA_WC_RECV_ADDR_VIOLATION;
	int source = reading ? ERDMA_WC_RECV_ADDR_VIOLATION :
		     ERDMA_WC_SEND_ADDR_VIOLATION;

	if (ev_fault_hit(qp->ad, EV_FAULT_DMA_FAULT, qp->qpn, NULL))
		return reading ? target : source;
	switch (vdev_sgl_copy(&x->dst, &x->src, wqe->done, len)) {
	case VDEV_COPIED:
		break;
	case VDEV_NO_SOURCE:
		return source;
	case VDEV_NO_TARGET:
		return target;
	case VDEV_NO_ACCESS:
		return EV_WAIT;
	}
	x->budget -= len;
	wqe->done += len;
	return wqe->done < wqe->length ? EV_MORE : 0;
}

/* Completes the partner's next receive; a failed receive has a syndrome. */
static void receive(struct ev_qp *qp, struct ev_qp *peer, u8 opcode, u8 syndrome)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct ev_wc wc = {
		.opcode = opcode,
		.syndrome = syndrome,
		.bytes = syndrome ? 0 : wqe->length,
		.solicited = wqe->hdr & ERDMA_SQE_SE,
	};

	/* Immediate data is four bytes in network order, a stag is a number. */
	if (opcode == ERDMA_OP_RECV_INV)
		wc.data = le32_to_cpu(wqe->send.inv_stag);
	else if (opcode == ERDMA_OP_RSP_SEND_IMM || opcode == ERDMA_OP_RECV_IMM)
		wc.data = be32_to_cpu(wqe->send.imm);
	ev_rq_complete(peer, &wc);
}

static u8 receive_opcode(u8 opcode)
{
	switch (opcode) {
	case ERDMA_OP_SEND_WITH_IMM:
		return ERDMA_OP_RSP_SEND_IMM;
	case ERDMA_OP_SEND_WITH_INV:
		return ERDMA_OP_RECV_INV;
	case ERDMA_OP_WRITE_WITH_IMM:
		return ERDMA_OP_RECV_IMM;
	default:
		return ERDMA_OP_RECEIVE;
	}
}

static int send_into(struct ev_qp *qp, struct ev_qp *peer, struct ev_xfer *x)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct erdma_rqe rqe;
	int ret;

	ret = find_receive(qp, peer, &rqe);
	if (ret)
		return ret;
	if (wqe->length > le32_to_cpu(rqe.length))
		return ERDMA_WC_RECV_ADDR_VIOLATION;
	ret = ev_sgl_add(&x->dst, peer, le32_to_cpu(rqe.lkey),
			 le64_to_cpu(rqe.addr), wqe->length, ERDMA_MR_LW);
	if (ret)
		return remote(ret);
	ret = transfer(qp, x, false);
	if (ret || wqe->opcode != ERDMA_OP_SEND_WITH_INV)
		return ret;
	/* The buffer may belong to the MR that is invalidated. */
	ev_sgl_put(&x->dst);
	ret = ev_frmr_invalidate(peer, le32_to_cpu(wqe->send.inv_stag));
	return ret < 0 ? ret : remote(ret);
}

static int run_send(struct ev_qp *qp, struct ev_xfer *x)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct ev_qp *peer;
	int ret;

	ret = gather(qp, &x->src);
	if (!ret)
		ret = find_peer(qp, &peer);
	if (ret)
		return ret;
	ret = send_into(qp, peer, x);
	if (ret < 0)
		return ret;
	wqe->receive_failed = is_remote(ret);
	if (!ret || wqe->receive_failed)
		receive(qp, peer, receive_opcode(wqe->opcode), ret);
	if (!ret)
		count(qp, peer, wqe->length);
	return ret;
}

static int run_write(struct ev_qp *qp, struct ev_xfer *x)
{
	struct ev_wqe *wqe = &qp->wqe;
	u64 addr = (u64)le32_to_cpu(wqe->write.raddr_h) << 32 |
		   le32_to_cpu(wqe->write.raddr_l);
	bool imm = wqe->opcode == ERDMA_OP_WRITE_WITH_IMM;
	struct erdma_rqe rqe;
	struct ev_qp *peer;
	int ret;

	ret = gather(qp, &x->src);
	if (!ret)
		ret = find_peer(qp, &peer);
	/* The end of the message needs a receive, so do not begin if none is posted. */
	if (!ret && imm) {
		ret = find_receive(qp, peer, &rqe);
		wqe->receive_failed = ret > 0;
	}
	if (!ret)
		ret = remote(ev_sgl_add(&x->dst, peer,
					le32_to_cpu(wqe->write.rkey), addr,
					wqe->length, ERDMA_MR_RW));
	if (!ret)
		ret = transfer(qp, x, false);
	if (imm && (!ret || wqe->receive_failed))
		receive(qp, peer, receive_opcode(wqe->opcode), ret);
	if (!ret)
		count(qp, peer, wqe->length);
	return ret;
}

/*
 * Invalidates a fast-register MR used as a sink. Drops our own pin first, so that only other users
 * delay it.
 */
static int invalidate_sink(struct ev_qp *qp, struct ev_xfer *x)
{
	u32 stag = le32_to_cpu(qp->wqe.read.inv_stag);
	u32 sink = le32_to_cpu(qp->wqe.read.lkey);
	int ret;

	/*
	 * Linux's read/write API identifies the sink by its key before the last registration, and
	 * drivers pass that on.
	 */
	if (FIELD_GET(ERDMA_STAG_INDEX, stag) ==
	    FIELD_GET(ERDMA_STAG_INDEX, sink))
		stag = sink;
	ev_sgl_put(&x->dst);
	ret = ev_frmr_invalidate(qp, stag);
	return ret < 0 ? ret : local(ret);
}

static int run_read(struct ev_qp *qp, struct ev_xfer *x)
{
	struct ev_wqe *wqe = &qp->wqe;
	u64 addr = (u64)le32_to_cpu(wqe->read.laddr_h) << 32 |
		   le32_to_cpu(wqe->read.laddr_l);
	struct ev_qp *peer;
	int ret;

	/* The request is resumed only to invalidate the sink, which may be invalid already. */
	if (wqe->placed)
		return invalidate_sink(qp, x);
	/* For historical reasons, iWARP sinks may have the remote right instead. */
	ret = local(ev_sgl_add(&x->dst, qp, le32_to_cpu(wqe->read.lkey), addr,
			       wqe->length, ERDMA_MR_LW | ERDMA_MR_RW));
	if (!ret)
		ret = find_peer(qp, &peer);
	if (!ret)
		ret = remote(ev_sgl_add(&x->src, peer,
					le32_to_cpu(wqe->read.remote.key),
					le64_to_cpu(wqe->read.remote.addr),
					wqe->length, ERDMA_MR_RR));
	if (!ret)
		ret = transfer(qp, x, true);
	if (ret)
		return ret;
	wqe->placed = true;
	count(qp, peer, 0);
	count(peer, qp, wqe->length);
	return wqe->opcode == ERDMA_OP_READ_WITH_INV ? invalidate_sink(qp, x) :
	       0;
}

/*
 * Executes an operation that is also atomic for CPUs; the operands are in the CPU's byte order (hw
 * 6.5).
 */
static u64 execute_atomic(const struct ev_wqe *wqe, u64 *target)
{
	u64 operand = le64_to_cpu(wqe->atomic.swap_add);
	u64 old, seen = READ_ONCE(*target);

	if (wqe->opcode == ERDMA_OP_ATOMIC_CAS)
		return cmpxchg64(target, le64_to_cpu(wqe->atomic.compare),
				 operand);
	do {
		old = seen;
		seen = cmpxchg64(target, old, old + operand);
	} while (seen != old);
	return old;
}

static int run_atomic(struct ev_qp *qp, struct ev_xfer *x)
{
	struct ev_wqe *wqe = &qp->wqe;
	const struct erdma_sge *here = &wqe->atomic.local;
	const struct erdma_sge *there = &wqe->atomic.remote;
	u32 room = sizeof(u64);
	struct ev_qp *peer;
	u64 *target, old = 0;
	int ret;

	ret = local(ev_sgl_add(&x->dst, qp, le32_to_cpu(here->key),
			       le64_to_cpu(here->addr), sizeof(old),
			       ERDMA_MR_LW));
	if (!ret)
		ret = find_peer(qp, &peer);
	if (!ret)
		ret = remote(ev_sgl_add(&x->src, peer, le32_to_cpu(there->key),
					le64_to_cpu(there->addr), sizeof(old),
					ERDMA_MR_RA));
	if (ret)
		return ret;
	if (!vdev_dma_begin(&peer->ad->vdev))
		return EV_WAIT;
	target = vdev_span_at(&x->src.span[0], 0, &room);
	if (!target || !IS_ALIGNED((unsigned long)target, sizeof(*target)))
		ret = ERDMA_WC_RECV_ADDR_VIOLATION;
	else
		old = execute_atomic(wqe, target);
	vdev_dma_end(&peer->ad->vdev);
	if (ret)
		return ret;
	ev_sgl_put(&x->src);
	x->src.span[0] = (struct vdev_span) { .direct = &old, .len = sizeof(old) };
	x->src.count = 1;
	/*
	 * If access has ended, the operation still counts as done, because it must not be executed
	 * twice.
	 */
	if (vdev_sgl_copy(&x->dst, &x->src, 0, sizeof(old)) == VDEV_NO_TARGET)
		return ERDMA_WC_SEND_ADDR_VIOLATION;
	wqe->done = sizeof(old);
	count(qp, peer, 2 * sizeof(old));
	count(peer, qp, sizeof(old));
	return 0;
}

static int run_reg_mr(struct ev_qp *qp, struct ev_xfer *x)
{
	u32 room = qp->wqe.count * ERDMA_WQEBB_SIZE -
		   sizeof(struct erdma_reg_mr_sqe);

	return ev_frmr_register(qp, &qp->wqe.reg_mr, room / sizeof(__le64));
}

static int run_local_inv(struct ev_qp *qp, struct ev_xfer *x)
{
	int ret = ev_frmr_invalidate(qp, le32_to_cpu(qp->wqe.reg_mr.stag));

	return ret < 0 ? ret : local(ret);
}

/* Checks that the length is consistent with the list or inline data, and with the entry's size. */
static bool parse_payload(struct ev_qp *qp)
{
	struct ev_wqe *wqe = &qp->wqe;
	u32 room = wqe->count * ERDMA_WQEBB_SIZE;
	u32 n = FIELD_GET(ERDMA_SQE_SGL_LEN, wqe->hdr);
	u64 sum = 0;
	u32 i;

	if (room < sgl_offset(wqe))
		return false;
	room -= sgl_offset(wqe);
	wqe->length = le32_to_cpu(wqe->send.length);
	if (wqe->hdr & ERDMA_SQE_INLINE)
		return n <= min_t(u32, room, ERDMA_MAX_INLINE) &&
		       wqe->length == n;
	if (n > ERDMA_MAX_SEND_SGE || n * sizeof(struct erdma_sge) > room)
		return false;
	wqe->sges = n;
	for (i = 0; i < n; i++)
		sum += le32_to_cpu(sge_at(wqe, i)->length);
	return sum == wqe->length;
}

static bool parse_read(struct ev_qp *qp)
{
	struct ev_wqe *wqe = &qp->wqe;

	wqe->length = le32_to_cpu(wqe->read.length);
	return wqe->count * ERDMA_WQEBB_SIZE >= sizeof(wqe->read) &&
	       wqe->length == le32_to_cpu(wqe->read.remote.length);
}

static bool parse_atomic(struct ev_qp *qp)
{
	struct ev_wqe *wqe = &qp->wqe;

	wqe->length = sizeof(u64);
	return qp->ad->params.flags & ERDMA_FLAG_ATOMIC &&
	       wqe->count * ERDMA_WQEBB_SIZE >= sizeof(wqe->atomic) &&
	       le32_to_cpu(wqe->atomic.local.length) == sizeof(u64);
}

static bool parse_nothing(struct ev_qp *qp)
{
	return true;
}

/**
 * struct op - an opcode of the send queue
 * @parse: sets length and list; returns false if the format is wrong
 * @run: returns 0, EV_WAIT, EV_MORE or an enum erdma_syndrome
 * @on_wire: the operation counts as a request
 */
struct op {
	bool (*parse)(struct ev_qp *qp);
	int (*run)(struct ev_qp *qp, struct ev_xfer *x);
	bool on_wire;
};

static const struct op ops[ERDMA_OP_COUNT] = {
	[ERDMA_OP_WRITE]	  = { parse_payload, run_write, true },
	[ERDMA_OP_READ]		  = { parse_read, run_read, true },
	[ERDMA_OP_SEND]		  = { parse_payload, run_send, true },
	[ERDMA_OP_SEND_WITH_IMM]  = { parse_payload, run_send, true },
	[ERDMA_OP_WRITE_WITH_IMM] = { parse_payload, run_write, true },
	[ERDMA_OP_SEND_WITH_INV]  = { parse_payload, run_send, true },
	[ERDMA_OP_REG_MR]	  = { parse_nothing, run_reg_mr, false },
	[ERDMA_OP_LOCAL_INV]	  = { parse_nothing, run_local_inv, false },
	[ERDMA_OP_READ_WITH_INV]  = { parse_read, run_read, true },
	[ERDMA_OP_ATOMIC_CAS]	  = { parse_atomic, run_atomic, true },
	[ERDMA_OP_ATOMIC_FAA]	  = { parse_atomic, run_atomic, true },
};

/*
 * Copies the next work request, because the driver could change it concurrently. Returns 0, EV_WAIT
 * if memory must not be accessed, or a syndrome.
 */
static int load(struct ev_qp *qp)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct ev_wq *sq = &qp->sq;
	u16 avail = sq->pi - sq->ci;
	__le64 hdr;

	memset(wqe, 0, offsetof(struct ev_wqe, raw));
	if (!ev_wq_read(sq, sq->ci, &hdr, sizeof(hdr)))
		return EV_WAIT;
	wqe->hdr = le64_to_cpu(hdr);
	wqe->loaded = true;
	wqe->count = FIELD_GET(ERDMA_SQE_WQEBB_CNT, wqe->hdr) + 1;
	wqe->opcode = FIELD_GET(ERDMA_SQE_OPCODE, wqe->hdr);
	if (wqe->count > avail || wqe->count > ERDMA_MAX_SQEBB_PER_WQE ||
	    FIELD_GET(ERDMA_SQE_QPN, wqe->hdr) != qp->qpn ||
	    FIELD_GET(ERDMA_SQE_WQEBB_INDEX, wqe->hdr) !=
	    (u16)(sq->ci + wqe->count)) {
		/* The beginning of the next entry is unknown. */
		wqe->count = avail;
		return ERDMA_WC_SEND_WQE_FORMAT_ERR;
	}
	if (!ev_wq_read(sq, sq->ci, wqe->raw, wqe->count * ERDMA_WQEBB_SIZE)) {
		wqe->loaded = false;
		return EV_WAIT;
	}
	return wqe->opcode < ERDMA_OP_COUNT && ops[wqe->opcode].parse &&
	       ops[wqe->opcode].parse(qp) ? 0 : ERDMA_WC_SEND_WQE_FORMAT_ERR;
}

static void finish(struct ev_qp *qp, u8 syndrome)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct ev_wq *sq = &qp->sq;
	struct ev_wc wc = {
		.qpn = qp->qpn,
		.index = sq->ci,
		/* Consumers index tables with the opcode without checking it. */
		.opcode = wqe->opcode < ERDMA_OP_COUNT ? wqe->opcode :
			  ERDMA_OP_SEND,
		.qtype = ERDMA_CQE_QTYPE_SQ,
		.syndrome = syndrome,
		.bytes = syndrome ? 0 : wqe->length,
	};

	if (syndrome || wqe->hdr & ERDMA_SQE_CE) {
		ev_cq_post(sq->cq, &wc);
		sq->cqes++;
	}
	sq->last = sq->ci;
	sq->ci += wqe->count;
	wqe->loaded = false;
}

static void fail(struct ev_qp *qp, int syndrome)
{
	struct ev_qp *peer = qp->peer;
	enum erdma_aeqe_type type = ERDMA_AE_QP_FATAL;

	ev_log(qp->ad, ERRORS, "QP %u: work request %u: syndrome %d\n",
	       qp->qpn, qp->sq.ci, syndrome);
	if (is_remote(syndrome))
		type = qp->wqe.receive_failed ? ERDMA_AE_QP_ERQ_ERR :
		       ERDMA_AE_ACC_ERR;
	finish(qp, syndrome);
	ev_qp_halt(qp, ERDMA_QPS_ERROR, ERDMA_AE_QP_FATAL, syndrome);
	if (peer)
		ev_qp_halt(peer, ERDMA_QPS_TERMINATE, type, syndrome);
}

/* Applies faults before a request is executed. Returns 0, EV_WAIT or a syndrome. */
static int delay_or_fail(struct ev_qp *qp)
{
	struct ev_wqe *wqe = &qp->wqe;
	u64 arg;

	if (!wqe->begun) {
		wqe->begun = true;
		if (ev_fault_hit(qp->ad, EV_FAULT_WR_ERROR, qp->qpn, &arg))
			return clamp_t(u64, arg, ERDMA_WC_GENERAL_ERR,
				       ERDMA_WC_RETRY_EXC_ERR);
		if (ev_fault_hit(qp->ad, EV_FAULT_WR_SLOW, qp->qpn, &arg))
			wqe->not_before = ktime_add_us(ktime_get(),
						       vdev_fault_latency(arg));
	}
	if (likely(!wqe->not_before))
		return 0;
	if (ktime_before(ktime_get(), wqe->not_before))
		return EV_WAIT;
	wqe->not_before = 0;
	return 0;
}

/* Returns true if a fault prevents a QP from working. */
static bool is_stalled(struct ev_qp *qp)
{
	ktime_t now;
	u64 ms;

	if (ev_fault_hit(qp->ad, EV_FAULT_QP_STALL, qp->qpn, &ms))
		qp->stall_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
	if (likely(!qp->stall_until))
		return false;
	now = ktime_get();
	if (ktime_before(now, qp->stall_until))
		return true;
	qp->stall_until = 0;
	return false;
}

/* Returns true if there was progress. */
static bool run(struct ev_qp *qp, u32 budget)
{
	struct ev_wqe *wqe = &qp->wqe;
	struct ev_xfer x = { .budget = budget };
	bool progress = false;
	u32 done;
	int ret;

	while (x.budget && (wqe->loaded || qp->sq.ci != qp->sq.pi) &&
	       vdev_may_access(&qp->ad->vdev)) {
		ret = wqe->loaded ? 0 : load(qp);
		done = wqe->done;
		if (!ret)
			ret = delay_or_fail(qp);
		if (!ret) {
			ret = ops[wqe->opcode].run(qp, &x);
			ev_sgl_put(&x.src);
			ev_sgl_put(&x.dst);
		}
		progress |= ret != EV_WAIT || wqe->done != done;
		if (ret < 0)
			break;
		if (ret) {
			fail(qp, ret);
			break;
		}
		if (ops[wqe->opcode].on_wire)
			atomic64_inc(&qp->ad->stats[EV_STAT_TX_REQS]);
		finish(qp, ERDMA_WC_SUCCESS);
		x.budget -= min_t(u32, x.budget, WQE_COST);
	}
	return progress;
}

/**
 * ev_sq_serve() - poll the doorbell, and execute posted requests
 * @qp: QP in RTS
 * @budget: maximum bytes to move before other QPs are served
 *
 * A stalled QP still detects doorbells, but executes nothing.
 *
 * Context: ev_fabric and @qp->link held, or ev_fabric for writing.
 * Return: true if there was progress.
 */
bool ev_sq_serve(struct ev_qp *qp, u32 budget)
{
	bool progress = ev_wq_update(qp, &qp->sq);

	return is_stalled(qp) ? progress : run(qp, budget) | progress;
}
