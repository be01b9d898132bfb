// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin queue (hw 3): slots, completions, timeouts.
 *
 * A command id is a slot number and a count of the slot's uses, so that a completion
 * leads to the waiting command through driver memory alone. Slots are independent of
 * entries in the command ring: ring entries are used in order, slots as they become free.
 * A slot whose command was lost is not reused before its late answer has arrived. Until
 * then the adapter still owes a completion, for which it needs room in a completion ring
 * with as many entries as there are slots. So the number of commands in flight is limited
 * to the number of the other slots.
 */

#include <linux/bitfield.h>
#include <linux/crc16.h>
#include <linux/delay.h>

#include "efa.h"
#include "trace.h"

/*
 * How long an issuer waits before it checks the queue and the adapter, and how often
 * issuers are woken to see whether that time has passed: a timer per issuer would add
 * cost to every command.
 */
#define FIRST_LOOK_MS	100u
#define LOOK_PERIOD_MS	50u
#define ROOM_MS		1000

/*
 * Timeout of recovery's own commands. An adapter that is merely slow must not be reset:
 * all objects that processes have in it would be lost.
 */
#define RECOVERY_TIMEOUT_MS	5000u

static_assert(EFA_AQ_DEPTH - 1 == EFA_AQ_ID_SLOT);

static u8 phase_of(u32 index)
{
	return index & EFA_AQ_DEPTH ? 0 : EFA_AQ_FLAGS_PHASE;
}

/**
 * efa_cmd_timeout_ms() - how long a command may take
 * @dev: the device
 *
 * Context: any.
 */
u32 efa_cmd_timeout_ms(const struct efa_dev *dev)
{
	return READ_ONCE(dev->hw.cmd_timeout);
}

/*
 * The previous command in a ring entry has been read if a later one was answered: the
 * adapter reads commands in order.
 */
static bool place_is_free(const struct efa_aq *q)
{
	return q->pi < EFA_AQ_DEPTH || (s32)(q->read - (q->pi - EFA_AQ_DEPTH)) > 0;
}

/**
 * efa_aq_has_room() - whether a command can be submitted
 * @dev: the device
 *
 * Context: any, with the adapter's lock held.
 */
bool efa_aq_has_room(const struct efa_dev *dev)
{
	const struct efa_aq *q = &dev->aq;

	return place_is_free(q) && !bitmap_full(q->used, EFA_AQ_DEPTH);
}

static void schedule_look(struct efa_dev *dev)
{
	queue_delayed_work(dev->adapter.wq, &dev->aq.look, msecs_to_jiffies(LOOK_PERIOD_MS));
}

/* Wakes issuers, which then check for themselves. */
static void look_work(struct work_struct *work)
{
	struct efa_dev *dev = container_of(to_delayed_work(work), struct efa_dev, aq.look);
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;
	u32 n;

	spin_lock_irq(&dev->adapter.lock);
	for_each_set_bit(n, q->used, EFA_AQ_DEPTH)
		if (q->slots[n].cmd)
			wake_up_process(q->slots[n].cmd->waiter);
	if (cmds->outstanding)
		schedule_look(dev);
	spin_unlock_irq(&dev->adapter.lock);
}

/* The caller has checked that there is room. */
static void submit(struct efa_dev *dev, struct efa_cmd *cmd, bool polled)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;
	u32 n = find_first_zero_bit(q->used, EFA_AQ_DEPTH);
	struct efa_aq_slot *slot = &q->slots[n];
	u64 now = local_clock();

	lockdep_assert_held(&dev->adapter.lock);
	__set_bit(n, q->used);
	cmd->waiter = current;
	slot->cmd = cmd;
	slot->index = q->pi;
	slot->submit = now;
	slot->id = FIELD_PREP(EFA_AQ_ID_SLOT, n) |
		   FIELD_PREP(EFA_AQ_ID_USE, slot->use++ & FIELD_MAX(EFA_AQ_ID_USE));
	cmd->slot = n;
	cmd->req.hdr.id = cpu_to_le16(slot->id);
	cmd->req.hdr.flags |= phase_of(q->pi);
	memcpy(q->sq.va + q->pi % EFA_AQ_DEPTH * EFA_AQE_SIZE, &cmd->req, EFA_AQE_SIZE);
	q->pi++;
	cmds->submitted++;
	cmds->last_submit = now;
	cmds->outstanding++;
	cmds->max_outstanding = max(cmds->max_outstanding, cmds->outstanding);
	slot->seq = eadm_recorder_submit(&cmds->rec, now, cmd->req.hdr.opcode, slot->id,
					 cmds->outstanding, polled, &cmd->req, cmd->len);
	cmd->seq = slot->seq;
	trace_cmd_submit(&dev->ibdev, cmd->seq, cmd->req.hdr.opcode, slot->id, cmds->outstanding);
	/* Write the command before the doorbell that announces it. */
	dma_wmb();
	efa_reg_write(dev, EFA_REG_AQ_PROD_DB, (u16)q->pi);
	if (!polled && !delayed_work_pending(&q->look))
		schedule_look(dev);
}

static int status_to_errno(u8 status)
{
	switch (status) {
	case EFA_ST_SUCCESS:
		return 0;
	case EFA_ST_NO_RESOURCE:
		return -ENOMEM;
	case EFA_ST_UNSUPPORTED:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

static void free_slot(struct efa_dev *dev, struct efa_aq_slot *slot)
{
	struct efa_aq *q = &dev->aq;

	lockdep_assert_held(&dev->adapter.lock);
	slot->cmd = NULL;
	slot->lost = false;
	slot->list = NULL;
	efa_orphan_put(slot->orphan);
	slot->orphan = NULL;
	__clear_bit(slot - q->slots, q->used);
}

/*
 * The issuer may return at once, and its task may exit: the task stays valid until the
 * admin queue's lock is released, as tasks are freed by RCU.
 */
static void end_cmd(struct efa_cmd *cmd)
{
	struct task_struct *waiter = cmd->waiter;

	/* Write the answer before @done; pairs with is_done(). */
	smp_store_release(&cmd->done, true);
	wake_up_process(waiter);
}

static bool is_done(const struct efa_cmd *cmd)
{
	/* Pairs with end_cmd(). */
	return smp_load_acquire(&cmd->done);
}

static void complete_cmd(struct efa_dev *dev, struct efa_aq_slot *slot,
			 const struct efa_acqe *acqe, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_cmd *cmd = slot->cmd;
	u8 status = acqe->hdr.status;

	cmds->outstanding--;
	cmds->completed++;
	if (status)
		cmds->errors++;
	cmd->answered = true;
	cmd->status = status_to_errno(status);
	cmd->resp.raw = *acqe;
	eadm_recorder_done(&cmds->rec, slot->seq, now, cmd->status, status, acqe, sizeof(*acqe));
	trace_cmd_done(&dev->ibdev, cmd->seq, cmd->req.hdr.opcode, cmd->status, status,
		       eadm_elapsed(slot->submit, now));
	free_slot(dev, slot);
	end_cmd(cmd);
}

static void complete_lost(struct efa_dev *dev, struct efa_aq_slot *slot,
			  const struct efa_acqe *acqe, u64 now)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;

	cmds->late++;
	cmds->quarantined--;
	eadm_recorder_late(&cmds->rec, slot->seq, now, acqe->hdr.status, acqe, sizeof(*acqe));
	if (slot->list)
		list_add(&slot->list->link, &q->done);
	/* The adapter does not know of an object that it has destroyed, or refused to create. */
	if (slot->orphan && slot->creates == !!acqe->hdr.status)
		WRITE_ONCE(slot->orphan->kept.released, true);
	if (slot->list || slot->orphan)
		queue_work(dev->adapter.wq, &q->free_done);
	free_slot(dev, slot);
}

static bool is_intact(const struct efa_dev *dev, struct efa_acqe *acqe)
{
	u16 checksum = le16_to_cpu(acqe->hdr.checksum);

	if (dev->caps.version < EFA_VERSION_CHECKSUM)
		return true;
	acqe->hdr.checksum = 0;
	return checksum == (u16)~crc16(EFA_CHECKSUM_SEED, (const u8 *)acqe, sizeof(*acqe));
}

static void process_entry(struct efa_dev *dev, struct efa_acqe *acqe)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	u16 id = le16_to_cpu(acqe->hdr.id) & EFA_AQ_ID_CMD_ID;
	struct efa_aq *q = &dev->aq;
	struct efa_aq_slot *slot = &q->slots[FIELD_GET(EFA_AQ_ID_SLOT, id)];
	u64 now = local_clock();

	if (!is_intact(dev, acqe) || !(slot->cmd || slot->lost) || slot->id != id) {
		cmds->spurious++;
		cmds->last_spurious = now;
		return;
	}
	cmds->last_comp = now;
	if ((s32)(slot->index + 1 - q->read) > 0)
		q->read = slot->index + 1;
	if (slot->lost)
		complete_lost(dev, slot, acqe, now);
	else
		complete_cmd(dev, slot, acqe, now);
}

/* Consumes the entries of the completion ring, at most one ring full. */
static void process_cq(struct efa_dev *dev)
{
	struct efa_aq *q = &dev->aq;
	const struct efa_acqe *ring = q->cq.va, *entry;
	int budget = EFA_AQ_DEPTH;
	struct efa_acqe acqe;
	bool any = false;
	u8 flags;

	lockdep_assert_held(&dev->adapter.lock);
	while (budget--) {
		entry = &ring[q->ci % EFA_AQ_DEPTH];
		flags = READ_ONCE(entry->hdr.flags);
		if ((flags & EFA_AQ_FLAGS_PHASE) != phase_of(q->ci))
			break;
		/* Read the rest of the entry after its phase. */
		dma_rmb();
		acqe = *entry;
		q->ci++;
		any = true;
		process_entry(dev, &acqe);
	}
	/* Waiters were added under the lock, so this sees all of them. */
	if (any && waitqueue_active(&dev->adapter.wait))
		wake_up(&dev->adapter.wait);
}

/**
 * efa_aq_interrupt() - consume completions
 * @dev: the device
 *
 * The admin queue's part of the interrupt handler.
 *
 * Context: any.
 */
void efa_aq_interrupt(struct efa_dev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->adapter.lock, flags);
	process_cq(dev);
	spin_unlock_irqrestore(&dev->adapter.lock, flags);
}

/* Polls for an answer that no interrupt announced. */
static bool look(struct efa_dev *dev, struct efa_cmd *cmd)
{
	bool done;

	spin_lock_irq(&dev->adapter.lock);
	done = is_done(cmd);
	if (!done) {
		process_cq(dev);
		done = is_done(cmd);
		if (done && dev->adapter.state == EADM_QUEUE_EVENT)
			eadm_missed_suspect(&dev->aenq.missed, dev->aenq.irq);
	}
	spin_unlock_irq(&dev->adapter.lock);
	return done;
}

/* @orphan: NULL, or what the late answer will lead to. */
static void note_lost(struct efa_dev *dev, struct efa_aq_slot *slot, struct efa_orphan *orphan)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_cmd *cmd = slot->cmd;

	lockdep_assert_held(&dev->adapter.lock);
	slot->cmd = NULL;
	slot->lost = true;
	slot->list = cmd->list;
	cmd->list = NULL;
	slot->orphan = efa_orphan_get(orphan);
	slot->creates = cmd->creates;
	if (orphan)
		cmd->mem->orphan = orphan;
	cmds->outstanding--;
	cmds->quarantined++;
}

/*
 * Gives up a command, unless it has been answered by now. @status: -ETIMEDOUT, or -ENODEV
 * when the adapter is gone.
 */
static void give_up(struct efa_dev *dev, struct efa_cmd *cmd, int status)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_orphan *orphan = cmd->mem && status == -ETIMEDOUT ? efa_orphan_alloc() : NULL;
	struct efa_aq *q = &dev->aq;
	struct efa_aq_slot *slot;
	u64 now = local_clock();

	spin_lock_irq(&dev->adapter.lock);
	process_cq(dev);
	if (is_done(cmd)) {
		spin_unlock_irq(&dev->adapter.lock);
		efa_orphan_put(orphan);
		return;
	}
	slot = &q->slots[cmd->slot];
	cmd->status = status;
	note_lost(dev, slot, orphan);
	if (status == -ETIMEDOUT) {
		cmds->timeouts++;
		eadm_recorder_timeout(&cmds->rec, slot->seq, now, status);
		eadm_queue_recover_locked(&dev->adapter, EADM_RESET_COMMAND_LOST);
	} else {
		eadm_recorder_abort(&cmds->rec, slot->seq, now, status);
	}
	trace_cmd_done(&dev->ibdev, cmd->seq, cmd->req.hdr.opcode, status, 0,
		       eadm_elapsed(slot->submit, now));
	spin_unlock_irq(&dev->adapter.lock);
	if (status != -ETIMEDOUT)
		return;
	ibdev_err(&dev->ibdev, "command %u (number %llu) was not answered\n",
		  cmd->req.hdr.opcode, cmd->seq);
	efa_diag_command(dev, EADM_DIAG_CMD_TIMEOUT, cmd);
}

static void sleep_until_woken(const struct efa_cmd *cmd)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	if (!is_done(cmd))
		schedule();
	__set_current_state(TASK_RUNNING);
}

static void wait_event_mode(struct efa_dev *dev, struct efa_cmd *cmd)
{
	unsigned long begin = jiffies;
	u32 limit;

	while (!is_done(cmd)) {
		sleep_until_woken(cmd);
		if (is_done(cmd))
			return;
		/* The answer may have arrived, with its interrupt still pending. */
		limit = efa_cmd_timeout_ms(dev);
		if (time_before(jiffies, begin + msecs_to_jiffies(min(limit, FIRST_LOOK_MS))))
			continue;
		if (look(dev, cmd))
			return;
		if (eadm_queue_is_hopeless(&dev->adapter)) {
			give_up(dev, cmd, -ENODEV);
			return;
		}
		if (time_after_eq(jiffies, begin + msecs_to_jiffies(limit))) {
			give_up(dev, cmd, -ETIMEDOUT);
			return;
		}
	}
}

static void wait_polled(struct efa_dev *dev, struct efa_cmd *cmd, unsigned int timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	unsigned int us = 10;

	while (!look(dev, cmd)) {
		if (eadm_queue_is_hopeless(&dev->adapter)) {
			give_up(dev, cmd, -ENODEV);
			return;
		}
		if (time_after_eq(jiffies, deadline)) {
			give_up(dev, cmd, -ETIMEDOUT);
			return;
		}
		usleep_range(us, 2 * us);
		us = min(2 * us, 5000u);
	}
}

/**
 * efa_aq_make_room() - wait for room for a command of recovery
 * @dev: the device
 *
 * Context: process, with the adapter's lock held, which is dropped meanwhile.
 * Return: 0; -ENODEV when the adapter is gone; -EBUSY after a short time.
 */
int efa_aq_make_room(struct efa_dev *dev)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(ROOM_MS);

	lockdep_assert_held(&dev->adapter.lock);
	for (;;) {
		process_cq(dev);
		if (READ_ONCE(dev->adapter.gone))
			return -ENODEV;
		if (efa_aq_has_room(dev))
			return 0;
		if (time_after_eq(jiffies, deadline))
			return -EBUSY;
		spin_unlock_irq(&dev->adapter.lock);
		usleep_range(500, 1000);
		spin_lock_irq(&dev->adapter.lock);
	}
}

static u32 recovery_timeout_ms(const struct efa_dev *dev)
{
	return min(efa_cmd_timeout_ms(dev), RECOVERY_TIMEOUT_MS);
}

/**
 * efa_aq_exec() - issue a command and wait for its answer
 * @dev: the device
 * @cmd: the command: request, length, opcode and possibly a list
 *
 * During recovery, commands wait for its end, except recovery's own: these are polled
 * for, with a short timeout.
 *
 * Context: process.
 * Return: 0; with @cmd->answered, what a refusal means; -ETIMEDOUT when it was not
 * answered, so that its effect is unknown; -ECANCELED when a reset came in between;
 * -ENODEV when there is no service.
 */
int efa_aq_exec(struct efa_dev *dev, struct efa_cmd *cmd)
{
	bool polled, recovery;
	int ret;

	might_sleep();
	cmd->answered = false;
	cmd->done = false;
	spin_lock_irq(&dev->adapter.lock);
	ret = eadm_queue_admit(&dev->adapter, &cmd->issue);
	recovery = dev->adapter.recoverer == current;
	polled = recovery || dev->adapter.state == EADM_QUEUE_POLLING;
	if (!ret)
		submit(dev, cmd, polled);
	spin_unlock_irq(&dev->adapter.lock);
	if (ret)
		return ret;
	if (polled)
		wait_polled(dev, cmd, recovery ? recovery_timeout_ms(dev) :
						 efa_cmd_timeout_ms(dev));
	else
		wait_event_mode(dev, cmd);
	efa_debug(dev, cmd, "%u (number %llu): %d\n", cmd->req.hdr.opcode, cmd->seq, cmd->status);
	/* A command that was lost is done, too. */
	if (cmd->status)
		efa_failed_command(dev, cmd);
	if (eadm_diag_is_followed(&dev->adapter.diag))
		efa_diag_command(dev, EADM_DIAG_CMD_DONE, cmd);
	return cmd->status;
}

/**
 * efa_aq_reset() - give up all commands and empty the rings
 * @dev: the device
 * @status: result for the waiters
 *
 * Lists are parked, see efa_aq_lists_free().
 *
 * Context: process; the adapter was halted.
 */
void efa_aq_reset(struct efa_dev *dev, int status)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;
	struct efa_aq_slot *slot;
	u64 now = local_clock();
	struct efa_cmd *cmd;
	int i;

	spin_lock_irq(&dev->adapter.lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++) {
		slot = &q->slots[i];
		cmd = slot->cmd;
		if (cmd) {
			slot->list = cmd->list;
			cmd->list = NULL;
			cmd->status = status;
			eadm_recorder_abort(&cmds->rec, slot->seq, now, status);
			trace_cmd_done(&dev->ibdev, cmd->seq, cmd->req.hdr.opcode, status, 0,
				       eadm_elapsed(slot->submit, now));
			end_cmd(cmd);
		}
		if (slot->list)
			list_add(&slot->list->link, &q->parked);
		free_slot(dev, slot);
	}
	memset(q->sq.va, 0, q->sq.size);
	memset(q->cq.va, 0, q->cq.size);
	q->pi = 0;
	q->ci = 0;
	q->read = 0;
	cmds->outstanding = 0;
	cmds->quarantined = 0;
	spin_unlock_irq(&dev->adapter.lock);
	wake_up_all(&dev->adapter.wait);
}

/**
 * efa_aq_lists_free() - free the lists of commands that a reset ended
 * @dev: the device, whose adapter is known to have forgotten them
 *
 * Context: process.
 */
void efa_aq_lists_free(struct efa_dev *dev)
{
	struct efa_aq *q = &dev->aq;

	spin_lock_irq(&dev->adapter.lock);
	list_splice_init(&q->parked, &q->done);
	spin_unlock_irq(&dev->adapter.lock);
	queue_work(dev->adapter.wq, &q->free_done);
}

static void free_done_work(struct work_struct *work)
{
	struct efa_dev *dev = container_of(work, struct efa_dev, aq.free_done);
	struct efa_list *list, *tmp;
	LIST_HEAD(done);

	spin_lock_irq(&dev->adapter.lock);
	list_splice_init(&dev->aq.done, &done);
	spin_unlock_irq(&dev->adapter.lock);
	list_for_each_entry_safe(list, tmp, &done, link)
		efa_list_free(dev, list);
	eadm_orphans_sweep(&dev->adapter);
}

/**
 * efa_aq_init() - allocate the admin queue
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_aq_init(struct efa_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;
	int ret;

	INIT_LIST_HEAD(&q->parked);
	INIT_LIST_HEAD(&q->done);
	INIT_WORK(&q->free_done, free_done_work);
	INIT_DELAYED_WORK(&q->look, look_work);
	ret = efa_ring_alloc(dev, &q->sq, EFA_AQ_DEPTH * EFA_AQE_SIZE);
	if (ret)
		return ret;
	ret = efa_ring_alloc(dev, &q->cq, EFA_AQ_DEPTH * EFA_AQE_SIZE);
	if (ret)
		goto err;
	ret = eadm_recorder_init(&cmds->rec);
	if (ret)
		goto err;
	return 0;

err:
	efa_aq_free(dev);
	return ret;
}

/**
 * efa_aq_free() - free the admin queue
 * @dev: the device
 *
 * Context: process; the adapter was halted.
 */
void efa_aq_free(struct efa_dev *dev)
{
	struct eadm_commands *cmds = &dev->adapter.cmds;
	struct efa_aq *q = &dev->aq;

	cancel_delayed_work_sync(&q->look);
	flush_work(&q->free_done);
	eadm_recorder_free(&cmds->rec);
	efa_ring_free(dev, &q->cq);
	efa_ring_free(dev, &q->sq);
}
