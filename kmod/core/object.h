/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number. */
#ifndef EADM_OBJECT_H
#define EADM_OBJECT_H

#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

struct eadm_adapter;
struct rdma_restrack_entry;

/**
 * struct eadm_object - common part of all numbered objects
 * @refs: one reference for the owner while published, one per get
 * @unused: completed when @refs drops to zero
 * @created: local_clock() of creation
 * @epoch: the adapter's epoch when the object was created in it; if older than the adapter's, the
 *	adapter no longer has the object. Written once, unless the object is created in the adapter
 *	again
 * @ending: a command to destroy the object was issued; the adapter may reuse its number
 * @handed_over: for a QP: the owner has it or is about to receive it; under the adapter's lock
 * @told: the owner was notified that the adapter no longer has the object; used by recovery only
 * @res: its entry in resource tracking, or NULL
 */
struct eadm_object {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
	bool ending;
	bool handed_over;
	bool told;
	struct rdma_restrack_entry *res;
};

/* Number of entries for which a leaf fits into a page of 4 KiB. */
#define EADM_LEAF_OBJS		509

/**
 * struct eadm_leaf - objects with consecutive numbers
 * @rcu: used to free the leaf
 * @used: number of entries of @objs that are not NULL
 * @objs: objects by the remainder of their number; reserved numbers have a placeholder
 */
struct eadm_leaf {
	struct rcu_head rcu;
	u32 used;
	struct eadm_object *objs[EADM_LEAF_OBJS];
};

/**
 * struct eadm_table - objects of one kind by number
 * @lock: protects everything that changes after eadm_table_alloc(), except @count
 * @ad: the adapter
 * @leaves: leaves by the quotient of the number; NULL if no number of the leaf is in use
 * @idle: an empty leaf that is kept to avoid repeated allocation, or NULL
 * @size: limit of the numbers (exclusive)
 * @first: smallest number that the driver chooses; @size if it chooses none
 * @next: position at which the cyclic search for a free number continues
 * @count: number of objects
 * @type: EADM_OBJ_*
 */
struct eadm_table {
	/* Protects everything that changes; interrupts are disabled. */
	spinlock_t lock;
	struct eadm_adapter *ad;
	struct eadm_leaf __rcu **leaves;
	struct eadm_leaf __rcu **idle;
	u32 size;
	u32 first;
	u32 next;
	atomic_t count;
	u8 type;
};

void eadm_object_init(struct eadm_object *obj, u32 epoch, struct rdma_restrack_entry *res);
void eadm_table_init(struct eadm_table *t, struct eadm_adapter *ad, u8 type);
int eadm_table_alloc(struct eadm_table *t, u32 first, u32 size);
void eadm_table_destroy(struct eadm_table *t);
int eadm_table_reserve(struct eadm_table *t, u32 *id);
void eadm_table_release(struct eadm_table *t, u32 id);
void eadm_table_publish(struct eadm_table *t, u32 id, struct eadm_object *obj);
void eadm_table_unpublish(struct eadm_table *t, u32 id, struct eadm_object *obj);
int eadm_table_add(struct eadm_table *t, u32 *id, struct eadm_object *obj);
int eadm_table_add_at(struct eadm_table *t, u32 id, struct eadm_object *obj);
void eadm_table_remove(struct eadm_table *t, u32 id, struct eadm_object *obj);
struct eadm_object *eadm_table_peek(struct eadm_table *t, u32 id);
struct eadm_object *eadm_table_get(struct eadm_table *t, u32 id);
struct eadm_object *eadm_table_next(struct eadm_table *t, u64 *id);

static inline void eadm_object_get(struct eadm_object *obj)
{
	refcount_inc(&obj->refs);
}

static inline void eadm_object_put(struct eadm_object *obj)
{
	if (refcount_dec_and_test(&obj->refs))
		complete(&obj->unused);
}

#endif /* EADM_OBJECT_H */
