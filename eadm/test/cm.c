// SPDX-License-Identifier: GPL-2.0-or-later
#define CM_NO_NAMES
#include "cm.h"

#include <dlfcn.h>

struct cm cm;

/* NULL, or what is missing. The second library comes with the first one. */
const char *cm_load(void)
{
	static const char name[] = "librdmacm.so.1";
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return name;
#define f(name)								\
	cm.name = (__typeof__(cm.name))dlsym(lib, #name);		\
	if (!cm.name)							\
		return #name;
	CM_FUNCTIONS(f)
#undef f
	return NULL;
}
