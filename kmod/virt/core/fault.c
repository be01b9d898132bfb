// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on demand: one row per knob here, one call of ev_fault_hit() where it
 * strikes. tests/vm/faults/README.md tells what comes of each; a test compares
 * the two. Each knob is a folder fault/NAME with the files
 *   count        how many more times it strikes; -1 for ever; 0, the default, off
 *   probability  percent, 100 by default
 *   target       what it applies to, see the row; -1, the default, anything
 *   arg          see the row
 *   hits         how often it struck (read only)
 *   about        what it does (read only)
 */
#include <linux/random.h>

#include "../erdma/ev.h"

#define TARGET_CMD	"; target: submodule * 256 + opcode"
#define TARGET_EQ	"; target: EQ, 0 the AEQ, 1 the command queue's, then CEQs"
#define TARGET_CQ	"; target: CQN"
#define TARGET_QP	"; target: QPN"

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
	[EV_FAULT_CMD_SLOW] = { "cmd_slow",
		"a command takes about arg us, one in 100 ten times that" TARGET_CMD },
	[EV_FAULT_CMD_DB_LOST] = { "cmd_db_lost",
		"a doorbell of the command queue is not noticed" },
	[EV_FAULT_CMD_ARM_LOST] = { "cmd_arm_lost",
		"the command queue's request for an event is not noticed" },
	[EV_FAULT_ANSWER_GARBAGE] = { "answer_garbage",
		"the buffer of a query is filled with garbage" TARGET_CMD },
	[EV_FAULT_IRQ_LOST] = { "irq_lost",
		"an interrupt is not delivered; target: vector" },
	[EV_FAULT_IRQ_SPURIOUS] = { "irq_spurious",
		"an interrupt without a cause; target: vector" },
	[EV_FAULT_EQ_DB_LOST] = { "eq_db_lost",
		"an EQ's doorbell is not noticed: no interrupt follows" TARGET_EQ },
	[EV_FAULT_EQ_OVERFLOW] = { "eq_overflow",
		"an EQ counts as full: an event is dropped" TARGET_EQ },
	[EV_FAULT_EQE_DUPLICATE] = { "eqe_duplicate",
		"an event is written twice" TARGET_EQ },
	[EV_FAULT_AEQ_QP_FATAL] = { "aeq_qp_fatal",
		"a connected QP fails with syndrome arg" TARGET_QP },
	[EV_FAULT_AEQ_CQ_ERROR] = { "aeq_cq_error",
		"a CQ fails, and with it its QPs" TARGET_CQ },
	[EV_FAULT_AEQ_UNKNOWN] = { "aeq_unknown",
		"an event of type arg about an object that does not exist" },
	[EV_FAULT_CQ_ARM_LOST] = { "cq_arm_lost",
		"a CQ's request for an event is not noticed" TARGET_CQ },
	[EV_FAULT_CQ_OVERRUN] = { "cq_overrun",
		"a CQ counts as full at a completion: it fails" TARGET_CQ },
	[EV_FAULT_CQE_LOST] = { "cqe_lost",
		"a completion is not written" TARGET_CQ },
	[EV_FAULT_CQE_DUPLICATE] = { "cqe_duplicate",
		"a completion is written twice" TARGET_CQ },
	[EV_FAULT_CQE_OWNER] = { "cqe_owner",
		"a completion has the wrong owner bit" TARGET_CQ },
	[EV_FAULT_CQE_OPCODE] = { "cqe_opcode",
		"a completion has opcode arg" TARGET_CQ },
	[EV_FAULT_CQE_QPN] = { "cqe_qpn",
		"a completion names QP arg" TARGET_CQ },
	[EV_FAULT_SQ_DB_LOST] = { "sq_db_lost",
		"a doorbell of a send queue is not noticed" TARGET_QP },
	[EV_FAULT_RQ_DB_LOST] = { "rq_db_lost",
		"a doorbell of a receive queue is not noticed" TARGET_QP },
	[EV_FAULT_QP_STALL] = { "qp_stall",
		"a QP sends nothing for arg ms, 0: until it is stopped" TARGET_QP },
	[EV_FAULT_WR_ERROR] = { "wr_error",
		"a work request fails with syndrome arg" TARGET_QP },
	[EV_FAULT_WR_SLOW] = { "wr_slow",
		"a work request waits about arg us, one in 100 ten times that" TARGET_QP },
	[EV_FAULT_DMA_FAULT] = { "dma_fault",
		"a work request's memory cannot be reached" TARGET_QP },
	[EV_FAULT_RNR] = { "rnr",
		"a message finds no receive, comes again arg ms later; target: receiver's QPN" },
	[EV_FAULT_PEER_SILENT] = { "peer_silent",
		"a QP does not answer its partner's transmission" TARGET_QP },
	[EV_FAULT_RETRANSMIT] = { "retransmit",
		"a message is lost on its way, sent again arg ms later" TARGET_QP },
	[EV_FAULT_LINK_DOWN] = { "link_down",
		"a message is dropped at the disabled port, sent or received" },
	[EV_FAULT_BPS_LIMIT] = { "bps_limit",
		"the bit rate limiter drops a message, sent again arg ms later" TARGET_QP },
	[EV_FAULT_PPS_LIMIT] = { "pps_limit",
		"the packet rate limiter drops a message, sent again arg ms later" TARGET_QP },
	[EV_FAULT_COUNTERS_WRAP] = { "counters_wrap",
		"all counters of the port are at 2^64 - arg" },
	[EV_FAULT_DEV_GONE] = { "dev_gone",
		"reads give ones; arg: ms until the function is back, 0: never" },
	[EV_FAULT_STALL] = { "stall",
		"the device does nothing for arg ms" },
	[EV_FAULT_DEV_HANG] = { "dev_hang",
		"the device does nothing until it is reset" },
	[EV_FAULT_FW_RESET] = { "fw_reset",
		"the firmware starts again and knows nothing of the driver" },
	[EV_FAULT_INIT_LOST] = { "init_lost",
		"a request to start is not noticed" },
	[EV_FAULT_RESET_LOST] = { "reset_lost",
		"a request to reset is not noticed, everything works on" },
	[EV_FAULT_RESET_LATE] = { "reset_late",
		"a request to reset is obeyed arg ms later, everything works till then" },
	[EV_FAULT_FALSE_GONE] = { "false_gone",
		"the version reads as ones for arg ms, 0: for ever, but everything works" },
};

static struct ev_fault *to_fault(struct config_item *item)
{
	return container_of(to_config_group(item), struct ev_fault, group);
}

static void switch_on(struct ev_fault *fault)
{
	struct ev_adapter *ad = fault->ad;

	lockdep_assert_held(&fault->lock);
	assign_bit(fault - ad->fault, ad->faults_on, fault->count);
}

#define FAULT_ATTR(_name, _type, _fmt, _parse, _valid) \
static ssize_t fault_##_name##_show(struct config_item *item, char *page) \
{ \
	struct ev_fault *fault = to_fault(item); \
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
	struct ev_fault *fault = to_fault(item); \
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
	struct ev_fault *fault = to_fault(item);
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
		fault->ad = ad;
		fault->about = knobs[i].about;
		fault->probability = 100;
		fault->target = -1;
		config_group_init_type_name(&fault->group, knobs[i].name,
					    &fault_type);
		configfs_add_default_group(&fault->group, &ad->faults);
	}
}

/**
 * ev_fault_strike() - does a fault that is on strike? See ev_fault_hit()
 * @ad: adapter
 * @id: the knob
 * @target: what it would strike, compared with the knob's target
 * @arg: gets the knob's argument, may be NULL
 *
 * Context: any.
 * Return: whether the caller has to do damage.
 */
bool ev_fault_strike(struct ev_adapter *ad, enum ev_fault_id id, s64 target,
		     u64 *arg)
{
	struct ev_fault *fault = &ad->fault[id];
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
 * ev_fault_latency() - how long something slow takes
 * @mean_us: roughly the mean; more is not the fault's, but the caller's mistake
 *
 * Half to one and a half of it, one time in a hundred ten times that.
 *
 * Context: any.
 * Return: microseconds.
 */
u64 ev_fault_latency(u64 mean_us)
{
	u32 mean = min_t(u64, mean_us, USEC_PER_SEC);
	u32 us = mean / 2 + get_random_u32_below(mean + 1);

	return get_random_u32_below(100) ? us : 10 * us;
}
