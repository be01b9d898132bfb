// SPDX-License-Identifier: GPL-2.0-or-later
#define JSONC_NO_NAMES
#include "jsonc.h"

#include <dlfcn.h>

struct jsonc jsonc;

bool jsonc_load(void)
{
	void *lib = dlopen("libjson-c.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return false;
#define f(name)								\
	jsonc.name = (__typeof__(jsonc.name))dlsym(lib, #name);		\
	if (!jsonc.name)						\
		return false;
	JSONC_FUNCTIONS(f)
#undef f
	return true;
}
