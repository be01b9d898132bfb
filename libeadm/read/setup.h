/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows about the machine and how it is set up, from what the source has of it. */
#ifndef EADM_SETUP_H
#define EADM_SETUP_H

#include "base/ctx.h"
#include "model/record.h"

/* Row @index of what is of no device: false past the last one. */
bool eadm_setup_row(struct eadm_ctx *ctx, const struct eadm_object *object,
		    unsigned int *index, struct eadm_record *rec);

/* The object whose rows those of @object are made of, or NULL. */
const struct eadm_object *eadm_setup_base(const struct eadm_object *object);
/* The row that belongs to one of that object; false: none does. */
bool eadm_setup_of(struct eadm_ctx *ctx, const struct eadm_object *object,
		   const struct eadm_record *base, struct eadm_record *rec);

#endif /* EADM_SETUP_H */
