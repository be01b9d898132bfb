/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs that make an adapter fail; implemented in fault.c. */
#ifndef VDEV_FAULT_H
#define VDEV_FAULT_H

#include <linux/configfs.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct vdev;

/* Common knobs of all adapters; those of a family follow. */
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
 * struct vdev_fault - one knob's setting
 * @vdev:        whose
 * @lock:        guards the rest
 * @count:       how many more times it strikes; -1: unlimited
 * @probability: percent
 * @target:      what it applies to, -1 for anything
 * @arg:         meaning depends on the knob
 * @hits:        how often it has struck
 */
struct vdev_fault {
	struct config_group group;
	struct vdev *vdev;
	const char *about;
	spinlock_t lock;		/* all below */
	int count;
	u32 probability;
	s64 target;
	u64 arg;
	u64 hits;
};

#endif /* VDEV_FAULT_H */
