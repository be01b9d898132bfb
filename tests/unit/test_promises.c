// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the public headers promise: errors, ownership, limits, threads. Uses the
 * library as a program does. Each test is about the sentence of a header that
 * its comment names.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eadm.h"
#include "tap.h"

static const char *folder;	/* of captures */
static char work[64];		/* for files, empty */

static const char *in_work(const char *name)
{
	static char path[2][128];
	static unsigned int n;

	n = !n;
	snprintf(path[n], sizeof(path[n]), "%s/%s", work, name);
	return path[n];
}

static struct eadm_ctx *from(const char *name)
{
	struct eadm_ctx *ctx = eadm_new();
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.pcapng", folder, name);
	if (!ctx || eadm_open_file(ctx, path))
		abort();
	return ctx;
}

/* Number of rows, or the error. */
static int count(struct eadm_ctx *ctx, const char *object,
		 const struct eadm_dump_opts *opts)
{
	const struct eadm_record *row;
	struct eadm_dump *dump;
	int n = 0, ret;

	ret = eadm_dump_open(ctx, eadm_object_find(object), opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &row)) > 0)
		n++;
	eadm_dump_close(dump);
	return ret ? ret : n;
}

/* eadm_errmsg(): "" if nothing has failed yet; a sentence about the last error. */
static void last_error(void)
{
	struct eadm_ctx *ctx = from("two");
	struct eadm_dump_opts opts = { .size = sizeof(opts), .device = "none_0" };

	ok(!*eadm_errmsg(ctx), "without an error, the sentence is empty");
	ok(count(ctx, "qp", &opts) == -ENODEV &&
		   *eadm_errmsg(ctx) &&
		   !strchr(eadm_errmsg(ctx), '\n'),
	   "an unknown device is -ENODEV, with a sentence that has no newline");
	eadm_free(ctx);
}

static void keep_line(void *data, enum eadm_log_level level, const char *line)
{
	unsigned int *lines = data;

	lines[level] += !strchr(line, '\n');
}

/* eadm_set_log(): @fn receives lines of this level and more important ones. */
static void logged(void)
{
	unsigned int lines[EADM_LOG_DEBUG + 1] = { 0 };
	struct eadm_ctx *ctx = from("stock");

	eadm_set_log(ctx, EADM_LOG_WARNING, keep_line, lines);
	count(ctx, "qp", NULL);
	ok(!lines[EADM_LOG_INFO], "a log of warnings has nothing less important");
	eadm_set_log(ctx, EADM_LOG_INFO, keep_line, lines);
	count(ctx, "qp", NULL);
	ok(lines[EADM_LOG_INFO] == 1, "a log has lines of its level");
	eadm_set_log(ctx, EADM_LOG_DEBUG, NULL, NULL);
	count(ctx, "qp", NULL);
	ok(lines[EADM_LOG_INFO] == 1, "without a function, it is silent");
	eadm_free(ctx);
}

/* eadm.h: strings and structs that the caller passes are copied if they are needed. */
static void copied(void)
{
	struct eadm_ctx *ctx = from("two");
	const struct eadm_record *row;
	struct eadm_dump_opts *opts = calloc(1, sizeof(*opts));
	char *device, *path = strdup(in_work("copied"));
	struct eadm_capture *capture;
	struct eadm_dump *dump;
	int n = 0, want;

	eadm_scan(ctx);
	device = strdup(eadm_device_name(ctx, 1));
	*opts = (struct eadm_dump_opts){ .size = sizeof(*opts), .device = device };
	want = count(ctx, "qp", opts);
	if (eadm_dump_open(ctx, eadm_object_find("qp"), opts, &dump))
		abort();
	memset(device, 'x', strlen(device));
	memset(opts, 0xff, sizeof(*opts));
	free(device);
	free(opts);
	while (eadm_dump_next(dump, &row) > 0)
		n++;
	eadm_dump_close(dump);
	ok(n == want && n > 0, "options may be freed once the dump is open");

	if (eadm_capture_open(ctx, path, NULL, &capture))
		abort();
	memset(path, 'x', strlen(path));
	free(path);
	ok(!eadm_capture_close(capture, true) && !unlink(in_work("copied")),
	   "a path may be freed once the capture is open");
	eadm_free(ctx);
}

/* eadm_capture_flush(): a failure to write is reported before the capture is closed. */
static void flushed(void)
{
	struct eadm_ctx *ctx = from("two");
	struct eadm_capture *capture;

	if (eadm_capture_open(ctx, in_work("flushed"), NULL, &capture))
		abort();
	ok(!eadm_capture_flush(capture) && !eadm_capture_flush(capture) &&
		   !eadm_capture_close(capture, false),
	   "what was read is written");
	if (eadm_capture_open(ctx, "/dev/full", NULL, &capture))
		abort();
	ok(eadm_capture_flush(capture) == -ENOSPC && *eadm_errmsg(ctx) &&
		   eadm_capture_flush(capture) == -ENOSPC &&
		   eadm_capture_close(capture, true) == -ENOSPC,
	   "a full disk is reported at once, and when the capture is closed");
	eadm_free(ctx);
}

/* eadm_capture_open(): eadm_free() drops the capture. */
static void dropped(void)
{
	struct eadm_ctx *ctx = from("two");
	struct eadm_capture *capture;

	ok(!eadm_capture_open(ctx, in_work("dropped"), NULL, &capture) &&
		   !eadm_capture_all(capture, false),
	   "a capture is being written");
	eadm_free(ctx);
	ok(access(in_work("dropped"), F_OK), "freeing its context leaves no file");
	ok(!eadm_capture_close(NULL, true), "closing no capture succeeds");
	ctx = eadm_new();
	ok(eadm_capture_open(ctx, in_work("dropped"), NULL, &capture) == -EINVAL,
	   "a context that is not open writes no capture");
	eadm_free(ctx);
}

/* All _free and _close: "or NULL". */
static void nothing(void)
{
	eadm_free(NULL);
	eadm_dump_close(NULL);
	eadm_record_free(NULL);
	eadm_trace_close(NULL);
	eadm_events_close(NULL);
	eadm_bundle_close(NULL);
	eadm_redactor_close(NULL);
	eadm_diagnosis_free(NULL);
	ok(true, "NULL can be closed and freed");
}

/* eadm_dump_opts: "the fields that rows need to have; others may be missing". */
static void selected(void)
{
	const struct eadm_object *qp = eadm_object_find("qp");
	const struct eadm_field *const fields[] = {
		eadm_object_find_field(qp, "qpn"),
		eadm_object_find_field(qp, "state"), NULL,
	};
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = "cloud_0", .fields = fields,
	};
	struct eadm_ctx *ctx = from("two");
	const struct eadm_record *row;
	struct eadm_value values[8];
	struct eadm_dump *dump;
	bool right = true;
	int n = 0;

	if (eadm_dump_open(ctx, qp, &opts, &dump))
		abort();
	for (; eadm_dump_next(dump, &row) > 0; n++)
		right &= eadm_record_values(row, values, 8) == 2 &&
			 values[0].field == fields[0] &&
			 values[1].field == fields[1];
	eadm_dump_close(dump);
	opts.fields = NULL;
	ok(n > 0 && n == count(ctx, "qp", &opts) && right,
	   "rows of one device have the selected fields only");
	eadm_free(ctx);
}

static int sampled(struct eadm_ctx *ctx, unsigned int groups)
{
	struct eadm_sample_opts opts = { .size = sizeof(opts), .groups = groups };
	struct eadm_diagnosis *diagnosis = eadm_diagnosis_new();
	int ret = eadm_diagnosis_sample(diagnosis, ctx, &opts);

	eadm_diagnosis_free(diagnosis);
	return ret;
}

static int of_states(struct eadm_ctx *ctx, uint64_t states)
{
	struct eadm_command_opts commands = {
		.size = sizeof(commands), .states = states,
	};
	struct eadm_dump_opts opts = { .size = sizeof(opts), .commands = &commands };

	return count(ctx, "cmd", &opts);
}

/* eadm.h: "-E2BIG for unknown bits of a mask, and -EINVAL for an unknown value". */
static void unknown_values(void)
{
	struct eadm_trace_opts trace_opts = {
		.size = sizeof(trace_opts), .has_op = true, .op = 1ULL << 32,
	};
	struct eadm_ctx *ctx = from("sick");
	struct eadm_trace *trace;
	uint64_t now;

	ok(sampled(ctx, 4) == -E2BIG && sampled(ctx, 7) == -E2BIG && !sampled(ctx, 3),
	   "an unknown group of rules is refused");
	ok(of_states(ctx, 1ULL << 40) == -E2BIG && of_states(ctx, 1ULL << 6 | 1) == -E2BIG &&
		   of_states(ctx, 0x3f) > 0,
	   "an unknown state of commands is refused");
	ok(eadm_trace_open(ctx, "cloud_0", &trace_opts, &trace) == -EINVAL,
	   "an unknown type of commands is refused");
	ok(eadm_conf_set(ctx, "cloud_0", 1ULL << 32, 1, &now) == -EINVAL,
	   "an unknown setting is refused");
	eadm_free(ctx);
}

/* eadm_capture_omit_secrets(): "-EINVAL if the capture already contains a snapshot". */
static void omitted(void)
{
	struct eadm_ctx *ctx = from("two");
	struct eadm_capture *capture;

	if (eadm_capture_open(ctx, in_work("omitted"), NULL, &capture))
		abort();
	ok(!eadm_capture_omit_secrets(capture) && !eadm_capture_all(capture, false) &&
		   !eadm_capture_omit_secrets(capture),
	   "keys can be left out before the first snapshot");
	eadm_capture_close(capture, false);
	if (eadm_capture_open(ctx, in_work("omitted"), NULL, &capture) ||
	    eadm_capture_all(capture, false))
		abort();
	ok(eadm_capture_omit_secrets(capture) == -EINVAL && *eadm_errmsg(ctx),
	   "keys in a snapshot cannot be left out later");
	eadm_capture_close(capture, false);
	eadm_free(ctx);
}

static int opened_bundle(struct eadm_ctx *ctx, const char *path)
{
	struct eadm_bundle *bundle;
	int ret = eadm_bundle_open(ctx, path, &bundle);

	if (!ret)
		eadm_bundle_close(bundle);
	return ret;
}

/* eadm_bundle_open(): "-EBADMSG"; eadm_bundle_next(): "-EINVAL if the size is not set". */
static void bundled(void)
{
	struct eadm_member unset = { 0 }, member = { .size = sizeof(member) };
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_bundle_writer *writer;
	struct eadm_bundle *bundle;
	char path[600];

	snprintf(path, sizeof(path), "%s/two.pcapng", folder);
	ok(opened_bundle(ctx, "/dev/zero") == -EBADMSG &&
		   opened_bundle(ctx, "/dev/null") == -EBADMSG &&
		   opened_bundle(ctx, path) == -EBADMSG,
	   "a file that is not a bundle is refused when it is opened");
	if (eadm_bundle_writer_open(ctx, in_work("bundle"), &writer) ||
	    eadm_bundle_writer_add(writer, "first", "1", 1, NULL) ||
	    eadm_bundle_writer_add(writer, "second", "2", 1, NULL) ||
	    eadm_bundle_writer_close(writer, true) ||
	    eadm_bundle_open(ctx, in_work("bundle"), &bundle))
		abort();
	ok(eadm_bundle_next(bundle, &unset) == -EINVAL &&
		   eadm_bundle_next(bundle, &member) == 1 && !strcmp(member.name, "first") &&
		   eadm_bundle_next(bundle, &unset) == -EINVAL &&
		   eadm_bundle_next(bundle, &member) == 1 && !strcmp(member.name, "second") &&
		   !eadm_bundle_next(bundle, &member),
	   "a member is not skipped if the size of its struct is not set");
	eadm_bundle_close(bundle);
	unlink(in_work("bundle"));
	eadm_free(ctx);
}

/* eadm_record_new(): the copy is independent of dump and context. */
static void kept(void)
{
	const struct eadm_object *object = eadm_object_find("qp");
	const struct eadm_field *comm = eadm_object_find_field(object, "comm");
	const struct eadm_field *qpn = eadm_object_find_field(object, "qpn");
	struct eadm_ctx *ctx = from("two");
	const struct eadm_record *row;
	struct eadm_record *copy;
	struct eadm_dump *dump;
	char before[80] = "", after[80] = "x", few[3] = "yy";
	uint64_t number;
	int64_t other;
	int len;

	if (eadm_dump_open(ctx, object, NULL, &dump) ||
	    eadm_dump_next(dump, &row) <= 0)
		abort();
	eadm_record_text(row, comm, before, sizeof(before));
	copy = eadm_record_new(row);
	eadm_dump_close(dump);
	eadm_free(ctx);
	len = eadm_record_text(copy, comm, after, sizeof(after));
	ok(*before && !strcmp(before, after),
	   "a copy has its text after dump and context are gone");
	/* eadm_record_text(): the text ends with a NUL; its length is as by snprintf(). */
	ok(eadm_record_text(copy, comm, few, 2) == len && few[0] == before[0] &&
		   !few[1] && few[2] == '\0',
	   "a text is cut to its room, and its whole length returned");
	few[0] = 'z';
	ok(eadm_record_text(copy, comm, few, 0) == len && few[0] == 'z',
	   "without room, nothing is written");
	/* eadm_record_u64() and its like: -EINVAL when it is of another type. */
	errno = 0;
	ok(eadm_record_u64(copy, comm, &number) == -EINVAL &&
		   eadm_record_s64(copy, qpn, &other) == -EINVAL &&
		   !eadm_record_string(copy, qpn) && errno == EINVAL,
	   "a value is not read as another type");
	eadm_record_free(copy);
}

/* A device's list: eadm_device_name(), eadm_scan_drop(). */
static void listed(void)
{
	struct eadm_ctx *ctx = from("two");

	ok(!eadm_device_name(ctx, 0), "without a kept list, there are no names");
	ok(!eadm_scan(ctx) && eadm_device_name(ctx, 1) && !eadm_device_name(ctx, 2),
	   "the list of names ends with NULL");
	eadm_scan_drop(ctx);
	ok(!eadm_device_name(ctx, 0), "a list that was dropped has no names");
	eadm_free(ctx);
}

/* eadm_trace_open(), eadm_conf_set(), eadm_capture_rings(): of this machine only. */
static void only_live(void)
{
	struct eadm_ctx *ctx = from("two");
	struct eadm_capture *capture;
	struct eadm_events *events;
	struct eadm_trace *trace;
	const char *device;
	uint64_t now;

	eadm_scan(ctx);
	device = eadm_device_name(ctx, 0);
	ok(eadm_trace_open(ctx, device, NULL, &trace) == -EOPNOTSUPP,
	   "the flight recorder of a capture cannot be followed");
	ok(eadm_conf_set(ctx, device, 1, 1, &now) == -EOPNOTSUPP,
	   "settings of a capture cannot be changed");
	if (eadm_capture_open(ctx, "/dev/null", NULL, &capture))
		abort();
	ok(eadm_capture_rings(capture, 0) == -EOPNOTSUPP,
	   "bytes of queues are not read from a capture");
	eadm_capture_close(capture, false);
	ok(eadm_events_open(ctx, &events) == -EOPNOTSUPP,
	   "a capture without events refuses to listen to them");
	eadm_free(ctx);
	ctx = from("events");
	ok(!eadm_events_open(ctx, &events) && eadm_events_fd(events) == -1,
	   "recorded events have no descriptor to wait on");
	eadm_events_close(events);
	eadm_free(ctx);
}

static bool has(const char *path, const char *text)
{
	char buf[64] = "";
	FILE *file = fopen(path, "r");
	bool same;

	if (!file)
		return false;
	same = fgets(buf, sizeof(buf), file) && !strcmp(buf, text);
	fclose(file);
	return same;
}

static void put(struct eadm_output *output, const char *text)
{
	if (write(eadm_output_fd(output), text, strlen(text)) < 0)
		abort();
}

/* eadm_output_open(), eadm_output_close(). */
static void written(void)
{
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_output *output;
	struct stat st;

	ok(eadm_output_open(ctx, work, &output) == -EISDIR,
	   "a folder is not written to");
	if (eadm_output_open(ctx, in_work("file"), &output))
		abort();
	put(output, "old");
	ok(eadm_output_is_file(output) && access(in_work("file"), F_OK),
	   "a file appears when it is closed");
	ok(!eadm_output_close(output, true) && has(in_work("file"), "old") &&
		   !stat(in_work("file"), &st) && (st.st_mode & 07777) == 0600,
	   "a file is accessible to its owner only");
	if (eadm_output_open(ctx, in_work("file"), &output))
		abort();
	put(output, "new");
	ok(!eadm_output_close(output, false) && has(in_work("file"), "old"),
	   "a file that is dropped leaves the older one");
	if (symlink("file", in_work("link")) ||
	    eadm_output_open(ctx, in_work("link"), &output))
		abort();
	put(output, "new");
	ok(!eadm_output_close(output, true) && has(in_work("file"), "new") &&
		   !lstat(in_work("link"), &st) && S_ISLNK(st.st_mode),
	   "a symbolic link is kept, and its file replaced");
	if (eadm_output_open(ctx, "/dev/null", &output))
		abort();
	ok(!eadm_output_is_file(output) && !eadm_output_close(output, false),
	   "a device is a stream, not a file");
	unlink(in_work("link"));
	unlink(in_work("file"));
	eadm_free(ctx);
}

/* Writes a capture and a bundle to standard output. Returns the first error. */
static int write_both(void)
{
	struct eadm_ctx *ctx = from("busy");
	struct eadm_bundle_writer *writer;
	struct eadm_capture *capture;
	char data[100000];
	size_t i;
	int ret, end;

	ret = eadm_capture_open(ctx, "-", NULL, &capture);
	if (ret)
		return ret;
	for (i = 0; i < 20 && !ret; i++)
		ret = eadm_capture_all(capture, false);
	end = eadm_capture_close(capture, true);
	if (ret || end)
		return ret ? ret : end;
	ret = eadm_bundle_writer_open(ctx, "-", &writer);
	if (ret)
		return ret;
	for (i = 0; i < sizeof(data); i++)
		data[i] = rand();
	ret = eadm_bundle_writer_add(writer, "data", data, sizeof(data), NULL);
	end = eadm_bundle_writer_close(writer, true);
	eadm_free(ctx);
	return ret ? ret : end;
}

/* Reads from a pipe whenever it is full, until @writer ends. Returns the number of bytes. */
static size_t read_when_full(const int *fds, pid_t writer)
{
	struct pollfd room = { .fd = fds[1], .events = POLLOUT };
	siginfo_t ended = { 0 };
	char buf[65536];
	size_t total = 0;
	ssize_t n;

	do {
		while (poll(&room, 1, 0) > 0) {
			if (waitid(P_PID, writer, &ended, WEXITED | WNOHANG | WNOWAIT) ||
			    ended.si_pid) {
				close(fds[1]);
				room.fd = -1;
			}
			sched_yield();
		}
		n = read(fds[0], buf, sizeof(buf));
		total += n > 0 ? n : 0;
	} while (n > 0);
	return total;
}

/* eadm.h: "raises no SIGPIPE"; the output may be a non-blocking pipe. */
static void piped(void)
{
	int fds[2], status;
	pid_t writer;
	size_t n;

	if (pipe(fds) || fcntl(fds[1], F_SETFL, O_NONBLOCK))
		abort();
	fcntl(fds[1], F_SETPIPE_SZ, 4096);
	fflush(stdout);
	writer = fork();
	if (!writer) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		_exit(-write_both());
	}
	n = read_when_full(fds, writer);
	close(fds[0]);
	ok(waitpid(writer, &status, 0) == writer && !status && n > 100000,
	   "a non-blocking pipe is written completely");
	writer = fork();
	if (!writer) {
		signal(SIGPIPE, SIG_DFL);
		if (pipe(fds))
			abort();
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		_exit(-write_both());
	}
	ok(waitpid(writer, &status, 0) == writer && WIFEXITED(status) &&
		   WEXITSTATUS(status) == EPIPE,
	   "a pipe without a reader is an error, not a signal");
}

static bool redacts(const char *key, size_t len, char *out, size_t size)
{
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_redactor *redactor;
	char *text;
	size_t n;
	int ret = eadm_redactor_open(ctx, key, len, &redactor);

	if (!ret) {
		if (eadm_redactor_text(redactor, "10.1.2.3", 8, &text, &n))
			abort();
		snprintf(out, size, "%s", text);
		free(text);
		eadm_redactor_close(redactor);
	}
	eadm_free(ctx);
	return !ret;
}

/* eadm_redactor_open(): length of the key; the same original has the same pseudonym. */
static void redacted(void)
{
	char key[65], a[64], b[64], c[64];

	memset(key, 'k', sizeof(key));
	ok(!redacts(key, 15, a, sizeof(a)) && redacts(key, 16, a, sizeof(a)) &&
		   redacts(key, 64, c, sizeof(c)) && !redacts(key, 65, b, sizeof(b)),
	   "a key has 16 to 64 bytes");
	ok(redacts(key, 16, b, sizeof(b)) && !strcmp(a, b) && strcmp(a, c),
	   "a pseudonym depends on the original and the key");
	ok(atoi(a) >= 240, "a pseudonym is an address in 240.0.0.0/4");
}

/* eadm_diagnosis_interval(), eadm_diagnosis_evaluate(), eadm_diagnosis_verdict(). */
static void judged(void)
{
	const struct eadm_sample_opts unknown = {
		.size = sizeof(unknown), .device = "none",
	};
	struct eadm_diagnosis *diagnosis = eadm_diagnosis_new();
	struct eadm_verdict verdict = { .size = sizeof(verdict) };
	enum eadm_severity worst = EADM_SEVERITY_CRITICAL;
	struct eadm_ctx *ctx = from("sick");
	int i, n;

	ok(!eadm_diagnosis_sample(diagnosis, ctx, NULL) &&
		   !eadm_diagnosis_interval(diagnosis),
	   "no time passes within one snapshot");
	ok(eadm_snapshot_next(ctx) > 0 &&
		   !eadm_diagnosis_sample(diagnosis, ctx, NULL) &&
		   eadm_diagnosis_interval(diagnosis) > 0,
	   "time passes between two snapshots");
	n = eadm_diagnosis_evaluate(diagnosis);
	for (i = 0; eadm_diagnosis_verdict(diagnosis, i, &verdict) > 0 &&
		    verdict.severity <= worst; i++)
		worst = verdict.severity;
	ok(n > 1 && i == n, "verdicts are sorted, the worst first");
	ok(eadm_diagnosis_evaluate(diagnosis) == n, "another evaluation replaces the verdicts");
	eadm_diagnosis_trim(diagnosis);
	ok(!eadm_diagnosis_interval(diagnosis) &&
		   !eadm_diagnosis_verdict(diagnosis, 0, &verdict),
	   "one snapshot and no verdict are left after a trim");
	ok(eadm_snapshot_next(ctx) <= 0 && !eadm_diagnosis_sample(diagnosis, ctx, NULL) &&
		   eadm_diagnosis_evaluate(diagnosis) > 0,
	   "the snapshot that is left is compared with the next one");
	ok(eadm_diagnosis_sample(diagnosis, ctx, &unknown) == -ENODEV &&
		   !eadm_diagnosis_interval(diagnosis) &&
		   !eadm_diagnosis_verdict(diagnosis, 0, &verdict),
	   "after an error, one snapshot is left, and no verdict");
	eadm_diagnosis_free(diagnosis);
	eadm_free(ctx);
}

#define THREADS 4

static void *read_often(void *want)
{
	const struct eadm_field *field;
	struct eadm_ctx *ctx = from("two");
	int i, n = 0;

	for (i = 0; i < 50; i++) {
		field = eadm_object_find_field(eadm_object_find("qp"), "qpn");
		n += field && count(ctx, "qp", NULL) == *(int *)want;
		eadm_snapshot_go(ctx, 1000);
		n += !strcmp(eadm_errmsg(ctx), "no such snapshot");
	}
	eadm_free(ctx);
	return n == 100 ? want : NULL;
}

/* eadm.h: different contexts are independent; descriptions may be used by any thread. */
static void threads(void)
{
	struct eadm_ctx *ctx = from("two");
	int i, good = 0, want = count(ctx, "qp", NULL);
	pthread_t thread[THREADS];
	void *ret;

	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, read_often, &want))
			abort();
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &ret);
		good += ret != NULL;
	}
	ok(want > 0 && good == THREADS, "threads read at the same time, each in its context");
	eadm_free(ctx);
}

int main(int argc, char **argv)
{
	folder = argc > 1 ? argv[1] : ".";
	strcpy(work, "/tmp/test_promises.XXXXXX");
	if (!mkdtemp(work))
		abort();
	last_error();
	logged();
	copied();
	flushed();
	dropped();
	nothing();
	selected();
	unknown_values();
	omitted();
	bundled();
	kept();
	listed();
	only_live();
	written();
	piped();
	redacted();
	judged();
	threads();
	ok(!rmdir(work), "no file is left behind");
	return done();
}
