// SPDX-License-Identifier: GPL-2.0-or-later
/* The command "eadm": which command is meant, and what all have in common. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "out/table.h"

const struct command *const commands[] = {
	&cmd_list, &cmd_info, &cmd_stat, &cmd_dump, &cmd_events, &cmd_conf,
	&cmd_trace, &cmd_top, &cmd_diagnose, &cmd_check, &cmd_record, &cmd_mark,
	&cmd_diff, &cmd_bundle, &cmd_exporter, &cmd_test, &cmd_ver, &cmd_help,
	&cmd_complete, NULL,
};

volatile sig_atomic_t interrupted;

static void on_signal(int signum)
{
	interrupted = signum;
}

/* The next read or poll ends, and what was begun is brought to an end. */
void catch_signal(int signum)
{
	struct sigaction action = { .sa_handler = on_signal };

	action.sa_flags = SA_RESETHAND;
	sigaction(signum, &action, NULL);
}

void catch_signals(void)
{
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
}

static void log_line(void *data, const char *line)
{
	struct cli *cli = data;

	note(cli, "%s", line);
}

/* What the command reads is kept for others to look at. */
static int save_source(struct cli *cli)
{
	const char *path = cli->args.opt[OPT_SAVE];
	int ret;

	if (!path)
		return 0;
	if (!strcmp(path, "-"))
		return fail(cli, STATUS_USAGE, "--save",
			    "standard output is used for the rows");
	ret = check_target(cli, path);
	if (ret)
		return ret;
	ret = eadm_capture_open(cli->ctx, path);
	if (ret)
		return fail(cli, ret == -EACCES || ret == -EPERM ?
				      STATUS_PERMISSION : STATUS_FAILED,
			    "--save", "%s: %s", path, eadm_errmsg(cli->ctx));
	cli->saving = true;
	return 0;
}

/* Something was read, and an error is worth keeping, too. */
static int close_save(struct cli *cli, int status)
{
	int ret;

	if (!cli->saving)
		return status;
	ret = eadm_capture_close(cli->ctx, true);
	if (!ret)
		return status;
	if (ret != -EPIPE)
		note(cli, "%s: %s", cli->args.opt[OPT_SAVE],
		     eadm_errmsg(cli->ctx));
	return status ? status : STATUS_FAILED;
}

int open_source(struct cli *cli)
{
	const char *from = cli->args.opt[OPT_FROM];
	uint64_t ns;
	int ret;

	cli->ctx = eadm_new();
	if (!cli->ctx)
		return fail(cli, STATUS_FAILED, "start", "%s", strerror(errno));
	if (cli->args.opt[OPT_VERBOSE])
		eadm_set_log(cli->ctx, log_line, cli);
	if (cli->args.opt[OPT_TIMEOUT]) {
		if (!opt_duration(cli, OPT_TIMEOUT, 1000000000, &ns))
			return STATUS_USAGE;
		if (ns < 1000000 || ns / 1000000 > 86400000)
			return fail(cli, STATUS_USAGE, "--timeout",
				    "from 1ms to 24h");
		eadm_set_timeout(cli->ctx, ns / 1000000);
	}
	if (cli->args.opt[OPT_AT] && !from)
		return fail(cli, STATUS_USAGE, "--at", "requires --from");
	ret = from ? eadm_open_file(cli->ctx, from) : eadm_open_live(cli->ctx);
	if (!ret && cli->args.opt[OPT_AT])
		ret = go_to_time(cli, cli->ctx, cli->args.opt[OPT_AT],
				 &cli->moment);
	if (ret > 0)
		return ret;
	if (!ret)
		return save_source(cli);
	if (ret == -EACCES || ret == -EPERM)
		return fail_lib(cli, ret, from ? from : "open");
	return fail(cli, STATUS_FAILED, from ? from : "open", "%s",
		    eadm_errmsg(cli->ctx));
}

/* A capture that is complete; what was asked for and is not in it is told. */
int close_capture(struct cli *cli, const char *path)
{
	struct eadm_note n = { .size = sizeof(n) };
	int ret, status = STATUS_OK;
	unsigned int i;

	for (i = 0; eadm_capture_note(cli->ctx, i, &n); i++) {
		note(cli, "%s%s%s: %s", n.device, *n.device ? ": " : "",
		     n.what, n.why);
		status = STATUS_PARTIAL;
	}
	ret = eadm_capture_close(cli->ctx, true);
	return ret ? fail_write(cli, cli->ctx, ret, path) : status;
}

/* --output means something else to some commands. */
static bool shows_columns(const struct command *cmd)
{
	return find_option(cmd, "output", 6)->words == WORDS_COLUMN;
}

/* Of an object, which others do not show or from more than one. */
static bool has_fields(const struct command *cmd)
{
	return cmd->object || cmd->args[0] == WORDS_OBJECT ||
	       cmd->args[0] == WORDS_COUNTED_OBJECT;
}

static int run(struct cli *cli)
{
	const char *output = cli->args.opt[OPT_OUTPUT];
	const struct eadm_object *object;
	const char *name;

	if (output && !shows_columns(cli->cmd))
		output = NULL;
	if ((output || cli->args.opt[OPT_LIST_COLUMNS]) &&
	    !has_fields(cli->cmd))
		return fail(cli, STATUS_USAGE,
			    output ? "--output" : "--list-columns",
			    "%s has its own columns", cli->verb);
	if (cli->args.opt[OPT_LIST_COLUMNS] ||
	    (output && !strcmp(output, "help"))) {
		name = cli->cmd->object;
		if (cli->cmd == &cmd_stat)
			name = "counters";
		if (!cli->cmd->object && cli->args.n)
			name = cli->args.arg[0];
		if (!name)
			return fail(cli, STATUS_USAGE, "--list-columns",
				    "of which object?");
		object = need_object(cli, name);
		if (!object)
			return STATUS_USAGE;
		list_columns(object);
		return STATUS_OK;
	}
	cli->writer = cli->json ? json_writer_new(cli) : table_writer_new(cli);
	if (!cli->writer)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	return cli->cmd->run(cli);
}

/* An earlier write of stdio leaves no errno behind. */
static bool reader_is_gone(void)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&pfd, 1, 0) > 0 && pfd.revents & (POLLERR | POLLHUP);
}

/* What was printed by stdio must have arrived, too. */
static int close_stdout(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* What went wrong before is told, or there is a status. */
	if (errno ? errno != EPIPE : !status && !reader_is_gone())
		fprintf(stderr, "eadm: standard output: %s\n",
			errno ? strerror(errno) : "write error");
	return status ? status : STATUS_FAILED;
}

/* A whole command line, also one of many in a process. */
int run_line(int argc, char **argv)
{
	struct cli cli = { .verb = "", .argc = argc, .argv = argv };
	int status;

	if (argc == 1) {
		print_help(NULL);
		return close_stdout(STATUS_OK);
	}
	status = parse_args(&cli, argc, argv);
	if (!status) {
		if (cli.args.opt[OPT_HELP])
			print_help(cli.cmd);
		else if (cli.args.opt[OPT_VERSION])
			printf("eadm %s\n", EADM_VERSION);
		else if (cli.args.opt[OPT_SCHEMA])
			status = print_schema();
		else if (!cli.cmd)
			status = fail(&cli, STATUS_USAGE, "command",
				      "which one? ('eadm help' lists them)");
		else
			status = run(&cli);
	}
	status = close_save(&cli, status);
	if (cli.writer)
		cli.writer->ops->free(cli.writer);
	eadm_free(cli.ctx);
	return close_stdout(status);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	error_init();
	return run_line(argc, argv);
}
