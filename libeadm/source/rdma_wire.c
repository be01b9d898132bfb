// SPDX-License-Identifier: LGPL-2.1-or-later
/* RDMA netlink on the wire. */
#include <rdma/rdma_netlink.h>

#include "rdma_wire.h"

/*
 * Returns true if an RDMA netlink attribute contains other attributes; only covers
 * attributes that the library reads.
 */
bool eadm_rdma_is_nest(unsigned int type)
{
	switch (type) {
	case RDMA_NLDEV_ATTR_RES_SUMMARY:
	case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY:
	case RDMA_NLDEV_ATTR_RES_QP:
	case RDMA_NLDEV_ATTR_RES_QP_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CQ:
	case RDMA_NLDEV_ATTR_RES_CQ_ENTRY:
	case RDMA_NLDEV_ATTR_RES_MR:
	case RDMA_NLDEV_ATTR_RES_MR_ENTRY:
	case RDMA_NLDEV_ATTR_RES_PD:
	case RDMA_NLDEV_ATTR_RES_PD_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CTX:
	case RDMA_NLDEV_ATTR_RES_CTX_ENTRY:
	case RDMA_NLDEV_ATTR_RES_CM_ID:
	case RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY:
	case RDMA_NLDEV_ATTR_RES_SRQ:
	case RDMA_NLDEV_ATTR_RES_SRQ_ENTRY:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTERS:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY:
		return true;
	default:
		return false;
	}
}
