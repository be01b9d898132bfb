/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command reads: this machine or a capture; and what is kept of it. */
#ifndef SOURCE_H
#define SOURCE_H

#include "cli.h"

int open_source(struct cli *cli);	/* by --from, --at, --save ... */
int close_capture(struct cli *cli, const char *path);
/* The capture of --save, if there is one; the status to end with. */
int close_save(struct cli *cli, int status);

#endif /* SOURCE_H */
