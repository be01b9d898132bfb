// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of the exporter that its output cannot show from outside. */
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exporter.h"

static int count, failed;

static void check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++count, what);
	failed += !ok;
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

/* ---- passwords ------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static int hashing, most;

/* In place of the library's: waits a while for another one to come. */
char *crypt_rn(const char *phrase, const char *setting, void *data, int size)
{
	struct timespec end;

	(void)setting;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 100000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	hashing++;
	if (most < hashing)
		most = hashing;
	pthread_cond_broadcast(&come);
	while (most < 2 && !pthread_cond_timedwait(&come, &lock, &end))
		;
	hashing--;
	pthread_mutex_unlock(&lock);
	snprintf(data, size, "hash of %s", phrase);
	return data;
}

static void *guess(void *auth)
{
	return auth_check(auth, "prom", "wrong") ? auth : NULL;
}

static void test_auth(void)
{
	struct web_user user = { "prom", "hash of secret" };
	struct web_config config = { .users = &user, .n_users = 1 };
	struct auth *auth = auth_new(&config);
	pthread_t thread;
	void *in;

	if (!auth || pthread_create(&thread, NULL, guess, auth)) {
		check(false, "somebody guesses");
		return;
	}
	check(!auth_check(auth, "other", "secret"), "a stranger is not let in");
	pthread_join(thread, &in);
	check(!in, "a wrong password is none");
	check(most == 1, "one password at a time is looked at");
	check(auth_check(auth, "prom", "secret"), "the right one is let in");
	auth_close(auth);
	check(auth_check(auth, "prom", "secret"),
	      "also at the end, when nothing is to be computed");
	check(!auth_check(auth, "prom", "wrong"), "others are not");
	auth_free(auth);
}

/* ---- sandbox ----------------------------------------------------------------- */

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

static int empty_file(void)
{
	return open("/dev/null", O_RDONLY | O_TRUNC) < 0 && errno == ENOSYS ?
		       0 : 1;
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

/* With nothing but a look, which root may take at anybody. */
static int reach_parent(void)
{
	struct rlimit limit;

	return tgkill(getppid(), getppid(), 0) && errno == ENOSYS &&
			       prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit) &&
			       errno == ENOSYS ? 0 : 1;
}

static int reach_itself(void)
{
	struct rlimit limit;

	return tgkill(getpid(), gettid(), 0) ||
	       prlimit(0, RLIMIT_NOFILE, NULL, &limit);
}

static void test_sandbox(void)
{
	check(in_sandbox(run_program) == -SIGSYS,
	      "the sandbox kills who runs a program");
	check(in_sandbox(read_file) == 0, "files may be read");
	check(in_sandbox(write_file) == 0, "files may not be written");
	check(in_sandbox(make_file) == 0, "files may not be made");
	check(in_sandbox(empty_file) == 0, "files may not be truncated");
	check(in_sandbox(remove_file) == 0, "files may not be removed");
	check(in_sandbox(talk) == 0, "netlink may be asked");
	check(in_sandbox(reach_parent) == 0,
	      "other processes get no signals and no limits");
	check(in_sandbox(reach_itself) == 0, "the process itself may");
}

int main(void)
{
	test_labels();
	test_auth();
	test_sandbox();
	printf("1..%d\n", count);
	return failed != 0;
}
