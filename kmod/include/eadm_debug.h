/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug messages of drivers, by topic. A message is logged if its topic is set for the device
 * ("eadm conf set debug"), whether or not the kernel has dynamic debug. With dynamic debug, the
 * query 'module NAME format "TOPIC: " +p' has the same effect for all devices, even before any
 * device exists.
 *
 * The data path (work requests and completions) logs no debug messages.
 */
#ifndef EADM_DEBUG_H
#define EADM_DEBUG_H

#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>

#include "eadm_diag.h"

/*
 * Maximum number of messages per second from one place in the code, because any process that uses a
 * device can cause unlimited messages. The kernel logs the number of dropped messages.
 */
#define EADM_DEBUG_BURST	100

/* dev_dbg() is not used, because it would also depend on other switches. */
#define EADM_DEBUG_LEVEL	KERN_DEBUG

#define EADM_DEBUG_dev		EADM_DEBUG_TOPIC_DEV
#define EADM_DEBUG_cmd		EADM_DEBUG_TOPIC_CMD
#define EADM_DEBUG_event	EADM_DEBUG_TOPIC_EVENT
#define EADM_DEBUG_qp		EADM_DEBUG_TOPIC_QP
#define EADM_DEBUG_mr		EADM_DEBUG_TOPIC_MR
#define EADM_DEBUG_cm		EADM_DEBUG_TOPIC_CM

/**
 * eadm_debug() - log a debug message, if its topic is enabled
 * @dd: the device's struct eadm_diag_dev
 * @dev: the struct device named in the message
 * @topic: dev, cmd, event, qp, mr or cm
 * @fmt: printf format, a literal with a newline
 *
 * Context: any.
 */
#define eadm_debug(dd, dev, topic, fmt, ...)					\
	do {									\
		static DEFINE_RATELIMIT_STATE(_limit, HZ, EADM_DEBUG_BURST);	\
										\
		if (!unlikely(READ_ONCE((dd)->debug) & EADM_DEBUG_##topic))	\
			dev_dbg(dev, #topic ": " fmt, ##__VA_ARGS__);		\
		else if (__ratelimit(&_limit))					\
			dev_printk(EADM_DEBUG_LEVEL, dev, #topic ": " fmt, ##__VA_ARGS__); \
	} while (0)

#endif
