// SPDX-License-Identifier: GPL-2.0-or-later
/* eadm-exporter: the program behind "eadm exporter". */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "exporter.h"

#define SWEEP_SECONDS 5
/* Besides those of connections: of devices, files, the program itself. */
#define OTHER_DESCRIPTORS 64

static int run(struct cli *cli);

static const struct command cmd_exporter_run = {
	.name = "exporter",
	.options = exporter_options,
	.run = run,
};

static const struct command *const commands[] = { &cmd_exporter_run, NULL };

static const struct program program = { .commands = commands };

struct exporter {
	struct cli *cli;
	struct model model;
	struct scrape_opts scrape;
	uint64_t max_connections;
	struct listeners listeners;
	struct scraper *scraper;
	struct http *http;
	pthread_mutex_t reloading;	/* one by one, in order */
};

/* ---- once ------------------------------------------------------------------------------ */

struct once {
	struct request request;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done, complete;
	struct buffer text;
};

static void on_metrics(struct request *request, const struct buffer *text,
		       bool complete)
{
	struct once *once = (struct once *)request;

	pthread_mutex_lock(&once->lock);
	buffer_put(&once->text, text->data, text->len);
	once->text.failed |= text->failed;
	once->complete = complete;
	once->is_done = true;
	pthread_cond_signal(&once->done);
	pthread_mutex_unlock(&once->lock);
}

/*
 * The formats let labels hold any character, and readers get them as they are; a
 * terminal gets none that would have an effect on it.
 */
static bool write_text(const struct buffer *text)
{
	const char *p = text->data, *end = text->data + text->len, *line;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(text->data, 1, text->len, stdout);
		return !fflush(stdout) && !ferror(stdout);
	}
	for (; p < end; p = line + 1) {
		line = memchr(p, '\n', end - p);
		if (!line)
			line = end;
		put_clean(stdout, p, line - p);
		putchar('\n');
	}
	return !fflush(stdout) && !ferror(stdout);
}

static int write_once(struct cli *cli, const struct once *once)
{
	const char *path = cli->args.opt[OPT_TEXTFILE];
	int ret;

	if (once->text.failed)
		return fail(cli, STATUS_FAILED, "metrics", "out of memory");
	if (path) {
		ret = textfile_write(path, &once->text);
		if (ret)
			return fail(cli, ret == -EACCES || ret == -EPERM ?
						 STATUS_PERMISSION :
						 STATUS_FAILED,
				    path, "%s", strerror(-ret));
	} else if (!write_text(&once->text)) {
		return fail(cli, STATUS_FAILED, "standard output", "%s",
			    strerror(errno));
	}
	return once->complete ? STATUS_OK : STATUS_PARTIAL;
}

static int run_once(struct exporter *x)
{
	struct once once = {
		.request = { .format = FORMAT_TEXT, .done = on_metrics },
	};
	int status;

	if (scraper_start(x->scraper))
		return fail(x->cli, STATUS_FAILED, "start", "%s",
			    strerror(ENOMEM));
	pthread_mutex_init(&once.lock, NULL);
	pthread_cond_init(&once.done, NULL);
	/* Nobody waits: each device has all the time it may take. */
	once.request.deadline = UINT64_MAX / 2;
	if (!scraper_ask(x->scraper, &once.request))
		return STATUS_FAILED;
	pthread_mutex_lock(&once.lock);
	while (!once.is_done)
		pthread_cond_wait(&once.done, &once.lock);
	pthread_mutex_unlock(&once.lock);
	scraper_stop(x->scraper);
	status = write_once(x->cli, &once);
	buffer_free(&once.text);
	return status;
}

/* ---- serving ---------------------------------------------------------------------------- */

static int read_config(struct exporter *x, struct web_config *config)
{
	const char *path = x->cli->args.opt[OPT_WEB_CONFIG];
	char why[300];
	int ret;

	*config = (struct web_config){ 0 };
	if (!path)
		return 0;
	ret = web_config_read(path, config, why, sizeof(why));
	if (!ret)
		return 0;
	return fail(x->cli, ret == -EACCES || ret == -EPERM ?
				    STATUS_PERMISSION : STATUS_FAILED,
		    path, "%s", why);
}

static int start_http(struct exporter *x, struct web_config *config,
		      struct server **old)
{
	bool tls = config->cert;
	char why[300];

	if (!http_start(x->http, config, old, why, sizeof(why)))
		return 0;
	return fail(x->cli, STATUS_FAILED, tls ?
		    x->cli->args.opt[OPT_WEB_CONFIG] : "start", "%s", why);
}

/* A new configuration that cannot be used leaves the old one at work. */
static void *reload_main(void *data)
{
	struct server *old = NULL;
	struct exporter *x = data;
	struct web_config config;

	pthread_mutex_lock(&x->reloading);
	if (!read_config(x, &config)) {
		if (start_http(x, &config, &old))
			web_config_free(&config);
		else
			note(x->cli, "the web configuration was read again");
	}
	pthread_mutex_unlock(&x->reloading);
	http_leave(old);
	return NULL;
}

/* Files may take long to read, and a signal to end must not wait for them. */
static void reload(struct exporter *x)
{
	pthread_t thread;

	if (!x->cli->args.opt[OPT_WEB_CONFIG])
		return;
	if (pthread_create(&thread, NULL, reload_main, x))
		fail(x->cli, STATUS_FAILED, "SIGHUP", "%s", strerror(EAGAIN));
	else
		pthread_detach(thread);
}

static int serve(struct exporter *x, const sigset_t *signals)
{
	struct timespec sweep = { .tv_sec = SWEEP_SECONDS };
	int signum;

	for (;;) {
		signum = sigtimedwait(signals, NULL, &sweep);
		if (signum == SIGHUP)
			reload(x);
		else if (signum > 0)
			return STATUS_OK;
		http_sweep(x->http);
	}
}

/*
 * Descriptors for all connections that may be open: without one, nobody's could
 * be taken any more.
 */
static int fit_descriptors(struct exporter *x)
{
	uint64_t need = client_limit(x->max_connections) + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max >= need) {
		limit.rlim_cur = need;
		if (!setrlimit(RLIMIT_NOFILE, &limit))
			return 0;
		getrlimit(RLIMIT_NOFILE, &limit);
	} else if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	while (x->max_connections &&
	       client_limit(x->max_connections) + OTHER_DESCRIPTORS >
		       limit.rlim_cur)
		x->max_connections--;
	if (!x->max_connections)
		return fail(x->cli, STATUS_FAILED, "start",
			    "only %ju files may be open, %u are needed to serve (ulimit -n)",
			    (uintmax_t)limit.rlim_cur,
			    client_limit(1) + OTHER_DESCRIPTORS);
	note(x->cli, "only %ju files may be open (ulimit -n): serving %ju clients at once",
	     (uintmax_t)limit.rlim_cur, (uintmax_t)x->max_connections);
	return 0;
}

static int enter_sandbox(struct cli *cli)
{
	char why[200];

	if (cli->args.opt[OPT_NO_SECCOMP] || !sandbox_enter(why, sizeof(why)))
		return 0;
	return fail(cli, STATUS_FAILED, "sandbox", "%s (--no-seccomp goes without)",
		    why);
}

static int run_server(struct exporter *x)
{
	struct web_config config;
	struct server *old;
	sigset_t signals;
	int status;

	status = read_config(x, &config);
	if (!status)
		status = fit_descriptors(x);
	if (!status)
		status = listen_all(x->cli, x->cli->args.opt[OPT_LISTEN],
				    &x->listeners);
	if (status)
		return status;
	/* Before any thread, so that all of them leave them alone. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pthread_mutex_init(&x->reloading, NULL);
	x->http = http_new(&x->listeners, x->max_connections);
	if (x->http) {
		x->scrape.server = http_samples;
		x->scrape.server_data = x->http;
		x->scraper = scraper_new(&x->model, &x->scrape);
	}
	if (!x->http || !x->scraper)
		return fail(x->cli, STATUS_FAILED, "start", "out of memory");
	http_use(x->http, x->scraper);
	status = enter_sandbox(x->cli);
	if (!status && scraper_start(x->scraper))
		status = fail(x->cli, STATUS_FAILED, "start", "%s",
			      strerror(ENOMEM));
	if (!status)
		status = start_http(x, &config, &old);
	if (!status && http_listen(x->http))
		status = fail(x->cli, STATUS_FAILED, "start", "%s",
			      strerror(ENOMEM));
	if (status)
		return status;
	listen_note(x->cli, &x->listeners);
	status = serve(x, &signals);
	http_finish(x->http);
	return status;
}

/* ---- options ------------------------------------------------------------------------------ */

static int check_names(struct cli *cli, enum opt_id id,
		       bool (*known)(const char *name), const char *why)
{
	const char *text = cli->args.opt[id];
	char *list, *name, *rest = NULL;
	int status = 0;

	if (!text)
		return 0;
	list = strdup(text);
	if (!list)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	for (name = strtok_r(list, ",", &rest); name && !status;
	     name = strtok_r(NULL, ",", &rest)) {
		if (!known(name))
			status = fail(cli, STATUS_USAGE, name, "%s", why);
	}
	free(list);
	return status;
}

static int take_options(struct exporter *x)
{
	uint64_t series = 2000, limit = 1000000000, timeout = 0;
	uint64_t diagnosis = 60000000000;
	struct cli *cli = x->cli;

	x->max_connections = 128;
	if (!opt_u64(cli, OPT_MAX_SERIES, &series) ||
	    !opt_u64(cli, OPT_MAX_CONNECTIONS, &x->max_connections) ||
	    !opt_duration(cli, OPT_DEVICE_TIMEOUT, 1000000000, &limit) ||
	    !opt_duration(cli, OPT_DIAGNOSE_INTERVAL, 1000000000, &diagnosis) ||
	    !opt_duration(cli, OPT_TIMEOUT, 1000000000, &timeout))
		return STATUS_USAGE;
	if (series < 10 || series > 1000000)
		return fail(cli, STATUS_USAGE, "--max-series",
			    "from 10 to 1000000");
	if (!x->max_connections || x->max_connections > 10000)
		return fail(cli, STATUS_USAGE, "--max-connections",
			    "from 1 to 10000");
	if (limit < 1000000 || limit > 60000000000)
		return fail(cli, STATUS_USAGE, "--device-timeout",
			    "from 1ms to 60s");
	if (cli->args.opt[OPT_TIMEOUT] &&
	    (timeout < 1000000 || timeout / 1000000 > 86400000))
		return fail(cli, STATUS_USAGE, "--timeout", "from 1ms to 24h");
	if (cli->args.opt[OPT_AT] && !cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--at", "requires --from");
	if (cli->args.opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE, "--save", "not with exporter");
	x->scrape = (struct scrape_opts){
		.from = cli->args.opt[OPT_FROM],
		.device = cli->args.opt[OPT_DEVICE],
		.device_limit = limit,
		.lib_timeout = timeout,
		.budget = { .series = series, .diagnosis = diagnosis },
	};
	if (check_names(cli, OPT_COLLECTORS, model_has_collector,
			"no collector (dev, cmdq, eq, cmd, failure-total, counters, diagnose)"))
		return STATUS_USAGE;
	return check_names(cli, OPT_OBJECTS, model_offers,
			   "no series for each of these (such as qp, cq, mr)");
}

/* A server is content with a device that may come yet. */
static int check_device(struct exporter *x, bool once)
{
	const char *only = x->scrape.device;
	char why[DEVICE_WHY];
	int ret = device_find(x->cli, only, why, sizeof(why));

	if (ret != -ENODEV && ret != -EOPNOTSUPP)
		return 0;
	if (once)
		return fail(x->cli, STATUS_NOT_FOUND, only, "%s", why);
	note(x->cli, "%s: %s", only, why);
	return 0;
}

/* Whether the source can be read at all, before anybody asks. */
static int check_source(struct exporter *x, bool once)
{
	struct cli *cli = x->cli;
	int status = 0;

	cli->ctx = eadm_new();
	if (!cli->ctx)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	if (scrape_open(&x->scrape, cli->ctx))
		status = fail(cli, STATUS_FAILED,
			      x->scrape.from ? x->scrape.from : "open", "%s",
			      eadm_errmsg(cli->ctx));
	if (!status && cli->args.opt[OPT_AT])
		status = go_to_time(cli, cli->ctx, cli->args.opt[OPT_AT],
				    &x->scrape.moment);
	if (!status && x->scrape.device)
		status = check_device(x, once);
	eadm_free(cli->ctx);
	cli->ctx = NULL;
	return status;
}

static int run(struct cli *cli)
{
	struct exporter x = { .cli = cli };
	const char *path = cli->args.opt[OPT_TEXTFILE];
	bool once = cli->args.opt[OPT_ONCE] || path;
	int status;

	status = take_options(&x);
	if (!status && path)
		status = check_target(cli, path);
	if (status)
		return status;
	if (x.scrape.from && !strcmp(x.scrape.from, "-"))
		return fail(cli, STATUS_USAGE, "--from",
			    "requires a file: each device opens it separately");
	status = check_source(&x, once);
	if (status)
		return status;
	if (model_make(&x.model, cli->args.opt[OPT_COLLECTORS],
		       cli->args.opt[OPT_OBJECTS],
		       cli->args.opt[OPT_PROCESSES] != NULL,
		       x.scrape.budget.diagnosis != 0))
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	if (!once)
		return run_server(&x);
	x.scraper = scraper_new(&x.model, &x.scrape);
	return x.scraper ? run_once(&x) :
			   fail(cli, STATUS_FAILED, "start", "out of memory");
}

/*
 * A thread may still hang in the kernel: the process ends without waiting for
 * it, and what it uses is freed with the process.
 */
int main(int argc, char **argv)
{
	struct cli cli = { .program = &program, .verb = "" };
	int status;

	signal(SIGPIPE, SIG_IGN);
	error_init();
	/* Memory of threads that come and go belongs into one place. */
	mallopt(M_ARENA_MAX, 3);
	/* Buffers of one scrape are those of the next, not the kernel's. */
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
	status = parse_args(&cli, argc, argv);
	if (!status && (cli.args.opt[OPT_HELP] || cli.args.opt[OPT_VERSION])) {
		printf("eadm-exporter %s, the program behind 'eadm exporter' ('eadm help exporter')\n",
		       EADM_VERSION);
		return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
	}
	if (!status && !cli.cmd)
		status = fail(&cli, STATUS_USAGE, "command",
			      "run it as 'eadm exporter'");
	if (!status)
		status = run(&cli);
	fflush(NULL);
	_exit(status);
}
