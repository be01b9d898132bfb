/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signalling of event descriptors that another process shares. */
#ifndef VFIO_NOTIFY_H
#define VFIO_NOTIFY_H

/*
 * To be called before notify() and before a filter of system calls is installed; further
 * calls have no effect. Returns -EAGAIN if the limit fs.aio-max-nr has been reached.
 */
int notify_init(void);

/*
 * Adds 1 to the event descriptor. Never blocks, whatever the other process does: a
 * write() would block if the counter is full, as O_NONBLOCK is shared with that process.
 * Any thread may call this.
 */
void notify(int fd);

#endif /* VFIO_NOTIFY_H */
