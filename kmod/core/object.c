// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects by number: QPs, CQs, MRs, PDs, contexts. For each kind, either the driver or the adapter
 * chooses the numbers. Events and the diagnostic provider look objects up here and reference them;
 * destroying an object waits until the last reference is dropped.
 */

#include <linux/nospec.h>
#include <linux/slab.h>

#include "adapter.h"

/* Placeholder in the entry of each reserved number. */
static struct eadm_object reserved;

/**
 * eadm_table_init() - initialise a table, which has no numbers yet
 * @t: the table
 * @ad: the adapter
 * @type: EADM_OBJ_*
 */
void eadm_table_init(struct eadm_table *t, struct eadm_adapter *ad, u8 type)
{
	spin_lock_init(&t->lock);
	t->ad = ad;
	t->type = type;
	atomic_set(&t->count, 0);
}

/**
 * eadm_table_alloc() - set the range of a table's numbers
 * @t: the table, which has no numbers yet
 * @first: smallest number that the driver chooses, not 0; @size if the adapter chooses all
 * @size: limit of the numbers (exclusive), at least 1
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int eadm_table_alloc(struct eadm_table *t, u32 first, u32 size)
{
	struct eadm_leaf __rcu **leaves;

	leaves = kvcalloc(DIV_ROUND_UP(size, EADM_LEAF_OBJS), sizeof(*leaves), GFP_KERNEL);
	if (!leaves)
		return -ENOMEM;
	spin_lock_irq(&t->lock);
	t->leaves = leaves;
	t->first = first;
	t->next = first;
	/* Pairs with eadm_table_peek(), which takes no lock. */
	smp_store_release(&t->size, size);
	spin_unlock_irq(&t->lock);
	return 0;
}

/**
 * eadm_table_destroy() - free a table without objects
 * @t: the table, initialised or zeroed; numbers of leaked memory may still be reserved
 */
void eadm_table_destroy(struct eadm_table *t)
{
	u32 i;

	for (i = 0; i < DIV_ROUND_UP(t->size, EADM_LEAF_OBJS); i++)
		kfree(rcu_dereference_raw(t->leaves[i]));
	kvfree(t->leaves);
}

/**
 * eadm_object_init() - make an object ready for its table
 * @obj: the object
 * @epoch: the adapter's epoch, read before the object was created in the adapter
 * @res: its entry in resource tracking, or NULL
 */
void eadm_object_init(struct eadm_object *obj, u32 epoch, struct rdma_restrack_entry *res)
{
	refcount_set(&obj->refs, 1);
	init_completion(&obj->unused);
	obj->created = local_clock();
	obj->epoch = epoch;
	obj->ending = false;
	obj->handed_over = false;
	obj->told = false;
	obj->res = res;
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

static struct eadm_leaf __rcu **leaf_of(struct eadm_table *t, u32 id)
{
	return &t->leaves[id / EADM_LEAF_OBJS];
}

static struct eadm_leaf *leaf_get(struct eadm_table *t, u32 id)
{
	return rcu_dereference_protected(*leaf_of(t, id), lockdep_is_held(&t->lock));
}

/* Returns the entry of a number below the table's size: an object, &reserved, or NULL. */
static struct eadm_object *holder_of(struct eadm_table *t, u32 id)
{
	struct eadm_leaf *leaf = leaf_get(t, id);

	return leaf ? leaf->objs[id % EADM_LEAF_OBJS] : NULL;
}

/* Allocates the leaf of a number if needed; the lock is released during the allocation. */
static int fill_leaf(struct eadm_table *t, u32 id)
	__must_hold(&t->lock)
{
	struct eadm_leaf *leaf;

	if (leaf_get(t, id))
		return 0;
	spin_unlock_irq(&t->lock);
	leaf = kzalloc(sizeof(*leaf), GFP_KERNEL);
	spin_lock_irq(&t->lock);
	if (leaf_get(t, id)) {
		kfree(leaf);
		return 0;
	}
	rcu_assign_pointer(*leaf_of(t, id), leaf);
	return leaf ? 0 : -ENOMEM;
}

/* Keeps one empty leaf as idle, and frees the leaf that was idle before if it is still empty. */
static void leave_idle(struct eadm_table *t, struct eadm_leaf __rcu **place)
{
	struct eadm_leaf *leaf = NULL;

	lockdep_assert_held(&t->lock);
	if (t->idle && t->idle != place)
		leaf = rcu_dereference_protected(*t->idle, lockdep_is_held(&t->lock));
	if (leaf && !leaf->used) {
		RCU_INIT_POINTER(*t->idle, NULL);
		kfree_rcu(leaf, rcu);
	}
	t->idle = place;
}

/* The leaf of the number must be allocated. */
static void put_in(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	struct eadm_leaf *leaf = leaf_get(t, id);
	struct eadm_object **place = &leaf->objs[id % EADM_LEAF_OBJS];

	if (!*place)
		leaf->used++;
	/* Pairs with the dependency of READ_ONCE() in eadm_table_peek(): the object is complete. */
	smp_store_release(place, obj);
}

static void take_out(struct eadm_table *t, u32 id)
{
	struct eadm_leaf *leaf = leaf_get(t, id);

	WRITE_ONCE(leaf->objs[id % EADM_LEAF_OBJS], NULL);
	if (!--leaf->used)
		leave_idle(t, leaf_of(t, id));
}

/*
 * Returns the first free number from @id on, or the table's size if none is free; skips full
 * leaves.
 */
static u32 find_free(struct eadm_table *t, u32 id)
{
	struct eadm_leaf *leaf;

	while (id < t->size) {
		leaf = leaf_get(t, id);
		if (!leaf || !leaf->objs[id % EADM_LEAF_OBJS])
			return id;
		if (leaf->used == EADM_LEAF_OBJS)
			id = roundup(id + 1, EADM_LEAF_OBJS);
		else
			id++;
	}
	return t->size;
}

/* Finds a free number after the last one found; returns the table's size if no number is free. */
static u32 find_next_free(struct eadm_table *t)
{
	u32 id = find_free(t, t->next);

	return id < t->size ? id : find_free(t, t->first);
}

/* Puts an object into the next free number. */
static int put_next(struct eadm_table *t, u32 *id, struct eadm_object *obj)
{
	int ret = 0;

	spin_lock_irq(&t->lock);
	/*
	 * The lock is dropped while a leaf is allocated, so restart the search from its current
	 * position.
	 */
	while ((*id = find_next_free(t)) < t->size && !leaf_get(t, *id) && !ret)
		ret = fill_leaf(t, *id);
	if (*id == t->size)
		ret = -ENOSPC;
	if (!ret) {
		put_in(t, *id, obj);
		t->next = *id + 1;
	}
	spin_unlock_irq(&t->lock);
	return ret;
}

/**
 * eadm_table_reserve() - take a free number
 * @t: the table
 * @id: the number
 *
 * Lookups of the number fail until eadm_table_publish().
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int eadm_table_reserve(struct eadm_table *t, u32 *id)
{
	return put_next(t, id, &reserved);
}

/**
 * eadm_table_release() - free a number
 * @t: the table
 * @id: the reserved number
 *
 * Context: process.
 */
void eadm_table_release(struct eadm_table *t, u32 id)
{
	spin_lock_irq(&t->lock);
	take_out(t, id);
	spin_unlock_irq(&t->lock);
}

static void replace(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	spin_lock_irq(&t->lock);
	put_in(t, id, obj);
	spin_unlock_irq(&t->lock);
}

/**
 * eadm_table_publish() - make a complete object visible
 * @t: the table
 * @id: the reserved number
 * @obj: the object
 *
 * Context: process.
 */
void eadm_table_publish(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	replace(t, id, obj);
	count(t, 1);
}

/**
 * eadm_table_unpublish() - hide an object, and wait until all references are dropped
 * @t: the table
 * @id: number of the object, which stays reserved
 * @obj: the object
 *
 * Context: process; may sleep while a reader queries the adapter.
 */
void eadm_table_unpublish(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	replace(t, id, &reserved);
	count(t, -1);
	wait_unused(obj);
}

/**
 * eadm_table_add() - make a complete object visible under a free number
 * @t: the table
 * @id: set to the number
 * @obj: the object
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int eadm_table_add(struct eadm_table *t, u32 *id, struct eadm_object *obj)
{
	int ret = put_next(t, id, obj);

	if (!ret)
		count(t, 1);
	return ret;
}

/**
 * eadm_table_add_at() - make a complete object visible under the adapter's number
 * @t: the table
 * @id: the number
 * @obj: the object
 *
 * The adapter reuses the number of an object once it has destroyed it, possibly before the driver
 * has removed it: the new object then replaces the old one.
 *
 * Context: process.
 * Return: 0; -ENOMEM; -EBUSY if the number is in use; -EIO if it is out of range.
 */
int eadm_table_add_at(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	struct eadm_object *other;
	int ret;

	if (id >= t->size)
		return -EIO;
	spin_lock_irq(&t->lock);
	ret = fill_leaf(t, id);
	other = ret ? NULL : holder_of(t, id);
	if (other == &reserved ||
	    (other && !READ_ONCE(other->ending) && !eadm_object_is_dead(t->ad, other)))
		ret = -EBUSY;
	if (!ret)
		put_in(t, id, obj);
	spin_unlock_irq(&t->lock);
	if (!ret)
		count(t, 1);
	return ret;
}

/**
 * eadm_table_remove() - hide an object, wait until all references are dropped, and free its number
 * @t: the table
 * @id: number of the object
 * @obj: the object
 *
 * Context: process; may sleep while a reader queries the adapter.
 */
void eadm_table_remove(struct eadm_table *t, u32 id, struct eadm_object *obj)
{
	spin_lock_irq(&t->lock);
	/* A newer object may have replaced this object. */
	if (holder_of(t, id) == obj)
		take_out(t, id);
	spin_unlock_irq(&t->lock);
	count(t, -1);
	wait_unused(obj);
}

/**
 * eadm_table_peek() - find an object without a reference
 * @t: the table
 * @id: number of the object; any value
 *
 * For data paths. Objects that this function can find are freed only after an RCU grace period.
 *
 * Context: any, in an RCU read-side critical section.
 * Return: the object or NULL.
 */
struct eadm_object *eadm_table_peek(struct eadm_table *t, u32 id)
{
	struct eadm_object *obj;
	struct eadm_leaf *leaf;
	u32 size;

	/* Pairs with eadm_table_alloc(): the leaves are visible if the size is. */
	size = smp_load_acquire(&t->size);
	if (id >= size)
		return NULL;
	id = array_index_nospec(id, size);
	leaf = rcu_dereference(*leaf_of(t, id));
	obj = leaf ? READ_ONCE(leaf->objs[id % EADM_LEAF_OBJS]) : NULL;
	return obj == &reserved ? NULL : obj;
}

/**
 * eadm_table_get() - find an object and reference it
 * @t: the table
 * @id: number of the object; any value
 *
 * Context: any.
 * Return: the object or NULL.
 */
struct eadm_object *eadm_table_get(struct eadm_table *t, u32 id)
{
	struct eadm_object *obj;
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	rcu_read_lock();
	obj = eadm_table_peek(t, id);
	rcu_read_unlock();
	/* The object cannot be removed before the lock is released. */
	if (obj)
		eadm_object_get(obj);
	spin_unlock_irqrestore(&t->lock, flags);
	return obj;
}

/* Returns the first number from @id on with an object; skips empty leaves. */
static u32 find_used(struct eadm_table *t, u32 id)
{
	struct eadm_object *obj;

	while (id < t->size) {
		if (!leaf_get(t, id)) {
			id = roundup(id + 1, EADM_LEAF_OBJS);
			continue;
		}
		obj = holder_of(t, id);
		if (obj && obj != &reserved)
			return id;
		id++;
	}
	return t->size;
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
	struct eadm_object *obj = NULL;
	unsigned long flags;
	u32 found;

	spin_lock_irqsave(&t->lock, flags);
	if (*id < t->size) {
		found = find_used(t, *id);
		obj = found < t->size ? holder_of(t, found) : NULL;
	}
	if (obj) {
		eadm_object_get(obj);
		*id = found;
	}
	spin_unlock_irqrestore(&t->lock, flags);
	return obj;
}
