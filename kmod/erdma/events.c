// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts, and interpretation of event queue entries (hw 8, 1.3). */

#include <linux/bitfield.h>

#include "erdma.h"
#include "erdma_classes.h"
#include "trace.h"

/* Entries consumed per run; the adapter raises another interrupt for the rest. */
#define EQ_BUDGET	16

static void deliver_cq_error(struct erdma_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	erdma_failed_cq(cq);
	WRITE_ONCE(cq->errors, cq->errors + 1);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/* Only the first failure is recorded, because later failures follow from it. */
static void note_first(struct erdma_qp *qp, u8 type, u8 syndrome)
{
	if (qp->first_event_time)
		return;
	erdma_failed_qp(qp, type, syndrome);
	qp->first_event = type;
	qp->first_syndrome = syndrome;
	/* Pairs with the acquire of the reader that displays it. */
	smp_store_release(&qp->first_event_time, local_clock());
}

static void deliver_qp_error(struct erdma_qp *qp, u8 type, u8 syndrome)
{
	note_first(qp, type, syndrome);
	erdma_qp_event(qp, IB_EVENT_QP_FATAL);
}

static void deliver_async(struct erdma_eq *eq, u8 type, u8 syndrome, u32 id)
{
	struct erdma_dev *dev = adapter_to_erdma(eq->base.ad);
	struct eadm_object *obj = NULL;

	trace_aeq_event(&dev->adapter.ibdev, type, id);
	erdma_debug(dev, event, "type %u, syndrome %u, object %u\n", type, syndrome, id);
	if (type == ERDMA_AE_CQ_ERR)
		obj = eadm_table_get(&dev->adapter.cqs, id);
	else if (type <= ERDMA_AE_OTHER)
		obj = eadm_table_get(&dev->adapter.qps, id);
	if (!obj) {
		eadm_eq_unknown(&eq->base);
		return;
	}
	if (type == ERDMA_AE_CQ_ERR)
		deliver_cq_error(container_of(obj, struct erdma_cq, obj));
	else
		deliver_qp_error(container_of(obj, struct erdma_qp, obj), type, syndrome);
	eadm_object_put(obj);
	eadm_adapter_async(&dev->adapter, type == ERDMA_AE_CQ_ERR ? EADM_OBJ_CQ : EADM_OBJ_QP, id,
			   erdma_event_class(type), type);
}

/* Consumers may sleep in their handlers, so this cannot run in interrupt context. */
static void aeq_work(struct work_struct *work)
{
	struct erdma_eq *eq = container_of(work, struct erdma_eq, work);
	int budget = EQ_BUDGET;
	union erdma_eqe e;
	u32 hdr;

	while (budget-- && erdma_eq_take(eq, &e)) {
		hdr = le32_to_cpu(e.async.hdr);
		deliver_async(eq, FIELD_GET(ERDMA_AEQE_TYPE, hdr),
			      FIELD_GET(ERDMA_AEQE_SUB_TYPE, hdr),
			      le32_to_cpu(e.async.data0));
	}
	erdma_eq_arm(eq);
}

static irqreturn_t common_irq(int irq, void *data)
{
	struct erdma_dev *dev = data;

	erdma_cmdq_event(&dev->adapter);
	erdma_eq_interrupt(&dev->cmdq_eq);
	if (erdma_eq_interrupt(&dev->aeq))
		queue_work(dev->adapter.wq, &dev->aeq.work);
	else
		erdma_eq_arm(&dev->aeq);
	return IRQ_HANDLED;
}

static void deliver_completion(struct erdma_eq *eq, u32 cqn)
{
	struct erdma_dev *dev = adapter_to_erdma(eq->base.ad);
	struct eadm_object *obj;
	struct erdma_cq *cq;

	trace_ceq_event(&dev->adapter.ibdev, eq->base.eqn, cqn);
	obj = eadm_table_get(&dev->adapter.cqs, cqn);
	cq = obj ? container_of(obj, struct erdma_cq, obj) : NULL;
	/* A CQ's handler may be called only from the CQ's own EQ, which serialises the calls. */
	if (cq && &dev->ceqs[cq->vector] == eq)
		erdma_cq_event(cq, READ_ONCE(eq->base.last_event));
	else
		eadm_eq_unknown(&eq->base);
	if (obj)
		eadm_object_put(obj);
}

/*
 * Consumers' completion handlers are called only from this tasklet, or while it is disabled. It
 * runs on one CPU at a time, so handlers of a CQ never run concurrently; consumers rely on this.
 */
static void ceq_tasklet(struct tasklet_struct *tasklet)
{
	struct erdma_eq *eq = from_tasklet(eq, tasklet, tasklet);
	int budget = EQ_BUDGET;
	union erdma_eqe e;

	while (budget-- && erdma_eq_take(eq, &e))
		deliver_completion(eq, le64_get_bits(e.completion.word, ERDMA_CEQE_CQN));
	erdma_eq_arm(eq);
}

static irqreturn_t ceq_irq(int irq, void *data)
{
	struct erdma_eq *eq = data;

	erdma_eq_interrupt(eq);
	tasklet_schedule(&eq->tasklet);
	return IRQ_HANDLED;
}

/**
 * erdma_eqs_init() - allocate all event queues
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_eqs_init(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct erdma_eq *eq;
	int ret;
	u32 i;

	INIT_WORK(&dev->aeq.work, aeq_work);
	ret = erdma_eq_init(&dev->aeq, dev, ERDMA_EQC_INDEX_AEQ, EADM_EQ_ROLE_ASYNC,
			    ERDMA_EQ_DEPTH, ERDMA_REG_AEQ_DB);
	if (!ret)
		ret = erdma_eq_init(&dev->cmdq_eq, dev, ERDMA_EQC_INDEX_CMDQ, EADM_EQ_ROLE_ADMIN,
				    ERDMA_CMDQ_EQ_DEPTH, ERDMA_REG_CEQ_DB(ERDMA_EQN_CMDQ));
	for (i = 0; !ret && i < dev->nr_ceqs; i++) {
		eq = &dev->ceqs[i];
		eq->base.eqn = ERDMA_EQN_CEQ(i);
		eq->base.vector = eq->base.eqn;
		tasklet_setup(&eq->tasklet, ceq_tasklet);
		ret = erdma_eq_init(eq, dev, ERDMA_EQC_INDEX_CEQ(i), EADM_EQ_ROLE_COMPLETION,
				    ERDMA_EQ_DEPTH, ERDMA_REG_CEQ_DB(eq->base.eqn));
	}
	if (ret)
		erdma_eqs_free(ad);
	return ret;
}

/**
 * erdma_eqs_free() - free all event queues
 * @ad: the adapter
 *
 * Context: process; the adapter is halted.
 */
void erdma_eqs_free(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++)
		erdma_eq_free(&dev->ceqs[i], dev);
	erdma_eq_free(&dev->cmdq_eq, dev);
	erdma_eq_free(&dev->aeq, dev);
}

/**
 * erdma_common_irq_request() - request the interrupt of the AEQ and the command EQ
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

	snprintf(eq->base.irq_name, sizeof(eq->base.irq_name), "erdma-common@pci:%s",
		 pci_name(dev->pdev));
	ret = eadm_eq_request(&eq->base, common_irq, dev, cpu);
	if (ret)
		return ret;
	/* Both queues share the vector; each has a copy of the name, for readers of one queue. */
	memcpy(dev->cmdq_eq.base.irq_name, eq->base.irq_name, sizeof(eq->base.irq_name));
	return 0;
}

/**
 * erdma_common_irq_free() - free the interrupt of the AEQ and the command EQ
 * @dev: the device
 *
 * Context: process.
 */
void erdma_common_irq_free(struct erdma_dev *dev)
{
	eadm_eq_release(&dev->aeq.base, dev);
	cancel_work_sync(&dev->aeq.work);
}

/**
 * erdma_ceqs_create() - create all CEQs in the adapter
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
		eadm_eq_set_live(&dev->ceqs[i].base, true);
	}
	return 0;
}

/**
 * erdma_ceqs_start() - bring all CEQs into service
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno; the caller must call erdma_ceqs_stop() in either case.
 */
int erdma_ceqs_start(struct erdma_dev *dev)
{
	struct erdma_eq *eq;
	int ret;
	u32 i;

	for (i = 0; i < dev->nr_ceqs; i++) {
		eq = &dev->ceqs[i];
		snprintf(eq->base.irq_name, sizeof(eq->base.irq_name), "erdma-ceq%u@pci:%s", i,
			 pci_name(dev->pdev));
		ret = eadm_eq_request(&eq->base, ceq_irq, eq,
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
		eadm_eq_release(&eq->base, eq);
		tasklet_kill(&eq->tasklet);
		/* A reset follows, so stop at the first failure. */
		if (eq->base.live && !ret)
			ret = erdma_cmd_destroy_eq(dev, eq);
		eadm_eq_set_live(&eq->base, false);
	}
}

/**
 * erdma_eqs_reset() - empty all event queues
 * @dev: the device
 *
 * Context: process; the adapter is halted.
 */
void erdma_eqs_reset(struct erdma_dev *dev)
{
	u32 i;

	erdma_eq_reset(&dev->aeq);
	erdma_eq_reset(&dev->cmdq_eq);
	for (i = 0; i < dev->nr_ceqs; i++)
		erdma_eq_reset(&dev->ceqs[i]);
}

/**
 * erdma_eqs_set_live() - mark the AEQ and the command EQ as used by the adapter
 * @dev: the device
 *
 * Context: process.
 */
void erdma_eqs_set_live(struct erdma_dev *dev)
{
	eadm_eq_set_live(&dev->aeq.base, true);
	eadm_eq_set_live(&dev->cmdq_eq.base, true);
}

/**
 * erdma_eqs_kick() - consume entries whose interrupt was lost
 * @dev: the device
 *
 * Issuers of commands poll for entries of the command EQ.
 *
 * Context: process; called periodically.
 */
void erdma_eqs_kick(struct erdma_dev *dev)
{
	u32 i;

	if (erdma_eq_is_stuck(&dev->aeq))
		queue_work(dev->adapter.wq, &dev->aeq.work);
	for (i = 0; i < dev->nr_ceqs; i++)
		if (erdma_eq_is_stuck(&dev->ceqs[i]))
			tasklet_schedule(&dev->ceqs[i].tasklet);
}
