/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number. */
#ifndef EFA_TABLE_H
#define EFA_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

struct efa_dev;

/**
 * struct efa_obj - common part of all numbered objects
 * @refs: one for the owner while published, one per get
 * @unused: completed when the last reference dropped was not the owner's
 * @created: local_clock() of creation
 * @epoch: dev->epoch when the adapter learned of it; if it is older than the device's,
 *	the adapter has forgotten the object
 * @ending: the adapter was asked to destroy it
 */
struct efa_obj {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
	bool ending;
};

/* Number of objects in a leaf of a table, and widths of object numbers. */
#define EFA_LEAF_OBJS		512
#define EFA_NUMBER_BITS		16	/* the adapter's */
#define EFA_OWN_NUMBER_BITS	20	/* the driver's, of MRs and contexts */

/**
 * struct efa_leaf - objects with consecutive numbers
 * @objs: EFA_LEAF_OBJS of them, NULL: the number is free; @objs itself is NULL as long as
 *	all are free
 * @used: how many are in use
 */
struct efa_leaf {
	struct efa_obj **objs;
	u32 used;
};

/**
 * struct efa_table - one kind of object by number
 * @lock: guards everything but @count; taken in interrupts
 * @dev: the device
 * @leaves: by the upper bits of the number
 * @size: numbers are below it
 * @spare: memory of the leaf that became empty last: numbers of short-lived objects are
 *	usually close to each other, and without this the leaf would be freed and
 *	allocated each time
 * @next: where the search for a number chosen by the driver continues
 * @count: how many objects there are
 * @type: EADM_OBJ_*
 */
struct efa_table {
	spinlock_t lock;	/* leaves, spare, next */
	struct efa_dev *dev;
	struct efa_leaf *leaves;
	u32 size;
	struct efa_obj **spare;
	u32 next;
	atomic_t count;
	u8 type;
};

int efa_table_init(struct efa_table *t, struct efa_dev *dev, u8 type, u8 bits);
void efa_table_destroy(struct efa_table *t);
int efa_table_add(struct efa_table *t, u32 *id, struct efa_obj *obj);
int efa_table_add_at(struct efa_table *t, u16 id, struct efa_obj *obj);
void efa_table_remove(struct efa_table *t, u32 id, struct efa_obj *obj);
struct efa_obj *efa_table_get(struct efa_table *t, u32 id);
struct efa_obj *efa_table_next(struct efa_table *t, u64 *id);
void efa_obj_init(struct efa_obj *obj, u32 epoch);

static inline void efa_obj_put(struct efa_obj *obj)
{
	if (refcount_dec_and_test(&obj->refs))
		complete(&obj->unused);
}

#endif /* EFA_TABLE_H */
