/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs foreign library code in a separate process: its output is kept out of the caller's
 * output, and its crash does not affect the caller.
 */
#ifndef EADM_CHILD_H
#define EADM_CHILD_H

#include <stddef.h>

#include "base/base.h"

/* The last line that a child prints, after it has finished its work. */
#define EADM_CHILD_END	"+end"

/*
 * Calls @work in a child whose standard output and standard error are collected in
 * @said, as text. Returns 0; the number of the signal that ended the child; or a
 * negative errno, -ETIMEDOUT if it did not end in time.
 */
int eadm_child_run(void (*work)(const void *arg), const void *arg, char *said,
		   size_t size);

#endif /* EADM_CHILD_H */
