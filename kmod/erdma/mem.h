/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that the adapter accesses. */
#ifndef ERDMA_MEM_H
#define ERDMA_MEM_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <rdma/ib_umem.h>

#include "../core/object.h"
#include "../core/orphan.h"
#include "../core/ring.h"
#include "erdma_hw.h"

struct erdma_ctx;
struct erdma_dev;

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
 * @count: number of entries
 * @level: 0 if the entries are in @direct; otherwise the number of table levels
 * @page_shift: log2 of the size covered by an entry
 * @scattered: tables of one page each, in up to three levels (needs ERDMA_FLAG_MTT_VA); otherwise
 *	one contiguous table
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
 * @offset: offset of the first byte in the first page of the translation
 */
struct erdma_area {
	struct ib_umem *umem;
	struct erdma_mtt mtt;
	u32 offset;
};

/**
 * struct erdma_dbpage - a pinned page of a user's doorbell records
 * @refs: number of users; under dbpage_lock of @ctx
 * @ctx: context whose objects can find the page by address, or NULL
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
 * struct erdma_dbref - location of a user's doorbell records
 * @page: pinned as long as the object's memory exists
 * @offset: offset of the first record
 *
 * Stored in the object itself, so that reading many objects accesses no other memory.
 */
struct erdma_dbref {
	struct page *page;
	u32 offset;
};

/**
 * struct erdma_hostmem - all memory of one object that the adapter accesses
 * @kept: the core's part, used if the object is destroyed without confirmation by the adapter
 * @table: table of @id
 * @id: number that stays reserved as long as the memory exists
 * @dbpage: page of the user's doorbell records
 * @area: translations passed to the adapter, for both user and kernel memory (QP: SQ and RQ)
 * @ring: kernel memory
 * @dbrec: doorbell records; if @va is NULL, the records belong to the user
 */
struct erdma_hostmem {
	struct eadm_orphan kept;
	struct eadm_table *table;
	u32 id;
	struct erdma_dbpage *dbpage;
	struct erdma_area area[2];
	struct eadm_ring ring[2];
	struct erdma_dbrec dbrec[2];
};

/* Verbs access flags in the adapter's terms (hw 4.9, 6.5): ERDMA_MR_L*, ERDMA_MR_R*. */
static inline u32 erdma_mr_rights(int access)
{
	return ERDMA_MR_LR |
	       (access & IB_ACCESS_LOCAL_WRITE ? ERDMA_MR_LW : 0) |
	       (access & IB_ACCESS_REMOTE_READ ? ERDMA_MR_RR : 0) |
	       (access & IB_ACCESS_REMOTE_WRITE ? ERDMA_MR_RW : 0) |
	       (access & IB_ACCESS_REMOTE_ATOMIC ? ERDMA_MR_RA : 0);
}

int erdma_hostmem_ring(struct erdma_dev *dev, struct erdma_hostmem *mem, int i,
		       size_t size, u8 page_shift);
int erdma_dbrec_alloc(struct erdma_dev *dev, struct erdma_dbrec *rec);
void erdma_dbrec_free(struct erdma_dev *dev, struct erdma_dbrec *rec);
struct erdma_hostmem *erdma_hostmem_alloc(struct eadm_table *table, u32 epoch);
void erdma_hostmem_free(struct erdma_dev *dev, struct erdma_hostmem *mem);
void erdma_hostmem_retire(struct erdma_dev *dev, struct erdma_hostmem *mem, bool done);
void erdma_mem_leak(struct erdma_dev *dev);
int erdma_area_pin(struct erdma_dev *dev, struct erdma_area *area, u64 va, size_t size,
		   int access, unsigned long page_sizes, u32 max_direct);
int erdma_dbpage_pin(struct erdma_ctx *ctx, struct erdma_hostmem *mem, u64 va, size_t size,
		     struct erdma_dbref *ref);
u64 erdma_dbref_read(const struct erdma_dbref *ref, u32 i);

#endif /* ERDMA_MEM_H */
