/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PVRDMA adapter: registers, commands, queues and events as expected by a guest's
 * driver, in front of a backend.
 *
 * Threads: all calls are made by the thread that runs the event loop.
 */
#ifndef EADM_MODEL_H
#define EADM_MODEL_H

#include <stdint.h>
#include <sys/types.h>

#include "backend.h"

struct model;

/* Limits of one function, none of which may exceed the backend's limit. */
struct model_limits {
	uint32_t qps, cqs, mrs, pds, srqs;
	/* Work requests of a queue, entries of a CQ: powers of two. */
	uint32_t wr, cqe;
	uint32_t sge;
	/* Total size of user memory regions in bytes; 0: no limit. */
	uint64_t memory;
	/* Commands with a response per second; 0: no limit. */
	uint32_t commands;
};

extern const struct model_limits model_default_limits;

struct model_config {
	/* Name used in the log. */
	const char *name;
	struct backend *backend;
	/* MAC address of the paired network function; all zero: unknown. */
	uint8_t mac[6];
	/* Version of the interface (17 to 20), and the type of all its GIDs. */
	unsigned int version;
	enum ibv_gid_type gid_type;
	enum ibv_mtu mtu;
	struct model_limits limits;
	/* One line without a newline. */
	void (*log)(const char *name, const char *line);
};

/*
 * Listens on a socket at @path, with the permissions @mode, for the VMM that assigns the
 * function to its guest. Returns NULL with errno set on failure.
 */
struct model *model_open(const char *path, mode_t mode, const struct model_config *config);
void model_close(struct model *model);

/* Readable if model_dispatch() has work to do; see vfio_fd(). */
int model_fd(const struct model *model);
/* Returns 0, or -errno if no further VMM can be served. */
int model_dispatch(struct model *model);
/*
 * Does the work that was not possible from within the backend; to be called after the
 * backend's run(). Returns the time of the next call, like run().
 */
uint64_t model_run(struct model *model, uint64_t now);

#endif /* EADM_MODEL_H */
