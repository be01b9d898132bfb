/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Building netlink messages in growing memory. */
#ifndef EADM_MESSAGE_H
#define EADM_MESSAGE_H

#include "base/bytes.h"
#include "query.h"

/* Large enough for every request of this library. */
#define EADM_REQUEST_MAX 512

size_t eadm_message_begin(struct eadm_bytes *out, uint16_t type, uint16_t flags,
			  uint32_t seq);
void eadm_message_genl(struct eadm_bytes *out, uint8_t cmd);
void eadm_message_put(struct eadm_bytes *out, uint16_t type, const void *data,
		      size_t len);
void eadm_message_put_u32(struct eadm_bytes *out, uint16_t type,
			  uint32_t value);
void eadm_message_put_string(struct eadm_bytes *out, uint16_t type,
			     const char *str);
void eadm_message_end(struct eadm_bytes *out, size_t at);
void eadm_message_align(struct eadm_bytes *out, size_t from);
void eadm_message_query(struct eadm_bytes *out, const struct eadm_query *query,
			uint32_t seq);

#endif /* EADM_MESSAGE_H */
