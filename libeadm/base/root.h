/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of this machine: all files in /sys, /proc, /dev and the library folders are
 * opened here, below a root that tests may set.
 */
#ifndef EADM_ROOT_H
#define EADM_ROOT_H

#include <dirent.h>
#include <glob.h>

#include "ctx.h"

int eadm_root_set(struct eadm_ctx *ctx, const char *path) EADM_MUST_CHECK;

int eadm_root_open(const struct eadm_ctx *ctx, int flags, const char *fmt, ...)
	EADM_PRINTF(3, 4);
int eadm_root_access(const struct eadm_ctx *ctx, int mode, const char *fmt,
		     ...) EADM_PRINTF(3, 4);
bool eadm_root_line(const struct eadm_ctx *ctx, char *buf, size_t size,
		    const char *fmt, ...) EADM_PRINTF(4, 5);
bool eadm_root_link(const struct eadm_ctx *ctx, char *buf, size_t size,
		    const char *fmt, ...) EADM_PRINTF(4, 5);
DIR *eadm_root_dir(const struct eadm_ctx *ctx, const char *path);
void eadm_root_glob(const struct eadm_ctx *ctx, int flags, glob_t *found,
		    const char *fmt, ...) EADM_PRINTF(4, 5);

#endif /* EADM_ROOT_H */
