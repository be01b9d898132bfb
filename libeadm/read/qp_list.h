/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of QPs in RDMA netlink. */
#ifndef EADM_QP_LIST_H
#define EADM_QP_LIST_H

#include "model/attr.h"
#include "model/record.h"

struct eadm_qp_range {
	uint32_t first, last;
};

/*
 * Reads the next entry of a list, the content of RDMA_NLDEV_ATTR_RES_QP. Returns 1 with
 * @range, 0 at the end, or -EBADMSG.
 */
int eadm_qp_list_next(struct eadm_attrs *list, struct eadm_qp_range *range)
	EADM_MUST_CHECK;
/* Puts the list and its number of QPs into the row of their SRQ. */
int eadm_qp_list_put(struct eadm_attrs qps, struct eadm_record *srq)
	EADM_MUST_CHECK;

#endif /* EADM_QP_LIST_H */
