// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the exporter: ends it at the first system call that its sandbox refuses,
 * with a message that names the call. Without this, the call fails with ENOSYS.
 */
#include <dlfcn.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void on_refusal(int signum, siginfo_t *info, void *context)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
						      info->si_syscall);

	(void)signum;
	(void)context;
	dprintf(STDERR_FILENO, "the sandbox refuses %s\n", name ? name : "a system call");
	_exit(1);
}

scmp_filter_ctx seccomp_init(uint32_t action)
{
	struct sigaction sa = { .sa_sigaction = on_refusal, .sa_flags = SA_SIGINFO };
	scmp_filter_ctx (*real)(uint32_t) = dlsym(RTLD_NEXT, "seccomp_init");

	(void)action;
	sigaction(SIGSYS, &sa, NULL);
	return real(SCMP_ACT_TRAP);
}
