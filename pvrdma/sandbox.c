// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An attempt to start a program or to inspect another process ends this process. System
 * calls that are not listed fail with ENOSYS, which libraries already handle for older
 * kernels. Executable memory can no longer be mapped, so libibverbs must load its
 * providers before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Accesses that are refused unless a rule allows them; sandbox_calls() handles reading.
 */
#define HANDLED (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
		 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
		 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
		 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
		 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
		 LANDLOCK_ACCESS_FS_MAKE_SYM)
#define OF_SOCKETS (LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* ---- files */

/* A missing directory is ignored, because the code that needs it reports the error. */
static int allow_below(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr below = { .allowed_access = access };
	int err = 0;

	below.parent_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (below.parent_fd < 0)
		return 0;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0))
		err = -errno;
	close(below.parent_fd);
	return err;
}

static int allow_socket(int rules, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int err;

	if (!slash)
		return allow_below(rules, ".", OF_SOCKETS);
	folder = strndup(path, (size_t)(slash - path) + 1);
	if (!folder)
		return -ENOMEM;
	err = allow_below(rules, folder, OF_SOCKETS);
	free(folder);
	return err;
}

static int allow_files(int rules, const struct options *options)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < options->n_functions; i++)
		err = allow_socket(rules, options->functions[i].path);
	if (!err && options->control.path)
		err = allow_socket(rules, options->control.path);
	if (!err && options->soft.listen && strchr(options->soft.listen, '/'))
		err = allow_socket(rules, options->soft.listen);
	if (!err && options->verbs.device)
		err = allow_below(rules, "/dev/infiniband", LANDLOCK_ACCESS_FS_WRITE_FILE);
	return err;
}

int sandbox_files(const struct options *options)
{
	const struct landlock_ruleset_attr attr = { .handled_access_fs = HANDLED };
	const struct rlimit none = { 0, 0 };
	int rules, err;

	/* A core dump would contain the guests' memory. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prlimit(0, RLIMIT_CORE, &none, NULL))
		return -errno;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
	err = allow_files(rules, options);
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

/* ---- system calls */

static const int allowed[] = {
	/* memory, existing threads, time */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(sched_yield), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(timerfd_settime), SCMP_SYS(getrandom),
	/* signals */
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall), SCMP_SYS(sigaltstack),
	/* open files; the guest's memory, and the eventfds of its interrupts */
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(fstat),
	SCMP_SYS(newfstatat), SCMP_SYS(fstatfs), SCMP_SYS(fcntl), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(io_submit), SCMP_SYS(io_getevents),
	/* this process */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
	/* monitors and readers */
	SCMP_SYS(accept4), SCMP_SYS(getsockopt), SCMP_SYS(shutdown), SCMP_SYS(sendto),
	SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
	/* sockets are removed at exit; sandbox_files() limits which ones */
	SCMP_SYS(unlink), SCMP_SYS(unlinkat),
#ifdef __SANITIZE_ADDRESS__
	/* The leak detector uses a thread that stops all other threads. */
	SCMP_SYS(clone), SCMP_SYS(ptrace), SCMP_SYS(prctl), SCMP_SYS(wait4), SCMP_SYS(kill),
	SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(getdents), SCMP_SYS(getdents64), SCMP_SYS(getppid),
	SCMP_SYS(prlimit64), SCMP_SYS(getrlimit), SCMP_SYS(sched_getaffinity), SCMP_SYS(dup2),
	SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(mincore),
#endif
};

/* For libibverbs, which looks up GIDs in sysfs, and resolves peers by netlink. */
static const int allowed_verbs[] = {
	SCMP_SYS(bind), SCMP_SYS(connect), SCMP_SYS(getsockname), SCMP_SYS(setsockopt),
	SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(timerfd_create), SCMP_SYS(eventfd2),
	SCMP_SYS(lseek), SCMP_SYS(pread64), SCMP_SYS(getdents64), SCMP_SYS(stat), SCMP_SYS(lstat),
	SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
	SCMP_SYS(uname), SCMP_SYS(sysinfo),
};

/* For reconnecting a lost link to another program. */
static const int allowed_links[] = {
	SCMP_SYS(connect), SCMP_SYS(setsockopt),
};

static const int deadly[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev), SCMP_SYS(init_module), SCMP_SYS(finit_module),
	SCMP_SYS(mount), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(pivot_root),
	SCMP_SYS(chroot), SCMP_SYS(kexec_load), SCMP_SYS(perf_event_open), SCMP_SYS(keyctl),
	SCMP_SYS(bpf),
#ifndef __SANITIZE_ADDRESS__
	SCMP_SYS(ptrace),
#endif
};

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < count; i++)
		err = seccomp_rule_add(filter, action, calls[i], 0);
	return err;
}

/* Adds system calls that are allowed depending on their arguments. */
static int add_narrow(scmp_filter_ctx filter)
{
	static const int maps[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	size_t i;
	int err = 0;

	for (i = 0; !err && i < COUNT(maps); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, maps[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* tgkill() may only signal this process, as abort() does. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	return err;
}

static int add_families(scmp_filter_ctx filter, const int *families, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < count; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i]));
	return err;
}

static int add_links(scmp_filter_ctx filter)
{
	static const int families[] = { AF_UNIX, AF_INET, AF_INET6 };
	int err = add_list(filter, SCMP_ACT_ALLOW, allowed_links, COUNT(allowed_links));

	return err ? err : add_families(filter, families, COUNT(families));
}

static int add_verbs(scmp_filter_ctx filter)
{
	static const int families[] = { AF_NETLINK, AF_INET, AF_INET6 };
	int err = add_list(filter, SCMP_ACT_ALLOW, allowed_verbs, COUNT(allowed_verbs));

	if (!err)
		err = add_families(filter, families, COUNT(families));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, _IOC_TYPEMASK << _IOC_TYPESHIFT,
					       RDMA_IOCTL_MAGIC << _IOC_TYPESHIFT));
	/* A worker thread calls setpriority() when it starts. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setpriority), 1,
				       SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS));
#ifndef __SANITIZE_ADDRESS__
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC,
					       O_RDONLY));
#endif
	return err;
}

int sandbox_calls(const struct options *options)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = add_list(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
	if (!err)
		err = add_list(filter, SCMP_ACT_KILL_PROCESS, deadly, COUNT(deadly));
	if (!err)
		err = add_narrow(filter);
	if (!err && options->verbs.device)
		err = add_verbs(filter);
	if (!err && options->soft.n_join)
		err = add_links(filter);
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
