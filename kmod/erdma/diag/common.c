// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: code shared by its parts. */

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
