/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of a device by RDMA netlink. */
#ifndef EADM_RDMA_DEVICE_H
#define EADM_RDMA_DEVICE_H

#include "model/record.h"
#include "source/devlist.h"

int eadm_rdma_device(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     bool limits, struct eadm_record *rec) EADM_MUST_CHECK;

#endif /* EADM_RDMA_DEVICE_H */
