// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: lookup, resetting and freeing. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "efv.h"

/**
 * efv_qp_find() - look up a QP
 * @ad: adapter
 * @qpn: any value
 *
 * Context: efv_fabric held.
 * Return: the QP or NULL.
 */
struct efv_qp *efv_qp_find(struct efv_adapter *ad, u16 qpn)
{
	return xa_load(&ad->qps, qpn);
}

/**
 * efv_qp_free() - free a QP that is no longer in any table
 * @qp: QP
 *
 * Context: efv_fabric held for writing.
 */
void efv_qp_free(struct efv_qp *qp)
{
	vdev_buf_unmap(&qp->rq);
	kvfree(qp->wqe);
	kfree(qp);
}

/**
 * efv_qp_clear() - reset the queues to the state of a new QP
 * @qp: QP in RESET
 *
 * Context: efv_fabric held for writing.
 */
void efv_qp_clear(struct efv_qp *qp)
{
	struct efv_wqe *w, *next;

	list_for_each_entry_safe(w, next, &qp->todo, link)
		list_del_init(&w->link);
	efv_db_clear(qp->ad, qp->sq_db);
	efv_db_clear(qp->ad, qp->rq_db);
	qp->sq_pi = 0;
	qp->rq_pi = 0;
	qp->rq_ci = 0;
	qp->sq_deaf = EFV_NOT_DEAF;
	qp->rq_deaf = EFV_NOT_DEAF;
}
