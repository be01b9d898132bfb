/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the command "trace". */
#ifndef TRACE_H
#define TRACE_H

#include "view.h"

int trace_hist(struct cli *cli, struct view *view);
int trace_export(struct cli *cli, struct view *view, const char *path);

#endif /* TRACE_H */
