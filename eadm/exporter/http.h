/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of the web server, between http.c and client.c.
 *
 * Locks, the outer one first: that of the scraper, http.lock, that of auth.c and
 * libmicrohttpd's own. A connection whose state is not CLIENT_OPEN or
 * CLIENT_SHUT sleeps in libmicrohttpd and is woken exactly once.
 */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include <microhttpd.h>

#include "exporter.h"

#define SECOND 1000000000ULL

enum client_state {
	CLIENT_OPEN,		/* between requests, or its answer is sent */
	CLIENT_AUTH,		/* waits for its password to be looked at */
	CLIENT_METRICS,		/* waits for metrics */
	CLIENT_HELD,		/* was refused, and is not told yet */
	CLIENT_SHUT,		/* is on its end */
	CLIENT_STATES,
};

struct client {
	struct client *prev, *next;
	struct server *server;
	struct MHD_Connection *connection;
	int fd;
	enum client_state state;
	uint64_t since;		/* when it came into its state */
	bool asleep;
	bool left;		/* while it is held, as seen last */
	bool busy;		/* a request has not had all of its answer */
	bool served;		/* one had */
	bool trusted;		/* by password or certificate, some time ago */
	/* Of the request, for when it is woken: */
	bool passed;		/* it may be answered */
	unsigned int status;	/* of a refusal, or 0 */
	struct MHD_Response *response;
	struct attempt attempt;
	struct request request;
};

/* What one configuration serves; one that was replaced ends its requests. */
struct server {
	struct http *http;
	struct web_config config;
	struct MHD_Daemon *daemon;
	unsigned int n_clients, n_asleep;
	unsigned int n_coming;	/* the daemon has not begun with them */
	bool leaving;		/* nobody comes any more */
	bool over;		/* and nobody is waited for */
	char *why;		/* it does not start, or NULL */
	size_t why_size;
};

struct http {
	struct listeners listeners;
	unsigned int max_connections;
	struct scraper *scraper;
	struct auth *auth;
	pthread_mutex_t taking;		/* of what follows; outermost */
	struct server *server;		/* to which they go */
	pthread_mutex_t lock;		/* of what follows, and of all clients */
	pthread_cond_t change;		/* of a client, when somebody waits for it */
	struct client clients;		/* ring, the oldest first */
	unsigned int n_clients, n[CLIENT_STATES];
	unsigned int n_taken;		/* no clients yet */
	bool finishing;
	double refusals;		/* that may be told at once */
	uint64_t refilled;
	uint64_t evicted, auth_failures;
};

struct client *client_add(struct server *server,
			  struct MHD_Connection *connection);
void client_remove(struct client *client);
void client_enter(struct client *client, enum client_state state);
void client_sleep(struct client *client, enum client_state state);
void client_wake(struct client *client);
bool client_end(struct client *client);
bool client_is_crowded(const struct client *client);
bool server_knows_clients(const struct server *server);
void client_sweep(struct http *http);

#endif /* EXPORTER_HTTP_H */
