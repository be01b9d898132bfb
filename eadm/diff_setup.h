/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How two hosts are set up differently: eadm diff --setup. */
#ifndef DIFF_SETUP_H
#define DIFF_SETUP_H

#include "cli.h"

/* Of one kind of @object, or of all with NULL; returns the status. */
int diff_setup(struct cli *cli, struct eadm_ctx *a, struct eadm_ctx *b,
	       const struct eadm_object *object);

#endif /* DIFF_SETUP_H */
