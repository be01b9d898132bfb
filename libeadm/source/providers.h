/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files by which libibverbs finds its providers. */
#ifndef EADM_PROVIDERS_H
#define EADM_PROVIDERS_H

#include <glob.h>

#include "base/ctx.h"

/* Where the loader finds libraries. Free @found with globfree(). */
void eadm_find_libraries(const struct eadm_ctx *ctx, const char *pattern,
			 glob_t *found);

/* Names of the providers that are installed, and of those that files of libibverbs name. */
void eadm_providers_installed(const struct eadm_ctx *ctx, char *words,
			      size_t size);
void eadm_providers_configured(const struct eadm_ctx *ctx, char *words,
			       size_t size, char *faults, size_t faults_size);

/*
 * What keeps providers from being loaded, according to what libibverbs printed
 * and how its process ended, is appended to @faults.
 */
void eadm_providers_faults(const struct eadm_ctx *ctx, const char *said,
			   int ended, char *faults, size_t size);

/* Append "NAME: TEXT" to a list. */
void eadm_providers_add_fault(char *faults, size_t size, const char *name,
			      const char *fmt, ...) EADM_PRINTF(4, 5);

#endif /* EADM_PROVIDERS_H */
