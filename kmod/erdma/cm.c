// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core's iWARP connection manager asks of the driver.
 *
 * References and look-up of QPs work; the adapter's connections themselves are
 * refused with a clear error.
 */

#include <rdma/iw_cm.h>

#include "erdma.h"

static void iw_add_ref(struct ib_qp *ibqp)
{
	erdma_obj_get(&to_erdma_qp(ibqp)->obj);
}

static void iw_rem_ref(struct ib_qp *ibqp)
{
	erdma_obj_put(&to_erdma_qp(ibqp)->obj);
}

/* The caller owns the QP and takes its own reference. */
static struct ib_qp *iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct erdma_qp *qp = erdma_qp_get(to_erdma_dev(ibdev), qpn);

	if (!qp)
		return NULL;
	erdma_obj_put(&qp->obj);
	return &qp->ibqp;
}

static int iw_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return -EOPNOTSUPP;
}

static int iw_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return -EOPNOTSUPP;
}

static int iw_reject(struct iw_cm_id *cm_id, const void *pdata, u8 pdata_len)
{
	return -EOPNOTSUPP;
}

static int iw_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	return -EOPNOTSUPP;
}

static int iw_destroy_listen(struct iw_cm_id *cm_id)
{
	return -EOPNOTSUPP;
}

const struct ib_device_ops erdma_iw_ops = {
	.iw_accept = iw_accept,
	.iw_add_ref = iw_add_ref,
	.iw_connect = iw_connect,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
	.iw_get_qp = iw_get_qp,
	.iw_reject = iw_reject,
	.iw_rem_ref = iw_rem_ref,
};
