// SPDX-License-Identifier: GPL-2.0-or-later
/* eadm-exporter: the program that "eadm exporter" runs. */
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
/*
 * Number of descriptors that are not connections: devices, files, and the program
 * itself.
 */
#define OTHER_DESCRIPTORS 48

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
	struct setup setup;
	struct listeners listeners;
	struct scraper *scraper;
	struct http *http;
	struct reloader *reloader;	/* NULL: no web configuration */
};

/* ---- serving ---------------------------------------------------------------------------- */

static void put_samples(void *data, const struct model *model,
			struct samples *samples)
{
	struct exporter *x = data;

	http_samples(x->http, model, samples);
	if (x->reloader)
		reloader_samples(x->reloader, model, samples);
}

static int serve(struct exporter *x, const sigset_t *signals)
{
	struct timespec sweep = { .tv_sec = SWEEP_SECONDS };
	int signum;

	for (;;) {
		signum = sigtimedwait(signals, NULL, &sweep);
		if (signum > 0 && signum != SIGHUP)
			return STATUS_OK;
		if (signum == SIGHUP && x->reloader)
			reloader_ask(x->reloader);
		if (x->reloader)
			reloader_check(x->reloader);
		http_sweep(x->http);
	}
}

static unsigned int descriptors_for(unsigned int max_connections)
{
	return client_limit(max_connections) + OTHER_DESCRIPTORS;
}

/*
 * Makes sure that there are enough descriptors for all connections that can be open at
 * once: without a free descriptor, no further client could be accepted.
 */
static int fit_descriptors(struct exporter *x)
{
	uint64_t need = descriptors_for(x->setup.max_connections);
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
	while (x->setup.max_connections &&
	       descriptors_for(x->setup.max_connections) > limit.rlim_cur)
		x->setup.max_connections--;
	if (!x->setup.max_connections)
		return fail(x->cli, STATUS_FAILED, "start",
			    "the limit on open files is %ju, but %u are required (ulimit -n)",
			    (uintmax_t)limit.rlim_cur,
			    descriptors_for(1));
	note(x->cli, "the limit on open files is %ju (ulimit -n): serving at most %ju %s at once",
	     (uintmax_t)limit.rlim_cur, (uintmax_t)x->setup.max_connections,
	     plural(x->setup.max_connections, "client", "clients"));
	return 0;
}

static int enter_sandbox(struct cli *cli)
{
	char why[200];

	if (cli->args.opt[OPT_NO_SECCOMP] || !sandbox_enter(why, sizeof(why)))
		return 0;
	return fail(cli, STATUS_FAILED, "sandbox", "%s (use --no-seccomp to run without it)",
		    why);
}

static int run_server(struct exporter *x)
{
	struct web_config config;
	struct server *old;
	sigset_t signals;
	int status;

	status = config_read(x->cli, &config);
	if (!status)
		status = fit_descriptors(x);
	if (!status)
		status = listen_all(x->cli, x->cli->args.opt[OPT_LISTEN],
				    &x->listeners);
	if (status)
		return status;
	/*
	 * Block these signals before any thread is started, so that all threads block
	 * them.
	 */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	x->http = http_new(&x->listeners, x->setup.max_connections);
	if (x->http) {
		x->setup.scrape.server = put_samples;
		x->setup.scrape.server_data = x;
		x->scraper = scraper_new(&x->setup.model, &x->setup.scrape);
	}
	if (!x->http || !x->scraper)
		return fail(x->cli, STATUS_FAILED, "start", "out of memory");
	http_use(x->http, x->scraper);
	status = enter_sandbox(x->cli);
	if (!status && scraper_start(x->scraper))
		status = fail(x->cli, STATUS_FAILED, "start", "%s",
			      strerror(ENOMEM));
	if (!status)
		status = config_use(x->cli, x->http, &config, &old);
	if (!status && x->cli->args.opt[OPT_WEB_CONFIG]) {
		x->reloader = reloader_start(x->cli, x->http);
		if (!x->reloader)
			status = fail(x->cli, STATUS_FAILED, "start", "%s",
				      strerror(ENOMEM));
	}
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

static int run(struct cli *cli)
{
	/* Threads that hang can use this data until the process ends. */
	static struct exporter x;
	int status;

	x.cli = cli;
	if (cli->args.opt[OPT_ONCE] || cli->args.opt[OPT_TEXTFILE])
		return exporter_once(cli);
	status = exporter_setup(cli, false, &x.setup);
	return status ? status : run_server(&x);
}

/*
 * A thread can still hang in the kernel: exit without waiting for it or freeing its
 * data.
 */
int main(int argc, char **argv)
{
	struct cli cli = { .program = &program, .verb = "" };
	int status;

	signal(SIGPIPE, SIG_IGN);
	error_init();
	/* Share memory arenas between short-lived threads. */
	mallopt(M_ARENA_MAX, 3);
	/*
	 * Keep the buffers of a scrape for the next one instead of returning them to the
	 * kernel.
	 */
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
	status = parse_args(&cli, argc, argv);
	if (!status && (cli.args.opt[OPT_HELP] || cli.args.opt[OPT_VERSION])) {
		printf("eadm-exporter %s, the program run by 'eadm exporter' (see 'eadm help exporter')\n",
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
