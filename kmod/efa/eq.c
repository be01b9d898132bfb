// SPDX-License-Identifier: GPL-2.0-only
/* Event queues and interrupts (hw 1.3, 3.9, 9). */

#include <linux/bitfield.h>
#include <linux/slab.h>

#include "efa.h"
#include "efa_classes.h"
#include "trace.h"

static_assert(EFA_AQ_FLAGS_PHASE == 1 && EFA_EQE_PHASE == 1);
static_assert(sizeof(struct efa_aenqe) == EFA_AQE_SIZE);
static_assert(sizeof(struct efa_eqe) == EFA_EQE_SIZE);

static const void *entry_at(const struct eadm_eq *eq, u32 index, size_t size)
{
	return eq->ring.va + (index & (eq->depth - 1)) * size;
}

static bool is_phase_new(const struct eadm_eq *eq, u32 index, bool phase)
{
	return phase == !(index & eq->depth);
}

static bool is_async_new(const struct eadm_eq *eq, u32 index)
{
	const struct efa_aenqe *e = entry_at(eq, index, sizeof(*e));

	return is_phase_new(eq, index, READ_ONCE(e->flags) & EFA_AQ_FLAGS_PHASE);
}

static bool is_completion_new(const struct eadm_eq *eq, u32 index)
{
	const struct efa_eqe *e = entry_at(eq, index, sizeof(*e));

	return is_phase_new(eq, index, le32_to_cpu(READ_ONCE(e->hdr)) & EFA_EQE_PHASE);
}

/* Copies an entry whose phase has been checked. */
static void consume(struct eadm_eq *eq, void *copy, size_t size)
{
	lockdep_assert_held(&eq->lock);
	dma_rmb();
	memcpy(copy, entry_at(eq, eq->ci, size), size);
	eq->ci++;
	eq->events++;
	eq->last_event = local_clock();
}

/*
 * Each caller takes the next entry. The check for an empty queue needs no lock: an entry that
 * arrives later raises an interrupt, and rings exist as long as interrupts are requested.
 */
static bool take_async(struct efa_eq *eq, struct efa_aenqe *copy)
{
	unsigned long flags;
	bool found;

	if (!is_async_new(&eq->base, READ_ONCE(eq->base.ci)))
		return false;
	spin_lock_irqsave(&eq->base.lock, flags);
	found = eq->base.live && is_async_new(&eq->base, eq->base.ci);
	if (found) {
		consume(&eq->base, copy, sizeof(*copy));
		/* Both numbers are updated under the same lock because readers compare them. */
		if (le16_to_cpu(copy->group) == EFA_AENQ_KEEP_ALIVE) {
			eq->keep_alives++;
			eq->last_keep_alive = eq->base.last_event;
		}
	}
	spin_unlock_irqrestore(&eq->base.lock, flags);
	return found;
}

static bool take_completion(struct efa_eq *eq, struct efa_eqe *copy)
{
	unsigned long flags;
	bool found;

	if (!is_completion_new(&eq->base, READ_ONCE(eq->base.ci)))
		return false;
	spin_lock_irqsave(&eq->base.lock, flags);
	found = eq->base.live && is_completion_new(&eq->base, eq->base.ci);
	if (found)
		consume(&eq->base, copy, sizeof(*copy));
	spin_unlock_irqrestore(&eq->base.lock, flags);
	return found;
}

/* ---- asynchronous events ------------------------------------------------- */

static void deliver_async(struct efa_dev *dev, const struct efa_aenqe *e)
{
	u16 group = le16_to_cpu(e->group), syndrome = le16_to_cpu(e->syndrome);

	trace_async_event(&dev->adapter.ibdev, group, syndrome);
	efa_debug(dev, event, "group %u, syndrome %u\n", group, syndrome);
	if (group == EFA_AENQ_KEEP_ALIVE)
		return;
	dev_warn_ratelimited(&dev->pdev->dev, "event of group %u, syndrome %u\n", group, syndrome);
	eadm_adapter_async(&dev->adapter, EADM_OBJ_DEV, 0, efa_event_class(group), group);
	/*
	 * The meaning of this event is not documented, so recovery issues a command to check
	 * whether the adapter is in service. No reset reason exists for this event.
	 */
	if (group == EFA_AENQ_FATAL_ERROR)
		eadm_queue_recover(&dev->adapter, EADM_RESET_FATAL);
}

static void consume_async(struct efa_dev *dev)
{
	struct efa_eq *eq = &dev->aenq;
	u32 budget = eq->base.depth;
	struct efa_aenqe e;
	unsigned long flags;
	bool any = false;

	while (budget-- && take_async(eq, &e)) {
		deliver_async(dev, &e);
		any = true;
	}
	if (!any)
		return;
	/* The lock ensures that the index is not from before a reset. */
	spin_lock_irqsave(&eq->base.lock, flags);
	efa_reg_write(dev, EFA_REG_AENQ_CONS_DB, eq->base.ci);
	spin_unlock_irqrestore(&eq->base.lock, flags);
}

/* An interrupt handler never runs concurrently with itself, so this needs no lock. */
static void count_interrupt(struct efa_eq *eq)
{
	WRITE_ONCE(eq->base.interrupts, eq->base.interrupts + 1);
}

static irqreturn_t mgmt_irq(int irq, void *data)
{
	struct efa_dev *dev = data;

	count_interrupt(&dev->aenq);
	efa_aq_interrupt(dev);
	consume_async(dev);
	return IRQ_HANDLED;
}

/* ---- completion events --------------------------------------------------- */

static void deliver_completion(struct efa_eq *eq, const struct efa_eqe *e)
{
	u16 cqn = le16_to_cpu(e->cqn);
	struct efa_dev *dev = adapter_to_efa(eq->base.ad);
	struct eadm_object *obj;
	struct efa_cq *cq;

	trace_comp_event(&dev->adapter.ibdev, eq->base.eqn, cqn);
	obj = eadm_table_get(&dev->adapter.cqs, cqn);
	cq = obj ? container_of(obj, struct efa_cq, obj) : NULL;
	if (cq && cq->eq == eq && !FIELD_GET(EFA_EQE_TYPE, le32_to_cpu(e->hdr)))
		efa_cq_event(cq, READ_ONCE(eq->base.last_event));
	else
		eadm_eq_unknown(&eq->base);
	if (obj)
		eadm_object_put(obj);
}

static void consume_completions(struct efa_eq *eq)
{
	u32 budget = eq->base.depth;
	struct efa_eqe e;

	while (budget-- && take_completion(eq, &e))
		deliver_completion(eq, &e);
	/* An entry that arrives after the last check raises a new interrupt. */
	if (READ_ONCE(eq->base.live))
		efa_reg_write(adapter_to_efa(eq->base.ad), EFA_REG_EQ_DB,
			      EFA_EQ_DB_ARM | FIELD_PREP(EFA_EQ_DB_EQN, eq->base.eqn));
}

static irqreturn_t comp_irq(int irq, void *data)
{
	count_interrupt(data);
	consume_completions(data);
	return IRQ_HANDLED;
}

/* ---- life ---------------------------------------------------------------- */

static int eq_init(struct efa_eq *eq, struct efa_dev *dev, u8 index, u32 depth, size_t size)
{
	eq->base.vector = index;
	eq->base.is_new = index ? is_completion_new : is_async_new;
	return eadm_eq_init(&eq->base, &dev->adapter, index,
			    index ? EADM_EQ_ROLE_COMPLETION : EADM_EQ_ROLE_ASYNC, depth,
			    depth * size);
}

/**
 * efa_aenq_init() - allocate the queue of asynchronous events
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int efa_aenq_init(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	return eq_init(&dev->aenq, dev, 0, EFA_AENQ_DEPTH, EFA_AQE_SIZE);
}

/**
 * efa_mgmt_request() - request the interrupt of the admin queue and asynchronous events
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_mgmt_request(struct efa_dev *dev)
{
	struct efa_eq *eq = &dev->aenq;

	snprintf(eq->base.irq_name, sizeof(eq->base.irq_name), "efa-mgmnt@pci:%s",
		 pci_name(dev->pdev));
	return eadm_eq_request(&eq->base, mgmt_irq, dev, cpumask_first(cpu_online_mask));
}

/**
 * efa_eqs_init() - allocate event queues for completions
 * @dev: the device, whose limits have been read
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller must call efa_eqs_free() in either case.
 */
int efa_eqs_init(struct efa_dev *dev)
{
	u32 n = min(le32_to_cpu(dev->caps.events.max_eq), dev->adapter.vectors - 1), i;
	u32 depth = le32_to_cpu(dev->caps.events.max_eq_depth);
	int ret;

	if (!n)
		return 0;
	dev->eqs = kcalloc(n, sizeof(*dev->eqs), GFP_KERNEL);
	if (!dev->eqs)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ret = eq_init(&dev->eqs[i], dev, i + 1, depth, EFA_EQE_SIZE);
		if (ret)
			return ret;
		dev->nr_eqs++;
	}
	return 0;
}

/**
 * efa_eqs_free() - free all event queues
 * @ad: the adapter
 *
 * Context: process; the adapter is halted.
 */
void efa_eqs_free(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 i;

	for (i = 0; i < dev->nr_eqs; i++)
		eadm_ring_free(ad, &dev->eqs[i].base.ring);
	kfree(dev->eqs);
	eadm_ring_free(ad, &dev->aenq.base.ring);
}

/**
 * efa_eqs_request() - request the interrupts of completion event queues
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno; the caller must call efa_eqs_stop() in either case.
 */
int efa_eqs_request(struct efa_dev *dev)
{
	struct efa_eq *eq;
	int ret;
	u32 i;

	for (i = 0; i < dev->nr_eqs; i++) {
		eq = &dev->eqs[i];
		snprintf(eq->base.irq_name, sizeof(eq->base.irq_name), "efa-comp%u@pci:%s", i,
			 pci_name(dev->pdev));
		ret = eadm_eq_request(&eq->base, comp_irq, eq,
				      cpumask_local_spread(i, NUMA_NO_NODE));
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * efa_eqs_create() - create the completion event queues in the adapter
 * @dev: the device; the rings are empty
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_eqs_create(struct efa_dev *dev)
{
	int ret;
	u32 i;

	for (i = 0; i < dev->nr_eqs; i++) {
		ret = efa_cmd_create_eq(dev, &dev->eqs[i]);
		if (ret)
			return ret;
		eadm_eq_set_live(&dev->eqs[i].base, true);
		consume_completions(&dev->eqs[i]);
	}
	return 0;
}

/**
 * efa_eqs_stop() - take all completion event queues out of service
 * @dev: the device
 * @destroy: destroy them in the adapter, too
 *
 * Context: process.
 */
void efa_eqs_stop(struct efa_dev *dev, bool destroy)
{
	struct efa_eq *eq;
	int ret = 0;
	u32 i;

	for (i = 0; i < dev->nr_eqs; i++) {
		eq = &dev->eqs[i];
		eadm_eq_release(&eq->base, eq);
		/* A reset follows, so stop at the first failure. */
		if (destroy && eq->base.live && !ret)
			ret = efa_cmd_destroy_eq(dev, eq);
		eadm_eq_set_live(&eq->base, false);
	}
}

static void eq_reset(struct efa_eq *eq, bool live)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->base.lock, flags);
	memset(eq->base.ring.va, 0, eq->base.ring.size);
	eq->base.ci = 0;
	eq->base.live = live;
	eq->base.waiting = false;
	spin_unlock_irqrestore(&eq->base.lock, flags);
}

/**
 * efa_eqs_reset() - empty all event queues
 * @dev: the device
 *
 * Context: process; the adapter is halted.
 */
void efa_eqs_reset(struct efa_dev *dev)
{
	u32 i;

	eq_reset(&dev->aenq, true);
	for (i = 0; i < dev->nr_eqs; i++)
		eq_reset(&dev->eqs[i], false);
}

/* Returns true if the same entries were pending at the last check, with no interrupt since then. */
static bool is_stuck(struct efa_eq *eq)
{
	unsigned long flags;
	bool stuck, pending;

	spin_lock_irqsave(&eq->base.lock, flags);
	pending = eq->base.live && eq->base.is_new(&eq->base, eq->base.ci);
	stuck = pending && eq->base.waiting &&
		READ_ONCE(eq->base.interrupts) == eq->base.interrupts_then;
	eq->base.waiting = pending;
	eq->base.interrupts_then = READ_ONCE(eq->base.interrupts);
	if (stuck)
		eadm_eq_suspect(&eq->base);
	spin_unlock_irqrestore(&eq->base.lock, flags);
	return stuck;
}

/**
 * efa_eqs_kick() - consume entries whose interrupt was lost
 * @ad: the adapter
 *
 * Context: process; called periodically.
 */
void efa_eqs_kick(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 i;

	if (is_stuck(&dev->aenq))
		consume_async(dev);
	for (i = 0; i < dev->nr_eqs; i++)
		if (is_stuck(&dev->eqs[i]))
			consume_completions(&dev->eqs[i]);
}
