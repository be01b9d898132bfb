/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closing of descriptors that another process has sent, and of sockets whose queues may
 * contain such descriptors. The last close() of a socket with SO_LINGER, or any close()
 * of a file in a FUSE file system, may block for as long as the other process likes. That
 * of a file in memory frees its pages, which takes 0.3 s or more for each GiB.
 */
#ifndef PVRDMA_DISCARD_H
#define PVRDMA_DISCARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Maximum descriptors of one owner that wait to be closed. */
#define DISCARD_MAX 464

/*
 * Descriptors of one owner, and the thread that closes them: a descriptor that blocks the
 * thread delays only those of the same owner. Any thread may use them, but only one at a
 * time.
 */
struct discard;

/*
 * Starts the thread, and must therefore be called before a filter of system calls is
 * installed. Returns NULL with errno set on failure.
 */
struct discard *discard_open(void);
/* Descriptors that have not been closed yet are closed later. */
void discard_close(struct discard *discard);

/*
 * Closes the descriptor in the background. The caller avoids that there are more than
 * DISCARD_MAX.
 */
void discard_fd(struct discard *discard, int fd);
/* The same for a connected socket, whose peer is disconnected at once. */
void discard_socket(struct discard *discard, int fd);
/*
 * Number of descriptors that have not been closed yet. If there are many, the owner must
 * not receive any further ones.
 */
unsigned int discard_pending(struct discard *discard);

/*
 * recv() from a socket that does not block and over which no descriptors are expected.
 * Fails with EPROTO if the data has some, which stay in the socket's queue: recv() would
 * close them.
 */
ssize_t discard_recv(int fd, void *data, size_t size, int flags);

/*
 * Returns true if the descriptor is a file of memfd_create(), tmpfs or hugetlbfs. Except
 * for the last close(), neither this function nor operations on such a file block.
 */
bool discard_is_memory(int fd);

#endif /* PVRDMA_DISCARD_H */
