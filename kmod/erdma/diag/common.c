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
