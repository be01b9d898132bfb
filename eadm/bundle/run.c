// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collecting in children: what blocks in the kernel, crashes or never ends
 * costs its own part and its time box, nothing else.
 */
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
#include <sys/stat.h>
#include <sys/syscall.h>
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

uint64_t bundle_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

struct part *bundle_part(struct bundle *b, const char *name, const char *what)
{
	struct part *more, *part;

	more = realloc(b->parts, (b->n_parts + 1) * sizeof(*more));
	if (!more)
		return NULL;
	b->parts = more;
	part = &more[b->n_parts++];
	*part = (struct part){ .what = what };
	snprintf(part->name, sizeof(part->name), "%s", name);
	if (b->progress)
		note(b->cli, "%s: %s", name, what);
	return part;
}

/* Only the first reason is kept: what follows it is mostly its effect. */
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

static void child(struct bundle *b, int out, int err, uint64_t room,
		  pid_t parent, collect_fn collect, const void *arg)
{
	struct rlimit size = { room, room }, none = { 0, 0 };
	int null;

	/* Nothing that is killed leaves a child behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &size);
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(err, 2) < 0)
		_exit(STATUS_FAILED);
	int status = collect(b, arg);

	fflush(stdout);
	_exit(ferror(stdout) ? STATUS_FAILED : status);
}

/* What the child said about what went wrong, in one line. */
static void read_why(struct part *part, int err)
{
	char text[MAX_WHY + 1], why[MAX_WHY + 1] = "", *line, *save = NULL;
	ssize_t n = pread(err, text, MAX_WHY, 0);

	text[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "eadm: ", 6))
			line += 6;
		n = strlen(why);
		snprintf(why + n, sizeof(why) - n, "%s%s", n ? "; " : "",
			 line);
	}
	if (why[0])
		bundle_why(part, "%s", why);
}

static void judge(struct part *part, int status)
{
	if (WIFSIGNALED(status)) {
		part->outcome = WTERMSIG(status) == SIGXFSZ ? OUTCOME_PARTIAL :
							      OUTCOME_FAILED;
		bundle_why(part, WTERMSIG(status) == SIGXFSZ ?
			   "cut off: no room left (--max-size)" :
			   "its collector died of signal %d",
			   WTERMSIG(status));
		return;
	}
	switch (WEXITSTATUS(status)) {
	case STATUS_OK:
	case STATUS_WARNING:	/* what a diagnosis found */
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

static bool ends_within(int pidfd, uint64_t ms)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };
	uint64_t end = bundle_now() + ms * MS, now;

	while (!interrupted) {
		now = bundle_now();
		if (poll(&pfd, 1, now < end ? (end - now) / MS + 1 : 0) > 0)
			return true;
		if (bundle_now() >= end)
			return false;
	}
	return false;
}

/* One that is blocked in the kernel does not even die; it is left behind. */
static void wait_child(struct part *part, pid_t pid, uint64_t ms, int err)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), status;

	if (pidfd >= 0 && ends_within(pidfd, ms)) {
		waitpid(pid, &status, 0);
		read_why(part, err);
		judge(part, status);
		close(pidfd);
		return;
	}
	kill(pid, SIGKILL);
	part->outcome = OUTCOME_TIMEOUT;
	bundle_why(part, "not done after %.1f s", ms / 1000.0);
	if (pidfd >= 0) {
		struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

		if (poll(&pfd, 1, 500) > 0)
			waitpid(pid, NULL, 0);
		close(pidfd);
	}
}

/*
 * Run a collector in its time box. Returns a descriptor of memory with what
 * it wrote, or -1; part tells the outcome.
 */
int bundle_run(struct bundle *b, struct part *part, uint64_t limit_ms,
	       collect_fn collect, const void *arg)
{
	uint64_t begin = bundle_now(), used = eadm_pack_size(b->pack);
	uint64_t left = begin < b->deadline ? (b->deadline - begin) / MS : 0;
	uint64_t room = used < b->max_size ? b->max_size - used : 0;
	pid_t parent = getpid(), pid;
	int out, err;

	part->outcome = OUTCOME_SKIPPED;
	if (!left || !room) {
		bundle_why(part, left ? "no room left (--max-size)" :
					"no time left (--max-time)");
		return -1;
	}
	out = memfd_create("eadm-part", MFD_CLOEXEC);
	err = memfd_create("eadm-why", MFD_CLOEXEC);
	fflush(NULL);
	pid = out < 0 || err < 0 ? -1 : fork();
	if (!pid)
		child(b, out, err, room, parent, collect, arg);
	if (pid < 0) {
		part->outcome = OUTCOME_FAILED;
		bundle_why(part, "%s", strerror(errno));
		if (out >= 0)
			close(out);
		if (err >= 0)
			close(err);
		return -1;
	}
	wait_child(part, pid, limit_ms < left ? limit_ms : left, err);
	close(err);
	part->ns = bundle_now() - begin;
	return out;
}

/* Make a member of what was collected; with no byte there is none. */
int bundle_keep(struct bundle *b, struct part *part, int fd, bool redact)
{
	char *data = NULL, *text = NULL;
	size_t len = 0;
	int ret = 0;

	if (part->outcome == OUTCOME_FAILED)
		bundle_why(part, "its collector failed");
	if (fd < 0)
		return 0;
	ret = bundle_load(fd, &data, &len);
	if (!ret && redact && b->redactor) {
		ret = eadm_redactor_text(b->redactor, data, len, &text, &len);
		free(data);
		data = text;
	}
	if (ret) {
		free(data);
		return fail(b->cli, STATUS_FAILED, part->name, "%s",
			    strerror(-ret));
	}
	if (len && len > b->max_size - eadm_pack_size(b->pack)) {
		part->outcome = OUTCOME_SKIPPED;
		bundle_why(part, "no room left (--max-size)");
	} else if (len) {
		ret = eadm_pack_add(b->pack, part->name, data, len,
				    part->digest);
		part->bytes = len;
	} else if (part->outcome == OUTCOME_OK) {
		part->outcome = OUTCOME_ABSENT;
	}
	free(data);
	if (ret)
		return fail(b->cli, STATUS_FAILED, part->name, "%s",
			    eadm_errmsg(b->ctx));
	return 0;
}
