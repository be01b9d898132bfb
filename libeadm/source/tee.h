/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording. */
#ifndef EADM_TEE_H
#define EADM_TEE_H

#include "base/ctx.h"

void eadm_tee_only_local(struct eadm_ctx *ctx, bool on);

#endif /* EADM_TEE_H */
