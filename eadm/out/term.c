// SPDX-License-Identifier: GPL-2.0-or-later
/* Determines whether there is a terminal, and prints coloured text. */
#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool term_is_tty(void)
{
	return isatty(STDOUT_FILENO);
}

/* Returns the number of rows if the screen can be cleared, otherwise 0. */
unsigned int term_rows(void)
{
	const char *term = getenv("TERM");
	struct winsize size;

	if (!term || !strcmp(term, "dumb") ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4)
		return 0;
	return size.ws_row;
}

/* Returns the number of columns of the terminal; 0 if there is no terminal. */
unsigned int term_width(void)
{
	struct winsize size;

	if (!term_is_tty() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_col < 40)
		return 0;
	return size.ws_col;
}

bool term_colors(const struct cli *cli)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !cli->args.opt[OPT_NO_COLOR] && !(no_color && *no_color) &&
	       term_is_tty() && term && strcmp(term, "dumb");
}

/*
 * Returns the colour for the name of a state that needs attention; NULL for other
 * states.
 */
const char *term_color_of(const char *value)
{
	static const struct {
		const char *value, *color;
	} colors[] = {
		{ "err", "red" },	  { "error", "red" },
		{ "terminate", "red" },	  { "dead", "red" },
		{ "gone", "red" },	  { "down", "red" },
		{ "timeout", "red" },	  { "aborted", "red" },
		{ "sqe", "yellow" },	  { "sqd", "yellow" },
		{ "closing", "yellow" },  { "recovering", "yellow" },
		{ "late", "yellow" },	  { "pending", "yellow" },
		{ "critical", "red" },	  { "warning", "yellow" },
		{ "fail", "red" },	  { "warn", "yellow" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(colors); i++) {
		if (!strcmp(colors[i].value, value))
			return colors[i].color;
	}
	return NULL;
}

/* Returns the escape sequence, for callers that do their own printing. */
const char *term_escape_of(const char *value)
{
	const char *color = term_color_of(value);

	if (!color)
		return NULL;
	return !strcmp(color, "red") ? "\033[31m" : "\033[33m";
}
