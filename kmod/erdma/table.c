// SPDX-License-Identifier: GPL-2.0-only
/* Objects by number: QPs, CQs, MRs, PDs and contexts. */

#include "erdma.h"

/**
 * erdma_table_init() - initialise an empty table
 * @t: the table
 * @dev: the device
 * @type: EADM_OBJ_*
 *
 * Numbers are from 1 to @t->max, which is 0 here.
 */
void erdma_table_init(struct erdma_table *t, struct erdma_dev *dev, u8 type)
{
	xa_init_flags(&t->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	t->dev = dev;
	t->type = type;
	t->next = 1;
	t->max = 0;
}

/**
 * erdma_table_destroy() - free an empty table
 * @t: the table
 */
void erdma_table_destroy(struct erdma_table *t)
{
	xa_destroy(&t->xa);
}

/**
 * erdma_table_reserve() - take a free number
 * @t: the table
 * @id: the number
 *
 * Lookups of it find nothing until erdma_table_publish().
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_table_reserve(struct erdma_table *t, u32 *id)
{
	int ret = xa_alloc_cyclic_irq(&t->xa, id, NULL, XA_LIMIT(1, t->max), &t->next,
				      GFP_KERNEL);

	if (ret == -EBUSY)
		return -ENOSPC;
	return min(ret, 0);
}

/**
 * erdma_table_release() - free a number
 * @t: the table
 * @id: the number
 *
 * Context: process.
 */
void erdma_table_release(struct erdma_table *t, u32 id)
{
	xa_erase_irq(&t->xa, id);
}

/**
 * erdma_obj_init() - make an object ready for erdma_table_publish()
 * @obj: the object
 * @epoch: dev->epoch, read before the adapter learned of it
 */
void erdma_obj_init(struct erdma_obj *obj, u32 epoch)
{
	refcount_set(&obj->refs, 1);
	init_completion(&obj->unused);
	obj->created = local_clock();
	obj->epoch = epoch;
}

/**
 * erdma_table_publish() - make a complete object visible
 * @t: the table
 * @id: its number, reserved
 * @obj: the object
 *
 * Context: process.
 */
void erdma_table_publish(struct erdma_table *t, u32 id, struct erdma_obj *obj)
{
	/* A reserved number already has its slot in the array: this allocates nothing. */
	xa_store_irq(&t->xa, id, obj, GFP_KERNEL);
	eadm_diag_changed(&t->dev->diag, t->type);
}

/**
 * erdma_table_unpublish() - hide an object, and wait until all holders of
 * references are done with it
 * @t: the table
 * @id: its number, which stays reserved
 * @obj: the object
 *
 * Context: process; may sleep as long as a reader queries the adapter.
 */
void erdma_table_unpublish(struct erdma_table *t, u32 id, struct erdma_obj *obj)
{
	/* In an allocating array, storing NULL keeps the number reserved. */
	xa_store_irq(&t->xa, id, NULL, GFP_KERNEL);
	eadm_diag_changed(&t->dev->diag, t->type);
	erdma_obj_put(obj);
	wait_for_completion(&obj->unused);
}

/**
 * erdma_table_get() - find an object and reference it
 * @t: the table
 * @id: its number; any value
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct erdma_obj *erdma_table_get(struct erdma_table *t, u32 id)
{
	struct erdma_obj *obj;
	unsigned long flags;

	xa_lock_irqsave(&t->xa, flags);
	obj = xa_load(&t->xa, id);
	if (obj)
		erdma_obj_get(obj);
	xa_unlock_irqrestore(&t->xa, flags);
	return obj;
}

/**
 * erdma_table_next() - find the next object and reference it
 * @t: the table
 * @id: lowest number; on return the number found
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct erdma_obj *erdma_table_next(struct erdma_table *t, u64 *id)
{
	unsigned long index = *id, flags;
	struct erdma_obj *obj;

	if (*id > U32_MAX)
		return NULL;
	xa_lock_irqsave(&t->xa, flags);
	obj = xa_find(&t->xa, &index, U32_MAX, XA_PRESENT);
	if (obj)
		erdma_obj_get(obj);
	xa_unlock_irqrestore(&t->xa, flags);
	if (obj)
		*id = index;
	return obj;
}
