/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keyed digests from libnettle, which is loaded on first use. */
#ifndef MESH_SEAL_H
#define MESH_SEAL_H

#include <nettle/hmac.h>

#include "../late.h"

#define NETTLE_FUNCTIONS(f)						\
	f(nettle_hmac_sha256_digest) f(nettle_hmac_sha256_set_key)	\
	f(nettle_hmac_sha256_update)

LATE_LIBRARY(nettle, NETTLE_FUNCTIONS);

#endif /* MESH_SEAL_H */
