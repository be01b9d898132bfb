/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of the control socket, and its request. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include "control.h"
#include "discard.h"
#include "listener.h"
#include "rows.h"
#include "peer_wire.h"

#define MAX_DEVICES 64
/*
 * Maximum number of pending events of a client. Further events are lost; their number is
 * reported.
 */
#define MAX_EVENTS 64

struct control;

/* A request in progress. */
struct request {
	/* More packets follow; otherwise the next request is accepted. */
	bool active;
	bool dump, fault;
	uint16_t type;
	uint32_t seq;
	uint8_t cmd;
	unsigned int object;
	unsigned int rights;
	/* The next device, and the end of the range. */
	unsigned int device, devices;
	uint64_t pos, key, only;
	bool has_key;
	struct row_request rows;
	/* Generation of the objects when the dump began. */
	uint64_t generation;
};

struct event_row {
	unsigned int device;
	uint64_t time;
	struct journal_event event;
	uint64_t seq;
};

struct client {
	struct control *control;
	int fd;
	uint32_t uid;
	/* The user is root or the user of this process. */
	bool full;
	/* The client is waiting until its socket is writable. */
	bool blocked;
	struct request request;
	/* Size of a packet that has not been sent, or 0. */
	size_t out_len;
	bool subscribed;
	uint32_t event_seq;
	uint16_t event_type;
	struct event_row events[MAX_EVENTS];
	unsigned int first_event, n_events;
	uint32_t lost_events;
	_Alignas(8) unsigned char out[EADM_PEER_PACKET_MAX];
};

struct control {
	char path[108];
	struct listener_file file;
	/* @spare: see listener_accept(); @timer expires when the listener is watched again. */
	int listener, spare, epoll, timer;
	/* Closes the clients' sockets, which may contain descriptors. */
	struct discard *discard;
	/* It has been logged that no client is accepted. */
	bool blocked;
	void (*log)(const char *name, const char *line);
	struct device devices[MAX_DEVICES];
	unsigned int count;
	struct client *clients[16];
	uint64_t event_seq;
};

/* ---- request.c */
/*
 * Handles a request of @len bytes. Afterwards, either the response is in the buffer or
 * the request is active.
 */
void request_take(struct client *client, const void *data, size_t len);
/* Builds the next packet of an active request. */
void request_go_on(struct client *client);

/* ---- reply.c */
/* Appends a message to the client's packet. Returns NULL if there is no room. */
struct nlmsghdr *reply_begin(struct client *client, uint16_t type, uint16_t flags, uint32_t seq,
			     int cmd);
size_t reply_room(const struct client *client, const struct nlmsghdr *nlh);
void reply_end(struct client *client, const struct nlmsghdr *nlh);
/* Replaces the packet with this one message, which ends the request. */
void reply_error(struct client *client, const struct nlmsghdr *request, int error,
		 const char *words);

/* ---- raw.c: bytes of queues, registers */
void raw_take(struct client *client, const struct nlmsghdr *nlh);

/* ---- news.c: events */
void news_report(void *ctx, const struct journal_event *event);
void news_put(struct client *client);

/* ---- knobs.c */
void knobs_take(struct client *client, const struct nlmsghdr *nlh);
void knobs_go_on(struct client *client);

#endif /* CONTROL_CLIENT_H */
