// SPDX-License-Identifier: GPL-2.0-only
/* Event queues and interrupts (hw 8, 1.3). */

#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>

#include "erdma.h"
#include "trace.h"

/* Entries consumed per run; the adapter interrupts again for the rest. */
#define EQ_BUDGET	16

/*
 * All entries are 16 bytes with the owner bit at the top of the first 32-bit
 * word. The next valid one, or NULL.
 */
static const void *eq_peek(const struct erdma_eq *eq, u16 ci)
{
	const void *entry = eq->ring.va + (ci & (eq->depth - 1)) * ERDMA_EQE_SIZE;
	u32 word = le32_to_cpu(READ_ONCE(*(const __le32 *)entry));

	return erdma_hw_owned(word & ERDMA_AEQE_OWNER, ci, eq->depth) ? entry : NULL;
}

static const void *eq_next(struct erdma_eq *eq)
{
	const void *entry = eq_peek(eq, eq->ci);

	lockdep_assert_held(&eq->lock);
	if (!entry)
		return NULL;
	/* The rest of the entry after its owner bit. */
	dma_rmb();
	eq->ci++;
	eq->events++;
	eq->last_event = local_clock();
	return entry;
}

/**
 * erdma_eq_consume() - consume all entries of an EQ that say nothing more
 * @eq: the EQ
 *
 * Context: any.
 * Return: how many there were.
 */
u32 erdma_eq_consume(struct erdma_eq *eq)
{
	unsigned long flags;
	u32 n = 0;

	spin_lock_irqsave(&eq->lock, flags);
	while (n < eq->depth && eq_next(eq))
		n++;
	spin_unlock_irqrestore(&eq->lock, flags);
	return n;
}

/**
 * erdma_eq_arm() - ask for the next interrupt
 * @eq: the EQ
 *
 * Context: any.
 */
void erdma_eq_arm(struct erdma_eq *eq)
{
	unsigned long flags;
	u64 db;

	spin_lock_irqsave(&eq->lock, flags);
	if (eq->live) {
		db = ERDMA_EQ_DB_ARM | FIELD_PREP(ERDMA_EQ_DB_CI, eq->ci);
		WRITE_ONCE(*eq->rec.va, cpu_to_le64(db));
		writeq(db, eq->db);
	}
	spin_unlock_irqrestore(&eq->lock, flags);
}

/**
 * erdma_eq_pending() - count the entries that were not consumed yet
 * @eq: the EQ
 *
 * Context: any.
 */
u32 erdma_eq_pending(struct erdma_eq *eq)
{
	unsigned long flags;
	u32 n = 0;

	spin_lock_irqsave(&eq->lock, flags);
	while (n < eq->depth && eq_peek(eq, eq->ci + n))
		n++;
	spin_unlock_irqrestore(&eq->lock, flags);
	return n;
}

static void eq_unknown(struct erdma_eq *eq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	eq->unknown++;
	eq->last_unknown = local_clock();
	spin_unlock_irqrestore(&eq->lock, flags);
}

static void deliver_cq_error(struct erdma_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	WRITE_ONCE(cq->errors, cq->errors + 1);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/* What failed first is the cause, the rest follows from it. */
static void note_first(struct erdma_qp *qp, u8 type, u8 syndrome)
{
	if (qp->first_event_time)
		return;
	qp->first_event = type;
	qp->first_syndrome = syndrome;
	/* Pairs with the acquire of who shows it. */
	smp_store_release(&qp->first_event_time, local_clock());
}

static void deliver_qp_error(struct erdma_qp *qp, u8 type, u8 syndrome)
{
	note_first(qp, type, syndrome);
	erdma_qp_event(qp, IB_EVENT_QP_FATAL);
}

static void deliver_async(struct erdma_eq *eq, u8 type, u8 syndrome, u32 id)
{
	struct erdma_dev *dev = eq->dev;
	struct erdma_obj *obj = NULL;

	trace_aeq_event(&dev->ibdev, type, id);
	if (type == ERDMA_AE_CQ_ERR)
		obj = erdma_table_get(&dev->cqs, id);
	else if (type <= ERDMA_AE_OTHER)
		obj = erdma_table_get(&dev->qps, id);
	if (!obj) {
		eq_unknown(eq);
		return;
	}
	if (type == ERDMA_AE_CQ_ERR)
		deliver_cq_error(container_of(obj, struct erdma_cq, obj));
	else
		deliver_qp_error(container_of(obj, struct erdma_qp, obj), type, syndrome);
	erdma_obj_put(obj);
	erdma_diag_async(dev, type, id);
}

/* Consumers may sleep in their handlers, so this is no interrupt's business. */
static void aeq_work(struct work_struct *work)
{
	struct erdma_eq *eq = container_of(work, struct erdma_eq, work);
	const struct erdma_aeqe *aeqe;
	int budget = EQ_BUDGET;
	u32 hdr = 0, id = 0;

	while (budget--) {
		spin_lock_irq(&eq->lock);
		aeqe = eq_next(eq);
		if (aeqe) {
			hdr = le32_to_cpu(aeqe->hdr);
			id = le32_to_cpu(aeqe->data0);
		}
		spin_unlock_irq(&eq->lock);
		if (!aeqe)
			break;
		deliver_async(eq, FIELD_GET(ERDMA_AEQE_TYPE, hdr),
			      FIELD_GET(ERDMA_AEQE_SUB_TYPE, hdr), id);
	}
	erdma_eq_arm(eq);
}

static irqreturn_t common_irq(int irq, void *data)
{
	struct erdma_dev *dev = data;
	struct erdma_eq *aeq = &dev->aeq;
	bool pending;

	erdma_cmdq_event(dev);

	spin_lock(&dev->cmdq_eq.lock);
	dev->cmdq_eq.interrupts++;
	spin_unlock(&dev->cmdq_eq.lock);
	spin_lock(&aeq->lock);
	aeq->interrupts++;
	pending = eq_peek(aeq, aeq->ci);
	spin_unlock(&aeq->lock);
	if (pending)
		queue_work(dev->wq, &aeq->work);
	else
		erdma_eq_arm(aeq);
	return IRQ_HANDLED;
}

/**
 * erdma_eq_kick_cq() - have the consumer of a CQ called without an event
 * @eq: the CQ's EQ
 * @cq: the CQ, referenced
 *
 * Context: any.
 */
void erdma_eq_kick_cq(struct erdma_eq *eq, struct erdma_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	if (list_empty(&cq->kick)) {
		erdma_obj_get(&cq->obj);
		list_add_tail(&cq->kick, &eq->kicks);
	}
	spin_unlock_irqrestore(&eq->lock, flags);
	tasklet_schedule(&eq->tasklet);
}

static void deliver_kicks(struct erdma_eq *eq)
{
	struct erdma_cq *cq;
	unsigned long flags;

	for (;;) {
		spin_lock_irqsave(&eq->lock, flags);
		cq = list_first_entry_or_null(&eq->kicks, struct erdma_cq, kick);
		if (cq)
			list_del_init(&cq->kick);
		spin_unlock_irqrestore(&eq->lock, flags);
		if (!cq)
			return;
		erdma_cq_kicked(cq);
		erdma_obj_put(&cq->obj);
	}
}

/*
 * All calls of consumers' completion handlers come from here: a tasklet runs on
 * one CPU at a time, and so do the handlers of one CQ, as they may count on.
 */
static void ceq_tasklet(struct tasklet_struct *tasklet)
{
	struct erdma_eq *eq = from_tasklet(eq, tasklet, tasklet);
	struct erdma_dev *dev = eq->dev;
	const struct erdma_ceqe *ceqe;
	int budget = EQ_BUDGET;
	struct erdma_obj *obj;
	unsigned long flags;
	u32 cqn = 0;

	deliver_kicks(eq);
	while (budget--) {
		spin_lock_irqsave(&eq->lock, flags);
		ceqe = eq_next(eq);
		if (ceqe)
			cqn = le64_get_bits(ceqe->word, ERDMA_CEQE_CQN);
		spin_unlock_irqrestore(&eq->lock, flags);
		if (!ceqe)
			break;
		trace_ceq_event(&dev->ibdev, eq->eqn, cqn);
		obj = erdma_table_get(&dev->cqs, cqn);
		if (!obj) {
			eq_unknown(eq);
			continue;
		}
		erdma_cq_event(container_of(obj, struct erdma_cq, obj));
		erdma_obj_put(obj);
	}
	erdma_eq_arm(eq);
}

static irqreturn_t ceq_irq(int irq, void *data)
{
	struct erdma_eq *eq = data;

	spin_lock(&eq->lock);
	eq->interrupts++;
	spin_unlock(&eq->lock);
	tasklet_schedule(&eq->tasklet);
	return IRQ_HANDLED;
}

static int eq_init(struct erdma_dev *dev, struct erdma_eq *eq, u8 index, u32 depth, u32 db)
{
	int ret;

	spin_lock_init(&eq->lock);
	INIT_LIST_HEAD(&eq->kicks);
	eq->dev = dev;
	eq->index = index;
	eq->depth = depth;
	eq->db = dev->bar + db;
	eq->created = local_clock();
	ret = erdma_ring_alloc(dev, &eq->ring, depth * ERDMA_EQE_SIZE);
	if (ret)
		return ret;
	ret = erdma_dbrec_alloc(dev, &eq->rec);
	if (ret)
		erdma_ring_free(dev, &eq->ring);
	return ret;
}

static void eq_free(struct erdma_dev *dev, struct erdma_eq *eq)
{
	erdma_dbrec_free(dev, &eq->rec);
	erdma_ring_free(dev, &eq->ring);
}

static void eq_reset(struct erdma_eq *eq)
{
	spin_lock_irq(&eq->lock);
	eq->live = false;
	eq->ci = 0;
	memset(eq->ring.va, 0, eq->ring.size);
	*eq->rec.va = 0;
	spin_unlock_irq(&eq->lock);
}

static void eq_set_live(struct erdma_eq *eq, bool live)
{
	spin_lock_irq(&eq->lock);
	eq->live = live;
	spin_unlock_irq(&eq->lock);
}

static int irq_request(struct erdma_eq *eq, irq_handler_t handler, void *data, u32 cpu)
{
	struct pci_dev *pdev = eq->dev->pdev;
	int irq = pci_irq_vector(pdev, eq->vector);
	int ret;

	ret = request_irq(irq, handler, 0, eq->irq_name, data);
	if (ret) {
		dev_err(&pdev->dev, "no interrupt for vector %u: %d\n", eq->vector, ret);
		return ret;
	}
	eq->irq = irq;
	cpumask_set_cpu(cpu, &eq->affinity);
	irq_set_affinity_and_hint(irq, &eq->affinity);
	return 0;
}

static void irq_release(struct erdma_eq *eq, void *data)
{
	if (!eq->irq)
		return;
	irq_update_affinity_hint(eq->irq, NULL);
	free_irq(eq->irq, data);
	eq->irq = 0;
}

/**
 * erdma_eqs_init() - allocate all event queues
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_eqs_init(struct erdma_dev *dev)
{
	struct erdma_eq *eq;
	int ret;
	u32 i;

	ret = eq_init(dev, &dev->aeq, ERDMA_EQC_INDEX_AEQ, ERDMA_EQ_DEPTH, ERDMA_REG_AEQ_DB);
	if (ret)
		return ret;
	INIT_WORK(&dev->aeq.work, aeq_work);
	ret = eq_init(dev, &dev->cmdq_eq, ERDMA_EQC_INDEX_CMDQ, ERDMA_CMDQ_EQ_DEPTH,
		      ERDMA_REG_CEQ_DB(ERDMA_EQN_CMDQ));
	if (ret)
		goto err_aeq;
	for (i = 0; i < dev->nr_ceqs; i++) {
		eq = &dev->ceqs[i];
		eq->eqn = ERDMA_EQN_CEQ(i);
		eq->vector = eq->eqn;
		tasklet_setup(&eq->tasklet, ceq_tasklet);
		ret = eq_init(dev, eq, ERDMA_EQC_INDEX_CEQ(i), ERDMA_EQ_DEPTH,
			      ERDMA_REG_CEQ_DB(eq->eqn));
		if (ret)
			goto err_ceqs;
	}
	return 0;

err_ceqs:
	while (i--)
		eq_free(dev, &dev->ceqs[i]);
	eq_free(dev, &dev->cmdq_eq);
err_aeq:
	eq_free(dev, &dev->aeq);
	return ret;
}

/**
 * erdma_eqs_free() - free all event queues
 * @dev: the device
 *
 * Context: process; the adapter was halted.
 */
void erdma_eqs_free(struct erdma_dev *dev)
{
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++)
		eq_free(dev, &dev->ceqs[i]);
	eq_free(dev, &dev->cmdq_eq);
	eq_free(dev, &dev->aeq);
}

/**
 * erdma_common_irq_request() - request the interrupt of AEQ and command EQ
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_common_irq_request(struct erdma_dev *dev)
{
	struct erdma_eq *eq = &dev->aeq;
	u32 cpu = cpumask_first(cpumask_of_pcibus(dev->pdev->bus));
	int ret;

	snprintf(eq->irq_name, sizeof(eq->irq_name), "erdma-common@pci:%s",
		 pci_name(dev->pdev));
	ret = irq_request(eq, common_irq, dev, cpu);
	if (ret)
		return ret;
	/* The same vector, for those who look at one queue. */
	memcpy(dev->cmdq_eq.irq_name, eq->irq_name, sizeof(eq->irq_name));
	return 0;
}

/**
 * erdma_common_irq_free() - free it
 * @dev: the device
 *
 * Context: process.
 */
void erdma_common_irq_free(struct erdma_dev *dev)
{
	irq_release(&dev->aeq, dev);
	cancel_work_sync(&dev->aeq.work);
}

/**
 * erdma_ceqs_create() - tell the adapter of all CEQs
 * @dev: the device; the rings are empty
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_ceqs_create(struct erdma_dev *dev)
{
	int ret;
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++) {
		ret = erdma_cmd_create_eq(dev, &dev->ceqs[i]);
		if (ret)
			return ret;
		eq_set_live(&dev->ceqs[i], true);
	}
	return 0;
}

/**
 * erdma_ceqs_start() - bring all CEQs into service
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno; erdma_ceqs_stop() in any case.
 */
int erdma_ceqs_start(struct erdma_dev *dev)
{
	struct erdma_eq *eq;
	int ret;
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++) {
		eq = &dev->ceqs[i];
		snprintf(eq->irq_name, sizeof(eq->irq_name), "erdma-ceq%u@pci:%s", i,
			 pci_name(dev->pdev));
		ret = irq_request(eq, ceq_irq, eq,
				  cpumask_local_spread(i + 1, dev_to_node(&dev->pdev->dev)));
		if (ret)
			return ret;
	}
	return erdma_ceqs_create(dev);
}

/**
 * erdma_ceqs_stop() - take all CEQs out of service
 * @dev: the device
 *
 * Context: process.
 */
void erdma_ceqs_stop(struct erdma_dev *dev)
{
	struct erdma_eq *eq;
	int ret = 0;
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++) {
		eq = &dev->ceqs[i];
		irq_release(eq, eq);
		tasklet_kill(&eq->tasklet);
		/* A reset follows: no need to insist. */
		if (eq->live && !ret)
			ret = erdma_cmd_destroy_eq(dev, eq);
		eq_set_live(eq, false);
	}
}

/**
 * erdma_eqs_reset() - empty all event queues
 * @dev: the device
 *
 * Context: process; the adapter was halted.
 */
void erdma_eqs_reset(struct erdma_dev *dev)
{
	u32 i;

	eq_reset(&dev->aeq);
	eq_reset(&dev->cmdq_eq);
	for (i = 0; i < dev->nr_ceqs; i++)
		eq_reset(&dev->ceqs[i]);
}

/**
 * erdma_eqs_set_live() - AEQ and command EQ are known to the adapter
 * @dev: the device
 *
 * Context: process.
 */
void erdma_eqs_set_live(struct erdma_dev *dev)
{
	eq_set_live(&dev->aeq, true);
	eq_set_live(&dev->cmdq_eq, true);
}

/* Whether the same entry was there the last time, and nobody came for it. */
static bool eq_is_stuck(struct erdma_eq *eq)
{
	bool waiting, stuck;

	spin_lock_irq(&eq->lock);
	waiting = eq->live && eq_peek(eq, eq->ci);
	stuck = waiting && eq->waiting && eq->looked_at == eq->events;
	eq->waiting = waiting;
	eq->looked_at = eq->events;
	/* On an overloaded CPU it may have come, and its work not. */
	if (stuck && eq->interrupts_then == eq->interrupts) {
		eq->missed++;
		eq->last_missed = local_clock();
	}
	eq->interrupts_then = eq->interrupts;
	spin_unlock_irq(&eq->lock);
	return stuck;
}

/**
 * erdma_eqs_kick() - consume entries that no interrupt came for
 * @dev: the device
 *
 * The command queue's are looked for by who waits for a command.
 *
 * Context: process; called now and then.
 */
void erdma_eqs_kick(struct erdma_dev *dev)
{
	u32 i;

	if (eq_is_stuck(&dev->aeq))
		queue_work(dev->wq, &dev->aeq.work);
	for (i = 0; i < dev->nr_ceqs; i++)
		if (eq_is_stuck(&dev->ceqs[i]))
			tasklet_schedule(&dev->ceqs[i].tasklet);
}
