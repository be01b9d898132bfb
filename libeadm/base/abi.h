/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structs of the public interface. Each struct begins with its size when the caller was
 * compiled. The library's struct and the caller's may differ only in members at the end
 * that one of them lacks.
 */
#ifndef EADM_ABI_H
#define EADM_ABI_H

#include "ctx.h"

int eadm_abi_take(struct eadm_ctx *ctx, void *ours, size_t size,
		  const void *theirs) EADM_MUST_CHECK;
int eadm_abi_bits(struct eadm_ctx *ctx, uint64_t bits, uint64_t known)
	EADM_MUST_CHECK;
bool eadm_abi_sized(const void *theirs);
int eadm_abi_give(void *theirs, const void *ours, size_t size)
	EADM_MUST_CHECK;

#endif /* EADM_ABI_H */
