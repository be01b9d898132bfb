/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of objects that are gone, while the adapter may still know of it. */
#ifndef EADM_ORPHAN_H
#define EADM_ORPHAN_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct eadm_adapter;

/**
 * struct eadm_orphan - memory whose object is gone without confirmation by the adapter
 * @link: in the adapter's list of them
 * @epoch: the adapter's epoch when it last learned of the memory
 * @bytes: size of the memory
 * @released: a late answer has confirmed that the adapter is done with it; never cleared
 */
struct eadm_orphan {
	struct list_head link;
	u32 epoch;
	u64 bytes;
	bool released;
};

/**
 * struct eadm_memory - what an adapter may know of
 * @lock: guards all but @leaked
 * @orphans: struct eadm_orphan, freed when they are released, or by the next confirmed reset
 * @count: how many
 * @bytes: their memory
 * @over: all epochs before this one are known to be over
 * @exposed: this epoch and later ones have not begun
 * @leaking: what the driver itself has told it of is left behind
 * @leaked: bytes of that
 */
struct eadm_memory {
	spinlock_t lock;	/* orphans and epochs */
	struct list_head orphans;
	u32 count;
	u64 bytes;
	u32 over;
	u32 exposed;
	bool leaking;
	u64 leaked;
};

/**
 * struct eadm_remains - what remains of an adapter that did not release its memory
 * @orphans: its orphans
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
