/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server with the dummy function, and a client of it, in one thread. */
#ifndef BENCH_H
#define BENCH_H

#include "client.h"
#include "dummy.h"
#include "tap.h"

#define PAGE 4096u
#define CONFIG_REGION 7
#define CAPABILITIES "\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}"

struct bench {
	struct dummy dummy;
	struct client client;
	/* Guest memory of the client's, RAM_SIZE bytes. */
	int ram;
};

#define RAM_SIZE (64u * PAGE)

/* With a version agreed on, if @ready; ends the program if that is not possible. */
void bench_open(struct bench *bench, bool ready);
/* A server of which only the client goes. */
void bench_reconnect(struct bench *bench, bool ready);
void bench_close(struct bench *bench);

/* Lets the guest's driver switch memory space and bus mastering on. */
void bench_enable(struct bench *bench);
/* All RAM at address 0, bus mastering on. */
void bench_map(struct bench *bench);
/* A file in memory of @size bytes. */
int bench_file(size_t size);
int bench_event(void);
/* Events since the last call. */
uint64_t bench_events(int fd);
/* Waits until the server has closed all descriptors of sessions that have ended. */
void bench_settle(struct bench *bench);
/* Without sockets, which the server closes in the background. */
unsigned int bench_open_files(void);
/* Waits until @count files are open. */
bool bench_files_become(unsigned int count);

#endif /* BENCH_H */
