/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording. */
#ifndef EADM_TEE_H
#define EADM_TEE_H

#include "base/ctx.h"

void eadm_tee_pause(struct eadm_ctx *ctx);
void eadm_tee_resume(struct eadm_ctx *ctx);

#endif /* EADM_TEE_H */
