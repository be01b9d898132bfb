/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device's row from RDMA netlink. */
#ifndef EADM_RDMA_DEVICE_H
#define EADM_RDMA_DEVICE_H

#include "model/record.h"
#include "source/devlist.h"

int eadm_rdma_device(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     bool limits, struct eadm_record *rec) EADM_MUST_CHECK;

void eadm_device_setup(struct eadm_ctx *ctx, bool links, struct eadm_record *rec);

#endif /* EADM_RDMA_DEVICE_H */
