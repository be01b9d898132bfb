// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life cycle of the device behind the function, common to all families. A pass polls everything
 * once and lets each part do its pending work.
 */
#include "vdev.h"

/**
 * vdev_reset() - make the device discard all state of its driver
 * @vdev: adapter
 *
 * After this call, the driver's memory is no longer accessed. Families also call this when a
 * register requests a reset.
 *
 * Context: may sleep, the model's turn.
 */
void vdev_reset(struct vdev *vdev)
{
	vdev->family->reset(vdev, VDEV_RESET);
	vdev_dma_detach(vdev);
	vdev_msi_reset(vdev);
	WRITE_ONCE(vdev->hung, false);
	if (vdev->state == VDEV_RUNNING)
		vdev->state = VDEV_POWERED;
	atomic64_inc(&vdev->counters.resets);
}

static void power_on(struct vdev *vdev)
{
	vdev_window_idle(vdev);
	vdev->family->power_on(vdev);
	WRITE_ONCE(vdev->config_dead, false);
	vdev->state = VDEV_POWERED;
	vdev_reset(vdev);
}

static void die(struct vdev *vdev, ktime_t until)
{
	WRITE_ONCE(vdev->config_dead, true);
	vdev->family->reset(vdev, VDEV_DEATH);
	vdev_dma_detach(vdev);
	vdev->state = VDEV_GONE;
	vdev->gone_until = until;
	vdev_window_ones(vdev, true);
}

/**
 * vdev_kill() - make the function disappear without notice
 * @vdev: adapter
 *
 * Context: may sleep.
 */
void vdev_kill(struct vdev *vdev)
{
	vdev_lock(vdev);
	die(vdev, KTIME_MAX);
	vdev_unlock(vdev);
}

static void poll_running_faults(struct vdev *vdev)
{
	if (vdev_fault_is_on(vdev, VDEV_FAULT_IRQ_SPURIOUS))
		vdev_msi_poll_faults(vdev);
	if (vdev_fault_hit(vdev, VDEV_FAULT_DEV_HANG, -1, NULL))
		WRITE_ONCE(vdev->hung, true);
	if (vdev_fault_hit(vdev, VDEV_FAULT_FW_RESET, -1, NULL))
		power_on(vdev);
}

/* Returns true if a fault keeps the device from working. */
static bool poll_faults(struct vdev *vdev)
{
	u64 ms;

	if (vdev->state == VDEV_GONE) {
		if (ktime_before(ktime_get(), vdev->gone_until)) {
			/* The driver must not be able to read back values that it has written. */
			vdev_window_ones(vdev, false);
			return true;
		}
		power_on(vdev);
	}
	if (vdev_fault_hit(vdev, VDEV_FAULT_DEV_GONE, -1, &ms)) {
		die(vdev, ms ? ktime_add_ms(ktime_get(), ms) : KTIME_MAX);
		return true;
	}
	if (vdev_fault_hit(vdev, VDEV_FAULT_STALL, -1, &ms))
		vdev->stall_until = ktime_add_ms(ktime_get(), ms);
	vdev->family->faults(vdev);
	if (vdev_is_stalled(vdev))
		return true;
	vdev->stall_until = 0;
	if (vdev->state == VDEV_RUNNING)
		poll_running_faults(vdev);
	return false;
}

/* Discards the device at once; @flr_ms later a new device appears. */
static void reset_function(struct vdev *vdev)
{
	u32 ms = READ_ONCE(vdev->flr_ms);

	if (ms)
		die(vdev, ktime_add_ms(ktime_get(), ms));
	else
		power_on(vdev);
	/* Later reads of config space are ordered after the reset. */
	smp_store_release(&vdev->in_reset, false);
}

/**
 * vdev_pass() - poll everything once
 * @vdev: adapter
 *
 * Context: may sleep, the model's turn.
 * Return: true if there was any work.
 */
bool vdev_pass(struct vdev *vdev)
{
	const struct vdev_family *family = vdev->family;
	bool busy;

	if (READ_ONCE(vdev->in_reset))
		reset_function(vdev);
	if (poll_faults(vdev))
		return false;
	busy = family->control(vdev);
	if (vdev->state == VDEV_RUNNING && !vdev->hung)
		busy |= family->pass(vdev);
	return busy | vdev_msi_poll(vdev);
}

/**
 * vdev_pass_atomic() - do urgent work that does not sleep
 * @vdev: adapter
 *
 * Knobs of the device and function level resets are left to a thread.
 *
 * Context: hard interrupt, the model's turn.
 */
void vdev_pass_atomic(struct vdev *vdev)
{
	if ((vdev->state == VDEV_POWERED || vdev->state == VDEV_RUNNING) &&
	    !vdev->stall_until && !READ_ONCE(vdev->in_reset))
		vdev->family->pass_atomic(vdev);
}

/**
 * vdev_lock() - acquire the model's turn
 * @vdev: adapter
 *
 * Context: may sleep.
 */
void vdev_lock(struct vdev *vdev)
{
	mutex_lock(&vdev->lock);
	/* Waits for an interrupt handler on a different CPU, which does not take long. */
	while (test_and_set_bit_lock(0, &vdev->turn))
		cpu_relax();
}

/**
 * vdev_trylock() - acquire the model's turn if it is free
 * @vdev: adapter
 *
 * Context: process.
 * Return: true if the turn was acquired.
 */
bool vdev_trylock(struct vdev *vdev)
{
	if (!mutex_trylock(&vdev->lock))
		return false;
	while (test_and_set_bit_lock(0, &vdev->turn))
		cpu_relax();
	return true;
}

/**
 * vdev_unlock() - release the model's turn
 * @vdev: adapter
 */
void vdev_unlock(struct vdev *vdev)
{
	clear_bit_unlock(0, &vdev->turn);
	mutex_unlock(&vdev->lock);
}

/**
 * vdev_setup() - initialise, once per adapter
 * @vdev: adapter, zeroed except for its family
 *
 * Context: may sleep.
 */
void vdev_setup(struct vdev *vdev)
{
	mutex_init(&vdev->plug_lock);
	mutex_init(&vdev->lock);
	vdev_queue_setup(vdev);
	vdev->log_level = VDEV_LOG_ERRORS;
	vdev->device = vdev->family->function->device;
	vdev->vectors = vdev->family->function->max_vectors;
	vdev->flr = vdev->family->function->flr;
	vdev->family->setup(vdev);
}

/**
 * vdev_power_on() - power on a device
 * @vdev: adapter with window and interrupt domain, whose threads are not running yet
 *
 * Context: may sleep.
 */
void vdev_power_on(struct vdev *vdev)
{
	vdev->stall_until = 0;
	power_on(vdev);
}

/**
 * vdev_power_off() - power off a device
 * @vdev: adapter that is off its bus, whose threads are no longer running
 *
 * Context: may sleep.
 */
void vdev_power_off(struct vdev *vdev)
{
	mutex_lock(&vdev->lock);
	vdev->family->reset(vdev, VDEV_UNPLUG);
	vdev_dma_detach(vdev);
	vdev->state = VDEV_UNPLUGGED;
	mutex_unlock(&vdev->lock);
}
