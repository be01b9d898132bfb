// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program that a guest has taken over can still do: each job in a child. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "tap.h"

static char folder[] = "/tmp/sandbox-XXXXXX", socket_path[64], other_path[64];
static struct options options = {
	.n_functions = 1, .functions = { { .path = socket_path } },
};

/* The exit status, or minus the signal. */
static int in_child(int (*enter)(void), int (*job)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(enter() ? 99 : job());
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 98;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int files(void)
{
	return sandbox_files(&options);
}

static int soft(void)
{
	return sandbox_calls(&options);
}

static int verbs(void)
{
	static const struct options with = { .verbs = { .device = "rxe0" } };

	return sandbox_calls(&with);
}

static int run_program(void)
{
	char *argv[] = { "true", NULL };

	execv("/bin/true", argv);
	return 1;
}

static int look_into_parent(void)
{
	return process_vm_readv(getppid(), NULL, 0, NULL, 0, 0) ? 1 : 2;
}

static int code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at != MAP_FAILED && mprotect(at, 4096, PROT_READ | PROT_EXEC) && errno == ENOSYS &&
			       mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
				       MAP_FAILED ? 0 : 1;
}

static int memory(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED || mprotect(at, 4096, PROT_NONE) || munmap(at, 4096);
}

static int write_file(void)
{
	return open("/dev/null", O_WRONLY) < 0 && open("/dev/null", O_RDONLY | O_CREAT, 0600) < 0 ?
		       0 : 1;
}

static int read_file(void)
{
	return open("/proc/self/stat", O_RDONLY) < 0;
}

static int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

static int local(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}

static int signal_parent(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) && errno == ENOSYS &&
			       kill(getppid(), 0) && errno == ENOSYS ? 0 : 1;
}

static void calls(void)
{
	ok(in_child(soft, run_program) == -SIGSYS && in_child(verbs, run_program) == -SIGSYS,
	   "starting a program is the end");
	ok(in_child(soft, look_into_parent) == -SIGSYS, "and so is a look into another one");
	ok(!in_child(soft, memory) && !in_child(verbs, memory), "memory is to be had");
	ok(!in_child(soft, code) && !in_child(verbs, code), "but none that can be executed");
#ifndef __SANITIZE_ADDRESS__
	ok(in_child(soft, read_file), "no file is opened");
	ok(!in_child(verbs, read_file) && !in_child(verbs, write_file),
	   "for a device they are, to be read");
	ok(!in_child(soft, signal_parent), "nobody else is sent a signal");
#endif
	ok(in_child(soft, tcp) && !in_child(verbs, tcp), "the network is there for a device only");
	ok(in_child(soft, local) && in_child(verbs, local), "other programs cannot be reached");
}

static int make_socket(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), err;

	strcpy(name.sun_path, path);
	err = bind(fd, (struct sockaddr *)&name, sizeof(name)) ? errno : 0;
	close(fd);
	return err;
}

static int make_own(void)
{
	return make_socket(socket_path) || unlink(socket_path);
}

static int make_other(void)
{
	return make_socket("/tmp/sandbox-no-socket") != EACCES || !unlink(other_path) ||
	       errno != EACCES;
}

static int write_own(void)
{
	return open(socket_path, O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES &&
			       open(other_path, O_WRONLY) < 0 && errno == EACCES &&
			       mkdir("/tmp/sandbox-no-folder", 0700) && errno == EACCES ? 0 : 1;
}

static void places(void)
{
	if (syscall(444, NULL, 0, 1) < 0) {
		printf("# no Landlock in this kernel: %s\n", strerror(errno));
		ok(!in_child(files, make_own), "without Landlock, the program goes on");
		return;
	}
	ok(!in_child(files, make_own), "sockets are made and removed in their folder");
	ok(!in_child(files, make_other), "and nothing elsewhere");
	ok(!in_child(files, write_own), "no file is written or made");
}

int main(void)
{
	int fd;

	if (!mkdtemp(folder))
		abort();
	snprintf(socket_path, sizeof(socket_path), "%s/socket", folder);
	snprintf(other_path, sizeof(other_path), "%s.other", folder);
	fd = open(other_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		abort();
	close(fd);
	calls();
	places();
	unlink(other_path);
	rmdir(folder);
	return done();
}
