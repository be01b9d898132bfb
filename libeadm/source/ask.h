/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Single requests to parts of the kernel other than RDMA, each on a separate socket.
 * The results become parts of rows, so captures do not store the messages themselves.
 */
#ifndef EADM_ASK_H
#define EADM_ASK_H

#include <libmnl/libmnl.h>

#include "base/ctx.h"

bool eadm_ask(int bus, struct nlmsghdr *nlh, mnl_cb_t take, void *data);

/* Generic netlink. */
bool eadm_ask_family(struct eadm_ctx *ctx, const char *name, uint16_t *id);
struct nlmsghdr *eadm_ask_begin(void *buf, uint16_t type, uint16_t flags,
				uint8_t cmd, uint8_t version);

#endif /* EADM_ASK_H */
