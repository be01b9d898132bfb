// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command queue (hw 3): slots, completions, timeouts.
 *
 * The cookie of a command is its slot in the ring, so that a completion (which
 * names the slot) leads to the waiting command through driver memory alone;
 * what is read back from memory that the adapter can write to is never trusted.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/io-64-nonatomic-lo-hi.h>

#include "erdma.h"
#include "trace.h"

/* How long a waiter sleeps before it checks the queue and the adapter. */
#define FIRST_LOOK_MS	100
#define NEXT_LOOK_MS	1000

/* How long it polls for the answer before that. */
#define SPIN_NS		(100 * NSEC_PER_USEC)

/* Timeout of recovery's own commands: service must be back within a second. */
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
	while (q->sq_ci != q->sq_pi && !slot_of(q, q->sq_ci)->cmd)
		q->sq_ci += ERDMA_CMDQ_SLOT_WQEBB;
}

static void ring_sq_doorbell(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u64 db = FIELD_PREP(ERDMA_CMDQ_SQ_DB_PI, q->sq_pi);

	/* Write the command before the doorbell record that announces it. */
	dma_wmb();
	WRITE_ONCE(*q->sq_rec.va, cpu_to_le64(db));
	writeq(db, dev->bar + ERDMA_REG_CMDQ_SQ_DB);
}

/* Puts a request into the next slot, which is free or still expects a late answer. */
static void submit(struct erdma_dev *dev, struct erdma_cmd *cmd, bool waits, bool polled)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot = slot_of(q, q->sq_pi);
	u16 cookie = slot_cookie(q, slot);
	u64 now = local_clock();

	lockdep_assert_held(&dev->adapter.lock);
	slot->index = q->sq_pi;
	slot->submit = now;
	slot->pending++;
	q->sq_pi += ERDMA_CMDQ_SLOT_WQEBB;
	cmds->submitted++;
	cmds->last_submit = now;
	if (waits) {
		slot->cmd = cmd;
		cmds->outstanding++;
		cmds->max_outstanding = max(cmds->max_outstanding, cmds->outstanding);
	}
	cmd->req.hdr = cpu_to_le64(FIELD_PREP(ERDMA_CMD_HDR_WQEBB_CNT,
					      ERDMA_CMDQ_SLOT_WQEBB - 1) |
				   FIELD_PREP(ERDMA_CMD_HDR_COOKIE, cookie) |
				   FIELD_PREP(ERDMA_CMD_HDR_SUB_MOD, cmd->op >> 8) |
				   FIELD_PREP(ERDMA_CMD_HDR_OPCODE, cmd->op & 0xff) |
				   FIELD_PREP(ERDMA_CMD_HDR_WQEBB_INDEX, q->sq_pi));
	memcpy(q->sq.va + cookie * ERDMA_CMD_SLOT_SIZE, &cmd->req, ERDMA_CMD_SLOT_SIZE);

	slot->seq = eadm_recorder_submit(&cmds->rec, now, cmd->op, cookie, cmds->outstanding,
					 polled, &cmd->req, cmd->len);
	cmd->seq = slot->seq;
	trace_cmd_submit(&dev->ibdev, cmd->seq, cmd->op, cookie, cmds->outstanding);
	ring_sq_doorbell(dev);
}

/*
 * Answers come in order, so the slot's previous request was read if a later one
 * was answered.
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
		eadm_recorder_abort(&cmds->rec, slot->seq, now, -ETIMEDOUT);
	slot->filler = false;
}

/**
 * erdma_cmdq_has_room() - whether a command can be submitted
 * @dev: the device
 *
 * Skips slots that still expect a late answer, by issuing filler commands
 * there: an answer in such a slot could not be distinguished from the late one,
 * so it must not matter. A filler may get lost as well; the next one takes its
 * place.
 *
 * Context: any, with the adapter's lock held.
 */
bool erdma_cmdq_has_room(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot;
	struct erdma_cmd filler;

	for (;;) {
		slot = slot_of(q, q->sq_pi);
		if (!slot->lost)
			return !slot->pending;
		if (!was_read(q, slot))
			return false;
		give_up_filler(dev, slot, local_clock());
		memset(&filler, 0, sizeof(filler));
		filler.op = ERDMA_SUB_COMMON << 8 | ERDMA_CMD_QUERY_FW_INFO;
		filler.len = sizeof(filler.req.hdr);
		submit(dev, &filler, false, false);
		slot->filler = true;
	}
}

/* Handles the answer to the command in a slot. */
static void complete_cmd(struct erdma_dev *dev, struct erdma_cmdq_slot *slot, u8 syndrome,
			 const u64 *resp, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmd *cmd = slot->cmd;

	slot->cmd = NULL;
	slot->pending = 0;
	q->answered = slot->index;
	cmds->outstanding--;
	cmds->completed++;
	if (syndrome)
		cmds->errors++;
	advance_ci(q);

	cmd->syndrome = syndrome;
	cmd->status = syndrome ? -EIO : 0;
	memcpy(cmd->resp, resp, sizeof(cmd->resp));
	eadm_recorder_done(&cmds->rec, slot->seq, now, cmd->status, syndrome, resp,
			   sizeof(cmd->resp));
	trace_cmd_done(&dev->ibdev, cmd->seq, cmd->op, cmd->status, syndrome,
		       eadm_elapsed(slot->submit, now));
	complete(&cmd->done);
}

/* Handles an answer for a slot whose command was given up. */
static void complete_lost(struct erdma_dev *dev, struct erdma_cmdq_slot *slot, u8 syndrome,
			  const u64 *resp, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;

	if (--slot->pending) {
		/* The late answer itself, or that of a filler issued over it. */
		if (slot->filler)
			eadm_recorder_done(&cmds->rec, slot->seq, now, 0, syndrome, resp,
					   ERDMA_CMD_RESPONSE * sizeof(*resp));
		slot->filler = false;
		return;
	}
	cmds->late++;
	eadm_recorder_late(&cmds->rec, slot->lost_seq, now, syndrome, resp,
			   ERDMA_CMD_RESPONSE * sizeof(*resp));
	if (slot->lost_buf)
		dma_pool_free(dev->resp_pool, slot->lost_buf, slot->lost_buf_dma);
	slot->lost_buf = NULL;
	give_up_filler(dev, slot, now);
	slot->lost = false;
	cmds->quarantined--;
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
	 * Adapters report either the free-running index or the masked one; a
	 * free-running index from another lap than the slot's is an old answer.
	 */
	if (!slot->pending || index > U16_MAX || index % ERDMA_CMDQ_SLOT_WQEBB ||
	    (index != slot->index && index >= ERDMA_CMDQ_DEPTH && !slot->lost)) {
		cmds->spurious++;
		cmds->last_spurious = now;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(resp); i++)
		resp[i] = be32_to_cpu(cqe->resp[2 * i]) |
			  (u64)be32_to_cpu(cqe->resp[2 * i + 1]) << 32;
	cmds->last_comp = now;
	if (slot->lost)
		complete_lost(dev, slot, syndrome, resp, now);
	else
		complete_cmd(dev, slot, syndrome, resp, now);
}

/* Consumes the entries of the completion ring, at most one ring full. */
static void process_cq(struct erdma_dev *dev)
{
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
		/* Read the rest of the entry after its owner bit. */
		dma_rmb();
		q->cq_ci++;
		any = true;
		process_cqe(dev, hdr, cqe);
	}
	if (any)
		wake_up(&dev->adapter.wait);
}

/**
 * erdma_cmdq_arm() - request an event for the next answer
 * @dev: the device
 *
 * Context: any, with the adapter's lock held.
 */
void erdma_cmdq_arm(struct erdma_dev *dev)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u64 db = FIELD_PREP(ERDMA_CQ_DB_IDX, q->cmdsn & 0xff) | ERDMA_CQ_DB_ARM |
		 FIELD_PREP(ERDMA_CQ_DB_CMDSN, q->cmdsn & 3) |
		 FIELD_PREP(ERDMA_CQ_DB_CI, q->cq_ci & 0xffffff);

	lockdep_assert_held(&dev->adapter.lock);
	q->armed = true;
	WRITE_ONCE(*q->cq_rec.va, cpu_to_le64(db));
	writeq(db, dev->bar + ERDMA_REG_CMDQ_CQ_DB);
}

/**
 * erdma_cmdq_event() - consume command events and completions
 * @dev: the device
 *
 * The command queue's part of the interrupt handler.
 *
 * Context: any.
 */
void erdma_cmdq_event(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	unsigned long flags;

	if (erdma_eq_consume(&dev->cmdq_eq)) {
		spin_lock_irqsave(&dev->adapter.lock, flags);
		q->cmdsn++;
		q->armed = false;
		process_cq(dev);
		/* If nothing is outstanding, the next issuer that has to sleep arms the CQ. */
		if (cmds->outstanding)
			erdma_cmdq_arm(dev);
		spin_unlock_irqrestore(&dev->adapter.lock, flags);
	}
	erdma_eq_arm(&dev->cmdq_eq);
}

/* Polls for answers that no event announced; true when this command is done. */
static bool look(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	struct erdma_cmdq *q = &dev->cmdq;
	bool done;

	erdma_cmdq_event(dev);
	spin_lock_irq(&dev->adapter.lock);
	done = completion_done(&cmd->done);
	if (!done) {
		process_cq(dev);
		done = completion_done(&cmd->done);
		if (done && dev->adapter.state == EADM_QUEUE_EVENT) {
			q->missed_events++;
			q->last_missed = local_clock();
			erdma_cmdq_arm(dev);
		}
	}
	spin_unlock_irq(&dev->adapter.lock);
	return done;
}

/*
 * Gives up a command, unless it has been answered by now. @status: -ETIMEDOUT, or -ENODEV
 * when the adapter is gone.
 */
static void give_up(struct erdma_dev *dev, struct erdma_cmd *cmd, int status)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot;
	u64 now = local_clock();

	spin_lock_irq(&dev->adapter.lock);
	process_cq(dev);
	if (completion_done(&cmd->done)) {
		spin_unlock_irq(&dev->adapter.lock);
		return;
	}
	slot = &q->slots[le64_get_bits(cmd->req.hdr, ERDMA_CMD_HDR_COOKIE)];
	cmd->status = status;
	slot->cmd = NULL;
	slot->lost = true;
	slot->lost_seq = slot->seq;
	slot->lost_buf = cmd->buf;
	slot->lost_buf_dma = cmd->buf_dma;
	cmd->buf = NULL;
	cmds->outstanding--;
	cmds->quarantined++;
	advance_ci(q);
	if (status == -ETIMEDOUT) {
		cmds->timeouts++;
		eadm_recorder_timeout(&cmds->rec, slot->seq, now, status);
		eadm_queue_recover_locked(&dev->adapter, EADM_RESET_COMMAND_LOST);
	} else {
		eadm_recorder_abort(&cmds->rec, slot->seq, now, status);
	}
	trace_cmd_done(&dev->ibdev, cmd->seq, cmd->op, status, 0, eadm_elapsed(slot->submit, now));
	spin_unlock_irq(&dev->adapter.lock);
	if (status != -ETIMEDOUT)
		return;
	ibdev_err(&dev->ibdev, "command %#x (number %llu) was not answered\n", cmd->op,
		  cmd->seq);
	erdma_diag_command(dev, EADM_DIAG_CMD_TIMEOUT, cmd);
}

/*
 * Most commands are answered faster than an interrupt and two context switches
 * take. Returns whether this one was; if not, an event will announce the
 * answer.
 */
static bool spin(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	struct erdma_cmdq *q = &dev->cmdq;
	u64 end = local_clock() + SPIN_NS;
	bool done;

	do {
		cpu_relax();
		spin_lock_irq(&dev->adapter.lock);
		process_cq(dev);
		done = completion_done(&cmd->done);
		spin_unlock_irq(&dev->adapter.lock);
	} while (!done && !need_resched() && local_clock() < end);
	if (done)
		return true;
	spin_lock_irq(&dev->adapter.lock);
	if (!q->armed && dev->adapter.state == EADM_QUEUE_EVENT)
		erdma_cmdq_arm(dev);
	spin_unlock_irq(&dev->adapter.lock);
	return false;
}

static void wait_event_mode(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(erdma_cmd_timeout_ms(dev));
	unsigned long slice = msecs_to_jiffies(FIRST_LOOK_MS);

	if (spin(dev, cmd))
		return;
	while (!wait_for_completion_timeout(&cmd->done, slice)) {
		slice = clamp_t(long, deadline - jiffies, 1, msecs_to_jiffies(NEXT_LOOK_MS));
		if (look(dev, cmd))
			return;
		if (eadm_queue_is_hopeless(&dev->adapter)) {
			give_up(dev, cmd, -ENODEV);
			return;
		}
		if (time_after_eq(jiffies, deadline)) {
			give_up(dev, cmd, -ETIMEDOUT);
			return;
		}
	}
}

static void wait_polled(struct erdma_dev *dev, struct erdma_cmd *cmd, unsigned int timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	unsigned long next_look = jiffies + msecs_to_jiffies(FIRST_LOOK_MS);
	unsigned int us = 10;

	for (;;) {
		spin_lock_irq(&dev->adapter.lock);
		process_cq(dev);
		spin_unlock_irq(&dev->adapter.lock);
		if (completion_done(&cmd->done))
			return;
		if (time_after_eq(jiffies, next_look)) {
			next_look = jiffies + msecs_to_jiffies(FIRST_LOOK_MS);
			if (eadm_queue_is_hopeless(&dev->adapter)) {
				give_up(dev, cmd, -ENODEV);
				return;
			}
		}
		if (time_after_eq(jiffies, deadline)) {
			give_up(dev, cmd, -ETIMEDOUT);
			return;
		}
		usleep_range(us, 2 * us);
		us = min(2 * us, 1000u);
	}
}

/**
 * erdma_cmdq_make_room() - wait for room for a command of recovery
 * @dev: the device
 *
 * The next slot may hold a command whose issuer still waits. Waiting for that
 * slot is pointless if that command is lost, too; but then the fillers before
 * it show whether the adapter answers, which is all that recovery needs to
 * know.
 *
 * Context: process, with the adapter's lock held, which is dropped meanwhile.
 * Return: 0 with a free slot; -EIO when there is none but an answer came (a
 * refusal is an answer, too); -EBUSY when neither happens in time; -ENODEV when
 * the adapter is gone.
 */
int erdma_cmdq_make_room(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	unsigned long deadline = jiffies + msecs_to_jiffies(RECOVERY_TIMEOUT_MS);
	u64 last;

	lockdep_assert_held(&dev->adapter.lock);
	process_cq(dev);
	last = cmds->last_comp;
	for (;;) {
		if (READ_ONCE(dev->adapter.gone))
			return -ENODEV;
		if (erdma_cmdq_has_room(dev))
			return 0;
		if (cmds->last_comp != last)
			return -EIO;
		if (time_after_eq(jiffies, deadline))
			return -EBUSY;
		spin_unlock_irq(&dev->adapter.lock);
		usleep_range(500, 1000);
		spin_lock_irq(&dev->adapter.lock);
		process_cq(dev);
	}
}

/**
 * erdma_cmdq_exec() - issue a command and wait for its answer
 * @dev: the device
 * @cmd: the command: request, length, opcode and perhaps response buffer
 *
 * During recovery, commands wait for its end, except recovery's own: these are
 * polled for, with a short timeout.
 *
 * Context: process.
 * Return: 0; -EIO when the adapter refused (see @cmd->syndrome); -ETIMEDOUT
 * when it did not answer, so that the effect is unknown; -ECANCELED when a
 * reset came in between; -ENODEV when there is no service.
 */
int erdma_cmdq_exec(struct erdma_dev *dev, struct erdma_cmd *cmd)
{
	bool polled, recovery;
	int ret;

	might_sleep();
	init_completion(&cmd->done);
	spin_lock_irq(&dev->adapter.lock);
	ret = eadm_queue_admit(&dev->adapter, &cmd->issue);
	recovery = dev->adapter.recoverer == current;
	polled = recovery || dev->adapter.state == EADM_QUEUE_POLLING;
	if (!ret)
		submit(dev, cmd, true, polled);
	spin_unlock_irq(&dev->adapter.lock);
	if (ret)
		return ret;
	if (polled)
		wait_polled(dev, cmd, recovery ? RECOVERY_TIMEOUT_MS : erdma_cmd_timeout_ms(dev));
	else
		wait_event_mode(dev, cmd);
	erdma_debug(dev, cmd, "%#x (number %llu): %d, syndrome %#x\n", cmd->op, cmd->seq,
		    cmd->status, cmd->syndrome);
	erdma_diag_command(dev, EADM_DIAG_CMD_DONE, cmd);
	return cmd->status;
}

/**
 * erdma_cmdq_watch() - give up fillers that got no answer
 * @dev: the device
 *
 * They have no waiter that could time out.
 *
 * Context: process.
 */
void erdma_cmdq_watch(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	s64 limit = (s64)erdma_cmd_timeout_ms(dev) * NSEC_PER_MSEC;
	struct erdma_cmdq *q = &dev->cmdq;
	u64 now;
	int i;

	if (!READ_ONCE(cmds->quarantined))
		return;
	spin_lock_irq(&dev->adapter.lock);
	now = local_clock();
	for (i = 0; i < ARRAY_SIZE(q->slots); i++)
		if ((s64)(now - q->slots[i].submit) > limit)
			give_up_filler(dev, &q->slots[i], now);
	spin_unlock_irq(&dev->adapter.lock);
}

/* Keeps a buffer until the adapter is known to no longer write to it. */
static void park_buf(struct erdma_dev *dev, void *buf, dma_addr_t dma)
{
	struct erdma_cmdq *q = &dev->cmdq;

	lockdep_assert_held(&dev->adapter.lock);
	/* At most one per slot: nothing is submitted while any is parked. */
	if (!buf || WARN_ON_ONCE(q->nr_parked == ARRAY_SIZE(q->parked)))
		return;
	q->parked[q->nr_parked].va = buf;
	q->parked[q->nr_parked++].dma = dma;
}

/**
 * erdma_cmdq_bufs_free() - free the response buffers of commands given up
 * @dev: the device, whose adapter is known to have forgotten them
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

/**
 * erdma_cmdq_reset() - give up all commands and empty the rings
 * @dev: the device
 * @status: result for the waiters
 *
 * Response buffers are parked, see erdma_cmdq_bufs_free().
 *
 * Context: process; the adapter was halted.
 */
void erdma_cmdq_reset(struct erdma_dev *dev, int status)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	struct erdma_cmdq_slot *slot;
	u64 now = local_clock();
	struct erdma_cmd *cmd;
	int i;

	spin_lock_irq(&dev->adapter.lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++) {
		slot = &q->slots[i];
		cmd = slot->cmd;
		park_buf(dev, slot->lost_buf, slot->lost_buf_dma);
		if (cmd) {
			park_buf(dev, cmd->buf, cmd->buf_dma);
			cmd->buf = NULL;
			cmd->status = status;
			eadm_recorder_abort(&cmds->rec, slot->seq, now, status);
			trace_cmd_done(&dev->ibdev, cmd->seq, cmd->op, status, 0,
				       eadm_elapsed(slot->submit, now));
			complete(&cmd->done);
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
	q->cq_ci = 0;
	q->cmdsn = 0;
	q->answered = 0;
	q->armed = false;
	cmds->outstanding = 0;
	cmds->quarantined = 0;
	spin_unlock_irq(&dev->adapter.lock);
	wake_up_all(&dev->adapter.wait);
}

/**
 * erdma_cmdq_init() - allocate the command queue
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_cmdq_init(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;
	int ret;

	ret = erdma_ring_alloc(dev, &q->sq, ERDMA_CMDQ_DEPTH * ERDMA_WQEBB_SIZE);
	if (ret)
		return ret;
	ret = erdma_ring_alloc(dev, &q->cq, ERDMA_CMDQ_DEPTH * ERDMA_CQE_SIZE);
	if (ret)
		goto err;
	ret = erdma_dbrec_alloc(dev, &q->sq_rec);
	if (ret)
		goto err;
	ret = erdma_dbrec_alloc(dev, &q->cq_rec);
	if (ret)
		goto err;
	ret = eadm_recorder_init(&cmds->rec);
	if (ret)
		goto err;
	return 0;

err:
	erdma_cmdq_free(dev);
	return ret;
}

/**
 * erdma_cmdq_free() - free the command queue
 * @dev: the device
 *
 * Context: process; the adapter was halted.
 */
void erdma_cmdq_free(struct erdma_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct erdma_cmdq *q = &dev->cmdq;

	eadm_recorder_free(&cmds->rec);
	erdma_dbrec_free(dev, &q->cq_rec);
	erdma_dbrec_free(dev, &q->sq_rec);
	erdma_ring_free(dev, &q->cq);
	erdma_ring_free(dev, &q->sq);
}
