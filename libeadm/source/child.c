// SPDX-License-Identifier: LGPL-2.1-or-later
/* Runs a function in a child process and collects what it prints. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

/* This is ample: listing devices takes milliseconds. */
#define LIMIT_MS 10000
/* A child that is ending may still be in an uninterruptible wait for a device. */
#define REAP_MS 1000

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Never returns; exit handlers of the caller must not run in this process. */
static void be_child(void (*work)(const void *arg), const void *arg, int out)
{
	/*
	 * A crash is an expected result: it should produce neither a core file nor a
	 * report.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	setlocale(LC_ALL, "C");
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0) {
		work(arg);
		dprintf(STDOUT_FILENO, "%s\n", EADM_CHILD_END);
	}
	_Exit(0);
}

/*
 * Collects the output that fits; reads and drops the rest, so that the child can end.
 */
static int collect(int in, char *said, size_t size)
{
	int64_t end = now_ms() + LIMIT_MS, left;
	struct pollfd poll_fd = { .fd = in, .events = POLLIN };
	char rest[256];
	size_t len = 0;
	ssize_t got;
	bool full;

	while ((left = end - now_ms()) > 0) {
		if (poll(&poll_fd, 1, left) <= 0)
			continue;
		full = len == size - 1;
		got = full ? read(in, rest, sizeof(rest)) :
			     read(in, said + len, size - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (!full)
			len += got;
	}
	said[len] = '\0';
	return left > 0 ? 0 : -ETIMEDOUT;
}

/*
 * Returns the signal that ended the child; 0 if there was none, or if the library's
 * caller reaps children.
 */
static int reap(pid_t pid)
{
	int64_t end = now_ms() + REAP_MS;
	struct timespec pause = { .tv_nsec = 1000000 };
	int status = 0;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) <= 0) {
		if ((got < 0 && errno != EINTR) || now_ms() > end)
			return 0;
		nanosleep(&pause, NULL);
	}
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int eadm_child_run(void (*work)(const void *arg), const void *arg, char *said,
		   size_t size)
{
	int ends[2], ret, signal;
	pid_t pid;

	said[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		be_child(work, arg, ends[1]);
	ret = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!ret) {
		ret = collect(ends[0], said, size);
		if (ret)
			kill(pid, SIGKILL);
		signal = reap(pid);
		ret = ret ? ret : signal;
	}
	close(ends[0]);
	return ret;
}
