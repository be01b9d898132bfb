/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number. */
#ifndef ERDMA_TABLE_H
#define ERDMA_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct erdma_dev;

/**
 * struct erdma_obj - common part of all numbered objects
 * @refs: one for the owner while published, one per get
 * @unused: completed when @refs drops to zero
 * @created: local_clock() of creation
 * @epoch: dev->epoch when the adapter learned of it; if it is older than the
 *	device's, the adapter has forgotten the object. Changes only for kernel
 *	CQs, see erdma_cq_revive()
 */
struct erdma_obj {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
};

/**
 * struct erdma_table - numbers of one kind of object and their owners
 * @xa: struct erdma_obj by number; a reserved number finds nothing
 * @dev: the device
 * @next: where the cyclic search for a free number continues; under xa_lock
 * @max: largest number
 * @type: EADM_OBJ_*
 */
struct erdma_table {
	struct xarray xa;
	struct erdma_dev *dev;
	u32 next;
	u32 max;
	u8 type;
};

void erdma_table_init(struct erdma_table *t, struct erdma_dev *dev, u8 type);
void erdma_table_destroy(struct erdma_table *t);
int erdma_table_reserve(struct erdma_table *t, u32 *id);
void erdma_table_release(struct erdma_table *t, u32 id);
void erdma_table_publish(struct erdma_table *t, u32 id, struct erdma_obj *obj);
void erdma_table_unpublish(struct erdma_table *t, u32 id, struct erdma_obj *obj);
struct erdma_obj *erdma_table_get(struct erdma_table *t, u32 id);
struct erdma_obj *erdma_table_next(struct erdma_table *t, u64 *id);
void erdma_obj_init(struct erdma_obj *obj, u32 epoch);

static inline void erdma_obj_get(struct erdma_obj *obj)
{
	refcount_inc(&obj->refs);
}

static inline void erdma_obj_put(struct erdma_obj *obj)
{
	if (refcount_dec_and_test(&obj->refs))
		complete(&obj->unused);
}

#endif /* ERDMA_TABLE_H */
