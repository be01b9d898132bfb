/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links to other programs, for the files that handle them. */
#ifndef SOFT_LINK_H
#define SOFT_LINK_H

#include "listener.h"
#include "log_limit.h"
#include "soft.h"
#include "wire.h"

#define LINK_MAX_GIDS 4096u
/*
 * Size of all requests and responses that may be pending at once, doubled for other
 * messages.
 */
#define LINK_MAX_OUT (4 * WIRE_WINDOW * WIRE_PIECE)
/* Datagrams are dropped beyond this size, which leaves room for requests and responses. */
#define LINK_MAX_DATAGRAMS (WIRE_WINDOW * WIRE_PIECE)
/* The longest message. */
#define LINK_MAX_IN (sizeof(struct wire_head) + sizeof(struct wire_request) + WIRE_PIECE)

/* Number of lists, by hash. */
#define LINK_GID_LISTS (1u << LINK_GID_BITS)
#define LINK_GID_BITS 10

/* A GID that a linked program has announced for one of its ports. */
struct link_gid {
	TAILQ_ENTRY(link_gid) entry;
	LIST_ENTRY(link_gid) of_link;
	struct soft_link *link;
	union ibv_gid gid;
	uint32_t port;
};

TAILQ_HEAD(link_gids, link_gid);

/* A link to another program, connected or to be connected. */
struct soft_link {
	TAILQ_ENTRY(soft_link) entry;
	/* -1: not connected. */
	int fd;
	/* Address that this side connects to, with retries; NULL: the other side has connected. */
	const char *address;
	bool connecting, greeted;
	/* It has been logged that the link is missing. */
	bool missed;
	/* If this side connects. */
	struct log_limit log_limit;
	uint64_t retry_at, heard;
	LIST_HEAD(, link_gid) gids;
	unsigned int n_gids;
	/* Number of requests without a response. */
	unsigned int asked;
	struct soft_qps blocked;
	/* Received data, which may end with an incomplete message. */
	size_t n_in;
	unsigned char in[LINK_MAX_IN];
	/* Data to be sent: from @sent to @n_out. */
	unsigned char *out;
	size_t sent, n_out, room;
	/* Start of the first message that is not sent completely. */
	size_t unsent;
	/* Number of responses that are not sent completely, at most WIRE_WINDOW. */
	unsigned int n_answers;
	/* Sending waits until the socket accepts more data. */
	bool full;
};

struct soft_links {
	struct soft *soft;
	/* @spare: see listener_accept() */
	int epoll, listener, spare;
	/* If the listener is a UNIX socket. */
	struct listener_file file;
	const struct backend_soft_config *config;
	/* Of all links that the other side connects. */
	struct log_limit log_limit;
	unsigned int n_links;
	TAILQ_HEAD(, soft_link) links;
	/*
	 * Announced GIDs, each list in order of announcement: a GID belongs to the first
	 * port that announced it, unless a port of this program has it.
	 */
	struct link_gids gids[LINK_GID_LISTS];
	/* Random, so that a program cannot choose GIDs that are all in one list. */
	uint64_t hash[2];
};

/* ---- link.c */
/* Returns NULL if the linked program has not announced this GID of this port. */
struct link_gid *link_find_gid(struct soft_links *links, const struct soft_link *link,
			       const union ibv_gid *gid, uint32_t port);
/* Returns -EPROTO if there are too many, or -ENOMEM. */
int link_add_gid(struct soft_links *links, struct soft_link *link, const union ibv_gid *gid,
		 uint32_t port);
void link_del_gid(struct soft_links *links, struct link_gid *gid);

/* ---- socket.c: descriptors or -errno; @address: as in backend_soft_config */
int link_listen(const char *address, struct listener_file *file);
/* The socket becomes writable once it is connected, or has failed. */
int link_connect(const char *address);

/* A received message. */
struct link_message {
	uint8_t type;
	const unsigned char *data;
	size_t size;
};

/* ---- stream.c: a returned -errno means that the link is lost */
/* Returns the number of bytes received, or 0 if none are available. */
ssize_t link_receive(struct soft_link *link);
/*
 * Gets the message at *@at in the received bytes, and advances *@at. Returns 0 if the
 * message is incomplete.
 */
int link_next(const struct soft_link *link, size_t *at, struct link_message *message);
/* Drops the first @size received bytes. */
void link_drop(struct soft_link *link, size_t size);
int link_send(struct soft_links *links, struct soft_link *link);

#endif /* SOFT_LINK_H */
