/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number. */
#ifndef EFA_TABLE_H
#define EFA_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

struct efa_dev;

/**
 * struct efa_obj - what every numbered object has in common
 * @refs: one for the owner while published, one per get
 * @unused: completed when somebody else's reference was the last one
 * @created: local_clock() of creation
 * @epoch: dev->epoch when the adapter learned of it; an older one than the device's
 *	now means that the adapter has forgotten it
 * @ending: the adapter was asked to end it
 */
struct efa_obj {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
	bool ending;
};

/* How many objects a leaf of a table has room for, and the widths of numbers. */
#define EFA_LEAF_OBJS		512
#define EFA_NUMBER_BITS		16	/* the adapter's */
#define EFA_OWN_NUMBER_BITS	20	/* the driver's, of MRs and contexts */

/**
 * struct efa_leaf - objects whose numbers follow each other
 * @objs: EFA_LEAF_OBJS of them, NULL: the number is free; itself NULL as long as all are
 * @used: how many are not free
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
 * @spare: memory of the leaf that became empty last: numbers of objects that come and go
 *	are close to each other mostly, and it would be freed and allocated each time
 * @next: where the search for a number of the driver's goes on
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
