/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of destroyed objects that the adapter may still access. */
#ifndef EADM_ORPHAN_H
#define EADM_ORPHAN_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct eadm_adapter;

/**
 * struct eadm_orphan - memory whose object was destroyed without confirmation by the adapter
 * @link: entry in the adapter's list of orphans
 * @epoch: the adapter's epoch when it last received an address of the memory
 * @bytes: size of the memory
 * @released: a late completion has confirmed that the adapter is done with it; never cleared
 */
struct eadm_orphan {
	struct list_head link;
	u32 epoch;
	u64 bytes;
	bool released;
};

/**
 * struct eadm_memory - memory that an adapter may access
 * @lock: protects all members except @leaked
 * @orphans: list of struct eadm_orphan, freed when released or by the next confirmed reset
 * @count: number of orphans
 * @bytes: total size of the orphans
 * @over: all epochs before this one are known to be over
 * @exposed: first epoch in which the adapter has not received memory addresses
 * @leaking: memory that the driver itself has passed to the adapter is leaked
 * @leaked: bytes leaked by the driver itself
 */
struct eadm_memory {
	spinlock_t lock;	/* protects orphans and epochs */
	struct list_head orphans;
	u32 count;
	u64 bytes;
	u32 over;
	u32 exposed;
	bool leaking;
	u64 leaked;
};

/**
 * struct eadm_remains - leaked memory of an adapter that did not confirm a reset
 * @orphans: orphans of the adapter
 * @lists: for the family
 * @pools: for the family
 */
struct eadm_remains {
	struct list_head orphans;
	struct list_head lists;
	void *pools[2];
};

bool eadm_orphan_keep(struct eadm_adapter *ad, struct eadm_orphan *orphan);
void eadm_orphans_sweep(struct eadm_adapter *ad);
void eadm_memory_expose(struct eadm_adapter *ad);
void eadm_memory_confirm(struct eadm_adapter *ad);
bool eadm_memory_is_exposed(struct eadm_adapter *ad);
struct eadm_remains *eadm_memory_leak(struct eadm_adapter *ad);

#endif /* EADM_ORPHAN_H */
