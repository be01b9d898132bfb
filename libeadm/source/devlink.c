// SPDX-License-Identifier: LGPL-2.1-or-later
/* Health reporters of a device's adapter, from devlink. */
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

struct reporters {
	struct eadm_answer *answer;
	const struct eadm_device *dev;
	char bus[32], name[64];		/* devlink's name for the adapter */
	uint32_t n;
};

struct reporter {
	const struct nlattr *attr[DEVLINK_ATTR_MAX + 1];
};

static int take_attr(const struct nlattr *attr, void *data)
{
	struct reporter *reporter = data;
	unsigned int type = mnl_attr_get_type(attr);

	if (type <= DEVLINK_ATTR_MAX)
		reporter->attr[type] = attr;
	return MNL_CB_OK;
}

static bool is_text(const struct nlattr *attr, const char *text)
{
	return attr && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0 &&
	       !strcmp(mnl_attr_get_str(attr), text);
}

static void put_u64(struct eadm_answer *answer, uint16_t to,
		    const struct nlattr *attr)
{
	if (attr && mnl_attr_validate(attr, MNL_TYPE_U64) >= 0)
		eadm_local_put_u64(answer, to, mnl_attr_get_u64(attr));
}

static void put_u8(struct eadm_answer *answer, uint16_t to,
		   const struct nlattr *attr)
{
	if (attr && mnl_attr_validate(attr, MNL_TYPE_U8) >= 0)
		eadm_message_put_u32(&answer->out, to, mnl_attr_get_u8(attr));
}

static void put_age(struct eadm_answer *answer, const struct nlattr *attr)
{
	struct timespec now;
	uint64_t then, age;

	if (!attr || mnl_attr_validate(attr, MNL_TYPE_U64) < 0)
		return;
	then = mnl_attr_get_u64(attr);
	clock_gettime(CLOCK_REALTIME, &now);
	age = now.tv_sec * 1000000000ULL + now.tv_nsec;
	/* The clock may have been set back. */
	eadm_local_put_u64(answer, EADM_A_HEALTH_LAST_DUMP_AGE,
			   age > then ? age - then : 0);
}

/* Before Linux 6.6, devlink ignores the adapter given in a dump request. */
static int take_reporter(const struct nlmsghdr *nlh, void *data)
{
	struct reporters *r = data;
	struct eadm_answer *answer = r->answer;
	struct reporter outer = { 0 }, inner = { 0 };
	const struct nlattr *nest, *name;
	size_t at;

	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_attr, &outer);
	nest = outer.attr[DEVLINK_ATTR_HEALTH_REPORTER];
	if (!nest || mnl_attr_validate(nest, MNL_TYPE_NESTED) < 0 ||
	    !is_text(outer.attr[DEVLINK_ATTR_BUS_NAME], r->bus) ||
	    !is_text(outer.attr[DEVLINK_ATTR_DEV_NAME], r->name))
		return MNL_CB_OK;
	mnl_attr_parse_nested(nest, take_attr, &inner);
	at = eadm_answer_row(answer, r->dev);
	eadm_message_put_u32(&answer->out, EADM_A_HEALTH_INDEX, r->n++);
	name = inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_NAME];
	if (name && mnl_attr_validate(name, MNL_TYPE_NUL_STRING) >= 0)
		eadm_local_put(answer, EADM_A_HEALTH_REPORTER,
			       mnl_attr_get_str(name));
	if (outer.attr[DEVLINK_ATTR_PORT_INDEX] &&
	    mnl_attr_validate(outer.attr[DEVLINK_ATTR_PORT_INDEX],
			      MNL_TYPE_U32) >= 0)
		eadm_message_put_u32(&answer->out, EADM_A_HEALTH_PORT,
				     mnl_attr_get_u32(outer.attr[DEVLINK_ATTR_PORT_INDEX]));
	put_u8(answer, EADM_A_HEALTH_STATE,
	       inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_STATE]);
	put_u64(answer, EADM_A_HEALTH_ERRORS,
		inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT]);
	put_u64(answer, EADM_A_HEALTH_RECOVERIES,
		inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT]);
	put_u8(answer, EADM_A_HEALTH_AUTO_RECOVER,
	       inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER]);
	put_age(answer, inner.attr[DEVLINK_ATTR_HEALTH_REPORTER_DUMP_TS_NS]);
	eadm_message_end(&answer->out, at);
	return MNL_CB_OK;
}

/*
 * Finds the device below an RDMA device; for a software device (rdma_rxe), the device
 * below its network interface.
 */
static bool find_adapter(struct reporters *r)
{
	struct eadm_ctx *ctx = r->answer->ctx;
	char netdev[32];

	if (eadm_root_link(ctx, r->name, sizeof(r->name),
			   "/sys/class/infiniband/%.64s/device", r->dev->name))
		return eadm_root_link(ctx, r->bus, sizeof(r->bus),
				      "/sys/class/infiniband/%.64s/device/subsystem",
				      r->dev->name);
	return eadm_root_line(ctx, netdev, sizeof(netdev),
			      "/sys/class/infiniband/%.64s/ports/1/gid_attrs/ndevs/0",
			      r->dev->name) &&
	       eadm_root_link(ctx, r->name, sizeof(r->name),
			      "/sys/class/net/%.31s/device", netdev) &&
	       eadm_root_link(ctx, r->bus, sizeof(r->bus),
			      "/sys/class/net/%.31s/device/subsystem", netdev);
}

void eadm_local_health(struct eadm_answer *answer, const struct eadm_query *query)
{
	struct reporters r = {
		.answer = answer, .dev = eadm_local_device_of(answer, query),
	};
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct genlmsghdr)];
	struct nlmsghdr *nlh;
	uint16_t family;

	if (!r.dev || !find_adapter(&r) ||
	    !eadm_ask_family(answer->ctx, DEVLINK_GENL_NAME, &family))
		return;
	nlh = eadm_ask_begin(buf, family, NLM_F_DUMP,
			     DEVLINK_CMD_HEALTH_REPORTER_GET,
			     DEVLINK_GENL_VERSION);
	eadm_ask(NETLINK_GENERIC, nlh, take_reporter, &r);
}
