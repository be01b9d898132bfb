// SPDX-License-Identifier: GPL-2.0-or-later
/* Send queues. */
#include <errno.h>

#include "soft.h"

static size_t send_size(uint32_t n_sge, bool fast_reg)
{
	return sizeof(struct soft_send) + n_sge * sizeof(struct ibv_sge) +
	       (fast_reg ? sizeof(struct backend_fast_reg) : 0);
}

int soft_sq_post(struct soft_qp *qp, const struct backend_send *from)
{
	uint32_t n_sge = (uint32_t)from->wr.num_sge, i;
	struct soft_send *send;

	if (n_sge > qp->cap.max_send_sge)
		return -EINVAL;
	if (qp->n_sends == qp->cap.max_send_wr)
		return -ENOMEM;
	send = soft_request_alloc(qp->port, qp->n_sends, send_size(n_sge, from->fast_reg));
	if (!send)
		return -EAGAIN;
	*send = (struct soft_send){
		.wr = from->wr,
		.ah = from->ah,
		.refused = from->refused,
		.n_sge = n_sge,
	};
	for (i = 0; i < n_sge; i++) {
		send->sges[i] = from->wr.sg_list[i];
		send->length += send->sges[i].length;
	}
	if (from->fast_reg) {
		send->fast_reg = (void *)(send->sges + n_sge);
		*send->fast_reg = *from->fast_reg;
	}
	TAILQ_INSERT_TAIL(&qp->sends, send, link);
	qp->n_sends++;
	return 0;
}

void soft_send_free(struct soft_qp *qp)
{
	struct soft_send *send = TAILQ_FIRST(&qp->sends);

	TAILQ_REMOVE(&qp->sends, send, link);
	qp->n_sends--;
	soft_request_free(qp->port, send, send_size(send->n_sge, send->fast_reg));
}
