// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for PDs, UARs and AHs (hw 4.5, 4.10, 10). Creating an AH for the same address again
 * returns the same AH, which exists until it has been destroyed as many times as it was created.
 */
#include <linux/slab.h>

#include "efv.h"

enum efa_status efv_cmd_alloc_pd(struct efv_adapter *ad, const void *req, void *resp)
{
	struct efa_resp_number *answer = resp;
	struct efv_pd *pd = kzalloc(sizeof(*pd), GFP_KERNEL);
	u32 number;

	if (!pd)
		return EFA_ST_NO_RESOURCE;
	if (xa_alloc_cyclic(&ad->pds, &number, pd, XA_LIMIT(0, ad->params.max_pd - 1),
			    &ad->next_pd, GFP_KERNEL) < 0) {
		kfree(pd);
		return EFA_ST_NO_RESOURCE;
	}
	answer->number = cpu_to_le16(number);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_dealloc_pd(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_number *cmd = req;
	u16 number = le16_to_cpu(cmd->number);
	struct efv_pd *pd = xa_load(&ad->pds, number);

	if (!pd)
		return EFA_ST_ILLEGAL;
	if (pd->users)
		return EFA_ST_BUSY;
	xa_erase(&ad->pds, number);
	kfree(pd);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_alloc_uar(struct efv_adapter *ad, const void *req, void *resp)
{
	struct efa_resp_number *answer = resp;
	struct efv_uar *uar = kzalloc(sizeof(*uar), GFP_KERNEL);
	u32 number;

	if (!uar)
		return EFA_ST_NO_RESOURCE;
	if (xa_alloc(&ad->uars, &number, uar, XA_LIMIT(0, EFV_MAX_UAR - 1), GFP_KERNEL)) {
		kfree(uar);
		return EFA_ST_NO_RESOURCE;
	}
	uar->number = number;
	answer->number = cpu_to_le16(number);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_dealloc_uar(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_number *cmd = req;
	u16 number = le16_to_cpu(cmd->number);
	struct efv_uar *uar = xa_load(&ad->uars, number);

	if (!uar)
		return EFA_ST_ILLEGAL;
	if (!bitmap_empty(uar->used, EFV_DB_SLOTS))
		return EFA_ST_BUSY;
	xa_erase(&ad->uars, number);
	kfree(uar);
	return EFA_ST_SUCCESS;
}

/* Returns the first index of a PD's AHs; the low 16 bits of an index are the number. */
static u32 first_index(const struct efv_adapter *ad, u16 pd)
{
	return ad->params.ah_per_pd ? (u32)pd << 16 : 0;
}

/**
 * efv_ah_find() - look up an AH
 * @ad: adapter
 * @pd: protection domain in which it is used
 * @number: any value
 *
 * Context: efv_fabric held.
 * Return: the AH, or NULL if the PD has no AH with this number.
 */
struct efv_ah *efv_ah_find(struct efv_adapter *ad, u16 pd, u16 number)
{
	struct efv_ah *ah = xa_load(&ad->ahs, first_index(ad, pd) + number);

	return ah && ah->pd == pd ? ah : NULL;
}

/**
 * efv_ah_number() - find the AH of a PD for an address
 * @ad: adapter
 * @pd: protection domain
 * @gid: address
 *
 * Context: efv_fabric held.
 * Return: number of the AH, or EFA_AH_NONE.
 */
u16 efv_ah_number(struct efv_adapter *ad, u16 pd, const u8 *gid)
{
	unsigned long index;
	struct efv_ah *ah;

	xa_for_each(&ad->ahs, index, ah)
		if (ah->pd == pd && !memcmp(ah->gid, gid, sizeof(ah->gid)))
			return index & U16_MAX;
	return EFA_AH_NONE;
}

/* Allocates the lowest index of the PD, so that several PDs have the same numbers. */
static int ah_alloc(struct efv_adapter *ad, u16 pd, u32 *index, struct efv_ah *ah)
{
	u32 first = first_index(ad, pd), last = first + ad->params.max_ah - 1;

	if (ad->params.ah_per_pd)
		return xa_alloc(&ad->ahs, index, ah, XA_LIMIT(first, last), GFP_KERNEL);
	return xa_alloc_cyclic(&ad->ahs, index, ah, XA_LIMIT(first, last), &ad->next_ah,
			       GFP_KERNEL);
}

static struct efv_ah *ah_create(struct efv_adapter *ad, u16 pd, const u8 *gid, u16 *number)
{
	struct efv_ah *ah;
	u32 index;

	if (efv_fault_hit(ad, EFV_FAULT_AH_FULL, -1, NULL))
		return NULL;
	ah = kzalloc(sizeof(*ah), GFP_KERNEL);
	if (!ah)
		return NULL;
	if (ah_alloc(ad, pd, &index, ah) < 0) {
		kfree(ah);
		return NULL;
	}
	*number = index & U16_MAX;
	ah->pd = pd;
	memcpy(ah->gid, gid, sizeof(ah->gid));
	return ah;
}

enum efa_status efv_cmd_create_ah(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_create_ah *cmd = req;
	struct efa_resp_number *answer = resp;
	u16 pdn = le16_to_cpu(cmd->pd);
	struct efv_pd *pd = xa_load(&ad->pds, pdn);
	struct efv_ah *ah;
	u16 number;

	if (!pd)
		return EFA_ST_ILLEGAL;
	number = efv_ah_number(ad, pdn, cmd->gid);
	ah = number == EFA_AH_NONE ? ah_create(ad, pdn, cmd->gid, &number) :
				     efv_ah_find(ad, pdn, number);
	if (!ah)
		return EFA_ST_NO_RESOURCE;
	ah->refs++;
	pd->users++;
	answer->number = cpu_to_le16(number);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_destroy_ah(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_destroy_ah *cmd = req;
	u16 number = le16_to_cpu(cmd->ah), pdn = le16_to_cpu(cmd->pd);
	struct efv_ah *ah = efv_ah_find(ad, pdn, number);
	struct efv_pd *pd;

	if (!ah)
		return EFA_ST_ILLEGAL;
	pd = xa_load(&ad->pds, pdn);
	pd->users--;
	if (!--ah->refs) {
		xa_erase(&ad->ahs, first_index(ad, pdn) + number);
		kfree(ah);
	}
	return EFA_ST_SUCCESS;
}
