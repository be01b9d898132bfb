// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: settings. */

#include "diag.h"

#define TIMEOUT_MIN_MS	500
#define TIMEOUT_MAX_MS	60000
#define DEBUG_TOPICS	(EADM_DEBUG_TOPIC_DEV | EADM_DEBUG_TOPIC_CMD | EADM_DEBUG_TOPIC_EVENT | \
			 EADM_DEBUG_TOPIC_QP | EADM_DEBUG_TOPIC_MR | EADM_DEBUG_TOPIC_CM)

static const struct eadm_setting settings[] = {
	{ EADM_CONF_PARAM_CC, ERDMA_CC_NEWRENO, ERDMA_CC_HPCC_INT, 1 },
	{ EADM_CONF_PARAM_RETRANS_NUM, 1, ERDMA_RETRANS_MAX, 1, "packets" },
	{ EADM_CONF_PARAM_DELAYED_ACK, 0, U8_MAX, 1, "packets" },
	EADM_SETTING_TIMEOUT(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
	EADM_SETTING_DEBUG(DEBUG_TOPICS),
};

static const char *const cc_names[] = {
	[ERDMA_CC_NEWRENO]	= "newreno",
	[ERDMA_CC_CUBIC]	= "cubic",
	[ERDMA_CC_HPCC_RTT]	= "hpcc-rtt",
	[ERDMA_CC_HPCC_ECN]	= "hpcc-ecn",
	[ERDMA_CC_HPCC_INT]	= "hpcc-int",
};

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

static void fill(struct eadm_adapter *ad, u32 id, struct eadm_snap_conf *s,
		 const struct eadm_diag_req *req)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	u8 cc, num;

	switch (id) {
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
	}
}

/* Changes a setting in the adapter, and records it for restoring after a reset (conf.c). */
static int set(struct erdma_dev *dev, u32 id, u32 value)
{
	struct erdma_conf *conf = &dev->conf;
	int ret;

	mutex_lock(&conf->lock);
	if (id == EADM_CONF_PARAM_RETRANS_NUM) {
		ret = erdma_cmd_set_retrans_num(dev, value);
		if (!ret)
			WRITE_ONCE(conf->retrans_num, value);
	} else {
		ret = erdma_cmd_set_delayed_ack(dev, value);
		if (!ret)
			WRITE_ONCE(conf->delayed_ack, value);
	}
	mutex_unlock(&conf->lock);
	return ret;
}

static int apply(struct eadm_adapter *ad, u32 id, u32 value)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	int ret;

	if (id == EADM_CONF_PARAM_CC) {
		/* The value is passed to the adapter with each connection. */
		WRITE_ONCE(dev->conf.cc, value);
		return 0;
	}
	ret = set(dev, id, value);
	if (id == EADM_CONF_PARAM_DELAYED_ACK)
		eadm_recent_forget(&dev->recent.ext_attr);
	/* The adapter rejects an unknown setting with this error. */
	return ret == -EIO ? -EOPNOTSUPP : ret;
}

const struct eadm_settings erdma_settings = {
	.table = settings,
	.count = ARRAY_SIZE(settings),
	.fill = fill,
	.apply = apply,
};
