/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that libibverbs uses to find its providers. */
#ifndef EADM_PROVIDERS_H
#define EADM_PROVIDERS_H

#include <glob.h>

#include "base/ctx.h"

/* Find libraries where the loader looks. Free @found with globfree(). */
void eadm_find_libraries(const struct eadm_ctx *ctx, const char *pattern,
			 glob_t *found);

/*
 * These list the names of the installed providers, and of those in files of libibverbs.
 */
void eadm_providers_installed(const struct eadm_ctx *ctx, char *words,
			      size_t size);
void eadm_providers_configured(const struct eadm_ctx *ctx, char *words,
			       size_t size, char *faults, size_t faults_size);

/*
 * Appends the reasons why providers cannot be loaded to @faults, according to the
 * output of libibverbs and the exit of its process.
 */
void eadm_providers_faults(struct eadm_ctx *ctx, const char *said,
			   int ended, char *faults, size_t size);

/* Room for the fault of libibverbs after those of files and providers, which may be many. */
#define EADM_PROVIDERS_ROOM 512

/* Append "NAME: TEXT" to a list. */
void eadm_providers_add_fault(char *faults, size_t size, const char *name,
			      const char *fmt, ...) EADM_PRINTF(4, 5);

#endif /* EADM_PROVIDERS_H */
