/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the command "trace". */
#ifndef TRACE_H
#define TRACE_H

#include "out/table.h"

int trace_hist(struct cli *cli, struct view *view);
int trace_export(struct cli *cli, struct view *view, const char *path);
struct writer *chrome_writer_new(struct cli *cli, int fd);

#endif /* TRACE_H */
