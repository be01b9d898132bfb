/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RDMA netlink on the wire. */
#ifndef EADM_RDMA_WIRE_H
#define EADM_RDMA_WIRE_H

#include "base/base.h"

bool eadm_rdma_is_nest(unsigned int type);

#endif /* EADM_RDMA_WIRE_H */
