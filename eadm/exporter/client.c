// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connections of the web server and their limits. Each state has its own limit, so that
 * many connections in one state do not affect those in another: clients that neither
 * send nor read cannot prevent other clients from authenticating or receiving metrics.
 * If a limit is exceeded, the oldest connection is closed, unauthenticated ones first,
 * but never the newest one.
 *
 * All functions are called with http->lock held.
 */
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "http.h"

/* Time limit for sending a request or receiving a response. */
#define OPEN_TIME (60 * SECOND)
/*
 * A connection is never closed to make room before this time has passed, however many
 * connections there are.
 */
#define SPARED_TIME (SECOND / 2)
/*
 * Memory for texts that clients are receiving. The newest SPARED_TEXTS are kept whatever
 * their size, so that a client has the time of a few scrapes to read its text.
 */
#define TEXT_BYTES (8 << 20)
#define SPARED_TEXTS 4
/* With many clients, a refused client must wait this long for its response. */
#define HELD_TIME (60 * SECOND)

/*
 * Factor for open connections if clients must authenticate, because few connections
 * then reach the expensive part.
 */
#define MOST_OPEN 5

static unsigned int bound(const struct client *client, enum client_state state)
{
	static const unsigned int times[CLIENT_STATES] = {
		[CLIENT_OPEN] = 1, [CLIENT_AUTH] = 2, [CLIENT_METRICS] = 2,
		[CLIENT_HELD] = 6,
	};
	const struct server *server = client->server;
	unsigned int n = times[state];

	if (state == CLIENT_OPEN && server_knows_clients(server))
		n = MOST_OPEN;
	return n * server->http->max_connections;
}

bool server_knows_clients(const struct server *server)
{
	return server->config.n_users ||
	       server->config.client_auth == CLIENT_VERIFY;
}

/*
 * Sum of the above, plus connections that are being closed, of which there are fewer if
 * the limits are low.
 */
unsigned int client_limit(unsigned int max_connections)
{
	return 16 * max_connections +
	       (max_connections < 16 ? 4 * max_connections : 64);
}

static void set_state(struct client *client, enum client_state state)
{
	struct http *http = client->server->http;

	http->n[client->state]--;
	http->n[state]++;
	client->state = state;
	client->since = monotonic_ns();
	if (http->finishing || client->server->leaving)
		pthread_cond_broadcast(&http->change);
}

void client_wake(struct client *client)
{
	if (!client->asleep)
		return;
	client->asleep = false;
	client->server->n_asleep--;
	if (client->server->leaving)
		pthread_cond_broadcast(&client->server->http->change);
	MHD_resume_connection(client->connection);
}

/* The descriptor stays open as long as the client is in the ring. */
static void shut(struct client *client)
{
	set_state(client, CLIENT_SHUT);
	client->server->http->evicted++;
	shutdown(client->fd, SHUT_RDWR);
}

/*
 * Returns false if the client's response is about to be sent. Clients that wait for
 * metrics are woken by the scraper.
 */
bool client_end(struct client *client)
{
	enum client_state state = client->state;

	if (state == CLIENT_SHUT ||
	    (state == CLIENT_AUTH &&
	     !auth_take_back(client->server->http->auth, &client->attempt)))
		return false;
	shut(client);
	if (state != CLIENT_METRICS)
		client_wake(client);
	return true;
}

/*
 * Returns the oldest text that clients are receiving, and sets @bytes and @n to the size
 * and number of all of them.
 */
static const struct text *oldest_text(struct http *http, size_t *bytes,
				      unsigned int *n)
{
	const struct text *oldest = NULL;
	const struct client *client;

	*bytes = *n = 0;
	http->walk++;
	for (client = http->clients.next; client != &http->clients;
	     client = client->next) {
		struct text *text = client->text;

		if (!text || client->state == CLIENT_SHUT ||
		    text->walk == http->walk)
			continue;
		text->walk = http->walk;
		*bytes += text->buffer.size;
		++*n;
		if (!oldest || (int)(text->scrape - oldest->scrape) < 0)
			oldest = text;
	}
	return oldest;
}

/*
 * Limits the memory for texts: clients that read slowly would otherwise make the server
 * keep the texts of many scrapes. The slowest ones are closed first.
 */
static void limit_texts(struct http *http)
{
	const struct text *oldest;
	struct client *client;
	unsigned int n;
	size_t bytes;

	while ((oldest = oldest_text(http, &bytes, &n)) &&
	       bytes > TEXT_BYTES && n > SPARED_TEXTS) {
		for (client = http->clients.next; client != &http->clients;
		     client = client->next) {
			if (client->text == oldest)
				client_end(client);
		}
	}
}

/* The client keeps the text until its response has been sent. */
void client_receives(struct client *client, struct text *text)
{
	bool first = __atomic_load_n(&text->users, __ATOMIC_RELAXED) <= 2;

	client->text = text_get(text);
	/* Further clients of the same text need no more memory. */
	if (first)
		limit_texts(client->server->http);
}

/* Returns true if @a must be closed before @b. */
static bool is_before(const struct client *a, const struct client *b)
{
	if (a->left != b->left)
		return a->left;
	if (a->trusted != b->trusted)
		return b->trusted;
	return a->since < b->since;
}

/*
 * Returns true if the client has not had enough time to send its request or read its
 * response, or if the server has not processed its request yet. Without this check, a
 * client that reconnects as soon as it is closed would block all other clients.
 */
static bool is_spared(const struct client *client, uint64_t now)
{
	const struct http *http = client->server->http;
	bool young = now - client->since < SPARED_TIME;
	int bytes;

	if (client->busy)
		return young ||
		       (!ioctl(client->fd, SIOCOUTQ, &bytes) && !bytes);
	if (http->n[CLIENT_OPEN] > MOST_OPEN * http->max_connections)
		return false;
	return young || (!client->served &&
			 !ioctl(client->fd, SIOCINQ, &bytes) && bytes);
}

static struct client *first(struct http *http, enum client_state state,
			    const struct client *except)
{
	struct client *client, *best = NULL;
	uint64_t now = monotonic_ns();

	for (client = http->clients.next; client != &http->clients;
	     client = client->next) {
		if (client->state != state || client == except ||
		    (state == CLIENT_OPEN && is_spared(client, now)))
			continue;
		/* In all other states, libmicrohttpd detects clients that disconnect. */
		client->left = state == CLIENT_HELD &&
			       peer_has_left(client->fd);
		if (!best || is_before(client, best))
			best = client;
	}
	return best;
}

static bool give_way(struct client *client)
{
	if (client->state != CLIENT_AUTH)
		return client_end(client);
	if (!auth_take_back(client->server->http->auth, &client->attempt))
		return false;
	/* A client that is closed would reconnect as the newest one. */
	client->status = MHD_HTTP_UNAUTHORIZED;
	client_enter(client, CLIENT_HELD);
	return true;
}

/* @newcomer: client that must not be closed, or NULL. */
static void make_room(struct http *http, enum client_state state,
		      const struct client *newcomer)
{
	struct client *client;

	if (state == CLIENT_SHUT)
		return;
	while (http->n[state] > http->max_connections) {
		client = first(http, state, newcomer);
		if (!client || http->n[state] <= bound(client, state) ||
		    !give_way(client))
			return;
	}
}

void client_enter(struct client *client, enum client_state state)
{
	set_state(client, state);
	make_room(client->server->http, state, client);
}

void client_sleep(struct client *client, enum client_state state)
{
	MHD_suspend_connection(client->connection);
	client->asleep = true;
	client->server->n_asleep++;
	client_enter(client, state);
}

struct client *client_add(struct server *server,
			  struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *client = calloc(1, sizeof(*client));
	struct http *http = server->http;

	if (!client || !info) {
		/* Without an entry, no limit would apply to the client. */
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
		free(client);
		return NULL;
	}
	client->server = server;
	client->connection = connection;
	client->fd = info->connect_fd;
	client->since = monotonic_ns();
	client->prev = http->clients.prev;
	client->next = &http->clients;
	client->prev->next = client;
	client->next->prev = client;
	http->n_clients++;
	http->n[CLIENT_OPEN]++;
	server->n_clients++;
	make_room(http, CLIENT_OPEN, client);
	return client;
}

void client_remove(struct client *client)
{
	struct server *server = client->server;
	struct http *http = server->http;

	client->prev->next = client->next;
	client->next->prev = client->prev;
	http->n_clients--;
	http->n[client->state]--;
	server->n_clients--;
	if (http->finishing || server->leaving)
		pthread_cond_broadcast(&http->change);
	free(client);
}

/*
 * Returns true if the limit is near, so that connections are not kept for another
 * request.
 */
bool client_is_crowded(const struct client *client)
{
	return client->server->http->n[CLIENT_OPEN] >
	       bound(client, CLIENT_OPEN) / 2;
}

/*
 * Closes clients that took too long or were spared earlier, and responds to refused
 * clients.
 */
void client_sweep(struct http *http)
{
	uint64_t now = monotonic_ns();
	struct client *client;

	make_room(http, CLIENT_OPEN, NULL);
	for (client = http->clients.next; client != &http->clients;
	     client = client->next) {
		if (client->state == CLIENT_OPEN &&
		    now - client->since > OPEN_TIME) {
			client_end(client);
		} else if (client->state == CLIENT_HELD &&
			   peer_has_left(client->fd)) {
			client_end(client);
		} else if (client->state == CLIENT_HELD &&
			   now - client->since > HELD_TIME) {
			set_state(client, CLIENT_OPEN);
			client_wake(client);
		}
	}
}
