/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts messages of the companion's family to records. */
#ifndef EADM_DECODE_H
#define EADM_DECODE_H

#include "model/record.h"
#include "source/query.h"

int eadm_decode(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		const struct eadm_object *object, bool hw,
		struct eadm_record *rec) EADM_MUST_CHECK;

#endif /* EADM_DECODE_H */
