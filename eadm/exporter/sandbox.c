// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restricts the system calls of the program once it listens. Files can only be opened
 * for reading; an attempt to start a program or access another process kills this
 * process; any call that is not listed fails as on older kernels that do not support
 * it, which libraries can handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exporter.h"

static const int allowed[] = {
	/* memory, threads, time */
	SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap),
	SCMP_SYS(madvise), SCMP_SYS(mprotect), SCMP_SYS(clone),
	SCMP_SYS(clone3), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(getrandom), SCMP_SYS(membarrier),
	/* signals */
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(restart_syscall), SCMP_SYS(sigaltstack),
	/* open files and their attributes */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat),
	SCMP_SYS(newfstatat), SCMP_SYS(stat), SCMP_SYS(lstat),
	SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64), SCMP_SYS(fcntl), SCMP_SYS(dup),
	/* the capture of a bundle, which is unpacked in memory */
	SCMP_SYS(memfd_create),
	/* this process and machine */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid),
	SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
	SCMP_SYS(getrusage), SCMP_SYS(uname), SCMP_SYS(sysinfo),
	SCMP_SYS(getrlimit),
	/* the network */
	SCMP_SYS(socket), SCMP_SYS(bind), SCMP_SYS(getsockname),
	/* connections to programs that emulate adapters */
	SCMP_SYS(connect),
	SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
	SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(shutdown),
	SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg), SCMP_SYS(sendfile), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(eventfd2), SCMP_SYS(pipe2),
	SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
};

static const unsigned int ioctls[] = { FIONBIO, SIOCINQ, SIOCOUTQ };

static const int deadly[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(init_module), SCMP_SYS(finit_module),
	SCMP_SYS(mount), SCMP_SYS(setns), SCMP_SYS(unshare),
	SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(kexec_load),
	SCMP_SYS(perf_event_open), SCMP_SYS(keyctl),
};

/* Reading the probe's records requires bpf(2), which can also load programs. */
static int add_bpf_rules(scmp_filter_ctx filter)
{
	static const int reads[] = {
		BPF_OBJ_GET, BPF_MAP_LOOKUP_BATCH, BPF_OBJ_GET_INFO_BY_FD,
	};
	static const int writes[] = {
		BPF_MAP_CREATE, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM,
		BPF_PROG_LOAD, BPF_OBJ_PIN,
	};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(reads); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1,
				       SCMP_A0(SCMP_CMP_EQ, reads[i]));
	for (i = 0; !ret && i < ARRAY_SIZE(writes); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS,
				       SCMP_SYS(bpf), 1,
				       SCMP_A0(SCMP_CMP_EQ, writes[i]));
	return ret;
}

static int add_rules(scmp_filter_ctx filter)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(allowed); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (i = 0; !ret && i < ARRAY_SIZE(deadly); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS,
				       deadly[i], 0);
	if (!ret)
		ret = add_bpf_rules(filter);
	if (!ret)
		ret = seccomp_rule_add(
			filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ,
				O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
	for (i = 0; !ret && i < ARRAY_SIZE(ioctls); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
				       SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, ioctls[i]));
	/* Libraries name their threads. */
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
				       SCMP_SYS(prctl), 1,
				       SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
	/* These calls can also affect other processes. */
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
				       SCMP_SYS(tgkill), 1,
				       SCMP_A0(SCMP_CMP_EQ, getpid()));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
				       SCMP_SYS(prlimit64), 1,
				       SCMP_A0(SCMP_CMP_EQ, 0));
	/* Applies to all threads, although there should be only one. */
	if (!ret)
		ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	return ret;
}

int sandbox_enter(char *why, size_t size)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int ret;

	ret = filter ? add_rules(filter) : -ENOMEM;
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	if (ret)
		snprintf(why, size, "seccomp: %s", strerror(-ret));
	return ret;
}
