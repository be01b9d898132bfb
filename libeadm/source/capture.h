/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer of captures. */
#ifndef EADM_CAPTURE_PRIV_H
#define EADM_CAPTURE_PRIV_H

#include "base/bytes.h"
#include "query.h"

struct eadm_capture;

/* Replaces or removes data before it is written. */
struct eadm_filter {
	void (*packet)(struct eadm_filter *filter, uint16_t proto,
		       const void *data, size_t len, struct eadm_bytes *out);
};

extern struct eadm_filter eadm_omit_secrets;

int eadm_capture_begin(struct eadm_ctx *ctx, const char *path,
		       const char *kernel, struct eadm_filter *filter,
		       struct eadm_capture **capture)
	EADM_MUST_CHECK;
struct eadm_ctx *eadm_capture_ctx(const struct eadm_capture *c);
int eadm_capture_end(struct eadm_capture *c, bool keep);
int eadm_capture_bound(struct eadm_capture *c, uint64_t bytes);
int eadm_capture_settle(struct eadm_capture *c) EADM_MUST_CHECK;
int eadm_capture_status(const struct eadm_capture *c);
bool eadm_capture_is_empty(const struct eadm_capture *c);
void eadm_capture_snapshot(struct eadm_capture *c);
void eadm_capture_request(struct eadm_capture *c,
			  const struct eadm_query *query, uint32_t seq);
void eadm_capture_stream(struct eadm_capture *c);
void eadm_capture_chunk(struct eadm_capture *c, uint16_t proto,
			const struct eadm_chunk *chunk);
void eadm_capture_error(struct eadm_capture *c, const struct eadm_query *query,
			uint32_t seq, int error);
void eadm_capture_missing(struct eadm_capture *c, int error,
			  const char *device, const char *what);

#endif /* EADM_CAPTURE_PRIV_H */
