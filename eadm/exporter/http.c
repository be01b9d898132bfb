// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The web server: one daemon of libmicrohttpd for each socket, a thread for each
 * connection. That of a request for metrics sleeps until the scraper has them,
 * which does not hold up other requests, and takes less than to have one thread
 * put connections to sleep and wake them.
 *
 * Memory and descriptors are bounded: past the limit of connections the one
 * that has been of no use for the longest time makes room.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "exporter.h"

#define SECOND 1000000000ULL
#define DEFAULT_TIMEOUT (10 * SECOND)
/* A connection gets so long for a request, or between two. */
#define CONNECTION_TIME (60 * SECOND)
/* An answer that is not taken so soon may go to make room. */
#define PATIENCE (10 * SECOND)
/* Of a request with its headers. */
#define CONNECTION_MEMORY 6144
/* Of a thread; what is touched of it counts. */
#define CONNECTION_STACK (128 * 1024)

struct conn {
	struct conn *prev, *next;
	int fd;
	uint64_t since;		/* made, or last answer taken */
	bool busy;		/* a request is being answered */
	bool shut;
};

struct http {
	struct http_opts opts;
	struct scraper *scraper;
	struct MHD_Daemon *daemons[MAX_LISTENERS];
	struct web_config *config;
	struct auth *auth;
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t idle;
	struct conn conns;		/* ring; this one is its head */
	unsigned int n_conns, in_flight;
	bool closing;
	uint64_t evicted, auth_failures;
	char *log;			/* of a daemon being started */
	size_t log_size;
};

/* A request for metrics, and who waits for them. */
struct waiting {
	struct request request;
	struct MHD_Response *response;
	sem_t done;
};

/* ---- connections -------------------------------------------------------------------- */

/* With the lock: the descriptor is open as long as the entry is there. */
static void shut(struct http *http, struct conn *conn)
{
	shutdown(conn->fd, SHUT_RDWR);
	conn->shut = true;
	http->evicted++;
}

static void make_room(struct http *http, uint64_t now)
{
	struct conn *conn, *oldest = NULL;
	unsigned int open = 0;

	for (conn = http->conns.next; conn != &http->conns;
	     conn = conn->next) {
		if (conn->shut)
			continue;
		open++;
		if (conn->busy && now - conn->since < PATIENCE)
			continue;
		if (!oldest || conn->since < oldest->since)
			oldest = conn;
	}
	if (oldest && open > http->opts.max_connections)
		shut(http, oldest);
}

/* Close what has taken too long. */
void http_sweep(struct http *http)
{
	uint64_t now = monotonic_ns();
	struct conn *conn;

	pthread_mutex_lock(&http->lock);
	for (conn = http->conns.next; conn != &http->conns;
	     conn = conn->next) {
		if (!conn->shut && now - conn->since > CONNECTION_TIME)
			shut(http, conn);
	}
	pthread_mutex_unlock(&http->lock);
}

static void on_connection(void *data, struct MHD_Connection *connection,
			  void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct http *http = data;
	struct conn *conn = *context;

	pthread_mutex_lock(&http->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(
			connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		conn = calloc(1, sizeof(*conn));
		if (conn && info) {
			conn->fd = info->connect_fd;
			conn->since = monotonic_ns();
			conn->prev = http->conns.prev;
			conn->next = &http->conns;
			conn->prev->next = conn;
			conn->next->prev = conn;
			http->n_conns++;
			*context = conn;
			make_room(http, conn->since);
		} else {
			/* Unknown connections have no bound. */
			if (info)
				shutdown(info->connect_fd, SHUT_RDWR);
			free(conn);
		}
	} else if (conn) {
		conn->prev->next = conn->next;
		conn->next->prev = conn->prev;
		http->n_conns--;
		free(conn);
	}
	pthread_mutex_unlock(&http->lock);
}

static void mark(struct http *http, struct MHD_Connection *connection,
		 bool busy)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct conn *conn = info ? info->socket_context : NULL;

	if (!conn)
		return;
	pthread_mutex_lock(&http->lock);
	conn->busy = busy;
	conn->since = monotonic_ns();
	pthread_mutex_unlock(&http->lock);
}

/* ---- answers -------------------------------------------------------------------------- */

static const char *const types[FORMATS] = {
	[FORMAT_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[FORMAT_OPENMETRICS] =
		"application/openmetrics-text; version=1.0.0; charset=utf-8",
	[FORMAT_PROTOBUF] =
		"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
};

static enum MHD_Result queue(struct http *http,
			     struct MHD_Connection *connection,
			     unsigned int status,
			     struct MHD_Response *response)
{
	enum MHD_Result ret;
	size_t i;

	for (i = 0; i < http->config->n_headers; i++)
		MHD_add_response_header(response,
					http->config->headers[i].name,
					http->config->headers[i].value);
	if (status == MHD_HTTP_UNAUTHORIZED)
		ret = MHD_queue_basic_auth_fail_response(connection, "eadm",
							 response);
	else
		ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result say(struct http *http,
			   struct MHD_Connection *connection,
			   unsigned int status, const char *type,
			   const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	return queue(http, connection, status, response);
}

static enum MHD_Result say_plain(struct http *http,
				 struct MHD_Connection *connection,
				 unsigned int status, const char *text)
{
	return say(http, connection, status, "text/plain; charset=utf-8",
		   text);
}

/* ---- what the client wants --------------------------------------------------------------- */

/* The value of one parameter of TYPE;NAME=VALUE;..., of @len bytes. */
static const char *parameter(const char *part, size_t len, const char *name,
			     size_t *value_len)
{
	const char *p = part, *end = part + len;
	size_t n = strlen(name);

	while ((p = memchr(p, ';', end - p))) {
		for (p++; p < end && *p == ' '; p++)
			;
		if ((size_t)(end - p) > n && !strncasecmp(p, name, n) &&
		    p[n] == '=') {
			p += n + 1;
			for (n = 0; p + n < end && !strchr("; ", p[n]); n++)
				;
			*value_len = n;
			return p;
		}
	}
	return NULL;
}

static bool has_parameter(const char *part, size_t len, const char *name,
			  const char *wanted)
{
	size_t n;
	const char *value = parameter(part, len, name, &n);

	return value && n == strlen(wanted) && !strncasecmp(value, wanted, n);
}

static double weight(const char *part, size_t len)
{
	size_t n;
	const char *value = parameter(part, len, "q", &n);
	double q = value ? strtod(value, NULL) : 1;

	return q >= 0 && q <= 1 ? q : 0;
}

/* One part of an Accept header; FORMATS: none of ours. */
static enum format format_of(const char *part, size_t len)
{
	static const char *const names[FORMATS] = {
		[FORMAT_TEXT] = "text/plain",
		[FORMAT_OPENMETRICS] = "application/openmetrics-text",
		[FORMAT_PROTOBUF] = "application/vnd.google.protobuf",
	};
	size_t name = strcspn(part, ";, \t");
	enum format format;

	for (format = 0; format < FORMATS; format++) {
		if (name == strlen(names[format]) &&
		    !strncasecmp(part, names[format], name))
			break;
	}
	/* There are other messages than ours, and other ways to put them. */
	if (format == FORMAT_PROTOBUF &&
	    (!has_parameter(part, len, "proto",
			    "io.prometheus.client.MetricFamily") ||
	     !has_parameter(part, len, "encoding", "delimited")))
		return FORMATS;
	return format;
}

/* Of those that are liked the same the one that tells more. */
static enum format choose_format(const char *accept)
{
	double best[FORMATS + 1] = { 0 }, q;
	enum format format, chosen = FORMAT_TEXT;
	size_t len;

	while (accept && *accept) {
		accept += strspn(accept, " \t,");
		len = strcspn(accept, ",");
		format = format_of(accept, len);
		q = weight(accept, len);
		if (q > best[format])
			best[format] = q;
		accept += len;
	}
	for (format = 0; format < FORMATS; format++) {
		if (best[format] > 0 && best[format] >= best[chosen])
			chosen = format;
	}
	return chosen;
}

/* How long Prometheus waits, as it tells. */
static uint64_t timeout_of(struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND,
		"X-Prometheus-Scrape-Timeout-Seconds");
	double seconds = text ? strtod(text, NULL) : 0;

	return seconds > 0 && seconds < 86400 ? seconds * SECOND :
						DEFAULT_TIMEOUT;
}

static bool is_known_user(struct http *http, struct MHD_Connection *connection)
{
	char *user, *password = NULL;
	bool ok = false;

	if (!http->auth)
		return true;
	user = MHD_basic_auth_get_username_password(connection, &password);
	if (user && password)
		ok = auth_check(http->auth, user, password);
	MHD_free(user);
	MHD_free(password);
	if (!ok) {
		pthread_mutex_lock(&http->lock);
		http->auth_failures++;
		pthread_mutex_unlock(&http->lock);
	}
	return ok;
}

/*
 * libmicrohttpd asks for certificates, but leaves the verdict to us. That of
 * another server is none of a client, though of the same CA.
 */
static bool has_good_certificate(struct http *http,
				 struct MHD_Connection *connection)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	const union MHD_ConnectionInfo *info;
	unsigned int verdict, n = 0;

	if (http->config->client_auth == CLIENT_ANYBODY)
		return true;
	info = MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info || !info->tls_session)
		return false;
	if (!gnutls_certificate_get_peers(info->tls_session, &n) || !n)
		return http->config->client_auth == CLIENT_VERIFY_IF_GIVEN;
	return !gnutls_certificate_verify_peers(info->tls_session, &purpose, 1,
						&verdict) && !verdict;
}

/* ---- metrics ---------------------------------------------------------------------------------- */

/* In the scraper's thread: keep the answer and wake who waits. */
static void on_metrics(struct request *request, const struct text *text,
		       bool complete)
{
	struct waiting *w = (struct waiting *)request;

	(void)complete;		/* a scrape with a part missing is a good one */
	if (!text->failed)
		w->response = MHD_create_response_from_buffer(
			text->len, text->data, MHD_RESPMEM_MUST_COPY);
	/* The last touch: it is gone as soon as it is seen to be done. */
	sem_post(&w->done);
}

/* False: no answer will come, for the server is being stopped. */
static bool wait_for_metrics(struct http *http, struct waiting *w)
{
	bool closing;

	pthread_mutex_lock(&http->lock);
	closing = http->closing;
	http->in_flight += !closing;
	pthread_mutex_unlock(&http->lock);
	if (closing)
		return false;
	if (scraper_ask(http->scraper, &w->request)) {
		while (sem_wait(&w->done) && errno == EINTR)
			;
	}
	pthread_mutex_lock(&http->lock);
	http->in_flight--;
	pthread_cond_signal(&http->idle);
	pthread_mutex_unlock(&http->lock);
	return w->response;
}

static enum MHD_Result give_metrics(struct http *http,
				    struct MHD_Connection *connection)
{
	struct waiting w = {
		.request.format = choose_format(MHD_lookup_connection_value(
			connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)),
		.request.deadline = monotonic_ns() + timeout_of(connection),
		.request.done = on_metrics,
	};

	sem_init(&w.done, 0, 0);
	if (!wait_for_metrics(http, &w))
		return say_plain(http, connection,
				 MHD_HTTP_SERVICE_UNAVAILABLE,
				 "out of memory, or being stopped\n");
	MHD_add_response_header(w.response, MHD_HTTP_HEADER_CONTENT_TYPE,
				types[w.request.format]);
	return queue(http, connection, MHD_HTTP_OK, w.response);
}

/* ---- requests ----------------------------------------------------------------------------------- */

static const char page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>eadm exporter</title></head>\n"
	"<body><h1>eadm exporter " EADM_VERSION "</h1>\n"
	"<p>The state of this machine's RDMA adapters for Prometheus.</p>\n"
	"<ul><li><a href=\"/metrics\">Metrics</a></li>\n"
	"<li><a href=\"/healthz\">Health</a></li></ul></body></html>\n";

static enum MHD_Result route(struct http *http,
			     struct MHD_Connection *connection,
			     const char *url, const char *method)
{
	if (!has_good_certificate(http, connection))
		return say_plain(http, connection, MHD_HTTP_FORBIDDEN,
				 "a certificate is needed\n");
	if (!is_known_user(http, connection))
		return say_plain(http, connection, MHD_HTTP_UNAUTHORIZED,
				 "name and password are needed\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return say_plain(http, connection,
				 MHD_HTTP_METHOD_NOT_ALLOWED,
				 "only to be read\n");
	if (!strcmp(url, "/metrics"))
		return give_metrics(http, connection);
	if (!strcmp(url, "/healthz"))
		return say_plain(http, connection, MHD_HTTP_OK, "ok\n");
	if (!strcmp(url, "/"))
		return say(http, connection, MHD_HTTP_OK,
			   "text/html; charset=utf-8", page);
	return say_plain(http, connection, MHD_HTTP_NOT_FOUND,
			 "not found\n");
}

static enum MHD_Result on_request(void *data,
				  struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *upload,
				  size_t *upload_size, void **context)
{
	struct http *http = data;

	(void)version;
	(void)upload;
	/* Called first when the headers are there, then when all is. */
	if (!*context) {
		*context = http;
		return MHD_YES;
	}
	/* Bodies have no use here. */
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	mark(http, connection, true);
	return route(http, connection, url, method);
}

static void on_completed(void *data, struct MHD_Connection *connection,
			 void **context,
			 enum MHD_RequestTerminationCode why)
{
	(void)why;
	mark(data, connection, false);
	*context = NULL;
}

/* ---- the daemons ----------------------------------------------------------------------------------- */

static void on_log(void *data, const char *fmt, va_list ap)
{
	struct http *http = data;

	/* Later ones are about single clients. */
	if (http->log)
		vsnprintf(http->log, http->log_size, fmt, ap);
}

static struct MHD_Daemon *start_daemon(struct http *http, int fd)
{
	const struct web_config *config = http->config;
	unsigned int flags = MHD_USE_POLL_INTERNAL_THREAD |
			     MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ERROR_LOG |
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
		flags, 0, NULL, NULL, on_request, http,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
		MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
		/* Refuses the newest; those that were shut take a while to end. */
		MHD_OPTION_CONNECTION_LIMIT,
		4 * http->opts.max_connections + 16,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)CONNECTION_STACK,
		MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(CONNECTION_TIME / SECOND),
		MHD_OPTION_ARRAY, config->cert ? tls : none, MHD_OPTION_END);
}

struct http *http_new(const struct http_opts *opts)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->opts = *opts;
	http->conns.prev = &http->conns;
	http->conns.next = &http->conns;
	pthread_mutex_init(&http->lock, NULL);
	pthread_cond_init(&http->idle, NULL);
	return http;
}

/* Who has the metrics; before the server is started. */
void http_use(struct http *http, struct scraper *scraper)
{
	http->scraper = scraper;
}

/* @config is the server's until it is stopped. */
int http_start(struct http *http, struct web_config *config, char *why,
	       size_t size)
{
	unsigned int i;

	snprintf(why, size, "the web server does not start");
	http->config = config;
	http->closing = false;
	if (config->n_users) {
		http->auth = auth_new(config);
		if (!http->auth)
			return -ENOMEM;
	}
	http->log = why;
	http->log_size = size;
	for (i = 0; i < http->opts.listeners.n; i++) {
		http->daemons[i] =
			start_daemon(http, http->opts.listeners.fd[i]);
		if (!http->daemons[i])
			break;
	}
	http->log = NULL;
	why[strcspn(why, "\n")] = '\0';
	if (i == http->opts.listeners.n)
		return 0;
	http_stop(http);
	return -EINVAL;
}

/* The sockets stay open and may be served again. */
void http_stop(struct http *http)
{
	unsigned int i;

	for (i = 0; i < http->opts.listeners.n; i++) {
		if (http->daemons[i])
			MHD_quiesce_daemon(http->daemons[i]);
	}
	auth_close(http->auth);
	pthread_mutex_lock(&http->lock);
	http->closing = true;
	while (http->in_flight)
		pthread_cond_wait(&http->idle, &http->lock);
	pthread_mutex_unlock(&http->lock);
	for (i = 0; i < http->opts.listeners.n; i++) {
		if (http->daemons[i])
			MHD_stop_daemon(http->daemons[i]);
		http->daemons[i] = NULL;
	}
	auth_free(http->auth);
	http->auth = NULL;
}

/* For the scraper: what is known here. */
void http_samples(void *data, const struct model *model,
		  struct samples *samples)
{
	struct http *http = data;
	uint32_t labels = samples_labels(samples);

	pthread_mutex_lock(&http->lock);
	samples_add(samples, model->own[OWN_CONNECTIONS], labels,
		    http->n_conns);
	samples_add(samples, model->own[OWN_EVICTED], labels,
		    http->evicted);
	samples_add(samples, model->own[OWN_AUTH_FAILURES], labels,
		    http->auth_failures);
	pthread_mutex_unlock(&http->lock);
}
