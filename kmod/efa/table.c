// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects by number: numbers are small, so two levels of arrays lead to an object,
 * without a search and with one allocation for hundreds of objects.
 */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "efa.h"

/**
 * efa_table_init() - initialise an empty table
 * @t: the table; zeroed
 * @dev: the device
 * @type: EADM_OBJ_*
 * @bits: width of the numbers
 *
 * Context: process.
 * Return: 0 or -ENOMEM; efa_table_destroy() has to follow in any case.
 */
int efa_table_init(struct efa_table *t, struct efa_dev *dev, u8 type, u8 bits)
{
	spin_lock_init(&t->lock);
	atomic_set(&t->count, 0);
	t->dev = dev;
	t->type = type;
	t->size = BIT(bits);
	t->next = 1;
	t->leaves = kvcalloc(t->size / EFA_LEAF_OBJS, sizeof(*t->leaves), GFP_KERNEL);
	return t->leaves ? 0 : -ENOMEM;
}

/**
 * efa_table_destroy() - free an empty table
 * @t: the table
 */
void efa_table_destroy(struct efa_table *t)
{
	kfree(t->spare);
	kvfree(t->leaves);
}

/**
 * efa_obj_init() - make an object ready for efa_table_add()
 * @obj: the object
 * @epoch: dev->epoch, read before the adapter learned of it
 */
void efa_obj_init(struct efa_obj *obj, u32 epoch)
{
	refcount_set(&obj->refs, 1);
	init_completion(&obj->unused);
	obj->created = local_clock();
	obj->epoch = epoch;
}

static void changed(struct efa_table *t)
{
	eadm_diag_changed(&t->dev->diag, t->type);
}

static struct efa_leaf *leaf_of(struct efa_table *t, u32 id)
{
	return &t->leaves[id / EFA_LEAF_OBJS];
}

/* Where an object with a number below the table's size would be, or NULL. */
static struct efa_obj **place_of(struct efa_table *t, u32 id)
{
	struct efa_leaf *leaf = leaf_of(t, array_index_nospec(id, t->size));

	lockdep_assert_held(&t->lock);
	return leaf->objs ? &leaf->objs[id % EFA_LEAF_OBJS] : NULL;
}

/* Allocates the memory of a leaf. Drops the lock meanwhile if there is no spare. */
static int fill_leaf(struct efa_table *t, struct efa_leaf *leaf)
	__must_hold(&t->lock)
{
	struct efa_obj **objs;

	lockdep_assert_held(&t->lock);
	if (!t->spare) {
		spin_unlock_irq(&t->lock);
		objs = kcalloc(EFA_LEAF_OBJS, sizeof(*objs), GFP_KERNEL);
		spin_lock_irq(&t->lock);
		if (!objs)
			return -ENOMEM;
		/* Others may have done the same meanwhile. */
		if (t->spare)
			kfree(objs);
		else
			t->spare = objs;
	}
	if (!leaf->objs) {
		leaf->objs = t->spare;
		t->spare = NULL;
	}
	return 0;
}

static void empty_leaf(struct efa_table *t, struct efa_leaf *leaf)
{
	lockdep_assert_held(&t->lock);
	if (t->spare)
		kfree(leaf->objs);
	else
		t->spare = leaf->objs;
	leaf->objs = NULL;
}

static void put_in(struct efa_table *t, u32 id, struct efa_obj *obj)
{
	struct efa_leaf *leaf = leaf_of(t, id);
	struct efa_obj **place = &leaf->objs[id % EFA_LEAF_OBJS];

	lockdep_assert_held(&t->lock);
	if (!*place)
		leaf->used++;
	*place = obj;
}

static void take_out(struct efa_table *t, u32 id)
{
	struct efa_leaf *leaf = leaf_of(t, id);

	lockdep_assert_held(&t->lock);
	leaf->objs[id % EFA_LEAF_OBJS] = NULL;
	if (!--leaf->used)
		empty_leaf(t, leaf);
}

/* Returns the first free number from @id on, skipping full leaves; @t->size: none. */
static u32 find_free(struct efa_table *t, u32 id)
{
	struct efa_leaf *leaf;

	lockdep_assert_held(&t->lock);
	while (id < t->size) {
		leaf = leaf_of(t, id);
		if (!leaf->objs || !leaf->objs[id % EFA_LEAF_OBJS])
			break;
		if (leaf->used == EFA_LEAF_OBJS)
			id = round_down(id, EFA_LEAF_OBJS) + EFA_LEAF_OBJS;
		else
			id++;
	}
	return id;
}

/* Continues after the last number found; 0 is not a valid number. */
static u32 find_next_free(struct efa_table *t)
{
	u32 id = find_free(t, t->next);

	return id < t->size ? id : find_free(t, 1);
}

/**
 * efa_table_add() - make a complete object visible, under a number chosen by the driver
 * @t: the table
 * @id: set to it
 * @obj: the object
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int efa_table_add(struct efa_table *t, u32 *id, struct efa_obj *obj)
{
	struct efa_leaf *leaf;
	int ret = 0;

	spin_lock_irq(&t->lock);
	do {
		*id = find_next_free(t);
		if (*id == t->size) {
			ret = -ENOSPC;
			goto out;
		}
		leaf = leaf_of(t, *id);
		if (!leaf->objs)
			ret = fill_leaf(t, leaf);
		if (ret)
			goto out;
	} while (leaf->objs[*id % EFA_LEAF_OBJS]);
	put_in(t, *id, obj);
	t->next = *id + 1;
	atomic_inc(&t->count);
out:
	spin_unlock_irq(&t->lock);
	if (!ret)
		changed(t);
	return ret;
}

/**
 * efa_table_add_at() - make a complete object visible, under the adapter's number
 * @t: the table
 * @id: the number
 * @obj: the object
 *
 * The adapter reuses the number of an object once it has forgotten it, possibly before
 * the driver has removed it: the new object takes its place.
 *
 * Context: process.
 * Return: 0; -ENOMEM; -EBUSY when the number is in use.
 */
int efa_table_add_at(struct efa_table *t, u16 id, struct efa_obj *obj)
{
	struct efa_leaf *leaf = leaf_of(t, id);
	struct efa_obj *other;
	int ret = 0;

	spin_lock_irq(&t->lock);
	if (!leaf->objs)
		ret = fill_leaf(t, leaf);
	if (ret)
		goto out;
	other = leaf->objs[id % EFA_LEAF_OBJS];
	if (other && !READ_ONCE(other->ending) && !efa_obj_is_dead(t->dev, other)) {
		ret = -EBUSY;
		goto out;
	}
	put_in(t, id, obj);
	atomic_inc(&t->count);
out:
	spin_unlock_irq(&t->lock);
	if (!ret)
		changed(t);
	return ret;
}

/**
 * efa_table_remove() - hide an object, and wait until all holders of references are done
 * with it
 * @t: the table
 * @id: its number
 * @obj: the object
 *
 * Context: process; may sleep as long as a reader queries the adapter.
 */
void efa_table_remove(struct efa_table *t, u32 id, struct efa_obj *obj)
{
	struct efa_obj **place;

	spin_lock_irq(&t->lock);
	place = place_of(t, id);
	/* Another object may have taken its place. */
	if (place && *place == obj)
		take_out(t, id);
	spin_unlock_irq(&t->lock);
	atomic_dec(&t->count);
	changed(t);
	if (!refcount_dec_and_test(&obj->refs))
		wait_for_completion(&obj->unused);
}

/**
 * efa_table_get() - find an object and reference it
 * @t: the table
 * @id: its number; any value
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct efa_obj *efa_table_get(struct efa_table *t, u32 id)
{
	struct efa_obj **place, *obj;
	unsigned long flags;

	if (id >= t->size)
		return NULL;
	spin_lock_irqsave(&t->lock, flags);
	place = place_of(t, id);
	obj = place ? *place : NULL;
	if (obj)
		refcount_inc(&obj->refs);
	spin_unlock_irqrestore(&t->lock, flags);
	return obj;
}

/* Returns the first number in use from @id on, skipping empty leaves. */
static u32 find_used(struct efa_table *t, u32 id)
{
	struct efa_leaf *leaf;

	lockdep_assert_held(&t->lock);
	while (id < t->size) {
		leaf = leaf_of(t, id);
		if (leaf->objs && leaf->objs[id % EFA_LEAF_OBJS])
			break;
		if (leaf->objs)
			id++;
		else
			id = round_down(id, EFA_LEAF_OBJS) + EFA_LEAF_OBJS;
	}
	return id;
}

/**
 * efa_table_next() - find the next object and reference it
 * @t: the table
 * @id: lowest number; on return the number found
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct efa_obj *efa_table_next(struct efa_table *t, u64 *id)
{
	struct efa_obj *obj = NULL;
	unsigned long flags;
	u32 found;

	if (*id >= t->size)
		return NULL;
	spin_lock_irqsave(&t->lock, flags);
	found = find_used(t, *id);
	if (found < t->size) {
		obj = leaf_of(t, found)->objs[found % EFA_LEAF_OBJS];
		refcount_inc(&obj->refs);
	}
	spin_unlock_irqrestore(&t->lock, flags);
	if (obj)
		*id = found;
	return obj;
}
