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

static bool is_label(struct label label, const char *name, const char *value)
{
	return label.name_len == strlen(name) &&
	       !memcmp(label.name, name, label.name_len) &&
	       label.value_len == strlen(value) &&
	       !memcmp(label.value, value, label.value_len);
}

static void test_labels(void)
{
	struct samples samples = { 0 };
	uint32_t a = samples_labels(&samples), b;
	struct label label;

	samples_label(&samples, "x", "q\"b\\n\nu\xc3\xa9z\xff");
	b = samples_labels_from(&samples, a);
	samples_label(&samples, "y", "1");
	label = label_first(&samples, a);
	check(is_label(label, "x", "q\"b\\n\nu\xc3\xa9z\xef\xbf\xbd") &&
		      !label.plain && !label_next(label).name_len,
	      "labels are as they were given, and UTF-8 whatever they were");
	label = label_next(label_first(&samples, b));
	check(label_first(&samples, b).name_len == 1 &&
		      is_label(label, "y", "1") && label.plain &&
		      !label_next(label).name_len,
	      "labels are added to others");
	samples_release(&samples);
}

/* ---- passwords ------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static char order[300];		/* of the passwords that were computed */
static int hashing, most;
static bool let_go;

/* In place of the library's: takes until it is let go. */
char *crypt_rn(const char *phrase, const char *setting, void *data, int size)
{
	(void)setting;
	pthread_mutex_lock(&lock);
	strncat(order, phrase, sizeof(order) - strlen(order) - 2);
	strcat(order, " ");
	hashing++;
	if (most < hashing)
		most = hashing;
	pthread_cond_broadcast(&change);
	while (!let_go)
		pthread_cond_wait(&change, &lock);
	hashing--;
	pthread_mutex_unlock(&lock);
	snprintf(data, size, "hash of %s", phrase);
	return data;
}

struct guess {
	struct attempt attempt;		/* first */
	int answers;
	bool ok;
};

static void on_verdict(struct attempt *attempt, bool ok)
{
	struct guess *guess = (struct guess *)attempt;

	pthread_mutex_lock(&lock);
	guess->answers++;
	guess->ok = ok;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
}

static void ask(struct auth *auth, const struct web_config *config,
		const char *user, const char *password, struct guess *guess)
{
	*guess = (struct guess){ .attempt = { .done = on_verdict, .fd = -1 } };
	if (auth_look(auth, config, user, password, &guess->attempt) !=
		    AUTH_UNKNOWN || !auth_wait(auth, &guess->attempt))
		check(false, "an unknown pair is waited for");
}

static void wait_for_hashing(void)
{
	pthread_mutex_lock(&lock);
	while (!hashing)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
}

static void wait_for_answer(const struct guess *guess)
{
	pthread_mutex_lock(&lock);
	let_go = true;
	pthread_cond_broadcast(&change);
	while (!guess->answers)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
}

static enum auth_answer look(struct auth *auth, const struct web_config *config,
			     const char *user, const char *password)
{
	struct attempt attempt = { .fd = -1 };
	enum auth_answer answer = auth_look(auth, config, user, password,
					    &attempt);

	if (answer == AUTH_UNKNOWN)
		auth_forget(&attempt);
	return answer;
}

static void test_auth(void)
{
	struct web_user users[] = {
		{ "prom", "hash of secret" }, { "other", "hash of word" },
	}, changed[] = { { "prom", "hash of new" } };
	struct web_config config = { .users = users, .n_users = 2 };
	struct web_config second = { .users = changed, .n_users = 1 };
	struct auth *auth = auth_new();
	struct guess first, old, twice, same, gone, right, other, stranger, lost;

	if (!auth) {
		check(false, "passwords can be looked at");
		return;
	}
	ask(auth, &config, "prom", "1", &first);
	wait_for_hashing();
	ask(auth, &config, "prom", "2", &old);
	ask(auth, &config, "prom", "3", &twice);
	ask(auth, &config, "prom", "3", &same);
	ask(auth, &config, "prom", "lost", &lost);
	check(auth_take_back(auth, &lost.attempt), "one gives up");
	ask(auth, &config, "prom", "lost", &lost);
	ask(auth, &config, "prom", "5", &gone);
	ask(auth, &config, "other", "4", &other);
	ask(auth, &config, "nobody", "secret", &stranger);
	ask(auth, &config, "prom", "secret", &right);
	check(auth_take_back(auth, &gone.attempt), "one leaves the queue");
	wait_for_answer(&old);
	check(!strcmp(order, "1 secret 4 lost 3 secret 2 "),
	      "users take turns; what came twice is first, then the newest; who gave up is left out");
	check(most == 1, "one password at a time is looked at");
	check(right.ok && !first.ok && !old.ok && !other.ok && !stranger.ok,
	      "the right one is let in, a stranger with its password is not");
	check(same.answers == 1 && twice.answers == 1 && !gone.answers,
	      "the same pair is answered with the first one");
	check(look(auth, &config, "prom", "secret") == AUTH_YES &&
		      look(auth, &config, "prom", "3") == AUTH_NO,
	      "what was looked at is known");
	check(look(auth, &config, "other", "secret") == AUTH_UNKNOWN &&
		      look(auth, &second, "prom", "secret") == AUTH_UNKNOWN,
	      "of this user, and as long as the hash is the same");
	check(!auth_take_back(auth, &right.attempt),
	      "an answer that was given cannot be taken back");
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
