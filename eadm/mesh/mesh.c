// SPDX-License-Identifier: GPL-2.0-or-later
#include "mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../signals.h"
#include "../source.h"
#include "member.h"
#include "place.h"
#include "report.h"
#include "server.h"

#define WAIT_NS 60000000000
#define MAX_WAIT_NS 3600000000000
#define MAX_COUNT 10000
#define MIN_SIZE 64
#define CHILD_NS 2000000000	/* time for the child to exit */

struct mesh {
	struct test *test;
	struct place place;
	struct secret secret;
	struct start start;
	const char *rendezvous;
	uint64_t wait;
};

static const char *get_environment(const char *name)
{
	return getenv(name);
}

/* ---- options ------------------------------------------------------------------------- */

static int take_rank(struct cli *cli, enum opt_id id, const char *name,
		     bool *given, uint32_t *value)
{
	uint64_t number = 0;

	*given = cli->args.opt[id] != NULL;
	if (!opt_u64(cli, id, &number))
		return STATUS_USAGE;
	if (number > MESH_MAX_HOSTS)
		return fail(cli, STATUS_USAGE, name, "must be at most %u", MESH_MAX_HOSTS);
	*value = number;
	return 0;
}

static int take_place(struct mesh *mesh)
{
	struct cli *cli = mesh->test->cli;
	struct place *place = &mesh->place;
	char self[MESH_NAME] = "", why[PLACE_WHY];
	const char *hosts = cli->args.opt[OPT_HOSTS];
	int status;

	status = take_rank(cli, OPT_RANK, "--rank", &place->has_rank, &place->rank);
	if (!status)
		status = take_rank(cli, OPT_RANKS, "--ranks", &place->has_ranks,
				   &place->ranks);
	if (status)
		return status;
	gethostname(self, sizeof(self) - 1);
	if (place_of_launcher(place, get_environment, why) ||
	    (hosts && place_of_hosts(place, hosts, self, why)) ||
	    place_check(place, why))
		return fail(cli, STATUS_USAGE, "mesh", "%s", why);
	mesh->rendezvous = cli->args.opt[OPT_RENDEZVOUS];
	if (!mesh->rendezvous)
		mesh->rendezvous = getenv(MESH_RENDEZVOUS);
	if (!mesh->rendezvous && *place->first)
		mesh->rendezvous = place->first;
	if (!mesh->rendezvous)
		return fail(cli, STATUS_USAGE, "mesh",
			    "the host of rank 0 is unknown: add --rendezvous, or set "
			    MESH_RENDEZVOUS);
	return 0;
}

/*
 * Remove the variable: no child process needs it, and /proc/PID/environ would show it.
 */
static void hide_secret(void)
{
	char *text = getenv(MESH_SECRET);

	if (text)
		explicit_bzero(text, strlen(text));
	unsetenv(MESH_SECRET);
}

static int take_secret(struct mesh *mesh)
{
	struct cli *cli = mesh->test->cli;
	const char *missing = nettle_open();
	char why[PLACE_WHY];

	if (missing)
		return fail(cli, STATUS_UNSUPPORTED, missing,
			    "not installed (package libnettle8)");
	if (secret_read(cli->args.opt[OPT_SECRET], get_environment,
			mesh->secret.bytes, &mesh->secret.len, why))
		return fail(cli, STATUS_USAGE, "mesh", "%s", why);
	hide_secret();
	return 0;
}

static int take_options(struct mesh *mesh)
{
	struct test *test = mesh->test;
	struct cli *cli = test->cli;

	mesh->wait = WAIT_NS;
	if (!opt_duration(cli, OPT_WAIT, 1000000000, &mesh->wait))
		return STATUS_USAGE;
	if (mesh->wait > MAX_WAIT_NS)
		return fail(cli, STATUS_USAGE, "--wait", "must be at most 1h");
	if (cli->args.opt[OPT_COUNT] && test->count > MAX_COUNT)
		return fail(cli, STATUS_USAGE, "--count", "must be from 1 to %d in a mesh",
			    MAX_COUNT);
	if (test->size < MIN_SIZE)
		return fail(cli, STATUS_USAGE, "--size", "must be from %d to %d in a mesh",
			    MIN_SIZE, TEST_MAX_SIZE);
	if (cli->args.opt[OPT_OPENMETRICS] && cli->args.opt[OPT_JSON])
		return fail(cli, STATUS_USAGE, "--openmetrics",
			    "cannot be used with --json");
	/* UD has no flow control: messages of the measurement would be lost. */
	if (cli->args.opt[OPT_UD] && cli->args.opt[OPT_BANDWIDTH])
		return fail(cli, STATUS_USAGE, "--ud",
			    "cannot be used with --bandwidth");
	mesh->start = (struct start){
		.ranks = mesh->place.ranks,
		.all_pairs = !cli->args.opt[OPT_RAILS],
		.bandwidth = cli->args.opt[OPT_BANDWIDTH],
		.ud = cli->args.opt[OPT_UD],
		.count = cli->args.opt[OPT_COUNT] ? test->count : 100,
		.size = test->size,
		.timeout = test->timeout / 1000000,
	};
	return 0;
}

/* ---- members ------------------------------------------------------------------------- */

/* Rank 0 reports the results; a member only prints why it stopped early. */
static int run_member(struct mesh *mesh)
{
	struct cli *cli = mesh->test->cli;
	struct member *m = calloc(1, sizeof(*m));
	int status;

	if (!m) {
		note(cli, "rank %u: out of memory", mesh->place.rank);
		return STATUS_FAILED;
	}
	m->test = mesh->test;
	m->secret = &mesh->secret;
	m->rank = mesh->place.rank;
	m->ranks = mesh->place.ranks;
	m->rendezvous = mesh->rendezvous;
	m->port = mesh->test->port;
	m->wait = mesh->wait;
	if (open_source(cli))
		snprintf(m->rails.why, sizeof(m->rails.why),
			 "the list of RDMA devices cannot be read");
	else
		rails_find(mesh->test, &m->rails);
	status = rounds_run(m);
	if (*m->why)
		note(cli, "rank %u: %s", m->rank, m->why);
	explicit_bzero(m, sizeof(*m));
	free(m);
	return status;
}

/* ---- rank 0 -------------------------------------------------------------------------- */

static int report(struct mesh *mesh, struct hub *hub, int ret)
{
	struct cli *cli = mesh->test->cli;
	struct faults faults = { 0 };
	int status;

	if (ret == -E2BIG)
		return fail(cli, STATUS_USAGE, "mesh",
			    "too many pairs of adapters for the memory of rank 0: use --rails");
	if (!ret && !hub->running)
		return fail(cli, STATUS_FAILED, "mesh", "interrupted");
	if (!ret)
		ret = hub_distinguish(hub);
	if (!ret)
		ret = hub_faults(hub, &faults);
	if (ret)
		return fail(cli, STATUS_FAILED, "mesh", "%s", strerror(-ret));
	table_sort(&hub->table);
	status = report_mesh(cli, hub, &faults);
	faults_free(&faults);
	return status;
}

/*
 * Wait for a limited time only, because a driver may block the child in the kernel.
 */
static void end_child(pid_t child)
{
	static const struct timespec nap = { .tv_nsec = 10000000 };
	uint64_t until = monotonic_ns() + CHILD_NS;

	kill(child, SIGTERM);
	while (!waitpid(child, NULL, WNOHANG)) {
		if (monotonic_ns() > until) {
			kill(child, SIGKILL);
			return;
		}
		nanosleep(&nap, NULL);
	}
}

/* This process gathers the results; its child is the member on this host. */
static int run_hub(struct mesh *mesh)
{
	struct cli *cli = mesh->test->cli;
	uint16_t port = strtoul(mesh->test->port, NULL, 10);
	int listener = channel_listen(&port), ret, status;
	struct hub hub;
	pid_t child;

	if (listener < 0)
		return fail(cli, STATUS_FAILED, "mesh", "TCP port %s: %s",
			    mesh->test->port, strerror(-listener));
	fflush(NULL);
	child = fork();
	if (child < 0)
		return fail(cli, STATUS_FAILED, "fork", "%s", strerror(errno));
	if (!child) {
		close(listener);
		_exit(run_member(mesh));
	}
	ret = hub_init(&hub, &mesh->start, mesh->wait, monotonic_ns());
	if (!ret)
		ret = server_run(cli, &hub, &mesh->secret, listener);
	status = report(mesh, &hub, ret);
	hub_free(&hub);
	end_child(child);
	return status;
}

/*
 * Raise the limit on open files: each host needs a connection, and so does each waiting
 * peer.
 */
static int raise_limit(const struct mesh *mesh)
{
	uint32_t need = mesh->place.ranks + CHANNEL_SPARE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= need)
		return 0;
	return fail(mesh->test->cli, STATUS_FAILED, "mesh",
		    "the limit on open files is %llu, but %u are required: raise it (ulimit -Hn)",
		    (unsigned long long)limit.rlim_max, need);
}

int mesh_run(struct test *test)
{
	struct mesh mesh = { .test = test };
	int status = take_place(&mesh);

	if (!status)
		status = take_options(&mesh);
	if (!status)
		status = take_secret(&mesh);
	if (!status)
		status = raise_limit(&mesh);
	if (!status) {
		catch_signals();
		status = mesh.place.rank ? run_member(&mesh) : run_hub(&mesh);
	}
	explicit_bzero(&mesh.secret, sizeof(mesh.secret));
	return status;
}
