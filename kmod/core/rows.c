// SPDX-License-Identifier: GPL-2.0-only
/* Rows of devices, counters, contexts and PDs with the fields that all families have. */

#include "context.h"
#include "interrupt.h"
#include "life.h"
#include "report.h"
#include "rows.h"

void *eadm_qp_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_adapter(dd)->qps, id);
}

void *eadm_cq_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_adapter(dd)->cqs, id);
}

void *eadm_mr_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_adapter(dd)->mrs, id);
}

void *eadm_pd_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_adapter(dd)->pds, id);
}

void *eadm_ctx_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_table_next(&diag_to_adapter(dd)->ctxs, id);
}

void *eadm_eq_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return eadm_eq_find(diag_to_adapter(dd), *id);
}

void *eadm_cmdq_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	return *id ? NULL : dd;
}

/**
 * eadm_dev_row_next() - return the row of the device, for &eadm_diag_obj.next
 * @dd: the device
 * @id: lowest number; on return the number of the device
 *
 * Return: @dd or NULL.
 */
void *eadm_dev_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	if (*id > dd->ibdev->index)
		return NULL;
	*id = dd->ibdev->index;
	return dd;
}

static u32 dev_state(const struct eadm_adapter *ad)
{
	if (READ_ONCE(ad->gone))
		return EADM_DEV_STATE_GONE;
	if (READ_ONCE(ad->unconfirmed))
		return EADM_DEV_STATE_HALTED;
	switch (READ_ONCE(ad->state)) {
	case EADM_QUEUE_RECOVERING:
		return EADM_DEV_STATE_RECOVERING;
	case EADM_QUEUE_DEAD:
		return EADM_DEV_STATE_DEAD;
	default:
		return EADM_DEV_STATE_READY;
	}
}

/**
 * eadm_dev_row_fill() - fill in the fields of a device that all families have
 * @ad: the adapter
 * @s: its row
 *
 * Context: process.
 */
void eadm_dev_row_fill(struct eadm_adapter *ad, struct eadm_snap_dev *s)
{
	struct pci_dev *pdev = ad->fn.pdev;
	struct eadm_memory *mem = &ad->memory;

	SNAP_STR(s, driver, ad->diag.ops->family);
	SNAP_SET(s, state, dev_state(ad));
	SNAP_STR(s, bus_addr, pci_name(pdev));
	SNAP_SET(s, vendor_id, pdev->vendor);
	SNAP_SET(s, part_id, pdev->device);
	SNAP_SET(s, vectors, ad->vectors);
	SNAP_SET(s, numa_node, dev_to_node(&pdev->dev));
	SNAP_BIN(s, node_guid, &ad->ibdev.node_guid, sizeof(ad->ibdev.node_guid));
	SNAP_SET(s, age, eadm_age(ad->probed));
	SNAP_SET(s, debug, READ_ONCE(ad->diag.debug));
	SNAP_SET(s, qps, atomic_read(&ad->qps.count));
	SNAP_SET(s, cqs, atomic_read(&ad->cqs.count));
	SNAP_SET(s, mrs, atomic_read(&ad->mrs.count));
	SNAP_SET(s, pds, atomic_read(&ad->pds.count));
	SNAP_SET(s, ctxs, atomic_read(&ad->ctxs.count));
	spin_lock(&mem->lock);
	SNAP_SET(s, orphans, mem->count);
	SNAP_SET(s, orphan_bytes, mem->bytes);
	spin_unlock(&mem->lock);
}

/**
 * eadm_port_row_next() - return the row of the port's counters, for &eadm_diag_obj.next
 * @dd: the device
 * @id: lowest number; on return the number of the port
 *
 * Return: @dd or NULL.
 */
void *eadm_port_row_next(struct eadm_diag_dev *dd, u64 *id)
{
	u32 port = diag_to_adapter(dd)->port;

	if (*id > port)
		return NULL;
	*id = port;
	return dd;
}

static void fill_commands(struct eadm_adapter *ad, struct eadm_snap_counters *s)
{
	const struct eadm_commands *c = &ad->cmds;

	spin_lock_irq(&ad->lock);
	SNAP_SET(s, cmds_submitted, c->submitted);
	SNAP_SET(s, cmds_completed, c->completed);
	SNAP_SET(s, cmds_failed, c->errors);
	SNAP_SET(s, cmds_timed_out, c->timeouts);
	SNAP_SET(s, cmdq_recoveries, ad->recoveries);
	spin_unlock_irq(&ad->lock);
}

/* The command queue shares the vector of asynchronous events. */
static void fill_queues(struct eadm_adapter *ad, struct eadm_snap_counters *s)
{
	u64 events = 0, interrupts = 0;
	struct eadm_eq *eq;

	list_for_each_entry(eq, &ad->eqs, node) {
		if (eq->role == EADM_EQ_ROLE_ASYNC)
			SNAP_SET(s, async_events, READ_ONCE(eq->events));
		if (eq->role == EADM_EQ_ROLE_COMPLETION)
			events += READ_ONCE(eq->events);
		if (eq->role != EADM_EQ_ROLE_ADMIN)
			interrupts += READ_ONCE(eq->interrupts);
	}
	SNAP_SET(s, comp_events, events);
	SNAP_SET(s, interrupts, interrupts);
}

/**
 * eadm_port_row_fill() - fill in the counters that all drivers have
 * @ad: the adapter
 * @s: the row
 *
 * Context: process.
 */
void eadm_port_row_fill(struct eadm_adapter *ad, struct eadm_snap_counters *s)
{
	SNAP_SET(s, port, ad->port);
	fill_commands(ad, s);
	fill_queues(ad, s);
	SNAP_SET(s, qp_creates, eadm_counter_read(ad, EADM_CNT_QP_CREATES));
	SNAP_SET(s, qp_create_failures, eadm_counter_read(ad, EADM_CNT_QP_CREATE_FAILURES));
	SNAP_SET(s, qp_destroys, eadm_counter_read(ad, EADM_CNT_QP_DESTROYS));
	SNAP_SET(s, cq_creates, eadm_counter_read(ad, EADM_CNT_CQ_CREATES));
	SNAP_SET(s, cq_create_failures, eadm_counter_read(ad, EADM_CNT_CQ_CREATE_FAILURES));
	SNAP_SET(s, cq_destroys, eadm_counter_read(ad, EADM_CNT_CQ_DESTROYS));
	SNAP_SET(s, mr_registers, eadm_counter_read(ad, EADM_CNT_MR_REGISTERS));
	SNAP_SET(s, mr_register_failures, eadm_counter_read(ad, EADM_CNT_MR_REGISTER_FAILURES));
	SNAP_SET(s, mr_deregisters, eadm_counter_read(ad, EADM_CNT_MR_DEREGISTERS));
	SNAP_SET(s, pd_allocs, eadm_counter_read(ad, EADM_CNT_PD_ALLOCS));
	SNAP_SET(s, pd_deallocs, eadm_counter_read(ad, EADM_CNT_PD_DEALLOCS));
	SNAP_SET(s, ctx_allocs, eadm_counter_read(ad, EADM_CNT_CTX_ALLOCS));
	SNAP_SET(s, ctx_alloc_failures, eadm_counter_read(ad, EADM_CNT_CTX_ALLOC_FAILURES));
	SNAP_SET(s, ctx_deallocs, eadm_counter_read(ad, EADM_CNT_CTX_DEALLOCS));
}

/**
 * eadm_ctx_row_fill() - fill in the fields of a context that all families have
 * @ctx: the context
 * @s: its row
 */
void eadm_ctx_row_fill(const struct eadm_ctx *ctx, struct eadm_snap_ctx *s)
{
	SNAP_SET(s, ctxn, ctx->ctxn);
	SNAP_SET(s, qps, atomic_read(&ctx->qps));
	SNAP_SET(s, cqs, atomic_read(&ctx->cqs));
	SNAP_SET(s, mrs, atomic_read(&ctx->mrs));
	SNAP_SET(s, pds, atomic_read(&ctx->pds));
	SNAP_SET(s, age, eadm_age(ctx->obj.created));
}

static int pd_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct eadm_pd *pd = container_of(obj, struct eadm_pd, obj);
	struct eadm_snap_pd *s = snap;

	SNAP_SET(s, pdn, pd->pdn);
	SNAP_SET(s, users, atomic_read(&pd->ibpd.usecnt));
	/* The key is reserved for the kernel, and some adapters do not support kernel consumers. */
	if (dd->ibdev->kverbs_provider)
		SNAP_SET(s, local_dma_lkey, dd->ibdev->local_dma_lkey);
	SNAP_SET(s, age, eadm_age(pd->obj.created));
	if (pd->ctx)
		SNAP_SET(s, ctxn, pd->ctx->ctxn);
	return 0;
}

const struct eadm_diag_obj eadm_diag_pd = EADM_OBJECT_ROWS(PD, eadm_pd_row_next, pd_fill);
