// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: settings, which are all the driver's own. */

#include "eadm_conf.h"
#include "diag.h"

#define TIMEOUT_MIN_MS	100
#define TIMEOUT_MAX_MS	120000
/* All topics except connections, which EFA does not have. */
#define DEBUG_TOPICS	(EADM_DEBUG_TOPIC_DEV | EADM_DEBUG_TOPIC_CMD | EADM_DEBUG_TOPIC_EVENT | \
			 EADM_DEBUG_TOPIC_QP | EADM_DEBUG_TOPIC_MR)

static const struct eadm_conf_param params[] = {
	EADM_CONF_TIMEOUT(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
	EADM_CONF_DEBUG(DEBUG_TOPICS),
};

static void *conf_next(struct eadm_diag_dev *dd, u64 *id)
{
	return (void *)eadm_conf_next(params, ARRAY_SIZE(params), id);
}

static int conf_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	const struct eadm_conf_param *param = obj;
	struct eadm_snap_conf *s = snap;

	eadm_conf_fill(dd, param, s, req);
	if (param->id == EADM_CONF_PARAM_CMD_TIMEOUT)
		SNAP_SET(s, value, (u64)READ_ONCE(diag_to_dev(dd)->adapter.cmd_timeout) * NSEC_PER_MSEC);
	return 0;
}

const struct eadm_diag_obj efa_diag_conf = {
	.type = EADM_OBJ_CONF,
	.next = conf_next,
	.put = eadm_put_none,
	.fill = conf_fill,
};

/**
 * efa_diag_conf_set() - change a setting
 * @dd: the device
 * @param: EADM_CONF_PARAM_*
 * @value: its new value
 *
 * The adapter is not involved.
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for an unknown setting; -ERANGE for a value it cannot take;
 * -ENODEV.
 */
int efa_diag_conf_set(struct eadm_diag_dev *dd, u32 param, u64 value)
{
	struct efa_dev *dev = diag_to_dev(dd);
	u32 scaled;
	int ret;

	ret = eadm_conf_check(params, ARRAY_SIZE(params), param, value, &scaled);
	if (ret)
		return ret;
	if (READ_ONCE(dev->adapter.gone))
		return -ENODEV;
	if (param == EADM_CONF_PARAM_DEBUG)
		WRITE_ONCE(dd->debug, scaled);
	else
		WRITE_ONCE(dev->adapter.cmd_timeout, scaled);
	eadm_conf_changed(dd, param, value);
	return 0;
}
