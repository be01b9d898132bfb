// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lookups for rules about the setup: rows of the setup and of modules, and a device's
 * driver.
 */
#include <limits.h>
#include <string.h>

#include "family/family.h"
#include "rules_setup.h"

bool eadm_judge_knows(struct judge *j, const struct diag_row *row,
		  unsigned int field)
{
	if (diag_has(row, field))
		return true;
	eadm_judge_unknown(j);
	return false;
}

/* A capture may contain any number; strerror() handles invalid numbers. */
int eadm_judge_errno(const struct diag_row *row, unsigned int field)
{
	int64_t error = -(int64_t)(int32_t)diag_u64(row, field);

	return error > INT_MAX ? INT_MAX : error;
}

const struct diag_row *eadm_judge_setup(struct judge *j,
					const struct diag_row *dev)
{
	return eadm_diag_find(eadm_judge_now(j), DIAG_SETUP, dev->dev,
			      dev->dev);
}

const struct diag_row *eadm_judge_module(struct judge *j, const char *name)
{
	const struct diag_rows *rows = &eadm_judge_now(j)->rows[DIAG_MODULE];
	size_t i;

	for (i = 0; i < rows->n; i++) {
		if (!strcmp(diag_text(&rows->row[i], MOD_NAME), name))
			return &rows->row[i];
	}
	return NULL;
}

const char *eadm_judge_driver(struct judge *j, const struct diag_row *dev)
{
	const char *driver = diag_text(dev, DEV_DRIVER);

	return *driver ? driver :
			 diag_text(eadm_judge_setup(j, dev), SETUP_DRIVER);
}

const struct eadm_family *eadm_judge_family(struct judge *j,
					    const struct diag_row *dev)
{
	return eadm_family_find(eadm_judge_driver(j, dev));
}

/* Returns true if rdma_cm can connect at least one device, or if there is no device. */
bool eadm_judge_uses_cm(struct judge *j)
{
	const struct diag_rows *devs = &eadm_judge_now(j)->rows[DIAG_DEV];
	const struct eadm_family *family;
	size_t i;

	for (i = 0; i < devs->n; i++) {
		family = eadm_judge_family(j, &devs->row[i]);
		if (!family || eadm_family_has_cm(family))
			return true;
	}
	return !devs->n;
}
