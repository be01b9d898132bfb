/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the adapter is there, and resets of its function. */
#ifndef EADM_PRESENCE_H
#define EADM_PRESENCE_H

#include <linux/types.h>

struct pci_dev;

/**
 * enum eadm_presence - what is known of an adapter
 * @EADM_PRESENT: it is there, or its function is being reset
 * @EADM_SILENT: it does not answer, but its function answers to config cycles
 * @EADM_ABSENT: there is no function, and so nothing that reaches memory
 */
enum eadm_presence {
	EADM_PRESENT,
	EADM_SILENT,
	EADM_ABSENT,
};

/**
 * struct eadm_function - the function of an adapter
 * @pdev: the function
 * @answers: one attempt to reach the adapter; any context
 * @resetting: it is being reset, and need not answer
 */
struct eadm_function {
	struct pci_dev *pdev;
	bool (*answers)(const struct eadm_function *fn);
	bool resetting;
};

/* Whether the driver knows that it is being reset: it reads as ones meanwhile. */
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
