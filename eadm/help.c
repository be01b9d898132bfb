// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, generated from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "schema.h"

/* A command's options can replace global ones. */
static bool is_hidden(const struct option_def *def, const struct command *cmd)
{
	return cmd && find_option(cmd, def->name, strlen(def->name)) != def;
}

static void print_options(const struct option_def *def,
			  const struct command *cmd)
{
	char left[40], letter[8];

	for (; def && def->name; def++) {
		if (is_hidden(def, cmd))
			continue;
		snprintf(letter, sizeof(letter), def->letter ? "-%c, " : "    ",
			 def->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, def->name,
			 def->arg ? " " : "", def->arg ? def->arg : "");
		printf("  %-24s  %s\n", left, def->help);
	}
}

static void print_objects(bool counted)
{
	const struct eadm_object *object = NULL;

	printf("\nObjects:\n");
	while ((object = eadm_object_next(object))) {
		if (!(counted ? can_count(object) : can_dump(object)))
			continue;
		printf("  %-10s %s\n", eadm_object_name(object),
		       eadm_object_help(object));
	}
}

void print_overview(const struct program *program)
{
	const struct command *const *commands = program->commands;
	int i;

	printf("Usage: eadm COMMAND [ARGUMENTS] [OPTIONS]\n\n"
	       "Shows the state of RDMA adapters on this machine or in a capture.\n\n"
	       "Commands:\n");
	for (i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			printf("  %-8s %s\n", commands[i]->name,
			       commands[i]->help);
	}
	printf("\nOptions:\n");
	print_options(global_options, NULL);
	printf("\nExamples:\n"
	       "  eadm list                        list the devices\n"
	       "  eadm stat --live                 watch the counters that change\n"
	       "  eadm dump qp --state err         list failed queue pairs\n"
	       "  eadm trace --slower-than 10ms    list slow commands\n"
	       "  eadm diagnose                    find faults and their causes\n"
	       "  eadm record now.pcapng           save the state for later\n"
	       "  eadm --from now.pcapng dump qp   read it on any machine\n"
	       "\n'eadm help COMMAND' shows the options of a command.\n");
}

void print_help(const struct command *cmd)
{
	printf("Usage: eadm %s%s%s [OPTIONS]\n\n%c%s.\n", cmd->name,
	       cmd->usage ? " " : "", cmd->usage ? cmd->usage : "",
	       cmd->help[0] - 'a' + 'A', cmd->help + 1);
	if (cmd->more)
		printf("%s\n", cmd->more);
	if (cmd->args[0] == WORDS_OBJECT ||
	    cmd->args[0] == WORDS_COUNTED_OBJECT)
		print_objects(cmd->args[0] == WORDS_COUNTED_OBJECT);
	if (cmd->options) {
		printf("\nOptions:\n");
		print_options(cmd->options, cmd);
	}
	printf("\nGlobal options:\n");
	print_options(global_options, cmd);
	if (cmd->examples)
		printf("\nExamples:\n%s", cmd->examples);
}

int print_schema(void)
{
	fputs(json_schema, stdout);
	return STATUS_OK;
}

static int run(struct cli *cli)
{
	const struct command *cmd;

	if (!cli->args.n) {
		print_overview(cli->program);
		return STATUS_OK;
	}
	cmd = find_command(cli, cli->args.arg[0]);
	if (!cmd || cmd->hidden)
		return unknown_command(cli, cli->args.arg[0]);
	print_help(cmd);
	return STATUS_OK;
}

const struct command cmd_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.help = "show how to use a command",
	.examples = "  eadm help dump\n",
	.max_args = 1,
	.args = { WORDS_COMMAND },
	.run = run,
};
