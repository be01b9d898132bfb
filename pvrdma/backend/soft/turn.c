// SPDX-License-Identifier: GPL-2.0-or-later
/* Scheduling of QPs: those that have work, that wait, or that are blocked. */
#include "link.h"

void soft_qp_leave(struct soft_qp *qp)
{
	struct soft *soft = qp->port->soft;

	if (qp->queue == SOFT_RUNNABLE) {
		TAILQ_REMOVE(&soft->runnable, qp, link);
	} else if (qp->queue == SOFT_WAITING) {
		TAILQ_REMOVE(&soft->waiting, qp, link);
	} else if (qp->queue == SOFT_BLOCKED) {
		TAILQ_REMOVE(&qp->asked->blocked, qp, link);
		qp->asked = NULL;
	}
	qp->queue = SOFT_IDLE;
}

void soft_qp_schedule(struct soft_qp *qp)
{
	if (qp->queue == SOFT_RUNNABLE)
		return;
	soft_qp_leave(qp);
	TAILQ_INSERT_TAIL(&qp->port->soft->runnable, qp, link);
	qp->queue = SOFT_RUNNABLE;
}

void soft_qp_wait(struct soft_qp *qp, enum backend_wait wait, uint64_t until)
{
	soft_qp_leave(qp);
	qp->wait = wait;
	qp->wake = until;
	TAILQ_INSERT_TAIL(&qp->port->soft->waiting, qp, link);
	qp->queue = SOFT_WAITING;
}

void soft_qp_block(struct soft_qp *qp, struct soft_link *link, uint64_t until)
{
	soft_qp_leave(qp);
	qp->asked = link;
	qp->wake = until;
	TAILQ_INSERT_TAIL(&link->blocked, qp, link);
	qp->queue = SOFT_BLOCKED;
}
