// SPDX-License-Identifier: GPL-2.0-or-later
/* The probe's files, in a separate BPF file system: no program is attached. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <libmnl/libmnl.h>
#include <linux/bpf.h>
#include <linux/genetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ctx.h"
#include "eadm_nl.h"
#include "model/fields.h"
#include "source/local.h"
#include "source/probe/load/loader.h"
#include "source/probe/record.h"
#include "tap.h"

#define UNPRIVILEGED 65534
#define PROGRAM EADM_PROBE_DIR "/programs/leave"

static struct eadm_ctx *ctx;

static int bpf(int cmd, union bpf_attr *attr)
{
	int fd = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (fd < 0) {
		perror("bpf");
		exit(1);
	}
	return fd;
}

static void pin(int fd, const char *name)
{
	char path[128];
	union bpf_attr attr = { 0 };

	snprintf(path, sizeof(path), EADM_PROBE_DIR "/%s", name);
	attr.pathname = (uintptr_t)path;
	attr.bpf_fd = fd;
	bpf(BPF_OBJ_PIN, &attr);
	if (chown(path, 0, UNPRIVILEGED) || chmod(path, 0640))
		exit(1);
	close(fd);
}

static int map(unsigned int type, unsigned int key, unsigned int value, unsigned int count)
{
	union bpf_attr attr = { 0 };

	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = count;
	return bpf(BPF_MAP_CREATE, &attr);
}

static void set(int fd, uint64_t key, const void *value)
{
	union bpf_attr attr = { 0 };

	attr.map_fd = fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)value;
	bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

static int program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0750) || chown(path, 0, UNPRIVILEGED))
		exit(1);
}

/* Pins a probe that the group UNPRIVILEGED may read. */
static void put_probe(struct eadm_probe_info info)
{
	int fd;

	info.abi = EADM_PROBE_ABI;
	info.cpus = 1;
	info.slots = 64;
	make_dir(EADM_PROBE_DIR);
	make_dir(EADM_PROBE_DIR "/programs");
	pin(program(), "programs/leave");
	pin(map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct eadm_probe_rec), info.slots), "records");
	pin(map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct eadm_probe_cpu), info.cpus), "cpus");
	pin(map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct eadm_probe_dev), EADM_PROBE_DEVS), "devs");
	pin(map(BPF_MAP_TYPE_HASH, 8, sizeof(struct eadm_probe_rec), EADM_PROBE_IN_FLIGHT),
	    "in_flight");
	fd = map(BPF_MAP_TYPE_ARRAY, 4, sizeof(info), 1);
	set(fd, 0, &info);
	pin(fd, "info");
}

static int open_map(const char *path)
{
	union bpf_attr attr = { 0 };

	attr.pathname = (uintptr_t)path;
	return bpf(BPF_OBJ_GET, &attr);
}

/* Adds a call that has not returned. */
static void add_call(unsigned int tid)
{
	const struct eadm_probe_rec rec = {
		.start = 1, .tid = tid, .dev = EADM_PROBE_NONE,
		.function = EADM_PROBE_FN_ib_destroy_qp_user,
	};

	set(open_map(EADM_PROBE_DIR "/in_flight"), tid, &rec);
}

/* Sets the only call that has returned. */
static void set_returned(unsigned int tid, enum eadm_probe_function function)
{
	const struct eadm_probe_rec rec = {
		.number = 1, .start = 2, .end = 3, .tid = tid, .dev = EADM_PROBE_NONE,
		.function = function,
	};
	const struct eadm_probe_cpu cpu = { .head = 1 };

	set(open_map(EADM_PROBE_DIR "/records"), 0, &rec);
	set(open_map(EADM_PROBE_DIR "/cpus"), 0, &cpu);
}

static unsigned int n_calls(void)
{
	struct eadm_query query = { 0 };
	struct eadm_answer answer = { .ctx = ctx };
	const struct nlmsghdr *nlh;
	unsigned int n = 0;
	int len;

	eadm_local_probe_calls(&answer, &query);
	nlh = (const void *)answer.out.p;
	for (len = answer.out.len; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		n++;
	free(answer.out.p);
	return n;
}

/* Value of an attribute in the probe's row, UINT64_MAX if it has none. */
static uint64_t status(uint16_t type)
{
	struct eadm_query query = { 0 };
	struct eadm_answer answer = { .ctx = ctx };
	const struct nlattr *attr;
	uint64_t value = UINT64_MAX;

	eadm_local_probe(&answer, &query);
	mnl_attr_for_each(attr, (const struct nlmsghdr *)answer.out.p, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != type)
			continue;
		value = 0;
		memcpy(&value, mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
	}
	free(answer.out.p);
	return value;
}

static void become(uid_t uid)
{
	const gid_t group = UNPRIVILEGED;

	if (!uid && setresuid(0, 0, 0))
		exit(1);
	if (setgroups(uid ? 1 : 0, &group) || setresgid(uid, uid, 0) || setresuid(uid, uid, 0))
		exit(1);
}

static void test_losses(void)
{
	put_probe((struct eadm_probe_info){ 0 });
	become(UNPRIVILEGED);
	ok(status(EADM_A_PROBE_STATE) == EADM_PROBE_STATE_RUNNING, "the group can read the probe");
	ok(!status(EADM_A_PROBE_LOST) && !status(EADM_A_PROBE_MADE), "  and its losses");
	become(0);
	chmod(PROGRAM, 0600);
	become(UNPRIVILEGED);
	ok(status(EADM_A_PROBE_LOST) == UINT64_MAX && status(EADM_A_PROBE_MADE) == UINT64_MAX &&
	   !status(EADM_A_PROBE_RECORDED), "losses that cannot be read are left out, not 0");
	become(0);
	chmod(PROGRAM, 0640);
}

static bool has_initial_pids(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == 0xeffffffcU;
}

static void test_pending(void)
{
	add_call(getpid());
	add_call(INT_MAX);
	/* In a different PID namespace, it is not known whether a thread exists. */
	ok(n_calls() == (has_initial_pids() ? 1 : 2), "a call of a thread that ended is not pending");
	if (mount("proc", "/proc", "proc", 0, "hidepid=2"))
		exit(1);
	become(UNPRIVILEGED);
	ok(n_calls() == 2, "calls of threads that /proc hides are pending");
	become(0);
	set_returned(getpid(), EADM_PROBE_FN_ib_modify_qp);
	ok(n_calls() == (has_initial_pids() ? 2 : 3),
	   "a call is pending while its thread makes calls that can be part of it");
	set_returned(getpid(), EADM_PROBE_FN_ib_uverbs_reg_mr);
	ok(n_calls() == (has_initial_pids() ? 1 : 2),
	   "a call is not pending once its thread has made another system call");
}

/* Starts a process that locks the directory, as the loader does. */
static pid_t claim(void)
{
	struct flock lock = { .l_type = F_RDLCK };
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready))
		exit(1);
	pid = fork();
	if (!pid) {
		if (fcntl(open(EADM_PROBE_DIR, O_RDONLY), F_SETLK, &lock))
			exit(1);
		close(ready[1]);
		pause();
		exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1))
		exit(1);
	close(ready[0]);
	return pid;
}

static void test_run(void)
{
	int dir = probe_dir_open(), result;
	pid_t pid;

	ok(!probe_end_loader(dir, 0) && !probe_remove(dir) && access(EADM_PROBE_DIR, F_OK),
	   "a probe without a process is removed");
	close(dir);
	put_probe((struct eadm_probe_info){ .runner = 1 });
	become(UNPRIVILEGED);
	ok(status(EADM_A_PROBE_STATE) == EADM_PROBE_STATE_BROKEN,
	   "a probe whose process was killed is broken");
	become(0);
	pid = claim();
	become(UNPRIVILEGED);
	ok(status(EADM_A_PROBE_STATE) == EADM_PROBE_STATE_RUNNING,
	   "a probe whose process exists is running, even if /proc hides the process");
	become(0);
	dir = probe_dir_open();
	ok(!probe_end_loader(dir, 0) && probe_end_loader(dir, pid + 1) == -EPERM &&
	   !waitpid(pid, &result, WNOHANG), "stop ends no process because of its lock only");
	ok(!probe_end_loader(dir, pid) && waitpid(pid, &result, 0) == pid && WIFSIGNALED(result) &&
	   WTERMSIG(result) == SIGTERM, "stop ends the process");
	ok(!rename(EADM_PROBE_DIR, EADM_PROBE_DIR "-old"), "the directory is moved");
	close(probe_dir_claim());
	ok(!probe_remove(dir) && !access(EADM_PROBE_DIR, F_OK) &&
	   access(EADM_PROBE_DIR "-old/records", F_OK), "a different process's probe is not removed");
	close(dir);
}

int main(void)
{
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", "/sys/fs/bpf", "bpf", 0, "mode=711")) {
		printf("1..0 # SKIP requires root and BPF\n");
		return 0;
	}
	ctx = eadm_new();
	test_losses();
	test_pending();
	test_run();
	eadm_free(ctx);
	return done();
}
