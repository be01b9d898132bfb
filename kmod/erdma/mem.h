/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects by number, and the memory the adapter works on. */
#ifndef ERDMA_MEM_H
#define ERDMA_MEM_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>

#include "erdma_hw.h"

struct erdma_ctx;
struct erdma_dev;

/* ---- Objects by number (table.c) ---------------------------------------- */

/**
 * struct erdma_obj - what every numbered object has in common
 * @refs: one for the owner while published, one per get
 * @unused: completed when @refs drops to zero
 * @created: local_clock() of creation
 * @epoch: dev->epoch when the adapter learned of it; an older one than the
 *	device's now means that the adapter has forgotten it. Only that of a
 *	kernel CQ ever changes, see erdma_cq_revive()
 */
struct erdma_obj {
	refcount_t refs;
	struct completion unused;
	u64 created;
	u32 epoch;
};

/**
 * struct erdma_table - numbers of one kind of object and who has them
 * @xa: struct erdma_obj by number; a reserved number finds nothing
 * @dev: the device
 * @next: where the cyclic search for a free number goes on; under xa_lock
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

void erdma_table_init(struct erdma_table *t, struct erdma_dev *dev, u8 type, u32 max);
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

/* ---- Memory the adapter works on (mem.c, mtt.c) -------------------------- */

struct erdma_ring {
	void *va;
	dma_addr_t dma;
	size_t size;
};

struct erdma_dbrec {
	__le64 *va;
	dma_addr_t dma;
};

struct erdma_mtt_table {
	__le64 *va;
	dma_addr_t dma;
	u32 size;
};

/**
 * struct erdma_mtt - translation entries of a buffer
 * @count: entries
 * @level: 0 entries are in @direct, else levels of tables
 * @page_shift: log2 of what one entry covers
 * @scattered: tables of a page each, in up to three levels (needs
 *	ERDMA_FLAG_MTT_VA), else one contiguous table
 * @nr_tables: number of @tables
 * @tables: bottom level first, the top table last
 */
struct erdma_mtt {
	u32 count;
	u8 level;
	u8 page_shift;
	bool scattered;
	u32 nr_tables;
	union {
		__le64 direct[ERDMA_MR_INLINE_MTT];
		struct erdma_mtt_table *tables;
	};
};

int erdma_mtt_alloc(struct erdma_dev *dev, struct erdma_mtt *mtt, u64 count,
		    u8 page_shift, u32 max_direct, bool scattered);
int erdma_mtt_from_umem(struct erdma_dev *dev, struct erdma_mtt *mtt,
			struct ib_umem *umem, unsigned long page_size,
			u32 max_direct, bool scattered);
void erdma_mtt_set(struct erdma_mtt *mtt, u32 i, u64 addr);
u64 erdma_mtt_get(const struct erdma_mtt *mtt, u32 i);
void erdma_mtt_sync(struct erdma_dev *dev, struct erdma_mtt *mtt);
u64 erdma_mtt_addr(const struct erdma_mtt *mtt);
void erdma_mtt_free(struct erdma_dev *dev, struct erdma_mtt *mtt);

/**
 * struct erdma_area - pinned user memory with its translation
 * @umem: the memory
 * @mtt: the translation
 * @offset: of the first byte inside the first page of the translation
 */
struct erdma_area {
	struct ib_umem *umem;
	struct erdma_mtt mtt;
	u32 offset;
};

/**
 * struct erdma_dbpage - a pinned page of a user's doorbell records
 * @refs: users; under dbpage_lock of @ctx
 * @ctx: where it can be found by address, NULL when it cannot
 * @index: address in pages
 * @umem: the page
 */
struct erdma_dbpage {
	refcount_t refs;
	struct erdma_ctx *ctx;
	unsigned long index;
	struct ib_umem *umem;
};

/**
 * struct erdma_dbref - where a user's doorbell records are
 * @page: pinned as long as the memory of the object
 * @offset: of the first one
 *
 * Kept in the object itself, so that a look at many objects touches no other
 * memory of theirs.
 */
struct erdma_dbref {
	struct page *page;
	u32 offset;
};

/**
 * struct erdma_hostmem - all memory of one object that the adapter knows of
 * @orphan: entry in the device's list of memory whose object is gone while the
 *	adapter did not confirm that; freed by the next reset that is confirmed
 * @epoch: dev->epoch when the adapter was told of it last
 * @table: table of @id
 * @id: number that stays reserved as long as the memory
 * @dbpage: page of the user's doorbell records
 * @area: what the adapter is told, of user and kernel memory alike (QP: SQ and
 *	RQ)
 * @ring: kernel memory
 * @dbrec: doorbell records; without @va they are the user's
 */
struct erdma_hostmem {
	struct list_head orphan;
	u32 epoch;
	struct erdma_table *table;
	u32 id;
	struct erdma_dbpage *dbpage;
	struct erdma_area area[2];
	struct erdma_ring ring[2];
	struct erdma_dbrec dbrec[2];
};

int erdma_ring_alloc(struct erdma_dev *dev, struct erdma_ring *ring, size_t size);
int erdma_hostmem_ring(struct erdma_dev *dev, struct erdma_hostmem *mem, int i,
		       size_t size, u8 page_shift);
void erdma_ring_free(struct erdma_dev *dev, struct erdma_ring *ring);
int erdma_dbrec_alloc(struct erdma_dev *dev, struct erdma_dbrec *rec);
void erdma_dbrec_free(struct erdma_dev *dev, struct erdma_dbrec *rec);
struct erdma_hostmem *erdma_hostmem_alloc(struct erdma_table *table, u32 epoch);
void erdma_hostmem_free(struct erdma_dev *dev, struct erdma_hostmem *mem);
void erdma_hostmem_retire(struct erdma_dev *dev, struct erdma_hostmem *mem, bool done);
void erdma_mem_expose(struct erdma_dev *dev);
void erdma_mem_confirm(struct erdma_dev *dev);
bool erdma_mem_is_exposed(struct erdma_dev *dev);
void erdma_mem_leak(struct erdma_dev *dev);
int erdma_area_pin(struct erdma_dev *dev, struct erdma_area *area, u64 va, size_t size,
		   int access, unsigned long page_sizes, u32 max_direct);
int erdma_dbpage_pin(struct erdma_ctx *ctx, struct erdma_hostmem *mem, u64 va, size_t size,
		     struct erdma_dbref *ref);
u64 erdma_dbref_read(const struct erdma_dbref *ref, u32 i);

#endif /* ERDMA_MEM_H */
