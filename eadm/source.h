/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of a command, which is this machine or a capture, and captures made from
 * it.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "cli.h"

int open_source(struct cli *cli);	/* as given by --from, --at, --save ... */
/* The two steps of that without a capture, for a context that is not @cli's. */
int set_up_source(struct cli *cli, struct eadm_ctx *ctx);
int open_running(struct cli *cli, struct eadm_ctx *ctx);
/* Refuses a device given by --device over which rdma_cm cannot establish connections. */
int need_connections(struct cli *cli);
int close_capture(struct cli *cli, struct eadm_capture *capture,
		  const char *path);
/* Finish the capture of --save, if any; returns the exit status. */
int close_save(struct cli *cli, int status);

#endif /* SOURCE_H */
