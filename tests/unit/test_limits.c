// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits and faults that libibverbs reports in a child process: fake_verbs.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "eadm_nl.h"
#include "model/fields.h"
#include "read/machine.h"
#include "source/devlist.h"
#include "tap.h"

enum { A0 = 5, B0 = 6, C0 = 7 };	/* libibverbs does not list the last one */

static struct eadm_ctx *ctx;
static struct eadm_query query;
static struct eadm_reply reply;
static struct eadm_record row;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Another context, which knows nothing. */
static void start(void)
{
	eadm_free(ctx);
	ctx = eadm_new();
	if (!ctx || eadm_open_live(ctx) || !eadm_device_add(ctx, A0, "a0") ||
	    !eadm_device_add(ctx, B0, "b0") || !eadm_device_add(ctx, C0, "c0"))
		exit(1);
}

/* The value of a field of the row; "" if absent. */
static const char *value(const char *name)
{
	static char text[4096];
	const struct eadm_field *field = eadm_object_find_field(row.object, name);

	text[0] = '\0';
	if (eadm_record_has(&row, field))
		eadm_record_text(&row, field, text, sizeof(text));
	return text;
}

static const char *limit(uint32_t device, const char *name)
{
	static char text[4096];

	query = eadm_query_local(EADM_SPEC_OBJ_DEV);
	eadm_query_arg(&query, EADM_A_DEV_DEV_INDEX, EADM_ARG_U32, device, NULL, false);
	eadm_query_arg(&query, EADM_A_DEV_MAX_QP, EADM_ARG_FLAG, 0, NULL, true);
	text[0] = '\0';
	if (eadm_machine_open(ctx, &query, &eadm_spec_objects[EADM_SPEC_OBJ_DEV], &reply, &row) > 0)
		snprintf(text, sizeof(text), "%s", value(name));
	eadm_reply_close(&reply);
	return text;
}

static const char *faults(void)
{
	static char text[4096];

	query = eadm_query_local(EADM_SPEC_OBJ_VERBS);
	text[0] = '\0';
	if (eadm_machine_open(ctx, &query, &eadm_spec_objects[EADM_SPEC_OBJ_VERBS], &reply, &row) > 0)
		snprintf(text, sizeof(text), "%s", value("faults"));
	eadm_reply_close(&reply);
	return text;
}

static bool becomes(uint32_t device, const char *name, const char *wanted)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	double end = now() + 30;

	while (strcmp(limit(device, name), wanted) != 0) {
		if (now() > end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void test_change(void)
{
	start();
	ok(!strcmp(limit(A0, "active-mtu"), "4096") && !strcmp(limit(B0, "max-qp"), "77"),
	   "libibverbs reports the limits of a device");
	setenv("FAKE_MTU", "3", 1);
	ok(becomes(A0, "active-mtu", "1024"), "a context shows a limit that has changed");
	unsetenv("FAKE_MTU");
}

static void test_descriptors(void)
{
	struct rlimit most, none;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char text[16];

	start();
	snprintf(text, sizeof(text), "%d", fd);
	setenv("FAKE_FD", text, 1);
	ok(!strcmp(limit(A0, "max-qp"), "77"), "a child does not hold the caller's files open");
	unsetenv("FAKE_FD");
	close(fd);

	start();
	getrlimit(RLIMIT_NOFILE, &most);
	none = most;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	ok(!*limit(A0, "max-qp"), "without a child there are no limits");
	ok(strstr(faults(), "process: Too many open files"),
	   "without a child, the list of devices has a fault");
	setrlimit(RLIMIT_NOFILE, &most);
	ok(becomes(A0, "max-qp", "77"), "the next child reports limits again");
}

static void test_hang(void)
{
	double begin;

	start();
	setenv("FAKE_HANG", "a0", 1);
	begin = now();
	ok(!strcmp(limit(B0, "max-qp"), "77") && now() - begin < 5,
	   "a device that hangs does not delay requests for a different one");
	begin = now();
	ok(!*limit(C0, "max-qp") && now() - begin < 5,
	   "nor requests for one that libibverbs does not list");
	ok(!*limit(A0, "max-qp"), "a device that hangs has no limits");
	begin = now();
	ok(!*limit(A0, "max-qp") && !strcmp(limit(B0, "max-qp"), "77") && now() - begin < 5,
	   "a device that hung is not opened again soon");
	unsetenv("FAKE_HANG");
}

/* What libraries do besides. */
static void test_manners(void)
{
	double begin;

	start();
	setenv("FAKE_TEXT", "loaded", 1);
	ok(!strcmp(limit(A0, "max-qp"), "77") && !*faults(), "a text without a newline is harmless");
	unsetenv("FAKE_TEXT");

	start();
	setenv("FAKE_PROCESS", "1", 1);
	begin = now();
	ok(!strcmp(limit(A0, "max-qp"), "77") && !*faults() && now() - begin < 5,
	   "a process that a library leaves behind is not waited for");
	unsetenv("FAKE_PROCESS");
}

static void test_end(void)
{
	start();
	setenv("FAKE_ABORT", "1", 1);
	ok(strstr(faults(), "listing devices failed: 'Aborted'"), "the signal that ends a child is reported");
	start();
	signal(SIGCHLD, SIG_IGN);
	ok(strstr(faults(), "listing devices ended the process"),
	   "a child that ends early is reported although the caller ignores SIGCHLD");
	signal(SIGCHLD, SIG_DFL);
	unsetenv("FAKE_ABORT");
}

/* Children that cannot end, like those that wait for a device uninterruptibly. */
static void test_leftovers(void)
{
	pid_t pids[4];
	unsigned int i;

	start();
	for (i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			pause();
			_exit(0);
		}
		ctx->children.pidfd[i] = syscall(SYS_pidfd_open, pids[i], 0);
	}
	ctx->children.n = 4;
	ok(!*limit(A0, "max-qp") && ctx->children.n == 4,
	   "no child is started while too many have not ended");
	for (i = 0; i < 4; i++)
		kill(pids[i], SIGKILL);
	ok(becomes(A0, "max-qp", "77") && !ctx->children.n && wait(NULL) < 0,
	   "children that ended late are reaped");
}

int main(void)
{
	test_change();
	test_descriptors();
	test_hang();
	test_manners();
	test_end();
	test_leftovers();
	eadm_free(ctx);
	return done();
}
