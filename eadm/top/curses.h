/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ncurses, loaded when a screen is wanted, so that nobody else waits for it. */
#ifndef TOP_CURSES_H
#define TOP_CURSES_H

#define NCURSES_NOMACROS
#include <curses.h>
#include <stdbool.h>

#define CURSES_FUNCTIONS(f)						\
	f(newterm) f(endwin) f(delscreen) f(cbreak) f(noecho)		\
	f(keypad) f(wtimeout) f(wgetch) f(werase) f(wmove)		\
	f(waddnstr) f(wattr_set) f(wrefresh) f(wclrtoeol) f(curs_set)	\
	f(has_colors) f(start_color) f(use_default_colors) f(init_pair)	\
	f(getmaxx) f(getmaxy) f(clearok)

struct curses {
#define f(name) __typeof__(&name) name;
	CURSES_FUNCTIONS(f)
#undef f
	WINDOW **screen;	/* stdscr */
};

extern struct curses curses;

bool curses_load(void);

#endif /* TOP_CURSES_H */
