/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue pair that this program creates and connects by address, without a connection
 * manager.
 */
#ifndef TEST_ENDPOINT_H
#define TEST_ENDPOINT_H

#include "adapter.h"
#include "exchange.h"

struct endpoint {
	struct adapter adapter;
	struct ibv_context *ctx;
	struct ibv_comp_channel *channels[2];
	uint32_t psn, qkey;
	uint16_t lid;
	uint8_t mtu;
	/* Received part of the peer's message, which must be complete by @deadline. */
	uint8_t in[EXCHANGE_SIZE];
	size_t n_in;
	uint64_t deadline;
};

/*
 * The caller sets @link->endpoint->adapter before endpoint_make(), and frees the
 * endpoint after endpoint_release(). Functions that return int return -1 on failure;
 * endpoint_make() then also sets *@reason.
 */
int endpoint_make(struct link *link, uint32_t size, uint32_t shared,
		  uint32_t depth, enum exchange_reason *reason);
int endpoint_connect(struct link *link, const struct exchange *peer);
void endpoint_describe(const struct link *link, struct exchange *message);
void endpoint_release(struct link *link);
void endpoint_path(const struct link *link, struct path *path);

#endif /* TEST_ENDPOINT_H */
