/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EADM_WRITE_H
#define EADM_WRITE_H

#include "base.h"

/*
 * Write all bytes: wait for the reader of a non-blocking pipe. A pipe without a reader
 * is -EPIPE without SIGPIPE, which would kill the calling program. Sets @done to the
 * number of bytes written, even on failure. Returns 0 or a negative errno.
 */
int eadm_write_all(int fd, const void *data, size_t len, size_t *done)
	EADM_MUST_CHECK;

#endif /* EADM_WRITE_H */
