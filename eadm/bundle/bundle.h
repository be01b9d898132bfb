/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that create and read support bundles. */
#ifndef BUNDLE_H
#define BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli.h"

#define BUNDLE_FORMAT 1
#define BUNDLE_MANIFEST "manifest.json"
#define BUNDLE_CAPTURE "capture.pcapng"

/* Outcome of collecting a part. */
enum outcome {
	OUTCOME_OK,
	OUTCOME_PARTIAL,	/* part of it could not be read */
	OUTCOME_ABSENT,		/* there is nothing to collect */
	OUTCOME_FAILED,
	OUTCOME_TIMEOUT,	/* data received in time is kept */
	OUTCOME_SKIPPED,	/* no time or room left */
};

extern const char *const outcome_names[];

struct part {
	char name[96];
	const char *what;
	enum outcome outcome;
	char *why;		/* or NULL */
	uint64_t ns, bytes;
	char digest[65];	/* "": no member */
};

/* The child process that collects the parts; only its parent uses this struct. */
struct worker {
	pid_t pid;		/* 0: none */
	int fd;			/* socket for jobs and outcomes */
	int out, err;		/* memory for its output */
};

struct bundle {
	struct cli *cli;
	struct eadm_ctx *ctx;		/* context for writing the container */
	struct eadm_bundle_writer *pack;
	struct eadm_redactor *redactor;	/* or NULL */
	const char *from;		/* capture used as the source, or NULL */
	const char *peer;		/* socket of the source program, or NULL */
	bool no_peers;
	bool hw, progress;
	uint64_t interval;		/* between two snapshots, ns */
	uint64_t timeout;		/* time limit per response, ns */
	uint64_t deadline, max_time;	/* CLOCK_MONOTONIC, ns */
	uint64_t max_size;
	uint64_t begin;
	int capture;			/* memory with the capture; -1: none */
	struct eadm_ctx *opened;	/* in the worker: context with an open capture, or NULL */
	struct part *parts;
	unsigned int n_parts, max_parts;
	struct worker worker;
};

/*
 * Runs in a child that also runs other jobs. Data goes to stdout, error messages to
 * stderr. Returns a value of enum status; "not found" and "unsupported" mean that there
 * is nothing to collect.
 */
typedef int (*collect_fn)(struct bundle *b, const void *arg);

struct part *bundle_part(struct bundle *b, const char *name, const char *what);
void bundle_why(struct part *part, const char *fmt, ...) PRINTF(2, 3);
int bundle_run(struct bundle *b, struct part *part, uint64_t limit_ms,
	       collect_fn collect, const void *arg);
void bundle_worker_end(struct bundle *b);
int bundle_load(int fd, char **data, size_t *len);
/* How the bytes of a part are redacted, if the bundle is. */
enum redaction { REDACTED_ALREADY, REDACT_FACTS, REDACT_LOG };

int bundle_keep(struct bundle *b, struct part *part, int fd, enum redaction how);

int bundle_capture(struct bundle *b);
int bundle_renderings(struct bundle *b);
int bundle_manifest(struct bundle *b);

/*
 * A part with simple facts: name of the member, a description, and the function that
 * collects it.
 */
struct fact_source {
	const char *name;
	const char *what;
	collect_fn collect;
	bool log;
};

/*
 * Parts in the order of collection; those collected after the capture use the names of
 * the devices.
 */
extern const struct fact_source facts_before[], facts_after[];

/* Print lines "PATH: VALUE" for files; return false if a file could not be read. */
bool facts_file(const char *path);
bool facts_folder(const char *folder, const char *const *names);
int facts_status(bool complete);
int collect_pci(struct bundle *b, const void *arg);
int collect_affinity(struct bundle *b, const void *arg);
int collect_rdma(struct bundle *b, const void *arg);
int collect_hw_counters(struct bundle *b, const void *arg);
int collect_netdev(struct bundle *b, const void *arg);
int collect_kernel_log(struct bundle *b, const void *arg);

int bundle_create(struct cli *cli);
int bundle_show(struct cli *cli);
int bundle_verify(struct cli *cli);

#endif /* BUNDLE_H */
