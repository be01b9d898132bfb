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
 * @refs: one for the owner while published, one per get
 * @unused: completed when @refs drops to zero
 * @created: local_clock() of creation
 * @epoch: the adapter's epoch when it learned of the object; if it is older than the
 *	adapter's, the adapter has forgotten the object. Written once, unless the object is
 *	created in the adapter again
 * @ending: the adapter was asked to destroy it, and may reuse its number
 * @handed_over: of a QP: its owner has it, or is about to get it; under the adapter's lock
 * @told: its owner was notified that the adapter has forgotten it; used by recovery only
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

/* So many that a leaf fills a page of 4 KiB. */
#define EADM_LEAF_OBJS		509

/**
 * struct eadm_leaf - objects whose numbers follow each other
 * @rcu: to free it
 * @used: how many of @objs are not NULL
 * @objs: by the remainder of their number; a reserved number has an object that is none
 */
struct eadm_leaf {
	struct rcu_head rcu;
	u32 used;
	struct eadm_object *objs[EADM_LEAF_OBJS];
};

/**
 * struct eadm_table - numbers of one kind of object and their owners
 * @lock: guards everything that changes after eadm_table_alloc(), but @count
 * @ad: the adapter
 * @leaves: by the quotient of the number; NULL if none of the leaf's numbers is in use
 * @idle: a leaf without objects that is kept, or NULL: objects that come and go allocate none
 * @size: all numbers are below
 * @first: smallest number that the driver chooses; @size if it chooses none
 * @next: where the cyclic search for a free number continues
 * @count: how many objects there are
 * @type: EADM_OBJ_*
 */
struct eadm_table {
	/* Guards all that changes; interrupts are off. */
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
