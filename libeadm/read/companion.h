/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The companion's generic netlink family. */
#ifndef EADM_COMPANION_H
#define EADM_COMPANION_H

#include "base/ctx.h"

int eadm_companion_find(struct eadm_ctx *ctx) EADM_MUST_CHECK;
const char *eadm_companion_why(const struct eadm_ctx *ctx);

#endif /* EADM_COMPANION_H */
