// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: the one setting there is. */

#include <linux/math64.h>

#include "diag.h"

#define TIMEOUT_MIN_MS	100
#define TIMEOUT_MAX_MS	120000

static void *conf_next(struct eadm_diag_dev *dd, u64 *id)
{
	if (*id > EADM_CONF_PARAM_CMD_TIMEOUT)
		return NULL;
	*id = EADM_CONF_PARAM_CMD_TIMEOUT;
	return diag_to_dev(dd);
}

static int conf_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_snap_conf *s = snap;
	struct efa_dev *dev = obj;

	SNAP_SET(s, param, EADM_CONF_PARAM_CMD_TIMEOUT);
	SNAP_SET(s, lowest, (u64)TIMEOUT_MIN_MS * NSEC_PER_MSEC);
	SNAP_SET(s, highest, (u64)TIMEOUT_MAX_MS * NSEC_PER_MSEC);
	SNAP_SET(s, value, (u64)efa_cmd_timeout_ms(dev) * NSEC_PER_MSEC);
	SNAP_STR(s, unit, "ns");
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
 * It is of the driver: the adapter need not know.
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

	if (param != EADM_CONF_PARAM_CMD_TIMEOUT)
		return -EOPNOTSUPP;
	if (value < (u64)TIMEOUT_MIN_MS * NSEC_PER_MSEC ||
	    value > (u64)TIMEOUT_MAX_MS * NSEC_PER_MSEC)
		return -ERANGE;
	if (READ_ONCE(dev->gone))
		return -ENODEV;
	WRITE_ONCE(dev->hw.cmd_timeout, div_u64(value, NSEC_PER_MSEC));
	eadm_diag_notify(dd, EADM_DIAG_CONF, &ev);
	return 0;
}
