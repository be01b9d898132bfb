/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface to bundles for other parts of the library. */
#ifndef EADM_BUNDLE_PRIV_H
#define EADM_BUNDLE_PRIV_H

#include "base/ctx.h"

int eadm_bundle_capture(struct eadm_ctx *ctx, int fd);

#endif /* EADM_BUNDLE_PRIV_H */
