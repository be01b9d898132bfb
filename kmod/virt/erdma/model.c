// SPDX-License-Identifier: GPL-2.0-only
/* The device model: polls the registers and lets each part do its pending work. */
#include "ev.h"

DECLARE_RWSEM(ev_fabric);

/* INIT also includes a reset. */
static bool is_reset_asked(const struct vdev *vdev)
{
	return vdev_read32(vdev, ERDMA_FUNC_BAR, ERDMA_REG_DEV_CTRL);
}

static void release_objects(struct ev_adapter *ad)
{
	unsigned long index;
	struct ev_qp *qp;
	struct ev_cq *cq;
	struct ev_mr *mr;
	unsigned int i;

	down_write(&ev_fabric);
	xa_for_each(&ad->qps, index, qp)
		ev_qp_free(qp);
	xa_for_each(&ad->cqs, index, cq)
		ev_cq_free(cq);
	xa_for_each(&ad->mrs, index, mr)
		ev_mr_free(mr);
	xa_destroy(&ad->qps);
	xa_destroy(&ad->cqs);
	xa_destroy(&ad->mrs);
	up_write(&ev_fabric);
	memset(ad->db_users, 0, sizeof(ad->db_users));
	ev_cmdq_exit(ad);
	ev_eq_exit(&ad->aeq);
	for (i = ERDMA_EQN_CEQ(0); i < ERDMA_MAX_VECTORS; i++)
		ev_eq_exit(&ad->eq[i]);
}

/* After this call, the driver's memory is no longer accessed (hw 2.4). */
static void forget(struct vdev *vdev, enum vdev_why why)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);

	/* A driver must not mistake a dying device for one that was reset. */
	if (why == VDEV_RESET)
		ev_reg_write(ad, ERDMA_REG_DEV_ST, 0);
	ad->reset_at = 0;
	release_objects(ad);
	ad->mtu = 0;
	ad->page_shift = PAGE_SHIFT;
	ad->retrans_num = ERDMA_RETRANS_DEFAULT;
	ad->ext_attrs = 0;
	ad->delayed_ack = 0;
	ad->legacy = 0;
}

static int init_aeq(struct ev_adapter *ad)
{
	u64 addr = (u64)ev_reg_read(ad, ERDMA_REG_AEQ_ADDR_H) << 32 |
		   ev_reg_read(ad, ERDMA_REG_AEQ_ADDR_L);

	return ev_eq_init(ad, &ad->aeq, addr,
			  ev_reg_read(ad, ERDMA_REG_AEQ_DEPTH),
			  ev_reg_read64(ad, ERDMA_REG_AEQ_DBREC),
			  ERDMA_COMMON_VECTOR, ERDMA_REG_AEQ_DB);
}

/* INIT also works without a prior RESET, for kexec or after a driver crash. */
static void init(struct ev_adapter *ad)
{
	int ret;

	vdev_reset(&ad->vdev);
	if (!vdev_dma_attach(&ad->vdev))
		return;
	ret = init_aeq(ad);
	if (!ret)
		ret = ev_cmdq_init(ad);
	if (ret) {
		ev_log(ad, ERRORS, "INIT refused: %d\n", ret);
		release_objects(ad);
		vdev_dma_detach(&ad->vdev);
		return;
	}
	ad->vdev.state = VDEV_RUNNING;
	/* Set up all state before the driver may continue. */
	smp_wmb();
	ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_INIT_DONE);
}

/* A stale device keeps its objects, but reports success to the driver. */
static void obey_reset(struct ev_adapter *ad)
{
	if (READ_ONCE(ad->stale)) {
		ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_RESET_DONE);
		return;
	}
	vdev_reset(&ad->vdev);
	ev_cmdq_reset(ad);
	if (ad->params.reset_done)
		ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_RESET_DONE);
}

/* Makes a stale device appear as if no object had been destroyed. */
static void leave(struct ev_adapter *ad)
{
	WRITE_ONCE(ad->left, false);
	if (ad->vdev.state == VDEV_RUNNING)
		ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_INIT_DONE);
	WRITE_ONCE(ad->stale, false);
}

static void master_off(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);

	if (!READ_ONCE(ad->stale))
		return;
	/* Drops a request that was not executed. */
	ev_reg_write(ad, ERDMA_REG_DEV_CTRL, 0);
	WRITE_ONCE(ad->left, true);
}

static bool control(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);
	u32 ctrl;
	u64 ms;

	if (READ_ONCE(ad->left))
		leave(ad);
	if (ad->reset_at && ktime_after(ktime_get(), ad->reset_at))
		obey_reset(ad);
	ctrl = vdev_take32(vdev, ERDMA_FUNC_BAR, ERDMA_REG_DEV_CTRL);
	if (!ctrl)
		return false;
	if (ev_fault_hit(ad, ctrl & ERDMA_CTRL_INIT ? EV_FAULT_INIT_LOST :
			 EV_FAULT_RESET_LOST, -1, NULL))
		return true;
	if (ctrl & ERDMA_CTRL_INIT)
		init(ad);
	else if (!(ctrl & ERDMA_CTRL_RESET) || ad->reset_at)
		;
	else if (ev_fault_hit(ad, EV_FAULT_RESET_LATE, -1, &ms))
		ad->reset_at = ktime_add_ms(ktime_get(), ms);
	else
		obey_reset(ad);
	return true;
}

static void setup(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);
	unsigned int i;

	spin_lock_init(&ad->watch_lock);
	INIT_LIST_HEAD(&ad->cq_watch);
	xa_init(&ad->qps);
	xa_init(&ad->cqs);
	xa_init(&ad->mrs);
	ev_eq_setup(&ad->aeq);
	for (i = 0; i < ERDMA_MAX_VECTORS; i++)
		ev_eq_setup(&ad->eq[i]);
	ev_params_setup(ad);
}

static int may_plug(struct vdev *vdev)
{
	return ev_adapter_of(vdev)->params.mac_set ? 0 : -EINVAL;
}

static void power_on(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);
	const struct ev_params *p = &ad->params;
	const u8 *mac = p->mac;

	ad->false_until = 0;
	ev_reg_write(ad, ERDMA_REG_VERSION, p->version);
	ev_reg_write(ad, ERDMA_REG_DEV_PROTO, p->proto);
	ev_reg_write(ad, ERDMA_REG_MAC_L, (u32)mac[2] << 24 | mac[3] << 16 |
		     mac[4] << 8 | mac[5]);
	ev_reg_write(ad, ERDMA_REG_MAC_H, mac[0] << 8 | mac[1]);
	ev_reg_write(ad, ERDMA_REG_GRP_NUM, p->grp_num);
	ev_cmdq_reset(ad);
}

/* Larger than all existing numbers, so it refers to no object. */
#define NO_OBJECT	0xfffff

static void wrap_counters(struct ev_adapter *ad, u64 before)
{
	unsigned int i;

	for (i = 0; i < ERDMA_STATS_COUNT; i++)
		atomic64_set(&ad->stats[i], -before);
}

static void poll_running_faults(struct ev_adapter *ad)
{
	/* The flag is set again if another dead CQ is found later. */
	bool died = READ_ONCE(ad->cq_died) && xchg(&ad->cq_died, false);
	u64 arg;

	if (likely(!vdev_fault_any_is_on(&ad->vdev) && !died))
		return;
	down_read(&ev_fabric);
	if (ev_fault_is_on(ad, EV_FAULT_AEQ_CQ_ERROR))
		ev_cq_poll_faults(ad);
	if (died || ev_fault_is_on(ad, EV_FAULT_AEQ_QP_FATAL))
		ev_qp_poll_faults(ad);
	up_read(&ev_fabric);
	if (ev_fault_hit(ad, EV_FAULT_AEQ_UNKNOWN, -1, &arg))
		ev_eq_post_async(ad, NO_OBJECT, arg, 0);
	if (ev_fault_hit(ad, EV_FAULT_COUNTERS_WRAP, -1, &arg))
		wrap_counters(ad, arg);
}

static void faults(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);
	u64 ms;

	if (ad->false_until && ktime_after(ktime_get(), ad->false_until)) {
		ad->false_until = 0;
		ev_reg_write(ad, ERDMA_REG_VERSION, ad->params.version);
	}
	if (ev_fault_hit(ad, EV_FAULT_FALSE_GONE, -1, &ms)) {
		ad->false_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
		ev_reg_write(ad, ERDMA_REG_VERSION, ERDMA_REG_GONE);
	}
	if (vdev->state == VDEV_RUNNING && !vdev_is_stalled(vdev))
		poll_running_faults(ad);
}

static bool pass(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);
	unsigned int i;
	bool busy;

	busy = ev_cmdq_poll(ad, false);
	down_read(&ev_fabric);
	busy |= ev_qp_poll(vdev);
	busy |= ev_cq_poll(ad);
	up_read(&ev_fabric);
	busy |= ev_eq_poll(ad, &ad->aeq);
	for (i = 0; i < ERDMA_MAX_VECTORS; i++)
		busy |= ev_eq_poll(ad, &ad->eq[i]);
	return busy;
}

/* Executes atomic commands; resets and the data path are left to a thread. */
static void pass_atomic(struct vdev *vdev)
{
	struct ev_adapter *ad = ev_adapter_of(vdev);

	if (vdev->state == VDEV_RUNNING && !READ_ONCE(vdev->hung) &&
	    !READ_ONCE(ad->left) && vdev_may_access(vdev))
		ev_cmdq_poll(ad, true);
}

static bool serve(struct vdev *vdev)
{
	bool busy;

	down_read(&ev_fabric);
	busy = ev_qp_poll(vdev);
	up_read(&ev_fabric);
	return busy;
}

static const struct vdev_function function = {
	.vendor			= ERDMA_PCI_VENDOR,
	.device			= ERDMA_PCI_DEVICE,
	.subsystem_vendor	= ERDMA_PCI_VENDOR,
	.subsystem_device	= ERDMA_PCI_DEVICE,
	.class			= 0x020700,	/* InfiniBand network controller */
	.revision		= 0x01,
	.bar = {
		[ERDMA_FUNC_BAR] = { .size = ERDMA_BAR0_SIZE, .regs = ERDMA_REGS_SIZE },
		[ERDMA_MSIX_BAR] = { .size = EV_BAR2_SIZE },
	},
	.msix_bar		= ERDMA_MSIX_BAR,
	.msix_table		= EV_MSIX_TABLE,
	.msix_pba		= EV_MSIX_PBA,
	.min_vectors		= 2,
	.max_vectors		= ERDMA_MAX_VECTORS,
	.flr			= true,
};

const struct vdev_family ev_family = {
	.name		= "erdma",
	.size		= sizeof(struct ev_adapter),
	.function	= &function,
	.attrs		= ev_attrs,
	.knobs		= ev_knobs,
	.nr_knobs	= ARRAY_SIZE(ev_knobs),
	.setup		= setup,
	.may_plug	= may_plug,
	.power_on	= power_on,
	.reset		= forget,
	.is_reset_asked	= is_reset_asked,
	.master_off	= master_off,
	.faults		= faults,
	.control	= control,
	.pass		= pass,
	.pass_atomic	= pass_atomic,
	.serve		= serve,
};
