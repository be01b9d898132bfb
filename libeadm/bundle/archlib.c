// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archlib.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/late.h"

#define ARCHIVE	"libarchive.so.13"
#define NETTLE	"libnettle.so.8"
EADM_LATE_LIBRARY(archive, ARCHIVE, "recommended", "support bundles");
EADM_LATE_LIBRARY(nettle, NETTLE, "recommended", "support bundles");

static bool load(struct eadm_archive *lib)
{
	/*
	 * Bind lazily: libarchive loads dozens of libraries, of which bundles need three.
	 */
	lib->archive = dlopen(ARCHIVE, RTLD_LAZY | RTLD_LOCAL);
	if (!lib->archive)
		return false;
	lib->nettle = dlopen(NETTLE, RTLD_LAZY | RTLD_LOCAL);
	if (!lib->nettle)
		return false;
	lib->error_number = (__typeof__(lib->error_number))
		dlsym(lib->archive, "archive_errno");
	if (!lib->error_number)
		return false;
#define f(name)								\
	lib->name = (__typeof__(lib->name))dlsym(lib->archive,		\
						 "archive_" #name);	\
	if (!lib->name)							\
		return false;
	EADM_ARCHIVE_FUNCTIONS(f)
#undef f
#define f(name)								\
	lib->nt_##name = (__typeof__(lib->nt_##name))dlsym(lib->nettle,	\
							   "nettle_" #name); \
	if (!lib->nt_##name)						\
		return false;
	EADM_NETTLE_FUNCTIONS(f)
#undef f
	return true;
}

void eadm_archive_free(struct eadm_archive *lib)
{
	if (!lib)
		return;
	if (lib->nettle)
		dlclose(lib->nettle);
	if (lib->archive)
		dlclose(lib->archive);
	free(lib);
}

/* Returns the libraries, or NULL with the context's error set (-EOPNOTSUPP). */
const struct eadm_archive *eadm_archive_get(struct eadm_ctx *ctx)
{
	struct eadm_archive *lib;
	const char *why;

	if (ctx->archive)
		return ctx->archive;
	lib = calloc(1, sizeof(*lib));
	if (!lib) {
		eadm_oom(ctx);
		return NULL;
	}
	dlerror();
	if (!load(lib)) {
		why = dlerror();
		eadm_fail(ctx, -EOPNOTSUPP,
			  "bundles require the packages libarchive13 and libnettle8: %s",
			  why ? why : "out of memory");
		eadm_archive_free(lib);
		return NULL;
	}
	ctx->archive = lib;
	return lib;
}

/*
 * Accept only names that eadm itself would write: relative, and without characters that
 * are special to shells, terminals or file systems.
 */
bool eadm_member_name_ok(const char *name)
{
	const char *p;

	if (!*name || strlen(name) >= EADM_MEMBER_MAX)
		return false;
	for (p = name; *p; p++) {
		bool first = p == name || p[-1] == '/';

		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/", *p))
			return false;
		if (first && (*p == '.' || *p == '/' || *p == '-'))
			return false;
	}
	return p[-1] != '/';
}

void eadm_digest_text(const uint8_t *digest, char *text)
{
	static const char hex[] = "0123456789abcdef";
	int i;

	for (i = 0; i < SHA256_DIGEST_SIZE; i++) {
		*text++ = hex[digest[i] >> 4];
		*text++ = hex[digest[i] & 15];
	}
	*text = '\0';
}
