// SPDX-License-Identifier: GPL-2.0-only
/* The adapters that can reach each other: all running adapters on this machine. */
#include "efv.h"

DECLARE_RWSEM(efv_fabric);

/* All running adapters; protected by efv_fabric. */
static LIST_HEAD(adapters);

/**
 * efv_adapter_find() - find the adapter that has an address
 * @gid: address
 *
 * Context: efv_fabric held.
 * Return: an adapter that a driver has started, or NULL.
 */
struct efv_adapter *efv_adapter_find(const u8 *gid)
{
	struct efv_adapter *ad;

	list_for_each_entry(ad, &adapters, link)
		if (!memcmp(ad->params.gid, gid, sizeof(ad->params.gid)))
			return ad;
	return NULL;
}

/**
 * efv_adapter_join() - make an adapter reachable
 * @ad: adapter that a driver has started
 *
 * Context: efv_fabric held for writing.
 */
void efv_adapter_join(struct efv_adapter *ad)
{
	list_add_tail(&ad->link, &adapters);
}

/**
 * efv_adapter_leave() - make an adapter unreachable
 * @ad: adapter; may have left already
 *
 * Context: efv_fabric held for writing.
 */
void efv_adapter_leave(struct efv_adapter *ad)
{
	list_del_init(&ad->link);
}
