// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: code shared by its parts, and reporting by the driver. */

#include "efa_classes.h"
#include "diag.h"

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
