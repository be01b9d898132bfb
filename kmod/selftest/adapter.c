// SPDX-License-Identifier: GPL-2.0-only
/* Properties of the adapter that several cases depend on. */

#include <linux/module.h>

#include "selftest.h"

/* The defaults are ERDMA's, in the order of enum cause. */
unsigned int vendor_errors[NR_CAUSES] = { 2, 3, 4, 3, 0x30 };
module_param_array(vendor_errors, uint, NULL, 0444);
MODULE_PARM_DESC(vendor_errors, "Vendor error numbers of failures: bad key, beyond the end, no access right, not aligned, bad sink key");

bool is_iwarp(const struct ib_device *ibdev)
{
	return rdma_protocol_iwarp(ibdev, 1);
}
