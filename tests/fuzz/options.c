// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the command line. Words are separated by newlines. A line
 * is parsed, its filters, order, columns and times are read, and what could
 * follow it is completed; nothing of it is carried out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asan.h"
#include "cli.h"
#include "view.h"

#define MAX_WORDS 40

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What is said about the line is for nobody; libFuzzer keeps its own stderr. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int null = open("/dev/null", O_WRONLY);

	(void)argc;
	(void)argv;
	stderr = fdopen(dup(null), "w");
	dup2(null, STDOUT_FILENO);
	return 0;
}

static void read_options(struct cli *cli)
{
	const char *name = cli->cmd->object;
	const struct eadm_object *object;
	struct view view = { 0 };
	uint64_t value;

	if (!name && cli->args.n)
		name = cli->args.arg[0];
	object = need_object(cli, name ? name : "counters");
	if (object && !view_init(cli, object, true, &view))
		list_columns(object);
	view_free(&view);
	opt_duration(cli, OPT_INTERVAL, 1, &value);
	opt_duration(cli, OPT_TIMEOUT, 1000, &value);
	opt_size(cli, OPT_MAX_SIZE, &value);
	opt_u64(cli, OPT_COUNT, &value);
}

static void complete(int argc, char **argv)
{
	struct cli cli = { .program = &eadm_program, .verb = "",
			   .argc = argc - 1, .argv = argv + 1 };
	int i;

	/* The names of devices are not on the line. */
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-d", 2) || strstr(argv[i], "device") ||
		    !strcmp(argv[i], "info"))
			return;
	}
	cmd_complete.run(&cli);
	eadm_free(cli.ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *line = malloc(len + 1), *argv[MAX_WORDS + 1], *word, *rest;
	struct cli cli = { .program = &eadm_program, .verb = "" };
	int argc = 0;

	memcpy(line, data, len);
	line[len] = '\0';
	argv[argc++] = "eadm";
	rest = line;
	while (argc < MAX_WORDS && (word = strsep(&rest, "\n")))
		argv[argc++] = word;
	argv[argc] = NULL;
	cli.argc = argc;
	cli.argv = argv;
	if (!parse_args(&cli, argc, argv) && cli.cmd && !cli.cmd->raw)
		read_options(&cli);
	complete(argc, argv);
	free(line);
	return 0;
}
