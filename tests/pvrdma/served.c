// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"
#include "served.h"

#define CQE 64
#define DEPTH 16
/* What is waited for comes within that time, times EADM_PATIENCE. */
#define LIMIT_S 20

static time_t limit(void)
{
	const char *patience = getenv("EADM_PATIENCE");

	return time(NULL) + LIMIT_S * (patience ? atoi(patience) : 1);
}

/* ---- the program */

static const char *path_of(const struct served *served, const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/%s", served->dir, name);
	return path;
}

static struct served *opened;

/* A test that bails out shows what the program wrote, and leaves nothing behind. */
static void bailed_out(void)
{
	char line[256];
	FILE *log;

	if (!opened)
		return;
	log = fopen(path_of(opened, "log"), "r");
	while (log && fgets(line, sizeof(line), log))
		printf("# %s", line);
	if (log)
		fclose(log);
	if (opened->pid > 0)
		kill(opened->pid, SIGKILL);
	served_close(opened);
}

void served_open(struct served *served, const char *program, unsigned int n)
{
	unsigned int i;

	*served = (struct served){ .program = program, .n = n };
	opened = served;
	atexit(bailed_out);
	strcpy(served->dir, "/tmp/eadm-pvrdma-XXXXXX");
	guest_must(mkdtemp(served->dir) != NULL, "folder");
	for (i = 0; i < n; i++)
		snprintf(served->paths[i], sizeof(served->paths[i]), "%s/%u", served->dir, i);
}

static bool listens(const struct served *served)
{
	FILE *log = fopen(path_of(served, "log"), "r");
	char line[256];
	bool found = false;

	guest_must(log != NULL, "log");
	while (!found && fgets(line, sizeof(line), log))
		found = strstr(line, "listening on") && strchr(line, '\n');
	fclose(log);
	return found;
}

void served_start(struct served *served)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char control[96];
	char *argv[SERVED_MAX + 4] = { (char *)(uintptr_t)served->program, "--control", control };
	time_t end = limit();
	unsigned int i;
	int log;

	snprintf(control, sizeof(control), "%s", path_of(served, "control"));
	for (i = 0; i < served->n; i++)
		argv[3 + i] = served->paths[i];
	log = open(path_of(served, "log"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
		   0600);
	fflush(stdout);
	served->pid = fork();
	guest_must(log >= 0 && served->pid >= 0, "process");
	if (!served->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log, STDERR_FILENO);
		execv(served->program, argv);
		_exit(127);
	}
	close(log);
	while (!listens(served)) {
		guest_must(time(NULL) < end && !waitpid(served->pid, NULL, WNOHANG),
			   "the program listens");
		nanosleep(&pause, NULL);
	}
}

int served_end(struct served *served, int signal)
{
	int status = -1;

	kill(served->pid, signal);
	waitpid(served->pid, &status, 0);
	served->pid = 0;
	return status;
}

void served_close(struct served *served)
{
	unsigned int i;

	opened = NULL;
	for (i = 0; i < served->n; i++)
		unlink(served->paths[i]);
	unlink(path_of(served, "control"));
	unlink(path_of(served, "log"));
	rmdir(served->dir);
}

unsigned long served_status(const struct served *served, const char *name)
{
	char path[64], line[256];
	unsigned long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)served->pid);
	file = fopen(path, "r");
	guest_must(file != NULL, "the program lives");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtoul(line + strlen(name), NULL, 10);
	fclose(file);
	return value;
}

unsigned int served_descriptors(const struct served *served)
{
	unsigned int count = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)served->pid);
	dir = opendir(path);
	guest_must(dir != NULL, "the program lives");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

/* ---- guests */

void played_open(struct guest *guest, const char *path, uint64_t ram)
{
	*guest = (struct guest){ .wait = guest_wait };
	snprintf(guest->path, sizeof(guest->path), "%s", path);
	guest_open(guest, ram, 0);
}

void played_begin(struct guest *guest, uint8_t gid)
{
	guest->next = GUEST_PAGE;
	guest_plug(guest);
	guest_must(!guest_probe(guest), "ACTIVATE");
	guest_bind(guest, gid);
}

/* ---- traffic */

void traffic_open(struct traffic *traffic, struct guest *one, struct guest *other,
		  const uint8_t gids[2])
{
	struct guest_qp_want want = { .depth = DEPTH, .sge = 1, .type = PVRDMA_QPT_RC };
	unsigned int i;

	traffic->guest[0] = one;
	traffic->guest[1] = other;
	for (i = 0; i < 2; i++) {
		want.pd = traffic->pd[i] = guest_pd(traffic->guest[i], 0);
		traffic->mr[i] = guest_mr(traffic->guest[i], want.pd, 2 * TRAFFIC_SIZE,
					  ALL_ACCESS);
		traffic->cq[i] = guest_cq(traffic->guest[i], 0, CQE);
		want.cq = &traffic->cq[i];
		traffic->qp[i] = guest_qp(traffic->guest[i], &want);
	}
	guest_must(guest_connect(&traffic->qp[0], traffic->qp[1].qpn, gids[1]) &&
			   guest_connect(&traffic->qp[1], traffic->qp[0].qpn, gids[0]),
		   "two QPs are connected");
}

/* A register that is read makes the program go round once. */
bool traffic_wait(struct traffic *traffic, unsigned int i, struct pvrdma_cqe *cqe)
{
	time_t end = limit();

	while (!guest_poll(&traffic->cq[i], cqe))
		if (time(NULL) >= end || guest_read(traffic->guest[i], PVRDMA_REG_VERSION) == ~0u)
			return false;
	return true;
}

static unsigned char *bytes(struct traffic *traffic, unsigned int i, uint64_t offset)
{
	return (unsigned char *)guest_at(traffic->guest[i], traffic->mr[i].address) + offset;
}

static bool ends_well(struct traffic *traffic, unsigned int i, uint64_t wr_id, uint32_t opcode)
{
	struct pvrdma_cqe cqe = { .status = 99 };
	bool found = traffic_wait(traffic, i, &cqe);

	if (found && !cqe.status && cqe.wr_id == wr_id && cqe.opcode == opcode)
		return true;
	printf("# %u: %s, opcode %u, status %u, request %llu\n", i, found ? "ended" : "nothing",
	       cqe.opcode, cqe.status, (unsigned long long)cqe.wr_id);
	return false;
}

/* One request of 0 about the second half of the other's memory. */
static bool requests(struct traffic *traffic, uint64_t wr_id, uint32_t opcode, uint32_t ends)
{
	struct pvrdma_sqe sqe = {
		.wr_id = wr_id, .opcode = opcode, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { .addr = traffic->mr[1].address + TRAFFIC_SIZE,
			  .rkey = traffic->mr[1].rkey },
	};

	guest_send(&traffic->qp[0], &sqe, &traffic->mr[0], 0, TRAFFIC_SIZE);
	return ends_well(traffic, 0, wr_id, ends);
}

bool traffic_verify(struct traffic *traffic, unsigned int seed)
{
	struct pvrdma_sqe send = {
		.wr_id = seed, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
	};

	pattern_fill(bytes(traffic, 0, 0), 0, TRAFFIC_SIZE, seed);
	guest_recv(&traffic->qp[1], seed, &traffic->mr[1], 0, TRAFFIC_SIZE);
	guest_send(&traffic->qp[0], &send, &traffic->mr[0], 0, TRAFFIC_SIZE);
	if (!ends_well(traffic, 1, seed, PVRDMA_WC_RECV) ||
	    !ends_well(traffic, 0, seed, PVRDMA_WC_SEND) ||
	    !pattern_is(bytes(traffic, 1, 0), 0, TRAFFIC_SIZE, seed))
		return false;
	pattern_fill(bytes(traffic, 0, 0), 0, TRAFFIC_SIZE, seed + 1);
	if (!requests(traffic, seed, PVRDMA_WR_WRITE, PVRDMA_WC_WRITE) ||
	    !pattern_is(bytes(traffic, 1, TRAFFIC_SIZE), 0, TRAFFIC_SIZE, seed + 1))
		return false;
	pattern_fill(bytes(traffic, 1, TRAFFIC_SIZE), 0, TRAFFIC_SIZE, seed + 2);
	return requests(traffic, seed, PVRDMA_WR_READ, PVRDMA_WC_READ) &&
	       pattern_is(bytes(traffic, 0, 0), 0, TRAFFIC_SIZE, seed + 2);
}
