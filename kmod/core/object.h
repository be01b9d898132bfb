/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number. */
#ifndef EADM_OBJECT_H
#define EADM_OBJECT_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct eadm_adapter;

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
 */
struct eadm_object {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
	bool ending;
	bool handed_over;
	bool told;
};

/**
 * struct eadm_table - numbers of one kind of object and their owners
 * @xa: struct eadm_object by number; a reserved number finds nothing
 * @ad: the adapter
 * @next: where the cyclic search for a free number continues; under xa_lock
 * @min: smallest number that the driver chooses
 * @max: largest one; 0 if the adapter chooses all
 * @count: how many objects there are
 * @type: EADM_OBJ_*
 */
struct eadm_table {
	struct xarray xa;
	struct eadm_adapter *ad;
	u32 next;
	u32 min;
	u32 max;
	atomic_t count;
	u8 type;
};

void eadm_object_init(struct eadm_object *obj, u32 epoch);
void eadm_table_init(struct eadm_table *t, struct eadm_adapter *ad, u8 type);
void eadm_table_init_theirs(struct eadm_table *t, struct eadm_adapter *ad, u8 type);
void eadm_table_destroy(struct eadm_table *t);
int eadm_table_reserve(struct eadm_table *t, u32 *id);
void eadm_table_release(struct eadm_table *t, u32 id);
void eadm_table_publish(struct eadm_table *t, u32 id, struct eadm_object *obj);
void eadm_table_unpublish(struct eadm_table *t, u32 id, struct eadm_object *obj);
int eadm_table_add(struct eadm_table *t, u32 *id, struct eadm_object *obj);
int eadm_table_add_at(struct eadm_table *t, u32 id, struct eadm_object *obj);
void eadm_table_remove(struct eadm_table *t, u32 id, struct eadm_object *obj);
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
