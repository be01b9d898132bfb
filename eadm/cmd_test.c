// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "mesh/mesh.h"
#include "signals.h"
#include "test/test.h"

static const struct option_def options[] = {
	{ OPT_PORT, 'p', "port", "PORT", WORDS_ANY,
	  "port of the server, for rdma_cm or TCP (default: " TEST_PORT ")" },
	{ OPT_BIND, 'b', "bind", "ADDR", WORDS_ANY,
	  "local address (selects the device)" },
	{ OPT_TESTS, 't', "tests", "NAMES", WORDS_TEST,
	  "client: tests to run: connect, data, rdma, echo, order, rate" },
	{ OPT_COUNT, 'n', "count", "N", WORDS_ANY,
	  "client: number of messages in the tests echo and order (default: 1000)" },
	{ OPT_SIZE, 's', "size", "BYTES", WORDS_ANY,
	  "client: largest message in the data and rdma tests (default: 65536)" },
	{ OPT_NO_CM, 0, "no-cm", NULL, WORDS_NONE,
	  "do not use the connection manager: exchange addresses over TCP" },
	{ OPT_GID_INDEX, 'g', "gid-index", "N", WORDS_ANY,
	  "without connection manager: index of the local GID (see 'eadm dump gid')" },
	{ OPT_ONCE, 0, "once", NULL, WORDS_NONE,
	  "server: exit after the first client" },
	{ OPT_HOSTS, 0, "hosts", "FILE", WORDS_FILE,
	  "mesh: file with one host per line, in order of rank" },
	{ OPT_RANK, 0, "rank", "N", WORDS_ANY,
	  "mesh: rank of this process, from 0 (default: the launcher's)" },
	{ OPT_RANKS, 0, "ranks", "N", WORDS_ANY,
	  "mesh: number of hosts (default: the launcher's)" },
	{ OPT_RENDEZVOUS, 0, "rendezvous", "HOST", WORDS_ANY,
	  "mesh: host of rank 0 (default: $EADM_MESH_RENDEZVOUS)" },
	{ OPT_SECRET, 0, "secret", "FILE", WORDS_FILE,
	  "mesh: secret shared by all ranks (default: $EADM_MESH_SECRET)" },
	{ OPT_RAILS, 0, "rails", NULL, WORDS_NONE,
	  "mesh: test adapter i only with adapter i of other hosts" },
	{ OPT_UD, 0, "ud", NULL, WORDS_NONE,
	  "mesh: use UD queue pairs instead of the adapter's own type" },
	{ OPT_BANDWIDTH, 0, "bandwidth", NULL, WORDS_NONE,
	  "mesh: also measure the bandwidth of each direction" },
	{ OPT_WAIT, 0, "wait", "TIME", WORDS_ANY,
	  "mesh: time limit for all hosts to join (default: 60s)" },
	{ OPT_OPENMETRICS, 0, "openmetrics", NULL, WORDS_NONE,
	  "mesh: print OpenMetrics text" },
	{ 0 },
};

static const char *const roles[] = { "server", "client", "mesh" };
enum { SERVER = 1, CLIENT = 2, MESH = 4 };	/* bits, in the order of roles */

/* The options that only some roles have. */
static const struct {
	enum opt_id id;
	unsigned int roles;
} limited[] = {
	{ OPT_BIND, SERVER | CLIENT }, { OPT_NO_CM, SERVER | CLIENT },
	{ OPT_TESTS, CLIENT },
	{ OPT_COUNT, CLIENT | MESH }, { OPT_SIZE, CLIENT | MESH },
	{ OPT_ONCE, SERVER }, { OPT_HOSTS, MESH }, { OPT_RANK, MESH },
	{ OPT_RANKS, MESH }, { OPT_RENDEZVOUS, MESH }, { OPT_SECRET, MESH },
	{ OPT_RAILS, MESH }, { OPT_UD, MESH }, { OPT_BANDWIDTH, MESH },
	{ OPT_WAIT, MESH }, { OPT_OPENMETRICS, MESH },
};

/* Refuses options of the other roles. */
static int check_options(struct cli *cli, size_t role)
{
	const struct option_def *def;
	char name[32];
	size_t i;

	for (i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
		if (limited[i].roles & 1u << role || !cli->args.opt[limited[i].id])
			continue;
		for (def = options; def->id != limited[i].id; def++)
			;
		snprintf(name, sizeof(name), "--%s", def->name);
		return fail(cli, STATUS_USAGE, name, "cannot be used with %s", roles[role]);
	}
	return 0;
}

static int check_tests(struct test *test)
{
	const char *p = test->only, *near;
	char name[32];
	size_t len;
	int i;

	while (p && *p) {
		len = strcspn(p, ",");
		for (i = 0; test_names[i]; i++) {
			if (strlen(test_names[i]) == len &&
			    !strncmp(test_names[i], p, len))
				break;
		}
		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		near = test_names[i] ? NULL : suggest(name, test_names);
		if (near)
			return fail(test->cli, STATUS_USAGE, name,
				    "no such test (did you mean '%s'?)", near);
		if (!test_names[i])
			return fail(test->cli, STATUS_USAGE, p,
				    "no such test (connect, data, rdma, echo, order, rate)");
		p += len + (p[len] == ',');
	}
	return 0;
}

static int take_options(struct test *test)
{
	struct cli *cli = test->cli;
	uint64_t port = 0;

	test->has_gid_index = cli->args.opt[OPT_GID_INDEX] != NULL;
	test->port = cli->args.opt[OPT_PORT] ? cli->args.opt[OPT_PORT] :
					       TEST_PORT;
	test->bind = cli->args.opt[OPT_BIND];
	test->only = cli->args.opt[OPT_TESTS];
	if (!opt_u64(cli, OPT_COUNT, &test->count) ||
	    !opt_u64(cli, OPT_SIZE, &test->size) ||
	    !opt_u64(cli, OPT_PORT, &port) ||
	    !opt_u64(cli, OPT_GID_INDEX, &test->gid_index) ||
	    !opt_duration(cli, OPT_TIMEOUT, 1000000000, &test->timeout))
		return STATUS_USAGE;
	if (cli->args.opt[OPT_PORT] && (!port || port > 65535))
		return fail(cli, STATUS_USAGE, "--port", "must be from 1 to 65535");
	if (!test->count || test->count > 10000000)
		return fail(cli, STATUS_USAGE, "--count",
			    "must be from 1 to 10000000");
	if (!test->size || test->size > TEST_MAX_SIZE)
		return fail(cli, STATUS_USAGE, "--size", "must be from 1 to %d",
			    TEST_MAX_SIZE);
	if (test->timeout < 1000000 || test->timeout > 3600000000000)
		return fail(cli, STATUS_USAGE, "--timeout", "must be from 1ms to 1h");
	if (cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--from",
			    "cannot be used with test");
	return check_tests(test);
}

static int run(struct cli *cli)
{
	struct test test = {
		.cli = cli, .timeout = 10000000000, .count = 1000,
		.size = 65536, .depth = 16,
	};
	size_t n_roles = sizeof(roles) / sizeof(roles[0]), role = 0;
	bool client, mesh;
	int status;

	while (cli->args.n && role < n_roles && strcmp(cli->args.arg[0], roles[role]) != 0)
		role++;
	if (!cli->args.n || role == n_roles)
		return fail(cli, STATUS_USAGE, cli->args.n ? cli->args.arg[0] : "test",
			    "%s subcommand (server, client or mesh)",
			    cli->args.n ? "unknown" : "missing");
	client = 1 << role == CLIENT;
	mesh = 1 << role == MESH;
	if (client && cli->args.n < 2)
		return fail(cli, STATUS_USAGE, "client",
			    "missing HOST (see 'eadm help test')");
	if (!client && cli->args.n > 1)
		return fail(cli, STATUS_USAGE, cli->args.arg[1],
			    "unexpected argument (see 'eadm help test')");
	status = check_options(cli, role);
	if (!status)
		status = take_options(&test);
	if (status)
		return status;
	if (mesh)
		return mesh_run(&test);
	status = test_ready(&test);
	if (status)
		return status;
	test.host = cli->args.arg[1];
	if (client)
		status = test_address(&test, test.host, false, &test.to);
	if (client && !status && test.bind) {
		/* Bind to any port of the address. */
		const char *port = test.port;

		test.port = NULL;
		status = test_address(&test, test.bind, false, &test.from);
		test.port = port;
	}
	if (status)
		return status;
	status = test.setup->start(&test);
	if (status)
		return status;
	catch_signals();
	status = client ? test_client(&test) : test_server(&test);
	if (test.setup->stop)
		test.setup->stop(&test);
	return status;
}

const struct command cmd_test = {
	.name = "test",
	.usage = "server | client HOST | mesh",
	.help = "test connections, data, latency and order between hosts",
	.more = "Works with devices of all vendors: through rdma_cm or, if the adapters\n"
		"do not support it, with addresses exchanged over TCP. Each test\n"
		"prints a row: connect; data (transfers and verifies messages of all\n"
		"sizes); rdma (writes, reads back and verifies data); echo (measures\n"
		"round trips); order (verifies the order of messages); rate (counts\n"
		"connections per second). 'mesh' finds out which pairs of hosts cannot\n"
		"communicate, and why; start it on each host with srun or mpirun, or as a\n"
		"Kubernetes job.",
	.examples = "  eadm test server\n"
		    "  eadm test client 192.0.2.1\n"
		    "  eadm test client 192.0.2.1 --bind 192.0.2.2 --json\n"
		    "  eadm test client node7 --tests connect,echo -n 10000\n"
		    "  eadm test client node7 --no-cm --device rxe0 --gid-index 1\n"
		    "  srun --ntasks-per-node=1 eadm test mesh --rendezvous node1 --rails\n"
		    "  eadm test mesh --hosts hosts.txt --rank 3 --secret mesh.key\n",
	.max_args = 2,
	.args = { WORDS_TEST_VERB, WORDS_ANY },
	.options = options,
	.run = run,
};
