/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of the web server, shared by http.c and client.c.
 *
 * Lock order, outermost first: the scraper's lock, http.lock, the lock of auth.c, and
 * libmicrohttpd's own. A connection in any state but CLIENT_OPEN and CLIENT_SHUT is
 * suspended in libmicrohttpd and is woken exactly once.
 */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include <microhttpd.h>

#include "exporter.h"

#define SECOND 1000000000ULL

enum client_state {
	CLIENT_OPEN,		/* between requests, or sending a response */
	CLIENT_AUTH,		/* waits for its password to be checked */
	CLIENT_METRICS,		/* waits for metrics */
	CLIENT_HELD,		/* was refused, but has not received a response yet */
	CLIENT_SHUT,		/* is being closed */
	CLIENT_STATES,
};

struct client {
	struct client *prev, *next;
	struct server *server;
	struct MHD_Connection *connection;
	int fd;
	enum client_state state;
	uint64_t since;		/* time when the client entered its state */
	bool asleep;
	bool left;		/* while held: was disconnected when last checked */
	bool busy;		/* a request has not been fully processed yet */
	bool served;		/* a request has been served */
	bool trusted;		/* has authenticated before, by password or certificate */
	/* State of the request, used after waking: */
	bool passed;		/* the request may be served */
	unsigned int status;	/* status of a refusal or error, or 0 */
	struct MHD_Response *response;
	struct text *text;	/* metrics being sent, or NULL */
	struct attempt attempt;
	struct request request;
};

/* The server of one configuration; a replaced server finishes its requests. */
struct server {
	struct http *http;
	struct web_config config;
	struct MHD_Daemon *daemon;
	unsigned int n_clients, n_asleep;
	unsigned int n_coming;	/* not yet processed by the daemon */
	bool leaving;		/* accepts no more connections */
	bool over;		/* no longer waits for clients to finish */
	char *why;		/* error message while starting, or NULL */
	size_t why_size;
};

struct http {
	struct listeners listeners;
	unsigned int max_connections;
	struct scraper *scraper;
	struct auth *auth;
	pthread_mutex_t taking;		/* protects the following member; outermost */
	struct server *server;		/* gets new connections */
	pthread_mutex_t lock;		/* protects the following members and all clients */
	pthread_cond_t change;		/* signalled when a client changes, if awaited */
	struct client clients;		/* ring, oldest first */
	unsigned int n_clients, n[CLIENT_STATES];
	unsigned int n_taken;		/* accepted, but not clients yet */
	unsigned int walk;		/* number of the last walk through all texts */
	bool finishing;
	double refusals;		/* refusals that may be sent immediately */
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
void client_receives(struct client *client, struct text *text);
bool client_is_crowded(const struct client *client);
bool server_knows_clients(const struct server *server);
void client_sweep(struct http *http);

#endif /* EXPORTER_HTTP_H */
