// SPDX-License-Identifier: LGPL-2.1-or-later
/* The companion's family: its number and the number of its event group. */
#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>

#include "companion.h"
#include "eadm_nl.h"
#include "model/attr.h"
#include "source/query.h"

/* Returns the number of the event group; 0 if there is none. */
static uint32_t group_of(struct eadm_attrs groups)
{
	const struct nlattr *group, *attr;
	struct eadm_attrs attrs;
	const char *name;
	uint32_t id;

	while (eadm_attr_next(&groups, &group) > 0) {
		attrs = eadm_attr_nested(group);
		name = NULL;
		id = 0;
		while (eadm_attr_next(&attrs, &attr) > 0) {
			if (eadm_attr_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				name = eadm_attr_string(attr);
			else if (eadm_attr_type(attr) ==
					 CTRL_ATTR_MCAST_GRP_ID &&
				 eadm_attr_len(attr) == 4)
				id = eadm_load(eadm_attr_data(attr), 4);
		}
		if (name && !strcmp(name, EADM_MCGRP_EVENTS_NAME))
			return id;
	}
	return 0;
}

static int take(struct eadm_devices *devices, struct eadm_attrs attrs)
{
	const struct nlattr *attr;
	int ret = -ENOENT;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) == CTRL_ATTR_MCAST_GROUPS) {
			devices->events = group_of(eadm_attr_nested(attr));
		} else if (eadm_attr_type(attr) == CTRL_ATTR_FAMILY_ID &&
			   eadm_attr_len(attr) == 2) {
			devices->family = eadm_load(eadm_attr_data(attr), 2);
			ret = 0;
		}
	}
	return ret;
}

/* Returns -ENOENT if the kernel does not have the family. */
int eadm_companion_find(struct eadm_ctx *ctx)
{
	struct eadm_query query = {
		.proto = NETLINK_GENERIC,
		.type = GENL_ID_CTRL,
		.cmd = CTRL_CMD_GETFAMILY,
	};
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	ctx->devices.events = 0;
	eadm_query_arg(&query, CTRL_ATTR_FAMILY_NAME, EADM_ARG_STRING, 0,
		       EADM_FAMILY_NAME, false);
	ret = eadm_reply_open(ctx, &query, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0)
		ret = take(&ctx->devices, eadm_attr_msg(nlh, GENL_HDRLEN));
	else if (!ret)
		ret = -ENOENT;
	eadm_reply_close(&reply);
	return ret;
}

/*
 * Returns the reason why the companion does not show a device, according to the device
 * list.
 */
const char *eadm_companion_why(const struct eadm_ctx *ctx)
{
	switch (ctx->devices.family_err) {
	case 0:
		return "the driver does not support the companion module";
	case -ENOENT:
		return EADM_COMPANION_ABSENT;
	case -ENODATA:
		return "the capture contains no data from the companion module eadm.ko";
	case -EPERM:
	case -EACCES:
		return "permission denied by the companion module eadm.ko";
	default:
		return EADM_COMPANION_SILENT;
	}
}
