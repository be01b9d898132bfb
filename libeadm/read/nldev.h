/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RDMA netlink requests, and the formats of their responses. */
#ifndef EADM_NLDEV_H
#define EADM_NLDEV_H

#include "model/attr.h"
#include "model/record.h"
#include "source/devlist.h"
#include "source/query.h"

struct eadm_query eadm_nldev_query(int cmd, bool dump);
void eadm_nldev_device(struct eadm_query *query, const struct eadm_device *dev);
int eadm_nldev_leaves(struct eadm_reply *reply, const void *at);
bool eadm_nldev_number(const struct nlattr *attr, uint64_t *value);
int eadm_nldev_ask(struct eadm_ctx *ctx, const struct eadm_query *query,
		   void (*put)(struct eadm_attrs, struct eadm_record *),
		   struct eadm_record *rec);
int eadm_nldev_copy_on_fork(struct eadm_ctx *ctx);
int eadm_nldev_driver_id(struct eadm_ctx *ctx, const struct eadm_device *dev,
			 uint32_t *id) EADM_MUST_CHECK;

#endif /* EADM_NLDEV_H */
