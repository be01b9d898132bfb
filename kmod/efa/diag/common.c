// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: code shared by its parts, and reporting by the driver. */

#include "efa_classes.h"
#include "diag.h"

/**
 * efa_diag_command() - report the result of a command
 * @dev: the device
 * @type: EADM_DIAG_CMD_*
 * @cmd: the command
 *
 * Context: any.
 */
void efa_diag_command(struct efa_dev *dev, unsigned long type, const struct efa_cmd *cmd)
{
	u8 op = cmd->req.hdr.opcode;
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_CMD,
		.id = cmd->seq,
		.code = efa_op_class(op),
		.raw = op,
	};

	eadm_diag_notify(&dev->adapter.diag, type, &ev);
}

/**
 * efa_diag_async() - report an asynchronous event of the adapter
 * @dev: the device
 * @group: enum efa_aenq_group
 *
 * Context: any.
 */
void efa_diag_async(struct efa_dev *dev, u16 group)
{
	const struct eadm_diag_event ev = {
		.obj = EADM_OBJ_DEV,
		.code = efa_event_class(group),
		.raw = group,
	};

	eadm_diag_notify(&dev->adapter.diag, EADM_DIAG_ASYNC, &ev);
}
