// SPDX-License-Identifier: GPL-2.0-or-later
#include "curses.h"

#include <dlfcn.h>

struct curses curses;

bool curses_load(void)
{
	void *lib = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_GLOBAL);

	if (!lib)
		return false;
#define f(name)								\
	curses.name = (__typeof__(curses.name))dlsym(lib, #name);	\
	if (!curses.name)						\
		return false;
	CURSES_FUNCTIONS(f)
#undef f
	curses.screen = dlsym(lib, "stdscr");
	return curses.screen;
}
