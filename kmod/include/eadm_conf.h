/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of a driver: a table of their ranges, used to fill their rows and to check new
 * values. The driver stores the values and makes them take effect.
 */
#ifndef EADM_CONF_H
#define EADM_CONF_H

#include <linux/math64.h>
#include <linux/time64.h>

#include "eadm_debug.h"
#include "eadm_diag.h"

/**
 * struct eadm_conf_param - a setting and its range
 * @id: EADM_CONF_PARAM_*
 * @min: lowest value, in the driver's unit
 * @max: highest value, in the driver's unit
 * @scale: number of the row's units in one of the driver's
 * @unit: unit of the row; may be NULL
 */
struct eadm_conf_param {
	u32 id;
	u32 min;
	u32 max;
	u32 scale;
	const char *unit;
};

/* Two settings that every driver has: the command timeout, in ms, and debug topics. */
#define EADM_CONF_TIMEOUT(min_ms, max_ms) \
	{ EADM_CONF_PARAM_CMD_TIMEOUT, min_ms, max_ms, NSEC_PER_MSEC, "ns" }
#define EADM_CONF_DEBUG(topics) \
	{ EADM_CONF_PARAM_DEBUG, 0, topics, 1 }

/**
 * eadm_conf_next() - find the next setting of a table
 * @params: the table, in the order of numbers
 * @count: number of entries
 * @id: in: the first number wanted; out: that of the setting
 *
 * Return: the setting, or NULL.
 */
static inline const struct eadm_conf_param *
eadm_conf_next(const struct eadm_conf_param *params, u32 count, u64 *id)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (params[i].id >= *id) {
			*id = params[i].id;
			return &params[i];
		}
	}
	return NULL;
}

/**
 * eadm_conf_fill() - fill a setting's row, except for its value
 * @dd: the device
 * @param: the setting; for EADM_CONF_DEBUG() the value is filled in, too
 * @s: the row; marked as not read from the adapter
 * @req: what was asked for
 */
static inline void eadm_conf_fill(struct eadm_diag_dev *dd, const struct eadm_conf_param *param,
				  struct eadm_snap_conf *s, const struct eadm_diag_req *req)
{
	SNAP_SET(s, param, param->id);
	SNAP_SET(s, lowest, (u64)param->min * param->scale);
	SNAP_SET(s, highest, (u64)param->max * param->scale);
	if (param->unit)
		SNAP_STR(s, unit, param->unit);
	if (req->hw)
		SNAP_SET(s, read_back, 0);
	if (param->id == EADM_CONF_PARAM_DEBUG) {
		SNAP_SET(s, value, READ_ONCE(dd->debug));
		eadm_debug_names(s->value, s->value_name, sizeof(s->value_name));
		s->has.value_name = 1;
	}
}

/**
 * eadm_conf_check() - check that a setting exists and may have this value
 * @params: the table
 * @count: number of entries
 * @id: EADM_CONF_PARAM_*
 * @value: the value, in units of the row
 * @scaled: the value in the driver's unit
 *
 * Return: 0; -EOPNOTSUPP: no such setting; -ERANGE: value out of range.
 */
static inline int eadm_conf_check(const struct eadm_conf_param *params, u32 count, u32 id,
				  u64 value, u32 *scaled)
{
	const struct eadm_conf_param *p;
	u64 found = id;

	p = eadm_conf_next(params, count, &found);
	if (!p || found != id)
		return -EOPNOTSUPP;
	if (value < (u64)p->min * p->scale || value > (u64)p->max * p->scale)
		return -ERANGE;
	*scaled = div_u64(value, p->scale);
	return 0;
}

/**
 * eadm_conf_changed() - notify a bound companion that a setting has a new value
 * @dd: the device
 * @id: EADM_CONF_PARAM_*
 * @value: the value, in units of the row
 *
 * Context: process.
 */
static inline void eadm_conf_changed(struct eadm_diag_dev *dd, u32 id, u64 value)
{
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_CONF,
		.id = id,
		.code = value,
	};

	eadm_diag_notify(dd, EADM_DIAG_CONF, &ev);
}

#endif /* EADM_CONF_H */
