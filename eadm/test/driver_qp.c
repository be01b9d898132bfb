// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver_qp.h"

#include <string.h>

#define DECLARE(name) extern const struct driver_qp driver_qp_##name;
#define ADDRESS(name) &driver_qp_##name,

EADM_DRIVER_QPS(DECLARE)

static const struct driver_qp *const all[] = {
	EADM_DRIVER_QPS(ADDRESS) NULL
};

const struct driver_qp *driver_qp_of(const char *family)
{
	const struct driver_qp *const *one = all;

	while (*one && strcmp((*one)->family, family) != 0)
		one++;
	return *one;
}
