/* SPDX-License-Identifier: GPL-2.0-only */
/* Resource tracking of the RDMA core. */
#ifndef COMPAT_RESTRACK_H
#define COMPAT_RESTRACK_H

#include <rdma/restrack.h>

#ifndef COMPAT_HAVE_RESTRACK_IS_TRACKED
static inline bool rdma_restrack_is_tracked(const struct rdma_restrack_entry *res)
{
	return true;
}
#endif

#endif /* COMPAT_RESTRACK_H */
