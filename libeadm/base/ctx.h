/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The context: the state that all parts of the library share, its last error
 * and its log.
 */
#ifndef EADM_CTX_H
#define EADM_CTX_H

#include "base.h"

struct eadm_archive;
struct eadm_device;
struct eadm_kept;
struct eadm_source;

/* The list of devices, and whether the companion is available. */
struct eadm_devices {
	struct eadm_device *dev;
	unsigned int n;
	size_t max;
	int family_err;		/* why the companion is unavailable; 0: available */
	int rdma_err;		/* why RDMA netlink is unavailable; 0: available */
	uint16_t family;
	uint32_t events;	/* number of the multicast group; 0: none */
	bool held;		/* see eadm_scan() */
	bool kept;		/* the snapshot being captured contains the list */
	bool partial;		/* RDMA netlink lists no other devices; not queried */
};

/*
 * Cache of process names, which rows look up repeatedly. A round ends when recording or
 * reading moves to a different snapshot.
 */
struct eadm_comms {
	unsigned int round;
	struct {
		uint32_t pid;
		unsigned int round;
		uint64_t time;
		char name[32];		/* "": none */
	} comm[64];
};

#define EADM_ERRMSG_MAX 512

struct eadm_ctx {
	struct eadm_source *src;
	struct eadm_archive *archive;	/* libraries for bundles, NULL until needed */
	struct eadm_kept *kept;		/* see eadm_keep_answers() */
	bool keeps;
	struct eadm_devices devices;
	struct eadm_comms comms;
	unsigned int timeout_ms;
	bool live;
	bool no_peers;		/* see eadm_set_peers() */
	int64_t clock_offset;	/* wall clock minus monotonic clock, ns */
	enum eadm_log_level log_level;	/* the least severe level that is logged */
	eadm_log_fn log;
	void *log_data;
	char *root;		/* root of the machine's files; NULL: "/" */
	/* Output of libibverbs in a child process, its result and time. */
	struct verbs_list {
		char *said;	/* NULL: not queried */
		const char *limits;	/* part of @said after the list; NULL: incomplete list */
		bool asked_limits;
		int ended;
		uint64_t time;
		/* Devices that blocked a child which opened them. */
		struct slow_device {
			char name[EADM_DEV_NAME_MAX];
			uint32_t index;	/* of the device that hung */
			uint64_t hung;	/* when a request for it timed out; 0: never */
		} *slow;
		size_t n_slow, max_slow;
	} verbs;
	/* Child processes that were killed and have not ended yet: descriptors of processes. */
	struct eadm_children {
		int pidfd[4];
		unsigned int n;
	} children;
	/* Processes that had not loaded libibverbs when they were last read, sorted. */
	struct eadm_images {
		struct eadm_image {
			unsigned int pid;
			uint64_t start, faults, size;
		} *image;
		size_t n, max;
	} without_verbs;
	/* Generic netlink families found so far; see eadm_ask_family(). */
	struct {
		const char *name;
		uint16_t id;
	} families[3];
	char errmsg[EADM_ERRMSG_MAX];
};

int eadm_fail(struct eadm_ctx *ctx, int error, const char *fmt, ...)
	EADM_PRINTF(3, 4);
int eadm_oom(struct eadm_ctx *ctx);

/* The message of the last error, saved during an operation that may also fail. */
struct eadm_errmsg {
	char text[EADM_ERRMSG_MAX];
};

void eadm_errmsg_push(const struct eadm_ctx *ctx, struct eadm_errmsg *kept);
void eadm_errmsg_pop(struct eadm_ctx *ctx, const struct eadm_errmsg *kept);

void eadm_log(struct eadm_ctx *ctx, enum eadm_log_level level, const char *fmt,
	      ...) EADM_PRINTF(3, 4);
void eadm_clock_start(struct eadm_ctx *ctx);
uint64_t eadm_now(const struct eadm_ctx *ctx);
int64_t eadm_clock_step(const struct eadm_ctx *ctx);

#endif /* EADM_CTX_H */
