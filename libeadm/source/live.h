/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live source: this machine. */
#ifndef EADM_LIVE_H
#define EADM_LIVE_H

#include "node.h"
#include "source.h"

/*
 * @folders: folders with sockets of programs that emulate adapters, which are shown as
 * well; a NULL-terminated array that must outlive the source. NULL: do not look for
 * programs.
 */
int eadm_live_new(struct eadm_ctx *ctx, eadm_scrub_fn scrub,
		  const char *const *folders, struct eadm_source **src)
	EADM_MUST_CHECK;

#endif /* EADM_LIVE_H */
