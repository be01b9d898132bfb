// SPDX-License-Identifier: LGPL-2.1-or-later
/* A device's row from RDMA netlink: its port, and its resources in use. */
#include <endian.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "driver.h"
#include "eadm_nl.h"
#include "machine.h"
#include "nldev.h"
#include "rdma_device.h"

static void put_port(struct eadm_attrs attrs, struct eadm_record *rec)
{
	const struct nlattr *attr;
	const char *str;
	uint64_t u;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		switch (eadm_attr_type(attr)) {
		case RDMA_NLDEV_ATTR_PORT_STATE:
			if (eadm_nldev_number(attr, &u))
				eadm_record_put_u64(rec, EADM_A_DEV_PORT_STATE,
						    u);
			break;
		case RDMA_NLDEV_ATTR_NDEV_INDEX:
			if (eadm_nldev_number(attr, &u))
				eadm_record_put_u64(
					rec, EADM_A_DEV_NETDEV_INDEX, u);
			break;
		case RDMA_NLDEV_ATTR_NDEV_NAME:
			str = eadm_attr_string(attr);
			if (str)
				eadm_record_put_string(rec, EADM_A_DEV_NETDEV,
						       str);
			break;
		}
	}
}

static void put_use(struct eadm_attrs attrs, struct eadm_record *rec)
{
	static const struct {
		const char *name;
		uint16_t attr;
	} uses[] = {
		{ "qp", EADM_A_DEV_QPS }, { "cq", EADM_A_DEV_CQS },
		{ "mr", EADM_A_DEV_MRS }, { "pd", EADM_A_DEV_PDS },
		{ "ctx", EADM_A_DEV_CTXS }, { "srq", EADM_A_DEV_SRQS },
	};
	const struct nlattr *attr;
	const char *name = NULL;
	uint64_t u = 0;
	size_t i;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) ==
		    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)
			name = eadm_attr_string(attr);
		if (eadm_attr_type(attr) ==
		    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)
			eadm_nldev_number(attr, &u);
	}
	for (i = 0; name && i < EADM_ARRAY_SIZE(uses); i++) {
		if (!strcmp(name, uses[i].name))
			eadm_record_put_u64(rec, uses[i].attr, u);
	}
}

static void put_summary(struct eadm_attrs attrs, struct eadm_record *rec)
{
	const struct nlattr *attr, *entry;
	struct eadm_attrs nested;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) != RDMA_NLDEV_ATTR_RES_SUMMARY)
			continue;
		nested = eadm_attr_nested(attr);
		while (eadm_attr_next(&nested, &entry) > 0)
			put_use(eadm_attr_nested(entry), rec);
	}
}

/* Add missing data about a device from the machine's files. */
static void put_more(struct eadm_ctx *ctx, const struct eadm_query *query,
		     struct eadm_record *rec)
{
	struct eadm_record more = { 0 };
	const struct eadm_field *field = NULL;
	struct eadm_reply reply;
	const char *text;
	uint64_t value;

	if (eadm_machine_open(ctx, query, rec->object, &reply, &more) > 0) {
		while ((field = eadm_record_next(&more, field))) {
			if (eadm_record_has(rec, field))
				continue;
			if (!eadm_record_u64(&more, field, &value))
				eadm_record_put_u64(rec, field->slot, value);
			else if ((text = eadm_record_string(&more, field)))
				eadm_record_put_string(rec, field->slot, text);
		}
	}
	eadm_reply_close(&reply);
	eadm_record_release(&more);
}

/* Add the device's limits that libibverbs reports. */
static void put_limits(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_DEV);

	eadm_query_arg(&query, EADM_A_DEV_DEV_INDEX, EADM_ARG_U32, dev->index,
		       NULL, false);
	eadm_query_arg(&query, EADM_A_DEV_MAX_QP, EADM_ARG_FLAG, 0, NULL, true);
	put_more(ctx, &query, rec);
}

static void put_setup(struct eadm_ctx *ctx, uint32_t index, uint16_t want,
		      struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_DEV);
	const char *netdev = eadm_record_string(
		rec, eadm_object_find_field(rec->object, "netdev"));

	eadm_query_arg(&query, EADM_A_DEV_DEV_INDEX, EADM_ARG_U32, index, NULL,
		       false);
	if (netdev && *netdev)
		eadm_query_arg(&query, EADM_A_DEV_NETDEV, EADM_ARG_STRING, 0,
			       netdev, false);
	eadm_query_arg(&query, want, EADM_ARG_FLAG, 0, NULL, true);
	put_more(ctx, &query, rec);
}

/*
 * Add addresses to a device's existing row and, with @links, its GIDs and links, which
 * require reading many files. This may be the first time that the device is seen.
 */
void eadm_device_setup(struct eadm_ctx *ctx, bool links, struct eadm_record *rec)
{
	uint32_t index = eadm_record_attr_u64(rec, EADM_A_COMMON_DEV_INDEX);
	const char *name = eadm_record_string(
		rec, eadm_object_find_field(rec->object, "dev-name"));

	if (!name || !eadm_device_add(ctx, index, name))
		return;
	put_setup(ctx, index, EADM_A_DEV_ADDRESSES, rec);
	if (links)
		put_setup(ctx, index, EADM_A_DEV_LINK_SPEED, rec);
}

/* Read the row of a device: the list's data, its port, and its resources in use. */
int eadm_rdma_device(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     bool limits, struct eadm_record *rec)
{
	struct eadm_query query;
	uint64_t guid;
	int ret;

	eadm_record_reset(rec, &eadm_spec_objects[EADM_SPEC_OBJ_DEV], 0);
	eadm_record_put_u64(rec, EADM_A_DEV_DEV_INDEX, dev->index);
	eadm_record_put_string(rec, EADM_A_DEV_DEV_NAME, dev->name);
	if (dev->fw[0])
		eadm_record_put_string(rec, EADM_A_DEV_FW_VERSION, dev->fw);
	guid = htobe64(dev->node_guid);
	if (dev->has_guid)
		eadm_record_put_bytes(rec, EADM_A_DEV_NODE_GUID, &guid, 8);
	eadm_driver_put(ctx, dev, rec);
	if (limits)
		put_limits(ctx, dev, rec);
	if (dev->ports) {
		query = eadm_nldev_query(RDMA_NLDEV_CMD_PORT_GET, false);
		eadm_nldev_device(&query, dev);
		eadm_query_arg(&query, RDMA_NLDEV_ATTR_PORT_INDEX,
			       EADM_ARG_U32, 1, NULL, false);
		ret = eadm_nldev_ask(ctx, &query, put_port, rec);
		if (ret)
			return ret;
	}
	query = eadm_nldev_query(RDMA_NLDEV_CMD_RES_GET, false);
	eadm_nldev_device(&query, dev);
	return eadm_nldev_ask(ctx, &query, put_summary, rec);
}
