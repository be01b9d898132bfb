// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the adapter is there, and resets of its function. Linked into each driver.
 *
 * A function that is being reset reads as ones for 100 ms and more, as one does that was
 * taken away. The first comes back, while the second is given up for good: so a single read
 * proves nothing. An adapter is missing if it did not answer any of many reads in a second,
 * or if the PCI core says so. While the driver knows of a reset, it is not missing, however
 * long that takes.
 */

#include <linux/delay.h>
#include <linux/pci.h>

#include "compat_kernel.h"
#include "presence.h"

/* Longer than a function may take to come back from a reset, unless it is slow. */
#define READS		21
#define READ_GAP_MS	50

/* An error that may pass, and is handled, does not count. */
static bool is_disconnected(const struct eadm_function *fn)
{
	return READ_ONCE(fn->pdev->error_state) == pci_channel_io_perm_failure;
}

/**
 * eadm_function_answers() - whether the adapter answers now
 * @fn: the function
 *
 * If not, that does not mean that it is gone.
 *
 * Context: any.
 */
bool eadm_function_answers(const struct eadm_function *fn)
{
	return eadm_function_is_resetting(fn) || (!is_disconnected(fn) && fn->answers(fn));
}

/**
 * eadm_function_find() - find out whether the adapter is there
 * @fn: the function
 *
 * Context: process; takes a second if it does not answer.
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
	/* A reset may have begun since the last look at it. */
	if (eadm_function_is_resetting(fn))
		return EADM_PRESENT;
	return present ? EADM_SILENT : EADM_ABSENT;
}

/**
 * eadm_function_reset() - do a function level reset
 * @fn: the function
 *
 * Bus mastering is off afterwards.
 *
 * Context: process.
 * Return: whether the function supports FLR, and has done one; also false if the PCI core is
 * about to reset it.
 */
bool eadm_function_reset(struct eadm_function *fn)
{
	struct pci_dev *pdev = fn->pdev;
	int ret;

	if (pcie_reset_flr(pdev, PCI_RESET_PROBE))
		return false;
	/* The PCI core is about to reset it, and waits for its driver, perhaps for the caller. */
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
 * eadm_function_reset_begins() - the PCI core is about to reset the function
 * @fn: the function, which its driver leaves alone from now on
 *
 * Context: process, the device lock of the function is held up to the end of the reset.
 */
void eadm_function_reset_begins(struct eadm_function *fn)
{
	/* The PCI core restores config space as it is now: with bus mastering off. */
	pci_clear_master(fn->pdev);
	WRITE_ONCE(fn->resetting, true);
}

/**
 * eadm_function_reset_ended() - the reset is over, successful or not
 * @fn: the function
 *
 * Context: process.
 * Return: whether the driver knew of it (eadm_function_reset_begins()).
 */
bool eadm_function_reset_ended(struct eadm_function *fn)
{
	bool known = fn->resetting;

	WRITE_ONCE(fn->resetting, false);
	return known;
}
