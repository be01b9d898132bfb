// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A separate program loads and unloads the probe, because only these steps require
 * libbpf. The library reads the probe's records.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"
#include "view.h"

#define PROGRAM "eadm-probe"
#define DEFAULT_SIZE (8 << 20)

static const struct option_def options[] = {
	{ OPT_LEVEL, 0, "level", "LEVEL", WORDS_PROBE_LEVEL,
	  "method of reading kernel objects: typed, kprobe or auto (default)" },
	{ OPT_SIZE, 0, "size", "SIZE", WORDS_ANY,
	  "memory for records: bytes, K, M or G (default: 8M)" },
	{ OPT_BTF, 0, "btf", "FILE", WORDS_FILE,
	  "type information (BTF) for a kernel without it; implies --level kprobe" },
	{ 0 },
};

/* In a build folder, the program is in a subfolder. */
static void run_program(char *const *argv)
{
	static const char below[] = "../libeadm/source/probe/load/" PROGRAM;
	char path[PATH_MAX + sizeof(below)], *slash;
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);

	if (len > 0) {
		path[len] = '\0';
		slash = strrchr(path, '/');
		if (slash) {
			strcpy(slash + 1, below);
			execv(path, argv);
		}
	}
	execv(EADM_LIBEXECDIR "/" PROGRAM, argv);
	_exit(EOPNOTSUPP);
}

struct child {
	pid_t pid;
	int in, out, err;	/* our ends of the program's pipes */
};

static int start_child(struct child *child, char *const *argv)
{
	int pipes[3][2], i;

	for (i = 0; i < 3; i++) {
		if (pipe2(pipes[i], O_CLOEXEC))
			return -errno;
	}
	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (!child->pid) {
		dup2(pipes[0][0], STDIN_FILENO);
		dup2(pipes[1][1], STDOUT_FILENO);
		dup2(pipes[2][1], STDERR_FILENO);
		run_program(argv);
	}
	close(pipes[0][0]);
	close(pipes[1][1]);
	close(pipes[2][1]);
	child->in = pipes[0][1];
	child->out = pipes[1][0];
	child->err = pipes[2][0];
	return 0;
}

/* On failure, the program prints one line. */
static int end_child(struct cli *cli, struct child *child, const char *verb)
{
	char why[512];
	size_t len = 0;
	ssize_t got;
	int status;

	while (len < sizeof(why) - 1) {
		got = read(child->err, why + len, sizeof(why) - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += got;
	}
	/* Closed before its end, this undoes a start. */
	if (child->in >= 0)
		close(child->in);
	close(child->out);
	close(child->err);
	why[len] = '\0';
	why[strcspn(why, "\n")] = '\0';
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return STATUS_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EOPNOTSUPP && !len)
		return fail(cli, STATUS_UNSUPPORTED, verb,
			    "%s is not available: eadm was built without the probe",
			    PROGRAM);
	return fail(cli, WIFEXITED(status) ? status_of(-WEXITSTATUS(status)) :
					     STATUS_FAILED,
		    verb, "%s", len ? why : WIFEXITED(status) ? PROGRAM " failed" :
							PROGRAM " was killed");
}

static int run_loader(struct cli *cli, const char *verb, uint64_t bytes)
{
	const char *btf = cli->args.opt[OPT_BTF];
	const char *level = cli->args.opt[OPT_LEVEL];
	bool stays = !strcmp(verb, "run");
	struct child child = { 0 };
	char size[24], ready;
	char *argv[6] = { PROGRAM };
	int ret;

	snprintf(size, sizeof(size), "%" PRIu64, bytes);
	argv[1] = (char *)verb;
	argv[2] = (char *)(btf ? "kprobe" : level ? level : "auto");
	argv[3] = size;
	argv[4] = (char *)btf;
	ret = start_child(&child, argv);
	if (ret)
		return fail(cli, STATUS_FAILED, verb, "%s", strerror(-ret));
	if (stays && read(child.out, &ready, 1) > 0) {
		note(cli, "recording until interrupted");
		catch_signals();
		while (!interrupted && read(child.err, &ready, 1) < 0 &&
		       errno == EINTR)
			;
		close(child.in);
		child.in = -1;
	}
	return end_child(cli, &child, verb);
}

static int show_status(struct cli *cli)
{
	struct view view;
	int status = view_init(cli, eadm_object_find("probe"), false, &view);

	view.table.layout = LAYOUT_FIELDS;
	if (!status)
		status = view_run(cli, &view);
	view_free(&view);
	return status;
}

static int unknown_verb(struct cli *cli, const char *verb)
{
	const char *const words[] = { "start", "stop", "status", "run", NULL };
	const char *near = verb ? suggest(verb, words) : NULL;

	if (near)
		return fail(cli, STATUS_USAGE, verb,
			    "unknown subcommand (did you mean '%s'?)", near);
	return fail(cli, STATUS_USAGE, verb ? verb : "probe",
		    "%s subcommand (start, stop, status or run)",
		    verb ? "unknown" : "missing");
}

static int check(struct cli *cli, bool loads)
{
	const char *level = cli->args.opt[OPT_LEVEL];

	if (cli->args.opt[OPT_DEVICE])
		return fail(cli, STATUS_USAGE, "--device",
			    "the probe always records all devices");
	if (!loads && (level || cli->args.opt[OPT_SIZE] || cli->args.opt[OPT_BTF]))
		return fail(cli, STATUS_USAGE,
			    level ? "--level" : cli->args.opt[OPT_SIZE] ?
			    "--size" : "--btf", "applies to start and run only");
	if (level && strcmp(level, "auto") && strcmp(level, "typed") &&
	    strcmp(level, "kprobe"))
		return fail(cli, STATUS_USAGE, level,
			    "unknown level (auto, typed or kprobe)");
	if (level && cli->args.opt[OPT_BTF] && strcmp(level, "kprobe"))
		return fail(cli, STATUS_USAGE, "--btf",
			    "requires --level kprobe");
	return STATUS_OK;
}

static int run(struct cli *cli)
{
	const char *verb = cli->args.n ? cli->args.arg[0] : NULL;
	uint64_t bytes = DEFAULT_SIZE;
	bool loads;
	int status;

	if (!verb || (strcmp(verb, "start") && strcmp(verb, "stop") &&
		      strcmp(verb, "status") && strcmp(verb, "run")))
		return unknown_verb(cli, verb);
	loads = !strcmp(verb, "start") || !strcmp(verb, "run");
	status = check(cli, loads);
	if (status)
		return status;
	if (!strcmp(verb, "status"))
		return show_status(cli);
	if (cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, "--from", "cannot be used with probe");
	if (!opt_size(cli, OPT_SIZE, &bytes))
		return STATUS_USAGE;
	if (!bytes || bytes > 1ULL << 30)
		return fail(cli, STATUS_USAGE, "--size", "must be greater than 0 and at most 1G");
	return run_loader(cli, verb, bytes);
}

const struct command cmd_probe = {
	.name = "probe",
	.usage = "start|stop|status|run",
	.help = "use BPF to record verbs, connections and events of any driver",
	.more = "'start' loads BPF programs into the kernel. They record until 'stop'\n"
		"removes them; no process has to keep running. 'run' records until it is\n"
		"interrupted. The commands 'trace', 'events', 'diagnose' and 'record' and\n"
		"the exporter read the records. 'start' and 'run' require root or\n"
		"CAP_SYS_ADMIN; root and members of the group eadm can read the records.",
	.examples = "  eadm probe start\n"
		    "  eadm probe status\n"
		    "  eadm trace --sort latency:desc\n"
		    "  eadm events --past\n"
		    "  eadm probe start --size 16M\n"
		    "  eadm probe stop\n",
	.max_args = 1,
	.args = { WORDS_PROBE_VERB },
	.options = options,
	.object = "probe",
	.run = run,
};
