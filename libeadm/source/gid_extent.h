/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far GID tables are filled, by port. A RoCE table has up to 1,024 entries, each of which is a
 * file, and few GIDs. The kernel puts a new GID into the first free entry, so entries far behind
 * the last GID need not be read each time. If many GIDs come and all but the last ones go between
 * two reads, those are missing until the whole table is read again, five minutes later at most.
 */
#ifndef EADM_GID_EXTENT_H
#define EADM_GID_EXTENT_H

#include "base/base.h"

struct eadm_ctx;
struct eadm_gid_extents;

/* Number of empty entries to read behind the last GID. */
#define EADM_GID_MARGIN 16

/* Return the number of entries to read at least; UINT32_MAX: all. */
uint32_t eadm_gid_extent(const struct eadm_ctx *ctx, const char *device, uint32_t port);
/*
 * Remember that the last GID of a port was in front of @end. Unless @whole, the table was read up to
 * the margin only, and a lower end is ignored.
 */
void eadm_gid_extent_learn(struct eadm_ctx *ctx, const char *device, uint32_t port, uint32_t end,
			   bool whole);
void eadm_gid_extents_free(struct eadm_gid_extents *extents);

#endif /* EADM_GID_EXTENT_H */
