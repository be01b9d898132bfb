/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that is an adapter, started by a test, and guests that are played for it. */
#ifndef SERVED_H
#define SERVED_H

#include <sys/types.h>

#include "guest.h"

#define SERVED_MAX 3

struct served {
	const char *program;
	char dir[64];
	char paths[SERVED_MAX][96];
	unsigned int n;
	pid_t pid;
};

/* Two QPs that are connected, and what they need; both may be of one guest. */
struct traffic {
	struct guest *guest[2];
	uint32_t pd[2];
	struct guest_mr mr[2];
	struct guest_cq cq[2];
	struct guest_qp qp[2];
};

/* Paths for @n sockets in a folder of its own. */
void served_open(struct served *served, const char *program, unsigned int n);
/* Starts the program, which listens when that returns. */
void served_start(struct served *served);
/* By a signal; its status. The sockets stay after SIGKILL. */
int served_end(struct served *served, int signal);
void served_close(struct served *served);
/* Of /proc/PID/status, in KiB. */
unsigned long served_status(const struct served *served, const char *name);
unsigned int served_descriptors(const struct served *served);

/* Memory, a VMM and a driver up to ACTIVATE; its GID ends with @gid. */
void played_open(struct guest *guest, const char *path, uint64_t ram);
void played_begin(struct guest *guest, uint8_t gid);

#define TRAFFIC_SIZE 16384u

/* Up to RTS. @gids: of the guests. */
void traffic_open(struct traffic *traffic, struct guest *one, struct guest *other,
		  const uint8_t gids[2]);
/* The next entry of a CQ, which comes while registers are read. */
bool traffic_wait(struct traffic *traffic, unsigned int i, struct pvrdma_cqe *cqe);
/* A send and a write from 0 to 1 and a read back, with data that is compared. */
bool traffic_verify(struct traffic *traffic, unsigned int seed);

#endif /* SERVED_H */
