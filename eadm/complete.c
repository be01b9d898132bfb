// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command-line completion: "eadm __complete WORD..." receives the words after "eadm", the
 * last one as typed so far, and prints one candidate per line. ":file" requests file
 * names from the shell.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "marks.h"

struct state {
	struct cli *cli;
	const struct command *cmd;
	unsigned int n_args;
	const char *arg[MAX_ARGS];
	const char *typed;		/* the last word, as typed so far */
};

static void offer(const struct state *st, const char *prefix, const char *word)
{
	if (!strncmp(word, st->typed, strlen(st->typed)))
		printf("%s%s\n", prefix, word);
}

static void offer_field(const struct state *st, const struct eadm_record *record,
			const char *name)
{
	const struct eadm_field *field = eadm_object_find_field(eadm_object_find("dev"), name);
	char text[DEVICE_NAME];

	if (eadm_record_has(record, field) &&
	    eadm_record_text(record, field, text, sizeof(text)) < (int)sizeof(text))
		offer(st, "", text);
}

static void offer_devices(const struct state *st)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_record *record;
	struct eadm_dump *dump;
	size_t i;

	/* If there are no candidates, print nothing. */
	st->cli->ctx = eadm_new();
	if (!st->cli->ctx || eadm_open_live(st->cli->ctx) ||
	    eadm_dump_open(st->cli->ctx, object, NULL, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0) {
		offer_field(st, record, "dev-name");
		/*
		 * Offer aliases only for a partial word; otherwise, each device would
		 * have four candidates.
		 */
		for (i = 0; *st->typed && device_aliases[i]; i++)
			offer_field(st, record, device_aliases[i]);
	}
	eadm_dump_close(dump);
}

static void offer_marks(const struct state *st)
{
	char folder[MARK_PATH_MAX];
	struct dirent **names;
	int i, n;

	if (!mark_folder(folder, sizeof(folder)))
		return;
	n = scandir(folder, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (mark_is_name(names[i]->d_name))
			offer(st, "", names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static void offer_objects(const struct state *st, bool counted)
{
	const struct eadm_object *object = NULL;

	while ((object = eadm_object_next(object))) {
		if (counted ? can_count(object) : can_dump(object))
			offer(st, "", eadm_object_name(object));
	}
}

static const struct eadm_object *object_of(const struct state *st)
{
	if (st->cmd && st->cmd->object)
		return eadm_object_find(st->cmd->object);
	if (st->n_args)
		return eadm_object_find(st->arg[0]);
	return st->cmd && st->cmd->usual ? eadm_object_find(st->cmd->usual) :
					   NULL;
}

/* In a list, everything up to the last comma is kept. */
static void offer_some(const struct state *st,
		       const struct eadm_object *object,
		       const char *(*nth)(const struct eadm_object *object,
					  unsigned int n))
{
	const char *comma = strrchr(st->typed, ',');
	struct state rest = *st;
	char done[512];
	const char *word;
	unsigned int i;
	int len;

	if (comma)
		len = comma + 1 - st->typed;
	else
		len = *st->typed == '+' ? 1 : 0;
	snprintf(done, sizeof(done), "%.*s", len, st->typed);
	rest.typed = st->typed + len;
	for (i = 0; (word = nth(object, i)); i++)
		offer(&rest, done, word);
}

static void offer_list(const struct state *st,
		       const char *(*nth)(const struct eadm_object *object,
					  unsigned int n))
{
	const struct eadm_object *object = object_of(st);

	if (object)
		offer_some(st, object, nth);
}

static const char *nth_column(const struct eadm_object *object, unsigned int n)
{
	const struct eadm_field *field = eadm_object_field(object, n);

	return field ? eadm_field_name(field) : NULL;
}

static const char *nth_value(const struct eadm_object *object,
			     const char *name, unsigned int n)
{
	const struct eadm_field *field = eadm_object_find_field(object, name);

	return field ? eadm_field_value_at(field, n, NULL) : NULL;
}

static const char *nth_state(const struct eadm_object *object, unsigned int n)
{
	return nth_value(object, "state", n);
}

static const char *nth_opcode(const struct eadm_object *object, unsigned int n)
{
	return nth_value(object, "op", n);
}

static const char *nth_test(const struct eadm_object *object, unsigned int n)
{
	(void)object;
	return test_names[n];
}

static const char *nth_param(const struct eadm_object *object, unsigned int n)
{
	return nth_value(object, "param", n);
}

static void offer_commands(const struct state *st)
{
	const struct command *const *commands = st->cli->program->commands;
	int i;

	for (i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			offer(st, "", commands[i]->name);
	}
}

static void offer_words(const struct state *st, enum words words)
{
	static const char *const top_sorts[] = {
		"rate", "queued", "last", "age", "qpn", "state", "pid", "comm",
		"peer", "qps", "mrs",
	};
	size_t i;

	switch (words) {
	case WORDS_FILE:
		puts(":file");
		break;
	case WORDS_DEVICE:
		offer_devices(st);
		break;
	case WORDS_OBJECT:
		offer_objects(st, false);
		break;
	case WORDS_COUNTED_OBJECT:
		offer_objects(st, true);
		break;
	case WORDS_COLUMN:
	case WORDS_SORT:
		offer_list(st, nth_column);
		break;
	case WORDS_STATE:
		offer_list(st, nth_state);
		break;
	case WORDS_OPCODE:
		offer_list(st, nth_opcode);
		break;
	case WORDS_COMMAND:
		offer_commands(st);
		break;
	case WORDS_TEST_VERB:
		offer(st, "", "server");
		offer(st, "", "client");
		offer(st, "", "mesh");
		break;
	case WORDS_TEST:
		offer_some(st, NULL, nth_test);
		break;
	case WORDS_BUNDLE_VERB:
		offer(st, "", "create");
		offer(st, "", "show");
		offer(st, "", "verify");
		break;
	case WORDS_POINTER:
		offer(st, "", "pi");
		offer(st, "", "ci");
		break;
	case WORDS_CONF_VERB:
		offer(st, "", "list");
		offer(st, "", "get");
		offer(st, "", "set");
		break;
	case WORDS_CONF_PARAM:
		offer_list(st, nth_param);
		break;
	case WORDS_MARK:
		offer_marks(st);
		break;
	case WORDS_SNAPSHOT_OR_OBJECT:
		offer_objects(st, false);
		/* fallthrough */
	case WORDS_SNAPSHOT:
		offer_marks(st);
		offer(st, "", "live");
		puts(":file");
		break;
	case WORDS_TOP_SORT:
		for (i = 0; i < ARRAY_SIZE(top_sorts); i++)
			offer(st, "", top_sorts[i]);
		break;
	case WORDS_TRACE_VERB:
		offer(st, "", "hist");
		offer(st, "", "export");
		break;
	case WORDS_PROBE_VERB:
		offer(st, "", "start");
		offer(st, "", "stop");
		offer(st, "", "status");
		offer(st, "", "run");
		break;
	case WORDS_PROBE_LEVEL:
		offer(st, "", "auto");
		offer(st, "", "typed");
		offer(st, "", "kprobe");
		break;
	case WORDS_TRACE_FORMAT:
		offer(st, "", "chrome");
		break;
	default:
		break;
	}
}

static void offer_options(const struct state *st)
{
	const struct option_def *def;
	struct state rest = *st;

	rest.typed = strlen(st->typed) > 2 ? st->typed + 2 : "";
	for (def = st->cmd ? st->cmd->options : NULL; def && def->name; def++)
		offer(&rest, "--", def->name);
	for (def = global_options; def->name; def++) {
		if (find_option(st->cmd, def->name, strlen(def->name)) == def)
			offer(&rest, "--", def->name);
	}
}

/* Read the preceding words; returns the option whose value is being typed. */
static const struct option_def *read_words(struct state *st, int n,
					   char **words)
{
	const struct option_def *def = NULL;
	const char *word;
	int i;

	for (i = 0; i < n; i++) {
		word = words[i];
		if (def) {
			def = NULL;
			continue;
		}
		if (!strncmp(word, "--", 2) && word[2]) {
			def = find_option(st->cmd, word + 2,
					  strlen(word + 2));
		} else if (word[0] == '-' && word[1] && word[1] != '-') {
			def = find_letter(st->cmd, word[strlen(word) - 1]);
		} else if (!st->cmd) {
			st->cmd = find_command(st->cli, word);
		} else if (st->n_args < MAX_ARGS) {
			st->arg[st->n_args++] = word;
		}
		if (def && !def->arg)
			def = NULL;
	}
	return def;
}

static int run(struct cli *cli)
{
	struct state st = { .cli = cli, .typed = "" };
	const struct option_def *def;
	const char *eq;

	if (cli->argc)
		st.typed = cli->argv[cli->argc - 1];
	def = read_words(&st, cli->argc ? cli->argc - 1 : 0, cli->argv);
	eq = strchr(st.typed, '=');
	if (!def && eq && !strncmp(st.typed, "--", 2)) {
		def = find_option(st.cmd, st.typed + 2, eq - st.typed - 2);
		if (!def || !def->arg)
			return STATUS_OK;
		st.typed = eq + 1;
	}
	if (def)
		offer_words(&st, def->words);
	else if (*st.typed == '-')
		offer_options(&st);
	else if (!st.cmd)
		offer_commands(&st);
	else if (st.n_args < st.cmd->max_args)
		offer_words(&st, st.cmd->args[st.n_args]);
	return STATUS_OK;
}

const struct command cmd_complete = {
	.name = "__complete",
	.help = "print completion candidates for a shell",
	.hidden = true,
	.raw = true,
	.run = run,
};
