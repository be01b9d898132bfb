// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command queue (hw 3): slots, completions, timeouts.
 *
 * The cookie of a command is its slot in the ring, so that the waiting command is found from a
 * completion, which names the slot, using driver memory alone; the driver never trusts data read
 * back from memory that the adapter can write to.
 */

#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>

#include "erdma.h"
#include "erdma_classes.h"

/* Time for which an issuer polls; most commands complete faster. */
#define SPIN_NS		(100 * NSEC_PER_USEC)
#define LOOK_MS		1000

/*
 * Timeout of commands issued by recovery, which must bring the adapter back into service within a
 * second.
 */
#define RECOVERY_TIMEOUT_MS	300

static struct erdma_cmdq_slot *slot_of(struct erdma_cmdq *q, u16 index)
{
	u16 slot = index / ERDMA_CMDQ_SLOT_WQEBB;

	return &q->slots[slot % ERDMA_CMDQ_MAX_OUTSTANDING];
}

static u16 slot_cookie(struct erdma_cmdq *q, const struct erdma_cmdq_slot *slot)
{
	return slot - q->slots;
}

/* Advances sq_ci to the oldest command that still has a waiter. */
static void advance_ci(struct erdma_cmdq *q)
{
	while (q->sq_ci != q->sq_pi && !slot_of(q, q->sq_ci)->base.cmd)
		q->sq_ci += ERDMA_CMDQ_SLOT_WQEBB;
}

static void ring_sq_doorbell(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u64 db = FIELD_PREP(ERDMA_CMDQ_SQ_DB_PI, q->sq_pi);

	/* Write the command before the doorbell record that announces it. */
	dma_wmb();
	WRITE_ONCE(*q->sq_rec.va, cpu_to_le64(db));
	writeq(db, dev->adapter.bar + ERDMA_REG_CMDQ_SQ_DB);
}

/*
 * While a late completion is expected in a slot, the slot is used only for commands without a
 * waiter.
 */
static void submit(struct eadm_adapter *ad, struct eadm_cmd *base, bool polled)
{
	struct erdma_cmd *cmd = container_of(base, struct erdma_cmd, base);
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot = slot_of(q, q->sq_pi);
	u16 cookie = slot_cookie(q, slot);

	lockdep_assert_held(&ad->lock);
	slot->index = q->sq_pi;
	slot->pending++;
	q->sq_pi += ERDMA_CMDQ_SLOT_WQEBB;
	cmd->req.hdr = cpu_to_le64(FIELD_PREP(ERDMA_CMD_HDR_WQEBB_CNT,
					      ERDMA_CMDQ_SLOT_WQEBB - 1) |
				   FIELD_PREP(ERDMA_CMD_HDR_COOKIE, cookie) |
				   FIELD_PREP(ERDMA_CMD_HDR_SUB_MOD, base->op >> 8) |
				   FIELD_PREP(ERDMA_CMD_HDR_OPCODE, base->op & 0xff) |
				   FIELD_PREP(ERDMA_CMD_HDR_WQEBB_INDEX, q->sq_pi));
	memcpy(q->sq.va + cookie * ERDMA_CMD_SLOT_SIZE, &cmd->req, ERDMA_CMD_SLOT_SIZE);
	base->request = &cmd->req;
	eadm_cmd_submitted(ad, base, &slot->base, cookie, polled);
	ring_sq_doorbell(dev);
}

/*
 * Completions arrive in order, so the slot's previous request has been read if a later command has
 * completed.
 */
static bool was_read(const struct erdma_cmdq *q, const struct erdma_cmdq_slot *slot)
{
	return (s16)(q->answered - slot->index) > 0;
}

static void give_up_filler(struct erdma_dev *dev, struct erdma_cmdq_slot *slot, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;

	lockdep_assert_held(&dev->adapter.lock);
	if (slot->filler)
		eadm_recorder_abort(&cmds->rec, slot->base.seq, now, -ETIMEDOUT);
	slot->filler = false;
}

/*
 * Skips slots in which a late completion is still expected, by issuing filler commands in them: a
 * completion in such a slot could not be distinguished from the late completion, so its command
 * must be one whose result does not matter. A filler may be lost as well; the next filler replaces
 * it.
 */
static bool has_room(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot;
	struct erdma_cmd filler;

	for (;;) {
		slot = slot_of(q, q->sq_pi);
		if (!slot->base.lost)
			return !slot->pending;
		if (!was_read(q, slot))
			return false;
		give_up_filler(dev, slot, local_clock());
		memset(&filler, 0, sizeof(filler));
		filler.base.op = ERDMA_SUB_COMMON << 8 | ERDMA_CMD_QUERY_FW_INFO;
		filler.base.len = sizeof(filler.req.hdr);
		submit(ad, &filler.base, false);
		slot->filler = true;
	}
}

/* Handles the completion of the command in a slot. */
static void complete_cmd(struct erdma_dev *dev, struct erdma_cmdq_slot *slot, u8 syndrome,
			 const u64 *resp, u64 now)
{
	struct erdma_cmd *cmd = container_of(slot->base.cmd, struct erdma_cmd, base);
	struct erdma_cmdq *q = &dev->cmdq;

	slot->pending = 0;
	q->answered = slot->index;
	memcpy(cmd->resp, resp, sizeof(cmd->resp));
	eadm_cmd_answered(&dev->adapter, &slot->base, now, syndrome ? -EIO : 0, syndrome, resp,
			  sizeof(cmd->resp));
	advance_ci(q);
}

/* Handles a completion for a slot whose command was abandoned. */
static void complete_lost(struct erdma_dev *dev, struct erdma_cmdq_slot *slot, u8 syndrome,
			  const u64 *resp, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;

	if (--slot->pending) {
		/*
		 * This is either the late completion itself, or the completion of a filler issued
		 * in the slot.
		 */
		if (slot->filler)
			eadm_recorder_done(&cmds->rec, slot->base.seq, now, 0, syndrome, resp,
					   ERDMA_CMD_RESPONSE * sizeof(*resp));
		slot->filler = false;
		return;
	}
	eadm_cmd_late(&dev->adapter, slot->lost_seq, now, syndrome, resp,
		      ERDMA_CMD_RESPONSE * sizeof(*resp));
	if (slot->lost_buf)
		dma_pool_free(dev->resp_pool, slot->lost_buf, slot->lost_buf_dma);
	slot->lost_buf = NULL;
	give_up_filler(dev, slot, now);
	slot->base.lost = false;
}

static void process_cqe(struct erdma_dev *dev, u32 hdr, const struct erdma_cqe *cqe)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	u32 index = be32_to_cpu(cqe->qe_idx);
	struct erdma_cmdq_slot *slot = slot_of(q, index);
	u8 syndrome = FIELD_GET(ERDMA_CQE_SYNDROME, hdr);
	u64 now = local_clock(), resp[ERDMA_CMD_RESPONSE];
	int i;

	/*
	 * Adapters report either the free-running index or the masked one; a free-running index
	 * from a different lap than the slot's is an old completion.
	 */
	if (!slot->pending || index > U16_MAX || index % ERDMA_CMDQ_SLOT_WQEBB ||
	    (index != slot->index && index >= ERDMA_CMDQ_DEPTH && !slot->base.lost)) {
		cmds->spurious++;
		cmds->last_spurious = now;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(resp); i++)
		resp[i] = be32_to_cpu(cqe->resp[2 * i]) |
			  (u64)be32_to_cpu(cqe->resp[2 * i + 1]) << 32;
	cmds->last_comp = now;
	if (slot->base.lost)
		complete_lost(dev, slot, syndrome, resp, now);
	else
		complete_cmd(dev, slot, syndrome, resp, now);
}

/* Returns true if the completion ring has an entry; a different CPU may be about to consume it. */
static bool answered(struct eadm_adapter *ad)
{
	struct erdma_cmdq *q = &adapter_to_erdma(ad)->cmdq;
	const struct erdma_cqe *ring = q->cq.va;
	u32 ci = READ_ONCE(q->cq_ci), hdr;

	hdr = be32_to_cpu(READ_ONCE(ring[ci % ERDMA_CMDQ_DEPTH].hdr));
	return erdma_hw_owned(hdr & ERDMA_CQE_OWNER, ci, ERDMA_CMDQ_DEPTH);
}

/* Consumes the entries of the completion ring, at most one ring full. */
static void process(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	const struct erdma_cqe *ring = q->cq.va, *cqe;
	int budget = ERDMA_CMDQ_DEPTH;
	bool any = false;
	u32 hdr;

	lockdep_assert_held(&dev->adapter.lock);
	while (budget--) {
		cqe = &ring[q->cq_ci % ERDMA_CMDQ_DEPTH];
		hdr = be32_to_cpu(READ_ONCE(cqe->hdr));
		if (!erdma_hw_owned(hdr & ERDMA_CQE_OWNER, q->cq_ci, ERDMA_CMDQ_DEPTH))
			break;
		/* Read the owner bit before the rest of the entry. */
		dma_rmb();
		WRITE_ONCE(q->cq_ci, q->cq_ci + 1);
		any = true;
		process_cqe(dev, hdr, cqe);
	}
	if (any)
		wake_up(&dev->adapter.wait);
}

/* Requests an event for the next completion. */
static void arm(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	u64 db = FIELD_PREP(ERDMA_CQ_DB_IDX, q->cmdsn & 0xff) | ERDMA_CQ_DB_ARM |
		 FIELD_PREP(ERDMA_CQ_DB_CMDSN, q->cmdsn & 3) |
		 FIELD_PREP(ERDMA_CQ_DB_CI, q->cq_ci & 0xffffff);

	lockdep_assert_held(&dev->adapter.lock);
	q->armed = true;
	WRITE_ONCE(*q->cq_rec.va, cpu_to_le64(db));
	writeq(db, dev->adapter.bar + ERDMA_REG_CMDQ_CQ_DB);
}

/**
 * erdma_cmdq_event() - consume command events and completions
 * @ad: the adapter
 *
 * Command queue part of the interrupt handler.
 *
 * Context: any.
 */
void erdma_cmdq_event(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	unsigned long flags;

	if (erdma_eq_consume(&dev->cmdq_eq)) {
		spin_lock_irqsave(&ad->lock, flags);
		q->cmdsn++;
		q->armed = false;
		process(ad);
		/* If nothing is outstanding, the next issuer that has to sleep arms the CQ. */
		if (ad->cmds.outstanding)
			arm(ad);
		spin_unlock_irqrestore(&ad->lock, flags);
	}
	erdma_eq_arm(&dev->cmdq_eq);
}

static void note_missed(struct eadm_adapter *ad)
{
	struct erdma_cmdq *q = &adapter_to_erdma(ad)->cmdq;

	q->missed_events++;
	q->last_missed = local_clock();
	arm(ad);
}

/* A different issuer may have requested an event already. */
static void ask_for_event(struct eadm_adapter *ad)
{
	if (!adapter_to_erdma(ad)->cmdq.armed)
		arm(ad);
}

static void lose(struct eadm_adapter *ad, struct eadm_cmd *base)
{
	struct erdma_cmdq_slot *slot = container_of(base->slot, struct erdma_cmdq_slot, base);
	struct erdma_cmd *cmd = container_of(base, struct erdma_cmd, base);

	slot->lost_seq = slot->base.seq;
	slot->lost_buf = cmd->buf;
	slot->lost_buf_dma = cmd->buf_dma;
	cmd->buf = NULL;
	advance_ci(&adapter_to_erdma(ad)->cmdq);
}

/**
 * erdma_cmdq_watch() - abandon fillers that did not complete
 * @dev: the device
 *
 * Fillers have no waiter that could time out.
 *
 * Context: process.
 */
void erdma_cmdq_watch(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	s64 limit = (s64)READ_ONCE(dev->adapter.cmd_timeout) * NSEC_PER_MSEC;
	struct erdma_cmdq *q = &dev->cmdq;
	u64 now;
	int i;

	if (!READ_ONCE(cmds->quarantined))
		return;
	spin_lock_irq(&dev->adapter.lock);
	now = local_clock();
	for (i = 0; i < ARRAY_SIZE(q->slots); i++)
		if ((s64)(now - q->slots[i].base.submit) > limit)
			give_up_filler(dev, &q->slots[i], now);
	spin_unlock_irq(&dev->adapter.lock);
}

/* Keeps a buffer until the adapter is known to have stopped writing to it. */
static void park_buf(struct erdma_dev *dev, void *buf, dma_addr_t dma)
{
	struct erdma_cmdq *q = &dev->cmdq;

	lockdep_assert_held(&dev->adapter.lock);
	/*
	 * There is at most one buffer per slot, because no command is submitted while buffers are
	 * parked.
	 */
	if (!buf || WARN_ON_ONCE(q->nr_parked == ARRAY_SIZE(q->parked)))
		return;
	q->parked[q->nr_parked].va = buf;
	q->parked[q->nr_parked++].dma = dma;
}

/**
 * erdma_cmdq_bufs_free() - free the response buffers of commands that were abandoned
 * @dev: the device, whose adapter is known to have discarded them
 *
 * Context: process.
 */
void erdma_cmdq_bufs_free(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;

	spin_lock_irq(&dev->adapter.lock);
	while (q->nr_parked) {
		q->nr_parked--;
		dma_pool_free(dev->resp_pool, q->parked[q->nr_parked].va,
			      q->parked[q->nr_parked].dma);
	}
	spin_unlock_irq(&dev->adapter.lock);
}

/* Response buffers are parked; see erdma_cmdq_bufs_free(). */
static void reset(struct eadm_adapter *ad, int status)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot;
	u64 now = local_clock();
	struct erdma_cmd *cmd;
	int i;

	lockdep_assert_held(&ad->lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++) {
		slot = &q->slots[i];
		park_buf(dev, slot->lost_buf, slot->lost_buf_dma);
		if (slot->base.cmd) {
			cmd = container_of(slot->base.cmd, struct erdma_cmd, base);
			park_buf(dev, cmd->buf, cmd->buf_dma);
			cmd->buf = NULL;
			eadm_cmd_abort(ad, &slot->base, now, status);
		}
		give_up_filler(dev, slot, now);
		memset(slot, 0, sizeof(*slot));
	}
	memset(q->sq.va, 0, q->sq.size);
	memset(q->cq.va, 0, q->cq.size);
	*q->sq_rec.va = 0;
	*q->cq_rec.va = 0;
	q->sq_pi = 0;
	q->sq_ci = 0;
	WRITE_ONCE(q->cq_ci, 0);
	q->cmdsn = 0;
	q->answered = 0;
	q->armed = false;
}

static struct eadm_slot *slot_at(struct eadm_adapter *ad, u32 i)
{
	struct erdma_cmdq *q = &adapter_to_erdma(ad)->cmdq;

	return i < ARRAY_SIZE(q->slots) ? &q->slots[i].base : NULL;
}

const struct eadm_queue_ops erdma_queue_ops = {
	.name = "command queue",
	.spin_ns = SPIN_NS,
	.look_ms = LOOK_MS,
	.recovery_ms = RECOVERY_TIMEOUT_MS,
	.room_ms = RECOVERY_TIMEOUT_MS,
	.op_class = erdma_op_class,
	.cause_class = erdma_cmd_cause_class,
	.answered = answered,
	.has_room = has_room,
	.submit = submit,
	.process = process,
	.lose = lose,
	.events = erdma_cmdq_event,
	.missed = note_missed,
	.serves = arm,
	.sleeps = ask_for_event,
	.slot = slot_at,
	.reset = reset,
};

/**
 * erdma_cmdq_init() - allocate the command queue
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_cmdq_init(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;
	int ret;

	ret = eadm_ring_alloc(ad, &q->sq, ERDMA_CMDQ_DEPTH * ERDMA_WQEBB_SIZE);
	if (!ret)
		ret = eadm_ring_alloc(ad, &q->cq, ERDMA_CMDQ_DEPTH * ERDMA_CQE_SIZE);
	if (!ret)
		ret = erdma_dbrec_alloc(dev, &q->sq_rec);
	if (!ret)
		ret = erdma_dbrec_alloc(dev, &q->cq_rec);
	if (ret)
		erdma_cmdq_free(ad);
	return ret;
}

/**
 * erdma_cmdq_free() - free the command queue
 * @ad: the adapter
 *
 * Context: process; the adapter is halted.
 */
void erdma_cmdq_free(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_cmdq *q = &dev->cmdq;

	erdma_dbrec_free(dev, &q->cq_rec);
	erdma_dbrec_free(dev, &q->sq_rec);
	eadm_ring_free(ad, &q->cq);
	eadm_ring_free(ad, &q->sq);
}
