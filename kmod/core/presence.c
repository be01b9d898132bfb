// SPDX-License-Identifier: GPL-2.0-only
/*
 * Presence of the adapter, and resets of its function. Linked into each driver.
 *
 * A function that is being reset reads as all ones for 100 ms or longer, as does a function that
 * was removed. A reset function comes back, whereas a removed one is abandoned permanently, so a
 * single read proves nothing. An adapter is missing if it did not respond to any of many reads
 * within a second, or if the PCI core reports it as disconnected. While a reset is known to be in
 * progress, the adapter is not missing, however long the reset takes.
 */

#include <linux/delay.h>
#include <linux/pci.h>

#include "compat_kernel.h"
#include "presence.h"

/* All reads together take longer than a function normally needs to come back from a reset. */
#define READS		21
#define READ_GAP_MS	50

/* A transient error that is being handled does not count as a disconnection. */
static bool is_disconnected(const struct eadm_function *fn)
{
	return READ_ONCE(fn->pdev->error_state) == pci_channel_io_perm_failure;
}

/**
 * eadm_function_answers() - check whether the adapter responds now
 * @fn: the function
 *
 * If false, the adapter is not necessarily gone.
 *
 * Context: any.
 */
bool eadm_function_answers(const struct eadm_function *fn)
{
	return eadm_function_is_resetting(fn) || (!is_disconnected(fn) && fn->answers(fn));
}

/**
 * eadm_function_find() - determine whether the adapter is present
 * @fn: the function
 *
 * Context: process; takes a second if the adapter does not respond.
 */
enum eadm_presence eadm_function_find(const struct eadm_function *fn)
{
	bool present = false;
	int i;

	for (i = 0; i < READS; i++) {
		if (i)
			msleep(READ_GAP_MS);
		if (is_disconnected(fn))
			return EADM_ABSENT;
		if (eadm_function_answers(fn))
			return EADM_PRESENT;
		present = present || pci_device_is_present(fn->pdev);
	}
	/* A reset may have begun since the last check. */
	if (eadm_function_is_resetting(fn))
		return EADM_PRESENT;
	return present ? EADM_SILENT : EADM_ABSENT;
}

/**
 * eadm_function_reset() - perform a function level reset
 * @fn: the function
 *
 * Bus mastering is off afterwards.
 *
 * Context: process.
 * Return: true if an FLR was performed; false if the function does not support FLR or the PCI core
 * is about to reset it.
 */
bool eadm_function_reset(struct eadm_function *fn)
{
	struct pci_dev *pdev = fn->pdev;
	int ret;

	if (pcie_reset_flr(pdev, PCI_RESET_PROBE))
		return false;
	/*
	 * The PCI core is about to reset the function and waits for its driver, perhaps for the
	 * caller.
	 */
	if (!pci_cfg_access_trylock(pdev))
		return false;
	WRITE_ONCE(fn->resetting, true);
	pci_clear_master(pdev);
	pci_save_state(pdev);
	ret = pcie_reset_flr(pdev, PCI_RESET_DO_RESET);
	pci_restore_state(pdev);
	pci_cfg_access_unlock(pdev);
	WRITE_ONCE(fn->resetting, false);
	return !ret;
}

/**
 * eadm_function_reset_begins() - prepare for a reset of the function by the PCI core
 * @fn: the function, which the driver must no longer access
 *
 * Context: process; the device lock of the function is held until the reset ends.
 */
void eadm_function_reset_begins(struct eadm_function *fn)
{
	/*
	 * The PCI core will restore the current contents of config space, with bus mastering off.
	 */
	pci_clear_master(fn->pdev);
	WRITE_ONCE(fn->resetting, true);
}

/**
 * eadm_function_reset_ended() - record the end of a reset, successful or not
 * @fn: the function
 *
 * Context: process.
 * Return: true if eadm_function_reset_begins() was called for this reset.
 */
bool eadm_function_reset_ended(struct eadm_function *fn)
{
	bool known = fn->resetting;

	WRITE_ONCE(fn->resetting, false);
	return known;
}
