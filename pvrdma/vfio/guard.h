/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings of files that another process may cut: the handler for SIGBUS puts
 * zeros in the place of one whose file became too short.
 */
#ifndef VFIO_GUARD_H
#define VFIO_GUARD_H

#include <stdatomic.h>
#include <stddef.h>

/* Whose mapping it is. It outlives its mappings; the handler writes to it. */
struct guard_owner {
	/* Set by the handler: memory of this owner is no longer the client's. */
	atomic_bool lost;
	/* An event descriptor that is signalled then. */
	int wake;
};

/* Any thread may call these. */
int guard_add(struct guard_owner *owner, void *memory, size_t size);
void guard_remove(struct guard_owner *owner, void *memory);
/* All that the owner still has. */
void guard_clear(struct guard_owner *owner);

#endif /* VFIO_GUARD_H */
