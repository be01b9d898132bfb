// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "bundle/bundle.h"

static const struct option_def options[] = {
	{ OPT_OUTPUT, 'o', "output", "FILE", WORDS_FILE,
	  "create: output file ('-': standard output)" },
	{ OPT_HW, 0, "hw", NULL, WORDS_NONE,
	  "create: include the adapters' own contexts" },
	{ OPT_INTERVAL, 'i', "interval", "TIME", WORDS_ANY,
	  "create: time between the two snapshots (default: 100ms)" },
	{ OPT_MAX_TIME, 0, "max-time", "TIME", WORDS_ANY,
	  "create: stop after this time and write a partial bundle (default: 2m)" },
	{ OPT_MAX_SIZE, 0, "max-size", "SIZE", WORDS_ANY,
	  "create: size limit before compression (default: 256M)" },
	{ OPT_REDACT, 0, "redact", NULL, WORDS_NONE,
	  "create: use pseudonyms for addresses, hosts and processes" },
	{ OPT_REDACT_KEY, 0, "redact-key", "FILE", WORDS_FILE,
	  "create: like --redact, with the key in FILE (same key, same pseudonyms)" },
	{ 0 },
};

static const struct {
	const char *name;
	int (*run)(struct cli *cli);
	unsigned int args;
} verbs[] = {
	{ "create", bundle_create, 1 },
	{ "show", bundle_show, 2 },
	{ "verify", bundle_verify, 2 },
};

static int run(struct cli *cli)
{
	const char *verb = cli->args.arg[0];
	const struct option_def *def;
	char name[32];
	size_t i;

	if (!cli->args.n)
		return fail(cli, STATUS_USAGE, "bundle",
			    "missing subcommand (create, show or verify)");
	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verbs[i].name, verb))
			continue;
		if (cli->args.n > verbs[i].args)
			return fail(cli, STATUS_USAGE,
				    cli->args.arg[verbs[i].args],
				    "unexpected argument (see 'eadm help bundle')");
		for (def = options; i && def->name; def++) {
			snprintf(name, sizeof(name), "--%s", def->name);
			if (cli->args.opt[def->id])
				return fail(cli, STATUS_USAGE, name,
					    "applies to create only");
		}
		return verbs[i].run(cli);
	}
	return fail(cli, STATUS_USAGE, verb,
		    "unknown subcommand (create, show or verify)");
}

const struct command cmd_bundle = {
	.name = "bundle",
	.usage = "create | show FILE | verify FILE",
	.help = "collect everything support needs in one file",
	.more = "Every command can read a bundle with --from FILE.",
	.examples = "  eadm bundle create\n"
		    "  eadm bundle create --redact -o case-4711.tar.zst\n"
		    "  eadm bundle verify case-4711.tar.zst\n"
		    "  eadm --from case-4711.tar.zst dump qp --state err\n"
		    "  ssh HOST eadm bundle create -o - > host.tar.zst\n",
	.max_args = 2,
	.args = { WORDS_BUNDLE_VERB, WORDS_FILE },
	.options = options,
	.run = run,
};
