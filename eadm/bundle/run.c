// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs collectors in a child process: if a collector blocks in the kernel, crashes or
 * never ends, only its own part is lost, and only its time limit is spent. A child
 * collects many parts, because starting a process takes longer than collecting most
 * parts; after a failure, a new child is started.
 */
#include "../clock.h"
#include "grow.h"
#include "../signals.h"
#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WHY 400
#define MS 1000000ULL

const char *const outcome_names[] = {
	[OUTCOME_OK] = "ok",
	[OUTCOME_PARTIAL] = "partial",
	[OUTCOME_ABSENT] = "absent",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_TIMEOUT] = "timeout",
	[OUTCOME_SKIPPED] = "skipped",
};

struct part *bundle_part(struct bundle *b, const char *name, const char *what)
{
	struct part *part;

	if (!grow(b->parts, b->n_parts, b->max_parts))
		return NULL;
	part = &b->parts[b->n_parts++];
	*part = (struct part){ .what = what };
	snprintf(part->name, sizeof(part->name), "%s", name);
	if (b->progress)
		note(b->cli, "%s: %s", name, what);
	return part;
}

/* Keeps only the first reason, because later ones are usually its consequences. */
void bundle_why(struct part *part, const char *fmt, ...)
{
	va_list ap;

	if (part->why)
		return;
	va_start(ap, fmt);
	if (vasprintf(&part->why, fmt, ap) < 0)
		part->why = NULL;
	va_end(ap);
}

int bundle_load(int fd, char **data, size_t *len)
{
	struct stat st;
	size_t n = 0;
	ssize_t got;

	*len = 0;
	if (fstat(fd, &st))
		return -errno;
	*data = malloc(st.st_size + 1);
	if (!*data)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		got = pread(fd, *data + n, st.st_size - n, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += got;
	}
	(*data)[n] = '\0';
	*len = n;
	return 0;
}

/* ---- in the child -------------------------------------------------------------- */

/* A job for the child, which has a copy of all referenced data. */
struct job {
	collect_fn collect;
	const void *arg;
	uint64_t room;
};

static int do_job(struct bundle *b, const struct job *job)
{
	struct rlimit size = { job->room, RLIM_INFINITY };
	int status;

	/* An earlier job may have set signal handlers. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &size);
	size.rlim_cur = job->room < size.rlim_max ? job->room : size.rlim_max;
	setrlimit(RLIMIT_FSIZE, &size);
	status = job->collect(b, job->arg);
	if (fflush(stdout) || ferror(stdout))
		status = STATUS_FAILED;
	clearerr(stdout);
	return status;
}

/* Runs jobs until the parent closes its end of the socket; never returns. */
static void work(struct bundle *b, int fd, int out, int err, pid_t parent)
{
	struct rlimit none = { 0, 0 };
	struct job job;
	int in, status;

	/* If the parent is killed, the child must not survive. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(STATUS_FAILED);
	/* Standard input is empty; a chroot may lack /dev/null. */
	in = memfd_create("eadm-stdin", MFD_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0) {
		fprintf(stderr, "cannot replace standard input: %s\n",
			strerror(errno));
		_exit(STATUS_FAILED);
	}
	while (!interrupted && recv(fd, &job, sizeof(job), 0) == sizeof(job)) {
		status = do_job(b, &job);
		if (send(fd, &status, sizeof(status), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(STATUS_FAILED);
}

/*
 * ---- the outcome of a job
 * -----------------------------------------------------------------
 */

/* Joins the child's error messages into one line. */
static void read_words(int err, char words[MAX_WHY + 1])
{
	char text[MAX_WHY + 1], *line, *save = NULL;
	ssize_t n = pread(err, text, MAX_WHY, 0);

	*words = '\0';
	text[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "eadm: ", 6))
			line += 6;
		n = strlen(words);
		snprintf(words + n, MAX_WHY + 1 - n, "%s%s", n ? "; " : "",
			 line);
	}
}

static void judge(struct part *part, int status, const char *words)
{
	if (*words)
		bundle_why(part, "%s", words);
	switch (status) {
	case STATUS_OK:
	case STATUS_WARNING:	/* problems found by a diagnosis */
	case STATUS_CRITICAL:
		part->outcome = OUTCOME_OK;
		break;
	case STATUS_PARTIAL:
		part->outcome = OUTCOME_PARTIAL;
		break;
	case STATUS_NOT_FOUND:
	case STATUS_UNSUPPORTED:
		part->outcome = OUTCOME_ABSENT;
		break;
	default:
		part->outcome = OUTCOME_FAILED;
		break;
	}
}

/* The child may have died while writing a further message. */
static void judge_death(struct part *part, int status, const char *words)
{
	bool cut = WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;

	part->outcome = cut ? OUTCOME_PARTIAL : OUTCOME_FAILED;
	if (cut)
		bundle_why(part, "truncated: size limit reached (--max-size)");
	else if (WIFSIGNALED(status))
		bundle_why(part, "collector killed by signal %d%s%s",
			   WTERMSIG(status), *words ? ": " : "", words);
	else if (*words)
		bundle_why(part, "%s", words);
}

/* ---- in the parent --------------------------------------------------------------- */

static bool worker_start(struct bundle *b, struct worker *w)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	w->out = memfd_create("eadm-part", MFD_CLOEXEC);
	w->err = memfd_create("eadm-why", MFD_CLOEXEC);
	fflush(NULL);
	w->pid = w->out < 0 || w->err < 0 ? -1 : fork();
	if (!w->pid) {
		close(pair[0]);
		work(b, pair[1], w->out, w->err, parent);
	}
	close(pair[1]);
	w->fd = pair[0];
	if (w->pid > 0)
		return true;
	w->pid = 0;
	close(w->fd);
	if (w->out >= 0)
		close(w->out);
	if (w->err >= 0)
		close(w->err);
	return false;
}

static void worker_forget(struct worker *w)
{
	close(w->fd);
	close(w->out);
	close(w->err);
	w->pid = 0;
}

/* A child that is blocked in the kernel cannot be killed and is therefore abandoned. */
void bundle_worker_end(struct bundle *b)
{
	struct worker *w = &b->worker;
	struct pollfd pfd = { .fd = w->fd };

	if (!w->pid)
		return;
	kill(w->pid, SIGKILL);
	if (poll(&pfd, 1, 500) > 0)
		waitpid(w->pid, NULL, 0);
	worker_forget(w);
}

/*
 * Truncates and rewinds the file: both processes share its offset, which is at the end
 * of the previous part.
 */
static bool empty(int fd)
{
	return !ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET);
}

static bool worker_ask(struct bundle *b, const struct job *job)
{
	struct worker *w = &b->worker;

	return (w->pid || worker_start(b, w)) && empty(w->out) &&
	       empty(w->err) &&
	       send(w->fd, job, sizeof(*job), MSG_NOSIGNAL) == sizeof(*job);
}

/* Returns true if the child has responded or died. */
static bool answers_within(int fd, uint64_t ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint64_t end = monotonic_ns() + ms * MS, now;

	while (!interrupted) {
		now = monotonic_ns();
		if (poll(&pfd, 1, now < end ? (end - now) / MS + 1 : 0) > 0)
			return true;
		if (monotonic_ns() >= end)
			return false;
	}
	return false;
}

static void await(struct bundle *b, struct part *part, uint64_t ms)
{
	char words[MAX_WHY + 1];
	struct worker *w = &b->worker;
	int status;

	if (!answers_within(w->fd, ms)) {
		part->outcome = OUTCOME_TIMEOUT;
		bundle_why(part, "timed out after %.1f s", ms / 1000.0);
		bundle_worker_end(b);
		return;
	}
	read_words(w->err, words);
	if (recv(w->fd, &status, sizeof(status), 0) == sizeof(status)) {
		judge(part, status, words);
		return;
	}
	if (waitpid(w->pid, &status, 0) == w->pid)
		judge_death(part, status, words);
	worker_forget(w);
}

/*
 * Runs a collector within its time limit, and stores the outcome in @part. The data at
 * @arg must have existed since the last bundle_worker_end(), because the child has a
 * copy of it. Returns a memfd with the output, which the next collector of the same
 * worker overwrites, or -1.
 */
int bundle_run(struct bundle *b, struct part *part, uint64_t limit_ms,
	       collect_fn collect, const void *arg)
{
	uint64_t begin = monotonic_ns(), used = eadm_bundle_writer_size(b->pack);
	uint64_t left = begin < b->deadline ? (b->deadline - begin) / MS : 0;
	struct job job = { collect, arg, 0 };
	int out;

	job.room = used < b->max_size ? b->max_size - used : 0;
	part->outcome = OUTCOME_SKIPPED;
	if (!left || !job.room) {
		bundle_why(part, left ? "size limit reached (--max-size)" :
					"time limit reached (--max-time)");
		return -1;
	}
	part->outcome = OUTCOME_FAILED;
	if (!worker_ask(b, &job)) {
		/* The worker may have died during the previous job. */
		bundle_worker_end(b);
		if (!worker_ask(b, &job)) {
			bundle_why(part, "%s", strerror(errno));
			return -1;
		}
	}
	/* Duplicate the descriptor, because it is closed when the worker ends. */
	out = fcntl(b->worker.out, F_DUPFD_CLOEXEC, 3);
	await(b, part, limit_ms < left ? limit_ms : left);
	part->ns = monotonic_ns() - begin;
	return out;
}

/* Creates a member from the collected bytes, unless there are none. */
int bundle_keep(struct bundle *b, struct part *part, int fd, enum redaction how)
{
	char *data = NULL, *text = NULL;
	size_t len = 0;
	int ret = 0;

	if (part->outcome == OUTCOME_FAILED)
		bundle_why(part, "collector failed");
	if (fd < 0)
		return 0;
	ret = bundle_load(fd, &data, &len);
	if (!ret && how != REDACTED_ALREADY && b->redactor) {
		ret = how == REDACT_LOG ?
		      eadm_redactor_text(b->redactor, data, len, &text, &len) :
		      eadm_redactor_facts(b->redactor, data, len, &text, &len);
		free(data);
		data = text;
	}
	if (ret) {
		free(data);
		return fail(b->cli, STATUS_FAILED, part->name, "%s",
			    strerror(-ret));
	}
	if (len && len > b->max_size - eadm_bundle_writer_size(b->pack)) {
		part->outcome = OUTCOME_SKIPPED;
		bundle_why(part, "size limit reached (--max-size)");
	} else if (len) {
		ret = eadm_bundle_writer_add(b->pack, part->name, data, len,
					     part->digest);
		part->bytes = len;
	} else if (part->outcome == OUTCOME_OK) {
		part->outcome = OUTCOME_ABSENT;
	}
	free(data);
	if (ret)
		return fail_write(b->cli, b->ctx, ret, part->name);
	return 0;
}
