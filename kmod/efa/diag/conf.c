// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: settings, which are the driver's. */

#include <linux/math64.h>

#include "diag.h"

#define TIMEOUT_MIN_MS	100
#define TIMEOUT_MAX_MS	120000
/* It has no connections. */
#define DEBUG_TOPICS	(EADM_DEBUG_TOPIC_DEV | EADM_DEBUG_TOPIC_CMD | EADM_DEBUG_TOPIC_EVENT | \
			 EADM_DEBUG_TOPIC_QP | EADM_DEBUG_TOPIC_MR)

/* A setting, and what it may be. */
struct param {
	u32 id;
	u64 min;
	u64 max;
};

static const struct param params[] = {
	{ EADM_CONF_PARAM_CMD_TIMEOUT, (u64)TIMEOUT_MIN_MS * NSEC_PER_MSEC,
	  (u64)TIMEOUT_MAX_MS * NSEC_PER_MSEC },
	{ EADM_CONF_PARAM_DEBUG, 0, DEBUG_TOPICS },
};

static void *conf_next(struct eadm_diag_dev *dd, u64 *id)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		if (params[i].id >= *id) {
			*id = params[i].id;
			return (void *)&params[i];
		}
	}
	return NULL;
}

static int conf_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	const struct param *param = obj;
	struct eadm_snap_conf *s = snap;

	SNAP_SET(s, param, param->id);
	SNAP_SET(s, lowest, param->min);
	SNAP_SET(s, highest, param->max);
	if (param->id == EADM_CONF_PARAM_CMD_TIMEOUT) {
		SNAP_SET(s, value, (u64)efa_cmd_timeout_ms(diag_to_dev(dd)) * NSEC_PER_MSEC);
		SNAP_STR(s, unit, "ns");
	} else {
		SNAP_SET(s, value, READ_ONCE(dd->debug));
		eadm_debug_names(s->value, s->value_name, sizeof(s->value_name));
		s->has.value_name = 1;
	}
	if (req->hw)
		SNAP_SET(s, read_back, 0);
	return 0;
}

const struct eadm_diag_obj efa_diag_conf = {
	.type = EADM_OBJ_CONF,
	.next = conf_next,
	.put = efa_diag_put_none,
	.fill = conf_fill,
};

/**
 * efa_diag_conf_set() - change a setting
 * @dd: the device
 * @param: EADM_CONF_PARAM_*
 * @value: its new value
 *
 * The adapter need not know.
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for a setting that there is not; -ERANGE for a value it cannot
 * take; -ENODEV.
 */
int efa_diag_conf_set(struct eadm_diag_dev *dd, u32 param, u64 value)
{
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_CONF,
		.id = param,
		.code = value,
	};
	struct efa_dev *dev = diag_to_dev(dd);
	const struct param *p;
	u64 id = param;

	p = conf_next(dd, &id);
	if (!p || id != param)
		return -EOPNOTSUPP;
	if (value < p->min || value > p->max)
		return -ERANGE;
	if (READ_ONCE(dev->gone))
		return -ENODEV;
	if (param == EADM_CONF_PARAM_DEBUG)
		WRITE_ONCE(dd->debug, value);
	else
		WRITE_ONCE(dev->hw.cmd_timeout, div_u64(value, NSEC_PER_MSEC));
	eadm_diag_notify(dd, EADM_DIAG_CONF, &ev);
	return 0;
}
