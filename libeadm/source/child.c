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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

/* This is ample: listing devices takes milliseconds. */
#define LIMIT_MS 10000
/* A child that is ending may still be in an uninterruptible wait for a device. */
#define REAP_MS 1000
/* A child that has printed what is needed is killed if it prints nothing for this long. */
#define PAUSE_MS 100
#define MOST_FDS 65536
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/*
 * The child never executes a program, so descriptors of the caller stay open in it although
 * they are marked for closing: the caller's peers would not see that a connection was closed.
 */
static void close_others(void)
{
	int fd, max = sysconf(_SC_OPEN_MAX);

	if (!syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0))
		return;
	/* Kernels before 5.9. */
	for (fd = STDERR_FILENO + 1; fd < max && fd < MOST_FDS; fd++)
		close(fd);
}

/* Never returns; exit handlers of the caller must not run in this process. */
static void be_child(const struct eadm_child *child, int out)
{
	/*
	 * A crash is an expected result: it should produce neither a core file nor a
	 * report.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	setlocale(LC_ALL, "C");
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0) {
		close_others();
		child->work(child->arg);
		EADM_CHILD_SAY(EADM_CHILD_END "\n");
	}
	_Exit(0);
}

/* Returns true if a line begins with @head and a space, or is equal to @head. */
static bool has_line(const char *said, const char *head)
{
	size_t len = strlen(head);
	const char *at = said;

	while ((at = strstr(at, head))) {
		if ((at == said || at[-1] == '\n') && (at[len] == ' ' || at[len] == '\n'))
			return true;
		at += len;
	}
	return false;
}

/*
 * Collects the output that fits; reads and drops the rest, so that the child can end. Does not
 * wait for the end of the pipe, because processes that a different thread starts at the same
 * time, or that the library leaves behind, hold it open. Returns 0 at the end of the output.
 */
static int collect(int in, const struct eadm_child *child, char *said, size_t size)
{
	int64_t end = now_ms() + LIMIT_MS, left;
	struct pollfd poll_fd = { .fd = in, .events = POLLIN };
	bool full, enough = false;
	char rest[256];
	size_t len = 0;
	ssize_t got;
	int ready;

	while ((left = end - now_ms()) > 0) {
		ready = poll(&poll_fd, 1, enough && left > PAUSE_MS ? PAUSE_MS : left);
		if (!ready && enough)
			return -ETIMEDOUT;
		if (ready <= 0)
			continue;
		full = len == size - 1;
		got = full ? read(in, rest, sizeof(rest)) :
			     read(in, said + len, size - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		if (!full)
			len += got;
		said[len] = '\0';
		if (has_line(said, EADM_CHILD_END))
			return 0;
		enough = enough || (child->need && has_line(said, child->need));
	}
	return -ETIMEDOUT;
}

/* ---- ends of children ------------------------------------------------------------- */

/*
 * The number of a child is not enough: if the library's caller reaps all children, the
 * system may have given it to a different process. Kernels before 5.3 have no descriptors of
 * processes.
 */
struct process {
	pid_t pid;
	int fd;		/* -1: none */
};

static void kill_process(const struct process *p)
{
	if (p->fd >= 0)
		syscall(SYS_pidfd_send_signal, p->fd, SIGKILL, NULL, 0);
	else if (!waitpid(p->pid, NULL, WNOHANG))
		kill(p->pid, SIGKILL);
}

/* Returns 1 if the process has ended, 0 if not, or -1 with errno set. */
static int wait_process(const struct process *p, siginfo_t *info)
{
	memset(info, 0, sizeof(*info));
	if (waitid(p->fd >= 0 ? (idtype_t)P_PIDFD : P_PID, p->fd >= 0 ? (id_t)p->fd : (id_t)p->pid,
		   info, WEXITED | WNOHANG))
		return -1;
	return info->si_pid != 0;
}

/*
 * Returns the signal that ended the child; 0 if it exited; -ECHILD if the library's caller
 * reaps children. If it does not end, it is killed and noted in the context.
 */
static int reap(struct eadm_children *children, struct process *p)
{
	int64_t end = now_ms() + REAP_MS;
	struct timespec pause = { .tv_nsec = 1000000 };
	siginfo_t info;
	int ended;

	while ((ended = wait_process(p, &info)) <= 0) {
		if (ended < 0 && errno != EINTR)
			return -ECHILD;
		if (now_ms() > end) {
			kill_process(p);
			if (p->fd >= 0)
				children->pidfd[children->n++] = p->fd;
			p->fd = -1;
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED ? info.si_status : 0;
}

void eadm_children_reap(struct eadm_children *children)
{
	struct process p;
	unsigned int i = 0;
	siginfo_t info;

	while (i < children->n) {
		p = (struct process){ .fd = children->pidfd[i] };
		if (wait_process(&p, &info)) {
			close(p.fd);
			children->pidfd[i] = children->pidfd[--children->n];
		} else {
			i++;
		}
	}
}

void eadm_children_release(struct eadm_children *children)
{
	eadm_children_reap(children);
	while (children->n)
		close(children->pidfd[--children->n]);
}

/* A sandbox may permit threads, and therefore fork(), but not to wait for a child. */
static bool may_wait(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || errno == ECHILD;
}

int eadm_child_run(struct eadm_ctx *ctx, const struct eadm_child *child, char *said,
		   size_t size)
{
	struct eadm_children *children = &ctx->children;
	struct process p = { .fd = -1 };
	int ends[2], ret, ended;

	said[0] = '\0';
	if (!may_wait())
		return -errno;
	eadm_children_reap(children);
	if (children->n == sizeof(children->pidfd) / sizeof(children->pidfd[0]))
		return -EBUSY;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	p.pid = fork();
	if (!p.pid)
		be_child(child, ends[1]);
	ret = p.pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!ret) {
		p.fd = syscall(SYS_pidfd_open, p.pid, 0);
		ret = collect(ends[0], child, said, size);
		if (ret)
			kill_process(&p);
		ended = reap(children, &p);
		/* The end of long output is missing, so that its last line proves nothing. */
		if (!ret && !has_line(said, EADM_CHILD_END) &&
		    (ended > 0 || strlen(said) < size - 1))
			ret = ended > 0 ? ended : -ECHILD;
	}
	if (p.fd >= 0)
		close(p.fd);
	close(ends[0]);
	return ret;
}
