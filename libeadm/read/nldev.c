// SPDX-License-Identifier: LGPL-2.1-or-later
/* RDMA netlink requests, and the formats of their responses. */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "nldev.h"

struct eadm_query eadm_nldev_query(int cmd, bool dump)
{
	return (struct eadm_query){
		.proto = NETLINK_RDMA,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
		.dump = dump,
	};
}

void eadm_nldev_device(struct eadm_query *query, const struct eadm_device *dev)
{
	eadm_query_arg(query, RDMA_NLDEV_ATTR_DEV_INDEX, EADM_ARG_U32,
		       dev->index, NULL, false);
}

int eadm_nldev_leaves(struct eadm_reply *reply, const void *at)
{
	return eadm_reply_bad(reply, at,
			      "RDMA attribute exceeds the message");
}

/* Numbers are 1, 4 or 8 bytes long, depending on the kernel version. */
bool eadm_nldev_number(const struct nlattr *attr, uint64_t *value)
{
	size_t len = eadm_attr_len(attr);

	if (len != 1 && len != 2 && len != 4 && len != 8)
		return false;
	*value = eadm_load(eadm_attr_data(attr), len);
	return true;
}

int eadm_nldev_ask(struct eadm_ctx *ctx, const struct eadm_query *query,
		   void (*put)(struct eadm_attrs, struct eadm_record *),
		   struct eadm_record *rec)
{
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	ret = eadm_reply_open(ctx, query, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0) {
		rec->time = reply.chunk.time;
		put(eadm_attr_msg(nlh, 0), rec);
	}
	eadm_reply_close(&reply);
	return ret < 0 ? ret : 0;
}

/*
 * Returns 1 if the kernel copies pinned pages for a forked process, 0 if not, or a
 * negative errno. Leaves the context's error message unchanged.
 */
int eadm_nldev_copy_on_fork(struct eadm_ctx *ctx)
{
	struct eadm_query query = eadm_nldev_query(RDMA_NLDEV_CMD_SYS_GET,
						   false);
	struct eadm_errmsg before;
	const struct nlmsghdr *nlh;
	const struct nlattr *attr;
	struct eadm_attrs attrs;
	struct eadm_reply reply;
	int ret, copies = 0;
	uint64_t u;

	eadm_errmsg_push(ctx, &before);
	ret = eadm_reply_open(ctx, &query, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0) {
		attrs = eadm_attr_msg(nlh, 0);
		while (eadm_attr_next(&attrs, &attr) > 0) {
			if (eadm_attr_type(attr) ==
				    RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK &&
			    eadm_nldev_number(attr, &u))
				copies = !!u;
		}
	}
	eadm_reply_close(&reply);
	eadm_errmsg_pop(ctx, &before);
	return ret < 0 ? ret : copies;
}

/*
 * Read the driver's number in the verbs interface of user space, enum rdma_driver_id.
 * Leaves the context's error message unchanged.
 */
int eadm_nldev_driver_id(struct eadm_ctx *ctx, const struct eadm_device *dev,
			 uint32_t *id)
{
	struct eadm_query query = eadm_nldev_query(RDMA_NLDEV_CMD_GET_CHARDEV,
					      false);
	struct eadm_errmsg before;
	const struct nlmsghdr *nlh;
	const struct nlattr *attr;
	struct eadm_attrs attrs;
	struct eadm_reply reply;
	int ret, found = -ENODATA;
	uint64_t u;

	eadm_errmsg_push(ctx, &before);
	eadm_nldev_device(&query, dev);
	eadm_query_arg(&query, RDMA_NLDEV_ATTR_CHARDEV_TYPE, EADM_ARG_STRING,
		       0, "uverbs", false);
	ret = eadm_reply_open(ctx, &query, &reply);
	if (!ret)
		ret = eadm_reply_next(&reply, &nlh);
	if (ret > 0) {
		attrs = eadm_attr_msg(nlh, 0);
		while (eadm_attr_next(&attrs, &attr) > 0) {
			if (eadm_attr_type(attr) !=
				    RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID ||
			    !eadm_nldev_number(attr, &u))
				continue;
			*id = u;
			found = 0;
		}
	}
	eadm_reply_close(&reply);
	eadm_errmsg_pop(ctx, &before);
	return ret < 0 ? ret : found;
}
