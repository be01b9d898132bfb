// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "view.h"

static const struct option_def options[] = {
	SORT_OPTION,
	{ 0 },
};

static const struct eadm_object *conf_object(void)
{
	return eadm_object_find("conf");
}

static int find_param(struct cli *cli, const char *name, uint64_t *param)
{
	const struct eadm_field *field =
		eadm_object_find_field(conf_object(), "param");
	struct word_list words = { 0 };
	const char *word;
	unsigned int i;

	if (!eadm_field_value_find(field, name, param))
		return 0;
	for (i = 0; (word = eadm_field_value_at(field, i, NULL)); i++)
		word_add(&words, word);
	return unknown_word(cli, name, "unknown setting", &words,
			    "see 'eadm conf list'");
}

/* Parses a time, which requires a unit: a bare "3.5" is not a time. */
static bool is_duration(const char *text, uint64_t *ns)
{
	size_t len = strlen(text);

	return len && isalpha((unsigned char)text[len - 1]) &&
	       parse_duration(text, 1, ns);
}

static bool is_flags(const struct eadm_field *field)
{
	return field && eadm_field_kind(field) == EADM_KIND_FLAGS;
}

/* Parses names of flags separated by commas, or "none". */
static bool is_set_of_flags(const struct eadm_field *field, const char *text,
			    uint64_t *value)
{
	char *words, *word, *rest;
	uint64_t flag;
	bool ok = true;

	if (!is_flags(field))
		return false;
	*value = 0;
	if (!strcmp(text, "none"))
		return true;
	words = rest = strdup(text);
	while (ok && (word = strsep(&rest, ","))) {
		ok = !eadm_field_value_find(field, word, &flag);
		*value |= ok ? flag : 0;
	}
	ok = ok && words;
	free(words);
	return ok;
}

/*
 * Parses a number, a time such as 500ms, or names of values if the setting has names.
 */
static int find_value(struct cli *cli, const char *param,
		      const struct eadm_field *field, const char *text,
		      uint64_t *value)
{
	struct word_list words = { 0 };
	const char *near, *word;
	char all[200];
	unsigned int i;

	if (parse_u64(text, value) || is_duration(text, value) ||
	    is_set_of_flags(field, text, value) ||
	    (field && !eadm_field_value_find(field, text, value)))
		return 0;
	for (i = 0; field && (word = eadm_field_value_at(field, i, NULL)); i++)
		word_add(&words, word);
	near = suggest(text, words.words);
	word_join(&words, all, sizeof(all));
	if (near)
		fail(cli, STATUS_USAGE, text,
		     "invalid value for %s (did you mean '%s'?)", param, near);
	else if (*all)
		fail(cli, STATUS_USAGE, text, "invalid value for %s (%s)", param,
		     all);
	else
		fail(cli, STATUS_USAGE, text,
		     "invalid value for %s (expected a number, or a time such as 500ms)",
		     param);
	word_free(&words);
	return STATUS_USAGE;
}

/* Reads the maximum that the device's driver reports for a setting. */
static int find_highest(struct cli *cli, const char *device, uint64_t param,
			uint64_t *value)
{
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts),
		.device = device,
		.has_id = true,
		.id = param,
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	bool known = false;
	int ret;

	ret = eadm_dump_open(cli->ctx, conf_object(), &opts, &dump);
	if (ret)
		return fail_lib(cli, ret, device);
	if (eadm_dump_next(dump, &record) > 0)
		known = !eadm_record_u64(record,
					 eadm_object_find_field(conf_object(), "highest"),
					 value);
	eadm_dump_close(dump);
	return known ? STATUS_OK :
		       fail(cli, STATUS_UNSUPPORTED, device, "does not support this setting");
}

/* Returns the name of the device given by --device, or of the only device. */
static char *the_device(struct cli *cli)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field =
		eadm_object_find_field(object, "dev-name");
	const char *only = cli->args.opt[OPT_DEVICE];
	const struct eadm_record *record;
	struct eadm_dump *dump;
	unsigned int n = 0;
	char *name = NULL;

	if (only)
		return strdup(only);
	if (eadm_dump_open(cli->ctx, object, NULL, &dump)) {
		fail(cli, STATUS_NOT_FOUND, "devices", "%s",
		     eadm_errmsg(cli->ctx));
		return NULL;
	}
	while (eadm_dump_next(dump, &record) > 0) {
		if (!n++)
			name = strdup(eadm_record_string(record, field));
	}
	eadm_dump_close(dump);
	if (n == 1)
		return name;
	fail(cli, STATUS_USAGE, "--device",
	     n ? "required, because there are several devices" : "no device has settings that can be changed");
	free(name);
	return NULL;
}

static int show(struct cli *cli, const uint64_t *param, const char *name,
		const char *device)
{
	struct view view;
	int status;

	status = view_init(cli, conf_object(), false, &view);
	if (param) {
		view.opts.has_id = true;
		view.opts.id = *param;
		view.setting = name;
	}
	if (device)
		view.opts.device = device;
	if (!status && !cli->ctx)
		status = open_source(cli);
	if (!status) {
		status = view_show(cli, &view);
		status = write_end(cli, status);
	}
	view_free(&view);
	return status;
}

static int change(struct cli *cli, const char *device, const char *name,
		  uint64_t param, uint64_t value)
{
	uint64_t now;
	int ret;

	ret = eadm_conf_set(cli->ctx, device, param, value, &now);
	if (ret)
		return fail_lib(cli, ret, name);
	if (now != value)
		return fail(cli, STATUS_FAILED, name,
			    "set to %llu, but the driver reports %llu",
			    (unsigned long long)value, (unsigned long long)now);
	return STATUS_OK;
}

static int set(struct cli *cli, const char *name, const char *text)
{
	/* The device's field of the same name has the names of the setting's values. */
	const struct eadm_field *field =
		eadm_object_find_field(eadm_object_find("dev"), name);
	/* The driver reports which flags exist. */
	bool all = is_flags(field) && !strcmp(text, "all");
	uint64_t param, value = 0;
	char *device;
	int status;

	status = find_param(cli, name, &param);
	if (!status && !all)
		status = find_value(cli, name, field, text, &value);
	if (!status)
		status = open_source(cli);
	if (status)
		return status;
	device = the_device(cli);
	if (!device)
		return cli->args.opt[OPT_DEVICE] ? STATUS_FAILED : STATUS_USAGE;
	if (all)
		status = find_highest(cli, device, param, &value);
	if (!status)
		status = change(cli, device, name, param, value);
	if (!status)
		status = show(cli, &param, name, device);
	free(device);
	return status;
}

/* SETTING=VALUE */
static int set_pair(struct cli *cli, const char *pair)
{
	const char *equal = strchr(pair, '=');
	char *name;
	int status;

	if (!equal)
		return fail(cli, STATUS_USAGE, pair, "missing value (SETTING=VALUE)");
	name = strndup(pair, equal - pair);
	if (!name)
		return fail(cli, STATUS_FAILED, "memory", "out of memory");
	status = set(cli, name, equal + 1);
	free(name);
	return status;
}

static int run(struct cli *cli)
{
	const char *const verbs[] = { "list", "get", "set", NULL };
	const char *verb = cli->args.n ? cli->args.arg[0] : "list", *near;
	uint64_t param;
	int status;

	if (!strcmp(verb, "list") && cli->args.n <= 1)
		return show(cli, NULL, NULL, NULL);
	if (!strcmp(verb, "get") && cli->args.n == 2) {
		status = find_param(cli, cli->args.arg[1], &param);
		return status ? status : show(cli, &param, cli->args.arg[1], NULL);
	}
	if (!strcmp(verb, "set") && cli->args.n == 3)
		return set(cli, cli->args.arg[1], cli->args.arg[2]);
	if (!strcmp(verb, "set") && cli->args.n == 2)
		return set_pair(cli, cli->args.arg[1]);
	near = suggest(verb, verbs);
	if (near && strcmp(near, verb) != 0)
		return fail(cli, STATUS_USAGE, verb,
			    "unknown subcommand (did you mean '%s'?)", near);
	return fail(cli, STATUS_USAGE, verb,
		    "expected list, get SETTING, set SETTING VALUE or set SETTING=VALUE");
}

const struct command cmd_conf = {
	.name = "conf",
	.usage = "[list | get SETTING | set SETTING VALUE]",
	.help = "show and change settings of an adapter",
	.more = "A change requires CAP_NET_ADMIN and lasts until the driver is\n"
		"reloaded. The value printed after a change is read back from\n"
		"the driver.",
	.examples = "  eadm conf\n"
		    "  eadm conf get cc\n"
		    "  eadm conf set cc cubic -d cloud_0\n"
		    "  eadm conf set retrans-num 48 -d cloud_0\n"
		    "  eadm conf set cmd-timeout 5s -d cloud_0\n"
		    "  eadm conf set debug=cm,qp -d cloud_0\n",
	.max_args = 3,
	.args = { WORDS_CONF_VERB, WORDS_CONF_PARAM, WORDS_ANY },
	.options = options,
	.object = "conf",
	.run = run,
};
