/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows about the machine and its setup. */
#ifndef EADM_SETUP_H
#define EADM_SETUP_H

#include "model/record.h"
#include "source/query.h"

/* State of a dump of such rows: the last row points into the reply. */
struct eadm_setup {
	struct eadm_reply reply;
	bool open;
	unsigned int index, number;	/* numbers of the next query and the next row */
	/*
	 * For modules: requested attributes, 0: all; and whether only the module at
	 * @index is requested.
	 */
	uint64_t fields;
	bool one;
	/*
	 * For processes: the process to show, or the processes already shown, in
	 * ascending order.
	 */
	uint32_t pid, *shown;
	size_t n_shown, max_shown;
};

/* Select only the module with this name, which may not exist. */
void eadm_setup_select(struct eadm_setup *setup, const char *name);

int eadm_setup_next(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_object *object, struct eadm_record *rec)
	EADM_MUST_CHECK;
/*
 * Returns the object from whose rows those of @object are derived, or NULL if @object
 * has its own rows.
 */
const struct eadm_object *eadm_setup_base(const struct eadm_object *object);
int eadm_setup_of(struct eadm_ctx *ctx, struct eadm_setup *setup,
		  const struct eadm_object *object,
		  const struct eadm_record *base, struct eadm_record *rec)
	EADM_MUST_CHECK;
/* Called before the next query of the same dump, and at its end. */
void eadm_setup_close(struct eadm_setup *setup);
void eadm_setup_free(struct eadm_setup *setup);

#endif /* EADM_SETUP_H */
