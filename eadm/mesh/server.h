/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets of rank 0. */
#ifndef MESH_SERVER_H
#define MESH_SERVER_H

#include "../cli.h"
#include "channel.h"
#include "hub.h"

/*
 * Serves until the last member has left or a signal arrives. Closes @listener. Returns
 * 0 or a negative errno.
 */
int server_run(struct cli *cli, struct hub *hub, const struct secret *secret,
	       int listener);

#endif /* MESH_SERVER_H */
