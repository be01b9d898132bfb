/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between the setups of two hosts: eadm diff --setup. */
#ifndef DIFF_SETUP_H
#define DIFF_SETUP_H

#include "cli.h"

/* Compares one kind of @object, or all if NULL; returns the status. */
int diff_setup(struct cli *cli, struct eadm_ctx *a, struct eadm_ctx *b,
	       const struct eadm_object *object);

#endif /* DIFF_SETUP_H */
