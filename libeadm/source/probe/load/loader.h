/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the probe's loader. */
#ifndef EADM_PROBE_LOADER_H
#define EADM_PROBE_LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_BPF_DIR "/sys/fs/bpf"

/* functions.c: functions that programs can be attached to. */
struct functions {
	char **name;
	unsigned int n;
	uint64_t mask;		/* bits of enum eadm_probe_function */
	uint64_t expected;	/* functions that should exist */
};

int functions_find(struct functions *there, bool typed);
/* Returns true if the function belongs to a driver and runs a command. */
bool functions_is_command(const char *symbol);
bool functions_has(const struct functions *there, const char *symbol);
void functions_free(struct functions *there);

void functions_drop(struct functions *there, const char *symbol);

/* kernel.c: features of a kernel. */
bool kernel_has_fetch(void);
bool kernel_keeps_kprobes(void);
bool kernel_types_modules(void);

/* fail.c: print an error as a line and return it. */
int fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * remove.c: create or open the probe's directory. If it cannot be used, these functions
 * print why. probe_end_loader() ends the process that has claimed the directory, if it is
 * the one that "run" started; @loader: its PID, or 0 if "start" started the probe.
 */
int probe_dir_claim(void);
int probe_dir_open(void);
int probe_end_loader(int dir, pid_t loader);
/* Remove the pinned probe, even if it is incomplete, and the group's right to search. */
int probe_remove(int dir);

#endif /* EADM_PROBE_LOADER_H */
