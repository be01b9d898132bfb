// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options: global ones anywhere on the line, a command's own options after the command.
 * The parser, the help and the completion use the tables.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

const struct option_def global_options[] = {
	{ OPT_DEVICE, 'd', "device", "DEV", WORDS_DEVICE,
	  "use only this RDMA device (name, netdev, PCI address or GUID)" },
	{ OPT_FROM, 0, "from", "FILE", WORDS_FILE,
	  "read a capture instead of this machine ('-': standard input)" },
	{ OPT_PROGRAM, 0, "peer", "SOCKET", WORDS_FILE,
	  "query the userspace adapters served on SOCKET (precedes COMMAND)" },
	{ OPT_NO_PEERS, 0, "no-peers", NULL, WORDS_NONE,
	  "omit userspace adapters" },
	{ OPT_AT, 0, "at", "TIME", WORDS_ANY,
	  "use the capture's snapshot at TIME: 14:03:05, +30s, -10s, #3" },
	{ OPT_SAVE, 0, "save", "FILE", WORDS_FILE,
	  "also save all data read in a capture" },
	{ OPT_JSON, 'j', "json", NULL, WORDS_NONE, "print JSON" },
	{ OPT_OUTPUT, 'o', "output", "COLS", WORDS_COLUMN,
	  "columns: A,B,...; '+A' adds to the default; 'all', 'wide', 'help'" },
	{ OPT_LIST_COLUMNS, 0, "list-columns", NULL, WORDS_NONE,
	  "list the columns" },
	{ OPT_SCHEMA, 0, "schema", NULL, WORDS_NONE,
	  "print the schema of the JSON output" },
	{ OPT_NO_COLOR, 0, "no-color", NULL, WORDS_NONE, "do not use colours" },
	{ OPT_TIMEOUT, 0, "timeout", "TIME", WORDS_ANY,
	  "timeout for each kernel reply (default: 10s)" },
	{ OPT_VERBOSE, 'v', "verbose", NULL, WORDS_NONE,
	  "print debug messages and full details" },
	{ OPT_VERSION, 'V', "version", NULL, WORDS_NONE,
	  "print the version of eadm" },
	{ OPT_HELP, 'h', "help", NULL, WORDS_NONE, "print help" },
	{ 0 },
};

static const struct option_def *in_table(const struct option_def *def,
					 const char *name, size_t len,
					 char letter)
{
	for (; def && def->name; def++) {
		if (name && strlen(def->name) == len &&
		    !strncmp(def->name, name, len))
			return def;
		if (!name && def->letter == letter)
			return def;
	}
	return NULL;
}

const struct option_def *find_option(const struct command *cmd,
				     const char *name, size_t len)
{
	const struct option_def *def = NULL;

	if (cmd)
		def = in_table(cmd->options, name, len, 0);
	return def ? def : in_table(global_options, name, len, 0);
}

const struct option_def *find_letter(const struct command *cmd, char letter)
{
	const struct option_def *def = NULL;

	if (cmd)
		def = in_table(cmd->options, NULL, 0, letter);
	return def ? def : in_table(global_options, NULL, 0, letter);
}

const struct command *find_command(const struct cli *cli, const char *name)
{
	const struct command *const *commands = cli->program->commands;
	int i;

	for (i = 0; commands[i]; i++) {
		if (!strcasecmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/* ---- wrong words ----------------------------------------------------------- */

static int unknown_option(struct cli *cli, const char *word, size_t len)
{
	const struct command *const *commands = cli->program->commands;
	struct word_list words = { 0 };
	const struct option_def *def;
	char name[64];
	const char *near = NULL;
	int i;

	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	if (!strncmp(name, "--", 2)) {
		for (def = global_options; def->name; def++)
			word_add(&words, def->name);
		for (def = cli->cmd ? cli->cmd->options : NULL;
		     def && def->name; def++)
			word_add(&words, def->name);
		near = suggest(name + 2, words.words);
		word_free(&words);
	}
	if (near)
		return fail(cli, STATUS_USAGE, name,
			    "unknown option (did you mean '--%s'?)", near);
	/* An option before its command is a common mistake. */
	for (i = 0; !cli->cmd && commands[i]; i++) {
		bool is_long = !strncmp(name, "--", 2);

		if (in_table(commands[i]->options, is_long ? name + 2 : NULL,
			     len - 2, name[1]))
			return fail(cli, STATUS_USAGE, name,
				    "must follow the command");
	}
	return fail(cli, STATUS_USAGE, name, "unknown option");
}

int unknown_command(struct cli *cli, const char *name)
{
	const struct command *const *commands = cli->program->commands;
	struct word_list words = { 0 };
	int i;

	for (i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			word_add(&words, commands[i]->name);
	}
	return unknown_word(cli, name, "unknown command", &words,
			    "see 'eadm help'");
}

/* ---- the line ---------------------------------------------------------------- */

static bool is_optional(const struct option_def *def)
{
	return def->arg && def->arg[0] == '[';
}

/* Returns the word after an option as its value; NULL if there is none. */
static const char *value_behind(const struct option_def *def, int argc,
				char **argv, int *i)
{
	uint64_t ns;

	if (*i + 1 >= argc)
		return NULL;
	/* Optional values are always times. */
	if (is_optional(def) && !parse_duration(argv[*i + 1], 1, &ns))
		return NULL;
	return argv[++*i];
}

static int take(struct cli *cli, const struct option_def *def,
		const char *word, const char *value)
{
	bool may = is_optional(def);

	if (def->arg && !value && !may)
		return fail(cli, STATUS_USAGE, word, "%s is missing", def->arg);
	if (def->arg && value && !*value)
		return fail(cli, STATUS_USAGE, word, "%s is empty", def->arg);
	if (def->arg && cli->args.opt[def->id])
		return fail(cli, STATUS_USAGE, word, "given twice");
	if (def->id == OPT_DEVICE)
		device_set(cli, value);
	else
		cli->args.opt[def->id] = def->arg && value ? value : "";
	if (def->id == OPT_JSON)
		cli->json = true;
	return 0;
}

static int long_option(struct cli *cli, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word) : strlen(word);
	const struct option_def *def;
	char name[64];

	def = find_option(cli->cmd, word + 2, len - 2);
	if (!def)
		return unknown_option(cli, word, len);
	snprintf(name, sizeof(name), "--%s", def->name);
	if (!def->arg)
		return eq ? fail(cli, STATUS_USAGE, name, "takes no value") :
			    take(cli, def, name, NULL);
	if (eq)
		return take(cli, def, name, eq + 1);
	return take(cli, def, name, value_behind(def, argc, argv, i));
}

static int short_options(struct cli *cli, int argc, char **argv, int *i)
{
	const char *p = argv[*i] + 1;
	const struct option_def *def;
	char name[3] = "-?";
	int ret;

	for (; *p; p++) {
		def = find_letter(cli->cmd, *p);
		name[1] = isprint((unsigned char)*p) ? *p : '?';
		if (!def)
			return unknown_option(cli, name, 2);
		if (!def->arg) {
			ret = take(cli, def, name, NULL);
			if (ret)
				return ret;
			continue;
		}
		if (p[1])
			return take(cli, def, name, p + 1);
		return take(cli, def, name, value_behind(def, argc, argv, i));
	}
	return 0;
}

/* Free text can contain negative numbers; no option looks like a negative number. */
static bool is_text(const struct cli *cli, const char *word)
{
	return cli->cmd && cli->cmd->text && *word == '-' &&
	       isdigit((unsigned char)word[1]);
}

static int positional(struct cli *cli, const char *word)
{
	if (!cli->cmd) {
		cli->cmd = find_command(cli, word);
		if (!cli->cmd)
			return unknown_command(cli, word);
		cli->verb = cli->cmd->name;
		if (cli->cmd->raw)
			cli->argc = 0;
		return 0;
	}
	if (cli->args.n == cli->cmd->max_args)
		return fail(cli, STATUS_USAGE, word,
			    "unexpected argument (see 'eadm help %s')",
			    cli->verb);
	cli->args.arg[cli->args.n++] = word;
	return 0;
}

/* Errors are printed as JSON if that is requested anywhere on the line. */
static bool asks_for_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--json") || !strcmp(argv[i], "-j"))
			return true;
	}
	return false;
}

int parse_args(struct cli *cli, int argc, char **argv)
{
	bool options = true;
	int i, ret = 0;

	cli->json = asks_for_json(argc, argv);
	cli->args.word = argv;
	for (i = 1; i < argc && !ret; i++) {
		if (cli->cmd && cli->cmd->raw) {
			cli->argc = argc - i;
			cli->argv = argv + i;
			return 0;
		}
		if (options && !strcmp(argv[i], "--"))
			options = false;
		else if (options && !strncmp(argv[i], "--", 2))
			ret = long_option(cli, argc, argv, &i);
		else if (options && argv[i][0] == '-' && argv[i][1] &&
			 !is_text(cli, argv[i]))
			ret = short_options(cli, argc, argv, &i);
		else if (cli->cmd && cli->cmd->text)
			/*
			 * Collect the words of free text at the start of argv, which
			 * has already been parsed.
			 */
			argv[cli->args.n_words++] = argv[i];
		else
			ret = positional(cli, argv[i]);
	}
	return ret;
}

/* ---- values ------------------------------------------------------------------- */

/* Parses a decimal number, or a hexadecimal one after 0x. */
bool parse_u64(const char *text, uint64_t *value)
{
	int base = strncasecmp(text, "0x", 2) ? 10 : 16;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

/*
 * Leaves @value unchanged if the option is absent. Returns false if an error was
 * reported.
 */
bool opt_u64(struct cli *cli, enum opt_id id, uint64_t *value)
{
	const char *text = cli->args.opt[id];

	if (!text || parse_u64(text, value))
		return true;
	fail(cli, STATUS_USAGE, text, "not a number");
	return false;
}

/* Parses a number of bytes, or a number followed by K, M or G. */
bool opt_size(struct cli *cli, enum opt_id id, uint64_t *size)
{
	const char *text = cli->args.opt[id], *unit;
	static const char units[] = "KMG";
	char *end;

	if (!text)
		return true;
	errno = 0;
	*size = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (isdigit((unsigned char)*text) && !errno &&
	    (!*end || (unit && !end[1])) && *size && *size < 1ULL << 33) {
		if (unit)
			*size <<= 10 * (unit - units + 1);
		return true;
	}
	fail(cli, STATUS_USAGE, text, "not a size (such as 64M)");
	return false;
}

bool parse_duration(const char *text, uint64_t unit, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 },
	};
	double number;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	number = strtod(text, &end);
	if (end == text)
		return false;
	for (i = 0; *end && i < ARRAY_SIZE(units); i++) {
		if (!strcmp(end, units[i].name)) {
			unit = units[i].ns;
			end += strlen(end);
		}
	}
	number *= unit;
	/* The condition is also false if the value is not a number. */
	if (*end || !(number >= 0 && number < 1e18))
		return false;
	*ns = number;
	return true;
}

/*
 * Parses a number with ns, us, ms, s, m or h; without a suffix, the unit is @unit ns.
 */
bool opt_duration(struct cli *cli, enum opt_id id, uint64_t unit, uint64_t *ns)
{
	const char *text = cli->args.opt[id];

	if (!text || parse_duration(text, unit, ns))
		return true;
	fail(cli, STATUS_USAGE, text,
	     "not a time (such as 500ms, 2s or 1m)");
	return false;
}

/* Writing to the file being read would destroy it. */
int check_target(struct cli *cli, const char *path)
{
	const char *from = cli->args.opt[OPT_FROM];
	struct stat source, target;
	int ret;

	if (!from || stat(path, &target) || !S_ISREG(target.st_mode))
		return 0;
	ret = strcmp(from, "-") ? stat(from, &source) :
				  fstat(STDIN_FILENO, &source);
	if (ret || source.st_dev != target.st_dev ||
	    source.st_ino != target.st_ino)
		return 0;
	return fail(cli, STATUS_USAGE, path, "is the input file of --from");
}
