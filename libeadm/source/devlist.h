/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The context's list of devices. */
#ifndef EADM_DEVLIST_H
#define EADM_DEVLIST_H

#include "base/ctx.h"

struct eadm_family;

struct eadm_device {
	uint32_t index;
	uint32_t ports;
	bool companion;		/* shown by the companion */
	bool rdma;		/* shown by RDMA netlink */
	char name[EADM_DEV_NAME_MAX];
	char fw[32];
	char node[32];		/* "uverbs0", as last found: check before use; "": none */
	uint64_t node_guid;
	bool has_guid;
	const struct eadm_family *family;	/* NULL: its driver is unknown */
};

struct eadm_device *eadm_device_add(struct eadm_ctx *ctx, uint32_t index,
				    const char *name);
int eadm_device_find(struct eadm_ctx *ctx, const char *name,
		     const struct eadm_device **dev) EADM_MUST_CHECK;
const struct eadm_device *eadm_device_of(const struct eadm_ctx *ctx,
					 uint32_t index);

#endif /* EADM_DEVLIST_H */
