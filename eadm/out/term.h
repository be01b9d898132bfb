/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal, examined once. */
#ifndef TERM_H
#define TERM_H

#include "../cli.h"

bool term_is_tty(void);
unsigned int term_rows(void);
bool term_colors(const struct cli *cli);
const char *term_color_of(const char *value);
const char *term_escape_of(const char *value);
unsigned int term_width(void);

#endif /* TERM_H */
