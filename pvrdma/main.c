// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event loop: one thread serves all functions; the backend may have further threads.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "descriptors.h"
#include "discard.h"
#include "fault_client.h"
#include "options.h"
#include "sandbox.h"

#define NS 1000000000u
/*
 * Maximum open files of one adapter: sockets and timers, files and interrupts of the VMM,
 * and those that wait to be closed; and of everything else.
 */
#define ADAPTER_FILES (80u + DISCARD_MAX)
#define OTHER_FILES 512u

struct server {
	struct backend *backend;
	struct model *models[MAX_FUNCTIONS];
	unsigned int n_models;
	/* Models that can serve no further VMM, and their number. */
	bool failed[MAX_FUNCTIONS];
	unsigned int n_failed;
	/* NULL if there is none. */
	struct control *control;
	int signals;
};

static void log_line(const char *name, const char *line)
{
	fprintf(stderr, "%s: %s\n", name, line);
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

/* Runs pending work. Returns the time of the next work that needs no external event. */
static uint64_t run_all(struct server *server)
{
	uint64_t now = clock_now(), wake, next;
	unsigned int i;

	wake = server->backend->ops->run(server->backend, now);
	for (i = 0; i < server->n_models; i++) {
		next = model_run(server->models[i], now);
		if (next < wake)
			wake = next;
	}
	return wake;
}

static int wait_for_work(struct server *server, struct pollfd *fds, uint64_t wake)
{
	uint64_t now = clock_now(), left = wake > now ? wake - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS) };
	unsigned int i;

	for (i = 0; i < server->n_models; i++)
		fds[i] = (struct pollfd){
			.fd = server->failed[i] ? -1 : model_fd(server->models[i]), .events = POLLIN,
		};
	fds[i++] = (struct pollfd){ .fd = server->signals, .events = POLLIN };
	fds[i++] = (struct pollfd){
		.fd = server->backend->ops->fd(server->backend), .events = POLLIN,
	};
	fds[i++] = (struct pollfd){
		.fd = server->control ? control_fd(server->control) : -1, .events = POLLIN,
	};
	/* A shortage of memory is retried at once; no descriptor is then ready. */
	if (ppoll(fds, i, wake == BACKEND_IDLE ? NULL : &timeout, NULL) < 0 && errno != EINTR &&
	    errno != ENOMEM)
		return -errno;
	return 0;
}

/* The other adapters go on, unless there are none. */
static int dispatch(struct server *server, unsigned int i)
{
	int err = model_dispatch(server->models[i]);

	if (!err)
		return 0;
	server->failed[i] = true;
	return ++server->n_failed == server->n_models ? err : 0;
}

static int serve(struct server *server)
{
	struct pollfd fds[MAX_FUNCTIONS + 3];
	unsigned int i;
	int err;

	for (;;) {
		err = wait_for_work(server, fds, run_all(server));
		if (err)
			return err;
		if (fds[server->n_models].revents)
			return 0;
		for (i = 0; i < server->n_models; i++) {
			err = fds[i].revents ? dispatch(server, i) : 0;
			if (err)
				return err;
		}
		if (server->control && fds[server->n_models + 2].revents)
			control_dispatch(server->control);
	}
}

/*
 * So that a VMM that uses as many descriptors as it may leaves enough to all other VMMs.
 * At the limit, the kernel closes descriptors of a message itself, which may block.
 */
static void raise_file_limit(unsigned int n_functions)
{
	rlim_t need = n_functions * ADAPTER_FILES + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return;
	if (limit.rlim_max < need)
		fprintf(stderr, "eadm-pvrdma: the limit of open files (%llu) is too low: the adapters may need %llu\n",
			(unsigned long long)limit.rlim_max, (unsigned long long)need);
	limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_backend(struct server *server, const struct options *options)
{
	const char *why = NULL;
	int err = options->verbs.device ?
		  backend_verbs_open(&options->verbs, &server->backend, &why) :
		  backend_soft_open(&options->soft, &server->backend);

	if (err)
		fprintf(stderr, "eadm-pvrdma: %s: %s\n", options->backend, why ? why : strerror(-err));
	return err;
}

static int open_models(struct server *server, const struct options *options)
{
	struct model_config config = options->config;
	const struct option_function *function;
	struct model *model;

	config.backend = server->backend;
	config.log = log_line;
	while (server->n_models < options->n_functions) {
		function = &options->functions[server->n_models];
		config.name = function->path;
		config.limits = function->limits;
		memcpy(config.mac, function->mac, sizeof(config.mac));
		model = model_open(function->path, options->mode, &config);
		if (!model) {
			fprintf(stderr, "eadm-pvrdma: %s: %s%s\n", function->path, strerror(errno),
				errno == EAGAIN ? " (fs.aio-max-nr or the limit of threads is too low)" : "");
			return -1;
		}
		server->models[server->n_models++] = model;
	}
	return 0;
}

static int open_control(struct server *server, const struct options *options)
{
	struct control_device devices[MAX_FUNCTIONS];
	unsigned int i;

	for (i = 0; i < server->n_models; i++)
		devices[i] = (struct control_device){
			.model = server->models[i], .name = options->functions[i].name,
		};
	if (!options->control.path)
		return 0;
	server->control = control_open(&options->control, devices, i);
	if (server->control)
		return 0;
	fprintf(stderr, "eadm-pvrdma: %s: %s\n", options->control.path, strerror(errno));
	return -1;
}

/* Prints an error, if any. Returns @err. */
static int sandboxed(const char *part, int err)
{
	if (err)
		fprintf(stderr, "eadm-pvrdma: sandbox: %s: %s (use --no-sandbox to run without it)\n", part,
			strerror(-err));
	return err;
}

static int open_all(struct server *server, const struct options *options)
{
	int err = open_models(server, options);

	if (!err)
		err = open_control(server, options);
	if (!err && !options->no_sandbox)
		err = sandboxed("system calls", sandbox_calls(options));
	return err;
}

int main(int argc, char **argv)
{
	static struct options options;
	struct server server = { 0 };
	int status, err;

	occupy_descriptors();
	if (argc > 1 && !strcmp(argv[1], "fault"))
		return fault_main(argc - 1, argv + 1);
	status = options_parse(&options, argc, argv);
	if (status >= 0)
		return status;
	options.soft.log = log_line;
	options.control.log = log_line;
	raise_file_limit(options.n_functions);
	server.signals = open_signals();
	if (server.signals < 0) {
		fprintf(stderr, "eadm-pvrdma: %s\n", strerror(errno));
		return 1;
	}
	if (!options.no_sandbox && sandboxed("files", sandbox_files(&options)))
		return 1;
	if (open_backend(&server, &options))
		return 1;
	err = open_all(&server, &options);
	if (!err) {
		fprintf(stderr, "eadm-pvrdma: listening on %u socket%s\n",
			server.n_models, server.n_models == 1 ? "" : "s");
		err = serve(&server);
		if (err)
			fprintf(stderr, "eadm-pvrdma: ended: %s\n", strerror(-err));
	}
	control_close(server.control);
	while (server.n_models)
		model_close(server.models[--server.n_models]);
	server.backend->ops->close(server.backend);
	return err ? 1 : 0;
}
