/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs of a type that only one adapter family has. They need no connection: each
 * request contains the address of its peer. family/FAMILY.c implements those of a family;
 * Meson finds these files.
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
	/* Access to the peer's memory; returns an errno. */
	int (*query)(struct ibv_context *ctx, bool *can_read, bool *can_write,
		     uint32_t *max_bytes);
	struct ibv_qp *(*create)(struct ibv_context *ctx,
				 struct ibv_qp_init_attr_ex *attr);
};

/* NULL if the family has none. */
const struct driver_qp *driver_qp_of(const char *family);

#endif /* TEST_DRIVER_QP_H */
