/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions shared by rules about the setup. */
#ifndef EADM_RULES_SETUP_H
#define EADM_RULES_SETUP_H

#include "rules.h"

/* Returns false, and records this, if the source does not have the field. */
bool eadm_judge_knows(struct judge *j, const struct diag_row *row,
		      unsigned int field);
/* The positive number of a field with a negative errno. */
int eadm_judge_errno(const struct diag_row *row, unsigned int field);
const struct diag_row *eadm_judge_setup(struct judge *j,
					const struct diag_row *dev);
/* NULL if the source has no data about the module. */
const struct diag_row *eadm_judge_module(struct judge *j, const char *name);
const char *eadm_judge_driver(struct judge *j, const struct diag_row *dev);
bool eadm_judge_uses_cm(struct judge *j);
/*
 * Returns true if the GIDs are IP addresses and the GID in the row can be used in this
 * network namespace.
 */
bool eadm_judge_has_roce(const struct diag_row *setup);
void eadm_look_gid(struct judge *j, const struct diag_row *now,
		   const struct diag_row *then);
void eadm_look_netdev(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then);

#endif /* EADM_RULES_SETUP_H */
