// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: settings. */

#include "eadm_conf.h"
#include "diag.h"

#define TIMEOUT_MIN_MS	500
#define TIMEOUT_MAX_MS	60000
#define DEBUG_TOPICS	(EADM_DEBUG_TOPIC_DEV | EADM_DEBUG_TOPIC_CMD | EADM_DEBUG_TOPIC_EVENT | \
			 EADM_DEBUG_TOPIC_QP | EADM_DEBUG_TOPIC_MR | EADM_DEBUG_TOPIC_CM)

static const struct eadm_conf_param params[] = {
	{ EADM_CONF_PARAM_CC, ERDMA_CC_NEWRENO, ERDMA_CC_HPCC_INT, 1 },
	{ EADM_CONF_PARAM_RETRANS_NUM, 1, ERDMA_RETRANS_MAX, 1, "packets" },
	{ EADM_CONF_PARAM_DELAYED_ACK, 0, U8_MAX, 1, "packets" },
	EADM_CONF_TIMEOUT(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
	EADM_CONF_DEBUG(DEBUG_TOPICS),
};

static const char *const cc_names[] = {
	[ERDMA_CC_NEWRENO]	= "newreno",
	[ERDMA_CC_CUBIC]	= "cubic",
	[ERDMA_CC_HPCC_RTT]	= "hpcc-rtt",
	[ERDMA_CC_HPCC_ECN]	= "hpcc-ecn",
	[ERDMA_CC_HPCC_INT]	= "hpcc-int",
};

static void *conf_next(struct eadm_diag_dev *dd, u64 *id)
{
	return (void *)eadm_conf_next(params, ARRAY_SIZE(params), id);
}

/* This is the only setting that can be read back from the adapter. */
static void fill_delayed_ack(struct erdma_dev *dev, struct eadm_snap_conf *s,
			     const struct eadm_diag_req *req)
{
	struct erdma_ext_attr attr;
	int ret, told;

	told = READ_ONCE(dev->conf.delayed_ack);
	if (told >= 0)
		SNAP_SET(s, value, told);
	if (!req->hw)
		return;
	ret = -ENODEV;
	if (!READ_ONCE(dev->adapter.gone))
		ret = eadm_recent_read(&dev->recent.ext_attr, &attr, req->admin);
	if (!ret && !(le32_to_cpu(attr.cap_mask) & ERDMA_EXT_ATTR_DELAYED_ACK))
		ret = -EOPNOTSUPP;
	if (ret) {
		SNAP_SET(s, hw_error, ret);
		return;
	}
	SNAP_SET(s, value, attr.delayed_ack);
	SNAP_SET(s, read_back, 1);
}

static int conf_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	const struct eadm_conf_param *param = obj;
	struct eadm_snap_conf *s = snap;
	u8 cc, num;

	eadm_conf_fill(dd, param, s, req);
	switch (param->id) {
	case EADM_CONF_PARAM_CC:
		cc = READ_ONCE(dev->conf.cc);
		SNAP_SET(s, value, cc);
		if (cc < ARRAY_SIZE(cc_names))
			SNAP_STR(s, value_name, cc_names[cc]);
		break;
	case EADM_CONF_PARAM_RETRANS_NUM:
		num = READ_ONCE(dev->conf.retrans_num);
		if (num)
			SNAP_SET(s, value, num);
		break;
	case EADM_CONF_PARAM_DELAYED_ACK:
		fill_delayed_ack(dev, s, req);
		break;
	case EADM_CONF_PARAM_CMD_TIMEOUT:
		SNAP_SET(s, value, (u64)READ_ONCE(dev->adapter.cmd_timeout) * NSEC_PER_MSEC);
		break;
	}
	return 0;
}

const struct eadm_diag_obj erdma_diag_conf = {
	.type = EADM_OBJ_CONF,
	.next = conf_next,
	.put = eadm_put_none,
	.fill = conf_fill,
};

static int apply(struct erdma_dev *dev, u32 param, u32 value)
{
	switch (param) {
	case EADM_CONF_PARAM_CC:
		/* Passed to the adapter with each connection. */
		WRITE_ONCE(dev->conf.cc, value);
		return 0;
	case EADM_CONF_PARAM_RETRANS_NUM:
		return erdma_conf_set_retrans_num(dev, value);
	case EADM_CONF_PARAM_DELAYED_ACK:
		return erdma_conf_set_delayed_ack(dev, value);
	case EADM_CONF_PARAM_CMD_TIMEOUT:
		/* The driver's own setting: the adapter does not need it. */
		WRITE_ONCE(dev->adapter.cmd_timeout, value);
		return 0;
	case EADM_CONF_PARAM_DEBUG:
		WRITE_ONCE(dev->adapter.diag.debug, value);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * erdma_diag_conf_set() - change a setting
 * @dd: the device
 * @param: EADM_CONF_PARAM_*
 * @value: its new value
 *
 * Context: process; issues a command.
 * Return: 0; -EOPNOTSUPP for a setting that the adapter does not have; -ERANGE
 * for a value it cannot take; -errno of the command.
 */
int erdma_diag_conf_set(struct eadm_diag_dev *dd, u32 param, u64 value)
{
	struct erdma_dev *dev = diag_to_dev(dd);
	u32 scaled;
	int ret;

	ret = eadm_conf_check(params, ARRAY_SIZE(params), param, value, &scaled);
	if (ret)
		return ret;
	if (READ_ONCE(dev->adapter.gone))
		return -ENODEV;
	ret = apply(dev, param, scaled);
	/* This is how the adapter refuses an unknown setting. */
	if (ret == -EIO)
		return -EOPNOTSUPP;
	if (!ret)
		eadm_conf_changed(dd, param, value);
	return ret;
}
