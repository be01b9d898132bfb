/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of the command: invocation, options, errors. */
#ifndef CLI_H
#define CLI_H

#include <eadm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(a, b) __attribute__((format(printf, a, b)))

/*
 * Returns the words that follow the count @n in a sentence: "1 change is", "2 changes
 * are".
 */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* The exit statuses are documented in eadm(1). */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_FOUND = 3,
	STATUS_PERMISSION = 4,
	STATUS_UNSUPPORTED = 5,
	STATUS_PARTIAL = 6,
	STATUS_WARNING = 7,
	STATUS_CRITICAL = 8,
};

/* ---- options ------------------------------------------------------------- */

enum opt_id {
	OPT_DEVICE,
	OPT_JSON,
	OPT_SCHEMA,
	OPT_OUTPUT,
	OPT_LIST_COLUMNS,
	OPT_FROM, OPT_PROGRAM, OPT_NO_PEERS,
	OPT_NO_COLOR,
	OPT_TIMEOUT,
	OPT_VERBOSE,
	OPT_VERSION,
	OPT_HELP,
	OPT_HW,
	OPT_PID,
	OPT_COMM,
	OPT_STATE,
	OPT_LIVE,
	OPT_INTERVAL,
	OPT_COUNT,
	OPT_FOLLOW,
	OPT_SLOWER_THAN,
	OPT_OPCODE,
	OPT_LISTEN,
	OPT_WEB_CONFIG,
	OPT_ONCE,
	OPT_TEXTFILE,
	OPT_OBJECTS,
	OPT_PROCESSES,
	OPT_PODS,
	OPT_MAX_SERIES,
	OPT_MAX_CONNECTIONS,
	OPT_DEVICE_TIMEOUT,
	OPT_NO_SECCOMP,
	OPT_MAX_TIME,
	OPT_MAX_SIZE,
	OPT_REDACT,
	OPT_REDACT_KEY,
	OPT_PEER,
	OPT_NETNS,
	OPT_CGROUP,
	OPT_SORT,
	OPT_WATCH,
	OPT_RANGE,
	OPT_AROUND,
	OPT_SUB,
	OPT_RAW,
	OPT_PAYLOAD,
	OPT_PAST,
	OPT_ALL,
	OPT_SETUP,
	OPT_RINGS,
	OPT_AT,
	OPT_SAVE,
	OPT_FORMAT,
	OPT_SINCE,
	OPT_LIST,
	OPT_DELETE,
	OPT_BATCH,
	OPT_ROWS,
	OPT_ORIGINAL,
	OPT_NO_HW,
	OPT_RULES,
	OPT_PORT,
	OPT_BIND,
	OPT_NO_CM,
	OPT_GID_INDEX,
	OPT_TESTS,
	OPT_SIZE,
	OPT_DIAGNOSE_INTERVAL,
	OPT_COLLECTORS,
	OPT_LEVEL,
	OPT_BTF,
	OPT_STRICT,
	OPT_TEXT_ONLY,
	OPT_HOSTS,
	OPT_RANK,
	OPT_RANKS,
	OPT_RENDEZVOUS,
	OPT_SECRET,
	OPT_RAILS,
	OPT_UD,
	OPT_BANDWIDTH,
	OPT_WAIT,
	OPT_OPENMETRICS,
	OPT_MAX,
};

/* Kinds of arguments of options and commands, for completion. */
enum words {
	WORDS_NONE,
	WORDS_ANY,
	WORDS_FILE,
	WORDS_DEVICE,
	WORDS_OBJECT,
	WORDS_COUNTED_OBJECT,
	WORDS_COLUMN,
	WORDS_SORT,
	WORDS_POINTER,
	WORDS_CONF_VERB,
	WORDS_CONF_PARAM,
	WORDS_STATE,
	WORDS_OPCODE,
	WORDS_COMMAND,
	WORDS_BUNDLE_VERB,
	WORDS_MARK,
	WORDS_TOP_SORT,
	WORDS_SNAPSHOT,
	WORDS_SNAPSHOT_OR_OBJECT,
	WORDS_TRACE_VERB,
	WORDS_TRACE_FORMAT,
	WORDS_PROBE_VERB,
	WORDS_PROBE_LEVEL,
	WORDS_TEST_VERB,
	WORDS_TEST,
};

struct option_def {
	enum opt_id id;
	char letter;		/* 0: none */
	const char *name;
	const char *arg;	/* NULL: none; "[TIME]": optional */
	enum words words;
	const char *help;
};

#define MAX_ARGS 8

struct cli;

struct command {
	const char *name;
	const char *usage;		/* arguments */
	const char *help;		/* one line */
	const char *more;		/* paragraph for --help */
	const char *examples;		/* lines */
	unsigned int max_args;
	enum words args[MAX_ARGS];
	const struct option_def *options;	/* terminated by a NULL name */
	const char *object;		/* object whose columns are shown, or NULL */
	const char *usual;		/* default object if no argument is given */
	bool hidden;
	bool raw;			/* receives its arguments unparsed */
	bool text;			/* takes words of free text as arguments */
	int (*run)(struct cli *cli);
};

struct args {
	const char *opt[OPT_MAX];	/* value; "": no argument; NULL: absent */
	unsigned int n;
	const char *arg[MAX_ARGS];
	char **word;			/* words of a text argument */
	unsigned int n_words;
};

extern const struct option_def global_options[];

const struct command *find_command(const struct cli *cli, const char *name);
const struct option_def *find_option(const struct command *cmd,
				     const char *name, size_t len);
const struct option_def *find_letter(const struct command *cmd, char letter);
int parse_args(struct cli *cli, int argc, char **argv);
int unknown_command(struct cli *cli, const char *name);

bool opt_u64(struct cli *cli, enum opt_id id, uint64_t *value);
bool opt_duration(struct cli *cli, enum opt_id id, uint64_t unit,
		  uint64_t *ns);
bool opt_size(struct cli *cli, enum opt_id id, uint64_t *size);
int check_target(struct cli *cli, const char *path);
bool parse_u64(const char *text, uint64_t *value);
bool parse_duration(const char *text, uint64_t unit, uint64_t *ns);

/* ---- invocation ------------------------------------------------------------ */

struct writer;

/*
 * The running program: the tool or the exporter. Commands find each other through this
 * table, so that they do not depend on the file that lists them.
 */
struct program {
	const struct command *const *commands;	/* NULL-terminated */
	/*
	 * Runs a whole command line and returns its status; a process may run several.
	 * @opened is a context in which the capture of --from is already open, or NULL.
	 */
	int (*run_line)(int argc, char **argv, struct eadm_ctx *opened);
};

#define DEVICE_NAME	64	/* longest name of a device or alias, with its NUL */

struct cli {
	const struct program *program;
	const struct command *cmd;
	const char *verb;	/* verb as typed; "" if none was given */
	struct args args;
	int argc;		/* the command line, or the rest of it for a raw command */
	char **argv;
	char device[DEVICE_NAME];	/* value of --device; opening a source resolves an alias */
	struct eadm_ctx *ctx;
	struct eadm_ctx *opened;	/* see struct program */
	unsigned int snapshot;	/* number of the snapshot being shown, from 0 */
	struct writer *writer;
	bool json;		/* format of errors reported before a writer exists */
	uint64_t began;		/* ns; time of the first progress message */
	uint64_t told;		/* ns; time of the last progress message; 0: never */
	struct eadm_capture *save;	/* capture being written for --save, or NULL */
	bool stdout_failed;	/* a failure to write to stdout was reported */
	int status;
};

extern const struct command cmd_conf, cmd_events;
extern const struct command cmd_list, cmd_info, cmd_stat, cmd_dump, cmd_trace,
	cmd_top, cmd_diagnose, cmd_check, cmd_record, cmd_mark, cmd_diff, cmd_probe,
	cmd_bundle, cmd_exporter, cmd_explain, cmd_test, cmd_ver, cmd_help,
	cmd_complete;

extern const struct program eadm_program;

int open_snapshot(struct cli *cli, const char *spec, struct eadm_ctx **ctx);
int go_to_time(struct cli *cli, struct eadm_ctx *ctx, const char *text,
	       unsigned int *snapshot);
void print_overview(const struct program *program);
void print_help(const struct command *cmd);
int print_schema(void);

/* ---- errors ------------------------------------------------------------------ */

int status_of(int error);
/* Returns true if the error means that there are no such objects, and not a failure. */
bool means_no_objects(int error);
int fail(struct cli *cli, int status, const char *what, const char *fmt, ...)
	PRINTF(4, 5);
int fail_lib(struct cli *cli, int error, const char *what);
int fail_write(struct cli *cli, const struct eadm_ctx *ctx, int error,
	       const char *path);
void progress(struct cli *cli, const char *what, unsigned long long n);
void progress_end(struct cli *cli);
void error_init(void);
void put_clean(FILE *out, const char *text, size_t len);
void note(struct cli *cli, const char *fmt, ...) PRINTF(2, 3);
const char *suggest(const char *word, const char *const *words);

struct word_list {
	const char **words;	/* NULL-terminated */
	size_t n, max;
};

void word_add(struct word_list *list, const char *word);
void word_free(struct word_list *list);
int unknown_word(struct cli *cli, const char *name, const char *what,
		 struct word_list *words, const char *hint);
const char *word_join(const struct word_list *list, char *buf, size_t size);

/* ---- objects.c --------------------------------------------------------------- */

/*
 * Returns the object named by the command's argument, or NULL after reporting an error.
 */
const struct eadm_object *need_object(struct cli *cli, const char *name);
bool can_dump(const struct eadm_object *object);	/* supported by "eadm dump" */
bool can_count(const struct eadm_object *object);	/* supported by "eadm stat" */

/* ---- machine.c --------------------------------------------------------------- */

const char *machine_text(struct eadm_ctx *ctx, const char *field, char *buf,
			 size_t size);

/* ---- device.c ---------------------------------------------------------------- */

#define DEVICE_WHY	160	/* size of a message that contains a name */

int device_find(struct cli *cli, const char *name, char *why, size_t size);
extern const char *const device_aliases[];
void device_set(struct cli *cli, const char *name);
int device_resolve(struct cli *cli, struct eadm_ctx *ctx);
int unknown_device(struct cli *cli, const char *name);

/* Tests of "eadm test client"; NULL-terminated. */
extern const char *const test_names[];

#endif /* CLI_H */
