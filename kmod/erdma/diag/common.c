// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: code shared by its parts, and reporting by the driver. */

#include "erdma_classes.h"
#include "diag.h"

/**
 * erdma_diag_may_query() - whether the adapter can be asked for a context
 * @dev: the device
 * @obj: the object, or NULL for those that also exist after a reset
 *
 * Return: 0 or -errno for hw-error.
 */
int erdma_diag_may_query(struct erdma_dev *dev, const struct eadm_object *obj)
{
	if (obj ? eadm_object_is_dead(&dev->adapter, obj) : READ_ONCE(dev->adapter.gone))
		return -ENODEV;
	return dev->caps.flags & ERDMA_FLAG_QUERY_QC ? 0 : -EOPNOTSUPP;
}

/**
 * erdma_diag_command() - report the result of a command
 * @dev: the device
 * @type: EADM_DIAG_CMD_*
 * @cmd: the command
 *
 * Context: any.
 */
void erdma_diag_command(struct erdma_dev *dev, unsigned long type, const struct erdma_cmd *cmd)
{
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_CMD,
		.id = cmd->seq,
		.code = erdma_op_class(cmd->op),
		.raw = cmd->op,
	};

	/* A command that was lost is done, too. */
	if (type == EADM_DIAG_CMD_DONE)
		erdma_failed_command(dev, cmd);
	if (type != EADM_DIAG_CMD_DONE || eadm_diag_is_followed(&dev->adapter.diag))
		eadm_diag_notify(&dev->adapter.diag, type, &ev);
}

/**
 * erdma_diag_async() - report an asynchronous event of the adapter
 * @dev: the device
 * @type: ERDMA_AE_*
 * @id: number of the QP or CQ
 *
 * Context: any.
 */
void erdma_diag_async(struct erdma_dev *dev, u8 type, u32 id)
{
	const struct eadm_diag_event ev = {
		.obj = type == ERDMA_AE_CQ_ERR ? EADM_OBJ_CQ : EADM_OBJ_QP,
		.id = id,
		.code = erdma_event_class(type),
		.raw = type,
	};

	eadm_diag_notify(&dev->adapter.diag, EADM_DIAG_ASYNC, &ev);
}
