// SPDX-License-Identifier: GPL-2.0-only
/* The device model: polls the registers and lets each part do its pending work. */
#include <linux/slab.h>

#include "efv.h"

static bool is_reset_asked(const struct vdev *vdev)
{
	return efv_regs_is_reset_asked(container_of(vdev, struct efv_adapter, vdev));
}

static void release_tables(struct efv_adapter *ad)
{
	struct efv_uar *uar;
	unsigned long index;
	struct efv_pd *pd;
	struct efv_ah *ah;

	xa_for_each(&ad->ahs, index, ah)
		kfree(ah);
	xa_for_each(&ad->uars, index, uar)
		kfree(uar);
	xa_for_each(&ad->pds, index, pd)
		kfree(pd);
	xa_destroy(&ad->ahs);
	xa_destroy(&ad->uars);
	xa_destroy(&ad->pds);
}

static void release_objects(struct efv_adapter *ad)
{
	unsigned long index;
	struct efv_qp *qp;
	struct efv_cq *cq;
	struct efv_mr *mr;
	unsigned int i;

	down_write(&efv_fabric);
	efv_adapter_leave(ad);
	xa_for_each(&ad->qps, index, qp) {
		vdev_queue_unwatch(&ad->vdev, &qp->queue);
		efv_qp_free(qp);
	}
	xa_for_each(&ad->cqs, index, cq)
		efv_cq_free(cq);
	xa_for_each(&ad->mrs, index, mr)
		efv_mr_free(mr);
	xa_destroy(&ad->qps);
	xa_destroy(&ad->cqs);
	xa_destroy(&ad->mrs);
	for (i = 0; i < EFV_MAX_EQ; i++)
		efv_eq_exit(&ad->eq[i]);
	release_tables(ad);
	bitmap_zero(ad->llq_used, EFV_LLQ_PAGES);
	up_write(&efv_fabric);
}

/* After this call, the driver's memory is no longer accessed (hw 2.4). */
static void forget(struct vdev *vdev, enum vdev_why why)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);

	ad->attached = false;
	release_objects(ad);
	efv_aq_exit(ad);
	memset(&ad->host, 0, sizeof(ad->host));
	ad->booted = ktime_get();
}

/* Determines the address translation once the function may access memory. */
static bool attach(struct efv_adapter *ad)
{
	if (!ad->attached && vdev_is_master(&ad->vdev))
		ad->attached = vdev_dma_attach(&ad->vdev);
	return ad->attached;
}

static void obey_reset(struct efv_adapter *ad)
{
	efv_regs_clear(ad);
	vdev_reset(&ad->vdev);
	efv_regs_reset_done(ad);
	/* The driver reads a register right away, and might not let any other task run before. */
	attach(ad);
}

/* The first command starts the device. */
static bool begin(struct efv_adapter *ad)
{
	int ret;

	if (ad->vdev.state != VDEV_POWERED || ad->in_reset ||
	    !efv_reg_read(ad, EFA_REG_AQ_PROD_DB))
		return false;
	/* Pairs with the order of the driver's MMIO writes. */
	smp_rmb();
	ret = efv_aq_init(ad);
	if (ret) {
		efv_log(ad, ERRORS, "not started: %d\n", ret);
		efv_regs_clear(ad);
		return true;
	}
	down_write(&efv_fabric);
	efv_adapter_join(ad);
	up_write(&efv_fabric);
	ad->vdev.state = VDEV_RUNNING;
	return true;
}

static bool control(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);
	bool busy = false;

	if (efv_regs_reset_due(ad)) {
		obey_reset(ad);
		busy = true;
	}
	if (!attach(ad))
		return busy;
	busy |= efv_regs_answer(ad);
	return busy | begin(ad);
}

static void setup(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);
	unsigned int i;

	INIT_LIST_HEAD(&ad->link);
	INIT_LIST_HEAD(&ad->event_cqs);
	xa_init_flags(&ad->uars, XA_FLAGS_ALLOC);
	xa_init_flags(&ad->pds, XA_FLAGS_ALLOC);
	xa_init_flags(&ad->ahs, XA_FLAGS_ALLOC);
	xa_init_flags(&ad->mrs, XA_FLAGS_ALLOC);
	xa_init_flags(&ad->cqs, XA_FLAGS_ALLOC);
	xa_init_flags(&ad->qps, XA_FLAGS_ALLOC);
	for (i = 0; i < EFV_MAX_EQ; i++)
		efv_eq_setup(&ad->eq[i]);
	efv_params_setup(ad);
}

static int may_plug(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);

	vdev->device = EFA_PCI_DEVICE_EFA0 + ad->params.generation;
	return 0;
}

static void power_on(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);

	WRITE_ONCE(ad->reset_at, 0);
	WRITE_ONCE(ad->reset_pending, false);
	WRITE_ONCE(ad->in_reset, false);
}

static void wrap_counters(struct efv_adapter *ad, u64 before)
{
	unsigned int i;

	for (i = 0; i < EFV_STATS; i++)
		atomic64_set(&ad->stats[i], -before);
}

static void faults(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);
	u64 arg;

	if (efv_fault_hit(ad, EFV_FAULT_COUNTERS_WRAP, -1, &arg))
		wrap_counters(ad, arg);
}

static bool pass(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);
	bool busy;

	busy = efv_aq_poll(ad);
	busy |= efv_aenq_poll(ad);
	busy |= efv_mgmt_poll(ad);
	down_read(&efv_fabric);
	busy |= efv_qp_poll(vdev);
	busy |= efv_cq_poll(ad);
	up_read(&efv_fabric);
	return busy;
}

/* Does the work for which drivers spin. Resets, commands and the data path are left to a thread. */
static void pass_atomic(struct vdev *vdev)
{
	struct efv_adapter *ad = efv_adapter_of(vdev);

	if (ad->attached)
		efv_regs_answer(ad);
}

static bool serve(struct vdev *vdev)
{
	bool busy;

	down_read(&efv_fabric);
	busy = efv_qp_poll(vdev);
	up_read(&efv_fabric);
	return busy;
}

static const struct vdev_function function = {
	.vendor			= EFA_PCI_VENDOR,
	.device			= EFA_PCI_DEVICE_EFA1,
	.class			= 0x020000,	/* Ethernet controller */
	.bar = {
		[EFA_REGS_BAR]	= { .size = EFV_REGS_SIZE },
		[EFA_MEM_BAR]	= { .size = EFV_MEM_SIZE, .kind = VDEV_BAR_MEMORY },
		[EFV_DB_BAR]	= { .size = EFV_DB_SIZE, .kind = VDEV_BAR_DOORBELLS },
	},
	.msix_bar		= EFA_REGS_BAR,
	.msix_table		= EFV_MSIX_TABLE,
	.msix_pba		= EFV_MSIX_PBA,
	.min_vectors		= 2,
	.max_vectors		= EFV_MAX_VECTORS,
	.flr			= true,
};

const struct vdev_family efv_family = {
	.name		= "efa",
	.size		= sizeof(struct efv_adapter),
	.function	= &function,
	.attrs		= efv_attrs,
	.knobs		= efv_knobs,
	.nr_knobs	= ARRAY_SIZE(efv_knobs),
	.setup		= setup,
	.may_plug	= may_plug,
	.power_on	= power_on,
	.reset		= forget,
	.is_reset_asked	= is_reset_asked,
	.faults		= faults,
	.control	= control,
	.pass		= pass,
	.pass_atomic	= pass_atomic,
	.serve		= serve,
};
