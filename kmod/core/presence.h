/* SPDX-License-Identifier: GPL-2.0-only */
/* Presence of the adapter, and resets of its function. */
#ifndef EADM_PRESENCE_H
#define EADM_PRESENCE_H

#include <linux/types.h>

struct pci_dev;

/**
 * enum eadm_presence - presence of an adapter
 * @EADM_PRESENT: the adapter is present, or its function is being reset
 * @EADM_SILENT: the adapter does not respond, but its function responds to config cycles
 * @EADM_ABSENT: the function is absent, so nothing can access memory
 */
enum eadm_presence {
	EADM_PRESENT,
	EADM_SILENT,
	EADM_ABSENT,
};

/**
 * struct eadm_function - the function of an adapter
 * @pdev: the function
 * @answers: make one attempt to reach the adapter; callable in any context
 * @resetting: the function is being reset, and need not respond
 */
struct eadm_function {
	struct pci_dev *pdev;
	bool (*answers)(const struct eadm_function *fn);
	bool resetting;
};

/* Returns true if a reset is known to be in progress, during which all reads return ones. */
static inline bool eadm_function_is_resetting(const struct eadm_function *fn)
{
	return READ_ONCE(fn->resetting);
}

bool eadm_function_answers(const struct eadm_function *fn);
enum eadm_presence eadm_function_find(const struct eadm_function *fn);
bool eadm_function_reset(struct eadm_function *fn);
void eadm_function_reset_begins(struct eadm_function *fn);
bool eadm_function_reset_ended(struct eadm_function *fn);

#endif /* EADM_PRESENCE_H */
