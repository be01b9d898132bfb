/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a direction fails, as reported by its two ends. */
#ifndef MESH_CAUSE_H
#define MESH_CAUSE_H

#include <stdbool.h>

/* These numbers are part of the protocol: append only. */
enum mesh_cause {
	CAUSE_NONE,
	CAUSE_LOST,		/* packets do not arrive */
	CAUSE_MTU,		/* small packets arrive, large ones do not */
	CAUSE_NEIGHBOUR,	/* the kernel cannot resolve the address */
	CAUSE_ROUTE,
	CAUSE_GID,		/* no usable GID */
	CAUSE_ROCE,		/* the GIDs of the two ends have different RoCE versions */
	CAUSE_TYPE,		/* the two ends use different queue pair types */
	CAUSE_PORT,		/* the port is not active */
	CAUSE_ADAPTER,		/* the adapter is missing or cannot be used */
	CAUSE_PROVIDER,		/* a library is missing */
	CAUSE_LIMIT,		/* the limit on locked memory is too low */
	CAUSE_CONTROL,		/* no TCP connection between the two hosts */
	CAUSE_ABSENT,		/* the host did not join */
	CAUSE_DIED,		/* the process on the host ended */
	CAUSE_HUNG,		/* the process on the host sent no keep-alive in time */
	CAUSE_OTHER,
	CAUSE_END
};

/* The name in the column CAUSE and in metrics, and the text in the column WHY. */
const char *cause_name(enum mesh_cause cause);
const char *cause_text(enum mesh_cause cause);

/* Returns true if the end that reports the cause is at fault. */
bool cause_is_local(enum mesh_cause cause);

/* Derives the cause of a failure from the message of "eadm test". */
enum mesh_cause cause_of(const char *why);

#endif /* MESH_CAUSE_H */
