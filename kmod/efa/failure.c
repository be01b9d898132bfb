// SPDX-License-Identifier: GPL-2.0-only
/* Recording of failures (eadm_failures.h); what a process may ask for is not a failure. */

#include "efa.h"
#include "efa_classes.h"

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

/* Queries may be used to find out whether something exists. */
static bool is_question(u32 op)
{
	switch (op) {
	case EADM_CMD_OP_QUERY_QP:
	case EADM_CMD_OP_GET_STATS:
	case EADM_CMD_OP_GET_FEATURE:
		return true;
	default:
		return false;
	}
}

/**
 * efa_failed_command() - a command was lost, or refused
 * @dev: the device
 * @cmd: the command, which failed; nothing is recorded if it was ended by a
 *	reset
 *
 * Context: process, that of the issuer.
 */
void efa_failed_command(struct efa_dev *dev, const struct efa_cmd *cmd)
{
	struct eadm_failure what = {
		.kind = EADM_FAILURE_KIND_COMMAND,
		.cause = EADM_CAUSE_TIMEOUT,
		.has = EADM_FAILURE_OP | EADM_FAILURE_ERROR,
		.id = cmd->seq,
		.op = efa_op_class(cmd->req.hdr.opcode),
		.op_raw = cmd->req.hdr.opcode,
		.error = cmd->status,
	};

	if (cmd->answered) {
		if (!cmd->resp.hdr.status || is_question(what.op))
			return;
		what.cause = EADM_CAUSE_REFUSED;
		what.syndrome = cmd->resp.hdr.status;
		what.has |= EADM_FAILURE_SYNDROME;
	} else if (cmd->status != -ETIMEDOUT) {
		return;
	}
	eadm_failure_set_caller(&what);
	eadm_failures_note(&dev->adapter.failures, &what);
}
