// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates a bundle. Cheap and safe parts are collected first, each part has its own
 * time limit, and the manifest lists the parts that could not be collected.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../out/writer.h"
#include "../signals.h"
#include "bundle.h"

#define FACT_MS 5000
#define MAX_KEY 64

/* ---- redaction ------------------------------------------------------------------ */

/*
 * Reads up to MAX_KEY bytes. A pipe returns at once what its writer has written so far.
 * Returns the number of bytes, or -1.
 */
static ssize_t read_file(const char *path, unsigned char *key)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1, len = 0;

	while (n > 0 && len < MAX_KEY) {
		n = read(fd, key + len, MAX_KEY - len);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			len += n;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : len;
}

/*
 * Reads a key of at least 16 bytes from a file, or generates a random one that is not
 * stored.
 */
static int read_key(struct bundle *b, const char *path, unsigned char *key,
		    size_t *len)
{
	ssize_t n;

	if (!path) {
		*len = 32;
		return getrandom(key, *len, 0) == (ssize_t)*len ? 0 :
			fail(b->cli, STATUS_FAILED, "--redact",
			     "cannot get random numbers");
	}
	n = read_file(path, key);
	if (n < 0)
		return fail(b->cli, errno == EACCES ? STATUS_PERMISSION :
						      STATUS_FAILED,
			    path, "%s", strerror(errno));
	if (n < 16)
		return fail(b->cli, STATUS_FAILED, path,
			    "a key must have at least 16 bytes");
	/* /dev/zero, or a file that was never written */
	if (!memcmp(key, key + 1, n - 1))
		return fail(b->cli, STATUS_FAILED, path,
			    "all bytes of the key are the same");
	*len = n;
	return 0;
}

static bool is_device(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	if (!access(path, F_OK))
		return true;
	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	return !access(path, F_OK);
}

/*
 * Adds the names of running programs, but not of kernel threads, nor names that are those
 * of devices, too.
 */
static void learn_processes(struct eadm_redactor *r)
{
	DIR *proc = opendir("/proc");
	char path[64], name[64];
	struct dirent *entry;
	FILE *file;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/cmdline",
			 entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgetc(file) == EOF) {
			fclose(file);
			continue;
		}
		fclose(file);
		snprintf(path, sizeof(path), "/proc/%.16s/comm",
			 entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file)) {
			name[strcspn(name, "\n")] = '\0';
			if (!is_device(name))
				eadm_redactor_process(r, name);
		}
		if (file)
			fclose(file);
	}
	if (proc)
		closedir(proc);
}

/* Adds the names of this machine and of the other machines in /etc/hosts. */
static void learn_hosts(struct eadm_redactor *r)
{
	static const char blanks[] = " \t\r\n";
	FILE *file = fopen("/etc/hosts", "re");
	char line[1024], *name, *save, *text;
	size_t len;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#")] = '\0';
		name = strtok_r(line, blanks, &save);
		/*
		 * Redacting an address makes it known, so that it is also recognized in
		 * hexadecimal.
		 */
		if (!name || eadm_redactor_text(r, name, strlen(name), &text,
						&len))
			continue;
		free(text);
		while ((name = strtok_r(NULL, blanks, &save))) {
			if (strncasecmp(name, "localhost", 9) &&
			    strncasecmp(name, "ip6-", 4))
				eadm_redactor_host(r, name);
		}
	}
	if (file)
		fclose(file);
}

/*
 * Adds the addresses of this machine. The parts that are collected first may contain them
 * in forms that only identify known addresses.
 */
static void learn_addresses(struct eadm_redactor *r)
{
	static const char *const patterns[] = {
		"/sys/class/infiniband/*/node_guid",
		"/sys/class/infiniband/*/sys_image_guid",
		"/sys/class/infiniband/*/ports/*/gids/*",
		"/sys/class/net/*/address",
	};
	char line[128], *text;
	glob_t found = { 0 };
	size_t i, len;
	FILE *file;

	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	for (i = 0; i < found.gl_pathc; i++) {
		file = fopen(found.gl_pathv[i], "re");
		if (file && fgets(line, sizeof(line), file) &&
		    !eadm_redactor_text(r, line, strlen(line), &text, &len))
			free(text);
		if (file)
			fclose(file);
	}
	globfree(&found);
}

static int open_redactor(struct bundle *b)
{
	const char *path = b->cli->args.opt[OPT_REDACT_KEY];
	unsigned char key[MAX_KEY];
	struct utsname uts;
	size_t len;
	int status;

	if (!path && !b->cli->args.opt[OPT_REDACT])
		return STATUS_OK;
	status = read_key(b, path, key, &len);
	if (status)
		return status;
	if (eadm_redactor_open(b->ctx, key, len, &b->redactor))
		return fail(b->cli, STATUS_FAILED, "--redact", "%s",
			    eadm_errmsg(b->ctx));
	explicit_bzero(key, sizeof(key));
	if (!uname(&uts))
		eadm_redactor_host(b->redactor, uts.nodename);
	learn_hosts(b->redactor);
	if (!b->from)
		learn_addresses(b->redactor);
	learn_processes(b->redactor);
	return STATUS_OK;
}

/* ---- options ---------------------------------------------------------------------- */

/* Returns "eadm-HOST-TIME.tar.zst", in the current folder. */
static char *default_name(struct bundle *b)
{
	char host[65] = "unknown", date[32], *name = NULL, *redacted = NULL;
	time_t now = time(NULL);
	struct utsname uts;
	size_t len, i;

	if (!uname(&uts))
		snprintf(host, sizeof(host), "%.64s", uts.nodename);
	if (b->redactor &&
	    !eadm_redactor_text(b->redactor, host, strlen(host), &redacted,
				&len)) {
		snprintf(host, sizeof(host), "%s", redacted);
		free(redacted);
	}
	for (i = 0; host[i]; i++) {
		if (!isalnum((unsigned char)host[i]) && host[i] != '-')
			host[i] = '_';
	}
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", localtime(&now));
	if (asprintf(&name, "eadm-%s-%s.tar.zst", host, date) < 0)
		return NULL;
	return name;
}

/* ---- collection ------------------------------------------------------------------- */

static int collect_facts(struct bundle *b, const struct fact_source *source)
{
	struct part *part;
	int fd, ret = 0;

	for (; source->name && !ret && !interrupted; source++) {
		part = bundle_part(b, source->name, source->what);
		if (!part)
			return fail(b->cli, STATUS_FAILED, source->name,
				    "out of memory");
		fd = bundle_run(b, part, FACT_MS, source->collect, NULL);
		ret = bundle_keep(b, part, fd,
				  source->log ? REDACT_LOG : REDACT_FACTS);
		if (fd >= 0)
			close(fd);
	}
	return ret;
}

/*
 * A bundle created from a capture contains no facts about the machine on which it is
 * created.
 */
static int collect(struct bundle *b)
{
	int ret = 0;

	if (!b->from)
		ret = collect_facts(b, facts_before);
	if (!ret && !interrupted)
		ret = bundle_capture(b);
	if (!ret && !interrupted)
		ret = bundle_renderings(b);
	if (!ret && !b->from && !interrupted)
		ret = collect_facts(b, facts_after);
	if (!ret && !interrupted)
		ret = bundle_manifest(b);
	if (interrupted)
		ret = fail(b->cli, STATUS_FAILED, "interrupted",
			   "no bundle was written");
	return ret;
}

static bool complete(const struct bundle *b)
{
	unsigned int i;

	for (i = 0; i < b->n_parts; i++) {
		if (b->parts[i].outcome != OUTCOME_OK &&
		    b->parts[i].outcome != OUTCOME_ABSENT)
			return false;
	}
	return true;
}

static void tell(struct bundle *b, const char *path)
{
	unsigned int i, missing = 0;

	for (i = 0; i < b->n_parts; i++) {
		const struct part *part = &b->parts[i];

		if (part->outcome == OUTCOME_OK ||
		    part->outcome == OUTCOME_ABSENT)
			continue;
		missing++;
		note(b->cli, "%s: %s: %s", part->name,
		     outcome_names[part->outcome],
		     part->why ? part->why : "reason unknown");
	}
	if (missing)
		note(b->cli, "%s was written, but %u of %u parts %s incomplete",
		     path, missing, b->n_parts, plural(missing, "is", "are"));
	else
		note(b->cli, "%s: written, %u %s", path, b->n_parts,
		     plural(b->n_parts, "part", "parts"));
}

static int write_bundle(struct bundle *b, const char *path)
{
	bool stream = !strcmp(path, "-");
	int status = check_target(b->cli, path), ret;

	if (status)
		return status;
	ret = eadm_bundle_writer_open(b->ctx, path, &b->pack);
	if (ret)
		return fail(b->cli, status_of(ret) == STATUS_NOT_FOUND ?
				    STATUS_FAILED : status_of(ret),
			    path, "%s", eadm_errmsg(b->ctx));
	catch_signals();
	status = collect(b);
	bundle_worker_end(b);
	ret = eadm_bundle_writer_close(b->pack, !status);
	if (status)
		return status;
	if (ret)
		return fail_write(b->cli, b->ctx, ret, path);
	tell(b, stream ? "standard output" : path);
	return complete(b) ? STATUS_OK : STATUS_PARTIAL;
}

static void release(struct bundle *b)
{
	unsigned int i;

	for (i = 0; i < b->n_parts; i++)
		free(b->parts[i].why);
	free(b->parts);
	if (b->capture >= 0)
		close(b->capture);
	eadm_redactor_close(b->redactor);
	eadm_free(b->ctx);
}

int bundle_create(struct cli *cli)
{
	struct bundle b = {
		.cli = cli,
		.from = cli->args.opt[OPT_FROM],
		.peer = cli->args.opt[OPT_PROGRAM],
		.no_peers = cli->args.opt[OPT_NO_PEERS],
		.hw = cli->args.opt[OPT_HW] != NULL,
		.progress = isatty(STDERR_FILENO) ||
			    cli->args.opt[OPT_VERBOSE],
		.interval = 100000000,
		.timeout = 3000000000,
		.max_time = 120000000000,
		.max_size = 256 << 20,
		.begin = monotonic_ns(),
		.capture = -1,
	};
	const char *path = cli->args.opt[OPT_OUTPUT];
	char *name = NULL;
	int status;

	if (!opt_duration(cli, OPT_INTERVAL, 1000000000, &b.interval) ||
	    !opt_duration(cli, OPT_TIMEOUT, 1000000000, &b.timeout) ||
	    !opt_duration(cli, OPT_MAX_TIME, 1000000000, &b.max_time) ||
	    !opt_size(cli, OPT_MAX_SIZE, &b.max_size))
		return STATUS_USAGE;
	if (b.timeout < 1000000 || b.timeout / 1000000 > 86400000)
		return fail(cli, STATUS_USAGE, "--timeout",
			    "must be from 1ms to 24h");
	if (!b.max_time || b.max_time > 86400000000000)
		return fail(cli, STATUS_USAGE, "--max-time",
			    "must be greater than 0 and at most 24h");
	if (cli->args.opt[OPT_DEVICE])
		return fail(cli, STATUS_USAGE, "--device",
			    "a bundle always includes all devices");
	if (cli->args.opt[OPT_AT])
		return fail(cli, STATUS_USAGE, "--at",
			    "a bundle always includes all snapshots");
	if (cli->args.opt[OPT_SAVE])
		return fail(cli, STATUS_USAGE, "--save",
			    "cannot be used with create: a bundle includes a capture");
	if (path && !strcmp(path, "-") && cli->args.opt[OPT_JSON])
		return fail(cli, STATUS_USAGE, "--json",
			    "standard output is used for the bundle");
	if (path && !strcmp(path, "-") && isatty(STDOUT_FILENO))
		return fail(cli, STATUS_USAGE, "-",
			    "refusing to write a bundle to a terminal");
	b.deadline = b.begin + b.max_time;
	b.ctx = eadm_new();
	if (!b.ctx)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	status = open_redactor(&b);
	if (!status && !path) {
		name = default_name(&b);
		path = name;
	}
	if (!status)
		status = path ? write_bundle(&b, path) :
				fail(cli, STATUS_FAILED, "start",
				     "out of memory");
	free(name);
	release(&b);
	return status;
}
