// SPDX-License-Identifier: LGPL-2.1-or-later
/* What sysfs shows of the kernel's modules. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "facts.h"

/* The PCI functions that the drivers of a module serve. */
bool eadm_fact_bound(const struct eadm_ctx *ctx, const char *name, char *buf,
		     size_t size)
{
	const char *address;
	glob_t found;
	size_t i;

	eadm_root_glob(ctx, 0, &found,
		       "/sys/module/%.64s/drivers/pci:*/*:*:*.*", name);
	for (i = 0; i < found.gl_pathc; i++) {
		address = strrchr(found.gl_pathv[i], '/') + 1;
		eadm_fact_add_word(buf, size, address, strlen(address));
	}
	globfree(&found);
	return true;
}

/* Its version, which may be "". */
bool eadm_fact_module(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	return eadm_root_line(ctx, buf, size, "/sys/module/%.64s/version",
			      name) ||
	       !eadm_root_access(ctx, F_OK, "/sys/module/%.64s", name);
}

bool eadm_fact_modules(const struct eadm_ctx *ctx, const char *name, char *buf,
		       size_t size)
{
	static const char *const modules[] = { "ib_core", "ib_uverbs",
					       "rdma_cm", "rdma_ucm" };
	size_t i;

	(void)name;
	for (i = 0; i < EADM_ARRAY_SIZE(modules); i++) {
		if (!eadm_root_access(ctx, F_OK, "/sys/module/%s", modules[i]))
			eadm_fact_add_word(buf, size, modules[i],
					   strlen(modules[i]));
	}
	return true;
}

/* Whose a loaded module is, as far as the kernel knows. */
bool eadm_fact_origin(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	char source[48], taint[16];
	bool known;

	if (!eadm_root_line(ctx, taint, sizeof(taint),
			    "/sys/module/%.64s/taint", name))
		return false;
	known = eadm_root_line(ctx, source, sizeof(source),
			       "/sys/module/%.64s/srcversion", name) &&
		*source;
	snprintf(buf, size, "%s%s%s",
		 strchr(taint, 'O') ? "out of tree" : "the kernel's own",
		 known ? ", srcversion " : "", known ? source : "");
	return true;
}
