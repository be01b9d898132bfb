/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording. */
#ifndef EADM_TEE_H
#define EADM_TEE_H

#include "base/ctx.h"

struct eadm_capture;
struct eadm_filter;

int eadm_tee_open(struct eadm_ctx *ctx, const char *path,
		  struct eadm_filter *filter, struct eadm_capture **capture)
	EADM_MUST_CHECK;
void eadm_tee_only_local(struct eadm_ctx *ctx, bool on);

#endif /* EADM_TEE_H */
