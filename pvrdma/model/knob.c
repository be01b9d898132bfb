// SPDX-License-Identifier: GPL-2.0-or-later
/* Setting of fault injection knobs. Some faults occur as soon as their knob is set. */
#include <errno.h>

#include "function.h"

/* The first connected QP that matches the target. */
static struct qp *connected(struct model *m, int64_t target)
{
	struct ibv_qp_attr now;
	uint32_t number;
	struct qp *qp;

	for (number = 0; (qp = table_next(&m->qps, &number)); number++) {
		if (qp->type != PVRDMA_QPT_RC || (target >= 0 && target != qp->qpn))
			continue;
		m->ops->qp_query(qp->backend, &now);
		if (now.qp_state == IBV_QPS_RTS)
			return qp;
	}
	return NULL;
}

static int fail_qp(struct model *m, enum fault_id id)
{
	struct fault *fault = &m->faults[id];
	struct qp *qp = connected(m, fault->target);

	fault->count = 0;
	if (!qp)
		return -ENOENT;
	fault->hits++;
	if (id == FAULT_AEQ_QP_FATAL)
		event_send(m, PVRDMA_EVENT_QP_FATAL, qp->handle);
	qp_fail(m, qp);
	return 0;
}

static void lose_backend(struct model *m)
{
	uint32_t number;
	struct qp *qp;

	event_send(m, PVRDMA_EVENT_DEVICE_FATAL, 0);
	for (number = 0; (qp = table_next(&m->qps, &number)); number++)
		if (!qp->reset)
			qp_fail(m, qp);
}

int fault_set(struct model *m, enum fault_id id, const struct fault *from)
{
	struct fault *fault = &m->faults[id];
	bool was = fault->count, is = from->count;
	uint64_t hits = fault->hits;

	if (from->count < -1 || from->probability > 100 || from->target < -1)
		return -EINVAL;
	*fault = *from;
	fault->hits = hits + (!was && is && (id == FAULT_LINK_DOWN || id == FAULT_BACKEND_GONE ||
					     id == FAULT_DEV_GONE));
	switch (id) {
	case FAULT_AEQ_QP_FATAL:
	case FAULT_QP_ERROR:
		return is ? fail_qp(m, id) : 0;
	case FAULT_LINK_DOWN:
		if (was == is)
			return 0;
		m->journal->link_downs += is;
		event_send(m, is ? PVRDMA_EVENT_PORT_ERR : PVRDMA_EVENT_PORT_ACTIVE, 1);
		return 0;
	case FAULT_BACKEND_GONE:
		if (!was && is)
			lose_backend(m);
		return 0;
	case FAULT_SURPRISE:
		fault->count = 0;
		if (!is)
			return 0;
		fault->hits++;
		vfio_hang_up(m->vfio, "the fault knob 'surprise'");
		return 0;
	default:
		return 0;
	}
}
