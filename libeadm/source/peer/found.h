/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs on this machine that emulate adapters, in addition to the kernel's own
 * devices.
 */
#ifndef EADM_PEER_FOUND_H
#define EADM_PEER_FOUND_H

#include "source/node.h"

#define EADM_MAX_PROGRAMS 64

struct eadm_found;
struct eadm_link;

/* @folders: folders with their sockets, NULL-terminated; must outlive the result. */
struct eadm_found *eadm_found_new(struct eadm_ctx *ctx,
				  const char *const *folders);
void eadm_found_free(struct eadm_found *found);
/* Look for new and ended programs; returns the number of programs. */
unsigned int eadm_found_look(struct eadm_found *found);
struct eadm_ctx *eadm_found_ctx(const struct eadm_found *found);
/* Returns one of the programs found, valid until the next call to eadm_found_look(). */
struct eadm_link *eadm_found_link(const struct eadm_found *found, unsigned int i);
/* Returns true if the index belongs to a program's device. */
bool eadm_found_has(uint32_t dev_index);
/*
 * Returns the responses of all programs as one stream, after that of @first, which may
 * be NULL and is ended in any case. A program that fails is left out.
 */
int eadm_found_query_all(struct eadm_found *found, const struct eadm_query *query,
			 uint32_t seq, struct eadm_stream *first,
			 struct eadm_stream **stream) EADM_MUST_CHECK;
/* Query the device in the query's first argument. */
int eadm_found_query(struct eadm_found *found, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream) EADM_MUST_CHECK;
int eadm_found_raw(struct eadm_found *found, const struct eadm_query *query,
		   uint32_t seq, eadm_scrub_fn scrub,
		   struct eadm_stream **stream) EADM_MUST_CHECK;
/* Follow completed commands of that device; see follow.h. */
int eadm_found_follow(struct eadm_found *found, const struct eadm_query *query,
		      uint32_t seq, struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_PEER_FOUND_H */
