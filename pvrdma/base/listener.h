/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LISTENER_H
#define BASE_LISTENER_H

#include <sys/types.h>

struct listener {
	const char *path;
	/* SOCK_STREAM, SOCK_SEQPACKET */
	int type;
	mode_t mode;
	/* Owner of the socket; -1: this process's user. */
	uid_t uid;
	gid_t gid;
};

/* The file of a socket, for listener_unlink(). */
struct listener_file {
	dev_t dev;
	ino_t ino;
};

/*
 * Creates a non-blocking listening UNIX socket; replaces one left over from a process
 * that has ended. Clients can connect only after owner and mode have been set. Returns
 * the descriptor or -errno.
 */
int listener_open(const struct listener *listener, struct listener_file *file);
/*
 * Removes the socket, unless another file has taken its path. To be called before the
 * descriptor is closed, so that no other file can have the same number.
 */
void listener_unlink(const char *path, const struct listener_file *file);

/*
 * Returns a spare descriptor for listener_accept(), which the caller closes; -1 if none is
 * available now.
 */
int listener_spare(int listener);

/*
 * Returns the next connection of a non-blocking listening socket, or -errno: -EAGAIN if
 * there is none. If the process has no free descriptor, @spare is used to accept and
 * close the connection, and -ECONNABORTED is returned: without this, the socket would
 * stay readable and the client would keep waiting.
 */
int listener_accept(int listener, int *spare);

#endif /* BASE_LISTENER_H */
