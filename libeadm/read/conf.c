// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changing settings. A dump of the object "conf" reads settings. */
#include <errno.h>
#include <linux/netlink.h>

#include "eadm_nl.h"
#include "decode.h"
#include "device.h"

static int send_set(struct eadm_ctx *ctx, const struct eadm_device *dev,
		    uint64_t param, uint64_t value, uint64_t *now)
{
	const struct eadm_object *object =
		&eadm_spec_objects[EADM_SPEC_OBJ_CONF];
	struct eadm_query query = {
		.proto = NETLINK_GENERIC,
		.type = ctx->devices.family,
		.cmd = EADM_CMD_CONF_SET,
	};
	struct eadm_record rec = { 0 };
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	eadm_query_arg(&query, EADM_A_CONF_DEV_INDEX, EADM_ARG_U32, dev->index,
		       NULL, false);
	eadm_query_arg(&query, EADM_A_CONF_PARAM, EADM_ARG_U32, param, NULL,
		       false);
	eadm_query_arg(&query, EADM_A_CONF_VALUE, EADM_ARG_U64, value, NULL,
		       false);
	ret = eadm_reply_open(ctx, &query, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0)
		ret = eadm_decode(&reply, nlh, object, true, &rec);
	else if (!ret)
		ret = eadm_fail(ctx, -EBADMSG, "no reply from the kernel");
	if (!ret && !eadm_record_attr_has(&rec, EADM_A_CONF_VALUE))
		ret = eadm_fail(ctx, -ENODATA,
				"cannot read the setting back");
	if (!ret)
		*now = eadm_record_attr_u64(&rec, EADM_A_CONF_VALUE);
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	return ret;
}

EADM_API int eadm_conf_set(struct eadm_ctx *ctx, const char *device,
			   uint64_t param, uint64_t value, uint64_t *now)
{
	const struct eadm_field *field = eadm_object_find_field(
		&eadm_spec_objects[EADM_SPEC_OBJ_CONF], "param");
	const struct eadm_device *dev;
	int ret;

	if (!eadm_field_value_name(field, param))
		return eadm_fail(ctx, -EINVAL, "unknown setting");
	if (!ctx->live)
		return eadm_fail(ctx, -EOPNOTSUPP,
				 "settings cannot be changed in a capture");
	ret = eadm_device_shown(ctx, device, false, &dev);
	return ret ? ret : send_set(ctx, dev, param, value, now);
}
