/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The context: what all rooms share of it, its last error, its log. */
#ifndef EADM_CTX_H
#define EADM_CTX_H

#include "base.h"

struct eadm_archive;
struct eadm_capture;
struct eadm_device;
struct eadm_filter;
struct eadm_source;

/* The list of devices, and what is known of the companion. */
struct eadm_devices {
	struct eadm_device *dev;
	unsigned int n;
	size_t max;
	int family_err;		/* why there is no companion, 0: it is there */
	int rdma_err;		/* why there is no RDMA netlink, 0: it is there */
	uint16_t family;
	uint32_t events;	/* number of the multicast group, 0: none */
	bool held;		/* eadm_scan() */
	bool kept;		/* and the snapshot that is captured has it, too */
	bool partial;		/* RDMA netlink was not asked: there are no others */
};

/*
 * Names of processes, which rows ask for again and again. A round ends where
 * what is recorded or read becomes that of another snapshot.
 */
struct eadm_comms {
	unsigned int round;
	struct {
		uint32_t pid;
		unsigned int round;
		uint64_t time;
		char name[32];		/* "": there is none */
	} comm[64];
};

struct eadm_ctx {
	struct eadm_source *src;
	struct eadm_capture *capture;	/* being written, NULL: none */
	struct eadm_archive *archive;	/* NULL until a bundle needs it */
	struct eadm_filter *filter;	/* of captures, NULL: none */
	struct eadm_devices devices;
	struct eadm_comms comms;
	unsigned int timeout_ms;
	bool live;
	int64_t clock_offset;	/* wall clock less monotonic clock, ns */
	eadm_log_fn log;
	void *log_data;
	char *root;		/* of the machine's files, NULL: "/" */
	char errmsg[512];
};

int eadm_fail(struct eadm_ctx *ctx, int error, const char *fmt, ...)
	EADM_PRINTF(3, 4);
void eadm_log(struct eadm_ctx *ctx, const char *fmt, ...) EADM_PRINTF(2, 3);
void eadm_clock_start(struct eadm_ctx *ctx);
uint64_t eadm_now(const struct eadm_ctx *ctx);
int64_t eadm_clock_step(const struct eadm_ctx *ctx);

#endif /* EADM_CTX_H */
