// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of the exporter that its output cannot show from outside. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter.h"

static int count, failed;

static void check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++count, what);
	failed += !ok;
}

static uint64_t step(struct wraps *wraps, const char *labels, uint64_t value,
		     uint64_t age)
{
	struct wraps now = { 0 };
	uint64_t wide;

	/* Another row in front, so that the place changes. */
	if (value & 1)
		wraps_extend(wraps, &now, 6, "other", 1, 0xffff, age);
	wide = wraps_extend(wraps, &now, 7, labels, value, 0xffff, age);
	wraps_release(wraps);
	*wraps = now;
	return wide;
}

static void test_wraps(void)
{
	struct wraps wraps = { 0 };

	check(step(&wraps, "a", 65000, 1) == 65000,
	      "a counter begins where it is");
	check(step(&wraps, "a", 65535, 2) == 65535, "it grows");
	check(step(&wraps, "a", 10, 3) == 65546, "it goes on past 16 bits");
	check(step(&wraps, "a", 9, 4) == 131081, "and again");
	check(step(&wraps, "a", 5, 1) == 5,
	      "that of a younger object begins anew");
	check(step(&wraps, "b", 7, 9) == 7, "another object is another one");
	check(step(&wraps, "a", 6, 9) == 6, "one that was away begins anew");
	wraps_release(&wraps);
}

static void test_labels(void)
{
	struct samples samples = { 0 };
	uint32_t a = samples_labels(&samples), b;

	samples_label(&samples, "x", "q\"b\\n\nu\xc3\xa9z\xff");
	check(!strcmp(samples.text + a,
		      "x=\"q\\\"b\\\\n\\nu\xc3\xa9z\xef\xbf\xbd\""),
	      "labels are escaped, and UTF-8 whatever they were");
	b = samples_labels_from(&samples, a);
	samples_label(&samples, "y", "1");
	check(!strncmp(samples.text + b, samples.text + a,
		       strlen(samples.text + a)) &&
		      !strcmp(samples.text + b + strlen(samples.text + a),
			      ",y=\"1\""),
	      "labels are added to others");
	samples_release(&samples);
}

/* What a child does in the sandbox; its exit status, or minus its signal. */
static int in_sandbox(int (*job)(void))
{
	char why[200];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (sandbox_enter(why, sizeof(why))) {
			fprintf(stderr, "%s\n", why);
			_exit(99);
		}
		_exit(job());
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 98;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run_program(void)
{
	char *argv[] = { "true", NULL };

	execv("/bin/true", argv);
	return 1;
}

static int read_file(void)
{
	char c;
	int fd = open("/proc/self/stat", O_RDONLY);

	return fd < 0 || read(fd, &c, 1) != 1;
}

static int write_file(void)
{
	return open("/dev/null", O_WRONLY) < 0 && errno == ENOSYS ? 0 : 1;
}

static int make_file(void)
{
	return open("/tmp/eadm-sandbox", O_RDONLY | O_CREAT, 0600) < 0 ? 0 : 1;
}

static int remove_file(void)
{
	return unlink("/nonexistent") && errno == ENOSYS ? 0 : 1;
}

static int talk(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 20) < 0 &&
	       errno == ENOSYS;
}

static void test_sandbox(void)
{
	check(in_sandbox(run_program) == -SIGSYS,
	      "the sandbox kills who runs a program");
	check(in_sandbox(read_file) == 0, "files may be read");
	check(in_sandbox(write_file) == 0, "files may not be written");
	check(in_sandbox(make_file) == 0, "files may not be made");
	check(in_sandbox(remove_file) == 0, "files may not be removed");
	check(in_sandbox(talk) == 0, "netlink may be asked");
}

int main(void)
{
	test_wraps();
	test_labels();
	test_sandbox();
	printf("1..%d\n", count);
	return failed != 0;
}
