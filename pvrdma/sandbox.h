/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restricts the program, to limit the damage if a guest compromises it. */
#ifndef PVRDMA_SANDBOX_H
#define PVRDMA_SANDBOX_H

#include "options.h"

/*
 * Called before the first thread starts: afterwards no program can be started, and no
 * file written, created or removed, except for sockets in their directories and the nodes
 * of RDMA devices. Skipped on kernels without Landlock. Returns 0 or -errno.
 */
int sandbox_files(const struct options *options);
/*
 * Called once everything is set up: limits the system calls of all threads. Returns 0 or
 * -errno.
 */
int sandbox_calls(const struct options *options);

#endif /* PVRDMA_SANDBOX_H */
