// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program "eadm": selects the command, and handles options common to all commands.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "out/columns.h"
#include "out/writer.h"
#include "source.h"

static const struct command *const commands[] = {
	&cmd_list, &cmd_info, &cmd_stat, &cmd_dump, &cmd_events, &cmd_conf,
	&cmd_trace, &cmd_top, &cmd_diagnose, &cmd_check, &cmd_explain, &cmd_record, &cmd_mark,
	&cmd_probe, &cmd_diff, &cmd_bundle, &cmd_exporter, &cmd_test, &cmd_ver, &cmd_help,
	&cmd_complete, NULL,
};

/* For some commands, --output is a file. */
static bool shows_columns(const struct command *cmd)
{
	return find_option(cmd, "output", 6)->words == WORDS_COLUMN;
}

/*
 * Returns true if the command shows the fields of one object; other commands show none,
 * or those of several objects.
 */
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
			    "%s has fixed columns", cli->verb);
	if (cli->args.opt[OPT_LIST_COLUMNS] ||
	    (output && !strcmp(output, "help"))) {
		name = cli->cmd->object;
		if (!name)
			name = cli->args.n ? cli->args.arg[0] : cli->cmd->usual;
		if (!name)
			return fail(cli, STATUS_USAGE, "--list-columns",
				    "missing object name");
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

/* Makes sure that all output through stdio has been written. */
static int close_stdout(const struct cli *cli, int status)
{
	int err = stdout_error();

	if (err && err != EPIPE && !cli->stdout_failed)
		fprintf(stderr, "eadm: standard output: %s\n", stdout_why(err));
	return stdout_status(err, status);
}

static void help(const struct cli *cli)
{
	if (cli->cmd)
		print_help(cli->cmd);
	else
		print_overview(cli->program);
}

static int run_line(int argc, char **argv, struct eadm_ctx *opened)
{
	struct cli cli = { .program = &eadm_program, .verb = "",
			   .argc = argc, .argv = argv, .opened = opened };
	int status;

	if (argc == 1) {
		print_overview(cli.program);
		return close_stdout(&cli, STATUS_OK);
	}
	status = parse_args(&cli, argc, argv);
	if (!status) {
		if (cli.args.opt[OPT_HELP])
			help(&cli);
		else if (cli.args.opt[OPT_VERSION])
			printf("eadm %s\n", EADM_VERSION);
		else if (cli.args.opt[OPT_SCHEMA])
			status = print_schema();
		else if (!cli.cmd)
			status = fail(&cli, STATUS_USAGE, "command",
				      "missing ('eadm help' lists all commands)");
		else
			status = run(&cli);
	}
	status = close_save(&cli, status);
	if (cli.writer)
		cli.writer->ops->free(cli.writer);
	eadm_free(cli.ctx);
	return close_stdout(&cli, status);
}

const struct program eadm_program = {
	.commands = commands,
	.run_line = run_line,
};

/*
 * A program that shares the pipe or terminal may have made it non-blocking: stdio drops
 * output once it is full. Opening it again makes it blocking for this program only.
 */
static void block_on_stdout(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL), fd, number;
	struct stat st, opened;

	if (flags < 0 || !(flags & O_NONBLOCK) || (flags & O_ACCMODE) == O_RDONLY ||
	    fstat(STDOUT_FILENO, &st) || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		return;
	/* Opening the master of a pseudoterminal creates a new pseudoterminal. */
	if (!ioctl(STDOUT_FILENO, TIOCGPTN, &number))
		return;
	/* Opening a pipe without a reader must fail, not wait. */
	fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &opened) && opened.st_dev == st.st_dev && opened.st_ino == st.st_ino &&
	    !fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		dup2(fd, STDOUT_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	/* A write beyond the limit then fails with EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	error_init();
	block_on_stdout();
	return run_line(argc, argv, NULL);
}
