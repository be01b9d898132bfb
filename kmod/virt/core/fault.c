// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault injection: one row per knob here, or in its family's table, and one call of
 * vdev_fault_hit() where the fault is injected. Each knob is a folder fault/NAME with the files
 *   count        remaining number of injections; -1: unlimited; 0, the default: off
 *   probability  percent, 100 by default
 *   target       affected target, see the row; -1, the default: any
 *   arg          see the row
 *   hits         number of injections so far (read only)
 *   about        description (read only)
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "vdev.h"

static const struct vdev_knob common[VDEV_FAULT_COMMON] = {
	[VDEV_FAULT_IRQ_LOST] = { "irq_lost",
		"an interrupt is not delivered; target: vector" },
	[VDEV_FAULT_IRQ_SPURIOUS] = { "irq_spurious",
		"a spurious interrupt is raised; target: vector" },
	[VDEV_FAULT_DEV_GONE] = { "dev_gone",
		"reads return all ones; arg: ms until the function is back (0: never)" },
	[VDEV_FAULT_STALL] = { "stall",
		"the device does nothing for arg ms" },
	[VDEV_FAULT_DEV_HANG] = { "dev_hang",
		"the device does nothing until it is reset" },
	[VDEV_FAULT_FW_RESET] = { "fw_reset",
		"the firmware restarts and loses all driver state" },
};

static struct vdev_fault *to_fault(struct config_item *item)
{
	return container_of(to_config_group(item), struct vdev_fault, group);
}

static void switch_on(struct vdev_fault *fault)
{
	struct vdev *vdev = fault->vdev;

	lockdep_assert_held(&fault->lock);
	assign_bit(fault - vdev->fault, vdev->faults_on, fault->count);
}

#define FAULT_ATTR(_name, _type, _fmt, _parse, _valid) \
static ssize_t fault_##_name##_show(struct config_item *item, char *page) \
{ \
	struct vdev_fault *fault = to_fault(item); \
	_type value; \
\
	spin_lock_irq(&fault->lock); \
	value = fault->_name; \
	spin_unlock_irq(&fault->lock); \
	return sysfs_emit(page, _fmt "\n", value); \
} \
\
static ssize_t fault_##_name##_store(struct config_item *item, \
				     const char *page, size_t len) \
{ \
	struct vdev_fault *fault = to_fault(item); \
	_type value; \
	int ret; \
\
	ret = _parse(page, 0, &value); \
	if (ret) \
		return ret; \
	if (!(_valid)) \
		return -EINVAL; \
	spin_lock_irq(&fault->lock); \
	fault->_name = value; \
	switch_on(fault); \
	spin_unlock_irq(&fault->lock); \
	return len; \
} \
CONFIGFS_ATTR(fault_, _name)

FAULT_ATTR(count, int, "%d", kstrtoint, value >= -1);
FAULT_ATTR(probability, u32, "%u", kstrtou32, value <= 100);
FAULT_ATTR(target, s64, "%lld", kstrtos64, value >= -1);
FAULT_ATTR(arg, u64, "%llu", kstrtou64, true);

static ssize_t fault_hits_show(struct config_item *item, char *page)
{
	struct vdev_fault *fault = to_fault(item);
	u64 hits;

	spin_lock_irq(&fault->lock);
	hits = fault->hits;
	spin_unlock_irq(&fault->lock);
	return sysfs_emit(page, "%llu\n", hits);
}
CONFIGFS_ATTR_RO(fault_, hits);

static ssize_t fault_about_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", to_fault(item)->about);
}
CONFIGFS_ATTR_RO(fault_, about);

static struct configfs_attribute *fault_attrs[] = {
	&fault_attr_count,
	&fault_attr_probability,
	&fault_attr_target,
	&fault_attr_arg,
	&fault_attr_hits,
	&fault_attr_about,
	NULL
};

static const struct config_item_type fault_type = {
	.ct_attrs	= fault_attrs,
	.ct_owner	= THIS_MODULE,
};

static const struct config_item_type faults_type = {
	.ct_owner	= THIS_MODULE,
};

static const struct vdev_knob *knob(const struct vdev_family *family, unsigned int id)
{
	return id < VDEV_FAULT_COMMON ? &common[id] : &family->knobs[id - VDEV_FAULT_COMMON];
}

/**
 * vdev_fault_init() - create an adapter's fault folders
 * @vdev: adapter with an initialised configfs group
 *
 * Context: may sleep. Undone by vdev_fault_exit().
 * Return: 0 or -ENOMEM.
 */
int vdev_fault_init(struct vdev *vdev)
{
	unsigned int i, n = VDEV_FAULT_COMMON + vdev->family->nr_knobs;

	vdev->fault = kcalloc(n, sizeof(*vdev->fault), GFP_KERNEL);
	if (!vdev->fault)
		return -ENOMEM;
	config_group_init_type_name(&vdev->faults, "fault", &faults_type);
	configfs_add_default_group(&vdev->faults, &vdev->group);
	for (i = 0; i < n; i++) {
		struct vdev_fault *fault = &vdev->fault[i];

		spin_lock_init(&fault->lock);
		fault->vdev = vdev;
		fault->about = knob(vdev->family, i)->about;
		fault->probability = 100;
		fault->target = -1;
		config_group_init_type_name(&fault->group, knob(vdev->family, i)->name,
					    &fault_type);
		configfs_add_default_group(&fault->group, &vdev->faults);
	}
	return 0;
}

/**
 * vdev_fault_exit() - undo vdev_fault_init()
 * @vdev: adapter whose folders are no longer in use
 */
void vdev_fault_exit(struct vdev *vdev)
{
	kfree(vdev->fault);
}

/**
 * vdev_fault_strike() - check whether an enabled fault occurs, see vdev_fault_hit()
 * @vdev: adapter
 * @id: the knob
 * @target: the target that would be affected, compared with the knob's target
 * @arg: set to the knob's argument, may be NULL
 *
 * Context: any.
 * Return: true if the caller has to inject the fault.
 */
bool vdev_fault_strike(struct vdev *vdev, unsigned int id, s64 target,
		       u64 *arg)
{
	struct vdev_fault *fault = &vdev->fault[id];
	unsigned long flags;
	bool hit = false;

	spin_lock_irqsave(&fault->lock, flags);
	if (fault->count &&
	    (fault->target < 0 || fault->target == target) &&
	    get_random_u32_below(100) < fault->probability) {
		hit = true;
		fault->hits++;
		if (fault->count > 0)
			fault->count--;
		if (arg)
			*arg = fault->arg;
		switch_on(fault);
	}
	spin_unlock_irqrestore(&fault->lock, flags);
	return hit;
}

/**
 * vdev_fault_latency() - return a random duration for a slow operation
 * @mean_us: roughly the mean; capped at one second
 *
 * The duration is 0.5 to 1.5 times the mean, and ten times as long in one of a hundred cases.
 *
 * Context: any.
 * Return: microseconds.
 */
u64 vdev_fault_latency(u64 mean_us)
{
	u32 mean = min_t(u64, mean_us, USEC_PER_SEC);
	u32 us = mean / 2 + get_random_u32_below(mean + 1);

	return get_random_u32_below(100) ? us : 10 * us;
}
