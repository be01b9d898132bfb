/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: shows the state of adapters, under the same contract as the module
 * eadm (spec/eadm.yaml), and sets fault knobs.
 *
 * A client sends netlink messages over a SOCK_SEQPACKET socket and receives packets of
 * netlink messages, as from a generic netlink socket. Raw bytes of queues use the same
 * messages as in captures. Each client has at most one request and one pending packet at
 * a time, however slowly it reads.
 *
 * Rights: root and the user of this process may see and do everything; other users whom
 * the socket's owner and mode allow to connect see only the data that requires no rights.
 *
 * Threads: all calls are made by the thread that runs the event loop. No call blocks.
 */
#ifndef PVRDMA_CONTROL_H
#define PVRDMA_CONTROL_H

#include <sys/types.h>

#include "model.h"

struct control;

#define CONTROL_NAME_MAX 64

struct control_config {
	const char *path;
	mode_t mode;
	/* Owner of the socket; -1: this process's user. */
	uid_t uid;
	gid_t gid;
	/* One line without a newline, or NULL; @name: the path. */
	void (*log)(const char *name, const char *line);
};

struct control_device {
	struct model *model;
	/* Letters, digits, ".", "_" and "-"; below CONTROL_NAME_MAX. */
	const char *name;
};

/*
 * @devices is copied, but the models and names must stay valid. Returns NULL with errno
 * set; EADDRINUSE: another process listens on the socket.
 */
struct control *control_open(const struct control_config *config,
			     const struct control_device *devices, unsigned int count);
void control_close(struct control *control);
/* Readable if control_dispatch() has work to do. */
int control_fd(const struct control *control);
/* Does a bounded amount of the pending work. */
void control_dispatch(struct control *control);

#endif /* PVRDMA_CONTROL_H */
