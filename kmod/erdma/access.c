// SPDX-License-Identifier: GPL-2.0-only
/* Access rights to memory, in the adapter's terms (hw 4.9, 6.5). */

#include "erdma.h"

/**
 * erdma_mr_rights() - verbs access flags in the adapter's terms
 * @access: IB_ACCESS_*
 *
 * Return: ERDMA_MR_L*, ERDMA_MR_R*.
 */
u32 erdma_mr_rights(int access)
{
	return ERDMA_MR_LR |
	       (access & IB_ACCESS_LOCAL_WRITE ? ERDMA_MR_LW : 0) |
	       (access & IB_ACCESS_REMOTE_READ ? ERDMA_MR_RR : 0) |
	       (access & IB_ACCESS_REMOTE_WRITE ? ERDMA_MR_RW : 0) |
	       (access & IB_ACCESS_REMOTE_ATOMIC ? ERDMA_MR_RA : 0);
}
