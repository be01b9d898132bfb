/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts RDMA netlink messages to records. */
#ifndef EADM_RDMA_H
#define EADM_RDMA_H

#include "model/attr.h"
#include "model/record.h"
#include "source/devlist.h"
#include "source/query.h"

/* Reading position in an RDMA netlink message. */
struct eadm_rdma_cursor {
	const unsigned char *pos;
	size_t left;
	uint16_t entry;		/* attribute of an entry; 0: the whole message is one entry */
	struct eadm_attrs row;	/* attributes of the row returned last */
	bool more;
	bool original;		/* counters with the driver's names */
};

bool eadm_rdma_knows(const struct eadm_object *object);
bool eadm_rdma_per_port(const struct eadm_object *object);
void eadm_rdma_query(const struct eadm_object *object,
		     const struct eadm_device *dev, uint32_t port,
		     const uint64_t *id, struct eadm_query *query);
int eadm_rdma_begin(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		    const struct eadm_object *object,
		    struct eadm_rdma_cursor *cur) EADM_MUST_CHECK;
int eadm_rdma_next(struct eadm_reply *reply, struct eadm_rdma_cursor *cur,
		   const struct eadm_object *object,
		   const struct eadm_device *dev, struct eadm_record *rec)
	EADM_MUST_CHECK;
int eadm_rdma_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       uint32_t port, struct eadm_record *rec);
int eadm_rdma_counters_rest(struct eadm_ctx *ctx, const struct eadm_device *dev,
			    uint32_t port, bool original, int error,
			    struct eadm_record *rec);
int eadm_rdma_list(struct eadm_ctx *ctx) EADM_MUST_CHECK;

#endif /* EADM_RDMA_H */
