// SPDX-License-Identifier: GPL-2.0-or-later
#include "late.h"

#include <dlfcn.h>

const char *late_open(const char *soname, const char *const *names, void **to)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return soname;
	for (; *names; names++, to++) {
		*to = dlsym(lib, *names);
		if (!*to)
			return *names;
	}
	return NULL;
}
