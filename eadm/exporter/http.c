// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The web server: requests and their responses. One thread accepts connections and
 * passes them to libmicrohttpd's daemon, whose thread does all work that does not
 * block; connections that wait for a password check or for metrics are suspended.
 *
 * This file, not the daemon, owns the listening sockets, because each new configuration
 * gets a new daemon, which is started before the old one is stopped. A failure to start
 * the new one therefore has no effect.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "http.h"

#define DEFAULT_TIMEOUT (10 * SECOND)
/* Seconds that a connection has for a request, and between two requests. */
#define CONNECTION_SECONDS 60
/* Memory for a request with its headers. */
#define CONNECTION_MEMORY 6144
/*
 * Time allowed for requests of an old configuration to end, and for all requests at
 * exit.
 */
#define LEAVE_SECONDS 5
#define FINISH_SECONDS 1
/* Number of refusals sent immediately, and the number added to it per second. */
#define REFUSALS 64
#define REFUSALS_PER_SECOND 1
/*
 * Maximum number of connections accepted before the daemon has processed the first one.
 */
#define TAKE 16

/*
 * ---- responses ------------------------------------------------------------------------
 */

static const char *const types[FORMATS] = {
	[FORMAT_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[FORMAT_OPENMETRICS] =
		"application/openmetrics-text; version=1.0.0; charset=utf-8",
	[FORMAT_PROTOBUF] =
		"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
};

/* With @status 401, the client is prompted for a name and password. */
static enum MHD_Result queue(struct client *client, unsigned int status,
			     struct MHD_Response *response)
{
	const struct web_config *config = &client->server->config;
	struct http *http = client->server->http;
	enum MHD_Result ret;
	bool last, crowd;
	size_t i;

	pthread_mutex_lock(&http->lock);
	last = client->server->leaving;
	crowd = !last && !client->trusted && client_is_crowded(client);
	http->evicted += crowd;
	pthread_mutex_unlock(&http->lock);
	/* Data that a refused client sends after its request is not read. */
	if (last || crowd || status == MHD_HTTP_UNAUTHORIZED ||
	    status == MHD_HTTP_FORBIDDEN)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
					"close");
	for (i = 0; i < config->n_headers; i++)
		MHD_add_response_header(response, config->headers[i].name,
					config->headers[i].value);
	if (status == MHD_HTTP_UNAUTHORIZED)
		ret = MHD_queue_basic_auth_fail_response(client->connection,
							 "eadm", response);
	else
		ret = MHD_queue_response(client->connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result say(struct client *client, unsigned int status,
			   const char *type, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	return queue(client, status, response);
}

static enum MHD_Result say_plain(struct client *client, unsigned int status,
				 const char *text)
{
	return say(client, status, "text/plain; charset=utf-8", text);
}

static enum MHD_Result say_status(struct client *client, unsigned int status)
{
	switch (status) {
	case MHD_HTTP_UNAUTHORIZED:
		return say_plain(client, status,
				 "name and password required\n");
	case MHD_HTTP_FORBIDDEN:
		return say_plain(client, status, "a client certificate is required\n");
	default:
		return say_plain(client, status,
				 "service unavailable\n");
	}
}

/*
 * ---- authorization
 * -----------------------------------------------------------------------
 */

/*
 * Called with the lock held; returns true if a refusal must be delayed. The delay slows
 * down clients that guess passwords, and limits the work they cause.
 */
static bool is_to_be_held(struct server *server)
{
	struct http *http = server->http;
	uint64_t now = monotonic_ns();

	http->refusals += (double)(now - http->refilled) / SECOND *
			  REFUSALS_PER_SECOND;
	http->refilled = now;
	if (http->refusals > REFUSALS)
		http->refusals = REFUSALS;
	if (server->over)
		return false;
	if (http->refusals < 1)
		return true;
	http->refusals--;
	return false;
}

static enum MHD_Result refuse(struct client *client, unsigned int status)
{
	struct http *http = client->server->http;
	bool held;

	pthread_mutex_lock(&http->lock);
	http->auth_failures += status == MHD_HTTP_UNAUTHORIZED;
	held = is_to_be_held(client->server);
	if (held) {
		client->status = status;
		client_sleep(client, CLIENT_HELD);
	}
	pthread_mutex_unlock(&http->lock);
	return held ? MHD_YES : say_status(client, status);
}

/* Called in the thread of auth.c. */
static void on_verdict(struct attempt *attempt, bool ok)
{
	struct client *client = (struct client *)((char *)attempt -
					offsetof(struct client, attempt));
	struct http *http = client->server->http;

	pthread_mutex_lock(&http->lock);
	if (ok) {
		client->passed = true;
	} else {
		http->auth_failures++;
		client->status = MHD_HTTP_UNAUTHORIZED;
	}
	if (!ok && is_to_be_held(client->server)) {
		client_enter(client, CLIENT_HELD);
	} else {
		client_enter(client, CLIENT_OPEN);
		client_wake(client);
	}
	pthread_mutex_unlock(&http->lock);
}

static enum MHD_Result wait_for_verdict(struct client *client)
{
	struct server *server = client->server;
	struct http *http = server->http;

	client->attempt.done = on_verdict;
	client->attempt.fd = client->fd;
	pthread_mutex_lock(&http->lock);
	if (server->over) {
		auth_forget(&client->attempt);
		pthread_mutex_unlock(&http->lock);
		return MHD_NO;
	}
	client_sleep(client, CLIENT_AUTH);
	if (!auth_wait(http->auth, &client->attempt)) {
		client->status = MHD_HTTP_SERVICE_UNAVAILABLE;
		client_enter(client, CLIENT_OPEN);
		client_wake(client);
	}
	pthread_mutex_unlock(&http->lock);
	return MHD_YES;
}

static enum auth_answer look_at_password(struct client *client)
{
	const struct web_config *config = &client->server->config;
	enum auth_answer answer = AUTH_NO;
	char *user, *password = NULL;

	if (!config->n_users)
		return AUTH_YES;
	user = MHD_basic_auth_get_username_password(client->connection,
						    &password);
	if (user && password)
		answer = auth_look(client->server->http->auth, config, user,
				   password, &client->attempt);
	MHD_free(user);
	MHD_free(password);
	return answer;
}

/*
 * libmicrohttpd requests certificates but leaves their verification to the application. A
 * server's certificate is not valid for a client, even from the same CA.
 */
static bool has_good_certificate(struct client *client)
{
	enum client_auth wanted = client->server->config.client_auth;
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	const union MHD_ConnectionInfo *info;
	unsigned int verdict, n = 0;

	if (wanted == CLIENT_ANYBODY)
		return true;
	info = MHD_get_connection_info(client->connection,
				       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info || !info->tls_session)
		return false;
	if (!gnutls_certificate_get_peers(info->tls_session, &n) || !n)
		return wanted == CLIENT_VERIFY_IF_GIVEN;
	return !gnutls_certificate_verify_peers(info->tls_session, &purpose, 1,
						&verdict) && !verdict;
}

/* ---- metrics ---------------------------------------------------------------------------------- */

/* Returns the timeout that Prometheus sends in a header. */
static uint64_t timeout_of(struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND,
		"X-Prometheus-Scrape-Timeout-Seconds");
	double seconds = text ? strtod(text, NULL) : 0;

	return seconds > 0 && seconds < 86400 ? seconds * SECOND :
						DEFAULT_TIMEOUT;
}

static void response_freed(void *data)
{
	text_put(data);
}

/* Called in the scraper's thread. */
static void on_metrics(struct request *request, struct text *text, bool complete)
{
	struct client *client = (struct client *)((char *)request -
					offsetof(struct client, request));
	struct http *http = client->server->http;
	struct MHD_Response *response = NULL;

	(void)complete;		/* a scrape with missing parts is still valid */
	if (text)
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			text->buffer.len, text->buffer.data, response_freed, text);
	if (response)
		text_get(text);
	pthread_mutex_lock(&http->lock);
	if (response)
		client_receives(client, text);
	client->response = response;
	client->status = response ? 0 : MHD_HTTP_SERVICE_UNAVAILABLE;
	if (client->state != CLIENT_SHUT)
		client_enter(client, CLIENT_OPEN);
	client_wake(client);
	pthread_mutex_unlock(&http->lock);
}

static enum MHD_Result wait_for_metrics(struct client *client)
{
	struct http *http = client->server->http;
	bool over;

	client->request = (struct request){
		.format = format_choose(MHD_lookup_connection_value(
			client->connection, MHD_HEADER_KIND,
			MHD_HTTP_HEADER_ACCEPT)),
		.deadline = monotonic_ns() + timeout_of(client->connection),
		.done = on_metrics,
	};
	pthread_mutex_lock(&http->lock);
	over = client->server->over;
	if (!over)
		client_sleep(client, CLIENT_METRICS);
	pthread_mutex_unlock(&http->lock);
	if (over)
		return MHD_NO;
	if (!scraper_ask(http->scraper, &client->request)) {
		pthread_mutex_lock(&http->lock);
		client->status = MHD_HTTP_SERVICE_UNAVAILABLE;
		if (client->state != CLIENT_SHUT)
			client_enter(client, CLIENT_OPEN);
		client_wake(client);
		pthread_mutex_unlock(&http->lock);
	}
	return MHD_YES;
}

static enum MHD_Result give_metrics(struct client *client)
{
	struct MHD_Response *response = client->response;

	client->response = NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				types[client->request.format]);
	return queue(client, MHD_HTTP_OK, response);
}

/* ---- requests ----------------------------------------------------------------------------------- */

static const char page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>eadm exporter</title></head>\n"
	"<body><h1>eadm exporter " EADM_VERSION "</h1>\n"
	"<p>The state of this machine's RDMA adapters for Prometheus.</p>\n"
	"<ul><li><a href=\"/metrics\">Metrics</a></li>\n"
	"<li><a href=\"/healthz\">Health</a></li></ul></body></html>\n";

/* Returns the path of a request target that includes the server (RFC 9112, 3.2.2). */
static const char *path_of(const char *target)
{
	const char *path = target;

	if (!strncasecmp(target, "http://", 7))
		path = target + 7;
	else if (!strncasecmp(target, "https://", 8))
		path = target + 8;
	if (path == target)
		return target;
	path = strchr(path, '/');
	return path ? path : "/";
}

static enum MHD_Result route(struct client *client, const char *url,
			     const char *method)
{
	const char *path = path_of(url);

	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return say_plain(client, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "method not allowed\n");
	if (!strcmp(path, "/metrics"))
		return wait_for_metrics(client);
	if (!strcmp(path, "/healthz"))
		return say_plain(client, MHD_HTTP_OK, "ok\n");
	if (!strcmp(path, "/"))
		return say(client, MHD_HTTP_OK, "text/html; charset=utf-8",
			   page);
	return say_plain(client, MHD_HTTP_NOT_FOUND, "not found\n");
}

/* Continues with a new request, or with one whose client has been authenticated. */
static enum MHD_Result go_on(struct client *client, const char *url,
			     const char *method)
{
	enum auth_answer answer;

	if (!client->passed) {
		if (!has_good_certificate(client))
			return refuse(client, MHD_HTTP_FORBIDDEN);
		answer = look_at_password(client);
		if (answer == AUTH_UNKNOWN)
			return wait_for_verdict(client);
		if (answer == AUTH_NO)
			return refuse(client, MHD_HTTP_UNAUTHORIZED);
		client->passed = true;
	}
	client->trusted = server_knows_clients(client->server);
	return route(client, url, method);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result on_request(void *data,
				  struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload,
				  size_t *upload_size, void **context)
{
	struct client *client = client_of(connection);
	struct server *server = data;
	bool over;

	(void)version;
	(void)upload;
	if (!client)
		return MHD_NO;
	/*
	 * The first call means that the headers have arrived; in a later one, the whole
	 * request has arrived.
	 */
	if (!*context) {
		*context = client;
		return MHD_YES;
	}
	/* Bodies are ignored. */
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	/* This part is repeated each time the connection is woken. */
	pthread_mutex_lock(&server->http->lock);
	over = server->over || client->state == CLIENT_SHUT;
	client->busy = true;
	pthread_mutex_unlock(&server->http->lock);
	if (over)
		return MHD_NO;
	if (client->response)
		return give_metrics(client);
	if (client->status)
		return say_status(client, client->status);
	return go_on(client, url, method);
}

static void on_completed(void *data, struct MHD_Connection *connection,
			 void **context,
			 enum MHD_RequestTerminationCode why)
{
	struct client *client = client_of(connection);
	struct server *server = data;
	struct text *text;

	(void)why;
	*context = NULL;
	if (!client)
		return;
	if (client->response)
		MHD_destroy_response(client->response);
	client->response = NULL;
	client->status = 0;
	client->passed = false;
	pthread_mutex_lock(&server->http->lock);
	client->busy = false;
	client->served = true;
	text = client->text;
	client->text = NULL;
	if (client->state == CLIENT_OPEN)
		client_enter(client, CLIENT_OPEN);
	pthread_mutex_unlock(&server->http->lock);
	text_put(text);
}

static void was_taken(struct http *http)
{
	if (http->n_taken)
		http->n_taken--;
	pthread_cond_broadcast(&http->change);
}

static void on_connection(void *data, struct MHD_Connection *connection,
			  void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *server = data;

	pthread_mutex_lock(&server->http->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		server->n_coming--;
		was_taken(server->http);
		*context = client_add(server, connection);
	} else if (*context) {
		client_remove(*context);
	}
	pthread_mutex_unlock(&server->http->lock);
}

/* ---- the daemon ---------------------------------------------------------------------------------- */

static int hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? at - digits : -1;
}

/*
 * Unescapes in place. NULs are not unescaped, because they would hide the rest of the
 * text.
 */
static size_t unescape(void *data, struct MHD_Connection *connection,
		       char *text)
{
	char *to = text;
	const char *p;
	int byte;

	(void)data;
	(void)connection;
	for (p = text; *p; p++) {
		byte = 0;
		if (*p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0)
			byte = hex(p[1]) << 4 | hex(p[2]);
		*to++ = byte ? byte : *p;
		p += byte ? 2 : 0;
	}
	*to = '\0';
	return to - text;
}

static void on_log(void *data, const char *fmt, va_list ap)
{
	struct server *server = data;

	/* Later messages concern individual clients. */
	if (server->why)
		vsnprintf(server->why, server->why_size, fmt, ap);
}

static struct MHD_Daemon *start_daemon(struct server *server)
{
	const struct web_config *config = &server->config;
	unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD |
			     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
			     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG |
			     (config->cert ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, config->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, config->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)config->priority },
		{ config->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST :
				      MHD_OPTION_END, 0, config->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	}, none[] = { { MHD_OPTION_END, 0, NULL } };

	return MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, server,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, server,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, server,
		MHD_OPTION_CONNECTION_LIMIT,
		client_limit(server->http->max_connections),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS,
		MHD_OPTION_ARRAY, config->cert ? tls : none, MHD_OPTION_END);
}

struct http *http_new(const struct listeners *listeners,
		      unsigned int max_connections)
{
	struct http *http = calloc(1, sizeof(*http));
	pthread_condattr_t attr;

	if (!http)
		return NULL;
	http->auth = auth_new();
	if (!http->auth) {
		free(http);
		return NULL;
	}
	http->listeners = *listeners;
	http->max_connections = max_connections;
	http->refusals = REFUSALS;
	http->refilled = monotonic_ns();
	http->clients.prev = &http->clients;
	http->clients.next = &http->clients;
	pthread_mutex_init(&http->taking, NULL);
	pthread_mutex_init(&http->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&http->change, &attr);
	pthread_condattr_destroy(&attr);
	return http;
}

/* Sets the source of metrics; called before the server is started. */
void http_use(struct http *http, struct scraper *scraper)
{
	http->scraper = scraper;
}

/*
 * Serves new connections with @config, which is taken over. @old is set to the server
 * with the previous configuration, if any, for http_leave(). On error, nothing changes.
 */
int http_start(struct http *http, struct web_config *config,
	       struct server **old, char *why, size_t size)
{
	struct server *server = calloc(1, sizeof(*server));

	snprintf(why, size, "the web server cannot be started");
	*old = NULL;
	if (!server)
		return -ENOMEM;
	server->http = http;
	server->config = *config;
	server->why = why;
	server->why_size = size;
	server->daemon = start_daemon(server);
	server->why = NULL;
	why[strcspn(why, "\n")] = '\0';
	if (!server->daemon) {
		free(server);
		return -EINVAL;
	}
	*config = (struct web_config){ 0 };
	pthread_mutex_lock(&http->taking);
	*old = http->server;
	http->server = server;
	pthread_mutex_unlock(&http->taking);
	return 0;
}

/* Waits for a change; called with the lock held. Returns false if @end was reached. */
static bool wait_until(struct http *http, uint64_t end)
{
	struct timespec at = { end / SECOND, end % SECOND };

	return pthread_cond_timedwait(&http->change, &http->lock, &at) !=
	       ETIMEDOUT;
}

/*
 * Spares held clients, because waking all of them at once would cause a flood of
 * requests.
 */
static void end_clients(struct server *server, bool all)
{
	struct http *http = server->http;
	struct client *client;

	for (client = http->clients.next; client != &http->clients;
	     client = client->next) {
		if (client->server == server && client->state != CLIENT_HELD &&
		    (all || (client->served && !client->busy)))
			client_end(client);
	}
}

/* Called with the lock held; returns true if all clients have ended, except those on hold. */
static bool is_left(const struct server *server)
{
	const struct http *http = server->http;
	const struct client *client;

	if (server->n_coming)
		return false;
	for (client = http->clients.next; client != &http->clients;
	     client = client->next) {
		if (client->server == server && client->state != CLIENT_HELD)
			return false;
	}
	return true;
}

/* Ends the requests that an old configuration is still serving; this takes a while. */
void http_leave(struct server *server)
{
	uint64_t end = monotonic_ns() + LEAVE_SECONDS * SECOND;
	struct http *http;

	if (!server)
		return;
	http = server->http;
	pthread_mutex_lock(&http->lock);
	server->leaving = true;
	end_clients(server, false);
	while (!is_left(server) && wait_until(http, end))
		;
	server->over = true;
	end_clients(server, true);
	/*
	 * Clients that wait for metrics cannot be stopped earlier: the scraper responds
	 * when it is ready.
	 */
	while (server->n_asleep)
		pthread_cond_wait(&http->change, &http->lock);
	pthread_mutex_unlock(&http->lock);
	MHD_stop_daemon(server->daemon);
	web_config_free(&server->config);
	free(server);
}

/* Stops accepting connections, and leaves some time for pending responses. */
void http_finish(struct http *http)
{
	uint64_t end = monotonic_ns() + FINISH_SECONDS * SECOND;
	const struct client *client;
	bool due;

	pthread_mutex_lock(&http->lock);
	http->finishing = true;
	do {
		due = false;
		for (client = http->clients.next; client != &http->clients;
		     client = client->next)
			due |= client->state == CLIENT_METRICS ||
			       (client->state == CLIENT_OPEN && client->busy);
	} while (due && wait_until(http, end));
	pthread_mutex_unlock(&http->lock);
}

/* ---- the listening sockets ------------------------------------------------------------------------ */

/*
 * Waits until the daemon has processed earlier connections, because its thread also
 * closes connections to make room. Returns false if no more connections are to be
 * accepted.
 */
static bool wait_for_daemon(struct http *http)
{
	uint64_t end = monotonic_ns() + SECOND / 10;
	bool finishing;

	pthread_mutex_lock(&http->lock);
	while (http->n_taken >= TAKE && wait_until(http, end))
		;
	/* Stop counting connections that the daemon has not processed by now. */
	if (http->n_taken >= TAKE)
		http->n_taken = 0;
	finishing = http->finishing;
	http->n_taken += !finishing;
	pthread_mutex_unlock(&http->lock);
	return !finishing;
}

static void is_coming(struct server *server, int n)
{
	pthread_mutex_lock(&server->http->lock);
	server->n_coming += n;
	pthread_mutex_unlock(&server->http->lock);
}

/*
 * Called with http->taking held; the daemon's thread processes the connection some time
 * later.
 */
static void hand_over(struct server *server, int fd,
		      const struct sockaddr_storage *addr, socklen_t len)
{
	is_coming(server, 1);
	/* On failure, libmicrohttpd closes the descriptor. */
	if (MHD_add_connection(server->daemon, fd, (const void *)addr, len) !=
	    MHD_YES)
		is_coming(server, -1);
}

/* Returns false if there is no connection, or if it cannot be accepted now; see errno. */
static bool take(struct http *http, int listener)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int fd = -1, err = ESHUTDOWN;

	if (wait_for_daemon(http)) {
		fd = accept4(listener, (void *)&addr, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		err = errno;
	}
	if (fd < 0) {
		pthread_mutex_lock(&http->lock);
		was_taken(http);
		pthread_mutex_unlock(&http->lock);
		errno = err;
		return false;
	}
	pthread_mutex_lock(&http->taking);
	hand_over(http->server, fd, &addr, len);
	pthread_mutex_unlock(&http->taking);
	return true;
}

static void *take_main(void *data)
{
	struct timespec rest = { .tv_nsec = 10000000 };
	struct pollfd fds[MAX_LISTENERS];
	struct http *http = data;
	unsigned int i, n;

	for (;;) {
		for (i = 0; i < http->listeners.n; i++)
			fds[i] = (struct pollfd){ http->listeners.fd[i],
						  POLLIN, 0 };
		if (poll(fds, http->listeners.n, -1) < 0)
			continue;
		for (i = 0; i < http->listeners.n; i++) {
			if (!fds[i].revents)
				continue;
			for (n = 0; n < TAKE && take(http, fds[i].fd); n++)
				;
			/*
			 * There is a connection, but it cannot be accepted: do not
			 * retry immediately.
			 */
			if (!n && errno != EAGAIN)
				nanosleep(&rest, NULL);
		}
	}
	return NULL;
}

/* Called after http_start(). */
int http_listen(struct http *http)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_main, http))
		return -ENOMEM;
	pthread_detach(thread);
	return 0;
}

void http_sweep(struct http *http)
{
	pthread_mutex_lock(&http->lock);
	client_sweep(http);
	pthread_mutex_unlock(&http->lock);
}

/* Adds the server's own metrics; called by the scraper. */
void http_samples(void *data, const struct model *model,
		  struct samples *samples)
{
	struct http *http = data;

	pthread_mutex_lock(&http->lock);
	own_add(samples, model, OWN_CONNECTIONS, http->n_clients);
	own_add(samples, model, OWN_EVICTED, http->evicted);
	own_add(samples, model, OWN_AUTH_FAILURES, http->auth_failures);
	pthread_mutex_unlock(&http->lock);
}
