// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the SRQ of a QP: RDMA netlink lists the QPs of an SRQ, but not the SRQ of a QP.
 */
#include <rdma/rdma_netlink.h>
#include <stdlib.h>

#include "eadm_nl.h"
#include "grow.h"
#include "qp_list.h"
#include "rdma.h"
#include "srqs.h"

struct eadm_srq_qps {
	struct eadm_qp_range qps;
	uint32_t srqn;
};

static int add(struct eadm_ctx *ctx, struct eadm_srqs *srqs,
	       struct eadm_attrs row, const struct eadm_record *srq)
{
	struct eadm_srq_qps range = {
		.srqn = eadm_record_attr_u64(srq, EADM_A_SRQ_SRQN),
	};
	const struct nlattr *attr;
	struct eadm_attrs list;
	int ret;

	while ((ret = eadm_attr_next(&row, &attr)) > 0) {
		if (eadm_attr_type(attr) != RDMA_NLDEV_ATTR_RES_QP)
			continue;
		list = eadm_attr_nested(attr);
		while ((ret = eadm_qp_list_next(&list, &range.qps)) > 0) {
			if (!grow(srqs->qps, srqs->n, srqs->max))
				return eadm_oom(ctx);
			srqs->qps[srqs->n++] = range;
		}
	}
	return ret;
}

static int by_qpn(const void *a, const void *b)
{
	const struct eadm_srq_qps *x = a, *y = b;

	return x->qps.first < y->qps.first ? -1 : x->qps.first > y->qps.first;
}

/* Load the SRQs of a device. @rec is used for rows. */
int eadm_srqs_load(struct eadm_ctx *ctx, const struct eadm_device *dev,
		   struct eadm_srqs *srqs, struct eadm_record *rec)
{
	const struct eadm_object *srq = &eadm_spec_objects[EADM_SPEC_OBJ_SRQ];
	struct eadm_rdma_cursor cursor;
	const struct nlmsghdr *nlh;
	struct eadm_query query;
	struct eadm_reply reply;
	int ret;

	eadm_srqs_free(srqs);
	eadm_rdma_query(srq, dev, 0, NULL, &query);
	ret = eadm_reply_open(ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = eadm_rdma_begin(&reply, nlh, srq, &cursor);
		while (!ret && (ret = eadm_rdma_next(&reply, &cursor, srq, dev,
						     rec)) > 0)
			ret = add(ctx, srqs, cursor.row, rec);
	}
	eadm_reply_close(&reply);
	if (ret)
		eadm_srqs_free(srqs);
	else if (srqs->n > 1)
		qsort(srqs->qps, srqs->n, sizeof(*srqs->qps), by_qpn);
	return ret;
}

void eadm_srqs_free(struct eadm_srqs *srqs)
{
	free(srqs->qps);
	*srqs = (struct eadm_srqs){ 0 };
}

static int compare(const void *key, const void *item)
{
	const struct eadm_srq_qps *one = item;
	const uint32_t *qpn = key;

	return *qpn < one->qps.first ? -1 : *qpn > one->qps.last;
}

/* @qp is a row of RDMA netlink. */
void eadm_srqs_put(const struct eadm_srqs *srqs, struct eadm_record *qp)
{
	const struct eadm_srq_qps *one;
	uint32_t qpn;

	if (!srqs->n || !eadm_record_attr_has(qp, EADM_A_QP_QPN))
		return;
	qpn = eadm_record_attr_u64(qp, EADM_A_QP_QPN);
	one = bsearch(&qpn, srqs->qps, srqs->n, sizeof(*srqs->qps), compare);
	if (one)
		eadm_record_put_u64(qp, EADM_A_QP_SRQN, one->srqn);
}
