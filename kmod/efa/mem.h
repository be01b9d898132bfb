/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that the adapter accesses. */
#ifndef EFA_MEM_H
#define EFA_MEM_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <rdma/ib_umem.h>

#include "../core/orphan.h"
#include "../core/ring.h"
#include "efa_hw.h"

struct eadm_adapter;
struct efa_dev;

/**
 * struct efa_mem - all memory of one object that the adapter accesses
 * @epoch: the adapter's epoch when it received the addresses
 * @umem: pinned memory of a process
 * @ring: a ring that a process maps, contiguous and in whole pages; pages still mapped when the
 *	ring is freed are freed when the process unmaps them
 * @ring_size: size of @ring in bytes, 0 = none
 * @ring_dma: DMA address of @ring
 * @dir: DMA direction of @ring
 * @orphan: NULL, or a referenced record through which the late completion of a lost command may
 *	release the memory
 */
struct efa_mem {
	u32 epoch;
	struct ib_umem *umem;
	void *ring;
	size_t ring_size;
	dma_addr_t ring_dma;
	enum dma_data_direction dir;
	struct efa_orphan *orphan;
};

/**
 * struct efa_orphan - memory whose object was destroyed without confirmation by the adapter
 * @kept: the core's part
 * @refs: references held by the object or the adapter's list, and by the slot of a lost command
 * @mem: the memory
 *
 * The record is created for the lost command of an object, and becomes an orphan when the object is
 * destroyed.
 */
struct efa_orphan {
	struct eadm_orphan kept;
	refcount_t refs;
	struct efa_mem mem;
};

/**
 * struct efa_chunk - part of a non-contiguous list (hw 6.3)
 * @va: memory of EFA_CHUNK_SIZE bytes
 * @dma: DMA address of @va
 */
struct efa_chunk {
	__le64 *va;
	dma_addr_t dma;
};

/**
 * struct efa_list - memory that the adapter reads for a command: usually a list of pages
 * @link: in one of the admin queue's lists
 * @va: contents of the list
 * @size: size in bytes
 * @dma: DMA address of the list, if contiguous
 * @nr_chunks: number of chunks, 0 if contiguous
 * @chunks: chunks that list the pages
 * @payload: addresses of the pages, EFA_CHUNK_SIZE bytes each
 */
struct efa_list {
	struct list_head link;
	void *va;
	size_t size;
	dma_addr_t dma;
	u32 nr_chunks;
	struct efa_chunk *chunks;
	dma_addr_t *payload;
};

int efa_mem_ring(struct efa_dev *dev, struct efa_mem *mem, size_t size,
		 enum dma_data_direction dir);
void efa_mem_free(struct efa_dev *dev, struct efa_mem *mem);
struct efa_orphan *efa_orphan_alloc(void);
void efa_orphan_put(struct efa_orphan *orphan);
void efa_mem_retire(struct efa_dev *dev, struct efa_mem *mem, bool done);
void efa_orphan_free(struct eadm_adapter *ad, struct eadm_orphan *kept);
void efa_mem_leak(struct efa_dev *dev);

struct efa_list *efa_list_alloc(size_t size);
int efa_list_map(struct efa_dev *dev, struct efa_list *list);
void efa_list_ctrl(const struct efa_list *list, struct efa_ctrl_buf *ctrl, u8 *flags);
void efa_list_free(struct efa_dev *dev, struct efa_list *list);

#endif /* EFA_MEM_H */
