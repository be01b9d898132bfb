// SPDX-License-Identifier: GPL-2.0-only
/* Settings of a driver: their rows, and changes. */

#include <linux/math64.h>

#include "provider.h"
#include "settings.h"

static const struct eadm_setting *setting_next(const struct eadm_adapter *ad, u64 *id)
{
	const struct eadm_settings *all = ad->ops->settings;
	u32 i;

	for (i = 0; i < all->count; i++) {
		if (all->table[i].id >= *id) {
			*id = all->table[i].id;
			return &all->table[i];
		}
	}
	return NULL;
}

static void *conf_next(struct eadm_diag_dev *dd, u64 *id)
{
	return (void *)setting_next(diag_to_adapter(dd), id);
}

static void fill_topics(u32 topics, struct eadm_snap_conf *s)
{
	static const struct {
		u32 topic;
		const char *name;
	} all[] = {
		{ EADM_DEBUG_dev, "dev" }, { EADM_DEBUG_cmd, "cmd" },
		{ EADM_DEBUG_event, "event" }, { EADM_DEBUG_qp, "qp" },
		{ EADM_DEBUG_mr, "mr" }, { EADM_DEBUG_cm, "cm" },
	};
	size_t len = 0;
	int i;

	SNAP_SET(s, value, topics);
	SNAP_STR(s, value_name, "none");
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (topics & all[i].topic)
			len += scnprintf(s->value_name + len, sizeof(s->value_name) - len, "%s%s",
					 len ? "," : "", all[i].name);
}

static int conf_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		     const struct eadm_diag_req *req)
{
	struct eadm_adapter *ad = diag_to_adapter(dd);
	const struct eadm_setting *setting = obj;
	struct eadm_snap_conf *s = snap;

	SNAP_SET(s, param, setting->id);
	SNAP_SET(s, lowest, (u64)setting->min * setting->scale);
	SNAP_SET(s, highest, (u64)setting->max * setting->scale);
	if (setting->unit)
		SNAP_STR(s, unit, setting->unit);
	if (req->hw)
		SNAP_SET(s, read_back, 0);
	if (setting->id == EADM_CONF_PARAM_CMD_TIMEOUT)
		SNAP_SET(s, value, (u64)READ_ONCE(ad->cmd_timeout) * setting->scale);
	else if (setting->id == EADM_CONF_PARAM_DEBUG)
		fill_topics(READ_ONCE(dd->debug), s);
	else
		ad->ops->settings->fill(ad, setting->id, s, req);
	return 0;
}

const struct eadm_diag_obj eadm_diag_conf = {
	.type = EADM_OBJ_CONF,
	.next = conf_next,
	.fill = conf_fill,
};

static int apply(struct eadm_adapter *ad, u32 id, u32 value)
{
	switch (id) {
	case EADM_CONF_PARAM_CMD_TIMEOUT:
		WRITE_ONCE(ad->cmd_timeout, value);
		return 0;
	case EADM_CONF_PARAM_DEBUG:
		WRITE_ONCE(ad->diag.debug, value);
		return 0;
	default:
		return ad->ops->settings->apply(ad, id, value);
	}
}

/**
 * eadm_setting_change() - change a setting, and notify the companion if it is bound
 * @dd: the device
 * @id: EADM_CONF_PARAM_*
 * @value: its new value, in units of the row
 *
 * Context: process; may issue a command.
 * Return: 0; -EOPNOTSUPP if the adapter does not support the setting; -ERANGE if the value is out
 * of range; -ENODEV; or -errno of the command.
 */
int eadm_setting_change(struct eadm_diag_dev *dd, u32 id, u64 value)
{
	const struct eadm_diag_event ev = { .obj = EADM_OBJ_CONF, .id = id, .code = value };
	struct eadm_adapter *ad = diag_to_adapter(dd);
	const struct eadm_setting *setting;
	u64 found = id;
	int ret;

	setting = setting_next(ad, &found);
	if (!setting || found != id)
		return -EOPNOTSUPP;
	if (value < (u64)setting->min * setting->scale ||
	    value > (u64)setting->max * setting->scale)
		return -ERANGE;
	if (READ_ONCE(ad->gone))
		return -ENODEV;
	ret = apply(ad, id, div_u64(value, setting->scale));
	if (!ret)
		eadm_diag_notify(dd, EADM_DIAG_CONF, &ev);
	return ret;
}
