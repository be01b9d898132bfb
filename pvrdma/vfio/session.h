/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function and its client, as seen by the message handlers. */
#ifndef VFIO_SESSION_H
#define VFIO_SESSION_H

#include "channel.h"
#include "config.h"
#include "guard.h"
#include "irq.h"
#include "listener.h"
#include "memory.h"
#include "vfio.h"

struct vfio {
	struct vfio_function function;
	struct vfio_ops ops;
	void *ctx;
	/* -1: there is only one connection, and no further one is possible. */
	int listener;
	char *path;
	struct listener_file file;
	int epoll;
	/* Expires if a client does not negotiate a version in time. */
	int timer;
	/* A version has been negotiated, and came() was called. */
	bool negotiated;
	/* Reason to end the session, set outside dispatching, or NULL. */
	const char *ending;
	unsigned int complaints;
	/* The loop is woken when the client can receive, not when it has sent. */
	bool waiting;
	/* The message in the channel is not finished, and writes performed so far. */
	bool unfinished;
	uint64_t writes_done;
	struct channel channel;
	struct memory memory;
	struct guard_owner guard;
	struct irqs irqs;
	struct config config;
	/* All values except those that vfio_stats() computes. */
	struct vfio_stats stats;
};

/*
 * Handles the message in the channel, and puts the reply there unless none is requested.
 * Returns 0, 1 if it must be called again to finish the message, or -EBADMSG if the
 * session has to end, for the reason *@why.
 */
int session_message(struct vfio *vfio, const char **why);

/* Access to a BAR or to the configuration space, split as the operations require. */
int session_read(struct vfio *vfio, const struct proto_access *access, void *data);
int session_write(struct vfio *vfio, const struct proto_access *access,
		  const void *data);
/* The region's size and VFIO_REGION_INFO_FLAG_*; size 0: there is none. */
uint64_t session_region(const struct vfio *vfio, uint32_t region, uint32_t *flags);
/* Resets everything except memory and descriptors to the power-on state. */
void session_reset(struct vfio *vfio);

__attribute__((format(printf, 2, 3)))
void session_log(struct vfio *vfio, const char *format, ...);

#endif /* VFIO_SESSION_H */
