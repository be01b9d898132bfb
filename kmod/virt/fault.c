// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on demand: one row per knob here, one call of ev_fault_hit() where it
 * strikes. Each knob is a folder fault/NAME with the files
 *   count        how many more times it strikes; -1 for ever; 0, the default, off
 *   probability  percent, 100 by default
 *   target       what it applies to, see the row; -1, the default, anything
 *   arg          see the row
 *   hits         how often it struck (read only)
 *   about        what it does (read only)
 */
#include <linux/random.h>

#include "ev.h"

#define TARGET_CMD	"; target: submodule * 256 + opcode"

struct knob {
	const char *name;		/* up to 19 characters */
	const char *about;
};

static const struct knob knobs[EV_FAULT_COUNT] = {
	[EV_FAULT_CMD_DROP] = { "cmd_drop",
		"a command is never completed; arg 1: but executed" TARGET_CMD },
	[EV_FAULT_CMD_DELAY] = { "cmd_delay",
		"a command and all after it complete arg ms later" TARGET_CMD },
	[EV_FAULT_CMD_ERROR] = { "cmd_error",
		"a command is not executed and fails with syndrome arg" TARGET_CMD },
	[EV_FAULT_CMD_DUPLICATE] = { "cmd_duplicate",
		"a command is completed twice" TARGET_CMD },
	[EV_FAULT_IRQ_LOST] = { "irq_lost",
		"an interrupt is not delivered; target: vector" },
	[EV_FAULT_DEV_GONE] = { "dev_gone",
		"reads give ones; arg: ms until the function is back, 0: never" },
	[EV_FAULT_STALL] = { "stall",
		"the device does nothing for arg ms" },
};

static struct ev_fault *to_fault(struct config_item *item)
{
	return container_of(to_config_group(item), struct ev_fault, group);
}

#define FAULT_ATTR(_name, _type, _fmt, _parse, _valid) \
static ssize_t fault_##_name##_show(struct config_item *item, char *page) \
{ \
	struct ev_fault *fault = to_fault(item); \
	_type value; \
\
	spin_lock(&fault->lock); \
	value = fault->_name; \
	spin_unlock(&fault->lock); \
	return sysfs_emit(page, _fmt "\n", value); \
} \
\
static ssize_t fault_##_name##_store(struct config_item *item, \
				     const char *page, size_t len) \
{ \
	struct ev_fault *fault = to_fault(item); \
	_type value; \
	int ret; \
\
	ret = _parse(page, 0, &value); \
	if (ret) \
		return ret; \
	if (!(_valid)) \
		return -EINVAL; \
	spin_lock(&fault->lock); \
	fault->_name = value; \
	spin_unlock(&fault->lock); \
	return len; \
} \
CONFIGFS_ATTR(fault_, _name)

FAULT_ATTR(count, int, "%d", kstrtoint, value >= -1);
FAULT_ATTR(probability, u32, "%u", kstrtou32, value <= 100);
FAULT_ATTR(target, s64, "%lld", kstrtos64, value >= -1);
FAULT_ATTR(arg, u64, "%llu", kstrtou64, true);

static ssize_t fault_hits_show(struct config_item *item, char *page)
{
	struct ev_fault *fault = to_fault(item);
	u64 hits;

	spin_lock(&fault->lock);
	hits = fault->hits;
	spin_unlock(&fault->lock);
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

/**
 * ev_fault_init() - give an adapter its fault folders
 * @ad: adapter whose configfs group is initialised
 */
void ev_fault_init(struct ev_adapter *ad)
{
	unsigned int i;

	config_group_init_type_name(&ad->faults, "fault", &faults_type);
	configfs_add_default_group(&ad->faults, &ad->group);
	for (i = 0; i < EV_FAULT_COUNT; i++) {
		struct ev_fault *fault = &ad->fault[i];

		spin_lock_init(&fault->lock);
		fault->about = knobs[i].about;
		fault->probability = 100;
		fault->target = -1;
		config_group_init_type_name(&fault->group, knobs[i].name,
					    &fault_type);
		configfs_add_default_group(&fault->group, &ad->faults);
	}
}

/**
 * ev_fault_hit() - does a fault strike here and now?
 * @ad: adapter
 * @id: the knob
 * @target: what it would strike, compared with the knob's target
 * @arg: gets the knob's argument, may be NULL
 *
 * Context: any.
 * Return: whether the caller has to do damage.
 */
bool ev_fault_hit(struct ev_adapter *ad, enum ev_fault_id id, s64 target,
		  u64 *arg)
{
	struct ev_fault *fault = &ad->fault[id];
	bool hit = false;

	if (likely(!READ_ONCE(fault->count)))
		return false;
	spin_lock(&fault->lock);
	if (fault->count &&
	    (fault->target < 0 || fault->target == target) &&
	    get_random_u32_below(100) < fault->probability) {
		hit = true;
		fault->hits++;
		if (fault->count > 0)
			fault->count--;
		if (arg)
			*arg = fault->arg;
	}
	spin_unlock(&fault->lock);
	return hit;
}
