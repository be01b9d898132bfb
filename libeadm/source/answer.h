/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Responses that the library generates, in the form of netlink messages. */
#ifndef EADM_ANSWER_H
#define EADM_ANSWER_H

#include "base/bytes.h"
#include "query.h"

struct eadm_answer {
	struct eadm_ctx *ctx;
	struct eadm_bytes out;	/* complete messages, one after the other */
	uint16_t type;
	uint8_t cmd;
	uint32_t seq;
};

size_t eadm_answer_row(struct eadm_answer *answer,
		       const struct eadm_device *dev);
int eadm_answer_stream(struct eadm_answer *answer,
		       struct eadm_stream **stream) EADM_MUST_CHECK;

#endif /* EADM_ANSWER_H */
