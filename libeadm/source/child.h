/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs foreign library code in a separate process: its output is kept out of the caller's
 * output, and its crash does not affect the caller.
 */
#ifndef EADM_CHILD_H
#define EADM_CHILD_H

#include <stddef.h>

#include "base/base.h"
#include "base/ctx.h"

/* The last line that a child prints, after it has finished its work. */
#define EADM_CHILD_END	"+end"

/* Prints a line in a child. A library may have printed a text without a newline before. */
#define EADM_CHILD_SAY(...) dprintf(STDOUT_FILENO, "\n" __VA_ARGS__)

struct eadm_child {
	void (*work)(const void *arg);
	const void *arg;
	/*
	 * The line that the caller needs, up to a space; what follows is welcome, but a
	 * pause ends the child. NULL: the caller needs all lines.
	 */
	const char *need;
};

/*
 * Calls the work in a child whose standard output and standard error are collected in
 * @said, as text. Returns 0 if the child finished its work; the number of the signal that
 * ended it; -ETIMEDOUT if it was killed because it took too long or made a pause;
 * -ECHILD if it ended early and the reason is unknown, because the library's caller reaps
 * children, or the work ended the process; -EBUSY if too many of the context's children
 * have not ended yet; or another negative errno if it could not be started.
 */
int eadm_child_run(struct eadm_ctx *ctx, const struct eadm_child *child, char *said,
		   size_t size);

/* Reaps the children that have ended meanwhile. */
void eadm_children_reap(struct eadm_children *children);

/* At the end of the context: the remaining ones are left to the caller's process. */
void eadm_children_release(struct eadm_children *children);

#endif /* EADM_CHILD_H */
