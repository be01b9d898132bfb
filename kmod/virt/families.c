// SPDX-License-Identifier: GPL-2.0-only
/* All families, one line each. */
#include "core/vdev.h"
#include "efa/family.h"
#include "erdma/family.h"

const struct vdev_family *const vdev_families[] = {
	&ev_family,
	&efv_family,
	NULL
};
