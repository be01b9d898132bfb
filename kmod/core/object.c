// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects by number: QPs, CQs, MRs, PDs, contexts. The driver or the adapter chooses the
 * numbers of one kind. Events and the diagnostic provider find objects here, and reference
 * them; who destroys one waits until the last reference is dropped.
 */

#include "adapter.h"

static void table_init(struct eadm_table *t, struct eadm_adapter *ad, u8 type)
{
	t->ad = ad;
	t->type = type;
	t->next = 1;
	t->min = 1;
	t->max = 0;
	atomic_set(&t->count, 0);
}

/**
 * eadm_table_init() - initialise an empty table of numbers that the driver chooses
 * @t: the table
 * @ad: the adapter
 * @type: EADM_OBJ_*
 *
 * Numbers are from 1 to @t->max, which is 0 here.
 */
void eadm_table_init(struct eadm_table *t, struct eadm_adapter *ad, u8 type)
{
	xa_init_flags(&t->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	table_init(t, ad, type);
}

/**
 * eadm_table_init_theirs() - initialise an empty table of numbers that the adapter chooses
 * @t: the table
 * @ad: the adapter
 * @type: EADM_OBJ_*
 *
 * From @t->min to @t->max there may be numbers of the driver's besides, see eadm_table_add().
 */
void eadm_table_init_theirs(struct eadm_table *t, struct eadm_adapter *ad, u8 type)
{
	xa_init_flags(&t->xa, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	table_init(t, ad, type);
}

/**
 * eadm_table_destroy() - free an empty table
 * @t: the table
 */
void eadm_table_destroy(struct eadm_table *t)
{
	xa_destroy(&t->xa);
}

/**
 * eadm_object_init() - make an object ready for its table
 * @obj: the object
 * @epoch: the adapter's epoch, read before it learned of the object
 */
void eadm_object_init(struct eadm_object *obj, u32 epoch)
{
	refcount_set(&obj->refs, 1);
	init_completion(&obj->unused);
	obj->created = local_clock();
	obj->epoch = epoch;
	obj->ending = false;
	obj->handed_over = false;
	obj->told = false;
}

static void count(struct eadm_table *t, int change)
{
	atomic_add(change, &t->count);
	eadm_diag_changed(&t->ad->diag, t->type);
}

static void wait_unused(struct eadm_object *obj)
{
	eadm_object_put(obj);
	wait_for_completion(&obj->unused);
}

/**
 * eadm_table_reserve() - take a free number
 * @t: the table
 * @id: the number
 *
 * Lookups of it find nothing until eadm_table_publish().
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int eadm_table_reserve(struct eadm_table *t, u32 *id)
{
	int ret = xa_alloc_cyclic_irq(&t->xa, id, NULL, XA_LIMIT(t->min, t->max), &t->next,
				      GFP_KERNEL);

	if (ret == -EBUSY)
		return -ENOSPC;
	return min(ret, 0);
}

/**
 * eadm_table_release() - free a number
 * @t: the table
 * @id: the number
 *
 * Context: process.
 */
void eadm_table_release(struct eadm_table *t, u32 id)
{
	xa_erase_irq(&t->xa, id);
}

/**
 * eadm_table_publish() - make a complete object visible
 * @t: the table
 * @id: its number, reserved
 * @obj: the object
 *
 * Context: process.
 */
void eadm_table_publish(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	/* A reserved number already has its slot in the array: this allocates nothing. */
	xa_store_irq(&t->xa, id, obj, GFP_KERNEL);
	count(t, 1);
}

/**
 * eadm_table_unpublish() - hide an object, and wait until all holders of references are done
 * with it
 * @t: the table
 * @id: its number, which stays reserved
 * @obj: the object
 *
 * Context: process; may sleep as long as a reader queries the adapter.
 */
void eadm_table_unpublish(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	/* In an allocating array, storing NULL keeps the number reserved. */
	xa_store_irq(&t->xa, id, NULL, GFP_KERNEL);
	count(t, -1);
	wait_unused(obj);
}

/**
 * eadm_table_add() - make a complete object visible, under a free number
 * @t: the table
 * @id: set to the number
 * @obj: the object
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int eadm_table_add(struct eadm_table *t, u32 *id, struct eadm_object *obj)
{
	int ret = eadm_table_reserve(t, id);

	if (!ret)
		eadm_table_publish(t, *id, obj);
	return ret;
}

/* A number without memory in the array can be stored only after the lock was dropped. */
static int put_in(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	struct eadm_object *other;
	int ret = -EBUSY;

	xa_lock_irq(&t->xa);
	other = xa_load(&t->xa, id);
	if (!other || READ_ONCE(other->ending) || eadm_object_is_dead(t->ad, other))
		ret = xa_err(__xa_store(&t->xa, id, obj, GFP_NOWAIT | __GFP_NOWARN));
	xa_unlock_irq(&t->xa);
	return ret;
}

/**
 * eadm_table_add_at() - make a complete object visible, under the adapter's number
 * @t: the table
 * @id: the number
 * @obj: the object
 *
 * The adapter reuses the number of an object once it has forgotten it, possibly before the
 * driver has removed it: the new object takes its place.
 *
 * Context: process.
 * Return: 0; -ENOMEM; -EBUSY when the number is in use.
 */
int eadm_table_add_at(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	int ret;

	/* The object that was there may be removed in between, and its memory with it. */
	do {
		ret = xa_reserve_irq(&t->xa, id, GFP_KERNEL);
		if (ret)
			return ret;
		ret = put_in(t, id, obj);
	} while (ret == -ENOMEM);
	if (!ret)
		count(t, 1);
	return ret;
}

/**
 * eadm_table_remove() - hide an object, wait until all holders of references are done with
 * it, and free its number
 * @t: the table
 * @id: its number
 * @obj: the object
 *
 * Context: process; may sleep as long as a reader queries the adapter.
 */
void eadm_table_remove(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	xa_lock_irq(&t->xa);
	/* Another object may have taken its place. */
	if (xa_load(&t->xa, id) == obj)
		__xa_erase(&t->xa, id);
	xa_unlock_irq(&t->xa);
	count(t, -1);
	wait_unused(obj);
}

/**
 * eadm_table_get() - find an object and reference it
 * @t: the table
 * @id: its number; any value
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct eadm_object *eadm_table_get(struct eadm_table *t, u32 id)
{
	struct eadm_object *obj;
	unsigned long flags;

	xa_lock_irqsave(&t->xa, flags);
	obj = xa_load(&t->xa, id);
	if (obj)
		eadm_object_get(obj);
	xa_unlock_irqrestore(&t->xa, flags);
	return obj;
}

/**
 * eadm_table_next() - find the next object and reference it
 * @t: the table
 * @id: lowest number; on return the number found
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct eadm_object *eadm_table_next(struct eadm_table *t, u64 *id)
{
	unsigned long index = *id, flags;
	struct eadm_object *obj;

	if (*id > U32_MAX)
		return NULL;
	xa_lock_irqsave(&t->xa, flags);
	obj = xa_find(&t->xa, &index, U32_MAX, XA_PRESENT);
	if (obj)
		eadm_object_get(obj);
	xa_unlock_irqrestore(&t->xa, flags);
	if (obj)
		*id = index;
	return obj;
}
