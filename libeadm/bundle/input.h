/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening the input that captures are read from. */
#ifndef EADM_INPUT_H
#define EADM_INPUT_H

#include "base/ctx.h"

int eadm_input_open(struct eadm_ctx *ctx, const char *path) EADM_MUST_CHECK;

#endif /* EADM_INPUT_H */
