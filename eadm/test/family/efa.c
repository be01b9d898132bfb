// SPDX-License-Identifier: GPL-2.0-or-later
/* SRD: reliable, unordered, and available only on EFA adapters. */
#include "../driver_qp.h"

#include <infiniband/efadv.h>

#define EFADV_FUNCTIONS(f) f(efadv_create_qp_ex) f(efadv_query_device)
/* Missing in older headers. */
#define CAN_WRITE (1 << 3)

LATE_LIBRARY(efadv, EFADV_FUNCTIONS);
LATE_OPENER(efadv, EFADV_FUNCTIONS, "libefa.so.1", "suggested",
	    "test EFA between two machines");

static int query(struct ibv_context *ctx, bool *can_read, bool *can_write,
		 uint32_t *max_bytes)
{
	struct efadv_device_attr attr = { 0 };
	int ret = efadv.efadv_query_device(ctx, &attr, sizeof(attr));

	*can_read = attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ;
	*can_write = attr.device_caps & CAN_WRITE;
	*max_bytes = attr.max_rdma_size;
	return ret;
}

static struct ibv_qp *create(struct ibv_context *ctx,
			     struct ibv_qp_init_attr_ex *attr)
{
	struct efadv_qp_init_attr srd = {
		.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD,
	};

	return efadv.efadv_create_qp_ex(ctx, attr, &srd, sizeof(srd));
}

const struct driver_qp driver_qp_efa = {
	.family = "efa",
	.type = "SRD",
	.lost = "the security group must allow all traffic from and to the group itself, in both directions",
	.open = efadv_open,
	.query = query,
	.create = create,
};
