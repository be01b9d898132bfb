// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin queue (hw 3): slots, completions, timeouts.
 *
 * A command ID consists of a slot number and a use count of the slot, so that the waiting command
 * is found from a completion using driver memory alone. Slots are independent of entries in the
 * command ring: ring entries are used in order, slots as they become free. A slot whose command was
 * lost is not reused before its late completion has arrived. Until then, the pending completion
 * needs room in the completion ring, which has as many entries as there are slots. So the number of
 * commands in flight is limited to the number of the remaining slots.
 */

#include <linux/bitfield.h>
#include <linux/crc16.h>

#include "efa.h"
#include "efa_classes.h"

#define LOOK_MS		100
#define ROOM_MS		1000

/*
 * Timeout of commands issued by recovery. An adapter that is merely slow must not be reset, because
 * all objects of processes would be lost.
 */
#define RECOVERY_TIMEOUT_MS	5000

static_assert(EFA_AQ_DEPTH - 1 == EFA_AQ_ID_SLOT);

static u8 phase_of(u32 index)
{
	return index & EFA_AQ_DEPTH ? 0 : EFA_AQ_FLAGS_PHASE;
}

/*
 * The previous command in a ring entry has been read if a later command has completed, because the
 * adapter reads commands in order.
 */
static bool place_is_free(const struct efa_aq *q)
{
	return q->pi < EFA_AQ_DEPTH || (s32)(q->read - (q->pi - EFA_AQ_DEPTH)) > 0;
}

static bool has_room(struct eadm_adapter *ad)
{
	const struct efa_aq *q = &adapter_to_efa(ad)->aq;

	return place_is_free(q) && !bitmap_full(q->used, EFA_AQ_DEPTH);
}

static void submit(struct eadm_adapter *ad, struct eadm_cmd *base, bool polled)
{
	struct efa_cmd *cmd = container_of(base, struct efa_cmd, base);
	struct efa_dev *dev = adapter_to_efa(ad);
	struct efa_aq *q = &dev->aq;
	u32 n = find_first_zero_bit(q->used, EFA_AQ_DEPTH);
	struct efa_aq_slot *slot = &q->slots[n];

	lockdep_assert_held(&ad->lock);
	__set_bit(n, q->used);
	slot->index = q->pi;
	slot->id = FIELD_PREP(EFA_AQ_ID_SLOT, n) |
		   FIELD_PREP(EFA_AQ_ID_USE, slot->use++ & FIELD_MAX(EFA_AQ_ID_USE));
	cmd->req.hdr.id = cpu_to_le16(slot->id);
	cmd->req.hdr.flags |= phase_of(q->pi);
	memcpy(q->sq.va + q->pi % EFA_AQ_DEPTH * EFA_AQE_SIZE, &cmd->req, EFA_AQE_SIZE);
	q->pi++;
	eadm_cmd_submitted(ad, base, &slot->base, slot->id, polled);
	/* Write the command before the doorbell that announces it. */
	dma_wmb();
	efa_reg_write(dev, EFA_REG_AQ_PROD_DB, (u16)q->pi);
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
	slot->base.lost = false;
	slot->list = NULL;
	efa_orphan_put(slot->orphan);
	slot->orphan = NULL;
	__clear_bit(slot - q->slots, q->used);
}

static void complete_cmd(struct efa_dev *dev, struct efa_aq_slot *slot,
			 const struct efa_acqe *acqe, u64 now)
{
	struct efa_cmd *cmd = container_of(slot->base.cmd, struct efa_cmd, base);
	u8 status = acqe->hdr.status;

	cmd->resp.raw = *acqe;
	eadm_cmd_answered(&dev->adapter, &slot->base, now, status_to_errno(status), status, acqe,
			  sizeof(*acqe));
	free_slot(dev, slot);
}

static void complete_lost(struct efa_dev *dev, struct efa_aq_slot *slot,
			  const struct efa_acqe *acqe, u64 now)
{
	struct efa_aq *q = &dev->aq;

	eadm_cmd_late(&dev->adapter, slot->base.seq, now, acqe->hdr.status, acqe, sizeof(*acqe));
	if (slot->list)
		list_add(&slot->list->link, &q->done);
	/* The adapter does not use an object that it has destroyed or failed to create. */
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

	if (!is_intact(dev, acqe) || !(slot->base.cmd || slot->base.lost) || slot->id != id) {
		cmds->spurious++;
		cmds->last_spurious = now;
		return;
	}
	cmds->last_comp = now;
	if ((s32)(slot->index + 1 - q->read) > 0)
		q->read = slot->index + 1;
	if (slot->base.lost)
		complete_lost(dev, slot, acqe, now);
	else
		complete_cmd(dev, slot, acqe, now);
}

/* Consumes the entries of the completion ring, at most one ring full. */
static void process(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
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
		/* Read the phase before the rest of the entry. */
		dma_rmb();
		acqe = *entry;
		q->ci++;
		any = true;
		process_entry(dev, &acqe);
	}
	/* Waiters were added under the lock, so this check sees all of them. */
	if (any && waitqueue_active(&dev->adapter.wait))
		wake_up(&dev->adapter.wait);
}

/**
 * efa_aq_interrupt() - consume completions
 * @dev: the device
 *
 * Admin queue part of the interrupt handler.
 *
 * Context: any.
 */
void efa_aq_interrupt(struct efa_dev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->adapter.lock, flags);
	process(&dev->adapter);
	spin_unlock_irqrestore(&dev->adapter.lock, flags);
}

static void note_missed(struct eadm_adapter *ad)
{
	eadm_eq_suspect(&adapter_to_efa(ad)->aenq.base);
}

/* Only a late completion can release the memory, and none can arrive if the adapter is gone. */
static void lose(struct eadm_adapter *ad, struct eadm_cmd *base)
{
	struct efa_aq_slot *slot = container_of(base->slot, struct efa_aq_slot, base);
	struct efa_cmd *cmd = container_of(base, struct efa_cmd, base);

	lockdep_assert_held(&ad->lock);
	slot->list = cmd->list;
	cmd->list = NULL;
	slot->creates = cmd->creates;
	if (!cmd->orphan || base->status != -ETIMEDOUT)
		return;
	refcount_inc(&cmd->orphan->refs);
	slot->orphan = cmd->orphan;
	cmd->mem->orphan = cmd->orphan;
	cmd->orphan = NULL;
}

/**
 * efa_aq_exec() - issue a command and wait for its completion
 * @dev: the device
 * @cmd: the command: request, length, opcode and possibly a list
 *
 * Context: process.
 * Return: see eadm_cmd_exec().
 */
int efa_aq_exec(struct efa_dev *dev, struct efa_cmd *cmd)
{
	struct efa_aq *q = &dev->aq;
	int ret;

	cmd->base.op = cmd->req.hdr.opcode;
	cmd->base.request = &cmd->req;
	cmd->orphan = NULL;
	if (cmd->mem)
		cmd->orphan = xchg(&q->spare, NULL) ?: efa_orphan_alloc();
	ret = eadm_cmd_exec(&dev->adapter, &cmd->base);
	/* Only a lost command needs the record, so keep the record for the next command. */
	if (cmd->orphan && cmpxchg(&q->spare, NULL, cmd->orphan))
		efa_orphan_put(cmd->orphan);
	return ret;
}

/* Lists are parked; see efa_aq_lists_free(). */
static void reset(struct eadm_adapter *ad, int status)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	struct efa_aq *q = &dev->aq;
	struct efa_aq_slot *slot;
	u64 now = local_clock();
	struct efa_cmd *cmd;
	int i;

	lockdep_assert_held(&ad->lock);
	for (i = 0; i < ARRAY_SIZE(q->slots); i++) {
		slot = &q->slots[i];
		if (slot->base.cmd) {
			cmd = container_of(slot->base.cmd, struct efa_cmd, base);
			slot->list = cmd->list;
			cmd->list = NULL;
			eadm_cmd_abort(ad, &slot->base, now, status);
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
}

static struct eadm_slot *slot_at(struct eadm_adapter *ad, u32 i)
{
	struct efa_aq *q = &adapter_to_efa(ad)->aq;

	return i < ARRAY_SIZE(q->slots) ? &q->slots[i].base : NULL;
}

const struct eadm_queue_ops efa_queue_ops = {
	.name = "admin queue",
	.look_ms = LOOK_MS,
	.recovery_ms = RECOVERY_TIMEOUT_MS,
	.room_ms = ROOM_MS,
	.op_class = efa_op_class,
	.cause_class = efa_cmd_cause_class,
	.has_room = has_room,
	.submit = submit,
	.process = process,
	.lose = lose,
	.missed = note_missed,
	.slot = slot_at,
	.reset = reset,
};

/**
 * efa_aq_lists_free() - free the lists of commands that a reset ended
 * @dev: the device, whose adapter is known to have discarded them
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
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_aq_init(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	struct efa_aq *q = &dev->aq;
	int ret;

	INIT_LIST_HEAD(&q->parked);
	INIT_LIST_HEAD(&q->done);
	INIT_WORK(&q->free_done, free_done_work);
	ret = eadm_ring_alloc(ad, &q->sq, EFA_AQ_DEPTH * EFA_AQE_SIZE);
	if (!ret)
		ret = eadm_ring_alloc(ad, &q->cq, EFA_AQ_DEPTH * EFA_AQE_SIZE);
	if (ret)
		efa_aq_free(ad);
	return ret;
}

/**
 * efa_aq_free() - free the admin queue
 * @ad: the adapter
 *
 * Context: process; the adapter is halted.
 */
void efa_aq_free(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	struct efa_aq *q = &dev->aq;

	flush_work(&q->free_done);
	efa_orphan_put(q->spare);
	q->spare = NULL;
	eadm_ring_free(ad, &q->cq);
	eadm_ring_free(ad, &q->sq);
}
