// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device model: looks at the registers and lets each part do what there is
 * to do.
 */
#include <linux/iommu.h>

#include "ev.h"

DECLARE_RWSEM(ev_fabric);

/**
 * ev_model_may_access() - may driver memory be touched?
 * @ad: adapter
 *
 * The driver may reset the device and free its memory at any time without
 * waiting for an answer; the request is in the register before it does. Unless
 * a fault takes it from there, it ends all access.
 *
 * Context: any; only ev_dma_begin() makes sure that the answer stays true.
 */
bool ev_model_may_access(struct ev_adapter *ad)
{
	return !ev_reg_read(ad, ERDMA_REG_DEV_CTRL) && ev_bus_is_master(ad);
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
	ad->iommu = NULL;
}

/* Forgets the driver: no memory of its is touched any more (hw 2.4). */
static void reset(struct ev_adapter *ad)
{
	ev_reg_write(ad, ERDMA_REG_DEV_ST, 0);
	ad->reset_at = 0;
	release_objects(ad);
	ev_msi_reset(ad);
	WRITE_ONCE(ad->hung, false);
	ad->mtu = 0;
	ad->page_shift = PAGE_SHIFT;
	ad->retrans_num = ERDMA_RETRANS_DEFAULT;
	ad->ext_attrs = 0;
	ad->delayed_ack = 0;
	ad->legacy = 0;
	if (ad->state == EV_RUNNING)
		ad->state = EV_POWERED;
	atomic64_inc(&ad->counters.resets);
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

/* INIT works without a RESET before it: kexec, crashed driver. */
static void init(struct ev_adapter *ad)
{
	struct pci_dev *pdev;
	int ret;

	reset(ad);
	if (!ad->bus)
		return;
	pdev = pci_get_slot(ad->bus, PCI_DEVFN(0, 0));
	if (!pdev)
		return;
	ad->iommu = iommu_get_domain_for_dev(&pdev->dev);
	pci_dev_put(pdev);
	ret = init_aeq(ad);
	if (!ret)
		ret = ev_cmdq_init(ad);
	if (ret) {
		ev_log(ad, EV_LOG_ERRORS, "INIT refused: %d\n", ret);
		release_objects(ad);
		return;
	}
	ad->state = EV_RUNNING;
	/* All set up before the driver may go on. */
	smp_wmb();
	ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_INIT_DONE);
}

/* What is left behind keeps its objects, but its driver need not know. */
static void obey_reset(struct ev_adapter *ad)
{
	if (READ_ONCE(ad->stale)) {
		ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_RESET_DONE);
		return;
	}
	reset(ad);
	ev_cmdq_reset(ad);
	if (ad->params.reset_done)
		ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_RESET_DONE);
}

static bool poll_control(struct ev_adapter *ad)
{
	u32 ctrl = ev_reg_read(ad, ERDMA_REG_DEV_CTRL);
	u64 ms;

	if (ad->reset_at && ktime_after(ktime_get(), ad->reset_at))
		obey_reset(ad);
	if (!ctrl)
		return false;
	ctrl = le32_to_cpu((__force __le32)
			   xchg((u32 *)(ad->bar0 + ERDMA_REG_DEV_CTRL), 0));
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

/**
 * ev_model_setup() - once in an adapter's life
 * @ad: adapter, zeroed
 */
void ev_model_setup(struct ev_adapter *ad)
{
	unsigned int i;

	mutex_init(&ad->lock);
	spin_lock_init(&ad->watch_lock);
	spin_lock_init(&ad->qp_lock);
	INIT_LIST_HEAD(&ad->qp_active);
	INIT_LIST_HEAD(&ad->qp_idle);
	INIT_LIST_HEAD(&ad->cq_watch);
	xa_init(&ad->qps);
	xa_init(&ad->cqs);
	xa_init(&ad->mrs);
	ev_eq_setup(&ad->aeq);
	for (i = 0; i < ERDMA_MAX_VECTORS; i++)
		ev_eq_setup(&ad->eq[i]);
}

/**
 * ev_model_power_on() - registers as after power-on
 * @ad: adapter with window
 *
 * Context: @ad->lock held, or nobody else has @ad.
 */
void ev_model_power_on(struct ev_adapter *ad)
{
	const struct ev_params *p = &ad->params;
	const u8 *mac = p->mac;

	memset(ad->bar0, 0, ERDMA_BAR0_SIZE);
	ad->false_until = 0;
	ev_reg_write(ad, ERDMA_REG_VERSION, p->version);
	ev_reg_write(ad, ERDMA_REG_DEV_PROTO, p->proto);
	ev_reg_write(ad, ERDMA_REG_MAC_L, (u32)mac[2] << 24 | mac[3] << 16 |
		     mac[4] << 8 | mac[5]);
	ev_reg_write(ad, ERDMA_REG_MAC_H, mac[0] << 8 | mac[1]);
	ev_reg_write(ad, ERDMA_REG_GRP_NUM, p->grp_num);
	ev_cmdq_reset(ad);
	WRITE_ONCE(ad->config_dead, false);
	ad->state = EV_POWERED;
	reset(ad);
}

static void die(struct ev_adapter *ad, ktime_t until)
{
	WRITE_ONCE(ad->config_dead, true);
	release_objects(ad);
	ad->state = EV_GONE;
	ad->gone_until = until;
	memset(ad->bar0, 0xff, ERDMA_BAR0_SIZE);
}

/**
 * ev_model_kill() - the function vanishes without notice
 * @ad: adapter
 *
 * Context: may sleep.
 */
void ev_model_kill(struct ev_adapter *ad)
{
	ev_model_lock(ad);
	die(ad, KTIME_MAX);
	ev_model_unlock(ad);
}

static void poll_config(struct ev_adapter *ad)
{
	/* The one that brings the driver's memory back into reach comes after it. */
	if (test_bit(EV_CONFIG_FLR, &ad->config_events)) {
		ev_model_power_on(ad);
		clear_bit(EV_CONFIG_FLR, &ad->config_events);
	}
	if (test_and_clear_bit(EV_CONFIG_LEFT, &ad->config_events)) {
		if (ad->state == EV_RUNNING)
			ev_reg_write(ad, ERDMA_REG_DEV_ST, ERDMA_ST_INIT_DONE);
		WRITE_ONCE(ad->stale, false);
	}
}

/* Beyond all numbers that exist: no object is meant. */
#define NO_OBJECT	0xfffff

static void wrap_counters(struct ev_adapter *ad, u64 before)
{
	unsigned int i;

	for (i = 0; i < ERDMA_STATS_COUNT; i++)
		atomic64_set(&ad->stats[i], -before);
}

static void poll_running_faults(struct ev_adapter *ad)
{
	/* Whoever finds a dead CQ later says so again. */
	bool died = READ_ONCE(ad->cq_died) && xchg(&ad->cq_died, false);
	u64 arg;

	if (likely(bitmap_empty(ad->faults_on, EV_FAULT_COUNT) && !died))
		return;
	down_read(&ev_fabric);
	if (ev_fault_is_on(ad, EV_FAULT_AEQ_CQ_ERROR))
		ev_cq_poll_faults(ad);
	if (died || ev_fault_is_on(ad, EV_FAULT_AEQ_QP_FATAL))
		ev_qp_poll_faults(ad);
	up_read(&ev_fabric);
	if (ev_fault_is_on(ad, EV_FAULT_IRQ_SPURIOUS))
		ev_msi_poll_faults(ad);
	if (ev_fault_hit(ad, EV_FAULT_AEQ_UNKNOWN, -1, &arg))
		ev_eq_post_async(ad, NO_OBJECT, arg, 0);
	if (ev_fault_hit(ad, EV_FAULT_COUNTERS_WRAP, -1, &arg))
		wrap_counters(ad, arg);
	if (ev_fault_hit(ad, EV_FAULT_DEV_HANG, -1, NULL))
		WRITE_ONCE(ad->hung, true);
	if (ev_fault_hit(ad, EV_FAULT_FW_RESET, -1, NULL))
		ev_model_power_on(ad);
}

/* Returns whether the device is out of order. */
static bool poll_faults(struct ev_adapter *ad)
{
	u64 ms;

	if (ad->state == EV_GONE) {
		if (ktime_before(ktime_get(), ad->gone_until)) {
			/* What a driver wrote must not be read back. */
			memset(ad->bar0, 0xff, ERDMA_REGS_SIZE);
			return true;
		}
		ev_model_power_on(ad);
	}
	if (ev_fault_hit(ad, EV_FAULT_DEV_GONE, -1, &ms)) {
		die(ad, ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX);
		return true;
	}
	if (ad->false_until && ktime_after(ktime_get(), ad->false_until)) {
		ad->false_until = 0;
		ev_reg_write(ad, ERDMA_REG_VERSION, ad->params.version);
	}
	if (ev_fault_hit(ad, EV_FAULT_FALSE_GONE, -1, &ms)) {
		ad->false_until = ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX;
		ev_reg_write(ad, ERDMA_REG_VERSION, ERDMA_REG_GONE);
	}
	if (ev_fault_hit(ad, EV_FAULT_STALL, -1, &ms))
		ad->stall_until = ktime_add_ms(ktime_get(), ms);
	if (ad->stall_until && ktime_before(ktime_get(), ad->stall_until))
		return true;
	ad->stall_until = 0;
	if (ad->state == EV_RUNNING)
		poll_running_faults(ad);
	return false;
}

/**
 * ev_model_pass() - look at everything once
 * @ad: adapter
 *
 * Context: may sleep, the model's turn.
 * Return: whether there was work.
 */
bool ev_model_pass(struct ev_adapter *ad)
{
	unsigned int i;
	bool busy;

	if (READ_ONCE(ad->config_events))
		poll_config(ad);
	if (poll_faults(ad))
		return false;
	busy = poll_control(ad);
	if (ad->state == EV_RUNNING && !ad->hung) {
		busy |= ev_cmdq_poll(ad, false);
		down_read(&ev_fabric);
		busy |= ev_qp_poll(ad);
		busy |= ev_cq_poll(ad);
		up_read(&ev_fabric);
		busy |= ev_eq_poll(ad, &ad->aeq);
		for (i = 0; i < ERDMA_MAX_VECTORS; i++)
			busy |= ev_eq_poll(ad, &ad->eq[i]);
	}
	return busy | ev_msi_poll(ad);
}

/**
 * ev_model_pass_atomic() - do what can be done without sleeping
 * @ad: adapter
 *
 * That is commands which ask for no more. Resets, knobs of the device and the
 * data path wait for a thread.
 *
 * Context: hard interrupt, the model's turn.
 */
void ev_model_pass_atomic(struct ev_adapter *ad)
{
	if (ad->state == EV_RUNNING && !READ_ONCE(ad->hung) &&
	    !ad->stall_until && !READ_ONCE(ad->config_events) &&
	    ev_model_may_access(ad))
		ev_cmdq_poll(ad, true);
}

/**
 * ev_model_lock() - take the model's turn
 * @ad: adapter
 *
 * Context: may sleep.
 */
void ev_model_lock(struct ev_adapter *ad)
{
	mutex_lock(&ad->lock);
	/* An interrupt on another CPU, which does not take long. */
	while (test_and_set_bit_lock(0, &ad->turn))
		cpu_relax();
}

/**
 * ev_model_trylock() - take the model's turn if nobody else has it
 * @ad: adapter
 *
 * Context: process.
 * Return: whether it is the caller's.
 */
bool ev_model_trylock(struct ev_adapter *ad)
{
	if (!mutex_trylock(&ad->lock))
		return false;
	while (test_and_set_bit_lock(0, &ad->turn))
		cpu_relax();
	return true;
}

/**
 * ev_model_unlock() - end the model's turn
 * @ad: adapter
 */
void ev_model_unlock(struct ev_adapter *ad)
{
	clear_bit_unlock(0, &ad->turn);
	mutex_unlock(&ad->lock);
}

/**
 * ev_model_start() - start the model
 * @ad: adapter with window and interrupt domain
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ev_model_start(struct ev_adapter *ad)
{
	ad->stall_until = 0;
	ev_model_power_on(ad);
	return ev_worker_start(ad);
}

/**
 * ev_model_stop() - stop the model
 * @ad: adapter that is off its bus
 *
 * Context: may sleep.
 */
void ev_model_stop(struct ev_adapter *ad)
{
	ev_worker_stop(ad);
	mutex_lock(&ad->lock);
	release_objects(ad);
	ad->state = EV_UNPLUGGED;
	mutex_unlock(&ad->lock);
}
