// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of destroyed objects that the adapter may still access.
 *
 * Memory that the adapter may access is freed only when the adapter is known to be done with it:
 * the command that destroys the object has completed, perhaps late, or the epoch in which the
 * adapter received the address of the memory is over. An epoch begins when the adapter receives
 * memory addresses for the first time after a reset. It ends when the adapter has confirmed a
 * reset, its function was reset, or it is gone.
 *
 * When the epoch is raised, by recovery or because the adapter was found gone, the objects of the
 * epoch are dead: no command is issued for them or with their numbers, which new objects may soon
 * use. That alone does not free their memory: the memory of objects destroyed before the end of the
 * epoch is confirmed becomes an orphan, which is counted and kept. Until then the adapter is halted
 * with bus mastering off, and the watch retries the reset periodically. If the driver is unbound
 * before the confirmation, orphans, memory parked with the command queue, and rings are leaked
 * until the next boot.
 */

#include <linux/kmemleak.h>
#include <linux/slab.h>

#include "adapter.h"

/* Returns true if the adapter can no longer access memory that it received in an epoch. */
static bool epoch_is_over(const struct eadm_memory *mem, u32 epoch)
{
	lockdep_assert_held(&mem->lock);
	return (s32)(epoch - mem->over) < 0 || (s32)(epoch - mem->exposed) >= 0;
}

static void take_out(struct eadm_memory *mem, struct eadm_orphan *orphan)
{
	lockdep_assert_held(&mem->lock);
	mem->count--;
	mem->bytes -= orphan->bytes;
}

/**
 * eadm_orphan_keep() - keep memory that the adapter may still access
 * @ad: the adapter
 * @orphan: the memory
 *
 * Context: process.
 * Return: false if the adapter is known to be done with it: the caller then frees it.
 */
bool eadm_orphan_keep(struct eadm_adapter *ad, struct eadm_orphan *orphan)
{
	struct eadm_memory *mem = &ad->memory;
	bool over;

	spin_lock(&mem->lock);
	/* A completion that arrives after this check leads to a call of eadm_orphans_sweep(). */
	over = epoch_is_over(mem, orphan->epoch) || READ_ONCE(orphan->released);
	if (!over) {
		list_add_tail(&orphan->link, &mem->orphans);
		mem->count++;
		mem->bytes += orphan->bytes;
	}
	spin_unlock(&mem->lock);
	return !over;
}

static void free_all(struct eadm_adapter *ad, struct list_head *list)
{
	struct eadm_orphan *orphan, *tmp;

	list_for_each_entry_safe(orphan, tmp, list, link)
		ad->ops->free_orphan(ad, orphan);
}

/**
 * eadm_orphans_sweep() - free orphans released by late completions
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_orphans_sweep(struct eadm_adapter *ad)
{
	struct eadm_memory *mem = &ad->memory;
	struct eadm_orphan *orphan, *tmp;
	LIST_HEAD(list);

	spin_lock(&mem->lock);
	list_for_each_entry_safe(orphan, tmp, &mem->orphans, link) {
		if (!READ_ONCE(orphan->released))
			continue;
		list_move(&orphan->link, &list);
		take_out(mem, orphan);
	}
	spin_unlock(&mem->lock);
	free_all(ad, &list);
}

/**
 * eadm_memory_expose() - record that the adapter may now receive memory addresses
 * @ad: the adapter
 *
 * Context: process.
 */
void eadm_memory_expose(struct eadm_adapter *ad)
{
	spin_lock(&ad->memory.lock);
	ad->memory.exposed = READ_ONCE(ad->epoch) + 1;
	spin_unlock(&ad->memory.lock);
}

/**
 * eadm_memory_is_exposed() - check whether the adapter may access memory
 * @ad: the adapter
 *
 * Context: process.
 */
bool eadm_memory_is_exposed(struct eadm_adapter *ad)
{
	bool exposed;

	spin_lock(&ad->memory.lock);
	exposed = ad->memory.exposed != ad->memory.over;
	spin_unlock(&ad->memory.lock);
	return exposed;
}

/**
 * eadm_memory_confirm() - record that the adapter is known to have lost all state
 * @ad: the adapter
 *
 * Frees all orphans.
 *
 * Context: process; must not run concurrently with a start of the adapter.
 */
void eadm_memory_confirm(struct eadm_adapter *ad)
{
	struct eadm_memory *mem = &ad->memory;
	LIST_HEAD(list);

	spin_lock(&mem->lock);
	mem->over = mem->exposed;
	list_splice_init(&mem->orphans, &list);
	mem->count = 0;
	mem->bytes = 0;
	spin_unlock(&mem->lock);
	free_all(ad, &list);
}

/**
 * eadm_memory_leak() - leak all memory that the adapter may access
 * @ad: the adapter, about to be freed. The driver's own memory was passed to its free functions
 *	with @ad->memory.leaking set
 *
 * If this memory were freed, its next owner would share it with the adapter.
 *
 * Context: process.
 * Return: the structure in which the family records further leaks for kmemleak, or NULL.
 */
struct eadm_remains *eadm_memory_leak(struct eadm_adapter *ad)
{
	struct eadm_remains *remains = kzalloc(sizeof(*remains), GFP_KERNEL);
	struct eadm_memory *mem = &ad->memory;

	dev_err(&ad->fn.pdev->dev,
		"left without a confirmed reset: %llu bytes of %u objects and %llu bytes of queues are lost until the next boot, because the adapter could still write to them\n",
		mem->bytes, mem->count, mem->leaked);
	if (!remains)
		return NULL;
	/* This leak is intended. */
	kmemleak_not_leak(remains);
	INIT_LIST_HEAD(&remains->orphans);
	INIT_LIST_HEAD(&remains->lists);
	list_splice_init(&mem->orphans, &remains->orphans);
	return remains;
}
