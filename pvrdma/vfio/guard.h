/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings of files that another process may truncate: the handler for SIGBUS replaces a
 * mapping with zeros if its file has become too short.
 */
#ifndef VFIO_GUARD_H
#define VFIO_GUARD_H

#include <stdatomic.h>
#include <stddef.h>

/* Owner of mappings. The owner outlives its mappings; the handler writes to it. */
struct guard_owner {
	/*
	 * Set by the handler: some memory of this owner is no longer backed by the
	 * client's file.
	 */
	atomic_bool lost;
	/* An event descriptor that is signalled in that case. */
	int wake;
};

/* Any thread may call these. */
int guard_add(struct guard_owner *owner, void *memory, size_t size);
void guard_remove(struct guard_owner *owner, void *memory);
/* Removes all remaining mappings of the owner. */
void guard_clear(struct guard_owner *owner);

#endif /* VFIO_GUARD_H */
