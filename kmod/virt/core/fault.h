/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs that inject faults into an adapter; implemented in fault.c. */
#ifndef VDEV_FAULT_H
#define VDEV_FAULT_H

#include <linux/configfs.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct vdev;

/* Knobs common to all adapters; each family's own knobs follow. */
enum vdev_fault_id {
	VDEV_FAULT_IRQ_LOST,
	VDEV_FAULT_IRQ_SPURIOUS,
	VDEV_FAULT_DEV_GONE,
	VDEV_FAULT_STALL,
	VDEV_FAULT_DEV_HANG,
	VDEV_FAULT_FW_RESET,
	VDEV_FAULT_COMMON
};

#define VDEV_MAX_FAULTS		64

/**
 * struct vdev_knob - name and description of a knob
 * @name: up to 19 characters
 * @about: description for the user
 */
struct vdev_knob {
	const char *name;
	const char *about;
};

/**
 * struct vdev_fault - settings of one knob
 * @vdev:        adapter
 * @lock:        protects the members below
 * @count:       remaining number of injections; -1: unlimited
 * @probability: percent
 * @target:      affected target, -1 for any
 * @arg:         meaning depends on the knob
 * @hits:        number of injections so far
 */
struct vdev_fault {
	struct config_group group;
	struct vdev *vdev;
	const char *about;
	spinlock_t lock;		/* protects the members below */
	int count;
	u32 probability;
	s64 target;
	u64 arg;
	u64 hits;
};

#endif /* VDEV_FAULT_H */
