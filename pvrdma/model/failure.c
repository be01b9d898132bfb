// SPDX-License-Identifier: GPL-2.0-or-later
/* Failures of QPs. */
#include "function.h"

void qp_fail(struct model *m, struct qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	m->ops->qp_modify(qp->backend, &attr, IBV_QP_STATE, NULL);
}

void qp_note_failure(struct model *m, struct qp *qp, uint32_t status, int32_t event)
{
	if (qp->failed)
		return;
	qp->failed = true;
	qp->first_status = status;
	qp->first_event = event;
	qp->failed_at = journal_now();
	journal_fail(m->journal, &(struct journal_failure){
		.kind = JOURNAL_QP, .id = qp->qpn, .status = status, .event = event,
	});
}
