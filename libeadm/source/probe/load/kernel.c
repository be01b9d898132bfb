// SPDX-License-Identifier: LGPL-2.1-or-later
/* Features of the running kernel, determined by trying them. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"

#define INSN(op, dst, src, offset, value) \
	{ .code = (op), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (value) }

static int load(const struct bpf_insn *insns, size_t count)
{
	return bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, NULL, "GPL", insns, count,
			     NULL);
}

/* Returns true if atomic additions return the old value (Linux 5.12). */
bool kernel_has_fetch(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -8, 0),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, BPF_REG_0, -8,
		     BPF_ADD | BPF_FETCH),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	int fd = load(insns, sizeof(insns) / sizeof(insns[0]));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns true if kprobes can be attached by links, which can be pinned (Linux 5.15). */
bool kernel_keeps_kprobes(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	int fd = load(insns, sizeof(insns) / sizeof(insns[0]));
	int link;

	if (fd < 0)
		return false;
	/*
	 * The call passes no event: only a kernel that supports such links returns this
	 * error.
	 */
	link = bpf_link_create(fd, -1, BPF_PERF_EVENT, NULL);
	close(fd);
	if (link >= 0)
		close(link);
	return link == -EBADF;
}

/* Returns true if any module has type information (Linux 5.11, if configured). */
bool kernel_types_modules(void)
{
	DIR *dir = opendir("/sys/kernel/btf");
	struct dirent *entry;
	bool has = false;

	while (dir && (entry = readdir(dir)))
		has |= entry->d_name[0] != '.' &&
		       strcmp(entry->d_name, "vmlinux") != 0;
	if (dir)
		closedir(dir);
	return has;
}
