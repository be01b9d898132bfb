// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting and stopping the adapter (hw 2.4 - 2.6), and the callbacks that the core uses when a
 * command is lost.
 */

#include <linux/bitfield.h>

#include "efa.h"

/* Reading a register takes a while if it times out, and blocks all other register reads. */
#define READ_PERIODS	2

static u32 ring_caps(u32 depth)
{
	return FIELD_PREP(EFA_RING_CAPS_DEPTH, depth) |
	       FIELD_PREP(EFA_RING_CAPS_ENTRY, EFA_AQE_SIZE) |
	       FIELD_PREP(EFA_RING_CAPS_VECTOR, EFA_MGMT_VECTOR);
}

static void announce_rings(struct efa_dev *dev)
{
	efa_reg_write_addr(dev, EFA_REG_AQ_BASE_LO, EFA_REG_AQ_BASE_HI, dev->aq.sq.dma);
	efa_reg_write(dev, EFA_REG_AQ_CAPS, FIELD_PREP(EFA_AQ_CAPS_DEPTH, EFA_AQ_DEPTH) |
					    FIELD_PREP(EFA_AQ_CAPS_ENTRY, EFA_AQE_SIZE));
	efa_reg_write_addr(dev, EFA_REG_ACQ_BASE_LO, EFA_REG_ACQ_BASE_HI, dev->aq.cq.dma);
	efa_reg_write(dev, EFA_REG_ACQ_CAPS, ring_caps(EFA_AQ_DEPTH));
	efa_reg_write_addr(dev, EFA_REG_AENQ_BASE_LO, EFA_REG_AENQ_BASE_HI,
			   dev->aenq.base.ring.dma);
	efa_reg_write(dev, EFA_REG_AENQ_CAPS, ring_caps(EFA_AENQ_DEPTH));
	efa_reg_write(dev, EFA_REG_AENQ_CONS_DB, 0);
}

/* Passes memory addresses to the adapter; halt_adapter() has cleared its previous state. */
static int let_begin(struct efa_dev *dev)
{
	u32 sts = efa_reg_read(dev, EFA_REG_DEV_STS);

	if (sts == EFA_MMIO_NO_VALUE || !(sts & EFA_STS_READY)) {
		if (!dev->adapter.halted)
			dev_err(&dev->pdev->dev, "adapter not ready (state %#x)\n", sts);
		return -ENODEV;
	}
	efa_eqs_reset(dev);
	efa_reg_write(dev, EFA_REG_INTR_MASK, EFA_INTR_MASKED);
	eadm_memory_expose(&dev->adapter);
	announce_rings(dev);
	return 0;
}

/*
 * Makes the adapter stop and discard all state. Bus mastering is off afterwards unless the reset
 * succeeded. Turning it off does not make it safe to free memory: any state that the adapter has
 * kept would become active again when bus mastering is enabled, by another driver or by this one at
 * its next probe.
 *
 * Returns whether the adapter is known to have discarded all state: it confirmed the request, its
 * function was reset, or the function is absent.
 */
static bool halt_adapter(struct efa_dev *dev, enum efa_reset_reason reason)
{
	int ret;

	/* Bus mastering may be off if the adapter did not confirm the last request. */
	efa_hw_request_reset(dev, reason);
	ret = eadm_adapter_set_master(&dev->adapter);
	if (!ret)
		ret = efa_hw_await_reset(dev);
	if (!ret)
		return true;
	pci_clear_master(dev->pdev);
	if (eadm_function_find(&dev->adapter.fn) == EADM_ABSENT)
		return true;
	if (!eadm_function_reset(&dev->adapter.fn))
		return false;
	/*
	 * The adapter has lost the response address, and must be able to respond when it is
	 * restarted.
	 */
	eadm_adapter_set_master(&dev->adapter);
	efa_hw_tell_resp(dev);
	return true;
}

/* Makes the adapter report events; the interrupts are requested, and the rings are empty. */
static int let_report(struct efa_dev *dev)
{
	int ret = efa_enable_events(dev);

	if (!ret)
		ret = efa_eqs_create(dev);
	if (!ret)
		efa_tell_host_info(dev);
	return ret;
}

/**
 * efa_start() - bring the adapter into service for the first time
 * @dev: the device, whose previous state has been discarded
 *
 * Context: process.
 * Return: 0 or -errno; the caller must call efa_stop() in either case.
 */
int efa_start(struct efa_dev *dev)
{
	int ret;

	ret = let_begin(dev);
	if (!ret)
		ret = efa_mgmt_request(dev);
	if (ret)
		return ret;
	efa_reg_write(dev, EFA_REG_INTR_MASK, 0);
	eadm_queue_set_state(&dev->adapter, EADM_QUEUE_EVENT);
	ret = efa_read_features(dev);
	if (!ret)
		ret = efa_eqs_init(dev);
	if (!ret)
		ret = efa_eqs_request(dev);
	return ret ? ret : let_report(dev);
}

static int start_again(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	int ret;

	ret = let_begin(dev);
	if (ret)
		return ret;
	efa_reg_write(dev, EFA_REG_INTR_MASK, 0);
	return let_report(dev);
}

/**
 * efa_stop() - take the adapter out of service
 * @ad: the adapter; probe may be incomplete
 *
 * Memory that the adapter may still access is not freed afterwards.
 *
 * Context: process.
 */
void efa_stop(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	efa_eqs_stop(dev, ad->complete);
	if (!halt_adapter(dev, ad->complete ? EFA_RESET_NORMAL : EFA_RESET_INIT_ERROR))
		ad->memory.leaking = eadm_memory_is_exposed(ad);
	eadm_eq_release(&dev->aenq.base, dev);
	pci_clear_master(dev->pdev);
	eadm_queue_reset(ad, -ENODEV);
	if (!ad->memory.leaking) {
		eadm_memory_confirm(ad);
		efa_aq_lists_free(dev);
	}
}

static bool halt_for(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	static const enum efa_reset_reason reasons[] = {
		[EADM_RESET_COMMAND_LOST] = EFA_RESET_CMD_TIMEOUT,
		[EADM_RESET_FATAL] = EFA_RESET_GENERIC,
		[EADM_RESET_START_FAILED] = EFA_RESET_INIT_ERROR,
		[EADM_RESET_FUNCTION] = EFA_RESET_OS_TRIGGER,
		[EADM_RESET_SHUTDOWN] = EFA_RESET_SHUTDOWN,
	};

	return halt_adapter(adapter_to_efa(ad), reasons[reason]);
}

static void forget(struct eadm_adapter *ad, bool confirmed)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	if (confirmed)
		efa_aq_lists_free(dev);
	efa_eqs_reset(dev);
}

static bool has_restarted(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	if (++dev->watched % READ_PERIODS)
		return false;
	return efa_hw_has_forgotten(dev);
}

static void died(struct eadm_adapter *ad, struct eadm_object *obj)
{
	struct efa_qp *qp = container_of(obj, struct efa_qp, obj);
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_QP,
		.cause = eadm_adapter_cause(ad),
		.id = qp->qpn,
	};
	struct ib_event event = {
		.device = &ad->ibdev,
		.element.qp = &qp->ibqp,
		.event = IB_EVENT_QP_FATAL,
	};

	eadm_failure_set_owner(&what, obj->res);
	eadm_failures_note(&ad->failures, &what);
	WRITE_ONCE(qp->events, qp->events + 1);
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* The port is up as long as the adapter is in service. */
static void recovered(struct eadm_adapter *ad, bool was_reset, bool was_halted)
{
	if (ad->halted != was_halted)
		eadm_adapter_event(ad, ad->halted ? IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE);
}

const struct eadm_adapter_ops efa_adapter_ops = {
	.queue = &efa_queue_ops,
	.settings = &efa_settings,
	.probe = efa_cmd_probe,
	.halt = halt_for,
	.start = start_again,
	.forget = forget,
	.has_restarted = has_restarted,
	.watch = efa_eqs_kick,
	.died = died,
	.recovered = recovered,
	.ctx_begin = efa_ctx_begin,
	.ctx_end = efa_ctx_end,
	.check_mr = efa_check_mr,
	.reg_mr = efa_reg_mr,
	.describe_ring = efa_describe_ring,
	.free_orphan = efa_orphan_free,
};
