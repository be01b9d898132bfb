// SPDX-License-Identifier: GPL-2.0-only
/* Recording of failures (eadm_failures.h); what a process may ask for is not a failure. */

#include "efa.h"

/**
 * efa_failed_qp() - the adapter has forgotten a QP
 * @qp: the QP, referenced
 *
 * Context: process.
 */
void efa_failed_qp(struct efa_qp *qp)
{
	struct efa_dev *dev = to_efa_dev(qp->ibqp.device);
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_QP,
		.cause = eadm_adapter_cause(&dev->adapter),
		.id = qp->qpn,
	};

	eadm_failure_set_owner(&what, &qp->ibqp.res);
	eadm_failures_note(&dev->adapter.failures, &what);
}
