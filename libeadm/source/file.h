/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source that reads a capture. */
#ifndef EADM_FILE_H
#define EADM_FILE_H

#include "source.h"

int eadm_file_new(struct eadm_ctx *ctx, int fd, struct eadm_source **src)
	EADM_MUST_CHECK;
int eadm_file_share(struct eadm_ctx *ctx, struct eadm_source *other,
		    struct eadm_source **src) EADM_MUST_CHECK;

#endif /* EADM_FILE_H */
