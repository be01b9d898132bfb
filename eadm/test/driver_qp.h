/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs of a type that only one adapter family supports. They need no connection:
 * each request contains the address of the peer. family/FAMILY.c implements the type of
 * a family; Meson finds these files.
 */
#ifndef TEST_DRIVER_QP_H
#define TEST_DRIVER_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs.h"

struct driver_qp {
	const char *family;
	const char *type;	/* name used by applications */
	const char *lost;	/* what to do if packets are lost */
	const char *(*open)(void);	/* NULL, or the name of a missing library */
	/* Queries the access to the peer's memory. Returns 0 or an errno. */
	int (*query)(struct ibv_context *ctx, bool *can_read, bool *can_write,
		     uint32_t *max_bytes);
	struct ibv_qp *(*create)(struct ibv_context *ctx,
				 struct ibv_qp_init_attr_ex *attr);
};

/* Returns NULL if the family has no such type. */
const struct driver_qp *driver_qp_of(const char *family);

#endif /* TEST_DRIVER_QP_H */
