/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that get the rows of each kind of step. */
#ifndef EADM_STEP_H
#define EADM_STEP_H

#include "plan.h"

struct step_ops {
	/* Called before open(), or NULL; an error ends the dump. */
	int (*prepare)(struct eadm_dump *dump, const struct step *step);
	/* Send the request, or NULL. */
	int (*open)(struct eadm_dump *dump, const struct step *step);
	/* Returns 1 with a row, 0 at the end, or a negative errno. */
	int (*next)(struct eadm_dump *dump, const struct step *step);
	/* Called after open() succeeded, or NULL. */
	void (*close)(struct eadm_dump *dump);
	/*
	 * Returns 1 to use the row in rec, 0 to skip it; an error ends the dump. If
	 * this is NULL, the row is in machine_rec.
	 */
	int (*take)(struct eadm_dump *dump, const struct step *step);
	/*
	 * Called after an error of open() or next(). Returns 0 to continue, 1 with a
	 * row of the data that is available in spite of the error. NULL: the error ends
	 * the dump.
	 */
	int (*failed)(struct eadm_dump *dump, const struct step *step, int error);
};

extern const struct step_ops eadm_step_ops[];	/* indexed by kind of step */

#endif /* EADM_STEP_H */
